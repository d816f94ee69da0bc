"""One who answers questions, and an answer that is either read strictly or missing for a typed reason."""

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

import msgspec

from wardround.engine.errors import LimitReached, ProviderError
from wardround.evaluators.judging.noticing import noticing
from wardround.evaluators.judging.question import Question
from wardround.evaluators.judging.unread import Unread

T = TypeVar("T")
Reading = Callable[[str], T | Unread]
"""Reads a reply strictly."""


class Sample(msgspec.Struct, frozen=True):
    """Which of a judge's answers to the same question: its texts in the opposite order, the how-manieth repeat."""

    swapped: bool = False
    repeat: int = 0


class Judge(Protocol):
    """One judge in one episode.

    `seat` is unique in its panel and that of its events, `spec` what the user wrote. `floor` says that it is a lexical
    stand-in, whose figures are a lower bound of what a judge is worth.
    """

    seat: str
    spec: str
    floor: bool

    async def say(self, question: Question, sample: Sample, said: Sequence[str] = ()) -> str:
        """Its reply. `said` are replies to the same question that could not be read: it is asked for a repair.

        Raises ProviderError and LimitReached.
        """
        ...


class Answer(msgspec.Struct, Generic[T], frozen=True):
    """A `value`, or None with a `reason`: `judge_unreadable/WHY`, `judge/KIND` of what kept it from being asked.

    `noticed`: the judge says that a text spoke to it.
    """

    value: T | None
    reason: str = ""
    noticed: bool = False


async def answered(
    judge: Judge, question: Question, read: Reading[T], sample: Sample | None = None, *, repairs: int = 1
) -> Answer[T]:
    """Ask, and ask again up to `repairs` times while the reply cannot be read; never a default."""
    said: list[str] = []
    while True:
        try:
            reply = await judge.say(question, sample or Sample(), said)
        except ProviderError as error:
            return Answer(None, f"judge/{error.kind}")
        except LimitReached as error:
            return Answer(None, f"judge/{error.limit}")
        value = read(reply)
        if not isinstance(value, Unread):
            return Answer(value, noticed=noticing(reply))
        said.append(reply)
        if len(said) > repairs:
            return Answer(None, value.reason)
