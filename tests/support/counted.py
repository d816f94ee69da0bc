"""A store that counts what is asked of it."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from wardround.engine.events import Row
from wardround.engine.protocols import Store
from wardround.engine.records import EpisodeRow


class Counted:
    """`store`, and in `calls` how often each of its methods was called.

    The `rows` that `read` gave and those `listed` by `episodes` are counted too.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: Counter[str] = Counter()

    async def read(self, run: str, episode: str, *, after: int = -1) -> AsyncIterator[Row]:
        """Counted by call and by row."""
        self.calls["read"] += 1
        async for row in self._store.read(run, episode, after=after):
            self.calls["rows"] += 1
            yield row

    async def episodes(self, run: str, **which: Any) -> AsyncIterator[EpisodeRow]:
        """The same."""
        async for row in self._store.episodes(run, **which):
            self.calls["listed"] += 1
            yield row

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if not callable(method):
            return method

        def counted(*args: Any, **named: Any) -> Any:
            self.calls[name] += 1
            return method(*args, **named)

        return counted
