"""The command line: one module for each verb, loaded when it is asked for."""

import gc
import importlib
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import ClassVar, NoReturn, cast

import click

from wardround.cli.screen import echo
from wardround.engine.errors import Stopped, StoreError, UsageError, WardroundError

VERBS = {
    "run": "Play cases under a scenario, or resume an interrupted run.",
    "serve": "Let clients outside the engine play a seat: by HTTP, chat or MCP.",
    "status": "Show the status of a run: the processes at work, what it spent, what is left.",
    "pause": "Pause a running batch; nothing in progress is lost.",
    "resume": "Continue a paused batch.",
    "stop": "Stop a running batch after the work in progress; it can be resumed.",
    "set": "Change a running batch: concurrency, budget.",
    "score": "Score the episodes of a run.",
    "report": "Show a run's figures, or compare runs; write an HTML page.",
    "levels": "Put low, middle and high level of models side by side.",
    "show": "Show a run, or one episode word by word.",
    "replay": "Check that episodes replay identically, or fork one.",
    "runs": "List the runs of a store.",
    "cases": "Build case files, check them, list the bundled ones.",
    "scenarios": "List the scenarios with their seats and settings.",
    "agents": "List the agents of each seat, check one of your own.",
    "new": "Begin an agent of your own.",
    "rubrics": "Show scores by rubrics, and check rubrics themselves.",
    "checklists": "Show usability by checklists, and review checklists.",
    "match": "Check whether an answer means a diagnosis, and why.",
    "orders": "Show how an order is understood, piece by piece.",
    "export": "Write a run to files, for other programs too.",
    "import": "Read a run, or the results of another program, into a store.",
}


_PLACES = {
    "import": ("import_run", "command"),
    "score": ("score_run", "command"),
    "replay": ("replay_episodes", "command"),
    "levels": ("compare_levels", "command"),
    "pause": ("steer", "pause"),
    "resume": ("steer", "resume_run"),
    "stop": ("steer", "stop"),
    "set": ("steer", "change"),
}
"""Verbs whose module has another name, because the verb names another module or a keyword, or shares its module."""


_MEANT = {"list": "runs", "ls": "runs", "view": "show", "compare": "report", "judge": "score", "play": "run"}
"""What people type for a verb that has another name."""


class LazyGroup(click.Group):
    """A group that imports the module of a verb only when the verb is used, so that `--help` stays quick.

    `verbs` maps each verb to its help. `places` maps verbs to (module in `wardround.cli`, name in it); a verb without a
    place is called `command` in the module of its own name.
    """

    verbs: ClassVar[Mapping[str, str]] = {}
    places: ClassVar[Mapping[str, tuple[str, str]]] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of --help."""
        return [*super().list_commands(ctx), *self.verbs]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a verb; None for an unknown verb."""
        if cmd_name not in self.verbs:
            return super().get_command(ctx, cmd_name)
        module, name = self.places.get(cmd_name, (cmd_name, "command"))
        place = f"wardround.cli.{module}"
        if place not in sys.modules:  # at a second verb a frozen heap would keep the garbage of the first for good
            gc.disable()  # imports leave no garbage, and looking for it takes a tenth of their time
            try:
                importlib.import_module(place)
            finally:
                gc.freeze()  # nor will they: the end of the process would look for it once more, for 150 ms
                gc.enable()
        return cast("click.Command", getattr(sys.modules[place], name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs with their help."""
        eager = [(name, command.get_short_help_str(80)) for name, command in self.commands.items()]
        with formatter.section("Verbs"):
            formatter.write_dl([*eager, *self.verbs.items()])


class _Verbs(LazyGroup):
    """The verbs; a misspelt one is answered with the one that was likely meant."""

    verbs, places = VERBS, _PLACES

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in VERBS and not name.startswith("-"):
            near = get_close_matches(name.lower(), [*VERBS, *_MEANT], 1)
            likely = f"; did you mean {_MEANT.get(near[0], near[0])}?" if near else ";"
            raise click.UsageError(f"there is no verb {name!r}{likely} there are: {', '.join(VERBS)}", ctx)
        return super().resolve_command(ctx, args)


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="wardround", prog_name="wardround")
def app() -> None:
    """Doctor models in simulated patient encounters: every action kept, replayable and scored.

    \b
    Example:  wardround run --scenario workup --doctor baseline
              wardround score RUN
              wardround report RUN --html report.html
    """


def _say(text: str) -> None:
    """Print an error with its further lines indented, so that no name in it looks like a line of the program."""
    echo(text.replace("\n", "\n  "), err=True, lines=True)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; errors meant for people end in one line and an exit code (docs/cli.md)."""
    for argument in sys.argv[1:] if arguments is None else arguments:
        if argument != argument.encode(errors="replace").decode():
            _say(f"wardround: {argument!a} holds bytes that are not UTF-8; write it otherwise")
            sys.exit(2)
    try:
        sys.exit(app(arguments, standalone_mode=False) or 0)
    except (click.exceptions.Abort, KeyboardInterrupt):
        echo("wardround: stopped", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except UsageError as error:
        _say(f"wardround: {error}")
        sys.exit(2)
    except StoreError as error:
        _say(f"wardround: the store failed: {error}")
        sys.exit(4)
    except WardroundError as error:
        _say(f"wardround: {error}")
        sys.exit(1)
    except Stopped:
        echo("wardround: stopped at once; what was done is stored, and --resume RUN goes on from there", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(141)
