"""`wardround report`: the figures of a run, or of several compared."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import anyio
import click
import msgspec
from msgspec.structs import replace
from rich.console import Console
from rich.table import Table
from rich.text import Text

from wardround.cli.options import Options, existing_store, json_option, output_file, print_json, store_option
from wardround.cli.screen import console, echo
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Store
from wardround.engine.text import count_noun
from wardround.evaluators.measures import measure_of
from wardround.evaluators.report.agreement import (
    DifferingScore,
    ScorePair,
    SideBySide,
    differs,
    kappa,
    scorings_page,
    value,
)
from wardround.evaluators.report.compare import by_difference
from wardround.evaluators.report.cost_front import cost_table
from wardround.evaluators.report.html import as_json
from wardround.evaluators.report.paper_tables import extended_tables
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import RunScores, Scoring
from wardround.evaluators.report.table_text import as_csv, terminal
from wardround.evaluators.report.terminal import comparison_table, ranking_table, score_table
from wardround.evaluators.report.warnings import doubts
from wardround.report_files import load_scored, one_page, write_file, write_pages
from wardround.runs.settings import header_without_secrets
from wardround.runs.stored_run import Run
from wardround.scoring.score import compare_scorings

MOST = 40
"""Differing episodes that are listed on the terminal; --all lists every one."""


def scoring_names(text: str | None, runs: Sequence[str]) -> list[str]:
    """The names in `--scorings A,B`; raises UsageError for more than two, and with several runs."""
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    if text is not None and not 0 < len(names) < 3:
        raise UsageError("--scorings takes the name of one scoring, or of two with a comma between them")
    if names and len(runs) > 1:
        raise UsageError("--scorings goes with one run: a scoring is of a run")
    return names


async def print_comparison(
    store: Store, run: str, names: Sequence[str], *, every: bool, as_json: bool, page: Path | None = None
) -> None:
    """Print two scorings of a run side by side, and write a `page` of them."""
    comparison = await compare_scorings(await Run.open(store, run), *names)
    if page:
        write_file(page, scorings_page(run, comparison))
        echo(f"page: {page}", err=True)
    if as_json:
        print_json({"run": run, **msgspec.to_builtins(comparison)})
        return
    screen = console()
    _print(screen, run, comparison, every)


def _print(screen: Console, run: str, comparison: SideBySide, every: bool) -> None:
    screen.print(Text(f"{run}: A = {comparison.first}, B = {comparison.second}"))
    verdicts = [one for one in comparison.scores if one.kind == "verdict"]
    figures = [one for one in comparison.scores if one.kind == "figure"]
    if verdicts:
        screen.print(_verdicts(verdicts))
    if figures:
        if listed := figures if every else [one for one in figures if differs(one)]:
            screen.print(_figures(listed))
        if len(listed) < len(figures):
            some = count_noun(len(figures) - len(listed), "other score")
            screen.print(Text(f"{some} without a difference in any episode (--all lists them)"))
    if not comparison.differing:
        screen.print(Text("They differ in no episode."))
        return
    screen.print(_run_differences(comparison.differing if every else comparison.differing[:MOST]))
    if len(comparison.differing) > MOST and not every:
        screen.print(Text(f"({len(comparison.differing) - MOST:,} more: --all)"))


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    made = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for place, column in enumerate(columns):
        made.add_column(column, overflow="fold" if not place else "ellipsis", justify="right" if place else "left")
    for row in rows:
        made.add_row(*(Text(str(cell)) for cell in row))
    return made


def _verdicts(some: Sequence[ScorePair]) -> Table:
    columns = ("score", "both", "agree", "kappa", "1, 1", "1, 0", "0, 1", "0, 0", "one only")
    rows = (
        (
            measure_of(one.name).label,
            one.n,
            one.equal,
            kappa(one),
            twice,
            ours,
            theirs,
            neither,
            one.first_only + one.second_only,
        )
        for one in some
        if one.table is not None
        for (neither, theirs), (ours, twice) in [one.table]
    )
    return _table("Scores of 0 and 1, in A and in B", columns, rows)


def _figures(some: Sequence[ScorePair]) -> Table:
    rows = (
        (
            measure_of(one.name).label,
            one.n,
            one.equal,
            "–" if one.difference is None else f"{one.difference:+z.3f}",
            one.first_only + one.second_only,
        )
        for one in some
    )
    return _table("Other scores", ("score", "both", "equal", "mean of B - A", "one only"), rows)


def _run_differences(some: Sequence[DifferingScore]) -> Table:
    rows = (
        (
            one.episode,
            measure_of(one.score).label,
            value(one.score, one.first, one.first_reason),
            value(one.score, one.second, one.second_reason),
        )
        for one in some
    )
    return _table("Where they differ", ("episode", "score", "A", "B"), rows)


def lines_of(run: RunScores) -> list[str]:
    """Lines that list the scorings of a run if an evaluator has several; `*` marks those that the figures come from."""
    evaluators = [one.evaluator for one in run.scorings]
    if len(evaluators) == len(set(evaluators)):
        return []
    lines = [f"Scorings of {run.name} (* gives the figures; --scorings NAME shows another, --scorings A,B two):"]
    return [*lines, *(f" {'*' if one.shown else ' '} {_line(one)}" for one in run.scorings)]


def _line(one: Scoring) -> str:
    words = [one.name, count_noun(one.episodes, "episode")]
    if one.run:
        words += [f"search {one.search}"] if one.search else []
        words += [f"prompts {one.prompts}", f"asked in {one.run}"]
    else:
        words.append("without judges")
    return ", ".join(words)


_ALONE = ("episode", "tables", "csv")
"""Options that do not go with the comparison of two scorings."""


@click.command(short_help="Show a run's figures, or compare runs; write an HTML page.")
@click.argument("runs", nargs=-1)
@click.option(
    "--html",
    type=output_file,
    metavar="FILE",
    help="Write a page with plots, and beside it a list of all episodes and a page for each, with its dialogue.",
)
@click.option("--episode", metavar="ID", help="With --html and one run: only the page of this episode.")
@click.option(
    "--pages",
    "most",
    type=click.IntRange(min=0),
    metavar="N",
    help="With --html: write pages for the first N episodes only.",
)
@click.option(
    "--tables",
    is_flag=False,
    flag_value="default",
    metavar="[published]",
    help="Also print the tables of MedR-Bench; `published`: by its rules, with its intervals.",
)
@click.option(
    "--csv",
    type=output_file,
    metavar="FILE",
    help="Write every score of every run, and those tables, also by body system and disorder.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Show every score, also those by published rules, not only the headline scores.",
)
@click.option(
    "--scorings",
    metavar="A[,B]",
    help="Show this scoring in place of the newest one, by the name that the report lists, or by that of its evaluator "
    "if it has one; two scorings are compared: agreement, and where they differ.",
)
@store_option
@json_option
def command(runs: tuple[str, ...], **options: Any) -> None:
    """Show the figures of a run; two or more runs are compared case by case, each with the first.

    A run without scores is scored first, without a judge; for judged figures use wardround score before.

    \b
    Example:  wardround report calm-heron-417 --html report.html
              wardround report baseline-run gpt-run
              wardround report calm-heron-417 --html page.html --episode wr-001@1
              wardround report calm-heron-417 --scorings standard@12,standard~openai/gpt-4o
    """
    if options["tables"] not in (None, "default", "published"):  # --tables RUN: its value may be left out
        runs, options["tables"] = (options["tables"], *runs), "default"
    if not runs:
        raise click.UsageError("Missing argument 'RUNS...'.")
    anyio.run(lambda: _report(runs, options))


async def _report(names: tuple[str, ...], options: Options) -> None:
    if options["episode"] and (len(names) > 1 or not options["html"]):
        raise UsageError("--episode goes with one run and with --html FILE")
    scorings = scoring_names(options["scorings"], names)
    if len(scorings) > 1 and (other := [name for name in _ALONE if options[name] is not None]):
        raise UsageError(f"two scorings side by side have no --{other[0]}; --html, --json and --all go with them")
    async with existing_store(options["store"]) as store:
        if len(scorings) > 1:
            shown = {"every": options["every"], "as_json": options["as_json"], "page": options["html"]}
            await print_comparison(store, names[0], scorings, **shown)
            return
        runs = await load_scored(store, names, scorings)
        if options["episode"]:
            await _print_page(store, runs[0], options["episode"], options["html"])
            return
        public = [replace(run, header=header_without_secrets(run.header)) for run in runs]
        figures = ReportFigures(public if options["as_json"] else runs, int(runs[0].header["seed"]))
        pages = await write_pages(store, figures, options["html"], most=options["most"]) if options["html"] else 0
    if options["csv"]:
        write_file(options["csv"], as_csv(figures))
    if options["as_json"]:
        print_json(as_json(figures))
        return
    _print_runs(figures, options)
    if options["html"]:
        beside = f", and {count_noun(pages, 'page')} of episodes beside it" if pages else ""
        echo(f"page: {options['html']}{beside}", err=True)


_NO_TABLES = (
    "No table by these rules: {} has no score by them. A judge gives those of the paper: wardround score {} "
    "--evaluators standard,reasoning-published,assessment-published --judge SPEC."
)


def _print_runs(figures: ReportFigures, options: Options) -> None:
    """Print the ranking, then the pairs of runs, then each run."""
    screen = console()
    runs = figures.runs
    if figures.ranking:
        screen.print(ranking_table(figures.ranking, screen.width))
    if figures.front:
        screen.print(cost_table(figures.front))
    if figures.comparison:
        for warning in by_difference(figures.comparison.warnings):
            screen.print(f"warning: {warning}", markup=False)
        screen.print(comparison_table(figures.comparison, options["every"], screen.width))
    for run in runs:
        summary = figures.summaries[run.name]
        screen.print(score_table(run.name, summary, options["every"], screen.width))
        for doubt in doubts(run, summary):
            screen.print(doubt, markup=False)
        for line in lines_of(run):
            screen.print(line, markup=False)
    if options["tables"]:
        tables = extended_tables(runs, "published" if options["tables"] == "published" else None, figures.seed)
        for table in tables:
            screen.print(terminal(table, screen.width))
        if not tables:
            screen.print(_NO_TABLES.format(", ".join(run.name for run in runs), runs[0].name), markup=False)


async def _print_page(store: Store, scores: RunScores, name: str, path: Path) -> None:
    wanted = await (await Run.open(store, scores.name)).episode(name)
    row = next(one for one in scores.episodes if one.episode == wanted.id)
    write_file(path, await one_page(store, scores, row))
    echo(f"page: {path}", err=True)
