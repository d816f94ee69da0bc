"""An order is answered from its own specimen, method and day, by the axes of its concept."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.case import CaseResult
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.examiner_lookup import answer
from wardround.scenarios.orders.order_reading import read_order

EARLY, LATE = "2150-01-02T06:00:00", "2150-01-04T06:00:00"
RECORD = (
    CaseResult("labs[0]", "lab", "Chloride, Urine", "Chloride, Urine: 30", None, time=EARLY),
    CaseResult("labs[1]", "lab", "Chloride", "Chloride: 101", None, time=LATE),
    CaseResult("labs[2]", "lab", "Urine: Creatinine", "Urine: Creatinine: 90", None, time=EARLY),
    CaseResult("labs[3]", "lab", "Pleural fluid: NT-proBNP, Pleural", "900", None, time=EARLY),
    CaseResult("labs[4]", "lab", "Blood gas: pH", "7.1", None, time=EARLY),
    CaseResult("labs[5]", "lab", "Blood gas: Specimen Type", "Blood gas: Specimen Type: VEN.", None, time=EARLY),
    CaseResult("labs[6]", "lab", "Glucose", "Glucose: 60", None, "51034", "51034", EARLY),
    CaseResult("labs[7]", "lab", "Hemoglobin", "Hemoglobin: 12", None, time=EARLY),
    CaseResult("labs[8]", "lab", "Platelet Count", "Platelet Count: 200", None, time=LATE),
    CaseResult("microbiology[0]", "microbiology", "CMV Viral Load", "CMV Viral Load: 400", None, "BLOOD", time=EARLY),
    CaseResult("microbiology[1]", "microbiology", "FLUID CULTURE", "no growth", None, "PLEURAL FLUID", time=EARLY),
)
CHART = read_chart(RECORD)


def refs(asked: str) -> set[str]:
    return {ref for line in answer(CHART, asked) for ref in line.refs}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("serum chloride", {"labs[1]"}),
        ("urine chloride", {"labs[0]"}),
        ("creatinine", set[str]()),
        ("NT-proBNP", set[str]()),
        ("pleural fluid NT-proBNP", {"labs[3]"}),
        ("glucose", set[str]()),
        ("body fluid glucose", {"labs[6]"}),
        ("CMV IgM", set[str]()),
        ("CMV PCR", {"microbiology[0]"}),
        ("arterial pH", set[str]()),
        ("venous pH", {"labs[4]"}),
        ("CBC", {"labs[7]"}),
        ("pleural fluid culture", {"microbiology[1]"}),
        ("urine culture", set[str]()),
    ],
)
def test_only_the_ordered_specimen_method_and_day_answer(asked: str, expected: set[str]) -> None:
    assert refs(asked) == expected


def test_the_nearest_result_is_offered_by_name_without_its_value() -> None:
    (line,) = answer(CHART, "serum creatinine")
    assert (line.state, line.refs) == ("not_performed", ())
    assert "Urine: Creatinine" in line.text
    assert "90" not in line.text


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("urine culture, blood culture", [("Urine culture", "urine"), ("Blood culture", "blood")]),
        ("CSF glucose and serum glucose", [("CSF glucose", "CSF"), ("Glucose", "blood")]),
        ("urine Na, serum Na", [("Urine sodium", "urine"), ("Sodium", "blood")]),
        (
            "pleural fluid LDH, protein; CBC",
            [
                ("Lactate dehydrogenase", "pleural fluid"),
                ("Total protein", "pleural fluid"),
                ("Complete blood count", "blood"),
            ],
        ),
        ("pelvic exam, CT abdomen", [("Pelvic examination", ""), ("CT abdomen", "")]),
        ("rectal exam, CT abdomen", [("Rectal examination", ""), ("CT abdomen", "")]),
        ("VBG", [("Venous blood gas", "venous blood")]),
        ("culture of skin scrapings", [("Bacterial culture", "skin")]),
    ],
)
def test_a_stated_specimen_beats_an_inherited_one(text: str, pairs: list[tuple[str, str]]) -> None:
    concepts = [one for piece in read_order(text).pieces for one in piece.concepts]
    assert [(one.name, one.specimen) for one in concepts] == pairs


def test_item_numbers_are_those_of_the_specimen() -> None:
    urine, blood = (read_order(text).pieces[0].concepts[0].item_ids for text in ("urine chloride", "serum chloride"))
    assert 51078 in urine
    assert 50902 in blood
    assert not set(urine) & set(blood)


WORDS = (
    "CBC",
    "serum",
    "urine",
    "Na",
    "and",
    "hold",
    "if",
    "positive",
    "CT",
    "head",
    "x2",
    "weekly",
    "(CRP)",
    "blorb",
    ",",
)


@given(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join))
def test_every_word_is_in_a_piece_or_in_the_context(order: str) -> None:
    reading = read_order(order)
    kept = Counter(
        re.findall(r"\w+", " ".join([*(piece.text for piece in reading.pieces), *reading.context]).casefold())
    )
    assert Counter(re.findall(r"\w+", order.casefold())) <= kept


def test_what_orders_nothing_says_so_in_its_place() -> None:
    reading = read_order("Labs: CBC and BMP, hold the MRI, then frobnicate twice")
    assert [piece.status for piece in reading.pieces] == ["matched", "matched", "not_an_order", "unknown"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("her iron and her vitamin D", ["Iron", "Vitamin D"]),
        ("tacro level + BMP weekly", ["Tacrolimus level", "Basic metabolic panel"]),
        ("Her INR daily while on warfarin", ["International normalized ratio"]),
        ("ESR CRP RF CCP", ["Erythrocyte sedimentation rate", "C-reactive protein", "Rheumatoid factor"]),
        ("renal US to r/o hydro", ["Renal ultrasound"]),
        ("serum Na and PCR for HSV", ["Sodium", "Herpes simplex PCR"]),
        ("Ask radiology for CTPA", ["CT pulmonary angiography"]),
        ("A TSH and, if you don't mind, a free T4 too?", ["Thyroid-stimulating hormone", "Free thyroxine"]),
        ("()", []),
    ],
)
def test_words_around_a_test_say_how_and_when(text: str, names: list[str]) -> None:
    assert [one.name for piece in read_order(text).pieces for one in piece.concepts][:3] == names


def test_a_blood_pressure_is_no_specimen() -> None:
    assert axes.specimen("blood pressure") == ""
    assert axes.specimen("occult blood") == ""
    assert axes.specimen("stool for occult blood") == "stool"


STUDIES = read_chart(
    (
        CaseResult("imaging[0]", "imaging", "MRCP", "MRCP: stones", None, "MRI Biliary tract"),
        CaseResult("imaging[1]", "imaging", "CT head", "CT head: normal", True, "CT Head"),
        CaseResult("imaging[2]", "imaging", "CT abdomen", "CT abdomen: normal", True, "CT Abdomen"),
    )
)


def test_a_study_without_a_region_is_asked_back_with_what_exists() -> None:
    (line,) = answer(STUDIES, "CT")
    assert (line.state, line.rule, line.refs) == ("unknown", "ambiguous", ())
    assert "CT head" in line.text
    assert "CT abdomen" in line.text


def test_an_mrcp_is_no_mri_of_the_brain() -> None:
    (line,) = answer(STUDIES, "MRI brain")
    assert (line.state, line.refs) == ("not_performed", ())
    assert "CT head" in line.text


def test_a_recorded_name_gets_its_own_result_beside_another_of_the_test() -> None:
    chart = read_chart(
        (
            CaseResult("labs[0]", "lab", "Potassium, Whole Blood", "Potassium, Whole Blood: 4", None, time=EARLY),
            CaseResult("labs[1]", "lab", "Potassium", "Potassium: 5", None, time=LATE),
        )
    )
    assert [line.refs for line in answer(chart, ["Potassium"])] == [("labs[1]",)]
    assert [line.refs for line in answer(chart, ["Potassium, Whole Blood"])] == [("labs[0]",)]
    assert [line.refs for line in answer(chart, "serum potassium")] == [("labs[0]",)]


def test_two_item_numbers_under_one_recorded_name_are_two_results() -> None:
    name = "Absolute Lymphocyte Count"
    chart = read_chart(
        (
            CaseResult("labs[0]", "lab", name, f"{name}: 0.6", None, "51133", "51133", EARLY),
            CaseResult("labs[1]", "lab", name, f"{name}: 0.7", None, "52769", "52769", LATE),
        )
    )
    assert {ref for line in answer(chart, [name]) for ref in line.refs} == {"labs[0]", "labs[1]"}


GASES = read_chart(
    (
        CaseResult("labs[0]", "lab", "Blood gas: Potassium, Whole Blood", "3.1", None, time=EARLY),
        CaseResult("labs[1]", "lab", "Potassium", "Potassium: 4.0", None, time=LATE),
        CaseResult("labs[2]", "lab", "Blood gas: Specimen Type", "Blood gas: Specimen Type: ART.", None, time=EARLY),
        CaseResult("labs[3]", "lab", "Blood gas: pH", "Blood gas: pH: 7.3", None, time=EARLY),
        CaseResult("labs[4]", "lab", "Blood gas: Lactate", "Blood gas: Lactate: 2", None, time=EARLY),
        CaseResult("microbiology[0]", "microbiology", "RESPIRATORY CULTURE", "no growth", None, "SPUTUM", time=EARLY),
    )
)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("serum potassium", {"labs[1]"}),
        ("potassium", {"labs[1]"}),
        ("ABG pH", {"labs[3]"}),
        ("VBG lactate", set[str]()),
        ("lactate", {"labs[4]"}),
        ("sputum culture", {"microbiology[0]"}),
    ],
)
def test_a_gas_answers_for_the_laboratory_only_where_that_has_nothing(asked: str, expected: set[str]) -> None:
    assert {ref for line in answer(GASES, asked) for ref in line.refs} == expected


@pytest.mark.parametrize("asked", ["CBC platelets", "UA nitrites", "coags INR"])
def test_a_test_behind_its_panel_is_the_test(asked: str) -> None:
    (piece,) = read_order(asked).pieces
    assert piece.status == "matched"
    assert len(piece.concepts) == 1


def test_a_repeat_within_one_order_gets_the_next_result() -> None:
    chart = read_chart(
        tuple(
            CaseResult(f"labs[{place}]", "lab", "Creatinine", f"Creatinine: {value}", None, time=time)
            for place, (value, time) in enumerate((("1.2", EARLY), ("2.0", LATE)))
        )
    )
    for order in ("creatinine, repeat", "creatinine, then repeat in 3 hours"):
        assert [line.refs for line in answer(chart, order)] == [("labs[0]",), ("labs[1]",)]
    assert [line.refs for line in answer(chart, "creatinine")] == [("labs[0]",)]
