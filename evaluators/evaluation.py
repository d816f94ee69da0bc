"""An evaluation as an episode: what an evaluator gets, what it may give, and what may be scored at all."""

import inspect
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, ClassVar, Literal, NamedTuple

import msgspec

from wardround.engine.episode import Ended
from wardround.engine.errors import UsageError
from wardround.engine.events import Acted
from wardround.engine.plugins import of_the_house
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Action, Ending, Json, Score, Scored, View
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.injection.detect import Signed
from wardround.evaluators.judges.panel import Panel
from wardround.evaluators.measures import is_house
from wardround.evaluators.search.contract import Search
from wardround.evaluators.search.results import Reader
from wardround.scenarios.case import Case

_OURS = "@~,"
"""What the names of scorings are put together with."""


class Needs(NamedTuple):
    """What an evaluator's class says that it needs, each by an attribute that it may leave out.

    `judged`: judges. `search` (SEARCH): a search, by default this one. `knowledge` (KNOWLEDGE): what judges know
    will do in place of a search. `tables`: texts of the user's that it was made from, by the name of the argument.
    """

    judged: bool = False
    search: str = ""
    knowledge: bool = False
    tables: Mapping[str, str] = {}


def needs_of(evaluator: Evaluator) -> Needs:
    """The needs of an evaluator."""
    # Any class with `name` and `score` is an evaluator and derives from nothing: what it leaves out it does not need.
    return Needs(
        bool(getattr(evaluator, "judged", False)),
        str(getattr(evaluator, "SEARCH", "")),
        bool(getattr(evaluator, "KNOWLEDGE", False)),
        dict(getattr(evaluator, "tables", {})),
    )


class BadScore(Ended):
    """An evaluator gave what is no score: the episode has none of its scores. The detail says where it is defined."""

    def __init__(self, evaluator: Evaluator, why: str) -> None:
        code = getattr(evaluator.score, "__code__", None)  # a callable object has none
        where = f" ({PurePath(code.co_filename).name}:{code.co_firstlineno})" if code else ""
        super().__init__(Ending("evaluator", "error", f"{type(self).__name__}: {why}{where}"))


def called(evaluator: Evaluator) -> str:
    """Its class as a user writes it: `package.module:Class`."""
    return f"{type(evaluator).__module__}:{type(evaluator).__qualname__}"


def is_own(evaluator: Evaluator) -> bool:
    """Whether it is a user's or a plug-in's, and none of the house."""
    return not of_the_house(type(evaluator))


def check(evaluators: Sequence[Evaluator], installed: Mapping[str, str]) -> None:
    """Raise UsageError for one that cannot score, or that would stand in place of another by its name.

    `installed` maps the names of installed evaluators to where they are from, `package.module:Class`.
    """
    names: dict[str, str] = {}
    for evaluator in evaluators:
        name, mine = evaluator.name, called(evaluator)
        theirs = installed.get(name, "")
        if theirs and theirs.partition(".")[0] != mine.partition(":")[0].partition(".")[0]:
            raise UsageError(
                f"{mine} is called {name!r}, and so is an installed evaluator ({theirs}), in whose place its scores "
                "would stand: give it a `name` of its own"
            )
        if taken := [sign for sign in _OURS if sign in name]:
            raise UsageError(
                f"{mine} is called {name!r}: in the name of a scoring {taken[0]!r} stands between the evaluator and "
                "its version or judges; give it a `name` without"
            )
        if name in names:
            raise UsageError(f"{names[name]} and {mine} are both called {name!r}: score the run with one of them")
        names[name] = mine
        _check_score(evaluator)


def _check_score(evaluator: Evaluator) -> None:
    score: object = evaluator.score
    said = f"{called(evaluator)} is no evaluator: it needs `async def score(self, case, trajectory, seat)`"
    if not callable(score):
        raise UsageError(f"{said}, and its `score` is {type(score).__name__}, which cannot be called")
    # a callable object is as good as a method
    if not (inspect.iscoroutinefunction(score) or inspect.iscoroutinefunction(getattr(score, "__call__", None))):  # noqa: B004
        raise UsageError(f"{said}, and its `score` is not `async`")
    try:
        inspect.signature(score).bind(None, None, None)
    except TypeError as error:
        raise UsageError(f"{said}, and its `score` takes something else ({error})") from error


def checked(evaluator: Evaluator, given: object, others: Mapping[str, str]) -> Scored:
    """What it gave of an episode; `others` maps the names of scores that others have to their evaluators.

    Raises BadScore.
    """
    scored = given if isinstance(given, Scored) else None
    scores = given if scored is None else scored.scores
    if not isinstance(scores, Sequence):
        raise BadScore(evaluator, f"score() returned {type(scores).__name__}, not a list of Score")
    names: set[str] = set()
    for score in scores:
        if not isinstance(score, Score):
            raise BadScore(evaluator, f"score() returned {type(score).__name__} among its scores")
        if why := _why_not(score, names) or (is_own(evaluator) and _whose(score.name, others)):
            raise BadScore(evaluator, why)
        names.add(score.name)
    return scored or Scored(scores)


def _why_not(score: Score, names: set[str]) -> str:
    """What is wrong with a score beside those of these names, "" if nothing is."""
    if not isinstance(score.name, str) or not score.name:
        return f"a score is called {score.name!r}"
    if score.name in names:
        return f"two scores are called {score.name!r}"
    if score.value is None:
        return "" if score.reason else f"{score.name} is None without a reason: Score(name, None, 'why')"
    if isinstance(score.value, bool | int | float) and math.isfinite(score.value):
        return ""
    return f"{score.name} is {score.value!r}, which is no finite number"


def _whose(name: str, others: Mapping[str, str]) -> str:
    """Why a score of a user's may not be called so, "" if it may."""
    if is_house(name):
        return f"{name} is a score of the house: give yours a name of its own"
    if name in others:
        return f"{name} is already a score of the evaluator {others[name]}: give yours a name of its own"
    return ""


Knowledge = Literal["search", "judge", "both"]
"""What may found a verdict on a step: what was looked up, what the judge knows, or that where nothing was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench(Seat):
    """What an evaluator gets in one episode when judges are named.

    As a `Seat` it is that of the first judge. `search` and `reader` record what they are asked in the episode's log and
    keep a restricted case's words at home; the evaluator seals the search against the truth (`evidence.Sealed`).
    `reader` is None where whole texts are found anyway, or pages are not to be read. `knowledge` is what may found a
    verdict on a step of reasoning. `controls` is the seed of the controls, in the one episode of an evaluation in which
    they are posed.
    """

    panel: Panel
    search: Search | None = None
    reader: Reader | None = None
    signed: Signed = field(default_factory=Signed)
    knowledge: Knowledge = "search"
    controls: int | None = None


Goal = Literal["diagnosis", "treatment"]

DOCTOR = "doctor"

ZERO: Mapping[str, str] = {
    "no_answer": "The doctor gave no answer within its turns.",
    "unreadable": "The doctor's replies could not be read, also after it was told so.",
    "refusal": "The doctor refused to answer.",
    "content_filter": "A filter of the doctor's own model took its reply or cut it off.",
    "several_answers": "The doctor named alternatives instead of one answer.",
    "agent_error": "The doctor's own code raised an error.",
    "agent_timeout": "The doctor's own code took too long over one turn.",
    "bad_action": "The doctor's own code gave what is no action of the game.",
    "bad_request": "The doctor's model could not take what the doctor sent it.",
    "context_overflow": "The doctor's conversation outgrew its model.",
    "too_long": "The doctor's reply was longer than any model's needs to be.",
    "unsendable": "The doctor sent its model what is no valid text.",
    "flooded": "The doctor's words were more than the model of another seat could take.",
    "limit_actions": "The doctor used up the turns of an episode.",
    "limit_calls": "The doctor used up the calls of an episode.",
    "limit_act_calls": "The doctor called its model without end in one turn.",
    "limit_tokens": "The doctor used up the tokens of an episode.",
    "limit_cost": "The doctor used up the money of an episode.",
    "limit_wall": "The doctor used up the time of an episode by itself; waiting for a model is not its time.",
}
"""Each reason of an accuracy of 0.0 for a doctor that had its chance and did not use it, in plain words."""

NOTHING_ASSERTED = frozenset(("no_diagnosis_asserted", "no_treatment_asserted"))
"""Reasons of a reply in the place of an answer that names none: it abstains, denies, refuses or begs in words."""

UNANSWERED = (frozenset(ZERO) - {"several_answers"}) | NOTHING_ASSERTED
"""Those of a doctor that answered nothing: `of those who answered` leaves them out."""

_NOT_ITS_FAULT = frozenset(("replies_exhausted", "unattended"))
"""Reasons of an ending by the doctor that lie in the recording or in the operator."""
_NAMED = {"error": "agent_error", "timeout": "agent_timeout"}
_RECORDING_ENDED = re.compile(r"RuntimeError: \S+ took \d+ actions in the recorded episode, and is asked for one more")
"""How an ending tells of a recording that was over, as stored before such endings had a reason of their own."""


def missed(ending: Ending | None) -> str:
    """Why a doctor that had its chance scores 0.0, one of `ZERO`; "" if it answered, or did not fail by itself.

    A reason of the doctor's that is not listed, which a scenario of the user's may give, stands for itself. An ending
    by a limit counts only where it says that the doctor used it up by itself: those stored before do not say.
    """
    if ending is None or ending.cause == "completed":
        return ""
    if (ending.cause, ending.reason) == ("parser", "unreadable"):
        return "unreadable"
    if ending.cause == "limit":
        return f"limit_{ending.reason}" if ending.facts.get("fault") == DOCTOR else ""
    if ending.cause != DOCTOR or ending.reason in _NOT_ITS_FAULT or _RECORDING_ENDED.match(ending.detail):
        return ""
    return _NAMED.get(ending.reason, ending.reason or "no_answer")


def unscored(ending: Ending | None) -> str:
    """Why an episode that ended so has no score, or "" if it has one.

    `open` while it goes on; for a failure that is not the doctor's its cause and reason, as in `provider/timeout`.
    """
    if ending is None:
        return "open"
    if ending.cause == "completed" or missed(ending):
        return ""
    return f"{ending.cause}/{ending.reason}" if ending.reason else ending.cause


def unread_shapes(endings: Iterable[Ending | None]) -> dict[str, int]:
    """How many of the doctors' replies could not be used, by their shape (scenarios/parsers/unread.py), commonest
    first.

    Most of one shape, which a person would have understood, points to a faulty parser. Endings stored before shapes
    were kept, and those by a cause outside the rules, have none.
    """
    found: Counter[str] = Counter()
    for ending in endings:
        shapes = ending.facts.get("unread_shapes") if ending else None
        if isinstance(shapes, Mapping):
            found.update({str(name): count for name, count in shapes.items() if isinstance(count, int)})
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def goal_of(case: Case, trajectory: Trajectory) -> Goal:
    """What the doctor was asked for: by the run's header, else by the answer, else by the truth that the case has."""
    scenario = trajectory.header.get("scenario")
    goal = scenario.get("goal") if isinstance(scenario, dict) else None
    if goal in ("diagnosis", "treatment"):
        return "treatment" if goal == "treatment" else "diagnosis"
    given = answers(trajectory.ending)
    if "treatment" in given and "diagnosis" not in given:
        return "treatment"
    if not given and case.truth.treatment and not case.truth.diagnosis:
        return "treatment"
    return "diagnosis"


def answers(ending: Ending | None) -> dict[str, str]:
    """The non-empty answers among an ending's facts: {"diagnosis" or "treatment": text}."""
    given = ending.facts.get("answer") if ending else None
    if not isinstance(given, dict):
        return {}
    return {goal: text for goal, text in given.items() if isinstance(text, str) and text.strip()}


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
