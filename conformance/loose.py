"""Reads wordings that the project's readers refuse as the published code does: by parts of words, wherever they stand.

The project never takes such a reply for a verdict. A row that counts records what the published code computes. So only
such a row uses these readings, and only if the project's own reader has found no verdict in the reply.
"""

from collections.abc import Callable
from typing import TypeVar

from conformance.vector import Vector
from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.reasoning.step_questions import StepClass, read_class, read_outcome, read_presence
from wardround.scenarios.published.imaging_words import Absent

T = TypeVar("T")

_CLASSES = (StepClass.CITATION, StepClass.REPETITION, StepClass.REASONING)
_MATCHED = ("\u662f", "Yes", "yes", "YES")


def step_class(reply: str, row: Vector) -> StepClass:
    """The first of the four words, written small or with a capital; redundancy without any."""

    def loose(text: str) -> StepClass:
        named = (kind for kind in _CLASSES if kind in text or kind.capitalize() in text)
        return next(named, StepClass.REDUNDANCY)

    return _read(reply, row, read_class, loose)


def hit(reply: str, row: Vector) -> bool:
    """Whether a reference step is found: "yes" anywhere, in any case."""
    return _read(reply, row, read_presence, lambda text: "yes" in text.lower())


def matched(reply: str, row: Vector) -> bool:
    """Whether an examination is found: "yes" in one of three cases, or in Chinese."""
    return _read(reply, row, read_presence, lambda text: any(word in text for word in _MATCHED))


def right(reply: str, row: Vector) -> bool:
    """Whether an outcome is right: "correct" anywhere, in any case."""
    return _read(reply, row, read_outcome, lambda text: "correct" in text.lower())


def correct(judgment: str) -> bool:
    """Whether a step holds: "Correct" anywhere, or the word by itself in small letters."""
    return judgment == "correct" or "Correct" in judgment


def _read(reply: str, row: Vector, read: Callable[[str], T | Unread], loose: Callable[[str], T]) -> T:
    value = read(reply)
    if not isinstance(value, Unread):
        return value
    if row.counts:
        return loose(reply)
    raise Absent(value.reason, f"the judge's reply {value.said!r} holds no verdict")
