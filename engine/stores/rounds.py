"""Does together what many ask for at about the same time, in the event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from wardround.engine.errors import StoreError, WardroundError

_Question = TypeVar("_Question")
_Answer = TypeVar("_Answer")


class _Waiting(NamedTuple, Generic[_Question, _Answer]):
    question: _Question
    told: "asyncio.Future[_Answer]"


class Rounds(Generic[_Question, _Answer]):
    """While one round is under way, what comes in gathers for the next, at most `largest` of it.

    `work` gives the answers of a round in the order of its questions; one that is an error is raised where it was asked
    for, and what `work` itself raises is everybody's of that round. Each begins `pause` seconds late, to grow.
    """

    def __init__(
        self,
        work: Callable[[Sequence[_Question]], Awaitable[Sequence[_Answer | WardroundError]]],
        largest: int,
        pause: float = 0.0,
    ) -> None:
        self._work, self._largest, self._pause = work, largest, pause
        self._waiting: list[_Waiting[_Question, _Answer]] = []
        self._task: asyncio.Task[None] | None = None

    async def ask(self, question: _Question) -> _Answer:
        """The answer; who stops waiting takes nothing from the others."""
        loop = asyncio.get_running_loop()
        told: asyncio.Future[_Answer] = loop.create_future()
        self._waiting.append(_Waiting(question, told))
        if self._task is None or self._task.done():
            # No task group can own it: one would have to be entered before the first question and left after the last,
            # in one task, while a store is made outside of any loop and asked by whoever has it. Nor may who asks first
            # do the work of all himself: his cancellation would break it. So it ends with the last one who waits, all
            # that it raises is told to them, and aclose() waits for it.
            self._task = loop.create_task(self._rounds(), name="wardround-store")
        return await told

    async def _rounds(self) -> None:
        try:
            while self._waiting:
                if self._pause:
                    await asyncio.sleep(self._pause)
                group = self._waiting[: self._largest]
                answers = await self._answers(group)
                del self._waiting[: len(group)]
                _tell(group, answers)
        finally:  # somebody is left only where the loop ends before them
            left, self._waiting = self._waiting, []
            _tell(left, [StoreError("the store was left in the middle of its work")] * len(left))

    async def _answers(self, group: Sequence[_Waiting[_Question, _Answer]]) -> Sequence[_Answer | WardroundError]:
        try:
            return await self._attempt([entry.question for entry in group])
        except WardroundError as error:
            return [error] * len(group)

    async def _attempt(self, questions: Sequence[_Question]) -> Sequence[_Answer | WardroundError]:
        try:
            return await self._work(questions)
        except WardroundError:
            raise
        except Exception as error:
            raise StoreError(f"the store broke at its work: {error!r}") from error

    async def aclose(self) -> None:
        """Wait until nobody waits any more."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])


def _tell(group: Sequence[_Waiting[_Question, _Answer]], answers: Sequence[_Answer | WardroundError]) -> None:
    for entry, answer in zip(group, answers, strict=True):
        if entry.told.done():
            continue
        if isinstance(answer, WardroundError):
            entry.told.set_exception(answer)
        else:
            entry.told.set_result(answer)
