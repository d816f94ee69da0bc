"""Looks up in the call cache for many at once: a look costs little, the way to the thread that makes it far more."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from wardround.engine.stores.rounds import Rounds

LARGEST = 500
"""Keys of one look at most."""


class Recalls:
    """While one look is under way, the keys that come in gather for the next; `read` gives what answers there are."""

    def __init__(self, read: Callable[[Sequence[str]], Awaitable[Mapping[str, bytes]]]) -> None:
        self._read = read
        self._rounds: Rounds[str, bytes | None] = Rounds(self._found, LARGEST)

    async def recall(self, key: str) -> bytes | None:
        """The answer kept under `key`; raises what `read` raises."""
        return await self._rounds.ask(key)

    async def _found(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        found = await self._read(list(dict.fromkeys(keys)))
        return [found.get(key) for key in keys]

    async def aclose(self) -> None:
        """Wait for the look under way."""
        await self._rounds.aclose()
