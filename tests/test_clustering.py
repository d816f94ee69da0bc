"""What the driver of a cluster run and its workers check before anything is played."""

import os
import socket
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import cast

import anyio
import pytest
from examples import first_ones
from until import until

from wardround.cluster_run import DEATHS, CrewDriver, run_clustered, shared_store, without_password, work
from wardround.engine.batch import Progress
from wardround.engine.cluster import Cluster, WorkerCrew, WorkerReport
from wardround.engine.errors import StoreError, UsageError, WardroundError
from wardround.engine.records import Json
from wardround.engine.sessions import RunControl
from wardround.runs.plan import create_run, plan_run
from wardround.runs.settings import validate_settings
from wardround.runs.stored_run import Run, open_store

HERE, AUTO, HEAD = Cluster("", 2), Cluster("auto", 2), Cluster("ray://head:10001", 2)


def test_workers_of_this_machine_find_a_file_by_its_whole_path() -> None:
    whole = f"sqlite:{os.getcwd()}/some.db"
    assert shared_store("some.db", HERE) == whole
    assert shared_store("sqlite:some.db", HERE) == whole
    assert shared_store("sqlite:///data/some.db", AUTO) == "sqlite:/data/some.db"
    assert shared_store("postgresql://db/x", HEAD) == "postgresql://db/x"


@pytest.mark.parametrize(
    ("where", "cluster"),
    [("some.db", AUTO), ("sqlite:data/some.db", HEAD), (":memory:", HERE), ("sqlite::memory:", AUTO), ("", HERE)],
)
def test_a_store_that_workers_cannot_share_is_refused(where: str, cluster: Cluster) -> None:
    with pytest.raises(UsageError, match="--store"):
        shared_store(where, cluster)


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("postgresql://user:pw@db:5/x?schema=y", "postgresql://user@db:5/x?schema=y"),
        ("postgresql://db/x?password=pw", "postgresql://db/x"),
        ("postgresql:///x?host=%2Frun%2Fdb", "postgresql:///x?host=%2Frun%2Fdb"),
        ("postgresql:///x?host=%2Frun%2Fdb&password=pw", "postgresql:///x?host=%2Frun%2Fdb"),
        ("sqlite:/data/some.db", "sqlite:/data/some.db"),
    ],
)
def test_a_password_does_not_travel(url: str, sent: str) -> None:
    assert without_password(url) == sent


async def planned(tmp_path: Path, **settings: object) -> Path:
    """A run `r` of the bundled cases that is written down and not played."""
    where = tmp_path / "some.db"
    store = open_store(where)
    fields = {"cases": "bundled", "scenario": "workup", "limit": 2, "name": "r", "preflight": False, **settings}
    await create_run(await plan_run(validate_settings(fields, "test"), store, {}), store)
    await store.aclose()
    return where


async def joined(where: Path, *, version_of: str = version("wardround"), file_of: str = "") -> dict[str, int]:
    """How the run stands after a worker's work."""
    await work("r", f"sqlite:{where}", (1, 1), 4, (version_of, file_of))
    store = open_store(where)
    try:
        return dict(await store.endings("r"))
    finally:
        await store.aclose()


async def test_a_worker_plays_what_is_open(tmp_path: Path) -> None:
    assert await joined(await planned(tmp_path), file_of=socket.gethostname()) == {"completed": 2}


@pytest.mark.long
async def test_a_worker_of_another_version_or_without_the_file_does_nothing(tmp_path: Path) -> None:
    where = await planned(tmp_path)
    with pytest.raises(UsageError, match=r"0\.0\.0 where the run was started"):
        await joined(where, version_of="0.0.0")
    with pytest.raises(UsageError, match="is a file on elsewhere; workers on other machines need a PostgreSQL store"):
        await joined(where, file_of="elsewhere")
    assert await joined(where) == {"completed": 2}


@pytest.mark.parametrize("person", ["human", "wardround.agents.human:Human"])
async def test_what_the_driver_refuses(tmp_path: Path, person: str) -> None:
    where = await planned(tmp_path, seats={"doctor": {"spec": person}})
    with pytest.raises(UsageError, match="a person has no seat in a worker"):
        await run_clustered("r", str(where), HERE)
    with pytest.raises(UsageError, match="no run"):
        await run_clustered("other", str(where), HERE)


class Told:
    """A crew without workers: each that is started does what was written down for it."""

    def __init__(self, *happens: WorkerReport) -> None:
        self._happens = happens
        self.started: list[Mapping[str, Json]] = []
        self._send, self._heard = anyio.create_memory_object_stream[WorkerReport](100)

    async def start(self, place: int, arguments: Mapping[str, Json]) -> None:
        self.started.append({"place": place, **arguments})
        for happened in self._happens:
            await self._send.send(WorkerReport(happened.kind, place, "far", 7, None, happened.error, happened.text))

    async def next(self) -> WorkerReport:
        return await self._heard.receive()

    def close(self) -> None:
        self._send.close()
        self._heard.close()


async def driven(where: Path, crew: Told, progress: Progress, workers: int = 1) -> None:
    """A driver's work with such a crew."""
    store = open_store(where)
    try:
        driver = CrewDriver(await Run.open(store, "r"), cast(WorkerCrew, crew), progress, {"concurrency": 8})
        driver.pause = 0.0
        with anyio.fail_after(200):
            await driver.play(workers)
    finally:
        crew.close()
        await store.aclose()


STARTED, DIED = WorkerReport("started", 0), WorkerReport("died", 0, text="out of memory")


async def test_a_worker_that_always_dies_is_given_up_and_the_run_can_be_resumed(tmp_path: Path) -> None:
    crew, where = Told(STARTED, DIED), await planned(tmp_path)
    with pytest.raises(WardroundError, match=r"2 episodes are open.*worker 1 on far: out of memory.*--resume r"):
        await driven(where, crew, Progress())
    assert [started["concurrency"] for started in crew.started] == [8, 8, *[1] * (DEATHS - 1)]
    assert [started["share"] for started in crew.started] == [(1, 1)] * (DEATHS + 1)
    assert await joined(where) == {"completed": 2}


@pytest.mark.parametrize("error", first_ones(["UsageError", "PreflightError", "EgressError", "StoreError"], 2))
async def test_a_worker_that_cannot_work_stops_the_job(tmp_path: Path, error: str) -> None:
    crew, where = Told(STARTED, WorkerReport("failed", 0, error=error, text="a wrong key")), await planned(tmp_path)
    with pytest.raises(StoreError if error == "StoreError" else UsageError, match=r"^worker 1 on far: a wrong key$"):
        await driven(where, crew, Progress())
    assert len(crew.started) == 1


@pytest.mark.long
async def test_a_store_that_fails_a_worker_later_does_not_stop_the_job(tmp_path: Path) -> None:
    where = await planned(tmp_path)
    store = open_store(where)
    await store.begin("r", host="far/pid:[1]", pid=7)
    crew = Told(STARTED, WorkerReport("failed", 0, error="StoreError", text="the connection was lost"))
    with pytest.raises(WardroundError, match="died too often") as raised:
        await driven(where, crew, Progress())
    assert not isinstance(raised.value, StoreError)
    assert len(crew.started) == DEATHS + 1
    assert [row.alive for row in await store.sessions("r")] == [False], "what it held is free at once"
    await store.aclose()


async def test_workers_that_end_are_not_started_again(tmp_path: Path) -> None:
    crew, where = Told(STARTED, WorkerReport("finished", 0)), await planned(tmp_path)
    progress = Progress()
    await driven(where, crew, progress, workers=3)
    assert [(started["place"], started["share"]) for started in crew.started] == [(1, (1, 3)), (2, (2, 3)), (3, (3, 3))]
    assert (progress.total, progress.closed) == (2, 0)


async def test_a_stop_does_not_wait_for_workers_that_never_began(tmp_path: Path) -> None:
    crew, where, progress = Told(), await planned(tmp_path), Progress()
    async with anyio.create_task_group() as group:
        group.start_soon(driven, where, crew, progress, 2)
        await until(lambda: len(crew.started) == 2)
        progress.drain()
    store = open_store(where)
    assert (await store.orders("r")).state == "stop"
    await store.order("r", RunControl(state="stop", concurrency=3))
    again = Told(WorkerReport("finished", 0))
    await driven(where, again, Progress())
    assert len(again.started) == 1, "to play it again is to take the order back"
    assert await store.orders("r") == RunControl(concurrency=3)
    await store.aclose()
