"""An event loop whose selector sets its clock."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Ticking(selectors.BaseSelector):
    """A selector that adds to the time `now` of its loop."""

    loop: "Loop"


class Loop(asyncio.SelectorEventLoop):
    """Begins at 1,000 s, so that no time in it is taken for none."""

    def __init__(self, selector: Ticking) -> None:
        self.now = 1000.0
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        """What the selector has made of it."""
        return self.now


def running(selector: type[Ticking], main: Coroutine[Any, Any, T]) -> T:
    """Run `main` in such a loop."""
    with asyncio.Runner(loop_factory=lambda: Loop(selector())) as runner:
        return runner.run(main)
