"""Looks up in the call cache for many at once: a look costs little, the way to the thread that makes it far more."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from wardround.engine.errors import StoreError

LARGEST = 500
"""Keys of one look at most."""


class _Waiting(NamedTuple):
    key: str
    told: "asyncio.Future[bytes | None]"


class Recalls:
    """While one look is under way, the keys that come in gather for the next; `read` gives what answers there are."""

    def __init__(self, read: Callable[[Sequence[str]], Awaitable[Mapping[str, bytes]]]) -> None:
        self._read = read
        self._waiting: list[_Waiting] = []
        self._task: asyncio.Task[None] | None = None

    async def recall(self, key: str) -> bytes | None:
        """The answer kept under `key`; raises what `read` raises."""
        loop = asyncio.get_running_loop()
        told: asyncio.Future[bytes | None] = loop.create_future()
        self._waiting.append(_Waiting(key, told))
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._work(), name="wardround-recalls")
        return await told

    async def _work(self) -> None:
        while self._waiting:
            group, self._waiting = self._waiting[:LARGEST], self._waiting[LARGEST:]
            try:
                found = await self._read(list(dict.fromkeys(entry.key for entry in group)))
            except StoreError as error:
                _fail(group, error)
            except BaseException as error:
                everybody, self._waiting = group + self._waiting, []
                _fail(everybody, StoreError(f"the store's look into the call cache broke: {error!r}"))
                raise
            else:
                for entry in group:
                    if not entry.told.done():
                        entry.told.set_result(found.get(entry.key))


def _fail(group: Sequence[_Waiting], error: StoreError) -> None:
    for entry in group:
        if not entry.told.done():
            entry.told.set_exception(error)
