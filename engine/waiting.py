"""Waiting that an episode is not to blame for: its clock stands still while a call waits for leave to be made."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


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
