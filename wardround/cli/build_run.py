"""The options, the settings and the output that all builds by a model share."""

from collections.abc import Callable, Mapping
from contextlib import aclosing
from pathlib import Path

import click
from pydantic import BaseModel

from wardround.builds import AccountT, Built, IntakeT, OptionsT, RunBuild
from wardround.cli.live import live_table
from wardround.cli.options import (
    CommandT,
    Options,
    json_option,
    on_terminal,
    patience_option,
    print_json,
    store_option,
    store_path,
    timeout_option,
    with_options,
)
from wardround.cli.outcome import NOTHING_MADE, open_message, print_forecast, print_nothing_made
from wardround.cli.screen import echo
from wardround.cli.workers import OPTIONS, causes_of, share_of, worker_options, workers_of
from wardround.engine.batch import Progress, interruptible
from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.runs.settings import RunSettings, checked_settings
from wardround.runs.stored_run import open_store

CHANGES = ("concurrency", "budget", "timeout", "patience")
AGAIN = (*CHANGES, *OPTIONS, "resumed", "retry", "store", "out", "as_json", "log_level")
"""Options that go with --resume."""
_RUN = (*CHANGES, "seed", "quotas", "prompts", "prices", "allow_hosts", "name")


def build_run_options(what: str, prompts: str) -> Callable[[CommandT], CommandT]:
    """The options of a build that is a run: of `what` (articles, questions), with its own prompts in `prompts`."""
    return with_options(
        click.option("--seed", type=int, help="Seed of the run."),
        click.option("--concurrency", type=int, help=f"{what.capitalize()} worked on at once; default 32."),
        click.option(
            "--budget", multiple=True, metavar="AMOUNT,...", help="Caps of the whole build: 50usd, 2Mtokens, 3h."
        ),
        click.option(
            "--pilot", type=click.IntRange(min=1), metavar="N", help=f"Do N random {what} first and forecast the rest."
        ),
        click.option("--quota", "quotas", multiple=True, metavar="[ADDRESS ]NAME=N,...", help="Limits of an endpoint."),
        timeout_option,
        patience_option,
        click.option("--cache", is_flag=True, help="Answer repeated calls from the store."),
        click.option("--prompts", metavar="DIR", help=f"A folder of your own prompts: {prompts}."),
        click.option("--prices", metavar="FILE", help="CSV (model,input,output) or TOML: USD per million tokens."),
        click.option(
            "--allow-host",
            "allow_hosts",
            multiple=True,
            metavar="HOST",
            help=f"A host that restricted {what} may be sent to.",
        ),
        click.option("--no-preflight", is_flag=True, help="Skip the one cheap call to each endpoint before the run."),
        worker_options,
        click.option("--name", help="Name of the run; default: made up."),
        click.option("--resume", "resumed", metavar="RUN", help="Resume this build; its settings come from the store."),
        click.option(
            "--retry",
            multiple=True,
            metavar="CAUSES",
            help=f"With --resume: reopen the {what} that ended by these causes, e.g. provider,parser.",
        ),
        click.option(
            "--log-level",
            default="warning",
            type=click.Choice(["debug", "info", "warning", "error"]),
            show_default=True,
        ),
        store_option,
        json_option,
    )


def run_fields(options: Options) -> dict[str, Json]:
    """The settings of the run that these options set."""
    fields = {name: options[name] for name in _RUN if options[name] not in (None, ())}
    return {**fields, "preflight": not options["no_preflight"]}


def build_rules(
    options: Options, places: str, missing: str, rules: Mapping[str, Json], kind: type[BaseModel], verb: str
) -> tuple[str, dict[str, Json]]:
    """The first of the `places` that the user named, and the scenario's settings of `kind`: the rules that were set.

    Raises UsageError: `missing` if no place is named, and for a rule that cannot be.
    """
    if not options[places]:
        raise UsageError(missing)
    if not options["model"]:
        raise UsageError("--model SPEC is needed, for instance --model openai/gpt-4o")
    if options["retry"]:
        raise UsageError("--retry goes with --resume")
    first, *also = (str(path) for path in options[places])
    written = {name: value for name, value in {"also": also, **rules}.items() if value not in (None, (), [])}
    checked_settings(kind, written, verb)
    return first, written


async def play_build(
    settings: RunSettings | None,
    options: Options,
    build: RunBuild[AccountT, IntakeT, OptionsT],
    words: tuple[str, str, str],
) -> int:
    """Begin a build, or resume it if `settings` is None; returns the exit code.

    `words` are the verb, the noun for a unit, and the files that are written.
    """
    progress = Progress()
    concurrency = options["concurrency"] or (settings.concurrency if settings else None)
    elsewhere = workers_of(options, progress, concurrency)
    share = share_of(options["share"])
    async with aclosing(open_store(store_path(options["store"]))) as store:
        async with interruptible(progress), live_table(progress, shown=on_terminal() and not options["as_json"]):
            if settings is None:
                again = {"retry": causes_of(options), **{name: options[name] for name in CHANGES}}
                built = await build.resume(
                    options["resumed"], store, progress, share=share, elsewhere=elsewhere, **again
                )
            else:
                pilot = options["pilot"] or 0
                built = await build.begin(settings, store, progress, share=share, elsewhere=elsewhere, pilot=pilot)
        return _outcome(built, build.WHAT, progress, options["out"], words, as_json=options["as_json"])


def _outcome(
    built: Built[AccountT], what: str, progress: Progress, out: Path, words: tuple[str, str, str], *, as_json: bool
) -> int:
    """Print the result of a build; returns the exit code."""
    verb, unit, written = words
    left, made = built.endings.get("open", 0), any(built.account.made.values())
    if as_json:
        pilot = built.run.pilot if built.run else None
        print_json({**built.account.json(), "endings": built.endings, "stopped": progress.why, "pilot": pilot})
    else:
        echo(built.account.text(), lines=True)
        if made:
            echo(f"written: {written.format(out=out)}")
    if built.run and built.run.pilot:
        print_forecast(built.run.pilot)
    if left and built.run:
        go = f"wardround cases build {verb} --resume {built.run.name} --out {out}"
        echo(open_message(progress, left, unit, go), err=True)
        return 130
    if not made:
        print_nothing_made(what)
    failed = not set(built.endings) <= {"completed"}
    return 3 if failed else 0 if made else NOTHING_MADE
