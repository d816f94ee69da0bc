"""`wardround pause`, `resume`, `stop` and `set`: a running batch steered from another terminal."""

import anyio
import click

from wardround.cli.options import existing_store, store_option
from wardround.cli.screen import echo
from wardround.engine.errors import UsageError
from wardround.engine.text import count_noun
from wardround.runs.control import order_state, resume_command, set_budget, set_concurrency
from wardround.runs.stored_run import Run


@click.command(short_help="Pause a running batch; nothing in progress is lost.")
@click.argument("run")
@store_option
def pause(run: str, store: str | None) -> None:
    """Pause a running batch: calls in progress are finished, no action begins until `wardround resume`.

    \b
    Example:  wardround pause calm-heron-417
    """
    echo(anyio.run(lambda: _order(run, store, "pause")), lines=True)


@click.command(name="resume", short_help="Continue a paused batch.")
@click.argument("run")
@store_option
def resume_run(run: str, store: str | None) -> None:
    """Continue a paused batch. To continue a run that no process plays: `wardround run --resume`.

    \b
    Example:  wardround resume calm-heron-417
    """
    echo(anyio.run(lambda: _order(run, store, "run")), lines=True)


@click.command(short_help="Stop a running batch after the work in progress; it can be resumed.")
@click.argument("run")
@store_option
def stop(run: str, store: str | None) -> None:
    """Let every process at work on a run finish its work in progress and end; open episodes can be resumed.

    \b
    Example:  wardround stop calm-heron-417
    """
    echo(anyio.run(lambda: _order(run, store, "stop")), lines=True)


@click.command(name="set", short_help="Change a running batch: concurrency, budget.")
@click.argument("what", type=click.Choice(["concurrency", "budget"]))
@click.argument("run")
@click.argument("values", nargs=-1, required=True)
@store_option
def change(what: str, run: str, values: tuple[str, ...], store: str | None) -> None:
    """Change a running batch: how many episodes each process plays at once, or the caps of the run.

    \b
    Example:  wardround set concurrency calm-heron-417 64
              wardround set budget calm-heron-417 80usd doctor=2Mtokens
    """
    echo(anyio.run(lambda: _set(what, run, values, store)), lines=True)


async def _order(name: str, where: str | None, state: str) -> str:
    async with existing_store(where) as store:
        run = await Run.open(store, name)
        status = await order_state(run, state)
    said = {
        "pause": f"is paused; to continue: wardround resume {name}",
        "run": "goes on",
        "stop": f"is stopping; to continue later: {resume_command(run)}",
    }
    count = len(status.at_work)
    return f"{name} {said[state]} ({count_noun(count, 'process')} at work)"


async def _set(what: str, name: str, values: tuple[str, ...], where: str | None) -> str:
    async with existing_store(where) as store:
        run = await Run.open(store, name)
        if what == "budget":
            await set_budget(run, values)
        elif len(values) == 1 and values[0].isdecimal():
            await set_concurrency(run, int(values[0]))
        else:
            raise UsageError(f"set concurrency RUN N: N is a whole number, not {' '.join(values)!r}")
    return f"{name}: {what} is {' '.join(values)}"
