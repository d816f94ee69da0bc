"""Options that several verbs share, and what opens their store and prints their JSON."""

import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec
from click.core import ParameterSource

from wardround.cli.screen import echo
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Store
from wardround.engine.text import in_json
from wardround.runs.store_address import file_of, open_store

CommandT = TypeVar("CommandT", bound=Callable[..., object])
Options = Mapping[str, Any]
"""What a user wrote or left out, by the names of a command's parameters; click has checked each value."""

store_option = click.option(
    "--store", metavar="PATH|URL", default=None, help="Default: $WARDROUND_STORE, else ./wardround.db."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object for machines.")
positive = click.IntRange(min=1)
more_than_0 = click.FloatRange(min=0, min_open=True)
timeout_option = click.option(
    "--timeout", type=more_than_0, metavar="SECONDS", help="Longest wait for one reply of a model; default 900."
)
patience_option = click.option(
    "--patience",
    type=more_than_0,
    metavar="SECONDS",
    help="How long to keep trying an endpoint that refuses every call; default 180.",
)


def group_options(groups: Mapping[str, Sequence[str]]) -> type[click.Command]:
    """A command whose --help lists its options under headings: heading to names of parameters."""

    class Grouped(click.Command):
        """The command."""

        def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            """Write each heading with its options; what no heading names, as --help, stands under the last."""
            lines = {
                param.name or "": line
                for param in self.get_params(ctx)
                if (line := param.get_help_record(ctx)) is not None
            }
            last = list(groups)[-1]
            for heading, names in groups.items():
                listed = [lines.pop(name) for name in names if name in lines]
                with formatter.section(heading):
                    formatter.write_dl([*listed, *(lines.values() if heading == last else ())])

    return Grouped


def with_options(*options: Callable[[CommandT], CommandT]) -> Callable[[CommandT], CommandT]:
    """A decorator that adds options to a command, in the order of --help."""

    def decorated(command: CommandT) -> CommandT:
        return reduce(lambda so_far, option: option(so_far), reversed(options), command)

    return decorated


def command_line_options() -> dict[str, str]:
    """The options and arguments that the user wrote: the name of each parameter, and how it is written."""
    context = click.get_current_context()
    return {
        name: param.opts[0] if isinstance(param, click.Option) else name.upper()
        for param in context.command.params
        if (name := param.name or "") and context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def output_file(value: str | Path) -> Path:
    """The type of an option that names a file to write; it says that an earlier file is replaced, or a folder made."""
    path = Path(value)
    new = "" if path.parent.exists() else f"the folder {path.parent} will be made"
    if said := f"{path} is there already and will be replaced" if path.is_file() or path.is_dir() else new:
        echo(said, err=True)
    return path


def store_path(option: str | None) -> str:
    """Where the store is."""
    return option or os.environ.get("WARDROUND_STORE") or "wardround.db"


@asynccontextmanager
async def existing_store(option: str | None) -> AsyncIterator[Store]:
    """The store for the length of a block. It must exist: a misspelt path makes no empty file."""
    where = store_path(option)
    path = file_of(where)
    if path is not None and not path.exists():
        raise UsageError(f"there is no store at {path}; name one with --store or $WARDROUND_STORE")
    async with aclosing(open_store(where)) as store:
        yield store


def print_json(value: object) -> None:
    """Print a value as JSON."""
    echo(in_json(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()), lines=True)


def on_terminal() -> bool:
    """Whether a person is watching: a terminal, and not a CI job's log."""
    return sys.stderr.isatty() and not os.environ.get("CI")
