"""Orders as a doctor gives them, on the bundled cases: the answer is of the right fluid, kind, time and study."""

from collections.abc import Mapping

import pytest

from wardround.scenarios.case import Case, Investigation, Lab, Provenance, Truth, case_results
from wardround.scenarios.loaders.load import bundled, load
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.examiner_lookup import Answer, answer


@pytest.fixture(scope="module")
def cases() -> Mapping[str, Case]:
    return {case.id: case for path in bundled() for case in load(path) if isinstance(case, Case)}


def asked(case: Case, order: str) -> tuple[Answer, ...]:
    return answer(read_chart(case_results(case)), order)


def with_labs(*labs: Lab, studies: tuple[Investigation, ...] = ()) -> Case:
    return Case(
        id="p1",
        opening="Cough.",
        labs=labs,
        investigations=studies,
        truth=Truth(diagnosis="Pneumonia"),
        provenance=Provenance(source="written here"),
        data_class="public",
    )


@pytest.mark.parametrize(("case", "said"), [("wa-001", "Ultrasound of the right lower quadrant"), ("wr-001", "none")])
def test_a_bare_ct_is_asked_back_also_where_the_record_has_none(
    cases: Mapping[str, Case], case: str, said: str
) -> None:
    (line,) = asked(cases[case], "CT")
    assert (line.state, line.rule, line.refs) == ("unknown", "ambiguous", ())
    assert "name the part of the body" in line.text
    assert said in line.text


@pytest.mark.parametrize("order", ["speculum exam", "pelvic exam"])
def test_an_examination_is_never_answered_by_imaging(cases: Mapping[str, Case], order: str) -> None:
    assert [line.state for line in asked(cases["wa-011"], order)] == ["not_performed"]


def test_what_is_examined_beside_a_study_of_the_same_name_is_the_examination(cases: Mapping[str, Case]) -> None:
    assert {line.kind for line in asked(cases["wa-011"], "fetal heart tones")} == {"examination"}


@pytest.mark.parametrize("order", ["psoas sign and Rovsing's sign", "guarding, rigidity", "palpate the abdomen"])
def test_named_signs_are_answered_by_their_part_of_the_examination(cases: Mapping[str, Case], order: str) -> None:
    assert {line.refs for line in asked(cases["wa-001"], order)} == {("examination[2]",)}


def test_a_blood_gas_without_a_gas_is_not_performed_and_its_neighbours_are_offered(cases: Mapping[str, Case]) -> None:
    (line,) = asked(cases["wa-004"], "ABG")
    assert (line.state, line.refs) == ("not_performed", ())
    assert "The record has Bicarbonate (blood) at 2026-04-22 22:15, Lactate" in line.text


def test_a_blood_gas_is_of_one_sample() -> None:
    case = with_labs(
        Lab(name="Bicarbonate", value="25", unit="mEq/L", time="2026-01-01 06:00"),
        Lab(name="pH", value="7.31", time="2026-01-01 09:00"),
        Lab(name="pCO2", value="30", unit="mm Hg", time="2026-01-01 09:00"),
    )
    assert [line.refs for line in asked(case, "blood gas")] == [("labs[1]",), ("labs[2]",)]


def test_what_follows_a_puncture_is_of_its_fluid(cases: Mapping[str, Case]) -> None:
    lines = asked(cases["ws-010"], "LP: cells, protein, glucose")
    assert {ref for line in lines for ref in line.refs} == {"microbiology[1]", "investigations[0]"}


def test_a_fluid_goes_on_to_a_name_that_the_record_has_in_blood(cases: Mapping[str, Case]) -> None:
    lines = asked(cases["ws-010"], "CSF protein, glucose")
    assert {ref for line in lines for ref in line.refs} == {"investigations[0]"}


def test_an_order_of_serum_is_not_answered_by_a_text_on_urine(cases: Mapping[str, Case]) -> None:
    (line,) = asked(cases["wr-012"], "serum hCG quantitative")
    assert line.text.startswith("Serum beta-hCG")


def test_a_spot_sample_does_not_answer_a_collection_of_a_day(cases: Mapping[str, Case]) -> None:
    (line,) = asked(cases["ws-003"], "24-hour urine protein")
    assert line.state == "not_performed"
    assert "The record has Protein, Urine" in line.text


def test_the_last_value_is_the_latest() -> None:
    days = [Lab(name="Creatinine", value=value, unit="mg/dL", time=f"2026-01-0{day}") for day, value in
            enumerate(("1.0", "1.9", "1.4"), 1)]  # fmt: skip
    case = with_labs(*days)
    assert [line.refs for line in asked(case, "creatinine")] == [("labs[0]",)]
    for order in ("last creatinine", "most recent creatinine", "latest Cr"):
        assert [line.refs for line in asked(case, order)] == [("labs[2]",)], order


def test_an_mrcp_is_not_answered_by_a_study_of_the_bowel(cases: Mapping[str, Case]) -> None:
    (line,) = asked(cases["wa-014"], "MRCP")
    assert line.state == "not_performed"
    (line,) = asked(cases["wa-004"], "MRI brain")
    assert line.state == "not_performed"


@pytest.mark.parametrize(
    ("case", "order", "name"),
    [
        ("ws-004", "mental status exam", "Mental state"),
        ("ws-002", "strep throat swab", "Group A streptococcus antigen"),
        ("wr-006", "ACTH stimulation", "Cosyntropin stimulation test"),
        ("wa-004", "fasting triglycerides", "Triglycerides"),
        ("wa-003", "compression ultrasound of both legs", "Venous duplex ultrasound of the legs"),
    ],
)
def test_other_names_of_a_recorded_result_find_it(cases: Mapping[str, Case], case: str, order: str, name: str) -> None:
    (line,) = asked(cases[case], order)
    assert line.text.startswith(name)
