"""`wardround cases build reports`."""

from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import click
from pydantic import ValidationError

from wardround.builds import Built, build_reports, curator_seat, resume_build
from wardround.cli.live import live_table
from wardround.cli.options import (
    Options,
    json_option,
    on_terminal,
    patience_option,
    print_json,
    store_option,
    store_path,
    timeout_option,
)
from wardround.cli.outcome import open_message, print_forecast
from wardround.cli.screen import echo
from wardround.cli.workers import OPTIONS, causes_of, check_beside_resume, share_of, worker_options, workers_of
from wardround.engine.batch import Progress, interruptible
from wardround.engine.errors import UsageError
from wardround.engine.logs import configure
from wardround.runs.settings import RunSettings, validate_settings, validation_problems
from wardround.runs.stored_run import open_store
from wardround.scenarios.reports.article import CurationOptions

_CHANGES = ("concurrency", "budget", "timeout", "patience")
_AGAIN = (*_CHANGES, *OPTIONS, "resumed", "retry", "store", "out", "as_json", "without", "log_level")


@click.command(short_help="Build cases from the text of case reports, by a model.")
@click.argument("articles", type=click.Path(path_type=Path), nargs=-1)
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Where the cases go (JSONL)."
)
@click.option("--model", metavar="SPEC", help="provider/model | package.module:Class | recorded:RUN")
@click.option("--base-url", metavar="URL", help="OpenAI-compatible endpoint of the model.")
@click.option("--temperature", type=float, help="Sampling of the model; default: the endpoint's.")
@click.option("--max-tokens", type=int, help="Longest reply of the model.")
@click.option("--kinds", default=None, metavar="KINDS", help="diagnosis, treatment; default: both.")
@click.option("--published-after", metavar="DATE", help="Only articles published later, e.g. 2024-06-30.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N articles that pass the filters.")
@click.option("--without", multiple=True, metavar="RULE", help="Switch a rule off (docs/records.md has them).")
@click.option(
    "--on-bad-row", type=click.Choice(["stop", "skip"]), help="What to do at a file or line that cannot be read."
)
@click.option("--licence", metavar="NAME", help="Licence of articles that name none, e.g. CC-BY-4.0.")
@click.option(
    "--data-class",
    type=click.Choice(["auto", "restricted", "public"]),
    help="Default auto: public under an open licence.",
)
@click.option("--rare", type=click.IntRange(min=0), metavar="N", help="Rare diseases verified an article; default 5.")
@click.option("--seed", type=int, help="Seed of the run.")
@click.option("--concurrency", type=int, help="Articles worked on at once; default 32.")
@click.option("--budget", multiple=True, metavar="AMOUNT,...", help="Caps of the whole build: 50usd, 2Mtokens, 3h.")
@click.option(
    "--pilot", type=click.IntRange(min=1), metavar="N", help="Do N random articles first and forecast the rest."
)
@click.option("--quota", "quotas", multiple=True, metavar="[ADDRESS ]NAME=N,...", help="Limits of an endpoint.")
@timeout_option
@patience_option
@click.option("--cache", is_flag=True, help="Answer repeated calls from the store.")
@click.option(
    "--prompts", metavar="DIR", help="A folder of your own prompts: DIR/curator/*.md replaces the built-in ones."
)
@click.option("--prices", metavar="FILE", help="CSV (model,input,output) or TOML: USD per million tokens.")
@click.option(
    "--allow-host", "allow_hosts", multiple=True, metavar="HOST", help="A host that restricted articles may be sent to."
)
@click.option("--no-preflight", is_flag=True, help="Skip the one cheap call to each endpoint before the run.")
@worker_options
@click.option("--name", help="Name of the run; default: made up.")
@click.option("--resume", "resumed", metavar="RUN", help="Resume this build; its settings come from the store.")
@click.option(
    "--retry",
    multiple=True,
    metavar="CAUSES",
    help="With --resume: reopen the articles that ended by these causes, e.g. provider,parser.",
)
@click.option(
    "--log-level", default="warning", type=click.Choice(["debug", "info", "warning", "error"]), show_default=True
)
@store_option
@json_option
def reports(**options: Any) -> int:
    """Build cases from the text of case reports: ARTICLES are files or folders of JATS XML or JSON lines.

    A model restructures each article. The run is stored like any other (wardround status, show, replay). Prints what
    each rule dropped, and writes it to FILE.flow.json.

    \b
    Examples: wardround cases build reports pmc/ --published-after 2024-06-30 --model openai/gpt-4o --out cases.jsonl
              wardround cases build reports raw.jsonl.gz --licence CC-BY-4.0 --model openai/gpt-4o --out cases.jsonl
              wardround cases build reports --resume calm-heron-417 --out cases.jsonl
    \b
    Exit code: 0 done; 3 some articles ended otherwise; 2 nothing was run; 130 interrupted, resumable.
    """
    configure(options["log_level"])
    if options["resumed"]:
        check_beside_resume(_AGAIN, "build")
        settings = None
    else:
        settings = _settings(options)
    return anyio.run(lambda: _build(settings, options))


def _settings(options: Options) -> RunSettings:
    if not options["articles"]:
        raise UsageError("name the articles: files or folders of JATS XML or JSON lines, or go on with --resume RUN")
    if not options["model"]:
        raise UsageError("--model SPEC is needed, for instance --model openai/gpt-4o")
    if options["retry"]:
        raise UsageError("--retry goes with --resume")
    first, *also = (str(path) for path in options["articles"])
    rules = {
        "also": also,
        "kinds": options["kinds"],
        "published_after": options["published_after"],
        "limit": options["limit"],
        "without": options["without"],
        "on_bad_row": options["on_bad_row"],
        "licence": options["licence"],
        "data_class": options["data_class"],
        "rare_candidates": options["rare"],
    }
    rules = {name: value for name, value in rules.items() if value not in (None, (), [])}
    try:
        CurationOptions.model_validate(rules)
    except ValidationError as error:
        raise UsageError(f"cases build reports: {validation_problems(error, CurationOptions)}") from error
    seat = {"spec": options["model"], **{name: options[name] for name in ("base_url", "temperature", "max_tokens")}}
    fields: dict[str, Any] = {
        "cases": first,
        "scenario": "curation",
        "set": rules,
        "seats": curator_seat({**seat, "cache": options["cache"] or None}),
        "preflight": not options["no_preflight"],
    }
    for name in (*_CHANGES, "seed", "quotas", "prompts", "prices", "allow_hosts", "name"):
        if options[name] not in (None, ()):
            fields[name] = options[name]
    return validate_settings(fields, "cases build reports")


async def _build(settings: RunSettings | None, options: Options) -> int:
    progress, out = Progress(), options["out"]
    concurrency = options["concurrency"] or (settings.concurrency if settings else None)
    elsewhere = workers_of(options, progress, concurrency)
    at_work: dict[str, Any] = {"share": share_of(options["share"]), "elsewhere": elsewhere}
    async with aclosing(open_store(store_path(options["store"]))) as store:
        async with interruptible(progress), live_table(progress, shown=on_terminal() and not options["as_json"]):
            if settings is None:
                again = {"retry": causes_of(options), **{name: options[name] for name in _CHANGES}}
                built = await resume_build(
                    options["resumed"], out, store, progress, options["without"], **again, **at_work
                )
            else:
                built = await build_reports(settings, out, store, progress, pilot=options["pilot"] or 0, **at_work)
        return _outcome(built, progress, out, as_json=options["as_json"])


def _outcome(built: Built, progress: Progress, out: Path, *, as_json: bool) -> int:
    """Say what came of it; the exit code."""
    left = built.endings.get("open", 0)
    if as_json:
        pilot = built.run.pilot if built.run else None
        print_json({**built.account.json(), "endings": built.endings, "stopped": progress.why, "pilot": pilot})
    else:
        echo(built.account.text(), lines=True)
        echo(f"written: {out}, {out}.flow.json")
    if built.run and built.run.pilot:
        print_forecast(built.run.pilot)
    if left and built.run:
        go = f"wardround cases build reports --resume {built.run.name} --out {out}"
        echo(open_message(progress, left, "article", go), err=True)
        return 130
    return 0 if set(built.endings) <= {"completed"} else 3
