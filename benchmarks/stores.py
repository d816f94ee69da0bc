"""Measures how many events a store keeps in a second, and in how many bytes, against a bare writer of the same rows."""

import importlib
import sqlite3
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio

from benchmarks.database import Absent, database
from benchmarks.figure import Figure
from benchmarks.load import Load, prose
from benchmarks.played import RUN, Jobs, scene
from wardround.engine.batch import Progress
from wardround.engine.budget import Spending
from wardround.engine.events import Called, Row, decode
from wardround.engine.models.scripted import Scripted
from wardround.engine.protocols import Store
from wardround.engine.records import Ending
from wardround.engine.stores.postgres import PostgresStore
from wardround.engine.stores.sqlite import SqliteStore
from wardround.runs.runner import Runner
from wardround.testing.memory_store import MemoryStore

WRITERS = 200
_TABLE = "CREATE TABLE bare (episode INTEGER, seq INTEGER, hash {bytes}, body {bytes}, PRIMARY KEY (episode, seq))"
_SPENT = {"asker": Spending(1, 0, 0, 900, 250, 0.0, 1)}
Written = tuple[float, float]
"""Seconds, and bytes for each episode."""


def stores(quick: bool) -> Sequence[Figure]:
    """Measure SQLite, and PostgreSQL if a server can be started."""
    load = Load(episodes=400 if quick else 2000)
    appends = anyio.run(recorded, load)
    with tempfile.TemporaryDirectory() as folder:
        bare = bare_sqlite(Path(folder) / "bare.db", appends, load.episodes)
        path = Path(folder) / "store.db"
        ours = anyio.run(kept, lambda: SqliteStore(path), appends, load.episodes), path.stat().st_size / load.episodes
    figures = [_figure("SQLite", appends, load, ours, bare)]
    try:
        with database() as url:
            ours, bare = anyio.run(_postgres, url, appends, load.episodes)
        figures.append(_figure("PostgreSQL", appends, load, ours, bare))
    except Absent as absent:
        figures.append(Figure("events kept, PostgreSQL", None, note=str(absent)))
    return figures


def _figure(name: str, appends: Sequence[Sequence[Row]], load: Load, ours: Written, bare: Written) -> Figure:
    events = sum(map(len, appends)) * load.episodes
    note = (
        f"{events / ours[0]:,.0f} events a second (bare {events / bare[0]:,.0f}), "
        f"{ours[1] / 1024:.1f} KB an episode (bare {bare[1] / 1024:.1f}); {WRITERS} at once"
    )
    return Figure(f"events kept, {name}", bare[0] / ours[0], "of a bare writer", note=note)


async def recorded(load: Load) -> list[list[Row]]:
    """Return the appends of one episode: the rows written before each call, and those after the last."""
    store = MemoryStore()
    model = Scripted(lambda messages, purpose: prose(950, seed=1))
    async with scene(Load(episodes=1, calls=load.calls), model, store) as stage:
        await Runner(stage, Progress(), 1).play()
        rows = await stage.run.rows("c@1")
    appends: list[list[Row]] = [[]]
    for event, row in zip(decode(rows), rows, strict=True):
        if isinstance(event, Called):
            appends.append([])
        appends[-1].append(row)
    return appends


async def kept(opened: Callable[[], Store], appends: Sequence[Sequence[Row]], episodes: int) -> float:
    """Return the seconds in which WRITERS at once append the episodes through a session; each awaits its appends."""
    store = opened()
    try:
        await store.create_run(RUN, {}, Jobs("c", episodes))
        session = await store.begin(RUN, host="bench", pid=1)
        left = iter(await session.take(episodes))
        began = time.perf_counter()

        async def write() -> None:
            for row in left:
                for rows in appends:
                    ending = Ending("completed") if rows is appends[-1] else None
                    spent = _SPENT if len(rows) > 1 else None
                    await session.append(row.id, rows, ending=ending, spent=spent)

        async with anyio.create_task_group() as group:
            for _ in range(WRITERS):
                group.start_soon(write)
        took = time.perf_counter() - began
        await session.end()
        return took
    finally:
        await store.aclose()


def bare_sqlite(path: Path, appends: Sequence[Sequence[Row]], episodes: int) -> Written:
    """Write the same rows bare, and as durably: a commit holds one append of WRITERS episodes and nothing else."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", _TABLE.format(bytes="BLOB")):
        connection.execute(statement)
    began = time.perf_counter()
    for group in groups(appends, episodes):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO bare VALUES (?, ?, ?, ?)", group)
        connection.execute("COMMIT")
    took = time.perf_counter() - began
    connection.close()
    return took, path.stat().st_size / episodes


async def _postgres(url: str, appends: Sequence[Sequence[Row]], episodes: int) -> tuple[Written, Written]:
    took = await kept(lambda: PostgresStore(url), appends, episodes)
    connection: Any = await importlib.import_module("asyncpg").connect(url)  # the driver comes with an extra
    try:
        size = (
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'wardround' AND c.relkind = 'r'"
        )
        ours = took, float(await connection.fetchval(size)) / episodes
        await connection.execute(_TABLE.format(bytes="BYTEA"))
        began = time.perf_counter()
        for group in groups(appends, episodes):
            async with connection.transaction():
                await connection.copy_records_to_table("bare", records=group)
        bare = time.perf_counter() - began
        return ours, (bare, float(await connection.fetchval("SELECT pg_total_relation_size('bare')")) / episodes)
    finally:
        await connection.close()


def groups(appends: Sequence[Sequence[Row]], episodes: int) -> list[list[tuple[int, int, bytes, bytes]]]:
    """Return the rows that the bare writers write, a list for each commit."""
    return [
        [(n, row.seq, row.hash, row.body) for n in range(start, min(start + WRITERS, episodes)) for row in rows]
        for start in range(0, episodes, WRITERS)
        for rows in appends
    ]
