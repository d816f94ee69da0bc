"""`wardround score`."""

from pathlib import Path
from typing import Any

import click

from wardround.access import access_of
from wardround.cast import model_part
from wardround.cli.live import live_table
from wardround.cli.options import drive, existing_store, json_option, on_terminal, say_json, store_option
from wardround.cli.screen import console
from wardround.engine.batch import interruptible
from wardround.engine.errors import UsageError
from wardround.engine.models.preflight import preflight
from wardround.engine.progress import Progress
from wardround.evaluators.standard import Standard
from wardround.evaluators.summary import summarise
from wardround.evaluators.table import score_table
from wardround.results import Run
from wardround.scenarios.terms.catalogue import catalogue
from wardround.scoring import evaluator_names, evaluator_of, score_run
from wardround.settings import RunSettings, SeatSettings


@click.command(short_help="Score the episodes of a run.")
@click.argument("run")
@click.option(
    "--evaluators",
    default="standard",
    show_default=True,
    metavar="NAMES",
    help="Comma-separated; package.module:Class for your own.",
)
@click.option(
    "--judge", metavar="provider/model", help="A model that judges the answer; without one the match is lexical."
)
@click.option("--judge-base-url", metavar="URL", help="OpenAI-compatible endpoint of the judge.")
@click.option("--points", type=click.Path(path_type=Path), help="CSV name,points: your own costs of tests.")
@click.option("--prompts", type=click.Path(path_type=Path), help="Your own wording of the judge's prompts.")
@click.option("--prices", type=click.Path(path_type=Path), help="As for run.")
@click.option("--concurrency", type=click.IntRange(min=1), help="Episodes judged at once; default 32.")
@click.option("--budget", multiple=True, metavar="AMOUNT,...", help="Caps of the judging over all its resumes.")
@click.option(
    "--quota", "quotas", multiple=True, metavar="[ADDRESS ]NAME=N,...", help="Limits of endpoints, as for run."
)
@click.option("--cache", is_flag=True, help="Answer what this judge was asked before from the store.")
@click.option(
    "--allow-host", "allow_hosts", multiple=True, metavar="HOST", help="A host that restricted cases may be sent to."
)
@store_option
@json_option
def command(run: str, **given: Any) -> int:
    """Score the closed episodes of a run and keep the scores.

    \b
    Example:  wardround score calm-heron-417
              wardround score calm-heron-417 --judge openai/gpt-4o --json
    """
    return drive(lambda: _score(run, given))


def _priced(path: Path) -> Standard:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--points {path}: cannot be read as UTF-8 text ({error})") from error
    return Standard(catalogue().priced(text, str(path)))


async def _score(name: str, given: dict[str, Any]) -> int:
    evaluators = [evaluator_of(spec.strip()) for spec in given["evaluators"].split(",") if spec.strip()]
    if not evaluators:
        raise UsageError(f"--evaluators names none; there are: {', '.join(evaluator_names())}")
    if given["points"]:
        evaluators = [_priced(given["points"]) if one.name == Standard.name else one for one in evaluators]
    store = existing_store(given["store"])
    progress = Progress()
    judge = None
    if given["judge"]:
        settings = RunSettings(prices=str(given["prices"] or ""), quotas=given["quotas"])
        seat = SeatSettings(spec=given["judge"], base_url=given["judge_base_url"] or "", cache=given["cache"])
        judge = model_part(seat, await access_of(settings, store))
    try:
        run = await Run.open(store, name)
        if judge and judge.model:
            await preflight({"judge": judge.model})
        async with interruptible(progress), live_table(progress, shown=on_terminal() and not given["as_json"]):
            scores = await score_run(
                run,
                evaluators,
                judge=judge,
                prompts=given["prompts"],
                allow_hosts=given["allow_hosts"],
                budget=given["budget"],
                concurrency=given["concurrency"] or 32,
                progress=progress,
            )
        summary = summarise(scores.episodes, run.header["seed"])
        if given["as_json"]:
            say_json({"run": name, **summary.to_json()})
        else:
            console().print(score_table(name, summary))
        if progress.draining:
            click.echo(f"{progress.why}; to go on, score it again", err=True)
        return 130 if progress.draining else 0
    finally:
        if judge and judge.model:
            await judge.model.aclose()
        await store.aclose()
