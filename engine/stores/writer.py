"""Group commit: one thread writes together what many episodes append at about the same time."""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import anyio
import anyio.to_thread

from wardround.engine.errors import StoreError
from wardround.engine.events import Row
from wardround.engine.records import Ending

GATHER = 0.003
"""Seconds a group may gather: a commit costs far more than an append (docs/performance.md)."""


class Append(NamedTuple):
    """What is to be written for one caller, and how it is told that it was."""

    run: str
    episode: str
    rows: Sequence[Row]
    ending: Ending | None
    loop: asyncio.AbstractEventLoop
    told: "asyncio.Future[None]"


class GroupWriter:
    """Calls `commit` with all that came in, in its order, from a thread of its own.

    `commit` writes all of it in one transaction or raises StoreError, which everyone in the group gets.
    """

    def __init__(self, commit: Callable[[Sequence[Append]], None]) -> None:
        self._commit = commit
        self._queue: queue.SimpleQueue[Append | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def append(self, run: str, episode: str, rows: Sequence[Row], ending: Ending | None) -> None:
        """Return when these rows, and all given before them, are committed; cancellation waits for that too."""
        loop = asyncio.get_running_loop()
        told: asyncio.Future[None] = loop.create_future()
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="wardround-store", daemon=True)
            self._thread.start()
        self._queue.put(Append(run, episode, rows, ending, loop, told))
        with anyio.CancelScope(shield=True):
            await told

    def _work(self) -> None:
        while True:
            group = self._gathered()
            appends = [append for append in group if append is not None]
            failure: StoreError | None = None
            try:
                if any(append.rows or append.ending for append in appends):
                    self._commit(appends)
            except StoreError as error:
                failure = error
            except BaseException as error:
                _tell(appends, StoreError(f"the store's writer broke: {error!r}"))
                raise
            _tell(appends, failure)
            if len(appends) < len(group):
                return

    def _gathered(self) -> list[Append | None]:
        """What waits, once something does; None among it ends the work."""
        group = [self._queue.get()]
        if group[0] is not None:
            time.sleep(GATHER)
        with contextlib.suppress(queue.Empty):
            while True:
                group.append(self._queue.get_nowait())
        return group

    async def aclose(self) -> None:
        """Write what waits, then end the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            await anyio.to_thread.run_sync(thread.join)


def _tell(appends: Sequence[Append], failure: StoreError | None) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[Append]] = {}
    for append in appends:
        by_loop.setdefault(append.loop, []).append(append)
    for loop, waiting in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed, and with it gone who waited
            loop.call_soon_threadsafe(_settle, waiting, failure)


def _settle(appends: Sequence[Append], failure: StoreError | None) -> None:
    for append in appends:
        if append.told.done():
            continue
        if failure is None:
            append.told.set_result(None)
        else:
            append.told.set_exception(failure)
