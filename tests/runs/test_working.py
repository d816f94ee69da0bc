"""At work on one run: what a dead process held is taken over, orders are heard, accounts add up."""

import asyncio
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from clinic import case_file, lines
from counted import Counted
from until import dropped

import wardround
from wardround.api import play_planned
from wardround.engine.batch import Progress
from wardround.engine.budget import Caps, Spending, SpendRow
from wardround.engine.errors import CaseLost
from wardround.engine.records import Score
from wardround.engine.sessions import RunControl, SessionRow
from wardround.engine.stores.sqlite import SqliteStore
from wardround.runs.control import status
from wardround.runs.plan import plan_run
from wardround.runs.seat_models import Access
from wardround.runs.seat_settings import SeatSettings
from wardround.runs.seats import SeatConfig, model_seat
from wardround.runs.settings import validate_settings
from wardround.runs.stored_run import Run
from wardround.runs.work_queue import free_dead_sessions, seconds_worked, spending_by_seat, this_machine
from wardround.testing.loopback import Loopback


def session(began: float, seen: float, ended: float | None = None) -> SessionRow:
    return SessionRow(1, "r", "h", 1, began, seen, ended, False, {})


def test_time_at_work_counts_two_at_once_only_once() -> None:
    assert seconds_worked([]) == 0.0
    assert seconds_worked([session(0, 10), session(20, 25, 30)]) == 20.0
    assert seconds_worked([session(5, 30, 30), session(0, 10), session(8, 9)]) == 30.0


def test_accounts_of_days_add_up_by_seat() -> None:
    rows = [SpendRow("r", "a", day, Spending(calls=2, cost=0.5)) for day in ("2026-01-01", "2026-01-02")]
    assert spending_by_seat([*rows, SpendRow("r", "b", "2026-01-01", Spending(calls=1))]) == {
        "a": Spending(calls=4, cost=1.0),
        "b": Spending(calls=1),
    }


async def begun(tmp_path: Path, count: int, url: str) -> SqliteStore:
    """A run of which nothing was played: the budget of one call drains it at once."""
    store = SqliteStore(tmp_path / "runs.db")
    cases = case_file(tmp_path / "cases.jsonl", count)
    doctor = {"spec": "openai/m", "base_url": url}
    progress = Progress()
    progress.drain("not yet")
    await wardround.run(
        cases, "oracle", doctor=doctor, repeats=1, name="r", store=store, preflight=False, progress=progress
    )
    assert await store.endings("r") == {"open": count}
    return store


def answering() -> Loopback:
    return Loopback(lambda messages, model: lines("oracle", messages))


def gone() -> int:
    """The id of a process that is no more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


async def test_what_a_dead_process_of_this_machine_held_is_free_at_once(tmp_path: Path) -> None:
    async with answering() as server:
        store = await begun(tmp_path, 6, server.base_url)
        held = await store.begin("r", host=this_machine(), pid=gone())
        assert len(await held.take(4)) == 4
        with anyio.fail_after(200):
            await wardround.resume("r", store=store)
        assert await store.endings("r") == {"completed": 6}
        await store.aclose()


async def test_a_process_that_is_no_more_is_not_said_to_be_at_work(tmp_path: Path) -> None:
    async with answering() as server:
        store = await begun(tmp_path, 2, server.base_url)
        run = await Run.open(store, "r")
        await store.begin("r", host="elsewhere/1", pid=gone())
        assert [row.host for row in (await status(run)).at_work] == ["elsewhere/1"], "only its lease can tell"
        await store.begin("r", host=this_machine(), pid=gone())
        assert [row.host for row in (await status(run)).at_work] == ["elsewhere/1"]
        await store.begin("r", host=this_machine(), pid=os.getpid())
        assert len((await status(run)).at_work) == 2
        await store.aclose()


async def test_a_stop_that_only_a_dead_process_could_hear_is_forgotten(tmp_path: Path) -> None:
    async with answering() as server:
        store = await begun(tmp_path, 2, server.base_url)
        await store.begin("r", host=this_machine(), pid=gone())
        await store.order("r", RunControl(state="stop"))
        await wardround.resume("r", store=store)
        assert await store.endings("r") == {"completed": 2}
        await store.aclose()


async def test_a_living_process_keeps_what_it_holds(tmp_path: Path) -> None:
    async with answering() as server:
        store = await begun(tmp_path, 6, server.base_url)
        held = await store.begin("r", host=this_machine(), pid=os.getpid())
        mine = await held.take(4)
        await free_dead_sessions(store, "r")
        other = asyncio.create_task(wardround.resume("r", store=store))
        with anyio.fail_after(200):
            while (await store.endings("r")).get("completed", 0) < 2:  # noqa: ASYNC110 the store tells nobody
                await anyio.sleep(0.01)
        await anyio.sleep(1.0)
        assert await store.endings("r") == {"completed": 2, "open": 4}
        assert not other.done(), "it waits for what another holds"
        await dropped(other)
        await held.end()
        await wardround.resume("r", store=store)
        assert await store.endings("r") == {"completed": 6}
        assert len(mine) == 4
        await store.aclose()


async def test_orders_that_were_given_before_are_heard_at_once(tmp_path: Path) -> None:
    async with answering() as server:
        store = await begun(tmp_path, 6, server.base_url)
        await wardround.resume("r", store=store, budget=["2calls"])
        assert await store.endings("r") == {"completed": 2, "open": 4}
        orders = await store.orders("r")
        assert orders == RunControl(budget=type(orders.budget)(Caps(calls=2)))
        await wardround.resume("r", store=store, retry=["doctor"], budget=["100calls"])
        assert spending_by_seat(await store.spending("r"))["doctor"].calls == 6
        await store.aclose()


async def test_a_judge_spends_on_its_own_account(tmp_path: Path) -> None:
    async with answering() as server, Loopback(lambda messages, model: "yes") as judging:
        store = await begun(tmp_path, 3, server.base_url)
        run = await wardround.resume("r", store=store)
        judge = model_seat(SeatSettings(spec="openai/j", base_url=judging.base_url), Access())
        await wardround.score_run(run, judge=judge)
        rows = await store.spending("r~standard")
        assert [(row.seat, row.spent.calls) for row in rows] == [("judge", judging.total)]
        assert judging.total > 0
        await store.aclose()


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_statistics_go_on_where_they_stopped(tmp_path: Path, concurrency: int) -> None:
    async with answering() as server:
        store = await begun(tmp_path, 6, server.base_url)
        await wardround.resume("r", store=store, budget=["2calls"], concurrency=concurrency)
        progress = Progress()
        await wardround.resume("r", store=store, budget=["50calls"], progress=progress)
        assert progress.spent.calls == 6
        assert progress.endings == {"completed": 6}
        assert (progress.total, progress.own) == (6, 4)
        await store.aclose()


class Named:
    """Scores without a question."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def score(self, case: object, trajectory: object, seat: object) -> list[Score]:
        return [Score(self.name, 1.0)]


async def test_each_scoring_of_a_process_counts_for_itself(tmp_path: Path) -> None:
    async with answering() as server:
        store = await begun(tmp_path, 6, server.base_url)
        run, progress = await wardround.resume("r", store=store), Progress()
        progress.obey(RunControl(concurrency=9))  # of the run that this process was at work on before
        evaluators = [Named("one"), Named("two")]
        await wardround.score_run(run, evaluators, judge=SeatConfig("lexical"), progress=progress, concurrency=5)
        for name in ("r~one", "r~two"):
            [session] = await store.sessions(name)
            assert (session.status["own"], session.status["concurrency"]) == (6, 5)
        assert (progress.total, progress.endings) == (6, {"completed": 6})
        await wardround.score_run(run, evaluators, progress=progress)
        assert (progress.total, progress.own, progress.endings) == (6, 6, {"completed": 6})
        await store.aclose()


async def test_what_a_pilot_played_is_not_counted_for_the_rest(tmp_path: Path) -> None:
    cases = case_file(tmp_path / "cases.jsonl", 6)
    settings = validate_settings(
        {"cases": str(cases), "scenario": "workup", "name": "r", "budget": ["1000calls"]}, "run"
    )
    store = SqliteStore(tmp_path / "runs.db")
    await play_planned(await plan_run(settings, store, {}), store, Progress(), pilot=2)
    assert [session.status["own"] for session in await store.sessions("r")] == [2, 4]
    await store.aclose()


async def test_the_cases_of_episodes_taken_together_are_read_together(tmp_path: Path) -> None:
    async with answering() as server:
        store = await begun(tmp_path, 20, server.base_url)
        counted = Counted(store)
        run = Run(counted, "r", (await Run.open(store, "r")).header)
        index = await run.index()
        counted.calls.clear()
        rows = [*await run.episodes()]
        await run.read_ahead(rows)
        assert [(await run.item(row.case)).id for row in rows] == list(index)
        assert (counted.calls["texts"], counted.calls["get"]) == (1, 0)
        with sqlite3.connect(store.path) as connection:
            connection.execute("UPDATE texts SET body = 'x' WHERE digest = ?", (index[rows[7].case],))
        damaged = Run(store, "r", run.header)
        await damaged.read_ahead(rows)
        with pytest.raises(CaseLost, match="was altered"):
            await damaged.item(rows[7].case)
        assert (await damaged.item(rows[8].case)).id == rows[8].case
        await store.aclose()
