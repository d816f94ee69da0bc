"""What an evaluator is and gives, checked: a name of its own, and scores that stand in place of no other's."""

import inspect
import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from wardround.engine.episode import Ended
from wardround.engine.errors import UsageError
from wardround.engine.plugins import of_the_house
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Ending, Score, Scored
from wardround.evaluators.measures import is_house

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
