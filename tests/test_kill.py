"""`kill -9` at random moments of a run, resumed each time: nothing recorded is lost or paid twice, in either store."""

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest
from clinic import case_file, lines
from pgserver import PgServer
from until import until

from wardround.engine.events import Called
from wardround.engine.models.chat import encode_body
from wardround.runs.stored_run import Run, open_store
from wardround.testing.loopback import Loopback

pytestmark = pytest.mark.kill

KILLS, EPISODES, FEW = 50, 300, 120
KILLS_ON_A_SERVER = 20
"""What a kill may lose is the same in each store; on PostgreSQL `FEW` episodes are killed less often."""
CALLS = 5
"""Calls of one episode."""
CONCURRENCY = 20


@pytest.fixture(scope="module")
def pgserver() -> Iterator[PgServer]:
    with PgServer() as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store is, as `--store` takes it."""
    server: PgServer | None = request.getfixturevalue("pgserver") if request.param == "postgres" else None
    return server.fresh() if server else str(tmp_path / "cut.db")


def command(*more: str) -> list[str]:
    return [sys.executable, "-m", "wardround", *more]


async def started(*more: str) -> anyio.abc.Process:
    return await anyio.open_process(
        command(*more), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ
    )


async def finished(store: str, *more: str) -> dict[str, Any]:
    done = await anyio.run_process(command(*more, "--store", store, "--json"), check=False)
    assert done.stdout, done.stderr.decode()
    return dict(json.loads(done.stdout))


def playing(cases: Path, server: Loopback, store: str) -> Sequence[str]:
    """The arguments that begin the run `r`."""
    settings = ["--repeats", "1", "--concurrency", str(CONCURRENCY), "--no-preflight", "--name", "r"]
    return ["run", "--cases", str(cases), "--doctor", "openai/m", "--base-url", server.base_url, *settings]


class Recorded:
    """The calls that a store has, by the hash of the body that the server was sent; read only as far as it is new."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._events: dict[str, int] = {}
        self.bodies: Counter[str] = Counter()

    async def read(self) -> None:
        """Look again."""
        store = open_store(self._where)
        run = await Run.open(store, "r")
        for row in await run.episodes():
            seen = self._events.get(row.id, 0)
            if row.events == seen:
                continue
            trajectory = await run.trajectory(row.id)
            self._events[row.id] = len(trajectory.events)
            for event in trajectory.events[seen:]:
                if isinstance(event, Called):
                    sent = encode_body("m", trajectory.messages(event), {"temperature": 0.8}, new_name=False)
                    self.bodies[blake2b(sent, digest_size=16).hexdigest()] += 1
        await store.aclose()

    def frozen(self, server: Loopback) -> dict[str, int]:
        """How often each recorded call was made so far: it must never be more."""
        return {body: server.counts[body] for body in self.bodies}


async def killed(process: anyio.abc.Process, server: Loopback, after: int, wait: float) -> bool:
    """Kill the process `wait` seconds after `after` more requests came to the server; False if it ended before."""
    goal = server.total + after
    while server.total < goal:
        if process.returncode is not None:
            return False
        with anyio.move_on_after(0.01):
            await process.wait()
    await anyio.sleep(wait)
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    await process.wait()
    return process.returncode == -signal.SIGKILL


async def same_as_uncut(whole: str, cut: str, episodes: int) -> None:
    """Equal scores, every episode replays equal, and every recorded call is booked once."""
    tables = [await finished(store, "score", "r") for store in (whole, cut)]
    timeless = [[s for s in t["scores"] if "second" not in s["name"] and "time" not in s["name"]] for t in tables]
    assert timeless[0] == timeless[1]
    assert (await finished(cut, "replay", "r"))["equal"] == episodes
    for where in (whole, cut):
        store = open_store(where)
        booked = sum(row.spent.calls for row in await store.spending("r"))
        await store.aclose()
        assert booked == CALLS * episodes, "the account is what the log has"


@pytest.mark.timeout(3600)
async def test_killed_many_times_it_ends_as_if_nothing_had_happened(store: str, tmp_path: Path) -> None:
    kills, episodes = (KILLS_ON_A_SERVER, FEW) if store.startswith("postgresql") else (KILLS, EPISODES)
    cases, whole = case_file(tmp_path / "cases.jsonl", episodes), str(tmp_path / "whole.db")
    chance, recorded = random.Random(7), Recorded(store)
    async with Loopback(lambda messages, model: lines("workup", messages), latency=0.05) as server:
        play = playing(cases, server, store)
        assert (await finished(whole, *play))["endings"] == {"completed": episodes}
        assert server.total == CALLS * episodes
        server.counts.clear()
        begun, frozen = server.total, dict[str, int]()
        for kill in range(kills):
            process = await started(*(play if not kill else ["run", "--resume", "r"]), "--store", store)
            assert await killed(process, server, chance.randrange(1, 46), chance.uniform(0, 0.1)), "it ended too soon"
            await recorded.read()
            for body, count in recorded.frozen(server).items():
                assert frozen.setdefault(body, count) == count, "a recorded call was made again"
        ended = await finished(store, "run", "--resume", "r")
        assert ended["endings"] == {"completed": episodes}
        assert all(server.counts[body] == count for body, count in frozen.items()), "a recorded call was made again"
        await recorded.read()
        assert set(recorded.bodies.values()) == {1}
        assert len(recorded.bodies) == CALLS * episodes
        again = server.total - begun - CALLS * episodes
        assert 0 <= again <= kills * CONCURRENCY, "only calls in flight at a kill may be made again"
    await same_as_uncut(whole, store, episodes)


@pytest.mark.timeout(1800)
async def test_of_two_processes_one_is_killed_and_the_other_ends_the_run(store: str, tmp_path: Path) -> None:
    cases, whole = case_file(tmp_path / "cases.jsonl", FEW), str(tmp_path / "whole.db")
    recorded = Recorded(store)
    async with Loopback(lambda messages, model: lines("workup", messages), latency=0.2) as server:
        play = playing(cases, server, store)
        await finished(whole, *playing(cases, server, whole))
        server.counts.clear()
        begun = server.total
        first = await started(*play, "--store", store)
        await until(lambda: server.total >= begun + CONCURRENCY, 300)
        server.latency = 5.0  # the first one must not be ready before the second one has started
        second = await started("run", "--resume", "r", "--store", store)
        with anyio.fail_after(300):
            while len(await at_work(store)) < 2:  # noqa: ASYNC110 - another process is watched
                await anyio.sleep(0.1)
        server.latency = 0.2
        assert await killed(first, server, 150, 0.05)
        await recorded.read()
        frozen = recorded.frozen(server)
        with anyio.fail_after(900):
            assert await second.wait() == 0, "the other one ends the run"
        assert all(server.counts[body] == count for body, count in frozen.items()), "a recorded call was made again"
        await recorded.read()
        assert set(recorded.bodies.values()) == {1}
        assert len(recorded.bodies) == CALLS * FEW
        assert 0 <= server.total - begun - CALLS * FEW <= CONCURRENCY
    await same_as_uncut(whole, store, FEW)


async def test_after_a_kill_the_log_beside_the_file_belongs_to_it(tmp_path: Path) -> None:
    cases, where, copy = case_file(tmp_path / "cases.jsonl", FEW), tmp_path / "cut.db", tmp_path / "copy.db"
    async with Loopback(lambda messages, model: lines("workup", messages), latency=0.05) as server:
        process = await started(*playing(cases, server, str(where)), "--store", str(where))
        assert await killed(process, server, 200, 0.05)
    both, log = tmp_path / "both.db", (tmp_path / "cut.db-wal").read_bytes()
    assert log, "what a killed process wrote lies in the log"
    both.write_bytes(where.read_bytes())
    (tmp_path / "both.db-wal").write_bytes(log)
    assert (await finished(str(both), "replay", "r"))["differ"] == []
    expected = await finished(str(where), "replay", "r")  # any verb that opens the store puts the log into the file
    assert expected["episodes"] > 0
    copy.write_bytes(where.read_bytes())
    assert await finished(str(copy), "replay", "r") == expected


async def at_work(where: str) -> list[int]:
    """The processes at work on the run."""
    store = open_store(where)
    rows = [row.pid for row in await store.sessions("r") if row.alive and row.ended is None]
    await store.aclose()
    return rows
