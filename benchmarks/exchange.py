"""Measures what an export of 100,000 turns to Parquet costs in CPU, against DuckDB's own write of the same rows."""

import tempfile
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import anyio
import duckdb
import msgspec

from benchmarks.face import Fixed
from benchmarks.figure import Figure, of_runs, table
from wardround.api import play_planned
from wardround.engine.batch import Progress
from wardround.engine.events import Closed, Event, Opened, Row, encode
from wardround.engine.once import together
from wardround.engine.protocols import Store
from wardround.engine.records import EpisodeRow
from wardround.exchange.tables import TABLES, write_turns
from wardround.runs.plan import plan_run
from wardround.runs.seat_settings import SeatSettings
from wardround.runs.settings import RunSettings
from wardround.runs.stored_run import Run, open_store
from wardround.testing.memory_store import MemoryStore

_TOGETHER = 500


def exchange(quick: bool) -> Sequence[Figure]:
    """Compare an export of a run's turns from SQLite with DuckDB, which gets the same rows encoded as the same JSON."""
    turns, rounds = (10_000, 2) if quick else (100_000, 5)
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "bench.db", Path(folder) / "turns.parquet"
        anyio.run(_filled, path, turns)
        pairs = [(anyio.run(_exported, path, out), _bare(out, Path(folder))) for _ in range(rounds)]
    ours, theirs = (median(one[place] for one in pairs) for place in (0, 1))
    note = f"{turns:,} turns; {ours:.2f} s of CPU, DuckDB {theirs:.2f} s"
    return (
        of_runs("Parquet of a run's turns, CPU to DuckDB's write", [a / b for a, b in pairs], at_most=3.0, note=note),
    )


async def _filled(path: Path, turns: int) -> None:
    """Write a store whose run `r` has at least `turns` turns: one played episode under many ids."""
    seats = {"doctor": SeatSettings(spec=f"{Fixed.__module__}:Fixed")}
    store = MemoryStore()
    made = await plan_run(RunSettings(seats=seats, preflight=False, limit=1), store, {"doctor": Fixed})
    run = await play_planned(made, store, Progress())
    [first] = await run.episodes()
    events = await run.events(first)
    count = -(-turns // sum(1 for _ in (await run.trajectory(first)).acted()))
    closed = events[-1]
    assert isinstance(closed, Closed)
    rows = [EpisodeRow(f"e@{number}", number, first.case, number, None, "", 0, 0.0) for number in range(1, count + 1)]
    there = open_store(path)
    header = {**run.json, "cases": {**run.json["cases"], "index": (await there.put([b"[]"]))[0]}}
    await there.create_run("r", header, rows)
    for begin in range(0, count, _TOGETHER):
        await together([partial(_append, there, row, events, closed) for row in rows[begin : begin + _TOGETHER]])
    await there.aclose()


async def _append(store: Store, row: EpisodeRow, events: Sequence[Event], closed: Closed) -> None:
    await store.append("r", row.id, list(_chained(row, events)), ending=closed.ending)


def _chained(row: EpisodeRow, events: Sequence[Event]) -> Iterable[Row]:
    before = b""
    for event in events:
        own = msgspec.structs.replace(event, episode=row.id, repeat=row.repeat) if isinstance(event, Opened) else event
        made = encode(own, before)
        before = made.hash
        yield made


async def _exported(path: Path, out: Path) -> float:
    store = open_store(path)
    began = time.process_time()
    await write_turns(await Run.open(store, "r"), out)
    took = time.process_time() - began
    await store.aclose()
    return took


def _bare(out: Path, folder: Path) -> float:
    """Return the seconds of CPU that DuckDB needs for the same rows, read from memory as lines of JSON."""
    columns = dict(TABLES["turns"])
    with duckdb.connect() as database:
        rows = [dict(zip(columns, row, strict=True)) for row in database.read_parquet(str(out)).fetchall()]
    lines = folder / "lines.json"
    began = time.process_time()
    encoder = msgspec.json.Encoder()
    with lines.open("wb") as file:
        file.write(encoder.encode_lines(rows))
    with duckdb.connect() as database:
        read = database.read_json(str(lines), columns=columns, format="newline_delimited")
        read.write_parquet(str(folder / "bare.parquet"), compression="zstd")
    return time.process_time() - began


if __name__ == "__main__":
    print(table(exchange(False)))
