"""Group commit: order, errors for the whole group, a thread that breaks, and an end that loses nothing."""

from collections.abc import Sequence

import anyio
import pytest

from wardround.engine.errors import StoreError
from wardround.engine.events import Row
from wardround.engine.stores.writer import Append, GroupWriter


def rows(number: int) -> list[Row]:
    return [Row(number, b"", b"{}")]


async def test_what_arrives_together_is_one_commit_in_its_order() -> None:
    groups: list[list[int]] = []

    def commit(appends: Sequence[Append]) -> None:
        groups.append([append.rows[0].seq for append in appends])

    writer = GroupWriter(commit)
    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(writer.append, "r", "e", rows(number), None)
    await writer.aclose()
    assert [number for one in groups for number in one] == list(range(100))
    assert len(groups) < 10


async def test_an_error_is_everybodys_and_the_next_group_goes_on() -> None:
    fail = True

    def commit(appends: Sequence[Append]) -> None:
        if fail:
            raise StoreError("disk full")

    writer = GroupWriter(commit)
    failed = 0

    async def one(number: int) -> None:
        nonlocal failed
        try:
            await writer.append("r", "e", rows(number), None)
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


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
async def test_a_writer_that_breaks_leaves_nobody_waiting() -> None:
    def commit(appends: Sequence[Append]) -> None:
        raise MemoryError

    writer = GroupWriter(commit)
    for number in range(2):
        with pytest.raises(StoreError, match="MemoryError"):
            await writer.append("r", "e", rows(number), None)
        await anyio.sleep(0.01)
    await writer.aclose()


async def test_a_cancelled_append_is_written_all_the_same() -> None:
    written: list[int] = []
    writer = GroupWriter(lambda appends: written.extend(append.rows[0].seq for append in appends))
    with anyio.move_on_after(0):
        await writer.append("r", "e", rows(7), None)
    assert written == [7]
    await writer.aclose()
