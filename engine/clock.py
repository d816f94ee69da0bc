"""Where the time of events comes from."""

import time
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
