"""An event loop whose clock stands still while the process is not at work, and runs as usual while it waits."""

import selectors
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from ticking import Ticking, running

T = TypeVar("T")

LONGEST = 0.005
"""Seconds that one turn of the loop counts at most, beside a wait for a timer before which nothing came in."""


class _Selector(selectors.DefaultSelector, Ticking):
    """Adds to the loop's time what it waited, but no pause in which the machine was at other work."""

    def __init__(self) -> None:
        super().__init__()
        self._seen = time.monotonic()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(timeout)
        seen, self._seen = self._seen, time.monotonic()
        waited = 0.0 if ready else max(timeout or 0.0, 0.0)
        self.loop.now += min(self._seen - seen, waited + LONGEST)
        return ready


def steadily(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` in such a loop: of two timers of its tasks the earlier one fires first, and what was sent before it
    has arrived, however long the process was held up in between. For short timeouts against servers in the same loop.
    """
    return running(_Selector, main)
