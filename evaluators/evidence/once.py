"""Asks the same question once, however many ask it at the same time."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import anyio

from wardround.evaluators.evidence.failure import SearchError

T = TypeVar("T")


class _Pending(Generic[T]):
    def __init__(self) -> None:
        self.over = anyio.Event()
        self.answer: T | None = None
        self.error: SearchError | None = None


class Once(Generic[T]):
    """Those who ask while the question is under way wait for its answer, or its SearchError.

    If the one who asked is cancelled, or fails otherwise, the next of them asks.
    """

    def __init__(self) -> None:
        self._pending: dict[str, _Pending[T]] = {}

    async def ask(self, key: str, question: Callable[[], Awaitable[T]]) -> T:
        """The answer; raises SearchError, and whatever else `question` raises."""
        while (pending := self._pending.get(key)) is not None:
            await pending.over.wait()
            if pending.error is not None:
                raise SearchError(pending.error.kind, str(pending.error), status=pending.error.status)
            if pending.answer is not None:
                return pending.answer
        mine = self._pending[key] = _Pending()
        try:
            mine.answer = await question()
            return mine.answer
        except SearchError as error:
            mine.error = error
            raise
        finally:
            del self._pending[key]
            mine.over.set()
