"""Where tables are printed."""

import sys

from rich.console import Console


def console() -> Console:
    """Standard output; where it is no terminal, wide enough that no column is cut."""
    return Console(width=None if sys.stdout.isatty() else 140)
