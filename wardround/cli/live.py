"""The table that a person sees while a run goes on."""

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from rich.console import Console
from rich.live import Live
from rich.table import Table

from wardround.engine.batch import beside
from wardround.engine.progress import Progress


@asynccontextmanager
async def live_table(progress: Progress, *, shown: bool) -> AsyncIterator[None]:
    """Show `progress` on standard error while the block runs; nothing where nobody watches."""
    if not shown:
        yield
        return
    began = time.monotonic()
    with Live(console=Console(file=sys.stderr), auto_refresh=False, transient=True) as live:

        async def refresh() -> None:
            while True:
                live.update(table(progress, time.monotonic() - began), refresh=True)
                await anyio.sleep(0.25)

        async with beside(refresh):
            yield


def table(progress: Progress, seconds: float) -> Table:
    """What has happened so far."""
    shown = Table(show_header=True, header_style="bold", box=None, pad_edge=False)
    for name in ("episodes", "running", "calls", "calls/s", "tokens", "cost", "endings"):
        shown.add_column(name)
    spent = progress.spent
    cost = f"{spent.cost:.2f} USD" + (f" + {spent.unpriced} calls unpriced" if spent.unpriced else "")
    endings = ", ".join(f"{count} {cause}" for cause, count in sorted(progress.endings.items())) or "-"
    state = " (draining)" if progress.draining else " (paused)" if progress.paused else ""
    shown.add_row(
        f"{progress.closed}/{progress.total}",
        f"{progress.running}{state}",
        str(spent.calls),
        f"{progress.purse.own.calls / seconds:.1f}" if seconds > 0 else "-",
        f"{spent.tokens:,}",
        cost,
        endings,
    )
    return shown
