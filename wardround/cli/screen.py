"""Writes to the terminal; control characters in texts of models, cases and endpoints are shown as escapes."""

import sys
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from wardround.engine.text import printable

if TYPE_CHECKING:
    from rich.console import Console


def console() -> "Console":
    """Standard output; where it is not a terminal, wide enough that no column is cut."""
    return _screen()(width=None if sys.stdout.isatty() else 140)


@cache
def _screen() -> "type[Console]":
    from rich.console import Console  # noqa: PLC0415  # only who draws tables waits for it
    from rich.text import Text  # noqa: PLC0415

    class Screen(Console):
        """A console that shows what would steer the terminal as escapes, in every cell and title."""

        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(printable(text, lines=True), **how)

    return Screen


def echo(text: str = "", *, err: bool = False, nl: bool = True, lines: bool = False) -> None:
    """Print a line with its control characters as escapes; line ends in it stay with `lines`."""
    click.echo(printable(text, lines=lines), err=err, nl=nl)


def echo_lines(lines: Iterable[str]) -> None:
    """Print each line as `echo` does."""
    for line in lines:
        echo(line)
