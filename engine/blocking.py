"""Finds plug-in code that blocks the event loop, and so holds up every episode, and names it in the log."""

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from types import FrameType
from typing import NamedTuple

from wardround.engine.episode import Episode
from wardround.engine.logs import log
from wardround.engine.records import EpisodeRow

TICK = 0.25
"""Seconds between two checks."""
BLOCKED = 1.0
"""Seconds without a sign of life after which the loop counts as blocked."""
_HOUSE = "wardround."


class Block(NamedTuple):
    """A block of the loop: the line of the plug-in, the engine's frame that called it, and the seconds so far."""

    line: str
    caller: FrameType
    seconds: float


@contextmanager
def watch_for_blocks(report: Callable[[Block], None], *, after: float = BLOCKED) -> Iterator[None]:
    """While the block runs, call `report` (in a separate thread) with each place where plug-in code blocks the loop.

    Only code outside this package is reported, and each line once. Blocking code cannot be interrupted: only the code
    itself can give way. Time in which the whole process was stopped does not count. `after` is in seconds.
    """
    watch = _Watch(asyncio.get_running_loop(), threading.get_ident(), report, after)
    watch.start()
    try:
        yield
    finally:
        watch.over.set()
        watch.join(TICK)


def warn_of_block(block: Block) -> None:
    """Log which code blocks the loop, and in which episode and seat if the stack shows it."""
    named: dict[str, str] = {}
    frame: FrameType | None = block.caller
    while frame is not None and "episode" not in named:
        names = frame.f_locals
        if isinstance(episode := names.get("self"), Episode):
            named = episode.log_fields(str(names.get("seat", "")))
            break
        if isinstance(row := names.get("row"), EpisodeRow):
            named["episode"] = row.id
        frame = frame.f_back
    log.warning(
        f"code of your own blocks the event loop at {block.line}: for {block.seconds:.1f} seconds up to now no other "
        "episode has gone on; await something there, or run it in a thread (asyncio.to_thread)",
        **named,
    )


class _Watch(threading.Thread):
    """Checks at intervals whether the loop still answers, and inspects its stack if it does not."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, thread: int, report: Callable[[Block], None], after: float
    ) -> None:
        super().__init__(name="wardround-watch", daemon=True)
        self.over = threading.Event()
        self._loop, self._watched, self._report, self._after = loop, thread, report, after
        self._answered = threading.Event()
        self._named: set[str] = set()

    def run(self) -> None:
        """Check the loop until the block is over or the loop is closed."""
        tick, missed = min(TICK, self._after / 2), 0
        self._answered.set()
        while not self.over.wait(tick):
            if self._answered.is_set():
                missed = 0
                self._answered.clear()
                try:
                    self._loop.call_soon_threadsafe(self._answered.set)
                except RuntimeError:
                    return
                continue
            missed += 1
            if missed * tick >= self._after:
                self._look(missed * tick)

    def _look(self, seconds: float) -> None:
        blocked = _plugin(sys._current_frames().get(self._watched))
        if blocked is None:
            return
        line, caller = blocked
        if line not in self._named:
            self._named.add(line)
            self._report(Block(line, caller, seconds))


def _plugin(frame: FrameType | None) -> tuple[str, FrameType] | None:
    """The innermost line of the plug-in that the engine called, and the frame that called it."""
    stack: list[FrameType] = []
    while frame is not None:
        stack.append(frame)
        frame = frame.f_back
    for outer, called in pairwise(reversed(stack)):
        if _name(outer) in _CALLERS and not _ours(called):
            inner = next(frame for frame in stack if _name(frame) == _name(called))
            code = inner.f_code
            return f"{code.co_filename.rpartition('/')[2]}:{inner.f_lineno} in {code.co_name}", outer
    return None


_CALLERS = frozenset(
    _HOUSE + name
    for name in (
        "engine.episode",
        "engine.plugins",
        "runs.seats",
        "scoring.score",
        "evaluators.evaluation",
        "agents.check",
    )
)
"""Modules from which plug-in code is called."""
_LIBRARIES = ("asyncio", "anyio", "contextlib", "threading", "msgspec", "structlog", "concurrent", "selectors")


def _name(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _ours(frame: FrameType) -> bool:
    name = _name(frame)
    return name.startswith(_HOUSE) or name.partition(".")[0] in _LIBRARIES
