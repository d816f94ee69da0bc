"""Files that are too new, foreign, damaged, locked, read-only or full: a plain word, nothing lost, usable again."""

import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
import pytest
from examples import first_ones
from timed import planned, rows

from wardround.engine.budget import Spending
from wardround.engine.errors import StoreError
from wardround.engine.events import Row, chain
from wardround.engine.records import Ending
from wardround.engine.stores.sqlite import SqliteStore
from wardround.engine.stores.sqlite_file import STEPS


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    await SqliteStore(path).aclose()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    connection.close()
    with pytest.raises(StoreError, match="written by a newer Wardround"):
        SqliteStore(path)


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program's database"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to have a header of its own" * 20)
    with pytest.raises(StoreError, match=r"notes\.txt cannot be opened as a store"):
        SqliteStore(path)


def test_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        SqliteStore(tmp_path / "nowhere" / "a.db")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="it is a folder"):
        SqliteStore(tmp_path)


async def test_a_file_locked_for_too_long_is_left_and_usable_afterwards(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db", timeout=0.05)
    await store.create_run("r", {}, planned("a"))
    session = await store.begin("r", host="h", pid=1)
    await session.take(1)
    await session.append("a", rows(0, 1))
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for attempt in (
        store.put([b"text"]),
        session.append("a", rows(1, 1), ending=Ending("completed"), spent={"x": Spending(calls=1)}),
        session.beat({}),
        session.take(1),
        store.keep("k", b"v"),
    ):
        with pytest.raises(StoreError, match=r"locked by another program for 0\.05 s.*resume"):
            await attempt
    assert [row.seq async for row in store.read("r", "a")] == [0]  # reading goes on
    other.execute("ROLLBACK")
    other.close()
    assert await store.endings("r") == {"open": 1}
    assert await store.spending() == []
    await session.append("a", rows(1, 1), ending=Ending("completed"))
    assert [row.seq async for row in store.read("r", "a")] == [0, 1]
    await store.aclose()


async def test_a_full_disk_stops_what_comes_and_keeps_what_was(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db")
    await store.create_run("r", {}, planned(*"abcd"))
    connection = store._writing._sqlite  # SQLite's own limit raises what a full disk raises
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 40}")
    session = await store.begin("r", host="h", pid=1)
    await session.take(4)
    acknowledged = dict.fromkeys("abcd", 0)
    refused: list[str] = []

    def event(seq: int) -> Row:
        body = b"x" * 2000
        return Row(seq, chain(b"", body), body)

    async def fill(name: str) -> None:
        try:
            while True:
                await session.append(name, [event(acknowledged[name])], spent={"x": Spending(calls=1)})
                acknowledged[name] += 1
        except StoreError as error:
            refused.append(str(error))

    async with anyio.create_task_group() as group:
        for name in acknowledged:
            group.start_soon(fill, name)
    assert len(refused) == 4
    assert all("the disk is full: make room, then resume" in told for told in refused)
    assert min(acknowledged.values()) > 2
    connection.execute("PRAGMA max_page_count = 100000")
    for name, count in acknowledged.items():
        await session.append(name, [event(count)], ending=Ending("completed"))
    await store.aclose()
    again = SqliteStore(tmp_path / "a.db")
    for name, count in acknowledged.items():
        assert [row.seq async for row in again.read("r", name)] == list(range(count + 1))
    assert [row.spent.calls for row in await again.spending()] == [sum(acknowledged.values())]
    await again.aclose()


# Root may write everything, so it becomes the system's own nobody first, in a process of its own.
_UNDER = """
import anyio, asyncio, os, sys
from wardround.engine.errors import StoreError
from wardround.engine.stores.sqlite import SqliteStore

async def main(path):
    store = SqliteStore(path)
    print([run.name for run in await store.runs()])
    await store.create_run("s", {})

asyncio.run(anyio.to_thread.run_sync(int))  # imported while it may still be read
os.geteuid() or os.seteuid(65534)
try:
    asyncio.run(main(sys.argv[1]))
except StoreError as error:
    print(error)
"""


def told_without_rights(file_mode: int, folder_mode: int, *, log: bytes = b"", version: int = 0) -> str:
    """What is said of a store whose file and folder have these modes; with what in the log beside it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"

        async def make() -> None:
            store = SqliteStore(path)
            await store.create_run("r", {})
            await store.aclose()

        anyio.run(make)
        if log:
            Path(f"{path}-wal").write_bytes(log)
        if version:
            with sqlite3.connect(path) as connection:
                connection.execute(f"PRAGMA user_version = {version}")
            connection.close()
        path.chmod(file_mode)
        Path(folder).chmod(folder_mode)
        done = subprocess.run([sys.executable, "-c", _UNDER, path], capture_output=True, text=True, check=True)
        Path(folder).chmod(0o755)
        return done.stdout


def test_a_read_only_file_can_be_read_and_says_so_when_written() -> None:
    told = told_without_rights(0o444, 0o777)
    assert "['r']" in told
    assert "a.db: it is read-only: allow writing" in told


@pytest.mark.parametrize("file_mode", first_ones([0o444, 0o644], 1))
def test_a_store_in_a_read_only_folder_can_be_read_and_says_so_when_written(file_mode: int) -> None:
    told = told_without_rights(file_mode, 0o555)
    assert "['r']" in told
    assert "a.db: it is read-only: allow writing to the file and its folder" in told


@pytest.mark.long
def test_one_with_a_log_beside_it_that_cannot_be_read_says_so() -> None:
    """What stands in the log alone would be missing, and nobody would see it."""
    told = told_without_rights(0o644, 0o555, log=b"something")
    assert "what was written last stands in a.db-wal beside it: copy both" in told


def test_one_of_an_older_version_says_so() -> None:
    told = told_without_rights(0o644, 0o555, version=1)
    assert "was written by an older Wardround (schema 1)" in told


async def test_a_damaged_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    store = SqliteStore(path)
    await store.create_run("r", {}, planned(*(f"e{number}" for number in range(3000))))
    await store.aclose()
    whole = path.read_bytes()
    path.write_bytes(whole[: 4096 * 24] + b"\xff" * (len(whole) - 4096 * 24))
    damaged = SqliteStore(path)
    with pytest.raises(StoreError, match=r"damaged.*put back a copy"):
        assert [row.id async for row in damaged.episodes("r")] == []
    await damaged.aclose()
    path.write_bytes(whole)
    mended = SqliteStore(path)
    assert await mended.endings("r") == {"open": 3000}
    await mended.aclose()
