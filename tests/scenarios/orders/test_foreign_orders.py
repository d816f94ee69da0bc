"""Orders in other languages, and the figures of the labelled phrases."""

import pytest

from benchmarks.order_phrases import labelled, tally
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.foreign_orders import order_in_english
from wardround.scenarios.orders.order_reading import read_order


@pytest.mark.parametrize(
    ("half", "languages", "least"),
    [("fresh", "en", 0.96), ("check", "en", 0.96), ("check", "de fr es zh", 0.96)],
)
def test_labelled_orders_are_understood(half: str, languages: str, least: float) -> None:
    one = tally(row for row in labelled() if row.half == half and row.language in languages.split())
    assert one.f1 >= least, f"precision {one.precision:.3f}, recall {one.recall:.3f}"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Natrium im Urin und Serumglukose", {"Natrium im Urin": "Urine sodium", "Serumglukose": "Glucose"}),
        ("kein CT, nur Ultraschall Abdomen", {"Ultraschall Abdomen": "Abdominal ultrasound"}),
        ("radiografía de tórax y PCR", {"radiografía de tórax": "Chest radiograph", "PCR": "C-reactive protein"}),
        (
            "échographie abdominale, NFS",
            {"échographie abdominale": "Abdominal ultrasound"},
        ),
        ("血常规、腹部B超", {"血常规": "Complete blood count", "腹部B超": "Abdominal ultrasound"}),
    ],
)
def test_pieces_keep_the_original_wording(text: str, pieces: dict[str, str]) -> None:
    matched = {piece.text: piece.concepts[0].name for piece in read_order(text).pieces if piece.status == "matched"}
    for wording, name in pieces.items():
        assert any(wording in said for said in matched), matched
        assert name in matched.values()


@pytest.mark.parametrize("text", ["CBC and BMP", "coagulation studies", "urine culture", "hand x-ray, main labs"])
def test_english_is_left_alone(text: str) -> None:
    assert order_in_english(text, catalogue()).language == ""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "inflammatory markers (ESR, CRP) and a ferritin",
            ["Erythrocyte sedimentation rate", "C-reactive protein", "Ferritin"],
        ),
        ("I'd like to get a troponin and an ECG please", ["Troponin", "Electrocardiogram"]),
        (
            "**1. Labs:** CBC, CMP **2. Imaging:** CT head",
            ["Complete blood count", "Comprehensive metabolic panel", "CT head"],
        ),
        (
            "urine Na and creatinine, serum Na and creatinine",
            ["Urine sodium", "Urine creatinine", "Sodium", "Creatinine"],
        ),
        ("24 hr urine collection for protein", ["24-hour urine protein"]),
        ("hold the metformin and check an A1c", ["Hemoglobin A1c"]),
        ("instead of MRI do a CT head", ["CT head"]),
        ("CMV and EBV PCR", ["Cytomegalovirus PCR", "Epstein-Barr virus PCR"]),
        ("examine the abdomen", ["Abdominal examination"]),
        ("blood cultures from separate sites", ["Blood culture"]),
    ],
)
def test_no_test_of_an_order_is_lost(text: str, names: list[str]) -> None:
    found = [one.name for piece in read_order(text).pieces if piece.status == "matched" for one in piece.concepts]
    assert sorted(found) == sorted(names)
