"""Workers over an iterator: so many at once, in order, stopped by a drain, broken by what concerns the run."""

import signal
from collections.abc import AsyncIterator

import anyio
import pytest

from wardround.engine.batch import Progress, Stopped, interruptible, run_batch
from wardround.engine.errors import RunStopped, StoreError
from wardround.engine.records import Ending, Usage


async def numbers(count: int) -> AsyncIterator[int]:
    for number in range(count):
        yield number


async def test_never_more_at_once_than_allowed_and_each_job_once() -> None:
    running, most, seen = 0, 0, []

    async def play(job: int) -> Ending:
        nonlocal running, most
        running += 1
        most = max(most, running)
        seen.append(job)
        await anyio.sleep(0.001)
        running -= 1
        return Ending("completed")

    progress = Progress()
    await run_batch(numbers(50), play, concurrency=7, progress=progress)
    assert (most, seen) == (7, list(range(50)))
    assert progress.endings == {"completed": 50}


async def test_a_drain_takes_no_new_job() -> None:
    progress = Progress()

    async def play(job: int) -> Ending | None:
        if job == 4:
            progress.drain()
        try:
            progress.before_act()
        except RunStopped:
            return None
        return Ending("completed")

    await run_batch(numbers(50), play, concurrency=1, progress=progress)
    assert (progress.closed, progress.left_open) == (4, 1)


async def test_what_concerns_the_run_comes_out_as_itself() -> None:
    async def play(job: int) -> Ending:
        if job == 3:
            raise StoreError("disk full")
        await anyio.sleep(10)
        return Ending("completed")

    with pytest.raises(StoreError, match="disk full"):
        await run_batch(numbers(50), play, concurrency=4, progress=Progress())


async def test_the_first_signal_drains_the_second_stops() -> None:
    progress = Progress()

    async def interrupted() -> None:
        async with interruptible(progress):
            await anyio.sleep(0.01)
            signal.raise_signal(signal.SIGTERM)
            await anyio.sleep(0.05)
            assert progress.draining
            signal.raise_signal(signal.SIGTERM)
            await anyio.sleep(5)

    with pytest.raises(Stopped):
        await interrupted()


def test_calls_without_a_price_are_counted_as_such() -> None:
    progress = Progress()
    progress.after_call("a", Usage(prompt=3, completion=4, cost=0.5))
    progress.after_call("a", Usage(prompt=1))
    progress.after_call("a", None)
    assert (progress.calls, progress.failed_calls, progress.tokens, progress.unpriced, progress.cost) == (
        3,
        1,
        8,
        1,
        0.5,
    )
