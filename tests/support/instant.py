"""An event loop that goes on to its next timer at once: an hour of waiting takes no time."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    """Never waits: what would be waited for is added to the loop's time."""

    loop: "_Loop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise RuntimeError("nothing will ever happen: everyone waits for another")
            self.loop.now += timeout
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        selector = _Selector()
        self.now = 1000.0
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.now


def instantly(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` in such a loop; timers fire in order, to the microsecond and without waiting."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(main)
