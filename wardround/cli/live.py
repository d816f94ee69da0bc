"""The table of progress that the terminal shows while a run is under way."""

import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from wardround.engine.batch import Progress, run_beside
from wardround.engine.text import count_noun, duration_text
from wardround.evaluators.reasons import ended_by

if TYPE_CHECKING:
    from rich.table import Table


@asynccontextmanager
async def live_table(progress: Progress, *, shown: bool, library: str = "") -> AsyncIterator[None]:
    """Show `progress` on standard error while the block runs; nothing where nobody watches.

    Searches, which the seat `library` makes, are counted apart from calls of models.
    """
    if not shown:
        yield
        return
    from rich.console import Console, Group  # noqa: PLC0415 most runs are watched by nobody
    from rich.live import Live  # noqa: PLC0415 see above

    began, run, calls = time.monotonic(), "", 0
    with Live(console=Console(file=sys.stderr), auto_refresh=False, transient=True) as live:

        async def refresh() -> None:
            nonlocal began, run, calls
            while True:
                if progress.run != run:  # a scoring goes from one evaluation to the next
                    began, run, calls = time.monotonic(), progress.run, _calls(progress, library)
                live.update(Group(*progress_tables(progress, time.monotonic() - began, library, calls)), refresh=True)
                await anyio.sleep(0.25)

        async with run_beside(refresh):
            yield


def progress_tables(progress: Progress, seconds: float, library: str = "", before: int = 0) -> list["Table"]:
    """The progress of a run, `seconds` after it was begun or resumed; `before` calls had been made by then.

    Two tables, so that they fit into 80 columns: the episodes, and what they spend if anything is.
    """
    spent, calls = progress.spent, _calls(progress, library)
    endings = ", ".join(f"{count} {ended_by(cause)}" for cause, count in sorted(progress.endings.items())) or "-"
    state = " (draining)" if progress.draining else " (paused)" if progress.paused else ""
    episodes = {
        "run": progress.run or "-",
        "elapsed": duration_text(seconds),
        "left": _time_left(progress, seconds),
        "episodes": f"{progress.closed}/{progress.total}",
        "running": f"{progress.running}{state}",
        "endings": endings,
    }
    spending = {
        "calls": str(calls),
        "calls/s": f"{(calls - before) / seconds:.1f}" if seconds > 0 else "-",
        **({"searches": str(spent.calls - calls)} if library else {}),
        "tokens": f"{spent.tokens:,}",
        "cost": f"{spent.cost:.2f} USD"
        + (f" + {count_noun(spent.unpriced, 'call')} unpriced" if spent.unpriced else ""),
    }
    return [_table(episodes), *([_table(spending)] if spent.calls else [])]


def _table(cells: Mapping[str, str]) -> "Table":
    """A table of one row in which only the last column breaks, between words."""
    from rich.table import Table  # noqa: PLC0415 see live_table

    shown = Table(show_header=True, header_style="bold", box=None, pad_edge=False)
    last = list(cells)[-1]
    for name in cells:
        shown.add_column(name, no_wrap=name != last, overflow="fold")
    shown.add_row(*cells.values())
    return shown


def _calls(progress: Progress, library: str) -> int:
    """Calls of models that the run has made."""
    return progress.spent.calls - progress.account.spent_by(library).calls


def _time_left(progress: Progress, seconds: float) -> str:
    """The time that the other episodes will take at the rate of this process and its workers, once known."""
    if not progress.own or seconds <= 0:
        return "-"
    return f"about {duration_text((progress.total - progress.closed) * seconds / progress.own)}"
