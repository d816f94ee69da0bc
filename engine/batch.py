"""Runs many episodes concurrently: a pool of workers over an iterator of jobs, and their shared progress."""

import asyncio
import gc
import os
import signal
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from types import FrameType
from typing import Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from wardround.engine.blocking import warn_of_block, watch_for_blocks
from wardround.engine.budget import Budget, BudgetAccount, BudgetPart, Size, Spending
from wardround.engine.errors import RunStopped, Stopped
from wardround.engine.limits import waiting
from wardround.engine.records import Ending, Json
from wardround.engine.sessions import RunControl


class Progress:
    """The progress of one process that works on a run, and the means to pause, drain and budget it.

    `run` is the name of the current run. `endings` counts its closed episodes by cause; `own` counts those that this
    process closed since its session on that run began (`begin`). `why` is the reason why the run drains, '' while it
    does not drain. `part` is this process's part of the budget.
    """

    def __init__(self, total: int = 0, part: BudgetPart | None = None) -> None:
        self.part = part
        self.total = total
        self.running = self.own = 0
        self.endings: Counter[str] = Counter()
        self.account = BudgetAccount(Budget(), {})
        self.paused = False
        self.why = self.run = ""
        self._stir = anyio.Event()
        self._waiting = 0
        self._listeners: list[Callable[[str], None]] = []
        self._ordered = RunControl()

    def begin(self, endings: Mapping[str, int], run: str = "") -> None:
        """Reset the counts for a session on a run; `endings` has the number of episodes by cause, or `open`."""
        self.run = run or self.run
        self.total = sum(endings.values())
        self.endings = Counter({cause: count for cause, count in endings.items() if cause != "open"})
        self.own = 0
        self.paused, self._ordered = False, RunControl()

    def at_once(self, concurrency: int) -> int:
        """The number of episodes to play at once: `concurrency`, unless the operator set another number."""
        return self._ordered.concurrency or concurrency

    @property
    def closed(self) -> int:
        """The number of episodes that have ended, by any cause."""
        return sum(self.endings.values())

    @property
    def spent(self) -> Spending:
        """What the run has spent, including its earlier sessions."""
        return self.account.spent

    @property
    def draining(self) -> bool:
        """Whether no further action may begin."""
        return bool(self.why)

    def drain(self, why: str = "the run was asked to stop") -> None:
        """Begin no further action; actions under way are finished and kept."""
        if not self.why:
            self.why = why
            for notify in tuple(self._listeners):
                notify(why)
        self.notify_change()

    @contextmanager
    def when_draining(self, notify: Callable[[str], None]) -> Iterator[None]:
        """Call `notify` with the reason if the run drains while the block runs, or drains already."""
        self._listeners.append(notify)
        try:
            if self.why:
                notify(self.why)
            yield
        finally:
            self._listeners.remove(notify)

    @contextmanager
    def unless_draining(self) -> Iterator[None]:
        """Cancel the block once the run drains, and raise RunStopped. Use it for waits that need not be finished."""
        if self.why:
            raise RunStopped(self.why)
        with anyio.CancelScope() as scope, self.when_draining(lambda _why: scope.cancel()):
            yield
        if scope.cancelled_caught:
            raise RunStopped(self.why)

    def notify_change(self) -> None:
        """Wake all waiting tasks, so that they check again."""
        self._stir.set()
        self._stir = anyio.Event()

    async def wait_for_change(self) -> None:
        """Wait until something changes."""
        await self._stir.wait()

    async def before_act(self) -> None:
        """Wait while the run is paused; raise RunStopped if it is draining."""
        while self.paused and not self.why:
            with waiting():
                await self._stir.wait()
        if self.why:
            raise RunStopped(self.why)

    async def before_call(self, seat: str) -> Size:
        """Wait until the call fits the budget; if it never will, drain the run and raise RunStopped."""
        if self.paused or self.why:
            await self.before_act()
        while True:
            refused, never = self.account.refusal(seat)
            if not refused:
                break
            if never:
                self.drain(f"the budget is used up: {refused}")
            if self.why:
                raise RunStopped(self.why)
            self._waiting += 1
            try:
                with waiting():
                    await self._stir.wait()
            finally:
                self._waiting -= 1
        return self.account.set_aside(seat)

    def after_call(self, seat: str, spent: Spending | None, size: Size | None) -> None:
        """Book what a call spent and release the amount set aside for it, if it was not released before."""
        self.account.settle(seat, spent, size)
        if self._waiting:
            self.notify_change()

    def obey(self, orders: RunControl) -> None:
        """Apply the operator's orders."""
        last, self._ordered = self._ordered, orders
        if orders.state == "stop":
            self.drain("the run was told to stop")
        self.paused = orders.state == "pause"
        if orders.budget != self.account.budget:
            self.account.change(orders.budget)
        if last != orders:
            self.notify_change()

    def summary(self) -> Mapping[str, Json]:
        """The progress of this process, for the status."""
        own = self.account.own
        return {
            "running": self.running,
            "own": self.own,
            "calls": own.calls,
            "failed": own.failed,
            "tokens": own.tokens,
            "cost": own.cost,
            "paused": self.paused,
            "draining": self.why,
            "budget": self.account.summary(),
        }


JobT = TypeVar("JobT")

FIRST_WORKERS, GROUPS, PAUSE = 16, 25, 0.005
"""How workers start: `FIRST_WORKERS` at once, the others in about `GROUPS` groups, `PAUSE` seconds apart.

Workers that start together stay in step: none sends its first call before the last one is ready, and many end at the
same moment. Spread over an eighth of a second they keep an endpoint evenly busy (docs/performance.md).
"""


async def run_batch(
    jobs: AsyncIterator[JobT], play: Callable[[JobT], Awaitable[Ending | None]], *, concurrency: int, progress: Progress
) -> None:
    """Play every job until none is left or the run drains.

    `concurrency` jobs run at a time, unless the operator sets another number through `progress`. An exception raised by
    `play` (a store that cannot write, a usage error) stops the batch: the other workers are cancelled, then it is
    raised.
    """
    pool = _WorkerPool(jobs, play, concurrency, progress)
    try:
        with rare_collection(), watch_for_blocks(warn_of_block):
            async with anyio.create_task_group() as group:
                await pool.keep_up(group)
    except BaseExceptionGroup as errors:
        raise first_error(errors) from errors


@contextmanager
def rare_collection() -> Iterator[None]:
    """Run the cyclic garbage collector rarely: each pass would scan hundreds of live episodes and free nothing."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], 200_000), before[1], before[2])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _WorkerPool(Generic[JobT]):
    """Keeps the wanted number of workers running."""

    def __init__(
        self,
        jobs: AsyncIterator[JobT],
        play: Callable[[JobT], Awaitable[Ending | None]],
        concurrency: int,
        progress: Progress,
    ) -> None:
        self._jobs, self._play, self._concurrency, self._progress = jobs, play, concurrency, progress
        self._turn = anyio.Lock(fast_acquire=True)
        self._working = 0
        self._over = False

    async def keep_up(self, group: TaskGroup) -> None:
        """Start workers as they are needed; return when the last one has ended."""
        progress = self._progress
        while True:
            while (more := self._workers_missing()) > 0:
                for _ in range(more):
                    self._working += 1
                    group.start_soon(self._work)
                await anyio.sleep(PAUSE)
            if not self._working:
                return
            await progress.wait_for_change()

    def _workers_missing(self) -> int:
        """The number of workers to start now."""
        wanted = self._progress.at_once(self._concurrency)
        if self._over or self._progress.draining:
            return 0
        return min(wanted - self._working, max(FIRST_WORKERS - self._working, 1 + wanted // GROUPS))

    async def _work(self) -> None:
        progress = self._progress
        try:
            while not progress.draining and self._working <= progress.at_once(self._concurrency):
                async with self._turn:  # an async generator serves one caller at a time
                    job = None if self._over else await anext(self._jobs, None)
                if job is None:
                    self._over = True
                    return
                await self._play_job(job)
        finally:
            self._working -= 1
            progress.notify_change()

    async def _play_job(self, job: JobT) -> None:
        progress = self._progress
        progress.running += 1
        try:
            ending = await self._play(job)
        finally:
            progress.running -= 1
        if ending is not None:
            progress.endings[ending.cause] += 1
            progress.own += 1


def first_error(error: BaseException) -> BaseException:
    """The first error in a group of errors, or the error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


@asynccontextmanager
async def run_beside(task: Callable[[], Coroutine[object, object, None]]) -> AsyncIterator[None]:
    """Run `task` while the block runs; an exception of either is raised as itself, not in an exception group."""
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(task)
            yield
            group.cancel_scope.cancel()
    except BaseExceptionGroup as errors:
        raise first_error(errors) from None


INTERRUPTED = "it was interrupted"
"""Why a run drains after Ctrl-C."""
LAST = 5.0
"""Seconds that acts have to end after a second Ctrl-C."""
_FORCED = (
    b"\nwardround: an agent did not stop in time, so the process was ended; what was done is stored: go on with "
    b"--resume RUN\n"
)


@asynccontextmanager
async def interruptible(progress: Progress) -> AsyncIterator[None]:
    """Ctrl-C (or SIGTERM) inside this block drains the run; a second one stops it at once, by raising Stopped.

    An act that swallows its cancellation or holds the event loop up would keep the process alive for ever. If the block
    has not been left `LAST` seconds after the second signal, the process ends with exit code 130. The store is then as
    after a kill: it has every write that it acknowledged, and the run can be resumed.
    """
    interrupts = _Interrupts(progress)
    before = {number: signal.signal(number, interrupts.heard) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        async with run_beside(interrupts.obey):
            yield
    finally:
        interrupts.over()
        for number, handler in before.items():
            signal.signal(number, handler)


class _Interrupts:
    """Counts signals. Its handler also runs while code holds the event loop up, which the loop's own would not."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._loop, self._stir = progress, asyncio.get_running_loop(), asyncio.Event()
        self._count = 0
        self._end_by_force = threading.Timer(LAST, _end_process)
        self._end_by_force.daemon = True

    def heard(self, number: int, frame: FrameType | None) -> None:
        """Count a signal. If the run drains already, start the timer that ends the process by force."""
        self._count += 1
        if self._count > 1 or self._progress.draining:
            with suppress(RuntimeError):  # a third signal: the timer was started before
                self._end_by_force.start()
        self._loop.call_soon_threadsafe(self._stir.set)

    async def obey(self) -> None:
        """Drain the run at the first signal, and stop it at the second."""
        while True:
            await self._stir.wait()
            self._stir.clear()
            if self._progress.draining:
                raise Stopped
            self._progress.drain(INTERRUPTED)
            if self._count > 1:
                raise Stopped

    def over(self) -> None:
        """Cancel the timer, because the block was left in time."""
        self._end_by_force.cancel()


def _end_process() -> None:
    os.write(2, _FORCED)
    os._exit(130)
