"""The scorings of a run on the terminal: which there are, and two of them side by side."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from wardround.cli.options import say_json
from wardround.cli.screen import console, echo
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Store
from wardround.engine.text import counted
from wardround.evaluators.measures import measure_of
from wardround.evaluators.report.agreement import Differing, Pairing, SideBySide, differs, kappa, scorings_page, value
from wardround.evaluators.report.score_rows import RunScores, Scoring
from wardround.paging import keep
from wardround.results import Run
from wardround.scoring import compared

MOST = 40
"""Differing episodes that are listed on the terminal; --all lists every one."""


def scorings_option(command: Any) -> Any:
    """`--scorings`."""
    return click.option(
        "--scorings",
        metavar="A[,B]",
        help="Show this scoring in place of the newest; two are put side by side: agreement, and where they differ.",
    )(command)


def names_in(text: str | None, runs: Sequence[str]) -> list[str]:
    """The names in `--scorings A,B`; raises UsageError for more than two, and with several runs."""
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    if text is not None and not 0 < len(names) < 3:
        raise UsageError("--scorings takes the name of one scoring, or of two with a comma between them")
    if names and len(runs) > 1:
        raise UsageError("--scorings goes with one run: a scoring is of a run")
    return names


async def say_two(
    store: Store, run: str, names: Sequence[str], *, every: bool, as_json: bool, page: Path | None = None
) -> None:
    """Print two scorings of a run side by side, and write a `page` of them."""
    found = await compared(await Run.open(store, run), *names)
    if page:
        keep(page, scorings_page(run, found))
        echo(f"page: {page}", err=True)
    if as_json:
        say_json({"run": run, **msgspec.to_builtins(found)})
        return
    screen = console()
    _print(screen, run, found, every)


def _print(screen: Console, run: str, found: SideBySide, every: bool) -> None:
    screen.print(Text(f"{run}: A = {found.first}, B = {found.second}"))
    verdicts = [one for one in found.scores if one.kind == "verdict"]
    figures = [one for one in found.scores if one.kind == "figure"]
    if verdicts:
        screen.print(_verdicts(verdicts))
    if figures:
        unequal = [one for one in figures if differs(one)]
        if listed := figures if every else unequal:
            screen.print(_figures(listed))
        if len(listed) < len(figures):
            some = counted(len(figures) - len(listed), "other score")
            screen.print(Text(f"{some} without a difference in any episode (--all lists them)"))
    if not found.differing:
        screen.print(Text("They differ in no episode."))
        return
    screen.print(_differing(found.differing if every else found.differing[:MOST]))
    if len(found.differing) > MOST and not every:
        screen.print(Text(f"({len(found.differing) - MOST:,} more: --all)"))


def _table(title: str, *columns: str) -> Table:
    made = Table(title=title, title_justify="left", box=None, pad_edge=False)
    made.add_column(columns[0], overflow="fold")
    for column in columns[1:]:
        made.add_column(column, justify="right")
    return made


def _verdicts(some: Sequence[Pairing]) -> Table:
    columns = ("score", "both", "agree", "kappa", "1 and 1", "1 in A only", "1 in B only", "0 and 0", "in one only")
    made = _table("Scores of 0 and 1", *columns)
    for one in some:
        assert one.table is not None
        (neither, theirs), (ours, twice) = one.table
        counts = (twice, ours, theirs, neither, one.first_only + one.second_only)
        made.add_row(Text(measure_of(one.name).label), str(one.n), str(one.equal), kappa(one), *map(str, counts))
    return made


def _figures(some: Sequence[Pairing]) -> Table:
    made = _table("Other scores", "score", "both", "equal", "mean of B - A", "in one only")
    for one in some:
        difference = "–" if one.difference is None else f"{one.difference:+.3f}"
        made.add_row(
            Text(measure_of(one.name).label),
            str(one.n),
            str(one.equal),
            difference,
            str(one.first_only + one.second_only),
        )
    return made


def _differing(some: Sequence[Differing]) -> Table:
    made = _table("Where they differ", "episode", "score", "A", "B")
    for one in some:
        made.add_row(
            Text(one.episode),
            Text(measure_of(one.score).label),
            Text(value(one.score, one.first, one.first_reason)),
            Text(value(one.score, one.second, one.second_reason)),
        )
    return made


def lines_of(run: RunScores) -> list[str]:
    """What scorings a run has, where there is a choice between some; `*` marks those that the figures are from."""
    evaluators = [one.evaluator for one in run.scorings]
    if len(evaluators) == len(set(evaluators)):
        return []
    lines = [f"Scorings of {run.name} (* gives the figures; --scorings NAME shows another, --scorings A,B two):"]
    return [*lines, *(f" {'*' if one.shown else ' '} {_line(one)}" for one in run.scorings)]


def _line(one: Scoring) -> str:
    words = [one.name, counted(one.episodes, "episode")]
    if one.run:
        words += [f"search {one.search}"] if one.search else []
        words += [f"prompts {one.prompts}", f"asked in {one.run}"]
    else:
        words.append("without judges")
    return ", ".join(words)
