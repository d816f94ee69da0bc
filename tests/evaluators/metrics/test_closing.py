"""Whether a doctor concluded before it had seen what decides the case."""

import pytest
from graded import answer, case, completed, order, trajectory

from wardround.engine.records import Action, Ending, Score
from wardround.evaluators.metrics.standard import closing_scores
from wardround.scenarios.case import Case, Truth

DECIDING = ("Pain in the right lower belly", "thick   appendix")
ENDED = ("doctor", Action("reply", "Diagnosis: Appendicitis"))


def decided(*deciding: str) -> Case:
    return case(truth=Truth(diagnosis="Appendicitis", deciding=deciding))


def told(text: str) -> list[tuple[str, Action]]:
    return [("doctor", Action("reply", "Action: PE")), ("examiner", Action("answer", text))]


def values(scores: list[Score]) -> list[tuple[float | None, str]]:
    assert [score.name for score in scores] == ["premature_closing", "deciding_seen"]
    return [(score.value, score.reason) for score in scores]


def test_closing_before_all_was_seen_is_premature() -> None:
    early = trajectory(ENDED, ending=completed())
    assert values(closing_scores(decided(*DECIDING), early)) == [(1.0, ""), (0.5, "")]
    late = trajectory(*told("CT abdomen: Thick\nappendix."), ENDED, ending=completed())
    assert values(closing_scores(decided(*DECIDING), late)) == [(0.0, ""), (1.0, "")]


def test_what_was_told_after_the_answer_does_not_count() -> None:
    after = trajectory(ENDED, *told("CT abdomen: Thick appendix."), ENDED, ending=completed())
    first = closing_scores(decided(*DECIDING), trajectory(ENDED, ending=completed()))
    assert values(first)[0] == (1.0, "")
    assert values(closing_scores(decided(*DECIDING), after))[0] == (0.0, "")


def test_a_field_that_an_answer_cites_was_seen_in_whatever_words() -> None:
    cited = order([answer("imaging", "CT", "imaging[2]")])
    played = trajectory(*cited, ENDED, ending=completed())
    assert values(closing_scores(decided(*DECIDING), played)) == [(0.0, ""), (1.0, "")]


@pytest.mark.parametrize("state", ["unknown", "not_performed"])
def test_an_order_in_the_words_of_a_finding_shows_nothing_by_being_repeated(state: str) -> None:
    said = "thick appendix: no such test"
    row = {"asked": "thick appendix", "state": state, "refs": [], "text": said}
    echoed = [
        ("doctor", Action("order", args={"kind": "any", "items": ["thick appendix"]})),
        ("examiner", Action("answer", said, {"answers": [row]})),
    ]
    assert values(closing_scores(decided(*DECIDING), trajectory(*echoed, ENDED, ending=completed())))[1] == (0.5, "")


@pytest.mark.parametrize(
    ("scenario", "ending", "deciding", "reason"),
    [
        ("workup", completed(), (), "no_deciding_findings"),
        ("oracle", completed(), DECIDING, "not_ordered_here"),
        ("workup", Ending("doctor", "no_answer"), DECIDING, "no_answer"),
        ("workup", Ending("provider", "timeout"), DECIDING, "provider/timeout"),
        ("workup", None, DECIDING, "open"),
    ],
)
def test_why_there_is_no_figure(scenario: str, ending: Ending | None, deciding: tuple[str, ...], reason: str) -> None:
    played = trajectory(ENDED, scenario=scenario, ending=ending)
    assert values(closing_scores(decided(*deciding), played)) == [(None, reason)] * 2
