"""What `make run` does: every scenario over the bundled cases with doctors that need no key, scored and reported."""

import sys
from pathlib import Path

import anyio
from rich.console import Console

from wardround.api import run
from wardround.engine.logs import configure
from wardround.engine.plugins import names
from wardround.engine.stores.sqlite import SqliteStore
from wardround.evaluators.report import page
from wardround.evaluators.rows import RunScores
from wardround.evaluators.summary import summarise
from wardround.evaluators.table import score_table
from wardround.results import SCENARIOS
from wardround.scoring import evaluator_of, score_run

DOCTORS = ("baseline", "gold", "silent")


async def demo(path: Path) -> list[RunScores]:
    """Play, score, print the tables; returns the scores of the runs that are worth a plot."""
    store, console = SqliteStore(path), Console()
    shown: list[RunScores] = []
    try:
        for scenario in names(SCENARIOS):
            for doctor in DOCTORS:
                played = await run(
                    "bundled", scenario, seats={"doctor": doctor}, store=store, name=f"{scenario}-{doctor}"
                )
                scores = await score_run(played, [evaluator_of("standard")])
                console.print(score_table(scores.name, summarise(scores.episodes)))
                if doctor == "baseline":
                    shown.append(scores)
    finally:
        await store.aclose()
    return shown


def main() -> None:
    """`python -m wardround.demo FOLDER`."""
    configure("error")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    folder.mkdir(parents=True, exist_ok=True)
    path, report = folder / "demo.db", folder / "report.html"
    for old in (path, folder / "demo.db-wal", folder / "demo.db-shm"):
        old.unlink(missing_ok=True)
    report.write_text(page(anyio.run(demo, path)), encoding="utf-8")
    print(f"runs:   {path}  (.venv/bin/wardround runs --store {path})")
    print(f"report: {report.resolve()}")


if __name__ == "__main__":
    main()
