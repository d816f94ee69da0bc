"""The same question within one episode is asked once, and its answer or failure holds for all who ask it."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import anyio

T = TypeVar("T")


class _Asked(Generic[T]):
    def __init__(self) -> None:
        self.over = anyio.Event()
        self.answers: list[T] = []
        self.error: Exception | None = None


class Memo(Generic[T]):
    """Answers by their question's key. What is asked at the same time must not depend on who comes first.

    If the one who asks is cancelled, the next of those who wait asks.
    """

    def __init__(self) -> None:
        self._asked: dict[Hashable, _Asked[T]] = {}

    async def ask(self, key: Hashable, question: Callable[[], Awaitable[T]]) -> T:
        """The answer; raises what the first to ask was told."""
        while (asked := self._asked.get(key)) is not None:
            await asked.over.wait()
            if asked.error is not None:
                raise asked.error
            if asked.answers:
                return asked.answers[0]
        mine = self._asked[key] = _Asked()
        try:
            mine.answers.append(await question())
        except Exception as error:
            mine.error = error
            raise
        finally:
            if not mine.answers and mine.error is None:
                del self._asked[key]
            mine.over.set()
        return mine.answers[0]
