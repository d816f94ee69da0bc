"""The messages of `wardround run` before it begins and after it has ended."""

import sys
from math import inf
from pathlib import Path

from wardround.cli.options import print_json
from wardround.cli.screen import echo
from wardround.engine.batch import Progress
from wardround.engine.text import count_noun, in_number, printable
from wardround.evaluators.reasons import ended_by, list_left_out, phrase
from wardround.runs.pilot import Forecast, Pilot
from wardround.runs.plan import RunPlan
from wardround.runs.settings import count_prompts
from wardround.runs.stored_run import Run

NOTHING_MADE = 2
"""Exit code of a build that made nothing."""
_UNITS = {"cost": "USD", "tokens": "tokens", "calls": "calls", "wall": "s"}


def print_nothing_made(made: str) -> None:
    """Say on standard error that a build made none of what it was for, such as cases, and what to do."""
    echo(
        f"no {made} were built and no file was written: name other inputs, or loosen the rule that dropped the last",
        err=True,
    )


async def print_outcome(run: Run, progress: Progress, as_json: bool) -> int:
    """Print how the run ended; returns the exit code."""
    endings = await run.endings()
    total = sum(endings.values())
    skipped = run.played("it is not played").skipped
    if as_json:
        result = {"run": run.name, "episodes": total, "endings": {"completed": 0, **endings}, "skipped": skipped.count}
        print_json({**result, "stopped": progress.why, "pilot": run.pilot})
    else:
        ends = ", ".join(f"{count} {ended_by(cause)}" for cause, count in sorted(endings.items()))
        echo(f"{run.name}: {count_noun(total, 'episode')}: {ends}")
        if skipped.count:
            why = list_left_out(skipped.first, skipped.count)
            echo(f"not run: {count_noun(skipped.count, 'case')}: {why}", err=True)
        await _print_unfinished(run, endings)
        if run.pilot:
            print_forecast(run.pilot)
        if "open" not in endings:
            echo(f"next: wardround score {run.name}, wardround report {run.name}", err=True)
    if "open" in endings:
        echo(open_message(progress, endings["open"], "episode", f"wardround run --resume {run.name}"), err=True)
        return 130
    sys.stdout.flush()
    return 0 if set(endings) == {"completed"} else 3


def open_message(progress: Progress, count: int, noun: str, go_on: str) -> str:
    """A sentence that says why episodes are open and how to resume them; after a used-up budget, with a larger one."""
    why = f"{progress.why}; " if progress.why else ""
    more = " --budget MORE" if progress.why.startswith("the budget is used up") else ""
    return f"{why}what was done is stored; {count_noun(count, noun)} {in_number(count, 'is')} open: {go_on}{more}"


async def _print_unfinished(run: Run, endings: dict[str, int]) -> None:
    """Print a line for each cause other than completion, with the first episode that ended by it."""
    for cause, count in endings.items():
        if cause in ("completed", "open"):
            continue
        async for row in run.store.episodes(run.name, causes=[cause]):
            ending = await run.ending(row) if row.reason in ("error", "bad_action") else None
            detail = f": {printable(ending.detail[:300])}" if ending and ending.detail else ""
            first = f"the first: {phrase(row.reason)}{detail} (wardround show {run.name} {row.id})"
            echo(f"  {count} {ended_by(cause)}; {first}; to play them again: --retry {cause}", err=True)
            if cause == "limit":
                flag = {
                    "wall": "--max-episode-seconds",
                    "act_calls": "--max-act-calls",
                    "actions": "actions under [limits] of a run file",
                }
                raised = flag.get(row.reason, f"--max-episode-{row.reason}")
                echo(f"    --retry meets this limit again: begin a new run with a larger {raised}", err=True)
            break


def print_forecast(pilot: Pilot) -> None:
    """Print the forecast of a pilot."""
    echo(
        f"pilot of {count_noun(pilot.played, 'episode')}; the other {pilot.left} will need (95 % prediction interval):",
        err=True,
    )
    for name, unit in _UNITS.items():
        if name in pilot.rest:
            echo(f"  {name:<7}{_forecast_text(pilot.rest[name])} {unit}", err=True)
        else:
            echo(f"  {name:<7}not known: a call has no price (--prices)", err=True)


def _forecast_text(rest: Forecast) -> str:
    high = "no upper end" if rest.high == inf else _number(rest.high)
    return f"{_number(rest.mean)} ({_number(rest.low)} to {high})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def print_notices(made: RunPlan) -> None:
    """Print what the user did not choose explicitly but should know."""
    settings = made.settings
    if settings.repeats is None and made.repeats > 1:
        echo(f"{count_noun(made.repeats, 'repeat')} of each case, as in the paper; --repeats changes it", err=True)
    if settings.prompts:
        echo(f"{count_noun(count_prompts(Path(settings.prompts)), 'prompt')} replaced by {settings.prompts}", err=True)
