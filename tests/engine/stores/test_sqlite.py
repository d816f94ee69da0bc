"""What only a file can do: be somebody else's, be too new, be read while it is written, be paged."""

import sqlite3
from pathlib import Path

import pytest

from wardround.engine.errors import StoreError
from wardround.engine.rows import EpisodeRow
from wardround.engine.stores.schema import STEPS
from wardround.engine.stores.sqlite import SqliteStore


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
    with pytest.raises(StoreError, match="another program's database"):
        SqliteStore(path)


def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but long enough to have a header of its own" * 20)
    with pytest.raises(StoreError, match=r"notes\.txt cannot be opened as a store"):
        SqliteStore(path)


def test_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        SqliteStore(tmp_path / "nowhere" / "a.db")


async def test_two_processes_may_have_the_file_open(tmp_path: Path) -> None:
    one, two = SqliteStore(tmp_path / "a.db"), SqliteStore(tmp_path / "a.db")
    await one.create_run("r", {})
    assert [run.name for run in await two.runs()] == ["r"]
    await one.aclose()
    await two.aclose()


async def test_long_lists_are_paged(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db")
    await store.create_run("r", {})
    await store.plan("r", [EpisodeRow(f"e{n}", n, "c", 1, None, "", 0, 0.0) for n in range(1203)])
    assert [row.number async for row in store.episodes("r")] == list(range(1203))
    await store.aclose()


async def test_a_locked_file_is_a_store_error(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db", timeout=0.05)
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        await store.put([b"text"])
    other.execute("ROLLBACK")
    other.close()
    await store.put([b"text"])
    await store.aclose()
