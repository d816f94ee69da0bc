"""Workers over an iterator: so many at once, in order, stopped by a drain, broken by what concerns the run."""

import signal
from collections.abc import AsyncIterator

import anyio
import anyio.lowlevel
import pytest
from until import until

from wardround.engine.batch import FIRST_WORKERS, GROUPS, PAUSE, Progress, interruptible, run_batch
from wardround.engine.budget import Spending, spending_of
from wardround.engine.errors import RunStopped, Stopped, StoreError
from wardround.engine.records import Completion, Ending, Usage
from wardround.engine.sessions import RunControl


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
    progress, left_open = Progress(), list[int]()

    async def play(job: int) -> Ending | None:
        if job == 4:
            progress.drain()
        try:
            await progress.before_act()
        except RunStopped:
            left_open.append(job)
            return None
        return Ending("completed")

    await run_batch(numbers(50), play, concurrency=1, progress=progress)
    assert (progress.closed, left_open) == (4, [4])


def test_who_listened_while_a_block_ran_hears_no_drain_after_it() -> None:
    progress, told, early = Progress(), list[str](), list[str]()
    with progress.when_draining(told.append):
        with progress.when_draining(early.append):
            pass
        progress.drain("enough")
    assert (told, early) == (["enough"], [])
    with progress.when_draining(early.append):
        assert early == ["enough"]


async def test_what_concerns_the_run_comes_out_as_itself() -> None:
    async def play(job: int) -> Ending:
        if job == 3:
            raise StoreError("disk full")
        await anyio.sleep_forever()
        return Ending("completed")

    with pytest.raises(StoreError, match="disk full"):
        await run_batch(numbers(50), play, concurrency=4, progress=Progress())


async def test_the_first_signal_drains_the_second_stops() -> None:
    progress = Progress()

    async def interrupted() -> None:
        async with interruptible(progress):
            await anyio.wait_all_tasks_blocked()
            signal.raise_signal(signal.SIGTERM)
            await until(lambda: progress.draining)
            signal.raise_signal(signal.SIGTERM)
            await anyio.sleep_forever()

    with pytest.raises(Stopped):
        await interrupted()


def test_calls_without_a_price_are_counted_as_such() -> None:
    progress = Progress()
    for reply in (Completion("", usage=Usage(prompt=3, completion=4, cost=0.5)), Completion("", usage=Usage(1)), None):
        progress.after_call("a", spending_of(reply), progress.account.set_aside("a"))
    progress.after_call("a", None, progress.account.set_aside("a"))
    assert progress.spent == Spending(calls=3, failed=1, prompt=4, completion=4, cost=0.5, unpriced=1)


async def test_many_workers_begin_one_group_after_another() -> None:
    began: list[float] = []
    all_there = anyio.Event()

    async def play(job: int) -> Ending:
        began.append(anyio.current_time())
        if len(began) == 100:
            all_there.set()
        await all_there.wait()
        return Ending("completed")

    progress = Progress()
    await run_batch(numbers(100), play, concurrency=100, progress=progress)
    groups = -(-(100 - FIRST_WORKERS) // (1 + 100 // GROUPS))
    assert progress.endings == {"completed": 100}
    assert began[-1] - began[0] >= (groups - 1) * PAUSE


async def test_the_number_at_once_can_be_changed_while_they_run() -> None:
    progress = Progress()
    running: list[int] = []

    async def play(job: int) -> Ending:
        if job == 20:
            progress.obey(RunControl(concurrency=9))
        if job == 60:
            progress.obey(RunControl(concurrency=2))
        running.append(progress.running)
        await anyio.sleep(0.001)
        return Ending("completed")

    await run_batch(numbers(120), play, concurrency=3, progress=progress)
    assert progress.endings == {"completed": 120}
    assert max(running[:20]) == 3
    assert max(running[25:60]) == 9
    assert max(running[75:]) <= 2


async def test_a_paused_run_holds_still_and_goes_on() -> None:
    progress = Progress()
    acts: list[int] = []

    async def play(job: int) -> Ending:
        await progress.before_act()
        acts.append(job)
        return Ending("completed")

    async def told() -> None:
        progress.obey(RunControl("pause"))
        await anyio.wait_all_tasks_blocked()
        assert acts == []
        progress.obey(RunControl("run"))

    async with anyio.create_task_group() as group:
        group.start_soon(told)
        await anyio.lowlevel.checkpoint()
        await run_batch(numbers(10), play, concurrency=4, progress=progress)
    assert sorted(acts) == list(range(10))
