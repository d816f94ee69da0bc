"""An evaluation as an episode: one seat, one act, so that verdicts are stored, resumed and replayed like turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import msgspec

from wardround.engine.events import Acted
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Action, Ending, Json, Score, View
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.checked import checked

SEAT, SCORE = "judge", "score"


@dataclass(frozen=True, slots=True)
class EvaluationInput:
    """What is judged: an episode, with its case. `events` is their number: an episode that goes on is another.

    `others` are the names of scores that are other evaluators', by theirs. `controls` is the seed of the controls, in
    the one episode in which an evaluation poses them.
    """

    case: Any
    trajectory: Trajectory
    events: int
    others: Mapping[str, str] = field(default_factory=dict)
    controls: int | None = None


class Evaluation:
    """The scenario: the judge scores, and it is over."""

    seats: Sequence[str] = (SEAT,)

    def __init__(self, name: str) -> None:
        self.name = name

    def start(self, case: EvaluationInput) -> Ending | None:
        """Nothing has been said."""
        del case
        return None

    def turn(self, state: Ending | None) -> str:
        """It is the judge's."""
        del state
        return SEAT

    def view(self, state: Ending | None, seat: str) -> View:
        """The judge is told what it judges when it is made."""
        del state
        return View(seat, "", (), (SCORE,))

    def apply(self, state: Ending | None, event: Acted) -> Ending:
        """The scores are the ending's facts; the account stays in the action."""
        del state
        args = event.action.args
        return Ending("completed", facts={"scores": args["scores"], "events": args["events"]})

    def ending(self, state: Ending | None) -> Ending | None:
        """The ending, once there are scores."""
        return state


class Evaluating:
    """The agent: an evaluator at work on one episode."""

    sealed: ClassVar[bool] = True

    def __init__(self, evaluator: Evaluator, judged: EvaluationInput, seat: Seat) -> None:
        self._evaluator, self._judged, self._seat = evaluator, judged, seat

    async def act(self, view: View) -> Action:
        """Score; raises what the evaluator raises, and BadScore."""
        del view
        judged = self._judged
        given = await self._evaluator.score(judged.case, judged.trajectory, self._seat)
        scored = checked(self._evaluator, given, judged.others)
        args: dict[str, Json] = {"scores": msgspec.to_builtins(list(scored.scores)), "events": judged.events}
        if scored.account is not None:
            args["account"] = msgspec.to_builtins(scored.account)
        return Action(SCORE, args=args)


def scores_of(ending: Ending) -> list[Score]:
    """The scores of a completed evaluation."""
    return msgspec.convert(ending.facts["scores"], list[Score])
