"""Runs `wardround.run` on a long list of jobs: plans all of them, plays a few and leaves the rest in the store."""

import tempfile
from pathlib import Path

import anyio

from benchmarks.load import Load, Measured, measuring
from wardround.api import run
from wardround.engine.batch import Progress, run_beside

CASES, PLAYED = 20, 200


async def planned(load: Load, base_url: str) -> Measured:
    """Run `load.episodes` jobs with a doctor that needs no model, and stop after PLAYED of them."""
    del base_url
    progress = Progress()

    async def watch() -> None:
        while progress.closed < PLAYED:  # noqa: ASYNC110 - the engine tells nobody that an episode has closed
            await anyio.sleep(0.01)
        progress.drain("enough was played")

    with tempfile.TemporaryDirectory() as folder, measuring() as measured:
        async with run_beside(watch):
            path = Path(folder) / "bench.db"
            repeats = load.episodes // CASES
            await run("bundled", doctor="silent", limit=CASES, repeats=repeats, store=path, progress=progress)
    return measured
