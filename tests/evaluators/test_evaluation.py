"""An evaluation as an episode: the judge scores once, and what it said is in the log."""

from typing import Any

import msgspec
import pytest
from bench import bench
from graded import case, trajectory
from reasoned import CASE, played, pleased
from sitting import account_of

from wardround.engine.episode import Episode, EpisodeSetup
from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.events import Acted, Closed, Opened
from wardround.engine.records import Action, Ending, Score, Scored
from wardround.engine.trajectory import EpisodeLog, Trajectory
from wardround.evaluators.evaluation import SCORE, SEAT, Evaluation, EvaluationAgent, EvaluationInput, scores_of

SCORES = [Score("a", 0.5, "", [3, 7]), Score("b", None, "judge/timeout"), Score("c", 0.0)]


class Fixed:
    """An evaluator that gives what it was given, or raises it."""

    name = "fixed"

    def __init__(self, given: Any) -> None:
        self.given = given

    async def score(self, case: Any, trajectory: Trajectory, seat: Any) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


async def evaluated(given: Any) -> tuple[Ending | None, EpisodeLog]:
    async def sink(*_: Any) -> None:
        """Nothing is kept."""

    log = EpisodeLog(sink, [])
    log.add(Opened(0, 1.0, "e1", "case-1", "h", "fixed", 1, 1))
    judged = EvaluationInput(CASE, played("Gout."), 9)
    table = EpisodeSetup(
        Evaluation("fixed"),
        judged,
        lambda seat, voice: EvaluationAgent(Fixed(given), judged, bench(pleased())),
        log,
        trusted=(SEAT,),
    )
    return await Episode(table).play(), log


async def test_scores_and_account_are_the_judge_s_one_action() -> None:
    account = {"steps": ({"text": "阑尾炎", "value": None},), "n": 1}
    ending, log = await evaluated(Scored(SCORES, account))
    assert ending is not None
    assert (ending.cause, ending.facts["events"]) == ("completed", 9)
    assert scores_of("mine", ending) == SCORES
    (acted,) = [event for event in log.events if isinstance(event, Acted)]
    assert (acted.seat, acted.action.verb) == (SEAT, SCORE)
    assert msgspec.json.encode(account_of(Trajectory(log.events, {}))) == msgspec.json.encode(account)
    assert isinstance(log.events[-1], Closed)
    assert "account" not in log.events[-1].ending.facts


async def test_plain_scores_have_no_account() -> None:
    ending, log = await evaluated(SCORES)
    assert ending is not None
    assert scores_of("mine", ending) == SCORES
    assert account_of(Trajectory(log.events, {})) is None
    assert account_of(trajectory()) is None


@pytest.mark.parametrize(
    ("error", "cause", "reason"),
    [
        (ProviderError("timeout", "late"), "provider", "timeout"),
        (UsageError("no search"), "judge", "error"),
        (ZeroDivisionError("0"), "judge", "error"),
    ],
)
async def test_an_evaluator_that_fails_ends_it_by_a_typed_cause(error: Exception, cause: str, reason: str) -> None:
    ending, log = await evaluated(error)
    assert ending is not None
    assert (ending.cause, ending.reason) == (cause, reason)
    assert "scores" not in ending.facts
    assert account_of(Trajectory(log.events, {})) is None


def test_the_rules_are_one_turn_of_one_seat() -> None:
    rules, judged = Evaluation("fixed"), EvaluationInput(case(), played("Gout."), 4)
    state = rules.start(judged)
    assert (state, rules.ending(state), rules.turn(state)) == (None, None, SEAT)
    view = rules.view(state, SEAT)
    assert (view.verbs, view.known, view.heard) == ((SCORE,), None, ())  # what it judges it is told when it is made
    action = Action(SCORE, args={"scores": msgspec.to_builtins(SCORES), "events": 4})
    done = rules.apply(state, Acted(1, 1.0, SEAT, action))
    assert rules.ending(done) == Ending("completed", facts={"scores": msgspec.to_builtins(SCORES), "events": 4})
