"""A store that was half migrated when the process died: nothing is lost, and the next opening finishes the work."""

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from timed import rows

from wardround.engine.errors import StoreError
from wardround.engine.records import Ending
from wardround.engine.stores.sqlite import SqliteStore
from wardround.engine.stores.sqlite_file import STEPS

DYING = """
import os, signal, sqlite3, sys
from wardround.engine.stores.sqlite_file import migrate_file

path, last = sys.argv[1], int(sys.argv[2])
seen = []

def watch(statement):
    seen.append(statement)
    if len(seen) == last:
        os.kill(os.getpid(), signal.SIGKILL)

connection = sqlite3.connect(path, isolation_level=None)
connection.set_trace_callback(watch)
migrate_file(connection, path)
print(len(seen))
"""
"""Migrates a file and is killed as SQLite begins the statement of that number; 0 is none."""


def old_file(path: Path) -> Path:
    """A file of the first version, with a closed episode and an open one."""
    with sqlite3.connect(path) as connection:
        connection.executescript(f"{STEPS[0]} PRAGMA user_version = 1;")
        connection.execute("INSERT INTO runs (name, created, header) VALUES ('r', 1.0, '{}')")
        for number, (name, cause, events) in enumerate([("a", "completed", 2), ("b", None, 1)]):
            connection.execute(
                "INSERT INTO episodes (run, number, name, case_id, repeat, cause, events, at)"
                " VALUES (1, ?, ?, 'case', 1, ?, ?, 0)",
                (number, name, cause, events),
            )
            for row in rows(0, events):
                connection.execute("INSERT INTO events VALUES (?, ?, ?, ?)", (number + 1, row.seq, row.hash, row.body))
    connection.close()
    return path


def dying(path: Path, last: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", DYING, str(path), str(last)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def dumped(path: Path) -> list[str]:
    """The whole file as SQL, and its version."""
    with sqlite3.connect(path) as connection:
        lines = [*connection.iterdump(), str(connection.execute("PRAGMA user_version").fetchone()[0])]
    connection.close()
    return lines


async def test_killed_anywhere_in_the_migration_the_file_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    before = dumped(old_file(tmp_path / "before.db"))
    whole = dying(old_file(tmp_path / "whole.db"), 0)
    after, count = dumped(tmp_path / "whole.db"), int(whole.stdout)
    assert after[-1] == str(len(STEPS))
    for last in (count // 2, count - 1):
        path = old_file(tmp_path / f"killed-{last}.db")
        assert dying(path, last).returncode == -signal.SIGKILL
        assert dumped(path) in (before, after)
        store = SqliteStore(path)
        session = await store.begin("r", host="h", pid=1)
        assert [(row.id, row.events) for row in await session.take(5)] == [("b", 1)]
        await session.append("b", rows(1, 1), ending=Ending("completed"))
        assert [row.seq async for row in store.read("r", "a")] == [0, 1]
        assert await store.endings("r") == {"completed": 2}
        await store.aclose()
        assert dumped(path)[-1] == str(len(STEPS))


@pytest.mark.parametrize("left", ["CREATE TABLE calls (key TEXT)", "ALTER TABLE episodes ADD COLUMN holder INTEGER"])
def test_a_file_with_a_part_of_the_next_version_is_named_and_left_as_it_is(tmp_path: Path, left: str) -> None:
    """As a program leaves it that migrates without a transaction."""
    path = old_file(tmp_path / "half.db")
    with sqlite3.connect(path) as connection:
        connection.execute(left)
    connection.close()
    before = dumped(path)
    with pytest.raises(StoreError, match=r"half\.db"):
        SqliteStore(path)
    assert dumped(path) == before
