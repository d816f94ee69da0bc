"""Several judges, or one asked several times: the majority decides, and every vote is kept."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

import anyio
import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.evaluators.judging.judge import Answer, Judge, Reading, Sample, answered
from wardround.evaluators.judging.question import Question

T = TypeVar("T")

TORN = "judge_torn"
"""Reason: one judge's own answers (repeats, or the other order) have no majority."""
DIVIDED = "judges_divided"
"""Reason: no answer has more than half of the judges behind it."""


class Vote(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer of one judge (its seat) to one question; `value` is None with a `reason`, `noticed` as in Answer."""

    judge: str
    value: Json
    reason: str = ""
    swapped: bool = False
    repeat: int = 0
    noticed: bool = False


class Ruling(msgspec.Struct, Generic[T], frozen=True):
    """What the panel decided, None with a `reason`; all `votes`, in order of judge, order, repeat."""

    value: T | None
    votes: tuple[Vote, ...]
    reason: str = ""
    by: tuple[T | None, ...] = ()
    """What each judge decided, in the panel's order."""

    @property
    def noticed(self) -> bool:
        """Whether a judge says that a text spoke to it."""
        return any(vote.noticed for vote in self.votes)

    @property
    def steady(self) -> bool:
        """Whether all votes say the same."""
        return len({msgspec.json.encode(vote.value) for vote in self.votes}) == 1


class Panel:
    """The judges of one evaluation. With `repeats` or `swap` each of them is asked more than once.

    A judge decides by the majority of its own answers, the panel by that of its judges: more than half of all, so a
    judge that failed counts against every answer. Raises UsageError for a panel without judges.
    """

    def __init__(self, judges: Sequence[Judge], *, repeats: int = 1, swap: bool = False) -> None:
        if not judges or repeats < 1:
            raise UsageError("a panel has one judge at least, who is asked once at least")
        self.judges = tuple(judges)
        self.repeats, self.swap = repeats, swap

    @property
    def floor(self) -> bool:
        """Whether a lexical stand-in is among them."""
        return any(judge.floor for judge in self.judges)

    @property
    def several(self) -> bool:
        """Whether a question may get more than one vote."""
        return len(self.judges) > 1 or self.repeats > 1 or self.swap

    async def ask(self, question: Question, read: Reading[T], *, swappable: bool = False) -> Ruling[T]:
        """The panel's answer to a question; `swappable` if the order of its texts must not matter."""

        async def one(judge: Judge, sample: Sample) -> Answer[T]:
            asked = question.swapped() if sample.swapped else question
            return await answered(judge, asked, read, sample)

        return await self.each(one, swappable=swappable)

    async def first(self, question: Question, read: Reading[T]) -> Answer[T]:
        """The answer of the first judge that gives one: for texts to be put in order, which no majority can do."""
        reason = ""
        for judge in self.judges:
            answer = await answered(judge, question, read)
            if answer.value is not None:
                return answer
            reason = reason or answer.reason
        return Answer(None, reason)

    async def each(
        self, work: Callable[[Judge, Sample], Awaitable[Answer[T]]], *, swappable: bool = False
    ) -> Ruling[T]:
        """What the panel makes of `work`, done by all judges at once. Values are hashable JSON."""
        samples = [
            Sample(swapped, n)
            for swapped in (False, True)[: 1 + (self.swap and swappable)]
            for n in range(self.repeats)
        ]
        places = [(judge, sample) for judge in self.judges for sample in samples]
        answers: list[Answer[T] | None] = [None] * len(places)

        async def fill(at: int) -> None:
            answers[at] = await work(*places[at])

        if len(places) == 1:
            await fill(0)
        else:
            async with anyio.create_task_group() as group:
                for at in range(len(places)):
                    group.start_soon(fill, at)
        given = [answer for answer in answers if answer is not None]
        votes = tuple(
            Vote(judge.seat, answer.value, answer.reason, sample.swapped, sample.repeat, answer.noticed)
            for (judge, sample), answer in zip(places, given, strict=True)
        )
        size = len(samples)
        own = [_majority(given[at : at + size], TORN) for at in range(0, len(given), size)]
        verdict = _majority(own, DIVIDED)
        return Ruling(verdict.value, votes, verdict.reason, tuple(answer.value for answer in own))


def _majority(answers: Sequence[Answer[T]], none: str) -> Answer[T]:
    """The value of more than half of them; else the reason of the first failure, else `none`."""
    if len(answers) == 1:
        return answers[0]
    counts = Counter(answer.value for answer in answers if answer.value is not None)
    for value, count in counts.items():
        if 2 * count > len(answers):
            return Answer(value)
    return Answer(None, next((answer.reason for answer in answers if answer.value is None), none))
