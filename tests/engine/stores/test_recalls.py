"""Looks into the call cache for many at once."""

from collections.abc import Sequence

import anyio
import pytest

from wardround.engine.errors import StoreError
from wardround.engine.stores.writes import LARGEST_RECALL, Rounds


class Shelf:
    def __init__(self, error: Exception | None = None) -> None:
        self.looks: list[list[str]] = []
        self.error = error
        self.go = anyio.Event()
        self.go.set()

    async def read(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        self.looks.append(list(keys))
        await self.go.wait()
        if self.error:
            raise self.error
        return [None if key.startswith("no") else key.encode() for key in keys]


async def test_what_comes_in_during_a_look_is_looked_up_together() -> None:
    shelf = Shelf()
    shelf.go = anyio.Event()
    recalls, found = Rounds[str, bytes | None](shelf.read, LARGEST_RECALL), dict[int, bytes | None]()

    async def ask(place: int, key: str) -> None:
        found[place] = await recalls.ask(key)

    async with anyio.create_task_group() as group:
        group.start_soon(ask, 0, "a")
        await anyio.wait_all_tasks_blocked()
        for place, key in enumerate(["b", "no", "b", "c"], 1):
            group.start_soon(ask, place, key)
        await anyio.wait_all_tasks_blocked()
        shelf.go.set()
    assert shelf.looks == [["a"], ["b", "no", "b", "c"]]
    assert [found[place] for place in range(5)] == [b"a", b"b", None, b"b", b"c"]


@pytest.mark.parametrize("error", [StoreError("full"), StoreError("gone")])
async def test_a_failure_is_told_to_all_and_the_next_look_is_made(error: StoreError) -> None:
    shelf = Shelf(error)
    recalls = Rounds[str, bytes | None](shelf.read, LARGEST_RECALL)
    for _ in range(2):
        with pytest.raises(StoreError, match=str(error)):
            await recalls.ask("a")
    shelf.error = None
    assert await recalls.ask("a") == b"a"
    assert len(shelf.looks) == 3


async def test_one_who_stops_waiting_takes_nothing_from_the_others() -> None:
    shelf = Shelf()
    shelf.go = anyio.Event()
    recalls = Rounds[str, bytes | None](shelf.read, LARGEST_RECALL)
    async with anyio.create_task_group() as group:
        group.start_soon(recalls.ask, "a")
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    shelf.go.set()
    assert await recalls.ask("b") == b"b"
