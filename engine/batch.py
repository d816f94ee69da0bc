"""Many episodes at once: workers over an iterator, and what they share of a batch's progress."""

import gc
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from wardround.engine.blocking import warned, watched
from wardround.engine.budget import Budget, Purse, Size, Spending
from wardround.engine.clock import waiting
from wardround.engine.errors import RunStopped, Stopped
from wardround.engine.records import Ending, Json
from wardround.engine.sessions import RunControl


class Progress:
    """One for each process at work on a run. `why` says why it drains, '' while it does not.

    `run` names the run at hand. `endings` counts its episodes that have closed, `own` those that this process closed
    since its session on that run began (`begin`).
    """

    def __init__(self, total: int = 0) -> None:
        self.total = total
        self.running = self.left_open = self.own = 0
        self.endings: Counter[str] = Counter()
        self.purse = Purse(Budget(), {})
        self.paused = False
        self.why = self.run = ""
        self._stir = anyio.Event()
        self._waiting = 0
        self._told: list[Callable[[str], None]] = []
        self._ordered = RunControl()

    def begin(self, endings: Mapping[str, int], run: str = "") -> None:
        """Count anew, for a session on a run: so many of its episodes ended by each cause, or are `open`."""
        self.run = run or self.run
        self.total = sum(endings.values())
        self.endings = Counter({cause: count for cause, count in endings.items() if cause != "open"})
        self.own = self.left_open = 0
        self.paused, self._ordered = False, RunControl()

    def at_once(self, concurrency: int) -> int:
        """The number of episodes to play at once: `concurrency`, if the operator orders no other."""
        return self._ordered.concurrency or concurrency

    @property
    def closed(self) -> int:
        """Episodes that ended, one way or another."""
        return sum(self.endings.values())

    @property
    def spent(self) -> Spending:
        """What the run has spent, its earlier sessions included."""
        return self.purse.spent

    @property
    def draining(self) -> bool:
        """Whether no further action may begin."""
        return bool(self.why)

    def drain(self, why: str = "the run was asked to stop") -> None:
        """Begin no further action; what is under way is finished and kept."""
        if not self.why:
            self.why = why
            for told in tuple(self._told):
                told(why)
        self.stir()

    @contextmanager
    def when_draining(self, told: Callable[[str], None]) -> Iterator[None]:
        """Tell `told` why, if the run drains while the block runs or did so before."""
        self._told.append(told)
        try:
            if self.why:
                told(self.why)
            yield
        finally:
            self._told.remove(told)

    @contextmanager
    def unless_draining(self) -> Iterator[None]:
        """Break the block off once the run drains, and raise RunStopped: for waits whose end is not worth keeping."""
        if self.why:
            raise RunStopped(self.why)
        with anyio.CancelScope() as scope, self.when_draining(lambda _why: scope.cancel()):
            yield
        if scope.cancelled_caught:
            raise RunStopped(self.why)

    def stir(self) -> None:
        """Let all who wait look again."""
        self._stir.set()
        self._stir = anyio.Event()

    async def stirred(self) -> None:
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
        """Wait until the call fits the budget; raise RunStopped if it never will: then the run drains."""
        if self.paused or self.why:
            await self.before_act()
        while True:
            refused, never = self.purse.refused(seat)
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
        return self.purse.set_aside(seat)

    def after_call(self, seat: str, spent: Spending | None, size: Size) -> None:
        """Book a call."""
        self.purse.settle(seat, spent, size)
        if self._waiting:
            self.stir()

    def obey(self, orders: RunControl) -> None:
        """Do what the operator wants."""
        last, self._ordered = self._ordered, orders
        if orders.state == "stop":
            self.drain("the run was told to stop")
        self.paused = orders.state == "pause"
        if orders.budget != self.purse.budget:
            self.purse.change(orders.budget)
        if last != orders:
            self.stir()

    def told(self) -> Mapping[str, Json]:
        """How this process stands, for the status."""
        own = self.purse.own
        return {
            "running": self.running,
            "own": self.own,
            "calls": own.calls,
            "failed": own.failed,
            "tokens": own.tokens,
            "cost": own.cost,
            "paused": self.paused,
            "draining": self.why,
            "budget": self.purse.told(),
        }


JobT = TypeVar("JobT")

FIRST, GROUPS, PAUSE = 16, 25, 0.005
"""So many workers begin at once, the others in so many groups, so many seconds apart.

All at once they would do each step of their jobs together: no first call is sent before the last is ready, and many
end at the same moment. An eighth of a second apart they keep an endpoint evenly at work (docs/performance.md).
"""


async def run_batch(
    jobs: AsyncIterator[JobT], play: Callable[[JobT], Awaitable[Ending | None]], *, concurrency: int, progress: Progress
) -> None:
    """Play every job until none is left or the run drains, `concurrency` at a time unless `progress` is told another.

    An exception of `play` (a store that cannot write, a usage error) stops the batch: it is raised after the other
    workers were cancelled.
    """
    crew = _Crew(jobs, play, concurrency, progress)
    try:
        with calm(), watched(warned):
            async with anyio.create_task_group() as group:
                await crew.kept_up(group)
    except BaseExceptionGroup as errors:
        raise _first(errors) from errors


@contextmanager
def calm() -> Iterator[None]:
    """Let the collector of cycles look less often: hundreds of live episodes are no garbage, and it reads them all."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], 200_000), before[1], before[2])
    try:
        yield
    finally:
        gc.set_threshold(*before)


class _Crew(Generic[JobT]):
    """As many workers as are wanted at the moment."""

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

    async def kept_up(self, group: TaskGroup) -> None:
        """Return when the last worker has gone."""
        progress = self._progress
        while True:
            while (more := self._more()) > 0:
                for _ in range(more):
                    self._working += 1
                    group.start_soon(self._work)
                await anyio.sleep(PAUSE)
            if not self._working:
                return
            await progress.stirred()

    def _more(self) -> int:
        """How many workers to begin with now."""
        wanted = self._progress.at_once(self._concurrency)
        if self._over or self._progress.draining:
            return 0
        return min(wanted - self._working, max(FIRST - self._working, 1 + wanted // GROUPS))

    async def _work(self) -> None:
        progress = self._progress
        try:
            while not progress.draining and self._working <= progress.at_once(self._concurrency):
                async with self._turn:  # an async generator serves one caller at a time
                    job = None if self._over else await anext(self._jobs, None)
                if job is None:
                    self._over = True
                    return
                await self._one(job)
        finally:
            self._working -= 1
            progress.stir()

    async def _one(self, job: JobT) -> None:
        progress = self._progress
        progress.running += 1
        try:
            ending = await self._play(job)
        finally:
            progress.running -= 1
        if ending is None:
            progress.left_open += 1
        else:
            progress.endings[ending.cause] += 1
            progress.own += 1


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


INTERRUPTED = "it was interrupted"
"""Why a run drains after Ctrl-C."""


@asynccontextmanager
async def interruptible(progress: Progress) -> AsyncIterator[None]:
    """Ctrl-C inside this block drains the run; a second one stops it at once."""

    async def watch() -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                if progress.draining:
                    raise Stopped
                progress.drain(INTERRUPTED)

    async with beside(watch):
        yield
