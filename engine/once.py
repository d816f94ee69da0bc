"""Asks the same question once, however many ask it."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class _Asked(Generic[T]):
    __slots__ = ("answers", "error", "over", "stirred")

    def __init__(self) -> None:
        self.over = False
        self.answers: tuple[T, ...] = ()
        self.error: Exception | None = None
        self.stirred: asyncio.Event | None = None  # made by the first who waits: mostly there is none


class Once(Generic[T]):
    """Who asks while the same question is under way waits for its answer; with `keep`, whoever asks later gets it too.

    An error of type `failure` holds for all of them, anything else for the one who asked. If that one is cancelled, or
    ends by anything else, the next of those who wait asks. Belongs to one event loop.
    """

    def __init__(self, failure: type[Exception], *, keep: bool = False) -> None:
        self._failure, self._keep = failure, keep
        self._asked: dict[Hashable, _Asked[T]] = {}

    async def ask(self, key: Hashable, question: Callable[[], Awaitable[T]]) -> T:
        """The answer to the question with this key; raises what `question` raises."""
        while (asked := self._asked.get(key)) is not None:
            if not asked.over:
                asked.stirred = asked.stirred or asyncio.Event()
                await asked.stirred.wait()
            if asked.error is not None:
                raise asked.error.with_traceback(None)  # else it would gather the traces of all
            if asked.answers:
                return asked.answers[0]
        mine = self._asked[key] = _Asked()
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
            if mine.stirred is not None:
                mine.stirred.set()
