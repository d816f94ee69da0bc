"""What the driver of a cluster run and its workers check before anything is played."""

import os
import socket
from importlib.metadata import version
from pathlib import Path

import pytest

from wardround.clustering import run_clustered, shared_store, without_password, work
from wardround.engine.cluster import Cluster
from wardround.engine.errors import UsageError
from wardround.planning import plan, write_down
from wardround.settings import validated
from wardround.stored import open_store

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
    await write_down(await plan(validated(fields, "test"), store, {}), store)
    await store.aclose()
    return where


async def joined(where: Path, *, version_of: str = version("wardround"), file_of: str = "") -> dict[str, int]:
    """How the run stands after a worker's work."""
    await work("r", f"sqlite:{where}", (1, 1), 4, version_of, file_of)
    store = open_store(where)
    try:
        return dict(await store.endings("r"))
    finally:
        await store.aclose()


async def test_a_worker_plays_what_is_open(tmp_path: Path) -> None:
    assert await joined(await planned(tmp_path), file_of=socket.gethostname()) == {"completed": 2}


async def test_a_worker_of_another_version_or_without_the_file_does_nothing(tmp_path: Path) -> None:
    where = await planned(tmp_path)
    with pytest.raises(UsageError, match=r"0\.0\.0 where the run was started"):
        await joined(where, version_of="0.0.0")
    with pytest.raises(UsageError, match="is a file on elsewhere; workers on other machines need a PostgreSQL store"):
        await joined(where, file_of="elsewhere")
    assert await joined(where) == {"completed": 2}


async def test_what_the_driver_refuses(tmp_path: Path) -> None:
    where = await planned(tmp_path, seats={"doctor": {"spec": "human"}})
    with pytest.raises(UsageError, match="a person has no seat in a worker"):
        await run_clustered("r", str(where), HERE)
    with pytest.raises(UsageError, match="no run"):
        await run_clustered("other", str(where), HERE)
