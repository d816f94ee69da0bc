"""`wardround cases`."""

from pathlib import Path

import click

from wardround.cli.options import json_option, say_json
from wardround.scenarios.bundled import bundled
from wardround.scenarios.census import census


@click.group(short_help="Check case files, list the bundled ones.")
def command() -> None:
    """Check case files, list the bundled ones.

    \b
    Example:  wardround cases check cases.jsonl
    """


@command.command()
@click.argument("path", type=click.Path(path_type=Path))
@json_option
def check(path: Path, as_json: bool) -> int:
    """Say how many cases a file holds, of what, every problem with its line and field, and which leak their truth.

    Exit code 1 if there is a problem; a leak is listed, but for the reader to judge.

    \b
    Example:  wardround cases check cases.jsonl --json
    """
    found = census(path)
    if as_json:
        say_json(found.json())
    else:
        click.echo(found.text())
    return 1 if found.problems else 0


@command.command(name="bundled")
def list_bundled() -> None:
    """Name the files of the bundled cases, which `--cases bundled` plays.

    \b
    Example:  wardround cases bundled
    """
    for path in bundled():
        click.echo(str(path))
