"""A search that tries again what may pass, and asks a service only so much at a time."""

from collections.abc import Sequence

import anyio

from wardround.evaluators.evidence.failure import SearchError
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.search import MOST, Search

PASSING = ("timeout", "connection", "rate_limit")
"""Kinds that another attempt may not meet."""


class Steady:
    """At most `at_once` queries at a time, each tried up to `attempts` times; the pause (s) doubles between them."""

    def __init__(self, search: Search, *, attempts: int = 3, pause: float = 1.0, at_once: int = 4) -> None:
        self.search, self.name, self.host = search, search.name, search.host
        self._attempts, self._pause = attempts, pause
        self._places = anyio.CapacityLimiter(at_once)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """What the search finds; raises the SearchError of the last attempt."""
        for attempt in range(1, self._attempts):
            try:
                return await self._once(query, most)
            except SearchError as error:
                if error.kind not in PASSING:
                    raise
            await anyio.sleep(self._pause * 2 ** (attempt - 1))
        return await self._once(query, most)

    async def _once(self, query: str, most: int) -> Sequence[Found]:
        async with self._places:
            return await self.search.find(query, most=most)

    async def aclose(self) -> None:
        """Close the search."""
        await self.search.aclose()
