"""`wardround cases build levels`, `wardround cases sheet`: middle-level items, and what people say of them."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import anyio
import click

from wardround.builds import ItemBuild
from wardround.cli.build_run import AGAIN, build_rules, build_run_options, play_build, run_fields
from wardround.cli.options import Options, json_option, output_file, print_json
from wardround.cli.screen import echo
from wardround.cli.workers import check_beside_resume
from wardround.engine.errors import UsageError
from wardround.engine.logs import configure
from wardround.engine.records import Json
from wardround.engine.text import count_noun, file_text
from wardround.evaluators.report.intervals import wilson
from wardround.runs.settings import RunSettings, validate_settings
from wardround.scenarios.level_items.item_writing import CHECKER, WRITER
from wardround.scenarios.level_items.source_question import ItemBuildOptions
from wardround.scenarios.level_items.verification_sheet import SHEET, sheet_results


@click.command(short_help="Make middle-level questions from choice questions, by two models.")
@click.argument("sets", metavar="SET...", type=click.Path(path_type=Path), nargs=-1)
@click.option("--out", required=True, type=output_file, metavar="FILE", help="Where the items go (JSONL).")
@click.option("--model", metavar="SPEC", help="What writes: provider/model | package.module:Class | recorded:RUN")
@click.option("--checker", metavar="SPEC", help="What checks; default: the model that writes.")
@click.option("--base-url", metavar="URL", help="OpenAI-compatible endpoint of the model.")
@click.option("--checker-base-url", metavar="URL", help="Endpoint of the checker; default: that of the model.")
@click.option("--temperature", type=float, help="Sampling of both models; default: the endpoint's.")
@click.option("--max-tokens", type=int, help="Longest reply of the models.")
@click.option("--sample", type=float, metavar="SHARE", help="A share of the questions, spread over their diseases.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N questions that pass the rules.")
@click.option(
    "--on-bad-row", type=click.Choice(["stop", "skip"]), help="What to do at a row that cannot be read; default: skip."
)
@click.option(
    "--sheet",
    type=click.IntRange(min=0),
    default=SHEET,
    show_default=True,
    metavar="N",
    help="Texts on the sheet for people.",
)
@click.option("--with-low", is_flag=True, help="Also write the choice questions, as the low level of the same set.")
@build_run_options("questions", "DIR/writer/*.md and DIR/checker/*.md replace the built-in ones")
def levels(**options: Any) -> int:
    """Make middle-level questions from choice questions: SET is a file of any question format.

    A model writes two statements and a new wrong option for each question; rules and a second model check them. Of each
    question come up to six items: two statements, two rectifications, two on the existence of an answer. The run is
    stored like any other. Prints what was left out and why, and writes it to FILE.flow.json; FILE.sheet.csv has texts
    for people to verify.

    \b
    Examples: wardround cases build levels medqa.jsonl --model openai/gpt-4o --checker openai/o3-mini --out middle.jsonl
              wardround cases build levels medqa.jsonl --sample 0.1 --model openai/gpt-4o --out tenth.jsonl
              wardround cases build levels --resume calm-heron-417 --out middle.jsonl
    \b
    Exit code: 0 done; 3 some questions ended otherwise; 2 nothing was run or made; 130 interrupted, resumable.
    """
    configure(options["log_level"])
    if options["resumed"]:
        check_beside_resume((*AGAIN, "sheet", "with_low"), "build")
        settings = None
    else:
        settings = _settings(options)
    build = ItemBuild(options["out"], options["sheet"], options["with_low"])
    words = ("levels", "question", "{out}, {out}.flow.json, {out}.sheet.csv")
    return anyio.run(lambda: play_build(settings, options, build, words))


def _settings(options: Options) -> RunSettings:
    rules = {name: options[name] for name in ("sample", "limit", "on_bad_row", "seed")}
    missing = "name the question sets, or go on with --resume RUN"
    first, written = build_rules(options, "sets", missing, rules, ItemBuildOptions, "cases build levels")
    shared = {"temperature": options["temperature"], "max_tokens": options["max_tokens"]}
    shared["cache"] = options["cache"] or None
    own_endpoint = options["checker_base_url"] or (options["base_url"] if _same_provider(options) else None)
    seats = {
        WRITER: {"spec": options["model"], "base_url": options["base_url"], **shared},
        CHECKER: {"spec": options["checker"] or options["model"], "base_url": own_endpoint, **shared},
    }
    fields: dict[str, Json] = {
        "cases": first,
        "scenario": "level-items",
        "set": written,
        "seats": {
            seat: {key: value for key, value in some.items() if value is not None} for seat, some in seats.items()
        },
        **run_fields(options),
    }
    return validate_settings(fields, "cases build levels")


def _same_provider(options: Options) -> bool:
    checker = options["checker"]
    return not checker or checker.partition("/")[0] == options["model"].partition("/")[0]


@click.command(short_help="Count what people marked on the sheet of a build.")
@click.argument("path", metavar="SHEET", type=click.Path(path_type=Path))
@json_option
def sheet(path: Path, as_json: bool) -> int:
    """Count the errors that people found on the sheet of a build (column `correct`: yes or no), with intervals.

    \b
    Example:  wardround cases sheet middle.jsonl.sheet.csv
    """
    try:
        results = sheet_results(file_text(path))
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    rows = [(one, wilson(one.errors, one.marked) if one.marked else None) for one in results]
    if as_json:
        print_json({"rows": [{**asdict(one), "errors": one.errors, "ci95": ends} for one, ends in rows]})
        return 0
    for one, ends in rows:
        line = f"{one.piece.replace('_', ' ')}: {one.marked} of {one.texts} marked"
        if ends is not None:
            span = f"{one.errors / one.marked:.3f} (95% {ends[0]:.3f} to {ends[1]:.3f})"
            line += f", {count_noun(one.errors, 'error')}: {span}"
        echo(line)
    return 0
