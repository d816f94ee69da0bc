"""Measures how long the command line takes to look at a run of 100,000 episodes, each time in a fresh process."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import anyio

from benchmarks.figure import Figure, of_runs
from benchmarks.played import Jobs
from wardround.api import run
from wardround.engine.records import Ending
from wardround.engine.stores.sqlite import SqliteStore

LARGE = "large"
VERBS = (("runs",), ("show", LARGE), ("status", LARGE))
_AT_ONCE = 500


def opening(quick: bool) -> Sequence[Figure]:
    """Time each verb a few times, after a first time that writes the bytecode and does not count."""
    episodes, times = (10_000, 2) if quick else (100_000, 5)
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.db"
        anyio.run(made, path, episodes)
        for verb in VERBS:
            seconds = [_timed([*verb, "--store", str(path)], Path(folder)) for _ in range(times + 1)][1:]
            name = f"wardround {' '.join(verb)}, {episodes:,} episodes"
            figures.append(
                of_runs(name, seconds, unit="s", at_most=1.0, note=f"a file of {path.stat().st_size / 1e9:.1f} GB")
            )
    return figures


def _timed(arguments: Sequence[str], folder: Path) -> float:
    # The bytecode goes into a folder of its own: that it is there after the first time must not depend on this machine.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    began = time.perf_counter()
    command = [sys.executable, "-m", "wardround", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - began


async def made(path: Path, episodes: int) -> None:
    """Write a store with a small real run, and a large one that repeats its first episode."""
    store = SqliteStore(path)
    try:
        small = await run("bundled", "workup", doctor="baseline", store=store, name="small", limit=1)
        [model, *_] = await small.episodes()
        rows = await small.rows(model.id)
        await store.create_run(LARGE, small.json, Jobs(model.case, episodes))
        session = await store.begin(LARGE, host="bench", pid=1)
        left = iter(await session.take(episodes))

        async def write() -> None:
            for row in left:
                await session.append(row.id, rows, ending=Ending("completed"))

        async with anyio.create_task_group() as group:
            for _ in range(_AT_ONCE):
                group.start_soon(write)
        await session.end()
    finally:
        await store.aclose()
