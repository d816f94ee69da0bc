"""`wardround levels`: the low, middle and high level of models side by side."""

from pathlib import Path
from typing import Any

import anyio
import click

from wardround.cli.options import Options, existing_store, json_option, output_file, print_json, store_option
from wardround.cli.screen import console, echo
from wardround.evaluators.levels.clinician_sheet import difficulty_ratings
from wardround.evaluators.levels.level_attacks import Alterations, compare_attacked, leak_of, level_leaks
from wardround.evaluators.levels.level_figures import level_report
from wardround.evaluators.levels.level_page import levels_json, levels_page, levels_tables
from wardround.evaluators.report.model_facts import known_models
from wardround.report_files import load_scored, write_file
from wardround.runs.stored_run import Run
from wardround.scoring.level_rows import level_rows


@click.command(short_help="Put low, middle and high level of models side by side.")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--models",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Facts about your own models (TOML): family, backbone, size, open, medical, thinking.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="RUN",
    help="A run of altered questions (attack, permute, hide_question) to compare with its plain run; may be repeated.",
)
@click.option(
    "--difficulty",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="How hard people found the items: a CSV with run, item, difficulty (1 to 10).",
)
@click.option("--html", type=output_file, metavar="FILE", help="Write a page with plots.")
@store_option
@json_option
def command(runs: tuple[str, ...], **options: Any) -> None:
    """Show what models know, apply and do: normalised accuracy at the low, middle and high level.

    Give all runs of the models: questions of the low and the middle level, encounters for the high one. A run without
    scores is scored first, without a judge. docs/levels.md explains each figure.

    \b
    Example:  wardround levels low-run middle-run workup-run --html levels.html
              wardround levels low-run middle-run --models my-models.toml --json
              wardround levels plain-run --against hinted-run --against hidden-run
    """
    anyio.run(lambda: _levels(runs, options))


async def _levels(names: tuple[str, ...], options: Options) -> None:
    known = known_models(options["models"])
    names, others = (tuple(dict.fromkeys(some)) for some in (names, options["against"]))
    async with existing_store(options["store"]) as store:
        scores = await load_scored(store, (*names, *others))
        runs = [(await Run.open(store, one.name), one) for one in scores]
        plain = len(names)
        ratings = difficulty_ratings(options["difficulty"]) if options["difficulty"] else {}
        rows, notes = await level_rows(runs[:plain], ratings=ratings)
        seed = int(scores[0].header["seed"])
        report = level_report(rows, known, seed)
        how = {one.name: what for run, one in runs if run.of_questions and (what := leak_of(one.header))}
        telling, _ = await level_rows([pair for pair in runs if pair[1].name in how], any_form=True)
        texts = {run.name: await run.index() for run, _ in (runs if others else ())}
        altered = Alterations(
            compare_attacked(scores[:plain], scores[plain:], texts, seed), level_leaks(telling, how, seed)
        )
    if options["html"]:
        write_file(options["html"], levels_page(report, notes, altered))
        echo(f"page: {options['html']}", err=True)
    if options["as_json"]:
        print_json(levels_json(report, notes, altered))
        return
    screen = console()
    for table in levels_tables(report, notes, altered):
        screen.print(table)
