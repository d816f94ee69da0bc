"""The command line: one module for each verb, loaded when it is asked for."""

import importlib
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

import click

from wardround.engine.batch import Stopped
from wardround.engine.errors import StoreError, UsageError, WardroundError

VERBS = {
    "run": "Play cases under a scenario, or go on with an interrupted run.",
    "status": "Say how a run stands: who is at work on it, what it spent, what is left.",
    "pause": "Hold a running batch; nothing under way is lost.",
    "resume": "Let a paused batch go on.",
    "stop": "Let a running batch finish what is under way and end, resumable.",
    "set": "Change a running batch: concurrency, budget.",
    "score": "Score the episodes of a run.",
    "report": "Show a run's figures, or compare runs; write an HTML page.",
    "show": "Read a run, or one episode word by word.",
    "replay": "Prove that an episode replays equal, or fork it.",
    "runs": "List the runs of a store.",
    "cases": "Build case files, check them, list the bundled ones.",
    "scenarios": "List the scenarios with their seats and settings.",
    "agents": "List the agents of each seat, check one of your own.",
    "export": "Write a run's events, scores or dialogues to files.",
    "import": "Read exported events into a store.",
}


_ELSEWHERE = {
    "import": ("bring", "command"),
    "pause": ("steer", "pause"),
    "resume": ("steer", "resume"),
    "stop": ("steer", "stop"),
    "set": ("steer", "change"),
}
"""Verbs whose module has another name: a word of Python, or one for several."""


class _Verbs(click.Group):
    """Knows the verbs' names and loads only the one asked for: `--help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module, name = _ELSEWHERE.get(cmd_name, (cmd_name, "command"))
        command: click.Command = getattr(importlib.import_module(f"wardround.cli.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("wardround"), prog_name="wardround")
def app() -> None:
    """Doctor models in simulated patient encounters: every action kept, replayable and scored.

    \b
    Example:  wardround run --scenario workup --doctor baseline
              wardround score RUN
              wardround report RUN --html report.html
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; errors meant for people end in one line and an exit code (docs/cli.md)."""
    for argument in sys.argv[1:] if arguments is None else arguments:
        if argument != argument.encode(errors="replace").decode():
            click.echo(f"wardround: {argument!a} holds bytes that are not UTF-8; write it otherwise", err=True)
            sys.exit(2)
    try:
        sys.exit(app(arguments, standalone_mode=False) or 0)
    except click.exceptions.Abort:
        click.echo("wardround: stopped", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except UsageError as error:
        click.echo(f"wardround: {error}", err=True)
        sys.exit(2)
    except StoreError as error:
        click.echo(f"wardround: the store failed: {error}", err=True)
        sys.exit(4)
    except WardroundError as error:
        click.echo(f"wardround: {error}", err=True)
        sys.exit(1)
    except (KeyboardInterrupt, Stopped):
        click.echo("wardround: stopped at once; open episodes can be resumed", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
