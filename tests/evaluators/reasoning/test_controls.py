"""Controls: what a judge says where it is known beforehand what a fair one would say."""

import json
from typing import Any

import msgspec
import pytest
from bench import PlayedJudge, bench
from reasoned import CASE, found_by, played, pleased, said

from wardround.engine.errors import ProviderError
from wardround.evaluators.evaluation import Knowledge
from wardround.evaluators.judges.panel import Panel, Sample
from wardround.evaluators.judges.question import Question
from wardround.evaluators.lexical.judge import LexicalJudge
from wardround.evaluators.reasoning.controls import Control, ask_controls, claims, control_questions, fitness
from wardround.evaluators.reasoning.evaluator import EncounterReasoning, PublishedReasoning
from wardround.evaluators.report.score_rows import AccountTally, EvaluatorCoverage, RunScores
from wardround.evaluators.report.summary import summarise
from wardround.evaluators.report.warnings import doubts

GIVEN = played("### Answer:\nGout")
RIGHT = {one.claim: one.passage for one in claims()}


def fair(question: Question, sample: Sample) -> str:
    """Accepts what stands in its passage, as one who reads does."""
    passage, step = question.text("Passage 1"), question.text("The step")
    supported = RIGHT.get(step) == passage or (not passage and step in RIGHT)
    return said(judgment="correct" if supported else "wrong", keywords_to_search="", evidence=[])


def yes(question: Question, sample: Sample) -> str:
    return said(judgment="correct", keywords_to_search="", evidence=[])


@pytest.mark.parametrize("knowledge", ["search", "judge", "both"])
def test_there_are_twenty_half_of_them_supported_and_a_seed_draws_them(knowledge: Knowledge) -> None:
    drawn = control_questions(3, knowledge)
    kinds = [one.kind for one in drawn]
    assert (len(drawn), kinds.count("supported")) == (20, 10)
    assert kinds.count("reversed") == (10 if knowledge == "judge" else 5)
    assert drawn == control_questions(3, knowledge) != control_questions(4, knowledge)
    assert len({one.name for one in drawn}) == 20
    for one in drawn:
        assert (RIGHT.get(one.claim) == one.passage) is (one.kind == "supported")


def test_each_claim_has_its_opposite_and_a_passage_of_its_own() -> None:
    assert len({one.passage for one in claims()}) == len({one.name for one in claims()}) == len(claims()) >= 20
    assert all(one.claim != one.reversed for one in claims())


@pytest.mark.parametrize(("script", "youden", "fit"), [(fair, 1.0, True), (yes, 0.0, False)])
@pytest.mark.parametrize("knowledge", ["search", "judge"])
async def test_a_judge_that_says_yes_to_everything_is_unfit(
    script: Any, youden: float, fit: bool, knowledge: Knowledge
) -> None:
    (found,) = fitness(await ask_controls(Panel([PlayedJudge(script)]), 5, knowledge))
    assert (found.judge, found.supported, found.unsupported) == ("judge", 10, 10)
    assert (found.youden, found.fit) == (youden, fit)


async def test_silence_is_neither_acceptance_nor_rejection() -> None:
    controls = await ask_controls(Panel([PlayedJudge(lambda question, sample: "Who knows.")]), 5, "search")
    assert {one.said for one in controls} == {None}
    assert all(one.reason.startswith("judge_unreadable/") for one in controls)
    (found,) = fitness(controls)
    assert (found.accepted, found.rejected, found.youden, found.fit) == (0, 0, -1.0, False)


@pytest.mark.parametrize(("failed", "fit", "youden"), [(4, True, 1.0), (20, None, None)])
async def test_of_a_judge_that_could_not_be_reached_it_is_not_known(
    failed: int, fit: bool | None, youden: float | None
) -> None:
    asked: list[str] = []

    def script(question: Question, sample: Sample) -> str:
        asked.append(question.text("The step"))
        if len(asked) <= failed:
            raise ProviderError("server", "down")
        return fair(question, sample)

    (found,) = fitness(await ask_controls(Panel([PlayedJudge(script)]), 5, "search"))
    assert (found.unreached, found.fit, found.youden) == (failed, fit, youden)
    assert found.supported + found.unsupported == 20 - failed
    told = doubts(scores_with(controls=(found,)), summarise([]))
    said = "Not known whether the judge is fit: judge could not be reached for 20 of 20 controls."
    assert (said in told) is (fit is None)
    assert not [one for one in told if one.startswith("Unfit")]


def scores_with(**fields: Any) -> RunScores:
    """A run with one evaluation."""
    one = EvaluatorCoverage("reasoning", 3, 2, ("a@1",), **fields)
    return RunScores(name="r", header={}, episodes=(), evaluated=(one,))


@pytest.mark.parametrize("named", [True, False])
async def test_controls_that_were_not_asked_are_told_of(named: bool) -> None:
    judge = pleased()
    seed = 9 if named else None
    given = await EncounterReasoning().score(CASE, GIVEN, bench(judge, knowledge="judge", controls=seed))
    tally = AccountTally("reasoning")
    tally.add("b@1", msgspec.to_builtins(given.account))
    found = tally.evaluated(["a@1", "b@1"])
    assert (found.uncontrolled, bool(found.controls)) == (not named, named)
    told = doubts(scores_with(uncontrolled=found.uncontrolled), summarise([]))
    assert any(one.startswith("Not known whether the judges of reasoning are fit") for one in told) is not named


async def test_each_judge_of_a_panel_has_its_own_and_the_offline_one_is_asked_too() -> None:
    controls = await ask_controls(Panel([LexicalJudge(), PlayedJudge(yes, "judge-2")]), 1, "search")
    lexical, other = fitness(controls)
    assert (lexical.judge, other.judge, len(controls)) == ("judge", "judge-2", 40)
    assert other.youden == 0
    assert lexical.youden is not None
    assert lexical.youden > 0


async def test_they_are_posed_in_one_episode_as_questions_like_all_others() -> None:
    judge = pleased()
    given = await EncounterReasoning().score(CASE, GIVEN, bench(judge, search=None, knowledge="judge"))
    assert not given.account.controls
    given = await EncounterReasoning().score(CASE, GIVEN, bench(judge, knowledge="judge", controls=9))
    assert len(given.account.controls) == 20
    assert {question.name for question, *_ in judge.asked} <= {"opinion", "reference", "found"}


async def test_they_are_not_posed_under_the_published_rules() -> None:
    judge = pleased()
    given = await PublishedReasoning().score(CASE, GIVEN, bench(judge, search=found_by(), controls=9))
    assert not given.account.controls
    assert judge.count("bearing") == 0


def test_an_old_account_has_none() -> None:
    assert fitness(()) == []
    held = json.loads('{"name": "x", "kind": "foreign", "judge": "judge", "said": null, "reason": "judge/timeout"}')
    assert Control(**held).said is None
