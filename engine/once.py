"""Asks several questions at the same time (`together`), or a question once for all that want its answer (`Once`)."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, TypeVar

import anyio

T = TypeVar("T")


class _Question(Generic[T]):
    __slots__ = ("answers", "changed", "error", "over")

    def __init__(self) -> None:
        self.over = False
        self.answers: tuple[T, ...] = ()
        self.error: Exception | None = None
        self.changed: asyncio.Event | None = None  # made by the first task that waits; usually none does


class Once(Generic[T]):
    """Asks a question once for all tasks that want its answer at the same time; with `keep`, for later tasks too.

    An error of type `failure` is raised in all of these tasks. If the asking task is cancelled or raises any other
    error, the next waiting task asks. An instance belongs to one event loop.
    """

    def __init__(self, failure: type[Exception], *, keep: bool = False) -> None:
        self._failure, self._keep = failure, keep
        self._asked: dict[Hashable, _Question[T]] = {}

    async def ask(self, key: Hashable, question: Callable[[], Awaitable[T]]) -> T:
        """The answer to the question with this key; raises what `question` raises."""
        while (asked := self._asked.get(key)) is not None:
            if not asked.over:
                asked.changed = asked.changed or asyncio.Event()
                await asked.changed.wait()
            if asked.error is not None:
                raise asked.error.with_traceback(None)  # otherwise it would collect the tracebacks of all tasks
            if asked.answers:
                return asked.answers[0]
        mine = self._asked[key] = _Question()
        try:
            mine.answers = (await question(),)
            return mine.answers[0]
        except self._failure as error:
            mine.error = error
            raise
        finally:
            mine.over = True
            if not self._keep or not (mine.answers or mine.error):
                del self._asked[key]
            if mine.changed is not None:
                mine.changed.set()


async def together(questions: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """Ask all questions at once; returns their answers in order. An error of one cancels the others, in a group."""
    if len(questions) == 1:
        return [await questions[0]()]
    answers: dict[int, T] = {}

    async def ask(place: int) -> None:
        answers[place] = await questions[place]()

    async with anyio.create_task_group() as group:
        for place in range(1, len(questions)):
            group.start_soon(ask, place)
        if questions:  # the first runs in the current task
            await ask(0)
    return [answers[place] for place in range(len(questions))]
