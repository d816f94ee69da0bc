"""Blind order phrases in five languages, and the classes of faults that they showed."""

import pytest

from benchmarks.blind_orders import blind_orders, compared
from benchmarks.phrases import Tally
from wardround.scenarios.orders.order_reading import read_order


@pytest.mark.long
@pytest.mark.parametrize(
    ("half", "languages", "least"),
    [
        *(pytest.param(half, "en", 0.97, marks=pytest.mark.long) for half in "ABCD"),
        pytest.param("E", "en", 0.95, marks=pytest.mark.long),
        pytest.param("F", "en", 0.94, marks=pytest.mark.long),
        pytest.param("H", "en", 0.93, marks=pytest.mark.long),
        pytest.param("I", "en", 0.97, marks=pytest.mark.long),
        pytest.param("J", "en", 0.97, marks=pytest.mark.long),
        pytest.param("K", "en", 0.96, marks=pytest.mark.long),
        ("L", "en", 0.93),
        ("M", "en", 0.94),
        ("N", "en", 0.92),
        ("O", "en", 0.95),
        ("P", "en", 0.93),
        ("Q", "en", 0.95),
        ("R", "en", 0.9),
        pytest.param("S", "en", 0.88, marks=pytest.mark.long),
        pytest.param("T", "en", 0.93, marks=pytest.mark.long),
        pytest.param("U", "en", 0.91, marks=pytest.mark.long),
        pytest.param("I", "de fr es zh", 0.97, marks=pytest.mark.long),
        pytest.param("K", "de fr es zh", 0.97, marks=pytest.mark.long),
        ("L", "de fr es zh", 0.93),
        ("M", "de fr es zh", 0.95),
        ("N", "de fr es zh", 0.92),
        ("O", "de fr es zh", 0.95),
        ("R", "de fr es zh", 0.94),
        *(pytest.param(half, "de fr es zh", 0.97, marks=pytest.mark.long) for half in "ABC"),
    ],
)
def test_blind_orders_are_understood(half: str, languages: str, least: float) -> None:
    total = Tally()
    rows = [row for row in blind_orders() if row.half == half and row.language in languages.split()]
    for row in rows:
        right, extra, missed = compared(row, read_order(row.text))
        total.right, total.extra, total.missed = (
            total.right + right,
            total.extra + len(extra),
            total.missed + len(missed),
        )
    assert len(rows) >= 60
    assert total.f1 >= least, f"precision {total.precision:.3f}, recall {total.recall:.3f}"


@pytest.mark.long
def test_a_reader_that_understands_nothing_is_right_in_nothing() -> None:
    nothing = read_order("")
    assert sum(compared(row, nothing)[0] for row in blind_orders()) == 0


def _read(text: str) -> list[tuple[str, str, str, str]]:
    return [
        (one.name, one.specimen, one.method, one.timing) for piece in read_order(text).pieces for one in piece.concepts
    ]


def _statuses(text: str) -> list[str]:
    return [piece.status for piece in read_order(text).pieces]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("zoster IgG", []),
        (
            "LP: glucose with paired plasma glucose, crypto Ag",
            [
                ("Lumbar puncture", "", "", ""),
                ("CSF glucose", "CSF", "", ""),
                ("Glucose", "blood", "", ""),
                ("Cryptococcal antigen", "CSF", "antigen", ""),
            ],
        ),
        (
            "Ponction de genou : cristaux, culture",
            [
                ("Synovial fluid crystals", "synovial fluid", "", ""),
                ("Synovial fluid culture", "synovial fluid", "culture", ""),
            ],
        ),
        (
            "胸水送常规、生化、ADA",
            [
                ("Pleural fluid analysis", "pleural fluid", "", ""),
                ("Basic metabolic panel", "pleural fluid", "", ""),
                ("Adenosine deaminase", "pleural fluid", "", ""),
            ],
        ),
        ("pelvic US (TV)", [("Pelvic ultrasound", "", "", "")]),
        ("measles IgG and IgM", [("Measles serology", "", "IgG, IgM", "")]),
        ("anticardiolipin IgM/IgG", [("Anticardiolipin antibodies", "blood", "IgM, IgG", "")]),
        (
            "venous pH, base excess",
            [("Blood pH", "venous blood", "", ""), ("Base excess", "venous blood", "", "")],
        ),
        ("quantitative hCG", [("Pregnancy test", "blood", "", "")]),
        ("UDS", [("Toxicology screen", "urine", "", "")]),
        ("lactate, repeat in 2 hours", [("Lactate", "blood", "", ""), ("Lactate", "blood", "", "next")]),
        ("arthrocentesis of the left knee", [("Synovial fluid analysis", "synovial fluid", "", "")]),
        ("KOH of vaginal discharge", [("KOH preparation", "cervix", "smear", "")]),
        (
            "serologies for CMV and toxoplasma",
            [("Cytomegalovirus serology", "", "antibody", ""), ("Toxoplasma serology", "", "antibody", "")],
        ),
        ("X-ray wrist, left", [("Radiograph: left wrist", "", "", "")]),
        ("pelvic x-ray and left hip films", [("Pelvic radiograph", "", "", ""), ("Radiograph: left hip", "", "", "")]),
        (
            "sputum for Gram stain, culture",
            [("Gram stain", "sputum", "smear", ""), ("Sputum culture", "sputum", "culture", "")],
        ),
        ("TSH y T4 libre", [("Thyroid-stimulating hormone", "blood", "", ""), ("Free thyroxine", "blood", "", "")]),
        ("腹部CT", [("CT abdomen", "", "", "")]),
        ("BGA venös", [("Venous blood gas", "venous blood", "", "")]),
    ],
)  # fmt: skip
def test_a_class_of_wordings_is_read(text: str, wanted: list[tuple[str, str, str, str]]) -> None:
    assert _read(text) == wanted


def test_a_bracket_of_a_fluid_and_a_list_in_a_fluid_are_of_that_fluid() -> None:
    for text in ("pleural fluid analysis (LDH, glucose)", "LDH and glucose in the pleural fluid"):
        assert {specimen for _, specimen, _, _ in _read(text)} == {"pleural fluid"}, text


def test_a_panel_beside_one_of_its_tests_is_ordered_too() -> None:
    for text in ("CBC with platelets", "CBC, platelets"):
        assert [name for name, *_ in _read(text)] == ["Complete blood count", "Platelet count"], text


def test_an_order_before_a_denial_or_beside_if_is_kept() -> None:
    assert [name for name, *_ in _read("check INR and hold warfarin")] == ["International normalized ratio"]
    assert _statuses("renal biopsy with IF")[0] == "matched"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("morphine 4 mg IV now", "not_an_order"),
        ("Admit to the ward", "not_an_order"),
        ("I suspect a pulmonary embolism", "not_an_order"),
        ("How long have you had it?", "not_an_order"),
        ("ok, thank you", "not_an_order"),
        ("blorbogram level", "unknown"),
        ("please send a blorbogram", "unknown"),
        ("PCR", "ambiguous"),
        ("antibodies", "ambiguous"),
        ("imaging of the tummy", "ambiguous"),
    ],
)
def test_what_orders_no_one_test_has_its_status(text: str, status: str) -> None:
    assert set(_statuses(text)) == {status}


def test_an_unknown_item_of_a_list_is_said() -> None:
    assert _statuses("Lumbar puncture: glucose, blorbocytes, culture").count("unknown") == 1


def test_pieces_stand_in_the_order_of_the_text() -> None:
    pieces = read_order("Serum and urine osmolality, hold the MRI, CBC").pieces
    assert [piece.text for piece in pieces] == ["Serum osmolality", "urine osmolality", "hold the MRI", "CBC"]


def test_unseen_and_control_characters_hide_no_test() -> None:
    assert [name for name, *_ in _read("serum so\u200bdium\x07, CBC\x00")] == ["Sodium", "Complete blood count"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("He fell down the stairs and is confused; CT head", ["CT head@"]),
        ("With a new rash and a rising creatinine, a renal biopsy please", ["Renal biopsy@"]),
        ("After the transfusion, repeat the CBC", ["Complete blood count@blood"]),
        ("Serum LDH and protein", ["Lactate dehydrogenase@blood", "Total protein@blood"]),
        (
            "paracentesis: albumin, culture in blood culture bottles",
            ["Ascitic fluid analysis@ascitic fluid", "Albumin@ascitic fluid", "Ascitic fluid culture@ascitic fluid"],
        ),
        (
            "nasal swab for MRSA and rectal swab for CRE",
            ["MRSA screen@nasopharynx", "Multidrug-resistant organism screen@stool"],
        ),
        ("ferittin, happtoglobin", ["Ferritin@blood", "Haptoglobin@blood"]),
        ("CT KUB, eGFR 22", ["CT kidneys, ureters and bladder@"]),
        ("INR, then recheck it in 6 hours", ["International normalized ratio@blood"] * 2),
        ("insulin drip per protocol; potassium", ["Potassium@blood"]),
        ("sputum cx, wound cx", ["Sputum culture@sputum", "Wound culture@wound"]),
    ],
)
def test_what_is_told_or_shared_beside_an_order_is_read(text: str, wanted: list[str]) -> None:
    pieces = [piece for piece in read_order(text).pieces if piece.status == "matched"]
    assert [f"{one.name}@{one.specimen}" for piece in pieces for one in piece.concepts] == wanted


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("CBC, lumbar puncture", [("Complete blood count", "blood"), ("Lumbar puncture", "")]),
        ("lumbar puncture; CRP", [("Lumbar puncture", ""), ("C-reactive protein", "blood")]),
        ("glucose, paracentesis", [("Glucose", "blood"), ("Ascitic fluid analysis", "ascitic fluid")]),
        ("glucose, CSF", [("CSF glucose", "CSF")]),
        ("ANA & lumbar puncture", [("Antinuclear antibody", "blood"), ("Lumbar puncture", "")]),
    ],
)
def test_a_puncture_behind_a_comma_is_no_specimen_of_another_test(text: str, read: list[tuple[str, str]]) -> None:
    concepts = [one for piece in read_order(text).pieces for one in piece.concepts]
    assert [(one.name, one.specimen) for one in concepts] == read


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("24h urine metanephrines, calcium", ["Metanephrines@urine", "Calcium@blood"]),
        ("24h urine cortisol, ACTH", ["24-hour urinary free cortisol@urine", "Adrenocorticotropic hormone@blood"]),
        ("24h urine calcium, uric acid", ["24-hour urine calcium@urine", "Urine uric acid@urine"]),
        ("24h urine protein, creatinine", ["24-hour urine protein@urine", "Urine creatinine@urine"]),
        ("urine PEP, calcium", ["Urine protein electrophoresis@urine", "Calcium@blood"]),
        (
            "Thoracentesis left -> LDH, protein",
            [
                "Pleural fluid analysis@pleural fluid",
                "Lactate dehydrogenase@pleural fluid",
                "Total protein@pleural fluid",
            ],
        ),
        (
            "Ascitic tap, diagnostic - albumin, protein",
            ["Ascitic fluid analysis@ascitic fluid", "Albumin@ascitic fluid", "Total protein@ascitic fluid"],
        ),
        (
            "CSF protein, glucose (with paired serum glucose), lactate",
            ["CSF protein@CSF", "CSF glucose@CSF", "Glucose@blood", "CSF lactate@CSF"],
        ),
        (
            "BMAT for flow cytometry, cytogenetics",
            ["Bone marrow biopsy@", "Flow cytometry@bone marrow", "Karyotype@bone marrow"],
        ),
        (
            "amniocentesis for CMV PCR, toxo PCR",
            ["Cytomegalovirus PCR@amniotic fluid", "Toxoplasma PCR@amniotic fluid"],
        ),
        ("PSA pre-biopsy", ["Prostate-specific antigen@blood"]),
    ],
)
def test_a_fluid_goes_as_far_as_it_is_meant(text: str, wanted: list[str]) -> None:
    assert [f"{name}@{specimen}" for name, specimen, *_ in _read(text)] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("AST/ALT/ALP same tube", ["Aspartate aminotransferase", "Alanine aminotransferase", "Alkaline phosphatase"]),
        ("Ca/PO4/Mg this pm", ["Calcium", "Phosphate", "Magnesium"]),
        ("D3 FSH", ["Follicle-stimulating hormone"]),
        ("day 21 progesterone", ["Progesterone"]),
        ("Hb pre-transfusion, ferritin", ["Hemoglobin", "Ferritin"]),
        ("DSAs and tacrolimus level", ["Donor-specific antibodies", "Tacrolimus level"]),
        ("DSA head", ["Angiography: head"]),
    ],
)
def test_words_of_time_behind_a_list_lose_no_test(text: str, wanted: list[str]) -> None:
    assert [name for name, *_ in _read(text)] == wanted
