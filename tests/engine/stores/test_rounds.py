"""Rounds in the event loop, and the group commit made of them: errors are of their round, nobody waits for ever."""

import asyncio
from collections.abc import Sequence

import anyio
import pytest
from instant import instantly

from wardround.engine.errors import StoreError
from wardround.engine.events import Row
from wardround.engine.stores.writes import Append, Failures, Gatherer, Rounds, Write


def event(number: int) -> Append:
    return Append("r", "e", [Row(number, b"", b"{}")])


async def test_a_failure_of_one_is_its_own_and_that_of_a_round_is_everybodys() -> None:
    async def work(questions: Sequence[int]) -> Sequence[int | StoreError]:
        if 13 in questions:
            raise StoreError("gone")
        return [StoreError(str(one)) if one % 2 else one * one for one in questions]

    rounds: Rounds[int, int] = Rounds(work, largest=4)
    found: dict[int, int | str] = {}

    async def ask(one: int) -> None:
        try:
            found[one] = await rounds.ask(one)
        except StoreError as error:
            found[one] = str(error)

    async with anyio.create_task_group() as group:
        for one in (1, 2, 3, 4, 12, 13):
            group.start_soon(ask, one)
    assert found == {1: "1", 2: 4, 3: "3", 4: 16, 12: "gone", 13: "gone"}


@pytest.mark.parametrize("kind", ["write", "recall"])
async def test_closing_waits_for_the_round_under_way(kind: str) -> None:
    done: list[str] = []

    async def commit(writes: Sequence[Write]) -> Failures:
        await anyio.sleep(0.03)
        done.append("write")
        return {}

    async def read(keys: Sequence[str]) -> Sequence[bytes | None]:
        await anyio.sleep(0.03)
        done.append("recall")
        return [None] * len(keys)

    writer, recalls = Gatherer(commit), Rounds[str, bytes | None](read, 9)
    async with anyio.create_task_group() as group:
        if kind == "write":
            group.start_soon(writer.write, event(1))
        else:
            group.start_soon(recalls.ask, "k")
        await anyio.sleep(0.015)
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await writer.aclose()
            await recalls.aclose()
            assert done == [kind]


def test_where_the_loop_ends_nobody_is_left_waiting() -> None:
    async def never(questions: Sequence[int]) -> Sequence[int]:
        await anyio.sleep_forever()
        return questions

    rounds: Rounds[int, int] = Rounds(never, largest=1)
    told: list[str] = []

    async def ask() -> None:
        try:
            await rounds.ask(1)
        except StoreError as error:
            told.append(str(error))

    async def main() -> None:
        asking = [asyncio.create_task(ask()) for _ in range(2)]
        await asyncio.sleep(0.01)
        [task] = [task for task in asyncio.all_tasks() if task.get_name() == "wardround-store"]
        task.cancel()
        await asyncio.wait(asking)

    asyncio.run(main())
    assert told == ["the store was left in the middle of its work"] * 2


async def test_those_who_write_at_once_share_their_groups() -> None:
    groups: list[int] = []
    rounds = _noting(groups, pause=0.01)

    async def write() -> None:
        for one in range(20):
            await rounds.ask(one)

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(write)
    assert groups == [8] * 20


def test_a_lone_writer_does_not_wait_for_others_to_join() -> None:
    """It waits three times and sees that nobody comes; waiting each time would take ten seconds of the loop's clock."""
    groups: list[int] = []
    rounds = _noting(groups, pause=0.1)

    async def write() -> float:
        began = asyncio.get_running_loop().time()
        for one in range(100):
            await rounds.ask(one)
        return asyncio.get_running_loop().time() - began

    assert instantly(write()) == pytest.approx(0.3)
    assert groups == [1] * 100


def _noting(groups: list[int], pause: float) -> Rounds[int, int]:
    async def commit(writes: Sequence[int]) -> Sequence[int]:
        groups.append(len(writes))
        return writes

    return Rounds(commit, largest=100, pause=pause)
