"""`wardround run`: play cases under a scenario, or resume a run."""

from collections.abc import Mapping
from contextlib import aclosing, nullcontext
from pathlib import Path
from typing import Any

import anyio
import click

from wardround.api import create_planned, play_planned, prepare_to_resume, resume
from wardround.cli.live import live_table
from wardround.cli.options import (
    Options,
    group_options,
    json_option,
    more_than_0,
    on_terminal,
    patience_option,
    positive,
    store_option,
    store_path,
    timeout_option,
)
from wardround.cli.outcome import print_notices, print_outcome
from wardround.cli.screen import echo
from wardround.cli.seat_options import MANNERS, SEATS, manner_options, param, params, seat_fields, seat_options
from wardround.cli.workers import OPTIONS, causes_of, check_beside_resume, share_of, worker_options, workers_of
from wardround.engine.batch import INTERRUPTED, Progress, interruptible
from wardround.engine.errors import UsageError
from wardround.engine.logs import configure
from wardround.engine.protocols import Store
from wardround.engine.records import Json
from wardround.runs.plan import DEFAULT_SPECS, RunPlan, plan_run
from wardround.runs.seats import played_by_person
from wardround.runs.settings import (
    RunSettings,
    preset_names,
    preset_seats,
    preset_settings,
    read_settings,
    to_toml,
    validate_settings,
)
from wardround.runs.stored_run import Run, open_store

_PLAIN = (
    *("scenario", "repeats", "seed", "concurrency", "limit", "sample"),
    *("prompts", "prices", "name", "timeout", "patience", "session_header"),
)
"""Options that are settings of the same name."""


def settings_from_options(options: Options) -> RunSettings:
    """The settings, those of the run file below them; raises UsageError."""
    base = read_settings(options["config"]).model_dump(exclude_defaults=True) if options["config"] else {}
    preset = options["preset"]
    if preset:
        below = preset_settings(preset)
        base = {**below, **base, "set": {**below.get("set", {}), **base.get("set", {})}}
    fields = {**base, **{name: options[name] for name in _PLAIN if options[name] is not None}}
    for name in ("where", "allow_hosts", "allow_agents", "budget", "quotas"):
        if options[name]:
            fields[name] = options[name]
    if options["cases"]:
        fields["cases"] = options["cases"] if len(options["cases"]) > 1 else options["cases"][0]
    files = {"prices": options["test_prices"], "names": options["test_names"]}
    if rules := {**_pairs(options["rules"]), **{name: path for name, path in files.items() if path}}:
        fields["set"] = {**fields.get("set", {}), **rules}
    fields.update({name: True for name in ("common_answers", "batch") if options[name]})
    if options["no_preflight"]:
        fields["preflight"] = False
    limits = {
        name: options[f"max_episode_{flag}"]
        for name, flag in (("calls", "calls"), ("tokens", "tokens"), ("cost", "cost"), ("wall", "seconds"))
    }
    limits["act"], limits["act_calls"] = options["max_act_seconds"], options["max_act_calls"]
    fields["limits"] = {
        **fields.get("limits", {}),
        **{name: value for name, value in limits.items() if value is not None},
    }
    named = [*fields.get("seats", {}), *(seat for seat in SEATS if options[seat])]
    fields["seats"] = _seats(options, fields.get("seats", {}))
    if preset:
        fields["seats"] = preset_seats(preset, fields["seats"], named)
    return validate_settings(fields, str(options["config"] or "run"))


def _seats(options: Options, base: Mapping[str, Json]) -> dict[str, Json]:
    seats = seat_fields(options, base)
    if options["interface"]:
        doctor = seats.setdefault("doctor", {"spec": DEFAULT_SPECS["doctor"]})
        doctor["options"] = {**doctor.get("options", {}), "interface": options["interface"]}
    for seat in filter(None, (name.strip() for name in (options["cache"] or "").split(","))):
        if seat not in seats and seat not in DEFAULT_SPECS:
            raise UsageError(f"--cache {options['cache']}: there is no seat {seat!r}")
        seats.setdefault(seat, {"spec": DEFAULT_SPECS.get(seat, "")})["cache"] = True
    return seats


def _pairs(texts: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text}: write NAME=VALUE")
        pairs[name.replace("-", "_")] = value
    return pairs


_CHANGES = ("concurrency", "budget", "timeout", "patience")
_URLS = {seat: param(seat, "base_url") for seat in SEATS}
_AGAIN = (*_CHANGES, *_URLS.values(), *OPTIONS, "resumed", "retry", "store", "as_json", "log_level")
"""Options that go beside --resume."""


GROUPS = {
    "What is played": (
        "cases",
        "scenario",
        "preset",
        "rules",
        "test_prices",
        "test_names",
        "repeats",
        "common_answers",
        "seed",
        "limit",
        "where",
        "sample",
        "name",
    ),
    "Who plays": (*SEATS, "interface", *MANNERS, "prompts", "allow_agents"),
    **{f"The {seat} and its model": params(seat) for seat in SEATS},
    "Limits of one episode": (
        *("max_episode_calls", "max_episode_tokens", "max_episode_cost", "max_episode_seconds", "max_act_seconds"),
        "max_act_calls",
    ),
    "Budget and endpoints": (
        *("budget", "pilot", "prices", "quotas", "timeout", "patience", "session_header", "batch", "cache"),
        "allow_hosts",
        "no_preflight",
    ),
    "Many at once": ("concurrency", "share", "cluster", "workers"),
    "Going on with a run": ("resumed", "retry"),
    "Files and output": ("config", "print_config", "store", "as_json", "log_level"),
}
"""The headings of --help, each with its options."""


@click.command(cls=group_options(GROUPS), short_help="Play cases under a scenario, or resume an interrupted run.")
@click.option(
    "--cases",
    multiple=True,
    metavar="PATH",
    help="Case file, or a folder of them; may be repeated. Default: the bundled cases (bundled:admissions, "
    "bundled:reports).",
)
@click.option(
    "--scenario", metavar="NAME", help="As `wardround scenarios` lists them, or package.module:Class; default: workup."
)
@click.option("--preset", metavar="NAME", help=f"Settings of a paper, below all others: {', '.join(preset_names())}.")
@click.option(
    "--set", "rules", multiple=True, metavar="NAME=VALUE", help="A setting of the scenario, e.g. max_turns=5."
)
@click.option(
    "--doctor",
    metavar="SPEC",
    help="name | provider/model | package.module:Class | team:NAME|FILE | exec:COMMAND | sealed:COMMAND | "
    "container:IMAGE | replies:PATH|bundled[#MODEL] | recorded:RUN",
)
@click.option("--patient", metavar="SPEC", help="The same for the patient; default: answers from the record.")
@click.option("--examiner", metavar="SPEC", help="The same for the examiner; default: looks up the record.")
@click.option(
    "--interface",
    type=click.Choice(["text", "tools", "json"]),
    help="How a model doctor acts: in the scenario's own text (default), by calling tools, or as JSON.",
)
@manner_options
@seat_options
@click.option("--test-prices", metavar="FILE", help="CSV (test,usd) above the prices of tests of `sequential`.")
@click.option("--names", "test_names", metavar="FILE", help="CSV (test,names,kind): names of tests of your own.")
@click.option("--repeats", type=positive, help="Episodes of each case; default: the paper's with a model, else 1.")
@click.option(
    "--common-answers",
    is_flag=True,
    help="In all repeats of a case the other seats answer the same words alike, so that repeats differ by the doctor.",
)
@click.option("--seed", type=int, help="Seed of the run.")
@click.option("--concurrency", type=click.IntRange(1, 100_000), help="Episodes played at once; default 32.")
@click.option("--limit", type=positive, help="At most so many cases.")
@click.option(
    "--where",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Only cases with this value in this field, e.g. group=pneumonia.",
)
@click.option(
    "--sample",
    type=click.FloatRange(0, 1, min_open=True),
    help="A share of the cases, stratified by group, drawn with --seed.",
)
@click.option("--max-episode-calls", type=positive, help="Limit of one episode.")
@click.option("--max-episode-tokens", type=positive, help="Limit of one episode.")
@click.option("--max-episode-cost", type=more_than_0, metavar="USD", help="Limit of one episode.")
@click.option("--max-episode-seconds", type=more_than_0, help="Limit of one episode.")
@click.option(
    "--max-act-seconds", type=more_than_0, help="Longest act of a seat outside of its model's calls; default 600."
)
@click.option("--max-act-calls", type=positive, help="Most calls of its model in one act of a seat; default 1000.")
@click.option(
    "--budget",
    multiple=True,
    metavar="[SEAT|MODEL=]AMOUNT,...",
    help="Caps of the whole run over all its resumes: 50usd, 2Mtokens, 10000calls, 3h; at a cap the run stops.",
)
@click.option(
    "--pilot",
    type=positive,
    metavar="N",
    help="Play N random episodes first and forecast the rest; go on only if it fits the --budget.",
)
@click.option(
    "--quota",
    "quotas",
    multiple=True,
    metavar="[ADDRESS ]NAME=N,...",
    help="Limits of one endpoint, or of each: in_flight, rpm, tpm, daily_requests, daily_tokens.",
)
@timeout_option
@patience_option
@click.option(
    "--session-header",
    metavar="NAME",
    help="Header that names a conversation to an endpoint of your own; default X-Session-ID. none: not sent.",
)
@click.option(
    "--batch", is_flag=True, help="Ask by OpenAI's batch interface: half the price, within a day; questions and oracle."
)
@click.option("--cache", metavar="SEATS", help="Seats whose repeated calls are answered from the store.")
@worker_options
@click.option("--prompts", metavar="DIR", help="A folder of your own prompts, which replace the built-in ones.")
@click.option("--prices", metavar="FILE", help="CSV (model,input,output) or TOML: USD per million tokens.")
@click.option(
    "--allow-host", "allow_hosts", multiple=True, metavar="HOST", help="A host that restricted cases may be sent to."
)
@click.option(
    "--allow-agent",
    "allow_agents",
    multiple=True,
    metavar="SPEC",
    help="An agent of your own that may see restricted cases, named as in --doctor.",
)
@click.option("--no-preflight", is_flag=True, help="Skip the one cheap call to each endpoint before the run.")
@click.option("--name", help="Name of the run; default: made up.")
@click.option(
    "--config", type=click.Path(path_type=Path), help="A run file (TOML); options on the command line take precedence."
)
@click.option("--print-config", is_flag=True, help="Print the run file of this command and stop.")
@click.option("--resume", "resumed", metavar="RUN", help="Resume this run; its settings come from the store.")
@click.option(
    "--retry",
    multiple=True,
    metavar="CAUSES",
    help="With --resume: reopen the episodes that ended by these causes, e.g. provider,limit.",
)
@click.option(
    "--log-level", default="warning", type=click.Choice(["debug", "info", "warning", "error"]), show_default=True
)
@store_option
@json_option
def command(**options: Any) -> int:
    """Play cases under a scenario, or resume an interrupted run.

    Ctrl-C finishes the work in progress and leaves the other episodes open; a second Ctrl-C stops at once. Either way
    the run can be resumed.

    \b
    Examples: wardround run --scenario workup --doctor baseline
              wardround run --cases cases.jsonl --scenario workup --doctor openai/gpt-4o --repeats 3
              wardround run --scenario free-turn --doctor openai/llama --base-url http://localhost:8000/v1
              wardround run --resume calm-heron-417 --retry provider
    \b
    Exit code: 0 all completed; 3 some ended otherwise; 2 nothing was run; 130 interrupted, resumable.
    """
    configure(options["log_level"])
    if options["resumed"]:
        check_beside_resume(_AGAIN, "run", " (or fork: wardround replay)")
    elif options["retry"]:
        raise UsageError("--retry goes with --resume RUN: it reopens episodes of that run")
    settings = None if options["resumed"] else settings_from_options(options)
    if options["print_config"]:
        if settings is None:
            raise UsageError("--print-config and --resume do not go together; the run's header has its settings")
        echo(to_toml(settings), nl=False, lines=True)
        return 0
    return anyio.run(lambda: _play(settings, options))


async def _play(settings: RunSettings | None, options: Options) -> int:
    progress = Progress()
    async with aclosing(open_store(store_path(options["store"]))) as store:
        shown = on_terminal() and not options["as_json"] and not await _person(settings, store, options["resumed"])
        async with interruptible(progress), live_table(progress, shown=shown):
            with nullcontext() if shown else progress.when_draining(lambda why: _say_interrupted(why, progress)):
                run = await _run(settings, store, options, progress)
        return await print_outcome(run, progress, options["as_json"])


async def _run(settings: RunSettings | None, store: Store, options: Options, progress: Progress) -> Run:
    """Play a new or a resumed run, here or on a cluster."""
    concurrency = options["concurrency"] or (settings.concurrency if settings else None)
    elsewhere = workers_of(options, progress, concurrency)
    if elsewhere is not None:
        if settings is None:
            run = await prepare_to_resume(options["resumed"], store, **_resume_options(options))
        else:
            run = await create_planned(await _plan(settings, store, options), store)
        await elsewhere(run.name)
        return run
    if settings is None:
        share = share_of(options["share"])
        seats = {seat: {"base_url": options[flag]} for seat, flag in _URLS.items() if options[flag]}
        return await resume(
            options["resumed"], store=store, share=share, seats=seats, progress=progress, **_resume_options(options)
        )
    made = await _plan(settings, store, options)
    return await play_planned(made, store, progress, pilot=options["pilot"] or 0)


def _say_interrupted(why: str, progress: Progress) -> None:
    """Say what Ctrl-C does if no live table shows it, as when a person plays a seat."""
    if why == INTERRUPTED:
        go_on = f", and this goes on from there: wardround run --resume {progress.run}" if progress.run else ""
        echo(
            f"\nstopping after the actions under way (Ctrl-C again: at once); what is played is stored{go_on}",
            err=True,
            lines=True,
        )


async def _person(settings: RunSettings | None, store: Store, resumed: str) -> bool:
    """Whether a person plays a seat and so needs the terminal."""
    if settings is None:
        return played_by_person((await Run.open(store, resumed)).header.seats)
    return played_by_person(settings.seats)


async def _plan(settings: RunSettings, store: Store, options: Options) -> RunPlan:
    made = await plan_run(settings, store, {}, share_of(options["share"]))
    if not options["as_json"]:
        print_notices(made)
    return made


def _resume_options(options: Options) -> dict[str, Json]:
    """The settings that may stand beside `--resume`."""
    return {"retry": causes_of(options), **{name: options[name] for name in _CHANGES}}
