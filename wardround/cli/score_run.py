"""`wardround score`: score the closed episodes of a run, with judges or without."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, get_args

import anyio
import click
import msgspec

from wardround.cli.live import live_table
from wardround.cli.options import (
    Options,
    command_line_options,
    existing_store,
    json_option,
    on_terminal,
    patience_option,
    positive,
    print_json,
    store_option,
    timeout_option,
)
from wardround.cli.outcome import print_forecast
from wardround.cli.screen import console, echo
from wardround.cli.seat_options import OrNone, judge_settings, judge_settings_options
from wardround.cli.workers import OPTIONS, causes_of, check_beside_resume, share_of, worker_options, workers_of
from wardround.engine.batch import Progress, interruptible
from wardround.engine.errors import UsageError
from wardround.engine.logs import configure
from wardround.engine.plugins import plugin_names
from wardround.engine.protocols import Evaluator, Store
from wardround.engine.records import json_object
from wardround.engine.text import file_text
from wardround.evaluators.evaluation import Knowledge, needs_of
from wardround.evaluators.metrics.standard import Priced, Standard
from wardround.evaluators.report.score_rows import RunScores
from wardround.evaluators.report.summary import Summary, summarise
from wardround.evaluators.report.terminal import score_table, shown_scores
from wardround.evaluators.report.warnings import doubts
from wardround.evaluators.search.contract import LIBRARY
from wardround.runs.pilot import Pilot
from wardround.runs.settings import AT_ONCE
from wardround.runs.stored_run import Run
from wardround.scoring.judges import JudgeConfig, JudgeOptions, judge_config, open_search
from wardround.scoring.score import EVALUATORS, evaluator_of, score_run, stored_evaluator
from wardround.scoring.scorings import score_names


@click.command(short_help="Score the episodes of a run.")
@click.argument("run", required=False)
@click.option(
    "--evaluators",
    default="standard",
    show_default=True,
    metavar="NAMES",
    help="What to score, comma-separated: standard (questions for question sets), grade, reader-list, rubric, "
    "checklist, reasoning, assessment, diagnosis-points, reasoning-published, assessment-published, rubric-probe; "
    "package.module:Class for your own. Standard, questions, grade and reader-list need no --judge.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the evaluator rubric or checklist, such as batch=8 or panel=mean; with several evaluators "
    "NAME is EVALUATOR.NAME.",
)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="SPEC",
    help="provider/model, or lexical (offline, a lower bound). Several judges form a panel: the majority decides.",
)
@click.option(
    "--judge-base-url",
    "base_urls",
    multiple=True,
    metavar="URL",
    help="Endpoint of the first judge; repeat it for the second, and so on; '' keeps a judge's default.",
)
@click.option(
    "--judge-temperature",
    "temperature",
    type=OrNone(click.FloatRange(min=0)),
    help="Sampling temperature of all judges; none: not sent.",
)
@judge_settings_options
@click.option(
    "--judge-repeats",
    "repeats",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Ask each judge every question N times, to see how consistent it is.",
)
@click.option("--judge-swap", "swap", is_flag=True, help="Ask again with the texts to compare in the other order.")
@click.option(
    "--search",
    metavar="SPEC",
    help="The search that judges use: bundled, corpus:PATH, duckduckgo, searxng:URL, pubmed, brave, "
    "recorded:SEARCH, another that is installed, or package.module:Class. Default for reasoning: bundled, a "
    "few demonstration texts.",
)
@click.option(
    "--knowledge",
    type=click.Choice(get_args(Knowledge)),
    default="search",
    show_default=True,
    help="What a verdict on a step may rest on: the search, the judge's own knowledge, or both.",
)
@click.option("--no-pages", is_flag=True, help="Use the search's own excerpts of web pages; do not read the pages.")
@click.option(
    "--allow-domain",
    "allow",
    multiple=True,
    metavar="DOMAIN",
    help="Use evidence from this domain only; may be repeated.",
)
@click.option(
    "--deny-domain", "deny", multiple=True, metavar="DOMAIN", help="Use no evidence from this domain; may be repeated."
)
@click.option(
    "--follow", is_flag=True, help="Wait for episodes that are still being played, and judge each as it closes."
)
@click.option(
    "--points",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="CSV name,points: your own costs of tests, for the evaluator standard.",
)
@click.option(
    "--prompts", type=click.Path(path_type=Path), metavar="DIR", help="A folder of your own prompts for the judges."
)
@click.option("--prices", type=click.Path(path_type=Path), metavar="FILE", help="Prices of models, as for run.")
@click.option("--concurrency", type=click.IntRange(min=1), metavar="N", help="Episodes judged at once; default 32.")
@click.option(
    "--budget",
    multiple=True,
    metavar="AMOUNT,...",
    help="Cap what the judging of each evaluator spends over all its resumes, such as 5usd or 2000calls.",
)
@click.option(
    "--pilot",
    type=positive,
    metavar="N",
    help="Judge N random episodes first and forecast the rest; go on only if it fits the --budget.",
)
@click.option("--resume", "resumed", metavar="RUN~EVALUATOR", help="Resume this evaluation, with its own judges.")
@click.option(
    "--retry",
    multiple=True,
    metavar="CAUSES",
    help="Judge again only episodes whose judging ended by these causes, e.g. provider; default: all failed ones.",
)
@worker_options
@click.option(
    "--quota", "quotas", multiple=True, metavar="[ADDRESS ]NAME=N,...", help="Limits of endpoints, as for run."
)
@click.option("--batch", is_flag=True, help="Ask the judges by OpenAI's batch interface: half the price, within a day.")
@timeout_option
@patience_option
@click.option(
    "--allow-host", "allow_hosts", multiple=True, metavar="HOST", help="A host that restricted cases may be sent to."
)
@store_option
@json_option
def command(run: str | None, **options: Any) -> int:
    """Score the closed episodes of a run and keep the scores. Without --judge no model is asked.

    The calls to the judges are stored as a run of its own, RUN~EVALUATOR. The same command resumes a scoring that was
    stopped and repeats calls that failed; it makes no call if every episode is judged.

    \b
    Example:  wardround score calm-heron-417
              wardround score calm-heron-417 --judge openai/gpt-4o --json
              wardround score calm-heron-417 --evaluators reasoning --judge openai/gpt-4o --search pubmed
              wardround score calm-heron-417 --evaluators reasoning --judge lexical --search corpus:texts.jsonl
              wardround score --resume calm-heron-417~reasoning --retry provider
    """
    configure("warning")
    if options["resumed"] and run:
        raise UsageError("--resume names an evaluation, which says what it judges: leave out RUN")
    if options["resumed"]:
        check_beside_resume(_AGAIN, "evaluation")
    elif not run:
        raise UsageError("name the RUN to score, or an evaluation to go on with: --resume RUN~EVALUATOR")
    return anyio.run(lambda: _score(run or "", options))


async def _score(name: str, options: Options) -> int:
    asked = None if options["resumed"] else _evaluators(options)
    progress, pilots = Progress(), dict[str, Pilot]()
    elsewhere = workers_of(options, progress, options["concurrency"], ("pilot", "share", "follow"))
    async with AsyncExitStack() as opened:
        store = await opened.enter_async_context(existing_store(options["store"]))
        run = await Run.open(store, name or await _judged_run(store, options["resumed"]))
        run.check_scorable()
        if asked is None:
            evaluators, judges = await _stored_judges(store, options, opened)
        else:
            evaluators, judges = asked, await _judges(options, asked, store, opened)
        shown = on_terminal() and not options["as_json"]
        async with interruptible(progress), live_table(progress, shown=shown, library=LIBRARY):
            scores = await score_run(
                run,
                evaluators,
                judge=judges,
                progress=progress,
                budget=options["budget"],
                concurrency=options["concurrency"] or (AT_ONCE if options["batch"] else 32),
                follow=options["follow"],
                retry=causes_of(options),
                pilot=options["pilot"] or 0,
                pilots=pilots,
                called=options["resumed"] or "",
                elsewhere=elsewhere,
            )
        await _print_scores(run, scores, evaluators, progress, pilots if options["as_json"] else None)
        for pilot in () if options["as_json"] else pilots.values():
            print_forecast(pilot)
        return 130 if progress.draining else 3 if scores.broken or scores.damaged else 0


async def _judged_run(store: Store, evaluation: str) -> str:
    """The run that an evaluation judges."""
    run = await Run.open(store, evaluation)
    if not run.evaluated:
        raise UsageError(f"run {run.name} is not an evaluation; to go on with it: wardround run --resume {run.name}")
    return run.evaluated


async def _stored_judges(
    store: Store, options: Options, opened: AsyncExitStack
) -> tuple[list[Evaluator], list[JudgeConfig] | None]:
    """The evaluator and the judges of an evaluation to resume, from its header."""
    run = await Run.open(store, options["resumed"])
    changes = {name: options[name] for name in ("timeout", "patience")}
    judges = await JudgeConfig.stored(run, share_of(options["share"]), options["base_urls"], **changes)
    opened.push_async_callback(judges.aclose)
    return [await stored_evaluator(run)], [judges]


async def _judges(
    options: Options, evaluators: Sequence[Evaluator], store: Store, opened: AsyncExitStack
) -> list[JudgeConfig] | None:
    """The judges of each evaluator, with its default search if it has one and the user named none."""
    asked = _judge_options(options)
    if asked is None:
        return None
    config = await judge_config(asked, store, share_of(options["share"]))
    opened.push_async_callback(config.aclose)
    configs = {"": config}
    usual = ["" if config.search else _default_search(evaluator, asked.knowledge) for evaluator in evaluators]
    for spec in usual:
        if spec not in configs:
            search, reader = await open_search(msgspec.structs.replace(asked, search=spec), store)
            for one in (search, reader):
                if one is not None:
                    opened.push_async_callback(one.aclose)
            configs[spec] = config.with_search(spec, search, reader)
    return [configs[spec] for spec in usual]


def _default_search(evaluator: Evaluator, knowledge: Knowledge) -> str:
    """The default search of an evaluator; "" if it looks nothing up."""
    return "" if knowledge == "judge" and needs_of(evaluator).knowledge else needs_of(evaluator).search


async def _print_scores(
    run: Run,
    scores: RunScores,
    evaluators: Sequence[Evaluator],
    progress: Progress,
    pilots: Mapping[str, Pilot] | None,
) -> None:
    """Print the figures; with `pilots`, print everything as JSON."""
    summary = summarise(scores.episodes, run.header.seed, scores.answer_judges)
    names = [evaluator.name for evaluator in evaluators]
    if pilots is not None:
        facts = {
            "floor": scores.floor,
            "doubts": doubts(scores, summary),
            "stopped": progress.why,
            "broken": scores.broken,
            "damaged": scores.damaged,
            "pilots": pilots,
        }
        print_json({"run": run.name, **json_object(summary), **facts, "evaluated": scores.evaluated})
    else:
        screen = console()
        asked = {f"{run.name}, {name}": await _headline_figures(run, name, summary) for name in names}
        unlisted = {title: figures for title, figures in asked.items() if figures is not None}
        if shown_scores(summary) or not unlisted:
            screen.print(score_table(run.name, summary, width=screen.width))
        for title, figures in unlisted.items():
            screen.print(score_table(title, figures, every=True, width=screen.width))
        for doubt in doubts(scores, summary):
            echo(doubt, err=True)
    if progress.draining:
        more = " with a larger --budget" if "budget" in progress.why else ""
        echo(f"{progress.why}; to go on, score it again{more}", err=True)


async def _headline_figures(run: Run, evaluator: str, summary: Summary) -> Summary | None:
    """The figures of an evaluator if the headline table leaves out all of them; None if it has some."""
    names = {name for name, by in (await score_names(run)).items() if by == evaluator}
    figures = [score for score in summary.scores if score.name in names]
    if not figures or any(score.name in names for score in shown_scores(summary)):
        return None
    return msgspec.structs.replace(summary, scores=figures)


def _evaluators(options: Options) -> list[Evaluator]:
    specs = [spec.strip() for spec in options["evaluators"].split(",") if spec.strip()]
    settings = _settings(options["settings"], specs)
    evaluators = [evaluator_of(spec, **settings.get(spec, {})) for spec in specs]
    if not evaluators:
        raise UsageError(f"--evaluators names none; there are: {', '.join(plugin_names(EVALUATORS))}")
    if options["points"]:
        if all(one.name != Standard.name for one in evaluators):
            raise UsageError("--points goes with the evaluator standard, which tells the cost of tests")
        priced = Priced(file_text(options["points"], "--points"), str(options["points"]))
        evaluators = [priced if one.name == Standard.name else one for one in evaluators]
    for evaluator in evaluators:
        if needs_of(evaluator).judged and not options["judges"]:
            raise UsageError(
                f"--evaluators {evaluator.name} needs --judge: provider/model, or lexical (offline, a lower bound)"
            )
    if options["knowledge"] != "search" and not any(needs_of(one).knowledge for one in evaluators):
        raise UsageError("--knowledge goes with the evaluator reasoning: it says what a verdict on a step may rest on")
    return evaluators


def _settings(written: Sequence[str], specs: Sequence[str]) -> dict[str, dict[str, str]]:
    """The settings of each evaluator, by the names that the user wrote."""
    settings: dict[str, dict[str, str]] = {}
    for one in written:
        place, equals, value = one.partition("=")
        spec, _, name = place.rpartition(".")
        if not equals or not name.isidentifier() or ((spec or len(specs) > 1) and spec not in specs):
            raise UsageError(
                f"--set {one}: write NAME=VALUE, or EVALUATOR.NAME=VALUE with one of {', '.join(specs)}, "
                "for instance rubric.batch=8"
            )
        settings.setdefault(spec or specs[0], {})[name] = value
    return settings


_WITHOUT_JUDGE = ("run", "evaluators", "settings", "points", "resumed", "store", "as_json")
"""Options that mean something without a judge."""


_AGAIN = (
    *(*OPTIONS, "resumed", "retry", "budget", "concurrency", "timeout", "patience", "base_urls", "follow"),
    *("store", "as_json"),
)
"""Options that go beside --resume."""


def _judge_options(options: Options) -> JudgeOptions | None:
    if not options["judges"]:
        if needless := [flag for name, flag in command_line_options().items() if name not in _WITHOUT_JUDGE]:
            raise UsageError(f"{needless[0]} goes with --judge")
        return None
    return JudgeOptions(
        judges=options["judges"],
        base_urls=options["base_urls"],
        temperature=options["temperature"],
        settings=judge_settings(options),
        repeats=options["repeats"],
        swap=options["swap"],
        search=options["search"] or "",
        pages=not options["no_pages"],
        allow=options["allow"],
        deny=options["deny"],
        allow_hosts=options["allow_hosts"],
        prompts=str(options["prompts"] or ""),
        quotas=options["quotas"],
        prices=str(options["prices"] or ""),
        timeout=options["timeout"],
        patience=options["patience"],
        batch=options["batch"],
        knowledge=options["knowledge"],
    )
