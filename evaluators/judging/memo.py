"""The same question within one episode is asked once, and its answer or failure holds for all who ask it."""

from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

import anyio

T = TypeVar("T")


class _Asked(Generic[T]):
    def __init__(self) -> None:
        self.over = anyio.Event()
        self.answer: T | None = None
        self.error: Exception | None = None


class Memo(Generic[T]):
    """Answers by their question's key. What is asked at the same time must not depend on who comes first."""

    def __init__(self) -> None:
        self._asked: dict[Hashable, _Asked[T]] = {}

    async def ask(self, key: Hashable, question: Callable[[], Awaitable[T]]) -> T:
        """The answer; raises what the first to ask was told."""
        asked = self._asked.get(key)
        if asked is None:
            asked = self._asked[key] = _Asked()
            try:
                asked.answer = await question()
            except Exception as error:
                asked.error = error
                raise
            finally:
                asked.over.set()
        await asked.over.wait()
        if asked.error is not None:
            raise asked.error
        assert asked.answer is not None
        return asked.answer
