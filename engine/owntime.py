"""The time an act takes of its own, outside the calls of its seat's model: what hangs is named, then ended."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import structlog

log = structlog.get_logger("wardround")
SLOW = 60.0
"""Own seconds of one act after which it is named."""
AGAIN = 1.0
"""Seconds between two attempts to end an act that does not let itself be cancelled."""


class OwnTime:
    """A timer for one act after another; it stands still while a call of the seat's model is under way (`away`).

    A context manager round an act: one that has used `limit` own seconds is cancelled, and `over` is true after the
    block. A cancellation from outside passes. `who` says which act it is, for the log.
    """

    __slots__ = (
        "_away",
        "_began",
        "_cancels",
        "_handle",
        "_held",
        "_limit",
        "_loop",
        "_named",
        "_task",
        "_who",
        "over",
    )

    def __init__(self, limit: float | None, who: Callable[[], Mapping[str, str]]) -> None:
        self._limit, self._who = limit, who
        self._handle: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[Any] | None = None
        self._began = self._held = 0.0
        self._away = self._cancels = 0
        self._named = self.over = False

    def __enter__(self) -> None:
        self.over = self._named = False
        self._away = self._cancels = 0
        if self._limit is None:
            return
        self._task = asyncio.current_task()
        self._loop = asyncio.get_running_loop()
        self._began, self._held = self._loop.time(), 0.0
        self._handle = self._loop.call_later(min(SLOW, self._limit), self._look)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._handle is None or self._task is None:
            return False
        self._handle.cancel()
        self._handle = None
        for _ in range(self._cancels):
            self._task.uncancel()
        if isinstance(error, asyncio.CancelledError) and self._task.cancelling():
            self.over = False  # the run is being stopped as well
        return self.over and (error is None or isinstance(error, Exception | asyncio.CancelledError))

    @contextmanager
    def away(self) -> Iterator[None]:
        """A call of the seat's model: the time of the block is not the act's own. Calls may overlap."""
        if self._handle is None:
            yield
            return
        began = self._loop.time()
        if not self._away:
            self._held -= began
        self._away += 1
        try:
            yield
        finally:
            self._away -= 1
            if not self._away:
                self._held += self._loop.time()

    def _look(self) -> None:
        """Name the act, end it, or come back when one of these may be due."""
        assert self._limit is not None
        assert self._task is not None
        now = self._loop.time()
        own = now - self._began - self._held - (now if self._away else 0.0)
        if own >= self._limit:
            self.over = True
            self._cancels += 1
            self._task.cancel()
            if self._cancels == 2:
                log.error("an act does not let itself be ended", **self._who(), seconds=round(own))
            wait = AGAIN
        else:
            if own >= SLOW and not self._named:
                self._named = True
                log.warning("an act hangs", **self._who(), seconds=round(own), ended_after=self._limit)
            wait = (self._limit if self._named or self._limit < SLOW else SLOW) - own
        self._handle = self._loop.call_later(max(wait, 0.001), self._look)
