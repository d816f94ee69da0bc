"""Repeated measurements: the first by default, the next on a repeat, all of them as a series."""

import pytest

from wardround.agents.examiner import Examiner
from wardround.engine.records import Action, Said, View
from wardround.scenarios.case import Case, Lab, Provenance, Truth, case_results
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.examiner_lookup import answer
from wardround.scenarios.parsers.moves import record_rows


def lab(name: str, value: str, time: str) -> Lab:
    return Lab(name=name, value=value, unit="ng/mL", high=0.01, flag="high", time=time)


CASE = Case(
    id="one",
    opening="Chest pain.",
    labs=(
        lab("Troponin T", "0.20", "2150-01-02T15:00:00"),
        lab("Troponin T", "0.02", "2150-01-02T06:00:00"),
        lab("Troponin T", "0.05", "2150-01-02T09:00:00"),
        Lab(name="Lactate", value="2", unit="mmol/L"),
        Lab(name="Lactate", value="3", unit="mmol/L"),
    ),
    truth=Truth(diagnosis="Myocardial infarction"),
    provenance=Provenance(source="tests"),
    data_class="public",
)
RECORD = case_results(CASE)


def refs(asked: str | list[str], reported: tuple[str, ...] = ()) -> list[str]:
    return [ref for line in answer(read_chart(RECORD), asked, reported=reported) for ref in line.refs]


def test_the_earliest_is_told_first_with_its_time() -> None:
    (first,) = answer(read_chart(RECORD), "troponin")
    assert first.refs == ("labs[1]",)
    assert first.text == "Troponin T: 0.02 ng/mL (reference up to 0.01) [high] at 2150-01-02 06:00"
    assert refs(["Troponin T"]) == ["labs[1]"]


def test_a_repeat_gives_the_next_and_at_the_end_the_last() -> None:
    assert refs("repeat troponin", ("labs[1]",)) == ["labs[2]"]
    assert refs("repeat troponin", ("labs[1]", "labs[2]")) == ["labs[0]"]
    assert refs("repeat troponin", ("labs[0]", "labs[1]", "labs[2]")) == ["labs[0]"]
    assert refs("repeat troponin") == ["labs[1]"]


def test_a_series_gives_all() -> None:
    for asked in ("troponin trend", "serial troponins"):
        assert sorted(refs(asked)) == ["labs[0]", "labs[1]", "labs[2]"]


def test_results_without_a_time_are_told_together() -> None:
    assert refs("lactate") == ["labs[3]", "labs[4]"]


DAYS = tuple(
    lab(name, value, time)
    for name, value, time in (
        ("Creatinine", "1.1", "2150-01-02T06:00:00"),
        ("Creatinine", "1.9", "2150-01-04T06:00:00"),
        ("Creatinine", "2.4", "2150-01-04T18:00:00"),
        ("Follicle Stimulating Hormone", "7", "2150-01-02T06:00:00"),
    )
)
STAY = case_results(CASE.model_copy(update={"labs": DAYS}))


@pytest.mark.parametrize(
    ("asked", "cited"),
    [
        ("creatinine", ["labs[0]"]),
        ("creatinine on day 1", ["labs[0]"]),
        ("creatinine on day 3", ["labs[1]"]),
        ("creatinine on hospital day 3", ["labs[1]"]),
        ("last creatinine on day 3", ["labs[2]"]),
        ("creatinine from 4 January", ["labs[1]"]),
        ("creatinine on Jan 4th, 2150", ["labs[1]"]),
        (["creatinine on day 3"], ["labs[1]"]),
        ("creatinine on day 2", []),
        ("creatinine from 4 January 2149", []),
        ("creatinine on day 3 of the admission", ["labs[1]"]),
        ("creatinine on day 3 of gentamicin", ["labs[0]"]),
        ("FSH on day 3", ["labs[3]"]),
        ("creatinine, 2 marrow biopsies", ["labs[0]"]),
    ],
)
def test_a_stated_day_is_answered_by_results_of_that_day_alone(asked: str | list[str], cited: list[str]) -> None:
    assert [ref for line in answer(read_chart(STAY), asked) for ref in line.refs] == cited


def test_a_day_without_a_result_is_answered_by_what_other_days_have() -> None:
    (line,) = answer(read_chart(STAY), "creatinine on day 2")
    assert line.state == "not_performed"
    assert line.text.startswith("Creatinine: not performed on day 2, there is no result. The record has Creatinine at")
    assert "1.1" not in line.text


async def test_the_examiner_remembers_what_it_has_told() -> None:
    examiner, told = Examiner(), []
    heard: list[Said] = []
    for seq in range(3):
        order = {"kind": "lab", "items": ["troponin" if not seq else "repeat troponin"], "text": ""}
        view = View("examiner", "", tuple(heard), ("answer",), {"record": record_rows(RECORD), "order": order})
        given: Action = await examiner.act(view)
        told.append(given.args["answers"][0]["refs"])
        heard.append(Said(seq, "examiner", "answer", given.text, given.args))
    assert told == [["labs[1]"], ["labs[2]"], ["labs[0]"]]
