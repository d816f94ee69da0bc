"""A running batch seen and steered from outside: through the store, so from any terminal or machine that reaches it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from wardround.engine.budget import Purse, Spending
from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.sessions import RunControl, SessionRow
from wardround.evaluators.search.contract import LIBRARY
from wardround.runs.header import RunHeader
from wardround.runs.settings import new_budget
from wardround.runs.stored_run import StoredRun
from wardround.runs.work_queue import died, span, sums


@dataclass(frozen=True)
class Status:
    """How a run stands. `worked` is seconds in which some process was at work on it, over all its sessions.

    `spent` is what each seat spent in calls of models, `searched` what judges looked up, in searches and pages.
    """

    run: str
    state: str
    endings: Mapping[str, int]
    spent: Mapping[str, Spending]
    searched: Spending | None
    budget: Sequence[Mapping[str, Json]]
    at_work: Sequence[SessionRow]
    worked: float

    @property
    def rate(self) -> float:
        """Episodes closed a second by those who are at work now, since each began."""
        return sum(float(row.told.get("own", 0)) / max(row.seen - row.began, 1e-9) for row in self.at_work)

    @property
    def left(self) -> float | None:
        """Seconds until the open episodes are played at this rate; None if nothing can be said."""
        return self.endings.get("open", 0) / self.rate if self.rate else None

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "run": self.run,
            "state": self.state,
            "endings": dict(self.endings),
            "spent": {seat: msgspec.structs.asdict(spent) for seat, spent in self.spent.items()},
            "searches": self.searched and {"made": self.searched.calls, "failed": self.searched.failed},
            "budget": list(self.budget),
            "at_work": [msgspec.structs.asdict(row) for row in self.at_work],
            "worked_seconds": self.worked,
            "left_seconds": self.left,
        }


async def status(run: StoredRun) -> Status:
    """How a run stands now, as the store and those at work on it tell."""
    store = run.store
    orders = await store.orders(run.name)
    sessions = await store.sessions(run.name)
    at_work = [row for row in sessions if row.alive and not died(row)]
    spent = sums(await store.spending(run.name))
    searched = spent.pop(LIBRARY, None) if run.evaluated else None
    worked = span(sessions)
    purse = Purse(orders.budget, run.header.specs)
    purse.refresh(spent, worked)
    state = {"run": "running", "pause": "paused", "stop": "stopping"}[orders.state] if at_work else "nobody at work"
    return Status(run.name, state, await run.endings(), spent, searched, purse.told(), at_work, worked)


def going_on(run: StoredRun) -> str:
    """What to type to take up a run that nobody is at work on."""
    if isinstance(run.header, RunHeader):
        return f"wardround run --resume {run.name}"
    if run.header.settings:
        return f"wardround score --resume {run.name}"
    return f"wardround score {run.evaluated} --evaluators {run.header.evaluator}, with the same judges"


async def order_state(run: StoredRun, state: str) -> Status:
    """Tell those at work to pause, to go on (`run`) or to stop; raises UsageError if nobody is there to hear it."""
    now = await status(run)
    if not now.at_work:
        raise UsageError(f"no process is at work on {run.name}; to go on with it: {going_on(run)}")
    await _changed(run, state=state)
    return await status(run)


async def set_concurrency(run: StoredRun, concurrency: int) -> None:
    """Let each process play so many episodes at once."""
    if concurrency < 1:
        raise UsageError("concurrency is at least 1; to hold the run: wardround pause")
    await _changed(run, concurrency=concurrency)


async def set_budget(run: StoredRun, texts: Sequence[str]) -> None:
    """Put other caps in the place of those given before; what was spent stays spent."""
    prices = run.header.prices if isinstance(run.header, RunHeader) else ()
    await _changed(run, budget=new_budget(texts, run.header.specs, prices))


async def _changed(run: StoredRun, **fields: Any) -> RunControl:
    orders = msgspec.structs.replace(await run.store.orders(run.name), **fields)
    await run.store.order(run.name, orders)
    return orders
