"""What only a file can do: be of an earlier version, be opened by several at once, be read while it is written."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
from timed import planned, rows

from wardround.engine.budget import Spending
from wardround.engine.records import Ending, EpisodeRow
from wardround.engine.stores.sql_store import Step
from wardround.engine.stores.sqlite import AnswerKeys, SqliteStore
from wardround.engine.stores.sqlite_file import STEPS


async def test_two_processes_may_have_the_file_open(tmp_path: Path) -> None:
    one, two = SqliteStore(tmp_path / "a.db"), SqliteStore(tmp_path / "a.db")
    await one.create_run("r", {})
    assert [run.name for run in await two.runs()] == ["r"]
    await one.aclose()
    await two.aclose()


async def test_after_a_clean_stop_the_one_file_holds_everything(tmp_path: Path) -> None:
    path, copy = tmp_path / "a.db", tmp_path / "copy.db"
    other = SqliteStore(path)  # another process that only looks: SQLite would leave the log as it is
    await other.runs()
    store = SqliteStore(path)
    await store.create_run("r", {"told": 1}, planned("e"))
    await store.append("r", "e", rows(0, 3), ending=Ending("completed"))
    await store.aclose()
    copy.write_bytes(path.read_bytes())
    await other.aclose()
    copied = SqliteStore(copy)
    assert [row.header for row in await copied.runs()] == [{"told": 1}]
    assert len([row async for row in copied.read("r", "e")]) == 3
    await copied.aclose()


async def test_long_lists_are_paged(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db")
    await store.create_run("r", {}, [EpisodeRow(f"e{n}", n, "c", 1, None, "", 0, 0.0) for n in range(1203)])
    assert [row.number async for row in store.episodes("r")] == list(range(1203))
    await store.aclose()


async def test_a_file_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as connection:
        connection.executescript(f"{STEPS[0]} PRAGMA user_version = 1;")
        connection.execute("INSERT INTO runs (name, created, header) VALUES ('r', 1.0, '{}')")
        for number, (name, cause, events) in enumerate([("a", "completed", 2), ("b", None, 1), ("c", None, 0)]):
            connection.execute(
                "INSERT INTO episodes (run, number, name, case_id, repeat, cause, events, at)"
                " VALUES (1, ?, ?, 'case', 1, ?, ?, 0)",
                (number, name, cause, events),
            )
            for row in rows(0, events):
                values = (number + 1, row.seq, row.hash, row.body)
                connection.execute("INSERT INTO events VALUES (?, ?, ?, ?)", values)
    connection.close()
    store = SqliteStore(path)
    session = await store.begin("r", host="h", pid=1)
    assert [(row.id, row.events) for row in await session.take(5)] == [("b", 1), ("c", 0)]
    await session.append("b", rows(1, 1), ending=Ending("completed"), spent={"x": Spending(calls=1)})
    assert [row.seq async for row in store.read("r", "a")] == [0, 1]
    assert await store.endings("r") == {"completed": 2, "open": 1}
    await store.aclose()


async def test_several_open_a_new_file_at_once(tmp_path: Path) -> None:
    opened: list[SqliteStore] = []

    async def open_one() -> None:
        opened.append(await anyio.to_thread.run_sync(SqliteStore, tmp_path / "new.db"))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(open_one)
    await opened[0].create_run("r", {})
    for store in opened:
        assert [run.name for run in await store.runs()] == ["r"]
        await store.aclose()


async def test_a_sign_of_life_does_not_wait_for_those_who_read(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db", timeout=0.5)
    await store.create_run("r", {}, planned(*(f"e{number}" for number in range(2000))))
    session = await store.begin("r", host="h", pid=1)
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM episodes").fetchall()  # a reader in the middle of its work
    listing = store.episodes("r")
    await anext(listing)
    await session.beat({"n": 1})
    assert (await store.sessions("r"))[0].status == {"n": 1}
    other.close()
    await store.aclose()


async def test_texts_may_be_kept_by_many_at_once(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db")

    async def keep(number: int) -> None:
        for turn in range(20):
            [digest] = await store.put([f"text {number} {turn}".encode()])
            assert await store.get(digest) == f"text {number} {turn}".encode()

    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(keep, number)
    await store.aclose()


async def test_closing_waits_for_looks_into_the_call_cache(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db")
    for key in "abc":
        await store.keep(key, key.encode())
    found: dict[str, bytes | None] = {}

    async def recall(key: str) -> None:
        found[key] = await store.recall(key)

    async with anyio.create_task_group() as group:
        for key in "abc":  # the first is being looked up, the others wait for the next look
            group.start_soon(recall, key)
            await anyio.lowlevel.checkpoint()
        await store.aclose()
    assert found == {"a": b"a", "b": b"b", "c": b"c"}


class Counting(SqliteStore):
    """Counts the queries for answers."""

    looks = 0

    async def rows(self, query: str, *values: object) -> Sequence[Any]:
        self.looks += "FROM calls" in query
        return await super().rows(query, *values)


async def test_a_key_that_nobody_kept_is_looked_up_without_a_query(tmp_path: Path) -> None:
    store = Counting(tmp_path / "a.db")
    await store.keep("old", b"1")
    assert await store.recall("new") is None
    assert store.looks == 1  # the keys are read at the next commit
    await store.keep("more", b"2")
    assert [await store.recall(key) for key in ("new", "newer")] == [None, None]
    assert store.looks == 1
    assert [await store.recall(key) for key in ("old", "more")] == [b"1", b"2"]
    await store.aclose()


async def test_answers_of_another_process_are_found_after_the_next_commit(tmp_path: Path) -> None:
    store, other = Counting(tmp_path / "a.db"), SqliteStore(tmp_path / "a.db")
    assert await store.recall("k") is None
    await store.keep("mine", b"1")
    await other.keep("k", b"theirs")
    await store.keep("again", b"2")
    assert await store.recall("k") == b"theirs"
    await other.aclose()
    await store.aclose()


async def test_a_look_long_after_the_last_commit_asks_the_file(tmp_path: Path) -> None:
    store, other = Counting(tmp_path / "a.db"), SqliteStore(tmp_path / "a.db")
    assert await store.recall("k") is None
    await store.keep("mine", b"1")
    await other.keep("k", b"theirs")
    await anyio.sleep(AnswerKeys.FRESH + 0.05)
    assert await store.recall("k") == b"theirs"
    await other.aclose()
    await store.aclose()


def test_more_answers_than_the_table_of_keys_is_for_are_looked_up(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "a.db")
    connection.execute("CREATE TABLE calls (key TEXT PRIMARY KEY, body BLOB NOT NULL)")
    keys = AnswerKeys(largest=1)
    assert not keys.surely_without("a")  # nothing was read yet
    for number, lacking in enumerate([True, True, False]):
        keys.read(connection)
        assert keys.surely_without("new") is lacking
        connection.execute("INSERT INTO calls VALUES (?, ?)", (str(number), b""))
        connection.commit()
        sqlite3.connect(tmp_path / "a.db").execute("PRAGMA user_version = " + str(number)).connection.commit()
    connection.close()


class Reading(SqliteStore):
    """Counts the thread hops in which queries are answered."""

    hops = 0

    async def _read(self, steps: Sequence[Step]) -> list[Sequence[Any]]:
        self.hops += 1
        return await super()._read(steps)


async def test_episodes_read_at_once_share_thread_hops(tmp_path: Path) -> None:
    store, names = Reading(tmp_path / "a.db"), [f"e{number}" for number in range(40)]
    await store.create_run("r", {}, planned(*names))
    for place, name in enumerate(names):
        await store.append("r", name, rows(0, 1 + place % 3))
    found: dict[str, int] = {}

    async def read(name: str) -> None:
        found[name] = len([row async for row in store.read("r", name)])

    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(read, name)
    assert found == {name: 1 + place % 3 for place, name in enumerate(names)}
    assert store.hops <= 3
    digests = await store.put([name.encode() for name in names])
    store.hops = 0
    texts = dict.fromkeys(digests, b"")

    async def get(digest: str) -> None:
        texts[digest] = await store.get(digest)

    async with anyio.create_task_group() as group:
        for digest in digests:
            group.start_soon(get, digest)
    assert [text.decode() for text in texts.values()] == names
    assert store.hops <= 3
    await store.aclose()
