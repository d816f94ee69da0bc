"""What `make run` does: every scenario over the bundled cases with doctors that need no key, scored and reported."""

import sys
from pathlib import Path

import anyio
from rich.console import Console

from wardround.engine.logs import configure
from wardround.engine.plugins import names
from wardround.engine.stores.sqlite import SqliteStore
from wardround.evaluators.report import page
from wardround.evaluators.rows import RunScores
from wardround.evaluators.summary import summarise
from wardround.evaluators.table import score_table
from wardround.results import SCENARIOS
from wardround.api import run
from wardround.scoring import evaluator_of, score_run

DOCTORS = ("baseline", "gold", "silent")


async def demo(folder: Path) -> Path:
    """Play, score, print the tables; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "demo.db"
    for old in (path, folder / "demo.db-wal", folder / "demo.db-shm"):
        old.unlink(missing_ok=True)
    store, console = SqliteStore(path), Console()
    shown: list[RunScores] = []
    try:
        for scenario in names(SCENARIOS):
            for doctor in DOCTORS:
                played = await run("bundled", scenario, seats={"doctor": doctor}, store=store, name=f"{scenario}-{doctor}")
                scores = await score_run(played, [evaluator_of("standard")])
                console.print(score_table(scores.name, summarise(scores.episodes)))
                if doctor == "baseline":
                    shown.append(scores)
    finally:
        await store.aclose()
    report = folder / "report.html"
    report.write_text(page(shown), encoding="utf-8")
    console.print(f"runs: {path}   (wardround runs --store {path})")
    return report


def main() -> None:
    """`python -m wardround.demo FOLDER`."""
    configure("error")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    print(f"report: {anyio.run(demo, folder).resolve()}")


if __name__ == "__main__":
    main()
