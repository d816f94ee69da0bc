"""Sentences that order, tell, examine and sample: what is ordered in them, and what is only mentioned."""

import pytest

from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.named_tests import named_within
from wardround.scenarios.orders.order_reading import read_order


def _named(text: str) -> list[str]:
    return [
        f"{one.name}@{one.specimen}" if one.specimen not in ("", "blood") else one.name
        for piece in read_order(text).pieces
        if piece.status == "matched"
        for one in piece.concepts
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("This fever warrants a lactate today", ["Lactate"]),
        ("The best next test would be an echocardiogram", ["Echocardiogram"]),
        ("I would first like to obtain a ferritin to assess her iron stores", ["Ferritin"]),
        ("An MRI of the left knee would settle whether the meniscus is torn", ["MRI: left knee"]),
        ("Skip the CT and instead get a renal ultrasound", ["Renal ultrasound"]),
        ("Refer for a colposcopy", ["Colposcopy"]),
        ("cbc cmp lipase", ["Complete blood count", "Comprehensive metabolic panel", "Lipase"]),
        ("What is her blood pressure?", ["Blood pressure"]),
        ("Screen for celiac disease with total IgA", ["Immunoglobulin A"]),
        ("A CT or nothing", []),
        ("vitamin A, D, E levels", ["Vitamin A", "Vitamin D", "Vitamin E"]),
        (
            "Nerve conduction studies of both legs, B12, SPEP",
            ["Nerve conduction studies", "Vitamin B12", "Serum protein electrophoresis"],
        ),
    ],
)
def test_a_sentence_orders_the_tests_that_it_asks_for(text: str, wanted: list[str]) -> None:
    assert _named(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "She had a normal chest X-ray last week",
        "The patient takes lithium",
        "He has iron deficiency",
        "zoster IgG",
        "voltage-gated sodium channel",
        "start an insulin infusion",
        "because her potassium was low",
        "give 2 g of magnesium",
        "urine partial pressure of carbon dioxide",
        "CSF partial pressure of oxygen",
    ],
)
def test_a_name_that_is_only_mentioned_orders_nothing(text: str) -> None:
    assert _named(text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "Aspirate the swollen knee and send it for crystals",
            ["Synovial fluid analysis@synovial fluid", "Synovial fluid crystals@synovial fluid"],
        ),
        ("blood and urine for culture", ["Blood culture", "Urine culture@urine"]),
        ("cultures: blood, urine, sputum", ["Blood culture", "Urine culture@urine", "Sputum culture@sputum"]),
        ("sputum culture + gram stain", ["Sputum culture@sputum", "Gram stain@sputum"]),
        ("urinary antigens for Legionella", ["Legionella urinary antigen@urine"]),
        ("UNa, Sosm", ["Urine sodium@urine", "Serum osmolality"]),
        ("AFB smear", ["Acid-fast bacilli smear and culture@sputum"]),
        ("UCx, BCx x2", ["Urine culture@urine", "Blood culture"]),
    ],
)
def test_a_sample_gives_its_tests_their_specimen(text: str, wanted: list[str]) -> None:
    assert _named(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Examine the heart and look for peripheral edema", ["Cardiovascular examination", "Extremity examination"]),
        ("listen for bowel sounds", ["Abdominal examination"]),
        ("PE: neck, skin", ["Physical examination", "Neck examination", "Skin examination"]),
    ],
)
def test_a_part_of_the_body_is_examined_only_where_a_verb_says_so(text: str, wanted: list[str]) -> None:
    assert _named(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("CT of the chest, abdomen and pelvis", ["CT chest abdomen and pelvis"]),
        ("X-ray R ankle, L ankle", ["Radiograph: ankle"]),
        ("X-ray of the right hand and wrist", ["Radiograph: right hand", "Radiograph: right wrist"]),
        ("KUB, no CT", ["Abdominal radiograph"]),
    ],
)
def test_a_study_has_the_places_behind_it(text: str, wanted: list[str]) -> None:
    assert _named(text) == wanted


def test_biopsies_at_an_endoscopy_are_its_method() -> None:
    (piece,) = read_order("flexible sigmoidoscopy and biopsies").pieces
    assert [(one.name, one.method) for one in piece.concepts] == [("Sigmoidoscopy", "biopsy")]


@pytest.mark.parametrize("text", ["biopsy", "drug level", "all labs on day 3"])
def test_a_kind_of_test_alone_is_ambiguous(text: str) -> None:
    assert [piece.status for piece in read_order(text).pieces] == ["ambiguous"]


def test_the_longest_name_is_taken() -> None:
    assert named_within("this man warrants a head CT and a D-dimer today", catalogue()) == ("head CT", "D-dimer")


@pytest.mark.parametrize(
    "text",
    [
        "HbA1c & lipids, 58M strong FHx IHD",
        "copper & zinc - gastric bypass 2019",
        "CXR, cough 5/52, smoker",
        "BCx x3 - new murmur + fever",
        "exercise treadmill test, off bisoprolol 48h",
        "US abdomen, EBV likely",
    ],
)
def test_words_of_the_patient_are_context(text: str) -> None:
    assert {piece.status for piece in read_order(text).pieces} == {"matched"}


@pytest.mark.parametrize(
    "text",
    ["FBC, ETT stopped early due to pain", "FBC. ENT to scope him.", "FBC, cardiac echo done", "FBC. Dex 16 mg given."],
)
def test_a_result_a_referral_and_a_dose_order_nothing(text: str) -> None:
    assert [piece.status for piece in read_order(text).pieces] == ["matched", "not_an_order"]


@pytest.mark.parametrize(
    ("text", "specimens"),
    [
        ("sputum for AFB x3, HIV test and IGRA", ["sputum", "blood", "blood"]),
        ("throat swab for strep, monospot, FBC", ["throat", "blood", "blood"]),
        ("CSF oligoclonal bands with paired serum", ["CSF", "blood"]),
        ("LP - cells, glucose (paired plasma)", ["", "CSF", "CSF", "blood"]),
        ("genital swab HSV/VZV/syphilis PCR", ["cervix", "cervix", "cervix"]),
        ("urine dip + MSU", ["urine", "urine"]),
    ],
)
def test_each_test_is_done_on_its_own_specimen(text: str, specimens: list[str]) -> None:
    assert [one.specimen for piece in read_order(text).pieces for one in piece.concepts] == specimens


def test_a_run_of_names_loses_no_fluid() -> None:
    pieces = read_order("pleural fluid partial pressure of oxygen").pieces
    assert {one.specimen for piece in pieces for one in piece.concepts} == {"pleural fluid"}
