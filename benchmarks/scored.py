"""Measures what scoring costs against the evaluator's own time; each runs in a new process, whose caches are empty."""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import anyio

import wardround
from benchmarks.clinic import AT_ONCE, DOCTOR, OTHER
from benchmarks.figure import Figure, of_runs
from benchmarks.load import Measured, measuring
from wardround.engine.protocols import Store
from wardround.evaluators.metrics.standard import Standard

ROOT = Path(__file__).resolve().parent.parent


def score(quick: bool) -> Sequence[Figure]:
    """Measure the CPU of `score_run` with the standard metrics over that of the evaluator on episodes in memory."""
    repeats, turns = (5, 2) if quick else (20, 5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        episodes = anyio.run(_played, path, repeats)
        pairs = [(_measured("own", path), _measured("run", path)) for _ in range(turns)]
    ratios = [whole / own for own, whole in pairs]
    own, whole = (median(row[place] for row in pairs) / episodes * 1000 for place in (0, 1))
    note = f"{episodes:,} episodes; {whole:.2f} ms an episode, the evaluator alone {own:.2f} ms"
    return (of_runs("CPU of score_run, of the evaluators' own", ratios, at_most=2.0, note=note),)


async def _played(path: Path, repeats: int) -> int:
    store = wardround.open_store(path)
    await wardround.run("bundled", store=store, name="warm", concurrency=AT_ONCE, preflight=False, doctor=OTHER)
    run = await wardround.run(
        "bundled", store=store, name="r", repeats=repeats, concurrency=AT_ONCE, preflight=False, doctor=DOCTOR
    )
    count = len(await run.episodes())
    await store.aclose()
    return count


def _measured(what: str, path: Path) -> float:
    command = [sys.executable, "-m", "benchmarks.scored", what, str(path)]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return float(json.loads(output.splitlines()[-1])["cpu"])


async def own(path: Path) -> Measured:
    """Read all episodes, then call the evaluator on each."""
    store, evaluator = wardround.open_store(path), Standard()
    await _warmed(store)
    run = await wardround.Run.open(store, "r")
    pairs = [(await run.case(row.case), await run.trajectory(row.id)) for row in await run.episodes()]
    with measuring() as measured:
        for case, trajectory in pairs:
            await evaluator.score(case, trajectory, None)
    await store.aclose()
    return measured


async def whole(path: Path) -> Measured:
    """Score the run as a user would."""
    store = wardround.open_store(path)
    await _warmed(store)
    run = await wardround.Run.open(store, "r")
    with measuring() as measured:
        await wardround.score_run(run)
    await store.aclose()
    return measured


async def _warmed(store: Store) -> None:
    """Score another run first, since a process reads the tables of names once, however long its runs are."""
    await wardround.score_run(await wardround.Run.open(store, "warm"))


def main() -> None:
    """Run the measured process: `python -m benchmarks.scored own|run PATH`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["own", "run"])
    parser.add_argument("path", type=Path)
    options = parser.parse_args()
    measured = anyio.run(own if options.what == "own" else whole, options.path)
    print(json.dumps({"cpu": measured.cpu, "wall": measured.wall}))


if __name__ == "__main__":
    main()
