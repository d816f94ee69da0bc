"""`wardround report`."""

from pathlib import Path
from typing import Any

import click

from wardround.cli.options import drive, existing_store, json_option, say_json, store_option
from wardround.cli.screen import console
from wardround.engine.protocols import Store
from wardround.evaluators.compare import compare_runs
from wardround.evaluators.report import as_json, page
from wardround.evaluators.rows import RunScores
from wardround.evaluators.summary import summarise
from wardround.evaluators.table import comparison_table, score_table
from wardround.results import Run
from wardround.scoring import evaluator_of, score_run, scored


@click.command(short_help="Show a run's figures, or compare runs; write an HTML page.")
@click.argument("runs", nargs=-1, required=True)
@click.option("--html", type=click.Path(path_type=Path), help="Write one self-contained page with plots.")
@click.option("--all", "every", is_flag=True, help="Every score, not only the headline ones.")
@store_option
@json_option
def command(runs: tuple[str, ...], html: Path | None, every: bool, store: str | None, as_json: bool) -> None:
    """Show the figures of a run; two or more are compared case by case, the first being the yardstick.

    A run that was not scored yet is scored first, without a judge.

    \b
    Example:  wardround report calm-heron-417 --html report.html
              wardround report baseline-run gpt-run
    """
    drive(lambda: _report(runs, {"html": html, "every": every, "store": store, "as_json": as_json}))


async def load(store: Store, names: tuple[str, ...]) -> list[RunScores]:
    """The runs with their scores, scored now where they were not."""
    loaded = []
    for name in names:
        run = await Run.open(store, name)
        scores = await scored(run)
        if any(row.cause is not None and not row.scores for row in scores.episodes):
            scores = await score_run(run, [evaluator_of("standard")])
        loaded.append(scores)
    return loaded


async def _report(names: tuple[str, ...], given: dict[str, Any]) -> None:
    store = existing_store(given["store"])
    try:
        runs = await load(store, names)
    finally:
        await store.aclose()
    seed = int(runs[0].header["seed"])
    if given["html"]:
        given["html"].parent.mkdir(parents=True, exist_ok=True)
        given["html"].write_text(page(runs, seed=seed), encoding="utf-8")
    if given["as_json"]:
        say_json(as_json(runs, seed))
        return
    screen = console()
    for run in runs:
        screen.print(score_table(run.name, summarise(run.episodes, seed), given["every"]))
    if len(runs) > 1:
        comparison = compare_runs(runs, seed)
        screen.print(comparison_table(comparison, given["every"]))
        for warning in comparison.warnings:
            screen.print(f"warning: {warning}", markup=False)
    if given["html"]:
        click.echo(f"page: {given['html']}", err=True)
