"""Group commit in the event loop, for a store that is reached over the network."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import anyio

from wardround.engine.errors import StoreError
from wardround.engine.stores.work import GATHER, Failures, Work

LARGEST = 2000
"""Entries of one group at most: what came in during an outage is not sent as one huge statement."""


class _Waiting(NamedTuple):
    work: Work
    told: "asyncio.Future[None]"


class Gatherer:
    """Calls `commit` with all that came in, in its order, one group after the other.

    It does so in a task of its own, which lives while something waits: nobody's cancellation may break a commit that
    others wait for. `commit` is as that of a GroupWriter.
    """

    def __init__(self, commit: Callable[[Sequence[Work]], Awaitable[Failures]]) -> None:
        self._commit = commit
        self._waiting: list[_Waiting] = []
        self._task: asyncio.Task[None] | None = None

    async def write(self, work: Work) -> None:
        """Return when this, and all given before it, is committed; cancellation waits for that too."""
        loop = asyncio.get_running_loop()
        told: asyncio.Future[None] = loop.create_future()
        self._waiting.append(_Waiting(work, told))
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._work(), name="wardround-store")
        with anyio.CancelScope(shield=True):
            await told

    async def _work(self) -> None:
        while self._waiting:
            await asyncio.sleep(GATHER)
            group, self._waiting = self._waiting[:LARGEST], self._waiting[LARGEST:]
            works = [entry.work for entry in group]
            failures: Failures = {}
            try:
                if any(works):
                    failures = await self._commit(works)
            except StoreError as error:
                failures = dict.fromkeys(range(len(works)), error)
            except BaseException as error:
                everybody, self._waiting = group + self._waiting, []
                broken = StoreError(f"the store's writer broke: {error!r}")
                _tell(everybody, dict.fromkeys(range(len(everybody)), broken))
                raise
            _tell(group, failures)

    async def aclose(self) -> None:
        """Write what waits."""
        task, self._task = self._task, None
        if task is not None and not task.done():
            await asyncio.wait([task])


def _tell(group: Sequence[_Waiting], failures: Failures) -> None:
    for place, entry in enumerate(group):
        if entry.told.done():
            continue
        failure = failures.get(place)
        if failure is None:
            entry.told.set_result(None)
        else:
            entry.told.set_exception(failure)
