"""The status and control of a run through its store, from any terminal or machine that reaches the store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from wardround.engine.budget import Budget, BudgetAccount, Spending
from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.sessions import SessionRow
from wardround.evaluators.search.contract import LIBRARY
from wardround.runs.header import RunHeader
from wardround.runs.settings import new_budget
from wardround.runs.stored_run import Run
from wardround.runs.work_queue import has_died, seconds_worked, spending_by_seat


@dataclass(frozen=True)
class Status:
    """The status of a run.

    `state` is running, paused, stopping, or `nobody at work`. `endings` counts episodes by cause, open ones under
    `open`, and `budget` has a row for each cap. `worked` is the time in seconds in which some process was at work.
    `spent` is the spending of each seat on models, `searched` that of an evaluation on searches and pages (None for
    other runs).
    `again` counts the attempts that followed a failed one, by what the sessions last said of themselves.
    """

    run: str
    state: str
    endings: Mapping[str, int]
    spent: Mapping[str, Spending]
    searched: Spending | None
    budget: Sequence[Mapping[str, Json]]
    at_work: Sequence[SessionRow]
    worked: float
    again: int = 0

    @property
    def rate(self) -> float:
        """Episodes closed per second by the sessions now at work, each since it began."""
        return sum(float(row.status.get("own", 0)) / max(row.seen - row.began, 1e-9) for row in self.at_work)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the open episodes are played at this rate; None if the rate is 0."""
        return self.endings.get("open", 0) / self.rate if self.rate else None

    def to_json(self) -> dict[str, Json]:
        """The status as a JSON object."""
        return {
            "run": self.run,
            "state": self.state,
            "endings": dict(self.endings),
            "spent": {seat: msgspec.structs.asdict(spent) for seat, spent in self.spent.items()},
            "made_again": self.again,
            "searches": self.searched and {"made": self.searched.calls, "failed": self.searched.failed},
            "budget": list(self.budget),
            "at_work": [msgspec.to_builtins(row) for row in self.at_work],
            "worked_seconds": self.worked,
            "left_seconds": self.seconds_left,
        }


async def check_caps(run: Run, budget: Budget | None) -> None:
    """Raise UsageError if the run has spent its budget: `budget`, or the one that it has."""
    specs, store = run.header.specs, run.store
    account = BudgetAccount(budget or (await store.orders(run.name)).budget, specs)
    over = account.refresh(
        spending_by_seat(await store.spending(run.name)), seconds_worked(await store.sessions(run.name))
    ) or next((why for seat in sorted(specs) if (why := account.refusal(seat)[0])), "")
    if over:
        raise UsageError(f"the budget is used up: {over}; no episode is opened again: raise it with --budget")


async def status(run: Run) -> Status:
    """The current status of a run, from the store and the heartbeats of its sessions."""
    store = run.store
    orders = await store.orders(run.name)
    sessions = await store.sessions(run.name)
    at_work = [row for row in sessions if row.alive and not has_died(row)]
    spent = spending_by_seat(await store.spending(run.name))
    searched = spent.pop(LIBRARY, None) if run.evaluated else None
    worked = seconds_worked(sessions)
    account = BudgetAccount(orders.budget, run.header.specs)
    account.refresh(spent, worked)
    state = {"run": "running", "pause": "paused", "stop": "stopping"}[orders.state] if at_work else "nobody at work"
    again = sum(line.get("again", 0) for row in sessions for line in row.status.get("endpoints", ()))
    return Status(run.name, state, await run.endings(), spent, searched, account.summary(), at_work, worked, again)


def resume_command(run: Run) -> str:
    """The command that resumes a run on which no process is at work."""
    if isinstance(run.header, RunHeader):
        return f"wardround run --resume {run.name}"
    if run.header.settings:
        return f"wardround score --resume {run.name}"
    return f"wardround score {run.evaluated} --evaluators {run.header.evaluator}, with the same judges"


async def order_state(run: Run, state: str) -> Status:
    """Order the processes at work to pause, to continue (`run`) or to stop; raises UsageError if there are none."""
    if not (await status(run)).at_work:
        raise UsageError(f"no process is at work on {run.name}; to go on with it: {resume_command(run)}")
    await _change(run, state=state)
    return await status(run)


async def set_concurrency(run: Run, concurrency: int) -> None:
    """Let each process play `concurrency` episodes at once; raises UsageError if that is less than one."""
    if concurrency < 1:
        raise UsageError("concurrency is at least 1; to hold the run: wardround pause")
    await _change(run, concurrency=concurrency)


async def set_budget(run: Run, texts: Sequence[str]) -> None:
    """Replace the caps of the budget; spending so far still counts."""
    prices = run.header.prices if isinstance(run.header, RunHeader) else ()
    await _change(run, budget=new_budget(texts, run.header.specs, prices))


async def _change(run: Run, **fields: object) -> None:
    await run.store.order(run.name, msgspec.structs.replace(await run.store.orders(run.name), **fields))
