"""Many episodes at once: workers over an iterator, so that waiting jobs cost nothing."""

import gc
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Generic, TypeVar

import anyio
from anyio.abc import TaskGroup

from wardround.engine.blocking import warned, watched
from wardround.engine.errors import Stopped
from wardround.engine.progress import Progress
from wardround.engine.records import Ending

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
