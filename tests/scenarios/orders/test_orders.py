"""An order answered from a record: four states, citations, panels, policies, broad requests."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.case import CaseResult
from wardround.scenarios.orders.catalogue import catalogue, scope
from wardround.scenarios.orders.chart import Chart, read_chart
from wardround.scenarios.orders.examiner_lookup import Answer, answer

RECORD = (
    CaseResult("examination[0]", "examination", "Vital signs", "Temperature: 38.9 °C", None),
    CaseResult("examination[1]", "examination", "Abdomen", "Tender in the right lower quadrant", None),
    CaseResult("labs[0]", "lab", "Hemoglobin", "Hemoglobin: 14 g/dL", True),
    CaseResult("labs[1]", "lab", "WBC", "WBC: 17 [high]", False),
    CaseResult("labs[2]", "lab", "Urinalysis - WBC", "Urinalysis - WBC: 3/hpf", True),
    CaseResult("labs[3]", "lab", "Sodium", "Sodium: 140 mmol/L", True),
    CaseResult("labs[4]", "lab", "Sodium", "Sodium: 128 mmol/L [low]", False),
    CaseResult("labs[5]", "lab", "Anti-PGL-1 antibodies (IgM), ELISA and/or dipstick", "positive", None),
    CaseResult("microbiology[0]", "microbiology", "BLOOD CULTURE, ROUTINE", "Blood culture: no growth", None, "BLOOD"),
    CaseResult("imaging[0]", "imaging", "Imaging - Chest CT - Findings", "No thymoma", None, "CT Chest"),
    CaseResult("imaging[1]", "imaging", "CT ABD & PELVIS WITH CONTRAST", "Appendicitis", None, "CT Abdomen"),
    CaseResult("imaging[2]", "imaging", "X-ray of the left knee", "Effusion", None),
    CaseResult("investigations[0]", "investigation", "Skin biopsy", "Skin biopsy: granuloma", None),
    CaseResult(
        "investigations[1]", "investigation", "Laboratory results", "Elevated PTH (75 pg/mL), calcium 10.7", None
    ),
)
CHART = read_chart(RECORD)


def refs(given: tuple[Answer, ...]) -> set[str]:
    return {ref for line in given for ref in line.refs}


def one(asked: str, kind: str = "any", policy: str = "strict") -> Answer:
    (found,) = answer(CHART, [asked], kind, policy)
    return found


@pytest.mark.parametrize(
    ("asked", "state", "ref"),
    [
        ("hemoglobin", "normal", "labs[0]"),
        ("white cell count", "reported", "labs[1]"),
        ("leucocytes in urine", "normal", "labs[2]"),
        ("urine WBC", "normal", "labs[2]"),
        ("blood cultures x2", "reported", "microbiology[0]"),
        ("CT chest", "reported", "imaging[0]"),
        ("contrast-enhanced CT of the abdomen", "reported", "imaging[1]"),
        ("left knee radiograph", "reported", "imaging[2]"),
        ("right knee radiograph", "not_performed", ""),
        ("MRI brain", "not_performed", ""),
        ("punch biopsy of skin", "reported", "investigations[0]"),
        ("PTH level", "reported", "investigations[1]"),
        ("abdominal exam", "reported", "examination[1]"),
        ("lipase", "not_performed", ""),
        ("blorbogram", "unknown", ""),
        ("CSF glucose", "not_performed", ""),
    ],
)
def test_each_request_gets_its_state_and_its_citation(asked: str, state: str, ref: str) -> None:
    found = one(asked)
    assert (found.state, found.refs) == (state, (ref,) if ref else ())
    assert not found.assumed
    assert bool(found.test) or state == "unknown" or found.refs


def test_the_blood_count_leaves_the_urine_alone() -> None:
    given = answer(CHART, ["CBC"], "lab")
    assert refs(given) == {"labs[0]", "labs[1]"}
    assert {line.rule for line in given} == {"panel"}
    assert sum(line.points for line in given) == catalogue().tests["Complete blood count"].points


def test_a_panel_without_a_recorded_member_is_one_answer() -> None:
    (found,) = answer(CHART, ["lipid panel"])
    assert (found.state, found.test) == ("not_performed", "Lipid panel")


def test_a_panel_recorded_as_a_whole_answers_for_its_member() -> None:
    record = (CaseResult("labs[0]", "lab", "Complete blood count", "Complete blood count: normal", True),)
    (found,) = answer(read_chart(record), ["hemoglobin"])
    assert (found.state, found.refs, found.rule) == ("normal", ("labs[0]",), "panel")


def test_a_repeated_test_is_told_each_time_it_was_taken() -> None:
    assert refs(answer(CHART, "Na")) == {"labs[3]", "labs[4]"}


@pytest.mark.parametrize("item", RECORD, ids=lambda item: str(item.ref))
@pytest.mark.parametrize("kind", ["any", "lab", "imaging", "examination"])
def test_a_records_own_name_always_finds_it(item: CaseResult, kind: str) -> None:
    assert item.ref in refs(answer(CHART, [item.name], kind))
    assert item.ref in refs(answer(CHART, item.name, kind))


def test_a_name_that_is_also_a_kind_of_tests_is_answered_once() -> None:
    assert scope("everything") == scope("run everything, please") == scope("a full battery of tests") == "any"
    assert scope("everything abnormal") is scope("CT of everything") is None
    assert scope("Laboratory results") == "lab"
    assert one("Laboratory results").refs == ("investigations[1]",)


def test_an_order_of_all_names_finds_all() -> None:
    names = list(dict.fromkeys(item.name for item in RECORD))
    assert refs(answer(CHART, names)) == {item.ref for item in RECORD}


def test_an_examination_without_items_is_all_of_it() -> None:
    for asked in ((), "", "physical examination", ["Full physical exam"]):
        assert refs(answer(CHART, asked, "examination")) == {"examination[0]", "examination[1]"}
    (found,) = answer(read_chart(RECORD[2:]), (), "examination")
    assert found.state == "not_performed"
    assert answer(CHART, (), "lab") == ()


def test_broad_requests() -> None:
    assert refs(answer(CHART, ["blood tests"])) == {"labs[0]", "labs[1]", "labs[3]", "labs[4]"}
    (back,) = answer(CHART, ["imaging studies"])
    assert (back.state, back.rule, back.refs) == ("unknown", "broad", ())
    assert refs(answer(CHART, ["any imaging?"], everything=True)) == {"imaging[0]", "imaging[1]", "imaging[2]"}


def test_the_default_normal_is_marked_and_cites_nothing() -> None:
    potassium = one("potassium", policy="normal-default")
    assert (potassium.state, potassium.assumed, potassium.refs) == ("normal", True, ())
    assert "4.3 mmol/L (reference 3.5-5.1)" in potassium.text
    assert one("rectal exam", policy="normal-default").assumed
    panel = one("lipid panel", policy="normal-default")
    assert panel.assumed
    assert "HDL" in panel.text
    assert one("hemoglobin", policy="normal-default").assumed is False
    for never in ("MRI brain", "urine culture", "liver biopsy", "blorbogram"):
        found = one(never, policy="normal-default")
        assert found.state in ("not_performed", "unknown"), never
        assert not found.assumed


def test_the_examiner_never_falls_for_look_alikes() -> None:
    record = (
        CaseResult("microbiology[0]", "microbiology", "HCV antibody", "HCV antibody: positive", None),
        CaseResult("labs[0]", "lab", "IgM", "IgM: 90", True),
        CaseResult("labs[1]", "lab", "Complement C4", "C4: 20", True),
        CaseResult("labs[2]", "lab", "Total bilirubin", "1.0", True),
        CaseResult("labs[3]", "lab", "Free T4", "1.2", True),
    )
    for asked in ("HIV antibody", "CMV IgM", "IgG", "complement C3", "QuantiFERON-TB", "free T3"):
        assert refs(answer(read_chart(record), [asked])) == set(), asked


NAMES = ["CBC", "MRI brain", "banana", "Sodium", "skin biopsy", "CT chest", "urine WBC", "physical exam", "PTH"]


@given(st.lists(st.sampled_from(NAMES), unique=True), st.randoms())
def test_the_order_of_requests_changes_no_answer(names: list[str], shuffler: random.Random) -> None:
    other = list(names)
    shuffler.shuffle(other)
    assert sorted(map(repr, answer(CHART, names))) == sorted(map(repr, answer(CHART, other)))


@given(st.text(max_size=200), st.sampled_from(["any", "lab", "examination"]), st.booleans())
def test_any_text_gets_answers_that_hold_together(text: str, kind: str, everything: bool) -> None:
    for line in answer(CHART, text, kind, "normal-default", everything=everything):
        assert line.state in ("reported", "normal", "not_performed", "unknown")
        assert bool(line.refs) == (line.state in ("reported", "normal") and not line.assumed)
        assert 0.0 <= line.score <= 1.0
        assert line.points >= 0


_ASKED = (
    "hemoglobin",
    "sodium",
    "repeat sodium",
    "CT chest",
    "PTH level",
    "lipase",
    "urinalysis",
    "CT",
    "potassium",
    "",
)


@given(st.lists(st.tuples(st.sampled_from(_ASKED), st.sampled_from(("strict", "normal-default"))), max_size=8))
def test_a_chart_answers_the_same_however_often_it_was_searched(orders: list[tuple[str, str]]) -> None:
    one_chart, reported = read_chart(RECORD, names=()), set[str]()
    for asked, policy in orders:
        again = answer(one_chart, [asked], "any", policy, reported=reported)
        afresh = answer(Chart(CHART.entries, CHART.subject, CHART.table), [asked], "any", policy, reported=reported)
        assert again == afresh
        reported |= refs(again)


@pytest.mark.long
def test_a_chart_that_was_searched_for_thousands_of_names_keeps_no_more_than_a_thousand() -> None:
    for number in range(1200):
        answer(CHART, [f"test number {number}"])
    assert one("CT chest").refs == ("imaging[0]",)
    assert len(CHART._searched) <= 1000
