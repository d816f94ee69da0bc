"""Group commit: one thread writes together what many episodes append at about the same time."""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence

import anyio
import anyio.to_thread

from wardround.engine.errors import StoreError, WardroundError
from wardround.engine.stores.work import GATHER, Failures, Unwritable, Work


class _Waiting:
    __slots__ = ("loop", "over", "told", "work")

    def __init__(self, work: Work, loop: asyncio.AbstractEventLoop) -> None:
        self.work, self.loop, self.over = work, loop, False
        self.told: asyncio.Future[None] = loop.create_future()


class GroupWriter:
    """Calls `commit` with all that came in, in its order, from a thread of its own.

    `commit` writes it in one transaction, says which of it could not be written (nothing of those is), or raises, which
    everyone in the group gets as a StoreError, for an Unwritable only those whose value it is; the next group is tried
    all the same.
    """

    def __init__(self, commit: Callable[[Sequence[Work]], Failures]) -> None:
        self._commit = commit
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    async def write(self, work: Work) -> None:
        """Return when this, and all given before it, is committed; cancellation waits for that too."""
        entry = _Waiting(work, asyncio.get_running_loop())
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._work, name="wardround-store", daemon=True)
            self._thread.start()
        self._queue.put(entry)
        try:
            await entry.told
        except asyncio.CancelledError:
            if not entry.over:  # it is written all the same, and waited for
                entry.told = entry.loop.create_future()
                with anyio.CancelScope(shield=True):  # made only now: a scope costs as much as the rest of an append
                    await entry.told
            raise

    def _work(self) -> None:
        while True:
            group = self._gathered()
            waiting = [entry for entry in group if entry is not None]
            works = [entry.work for entry in waiting]
            _tell(waiting, self._failures(works))
            if len(waiting) < len(group):
                return

    def _failures(self, works: Sequence[Work]) -> Failures:
        try:
            return self._written(works)
        except WardroundError as error:
            if len(works) == 1 or not isinstance(error, Unwritable):
                return dict.fromkeys(range(len(works)), error)
        alone = [self._failures([work]) for work in works]  # which of them it is shows when each is by itself
        return {place: failures[0] for place, failures in enumerate(alone) if failures}

    def _written(self, works: Sequence[Work]) -> Failures:
        try:
            return self._commit(works) if any(works) else {}
        except WardroundError:
            raise
        except BaseException as error:  # others wait for what comes after this: the thread may not end of it
            raise StoreError(f"the store broke at its work: {error!r}") from error

    def _gathered(self) -> list[_Waiting | None]:
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


def _tell(waiting: Sequence[_Waiting], failures: Failures) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[_Waiting, WardroundError | None]]] = {}
    for place, entry in enumerate(waiting):
        by_loop.setdefault(entry.loop, []).append((entry, failures.get(place)))
    for loop, entries in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed, and with it gone who waited
            loop.call_soon_threadsafe(_settle, entries)


def _settle(entries: Sequence[tuple[_Waiting, WardroundError | None]]) -> None:
    for entry, failure in entries:
        entry.over = True
        if entry.told.done():  # who waited was cancelled a moment ago, and sees that it is over
            continue
        if failure is None:
            entry.told.set_result(None)
        else:
            entry.told.set_exception(failure)
