"""An evaluation as an episode: what an evaluator receives, what it may return, and which episodes have a score.

To judge an episode is itself an episode, of the scenario `Evaluation`: the seat `judge` runs the evaluator once, and
the scores are the facts of the ending. So a judged run is stored, resumed and replayed as every other run.
"""

import inspect
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import ClassVar, Literal, NamedTuple

import msgspec

from wardround.engine.episode import TIMEOUT, Ended
from wardround.engine.errors import UsageError
from wardround.engine.events import Acted
from wardround.engine.plugins import is_bundled
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Action, Ending, Json, Score, Scored, View
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.injection.detect import SignCache
from wardround.evaluators.judges.panel import Panel
from wardround.evaluators.measures import is_house
from wardround.evaluators.search.contract import Search
from wardround.evaluators.search.results import Reader
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.source import Playable
from wardround.scenarios.record import Record

_OURS = "@~,"
"""Characters that join the parts of a scoring's name."""


class Needs(NamedTuple):
    """What an evaluator needs. Its class states each need by an attribute; it omits the needs that it does not have.

    - `judged`: whether it needs judges.
    - `search` (attribute SEARCH): the search that it uses by default; "" if it needs none.
    - `knowledge` (attribute KNOWLEDGE): whether the judges' own knowledge may replace the search.
    - `tables`: the user's texts from which it was made, by the name of the argument.
    - `items` (attribute Item, a class or several): the classes of what it scores, by default a patient's case.
    - `questions` (attribute QUESTIONS): the names of the questions that it must ask. A judge that cannot answer one of
      them is refused before any question is asked.
    """

    judged: bool = False
    search: str = ""
    knowledge: bool = False
    tables: Mapping[str, str] = {}
    items: tuple[type[Record], ...] = (Case,)
    questions: tuple[str, ...] = ()


def needs_of(evaluator: Evaluator) -> Needs:
    """Return the needs of an evaluator."""
    # Any class with `name` and `score` is an evaluator, without a base class that would hold defaults.
    items = getattr(evaluator, "Item", Case)
    return Needs(
        bool(getattr(evaluator, "judged", False)),
        str(getattr(evaluator, "SEARCH", "")),
        bool(getattr(evaluator, "KNOWLEDGE", False)),
        dict(getattr(evaluator, "tables", {})),
        tuple(items) if isinstance(items, tuple) else (items,),
        tuple(getattr(evaluator, "QUESTIONS", ())),
    )


class BadScore(Ended):
    """An evaluator returned an invalid score, so the episode has none of its scores. The detail says where it is."""

    def __init__(self, evaluator: Evaluator, why: str) -> None:
        code = getattr(evaluator.score, "__code__", None)  # a callable object has no code
        where = f" ({PurePath(code.co_filename).name}:{code.co_firstlineno})" if code else ""
        super().__init__(Ending("evaluator", "error", f"{type(self).__name__}: {why}{where}"))


def class_path(evaluator: Evaluator) -> str:
    """Return the evaluator's class as a user writes it: `package.module:Class`."""
    return f"{type(evaluator).__module__}:{type(evaluator).__qualname__}"


def is_own(evaluator: Evaluator) -> bool:
    """Whether the evaluator belongs to a user or a plug-in, not to Wardround."""
    return not is_bundled(type(evaluator))


def check_evaluators(evaluators: Sequence[Evaluator], installed: Mapping[str, str]) -> None:
    """Raise UsageError for an evaluator that cannot score, or whose name would replace another evaluator's scores.

    `installed` maps the names of installed evaluators to their classes, as `package.module:Class`.
    """
    names: dict[str, str] = {}
    for evaluator in evaluators:
        name, mine = evaluator.name, class_path(evaluator)
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
    said = f"{class_path(evaluator)} is no evaluator: it needs `async def score(self, case, trajectory, seat)`"
    if not callable(score):
        raise UsageError(f"{said}, and its `score` is {type(score).__name__}, which cannot be called")
    # a callable object may replace a method
    if not (inspect.iscoroutinefunction(score) or inspect.iscoroutinefunction(getattr(score, "__call__", None))):  # noqa: B004
        raise UsageError(f"{said}, and its `score` is not `async`")
    try:
        inspect.signature(score).bind(None, None, None)
    except TypeError as error:
        raise UsageError(f"{said}, and its `score` takes something else ({error})") from error


def checked(evaluator: Evaluator, output: object, others: Mapping[str, str]) -> Scored:
    """Check what an evaluator returned for an episode, a Scored or a list of scores, and return it as Scored.

    `others` maps the names of other evaluators' scores to those evaluators. Raises BadScore.
    """
    scored = output if isinstance(output, Scored) else None
    scores = output if scored is None else scored.scores
    if not isinstance(scores, Sequence):
        raise BadScore(evaluator, f"score() returned {type(scores).__name__}, not a list of Score")
    names, own = set[str](), is_own(evaluator)
    for score in scores:
        if not isinstance(score, Score):
            raise BadScore(evaluator, f"score() returned {type(score).__name__} among its scores")
        if why := _why_not(score, names) or (own and _whose(score.name, others)):
            raise BadScore(evaluator, why)
        names.add(score.name)
    return scored or Scored(scores)


def _why_not(score: Score, names: set[str]) -> str:
    """Return what is wrong with a score, "" if nothing is; `names` are those of the scores before it."""
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
    """Return why a user's score may not have this name; "" if it may."""
    if is_house(name):
        return f"{name} is a score of the house: give yours a name of its own"
    if name in others:
        return f"{name} is already a score of the evaluator {others[name]}: give yours a name of its own"
    return ""


Knowledge = Literal["search", "judge", "both"]
"""What may support a verdict on a step: a search, the judge's knowledge, or knowledge where a search found nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeContext(Seat):
    """What an evaluator receives in one episode if judges are named.

    ::

        async def score(self, case, trajectory, seat):
            context = require_judges(seat, self.name)
            answer = await context.panel.ask(question, read)
            return [Score("polite", answer.value, answer.reason)]

    As a `Seat` it is the first judge's seat. `search` and `reader` record their requests in the episode's log and send
    no words of a restricted case outside; the evaluator keeps the truth out of the search (`stack.LeakGuard`). `reader`
    is None where a search returns whole texts anyway, or where pages are not to be read. `knowledge` says what may
    support a verdict on a reasoning step. `controls` is the seed of the controls in the one episode of an evaluation
    that asks them.
    """

    panel: Panel
    search: Search | None = None
    reader: Reader | None = None
    signed: SignCache = field(default_factory=SignCache)
    knowledge: Knowledge = "search"
    controls: int | None = None


def require_judges(seat: Seat | None, evaluator: str) -> JudgeContext:
    """Return the judges' context for the evaluator of this name; raises UsageError if no judge is named."""
    if not isinstance(seat, JudgeContext):
        raise UsageError(f"the evaluator {evaluator} needs a judge: name one with --judge, for instance openai/gpt-4o")
    return seat


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
    "left": "A client played the doctor from outside and left before the end.",
    "flooded": "The doctor's words were more than the model of another seat could take.",
    "limit_actions": "The doctor used up the turns of an episode.",
    "limit_calls": "The doctor used up the calls of an episode.",
    "limit_act_calls": "The doctor called its model without end in one turn.",
    "limit_tokens": "The doctor used up the tokens of an episode.",
    "limit_cost": "The doctor used up the money of an episode.",
    "limit_wall": "The doctor used up the time of an episode by itself; waiting for a model is not its time.",
}
"""Each reason for an accuracy of 0.0, in plain words: the doctor had its chance and did not use it."""

NOTHING_ASSERTED = frozenset(("no_diagnosis_asserted", "no_treatment_asserted"))
"""Reasons of a reply that stands for an answer but names none: it abstains, denies, refuses or asks for one."""

UNANSWERED = (frozenset(ZERO) - {"several_answers"}) | NOTHING_ASSERTED
"""Reasons of a doctor that gave no answer: `of those who answered` excludes them."""

_NOT_ITS_FAULT = frozenset(("replies_exhausted", "unattended"))
"""Reasons of an ending by the doctor that are due to the recording or to the operator."""
_NAMED = {"error": "agent_error", "timeout": "agent_timeout"}
_RECORDING_ENDED = re.compile(r"RuntimeError: \S+ took \d+ actions in the recorded episode, and is asked for one more")
"""Detail by which older endings, which had no reason for it, say that a recording had run out."""


def missed(ending: Ending | None) -> str:
    """Return why a doctor that had its chance scores 0.0; "" if it answered, or if the failure was not its own.

    The reason is one of `ZERO`, or an unlisted one that a user's scenario gives. An ending by a limit counts only where
    it says that the doctor itself used up the limit; older endings do not say so.
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
    """Return why an episode with this ending has no score; "" if it has one.

    `open` means that the episode goes on. A failure that is not the doctor's gives its cause and reason, such as
    `provider/timeout`.
    """
    if ending is None:
        return "open"
    if ending.cause == "completed" or missed(ending):
        return ""
    return f"{ending.cause}/{ending.reason}" if ending.reason else ending.cause


def unread_shapes(endings: Iterable[Ending | None]) -> dict[str, int]:
    """Count the doctors' unusable replies by their shape (scenarios/parsers/moves.py), the most frequent shape first.

    If most have one shape that a person would understand, the parser is probably at fault. Older endings, and those by
    a cause outside the rules, have no shapes.
    """
    shapes_seen: Counter[str] = Counter()
    for ending in endings:
        shapes = ending.facts.get("unread_shapes") if ending else None
        if isinstance(shapes, Mapping):
            shapes_seen.update({str(name): count for name, count in shapes.items() if isinstance(count, int)})
    return dict(sorted(shapes_seen.items(), key=lambda pair: (-pair[1], pair[0])))


def inside(fields: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """Return an object within a header; empty if it is no object."""
    value = fields.get(name)
    return value if isinstance(value, Mapping) else {}


def scenario_settings(header: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the settings of a run's scenario."""
    return inside(inside(header, "scenario"), "settings")


def goal_of(case: Case, trajectory: Trajectory) -> Goal:
    """Return what the doctor was asked for: by the run's header, else by its answer, else by the truth of the case."""
    goal = inside(trajectory.header, "scenario").get("goal")
    if goal in ("diagnosis", "treatment"):
        return "treatment" if goal == "treatment" else "diagnosis"
    stated = answers(trajectory.ending)
    if "treatment" in stated and "diagnosis" not in stated:
        return "treatment"
    if not stated and case.truth.treatment and not case.truth.diagnosis:
        return "treatment"
    return "diagnosis"


def answers(ending: Ending | None) -> dict[str, str]:
    """Return the non-empty answers among an ending's facts: {"diagnosis" or "treatment": text}."""
    texts = ending.facts.get("answer") if ending else None
    if not isinstance(texts, dict):
        return {}
    return {goal: text for goal, text in texts.items() if isinstance(text, str) and text.strip()}


def answer_to_score(case: Case, trajectory: Trajectory, goal: Goal) -> tuple[str, float | None, str]:
    """Return the answer that is scored; without one, "" with the value and the reason of every score of the answer.

    `no_diagnosis`: the doctor was asked for something else. `no_truth`: the case does not say what is right.
    """
    ending, truth = trajectory.ending, case.truth.diagnosis if goal == "diagnosis" else case.truth.treatment
    if reason := unscored(ending):
        return "", None, reason
    if goal_of(case, trajectory) != goal:
        return "", None, f"no_{goal}"
    if not truth.strip():
        return "", None, "no_truth"
    text = answers(ending).get(goal, "")
    reason = missed(ending) or ("" if text else "no_answer")
    return ("", 0.0, reason) if reason else (text, None, "")


SEAT, SCORE = "judge", "score"


class EvaluationInput(msgspec.Struct, frozen=True):
    """The input of an evaluation: an episode with its case.

    `events` is the number of the episode's events; an episode that has grown since is another input. `others` maps the
    names of other evaluators' scores to those evaluators. `controls` is the seed of the controls in the one episode of
    an evaluation that asks them.
    """

    case: Playable
    trajectory: Trajectory
    events: int
    others: Mapping[str, str] = msgspec.field(default_factory=dict)
    controls: int | None = None


class Evaluation:
    """The scenario of an evaluation: the judge scores once, and the episode ends."""

    seats: Sequence[str] = (SEAT,)

    def __init__(self, name: str) -> None:
        self.name = name

    def start(self, case: EvaluationInput) -> Ending | None:
        """Return the first state: there is no ending yet."""
        return None

    def turn(self, state: Ending | None) -> str:
        """Return the judge's seat: it is always the judge's turn."""
        return SEAT

    def view(self, state: Ending | None, seat: str) -> View:
        """Return an empty view: the judge receives its input when it is created."""
        return View(seat, "", (), (SCORE,))

    def apply(self, state: Ending | None, event: Acted) -> Ending:
        """Return an ending with the scores as its facts; the account stays in the action."""
        args = event.action.args
        return Ending("completed", facts={"scores": args["scores"], "events": args["events"]})

    def ending(self, state: Ending | None) -> Ending | None:
        """Return the ending once there are scores, None before."""
        return state


class EvaluationAgent:
    """The agent of an evaluation: it runs an evaluator on one episode."""

    sealed: ClassVar[bool] = True

    def __init__(self, evaluator: Evaluator, judged: EvaluationInput, seat: Seat) -> None:
        self._evaluator, self._judged, self._seat = evaluator, judged, seat

    async def act(self, view: View) -> Action:
        """Score the episode. Raises what the evaluator raises, and BadScore."""
        judged = self._judged
        output = await self._evaluator.score(judged.case, judged.trajectory, self._seat)
        scored = checked(self._evaluator, output, judged.others)
        args: dict[str, Json] = {"scores": msgspec.to_builtins(list(scored.scores)), "events": judged.events}
        if scored.account is not None:
            args["account"] = msgspec.to_builtins(scored.account)
        return Action(SCORE, args=args)


EVALUATOR_FAILED = "evaluator/"
"""The prefix of the reason of scores whose evaluator failed."""


def scores_of(evaluator: str, ending: Ending) -> list[Score]:
    """Return the scores that an evaluation ended with; if it failed, one score of None with the reason.

    The reason is `judge/KIND` if a judge could not be reached or read, `evaluator/ERROR` for a mistake in the
    evaluator itself.
    """
    if ending.cause == "completed":
        return msgspec.convert(ending.facts["scores"], list[Score])
    if not is_broken(ending):
        return [Score(evaluator, None, f"judge/{ending.reason or ending.cause}")]
    why = TIMEOUT if ending.reason == TIMEOUT else ending.detail.partition(":")[0]
    return [Score(evaluator, None, f"{EVALUATOR_FAILED}{why}")]


def is_broken(ending: Ending) -> bool:
    """Whether the evaluator itself failed: it raised an unexpected exception, or it took too long."""
    return ending.reason == "error" or (ending.reason == TIMEOUT and ending.cause != "provider")
