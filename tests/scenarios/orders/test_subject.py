"""An assumed normal never contradicts the patient: pregnancy, children, sex."""

import pytest

from wardround.scenarios.case import CaseResult
from wardround.scenarios.orders import examiner_lookup, subject
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.examiner_lookup import answer
from wardround.scenarios.orders.subject import Subject, read_subject

RECORD = (CaseResult("labs[0]", "lab", "Sodium", "Sodium: 140 mmol/L", True),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A 26-year-old woman, G2P1, 24 weeks pregnant, has headaches.", Subject(26.0, "female", pregnant=True)),
        ("A 6-year-old boy limps.", Subject(6.0, "male")),
        ("An 8-month-old girl has a fever.", Subject(8 / 12, "female")),
        ("A 71 yo man, smoker for 40 years, coughs.", Subject(71.0, "male")),
        ("The patient is not pregnant. She is 31 years old.", Subject(31.0, "female")),
        ("Chest pain since 3 years.", Subject()),
    ],
)
def test_age_sex_and_pregnancy_are_read(text: str, expected: Subject) -> None:
    read = read_subject(text)
    assert (read.sex, read.pregnant) == (expected.sex, expected.pregnant)
    assert read.years == expected.years


@pytest.mark.parametrize(
    ("asked", "patient", "assumed"),
    [
        ("pregnancy test", Subject(26, "female", pregnant=True), False),
        ("pregnancy test", Subject(26, "female"), False),
        ("pregnancy test", Subject(), False),
        ("pregnancy test", Subject(40, "male"), True),
        ("hemoglobin", Subject(6, "male"), False),
        ("heart rate", Subject(2, ""), False),
        ("blood pressure", Subject(2, ""), False),
        ("hemoglobin", Subject(60, "male"), True),
        ("hemoglobin", Subject(26, "female", pregnant=True), False),
        ("rectal exam", Subject(6, "male"), True),
        ("pleural fluid glucose", Subject(60, "male"), False),
    ],
)
def test_a_normal_is_only_assumed_where_it_can_be(asked: str, patient: Subject, assumed: bool) -> None:
    lines = answer(read_chart(RECORD, patient), [asked], policy="normal-default")
    assert [line.assumed for line in lines] == [assumed]
    assert lines[0].state == ("normal" if assumed else "not_performed")
    assert not lines[0].refs


def test_no_child_gets_an_adult_range() -> None:
    child = Subject(4, "female")
    for test in catalogue().tests.values():
        for line in answer(read_chart(RECORD, child), [test.name], policy="normal-default"):
            told = line.text.replace(line.test, "")
            assert not (line.assumed and any(mark.isdigit() for mark in told)), line.text


@pytest.mark.parametrize(
    ("recorded", "value", "asked"),
    [
        ("Hemoglobin", "5.1 g/dL", "Hematocrit"),
        ("Creatinine", "6.0 mg/dL", "eGFR"),
        ("Blood gas: pH", "7.10", "bicarbonate"),
        ("AST", "900 U/L", "ALT"),
        ("TSH", "80 mIU/L", "free T4"),
        ("Lipase", "900 U/L", "amylase"),
    ],
)
def test_no_normal_is_assumed_beside_a_bound_result_that_is_not(recorded: str, value: str, asked: str) -> None:
    man = Subject(70.0, "male")
    item = CaseResult("labs[0]", "lab", recorded, f"{recorded}: {value}", False)
    assert all(line.state != "normal" for line in answer(read_chart((item,), man), asked, policy="normal-default"))
    assert any(line.assumed for line in answer(read_chart((), man), asked, policy="normal-default"))
    usual = CaseResult("labs[0]", "lab", recorded, f"{recorded}: as usual", True)
    assert any(line.assumed for line in answer(read_chart((usual,), man), asked, policy="normal-default"))


@pytest.mark.parametrize(
    ("opening", "asked", "assumed"),
    [
        ("A 50-year-old man with breathlessness and fever.", "respiratory exam", False),
        ("A 50-year-old man with breathlessness and fever.", "temperature", False),
        ("A 50-year-old man with breathlessness and fever.", "vital signs", False),
        ("A 50-year-old man with breathlessness and fever.", "knee exam", True),
        ("A 50-year-old man with a swollen knee. He has no rash and denies chest pain.", "skin exam", True),
        ("A 50-year-old man with a swollen knee. He has no rash and denies chest pain.", "cardiovascular exam", True),
        ("A 50-year-old man with a swollen knee.", "physical examination", False),
        ("A 50-year-old man with weakness of the left arm.", "neuro exam", False),
    ],
)
def test_no_examination_is_normal_where_the_text_of_the_case_speaks_against_it(
    opening: str, asked: str, assumed: bool
) -> None:
    chart = read_chart(RECORD, read_subject(opening))
    assert any(line.assumed for line in answer(chart, [asked], policy="normal-default")) is assumed


def test_no_examination_is_normal_beside_a_result_of_its_system_that_is_not() -> None:
    sick = CaseResult("imaging[0]", "imaging", "Chest X-ray", "Chest X-ray: right lower lobe consolidation", False)
    well = CaseResult("imaging[0]", "imaging", "Chest X-ray", "Chest X-ray: no consolidation", False)
    for item, assumed in ((sick, False), (well, True)):
        chart = read_chart((item,), Subject(60.0, "male"))
        assert [line.assumed for line in answer(chart, ["respiratory exam"], policy="normal-default")] == [assumed]


def test_every_doubted_examination_is_in_the_table() -> None:
    assert {name for _, names in subject._SPEAKS_AGAINST for name in names} <= set(catalogue().tests)


def test_every_bound_test_is_in_the_table() -> None:
    assert {name for names in examiner_lookup._bound_tests() for name in names} <= set(catalogue().tests)
