"""A run is followed while it is played: each episode is handed out once, and a look costs what is new."""

import os
from collections.abc import Sequence
from typing import Any

import anyio
from counted import Counted
from hasty import hasty

from wardround.engine.batch import Progress
from wardround.engine.records import Ending, EpisodeRow
from wardround.engine.sessions import Session
from wardround.runs.stored_run import StoredEpisodes
from wardround.runs.work_queue import follow_closed, this_machine
from wardround.testing.memory_store import MemoryStore

COUNT = 40


class Taking:
    """A session that keeps the numbers of episodes it was asked to take."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.asked: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def take(self, count: int, among: Sequence[str] = ()) -> Sequence[EpisodeRow]:
        """As the session does."""
        self.asked += [count] if among else []
        return await self._session.take(count, among)


@hasty
async def test_a_look_reads_and_takes_only_what_is_new() -> None:
    store = MemoryStore()
    rows = [EpisodeRow(f"e{number}", number, "c", 1, None, "", 0, 0.0) for number in range(COUNT)]
    await store.create_run("r", {}, rows)
    await store.create_run("r~j", {}, rows)
    player = await store.begin("r", host=this_machine(), pid=os.getpid())
    counted, session = Counted(store), Taking(await store.begin("r~j", host=this_machine(), pid=os.getpid()))

    async def close(numbers: Sequence[int], cause: str) -> None:
        for number in numbers:
            await store.append("r", f"e{number}", [], ending=Ending(cause))

    await close([*range(30), 35], "completed")
    found: list[str] = []
    with anyio.fail_after(200):
        async for row in follow_closed(StoredEpisodes(counted, "r"), session, Progress(), 32):
            found.append(row.id)
            await store.append("r~j", row.id, [], ending=Ending("completed"))
            if len(found) == 31:
                assert found == [f"e{number}" for number in (*range(30), 35)]
                await close([30, 31], "provider")
            elif len(found) == 33:
                assert found[31:] == ["e30", "e31"]
                await close([32, 33, 34, *range(36, COUNT)], "completed")
                await player.end()
    assert sorted(found) == sorted(row.id for row in rows)
    assert session.asked == [8, 8, 8, 7, 2, 7]
    # in three looks: the first open one and 31, the next and 3 (one of them known), and 8 (the same one known)
    assert counted.calls["listed"] == (1 + 31) + (1 + 3) + 8
