"""The final answer scored by how the episode ended, by the lexical match, and by a judge."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from graded import case, completed, trajectory

from wardround import evaluators
from wardround.engine.errors import LimitReached, ProviderError, RunStopped
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Completion, Ending, Json, Message, Score
from wardround.engine.seat import Seat
from wardround.evaluators.answer import Answer
from wardround.evaluators.standard import Standard
from wardround.scenarios.case import Case, Truth

PROMPTS = Prompts.load([Path(str(evaluators.__file__)).parent / "prompts"])
PLAN = Truth(treatment="No surgery; either oral antibiotics or observation, and not steroids.")


class Judge:
    """A voice that says the given words in turn, or raises the given error, and keeps what it was asked."""

    name = "judge"

    def __init__(self, *replies: str | Exception) -> None:
        self.replies = list(replies)
        self.asked: list[tuple[str, Sequence[Message]]] = []

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        del options
        self.asked.append((purpose, list(messages)))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Completion(reply)


def seat(judge: Judge) -> Seat:
    """The judge's seat."""
    return Seat("judge", "case-1", 1, PROMPTS, model=judge)


async def first(ending: Ending | None, judge: Judge | None = None, patient: Case | None = None) -> Score:
    """The score of an episode with this ending."""
    played = trajectory(("doctor", Action("reply", "x")), ("doctor", Action("conclude")), ending=ending)
    return (await Answer().score(patient or case(), played, seat(judge) if judge else None))[0]


async def test_a_right_and_a_wrong_answer_with_the_event_they_stand_in() -> None:
    assert await first(completed("Appendicitis")) == Score("diagnosis_accuracy", 1.0, "", (2,))
    assert await first(completed("appendiceal inflammation")) == Score("diagnosis_accuracy", 1.0, "", (2,))
    assert await first(completed("Gout")) == Score("diagnosis_accuracy", 0.0, "", (2,))


async def test_no_answer_is_zero() -> None:
    for ending in (Ending("doctor", "no_answer"), completed("  "), Ending("completed")):
        score = await first(ending)
        assert (score.name, score.value, score.reason) == ("diagnosis_accuracy", 0.0, "no_answer")


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (None, "open"),
        (Ending("parser", "unreadable"), "parser/unreadable"),
        (Ending("doctor", "error", facts={"answer": {"diagnosis": "Appendicitis"}}), "doctor/error"),
        (Ending("provider", "timeout"), "provider/timeout"),
        (Ending("patient", "error"), "patient/error"),
        (Ending("rules", "error"), "rules/error"),
        (Ending("limit", "cost"), "limit/cost"),
        (Ending("examiner"), "examiner"),
    ],
)
async def test_a_failure_is_no_score(ending: Ending | None, reason: str) -> None:
    score = await first(ending)
    assert (score.value, score.reason) == (None, reason)


async def test_a_case_without_truth_has_no_score() -> None:
    score = await first(completed(), patient=case(truth=Truth(diagnosis=" ")))
    assert (score.value, score.reason) == (None, "no_truth")


async def test_the_goal_names_the_score() -> None:
    patient = case(truth=PLAN)
    played = trajectory(scenario="treatment", goal="treatment", ending=Ending("doctor", "no_answer"))
    [score] = await Answer().score(patient, played)
    assert (score.name, score.value) == ("treatment_accuracy", 0.0)


@pytest.mark.parametrize("told", [PLAN.treatment, PLAN.treatment.upper(), PLAN.treatment.replace(";", ",") + "\n"])
async def test_the_treatment_given_is_right_whatever_words_it_holds(told: str) -> None:
    played = trajectory(scenario="treatment", goal="treatment", ending=completed(told, "treatment"))
    [score] = await Answer().score(case(truth=PLAN), played)
    assert (score.name, score.value) == ("treatment_accuracy", 1.0)


async def test_the_judge_decides_and_the_lexical_verdict_stands_beside_it() -> None:
    judge = Judge("Another name for it.\nVerdict: correct")
    played = trajectory(ending=completed("Typhlitis of the vermiform process"))
    accuracy, lexical = await Answer().score(case(), played, seat(judge))
    assert (accuracy.name, accuracy.value) == ("diagnosis_accuracy", 1.0)
    assert (lexical.name, lexical.value) == ("lexical_match", 0.0)
    [(purpose, [message])] = judge.asked
    assert purpose == "judge"
    for part in ("Typhlitis of the vermiform process", "Appendicitis", "Appendiceal inflammation"):
        assert part in message.content


async def test_a_judge_is_asked_once_more_and_then_is_unreadable() -> None:
    judge = Judge("The prediction is not correct", "Verdict: incorrect")
    assert (await first(completed(), judge)).value == 0.0
    assert [message.role for message in judge.asked[1][1]] == ["user", "assistant", "user"]
    score = await first(completed(), Judge("Partially correct", ""))
    assert (score.value, score.reason) == (None, "judge_unreadable")


@pytest.mark.parametrize(
    ("error", "reason"),
    [(ProviderError("timeout", "late"), "judge/timeout"), (LimitReached("cost", "dear"), "judge/cost")],
)
async def test_a_judge_out_of_reach_is_no_verdict(error: Exception, reason: str) -> None:
    score = await first(completed(), Judge(error))
    assert (score.value, score.reason) == (None, reason)


async def test_a_stop_of_the_run_is_not_swallowed() -> None:
    with pytest.raises(RunStopped):
        await first(completed(), Judge(RunStopped("stop")))


async def test_no_judge_is_asked_where_there_is_nothing_to_judge() -> None:
    judge = Judge()
    assert (await first(Ending("doctor", "no_answer"), judge)).value == 0.0
    assert (await first(Ending("provider", "auth"), judge)).value is None
    assert judge.asked == []


async def test_the_treatment_judge_has_its_own_question() -> None:
    judge = Judge("Verdict: correct")
    played = trajectory(scenario="treatment", goal="treatment", ending=completed("Wait and see", "treatment"))
    accuracy, lexical = await Answer().score(case(truth=PLAN), played, seat(judge))
    assert (accuracy.value, lexical.value) == (1.0, 0.0)
    assert "treatment plan" in judge.asked[0][1][0].content


async def test_the_standard_scores_are_there_once_each_with_one_question_to_the_judge() -> None:
    judge = Judge("Verdict: correct")
    scores = await Standard().score(case(), trajectory(ending=completed()), seat(judge))
    names = [score.name for score in scores]
    assert len(names) == len(set(names))
    assert {"diagnosis_accuracy", "lexical_match", "exam_recall", "full_path", "full_path_by_type", "turns"} <= set(
        names
    )
    assert len(judge.asked) == 1
