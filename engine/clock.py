"""Where the time of events comes from, and waiting that tests can pass at once."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Clock(Protocol):
    """Seconds since the epoch."""

    def __call__(self) -> float:
        """Now."""
        ...


class Ticks:
    """A clock for tests: each reading is one `step` (seconds) after the one before."""

    def __init__(self, start: float = 0.0, step: float = 1.0) -> None:
        self._next, self._step = start, step

    def __call__(self) -> float:
        now, self._next = self._next, self._next + self._step
        return now


def wall() -> float:
    """The machine's clock."""
    return time.time()


class Timer(Protocol):
    """A clock that can be held."""

    def hold(self) -> None:
        """Stop; nests."""
        ...

    def go_on(self) -> None:
        """Run again."""
        ...


_timer: ContextVar[Timer | None] = ContextVar("timer", default=None)


def timed_by(timer: Timer) -> None:
    """Let `timer` be held by what waits in this task and those it starts."""
    _timer.set(timer)


@contextmanager
def waiting() -> Iterator[None]:
    """Hold the clock of the episode that waits here."""
    timer = _timer.get()
    if timer is None:
        yield
        return
    timer.hold()
    try:
        yield
    finally:
        timer.go_on()
