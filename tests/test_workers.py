"""Runs played by workers, processes or of Ray: one killed half-way, bad episodes, none that can work, stops."""

import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from hashlib import blake2b
from pathlib import Path

import anyio
import pytest
from clinic import case_file, lines
from errands import MARKS
from pgserver import PgServer

import wardround
from wardround.cluster_run import run_clustered
from wardround.engine.batch import Progress, run_beside
from wardround.engine.cluster import Cluster
from wardround.engine.errors import UsageError
from wardround.engine.events import Called, Closed, Row, decode
from wardround.engine.models.chat import encode_body
from wardround.engine.sessions import RunControl
from wardround.engine.trajectory import Trajectory
from wardround.replay_run import replay_run
from wardround.runs.plan import create_run, plan_run
from wardround.runs.settings import validate_settings
from wardround.runs.stored_run import Run, open_store
from wardround.testing.loopback import Loopback

pytestmark = pytest.mark.timeout(2400)
CONCURRENCY = 32


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.ray)], ids=["processes", "ray"])
def by_ray(request: pytest.FixtureRequest) -> bool:
    """Whether the workers are those of Ray, or processes of this machine."""
    return bool(request.param)


async def planned(where: str | Path, cases: Path, doctor: dict[str, object], **more: object) -> Run:
    """A run `r` of a case file, written down and not played."""
    store = open_store(where)
    fields = {
        "cases": str(cases),
        "scenario": "workup",
        "repeats": 1,
        "name": "r",
        "preflight": False,
        "concurrency": CONCURRENCY,
        "seats": {"doctor": doctor},
        **more,
    }
    return await create_run(await plan_run(validate_settings(fields, "test"), store, {}), store)


def stored(where: Path) -> dict[str, list[Row]]:
    """Episode to its rows, as they are in the file at this moment."""
    connection = sqlite3.connect(where)
    found: dict[str, list[Row]] = {}
    query = (
        "SELECT p.name, e.seq, e.hash, e.body FROM events e JOIN episodes p ON p.id = e.episode ORDER BY p.id, e.seq"
    )
    for name, seq, digest, body in connection.execute(query):
        found.setdefault(name, []).append(Row(seq, digest, body))
    connection.close()
    return found


def recorded(where: Path) -> Counter[str]:
    """The bodies of all calls that are in the store, as the server hashes them."""
    found: Counter[str] = Counter()
    for rows in stored(where).values():
        events = decode(rows)
        trajectory = Trajectory(events, {})
        for event in events:
            if isinstance(event, Called):
                sent = encode_body("m", trajectory.messages(event), {"temperature": 0.8}, new_name=False)
                found[blake2b(sent, digest_size=16).hexdigest()] += 1
    return found


async def scores(run: Run) -> list[tuple[str, str, float | None, str]]:
    """The run's scores that do not depend on the clock."""
    await wardround.score_run(run)
    found = [(episode, score.name, score.value, score.reason) async for episode, _, score in run.store.scores("r")]
    return [row for row in found if "second" not in row[1] and "time" not in row[1]]


async def when(happened: Callable[[], Awaitable[bool]]) -> None:
    """Return soon after something is so."""
    while not await happened():  # noqa: ASYNC110 it happens in another process
        await anyio.sleep(0.02)


@pytest.mark.long
async def test_many_episodes_and_one_worker_killed_half_way(tmp_path: Path, by_ray: bool) -> None:
    many, workers = (2000, 4) if by_ray else (300, 2)
    cases = case_file(tmp_path / "cases.jsonl", many)
    async with Loopback(lambda messages, model: lines("workup", messages), latency=0.05) as server:
        doctor: dict[str, object] = {"spec": "openai/m", "base_url": server.base_url}
        alone = await planned(tmp_path / "alone.db", cases, doctor)
        await wardround.api.join("r", store=alone.store)
        assert server.total == 5 * many
        server.counts.clear()
        begun = server.total

        where = tmp_path / "shared.db"
        run = await planned(where, cases, doctor)
        kept: list[Counter[str]] = []

        async def half_way() -> bool:
            return server.total - begun > 5 * many // 2

        async def all_at_work() -> bool:
            return len({row.pid for row in await run.store.sessions("r")}) == workers

        async def kill() -> None:
            await when(half_way)
            await when(all_at_work)
            sessions = await run.store.sessions("r")
            os.kill(sessions[0].pid, signal.SIGKILL)
            kept.append(await anyio.to_thread.run_sync(recorded, where))

        async with anyio.create_task_group() as group:
            group.start_soon(kill)
            await run_clustered("r", str(where), Cluster("", workers, by_ray), progress=(progress := Progress()))
        assert await run.endings() == {"completed": many}
        assert (progress.total, progress.closed) == (many, many)

        assert 0 < sum(kept[0].values()) < 5 * many
        assert {server.counts[body] for body in kept[0]} == {1}, "a recorded call was made again"
        again = server.total - begun - 5 * many
        assert 0 <= again <= CONCURRENCY, "only calls in flight at the kill may be made again"
    assert progress.spent.calls == 5 * many, "what is in the log is booked once"

    sessions = await run.store.sessions("r")
    assert len(sessions) == workers + 1, "another worker took the place of the killed one"
    assert all(row.ended is not None for row in sessions)
    for name, rows in stored(where).items():
        closed = [event for event in decode(rows) if isinstance(event, Closed)]  # decode follows the chain of hashes
        assert len(closed) == 1, name
    assert set(recorded(where).values()) == {1}
    assert [outcome.error async for outcome in replay_run(run) if outcome.error] == []
    assert await scores(run) == await scores(alone)
    await run.store.aclose()
    await alone.store.aclose()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where an empty store of each kind is."""
    if request.param == "sqlite":
        yield str(tmp_path / "runs.db")
    else:
        with PgServer() as server:
            yield server.fresh()


@pytest.mark.long
async def test_bad_episodes_do_not_end_the_job(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_ray: bool
) -> None:
    monkeypatch.setenv(MARKS, str(tmp_path))  # which also shows that workers of this machine inherit the environment
    cases = case_file(tmp_path / "cases.jsonl", 12)
    run = await planned(where, cases, {"spec": "errands:Clumsy"}, concurrency=2)
    await run_clustered("r", where, Cluster("", 2, by_ray))
    assert await run.endings() == {"completed": 11, "doctor": 1}
    [raised] = [row async for row in run.store.episodes("r", causes=["doctor"])]
    assert (raised.case, raised.reason) == ("case-003", "error")
    sessions = await run.store.sessions("r")
    assert len(sessions) == 3
    assert int((tmp_path / "killed").read_text()) in [row.pid for row in sessions], "one episode killed its worker"
    for row in await run.episodes():
        kinds = Counter(type(event).__name__ for event in decode(await run.rows(row.id)))
        assert kinds["Opened"] == kinds["Closed"] == 1, "it went on where the dead worker had left it"
    await run.store.aclose()


@pytest.mark.long
async def test_workers_that_cannot_work_say_why(tmp_path: Path, by_ray: bool) -> None:
    cases = case_file(tmp_path / "cases.jsonl", 4)
    async with Loopback(key="another") as server:
        doctor: dict[str, object] = {"spec": "openai/m", "base_url": server.base_url}
        run = await planned(tmp_path / "runs.db", cases, doctor, preflight=True)
        with pytest.raises(UsageError, match=r"worker \d.*key") as error:
            await run_clustered("r", str(tmp_path / "runs.db"), Cluster("", 2, by_ray))
        assert server.total <= 2, f"each worker tries once: {error.value}"
    assert await run.endings() == {"open": 4}
    await run.store.aclose()


@pytest.mark.long
async def test_a_stop_drains_and_the_run_goes_on_later(tmp_path: Path, by_ray: bool) -> None:
    cases, where = case_file(tmp_path / "cases.jsonl", 80), tmp_path / "runs.db"
    async with Loopback(lambda messages, model: lines("workup", messages), latency=0.05) as server:
        doctor: dict[str, object] = {"spec": "openai/m", "base_url": server.base_url}
        run = await planned(where, cases, doctor, concurrency=4)

        async def drained(stop: Callable[[Progress], Awaitable[None]], calls: int) -> int:
            """Play until so many more calls were made, then stop; returns how many episodes are open."""
            goal, progress = server.total + calls, Progress()

            async def reached() -> bool:
                return server.total >= goal

            async def stopping() -> None:
                await when(reached)
                await stop(progress)

            async with run_beside(stopping):
                await run_clustered("r", str(where), Cluster("", 2, by_ray), progress=progress)
            endings = await run.endings()
            assert progress.draining
            assert set(endings) == {"open", "completed"}, "a stop closes nothing"
            assert (progress.total, progress.closed) == (80, endings["completed"])
            assert all(row.ended is not None for row in await run.store.sessions("r"))
            return endings["open"]

        async def interrupt(progress: Progress) -> None:
            progress.drain("it was interrupted")  # what Ctrl-C does

        async def order(progress: Progress) -> None:
            del progress
            await run.store.order("r", RunControl(state="stop"))  # what another terminal does

        first = await drained(interrupt, 40)
        second = await drained(order, 40)
        assert 0 < second < first < 80
        await wardround.resume("r", store=run.store)  # without a cluster, for once
        assert await run.endings() == {"completed": 80}
        assert server.total == 400, "no call was made twice or lost"
    await run.store.aclose()
