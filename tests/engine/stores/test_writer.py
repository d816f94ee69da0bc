"""Group commit: order, errors for the whole group, a commit that breaks, and an end that loses nothing."""

import asyncio
import contextlib
from collections.abc import Sequence

import anyio
import pytest

from wardround.engine.errors import LeaseLost, StoreError
from wardround.engine.events import Row
from wardround.engine.stores.writes import Append, Failures, Gatherer, Write


def one_event(number: int) -> Append:
    return Append("r", "e", [Row(number, b"", b"{}")])


def numbers(writes: Sequence[Write]) -> list[int]:
    return [work.rows[0].seq for work in writes if isinstance(work, Append)]


async def test_what_arrives_together_is_one_commit_in_its_order() -> None:
    groups: list[list[int]] = []
    all_given = anyio.Event()

    async def commit(writes: Sequence[Write]) -> Failures:
        groups.append(numbers(writes))
        await all_given.wait()
        return {}

    writer = Gatherer(commit)
    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(writer.write, one_event(number))
        await anyio.wait_all_tasks_blocked()
        all_given.set()
    await writer.aclose()
    assert [number for one in groups for number in one] == list(range(100))
    assert len(groups) <= 2, "what came before the first commit, and all that came during it"


async def test_an_error_is_everybodys_and_the_next_group_goes_on() -> None:
    fail = True

    async def commit(writes: Sequence[Write]) -> Failures:
        if fail:
            raise StoreError("disk full")
        return {}

    writer = Gatherer(commit)
    failed = 0

    async def one(number: int) -> None:
        nonlocal failed
        try:
            await writer.write(one_event(number))
        except StoreError:
            failed += 1

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(one, number)
    assert failed == 10
    fail = False
    await one(11)
    assert failed == 10
    await writer.aclose()


@pytest.mark.parametrize("broken", [RuntimeError("odd"), MemoryError(), SystemExit(1), OSError("gone")])
async def test_what_came_in_during_a_commit_that_broke_is_written_all_the_same(broken: BaseException) -> None:
    groups: list[list[int]] = []
    begun, go_on = anyio.Event(), anyio.Event()

    async def commit(writes: Sequence[Write]) -> Failures:
        groups.append(numbers(writes))
        if len(groups) > 1:
            return {}
        begun.set()
        await go_on.wait()
        raise broken

    writer, told = Gatherer(commit), list[StoreError]()

    async def first() -> None:
        try:
            await writer.write(one_event(1))
        except StoreError as error:
            told.append(error)

    async with anyio.create_task_group() as group:
        group.start_soon(first)
        await begun.wait()
        group.start_soon(writer.write, one_event(2))
        group.start_soon(writer.write, one_event(3))
        await anyio.sleep(0.01)
        go_on.set()
    assert groups == [[1], [2, 3]]
    assert [error.__cause__ for error in told] == [broken]
    await writer.write(one_event(4))
    await writer.aclose()


async def test_a_cancelled_append_is_written_all_the_same() -> None:
    written: list[int] = []

    async def commit(writes: Sequence[Write]) -> Failures:
        written.extend(numbers(writes))
        return {}

    writer = Gatherer(commit)
    with anyio.move_on_after(0):
        await writer.write(one_event(7))
    assert written == [7]
    await writer.aclose()


async def test_at_whatever_moment_it_is_cancelled_it_is_written_and_nobody_waits_for_ever() -> None:
    written: list[int] = []

    async def commit(writes: Sequence[Write]) -> Failures:
        written.extend(numbers(writes))
        return {}

    writer, loop = Gatherer(commit), asyncio.get_running_loop()

    async def one(number: int) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await writer.write(one_event(number))

    with anyio.fail_after(200):
        for turn in range(20):  # some are cancelled before the group is told, some in the same turn of the loop
            tasks = [asyncio.create_task(one(turn * 50 + number)) for number in range(50)]
            for number, task in enumerate(tasks):
                loop.call_later(number * 0.0001, task.cancel)
            await asyncio.gather(*tasks)
    assert len(written) == 1000
    await writer.aclose()


async def test_a_failure_of_one_is_its_own() -> None:
    written: list[int] = []

    async def commit(writes: Sequence[Write]) -> Failures:
        written.extend(number for number in numbers(writes) if number % 2)
        return {place: LeaseLost(str(number)) for place, number in enumerate(numbers(writes)) if number % 2 == 0}

    writer = Gatherer(commit)
    lost: list[int] = []

    async def one(number: int) -> None:
        try:
            await writer.write(one_event(number))
        except LeaseLost as error:
            lost.append(int(str(error)))

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(one, number)
    await writer.aclose()
    assert (written, sorted(lost)) == ([1, 3, 5, 7, 9], [0, 2, 4, 6, 8])
