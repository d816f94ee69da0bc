"""Many episodes at once: workers over an iterator, so that waiting jobs cost nothing."""

import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio

from wardround.engine.errors import RunStopped
from wardround.engine.records import Ending, Usage

JobT = TypeVar("JobT")


class Progress:
    """What a running batch has done so far, and whether it shall stop; one for a run, shared by its episodes."""

    def __init__(self, total: int = 0) -> None:
        self.total = total
        self.running = 0
        self.endings: Counter[str] = Counter()
        self.calls = self.failed_calls = self.tokens = self.unpriced = 0
        self.cost = 0.0
        self.draining = False
        self.left_open = 0

    @property
    def closed(self) -> int:
        """Episodes that ended, one way or another."""
        return sum(self.endings.values())

    def drain(self) -> None:
        """Begin no further action; what is under way is finished and kept."""
        self.draining = True

    def before_act(self) -> None:
        """Raise RunStopped if the run is draining."""
        if self.draining:
            raise RunStopped("the run was asked to stop")

    def before_call(self) -> None:
        """Raise RunStopped if the run is draining."""
        self.before_act()

    def after_call(self, seat: str, usage: Usage | None) -> None:
        """Count a call; one without a price is counted as such, not as free."""
        del seat
        self.calls += 1
        if usage is None:
            self.failed_calls += 1
            return
        self.tokens += usage.prompt + usage.completion
        if usage.cost is None:
            self.unpriced += 1
        else:
            self.cost += usage.cost


class Stopped(Exception):
    """The run was told to stop at once."""


async def run_batch(
    jobs: AsyncIterator[JobT], play: Callable[[JobT], Awaitable[Ending | None]], *, concurrency: int, progress: Progress
) -> None:
    """Play every job, `concurrency` at a time, until none is left or the run drains.

    An exception of `play` (a store that cannot write, a usage error) stops the batch: it is raised after the other
    workers were cancelled.
    """
    turn = anyio.Lock(fast_acquire=True)

    async def work() -> None:
        while not progress.draining:
            async with turn:  # an async generator serves one caller at a time
                job = await anext(jobs, None)
            if job is None:
                return
            progress.running += 1
            try:
                ending = await play(job)
            finally:
                progress.running -= 1
            if ending is None:
                progress.left_open += 1
            else:
                progress.endings[ending.cause] += 1

    try:
        async with anyio.create_task_group() as group:
            for _ in range(concurrency):
                group.start_soon(work)
    except BaseExceptionGroup as errors:
        raise _first(errors) from errors


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@asynccontextmanager
async def beside(task: Callable[[], Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run `task` while the block runs; what the block or the task raises comes out as itself, not in a group."""
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(task)
            yield
            group.cancel_scope.cancel()
    except BaseExceptionGroup as errors:
        raise _first(errors) from None


@asynccontextmanager
async def interruptible(progress: Progress) -> AsyncIterator[None]:
    """Ctrl-C inside this block drains the run; a second one stops it at once."""

    async def watch() -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                if progress.draining:
                    raise Stopped
                progress.drain()

    async with beside(watch):
        yield
