"""`wardround report`."""

from pathlib import Path
from typing import Any

import click

from wardround.cli.options import drive, existing_store, json_option, say_json, store_option
from wardround.cli.screen import console
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Store
from wardround.evaluators.compare import compare_runs
from wardround.evaluators.doubts import doubts
from wardround.evaluators.ranking import ranking
from wardround.evaluators.report import all_tables, as_json
from wardround.evaluators.rows import RunScores
from wardround.evaluators.showing.judged import is_judged
from wardround.evaluators.standard import Standard
from wardround.evaluators.summary import summarise
from wardround.evaluators.table import comparison_table, ranking_table, score_table
from wardround.evaluators.tables.extended import extended_tables
from wardround.evaluators.tables.printed import terminal
from wardround.evaluators.tables.records import as_csv
from wardround.judged import evaluations
from wardround.paging import episode_page, keep, write_pages
from wardround.results import Run
from wardround.scoring import score_run, scored


@click.command(short_help="Show a run's figures, or compare runs; write an HTML page.")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a page with plots, and beside it a page for each judged episode.",
)
@click.option("--episode", metavar="ID", help="With --html and one run: only the page of this judged episode.")
@click.option(
    "--tables",
    is_flag=True,
    help="Print the figures side by side too, as the published tables do: all cases, rare ones.",
)
@click.option(
    "--csv",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write those tables, also by body system and disorder.",
)
@click.option(
    "--all", "every", is_flag=True, help="Every score, those by published rules too, not only the headline ones."
)
@store_option
@json_option
def command(runs: tuple[str, ...], **given: Any) -> None:
    """Show the figures of a run; two or more are compared case by case, the first being the yardstick.

    A run that was not scored yet is scored first, without a judge; for judged figures run wardround score before.

    \b
    Example:  wardround report calm-heron-417 --html report.html
              wardround report baseline-run gpt-run
              wardround report calm-heron-417 --html page.html --episode wr-001@1
    """
    drive(lambda: _report(runs, given))


async def load(store: Store, names: tuple[str, ...]) -> list[RunScores]:
    """The runs with their scores, scored now where they were not."""
    loaded = []
    for name in names:
        run = await Run.open(store, name)
        scores = await scored(run)
        judged = any(one.evaluator == Standard.name for one in scores.evaluated)
        if not judged and any(row.cause is not None and not row.scores for row in scores.episodes):
            scores = await score_run(run, [Standard()])
        loaded.append(scores)
    return loaded


async def _report(names: tuple[str, ...], given: dict[str, Any]) -> None:
    if given["episode"] and (len(names) > 1 or not given["html"]):
        raise UsageError("--episode goes with one run and with --html FILE")
    store = existing_store(given["store"])
    try:
        runs = await load(store, names)
        if given["episode"]:
            await _one(store, runs[0], given["episode"], given["html"])
            return
        pages = await write_pages(store, runs, given["html"]) if given["html"] else 0
    finally:
        await store.aclose()
    seed = int(runs[0].header["seed"])
    if given["csv"]:
        keep(given["csv"], as_csv(all_tables(runs, seed)))
    if given["as_json"]:
        say_json(as_json(runs, seed))
        return
    _print(runs, seed, given)
    if given["html"]:
        beside = f", and {pages} of judged episodes" if pages else ""
        click.echo(f"page: {given['html']}{beside}", err=True)


def _print(runs: list[RunScores], seed: int, given: dict[str, Any]) -> None:
    screen = console()
    summaries = {run.name: summarise(run.episodes, seed) for run in runs}
    if len(runs) > 1 and (ranked := ranking(runs, summaries)):
        screen.print(ranking_table(ranked))
    for run in runs:
        summary = summaries[run.name]
        screen.print(score_table(run.name, summary, given["every"], screen.width))
        for doubt in doubts(run, summary):
            screen.print(doubt, markup=False)
    if given["tables"]:
        for table in extended_tables(runs, seed=seed):
            screen.print(terminal(table, screen.width))
    if len(runs) > 1:
        comparison = compare_runs(runs, seed)
        screen.print(comparison_table(comparison, given["every"]))
        for warning in comparison.warnings:
            screen.print(f"warning: {warning}", markup=False)


async def _one(store: Store, scores: RunScores, name: str, path: Path) -> None:
    run = await Run.open(store, scores.name)
    wanted = await run.episode(name)
    row = next(one for one in scores.episodes if one.episode == wanted.id)
    if not is_judged(row):
        raise UsageError(
            f"{wanted.id} was not judged: wardround score {run.name} --evaluators reasoning --judge SPEC --search SPEC"
        )
    keep(path, await episode_page(run, row, await evaluations(store, run.name)))
    click.echo(f"page: {path}", err=True)
