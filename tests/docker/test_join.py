"""docker/join.sh, by which processes of a cluster begin one run or join it: run as they run it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from image import DOCKER
from pgserver import PgServer

from wardround.runs.stored_run import Run, open_store


def started(folder: Path, store: str, *arguments: str, wait: int = 250) -> "subprocess.Popen[str]":
    surroundings = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "WARDROUND_STORE": store,
        "JOIN_WAIT": str(wait),
    }
    return subprocess.Popen(
        [str(DOCKER / "join.sh"), *arguments],
        cwd=folder,
        env=surroundings,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


async def played_by(folder: Path, store: str, count: int) -> None:
    """The last is started first, and the run comes out whole, once."""
    options = ("--doctor", "baseline", "--limit", "6", "--no-preflight")
    crew = [started(folder, store, "trial", f"{number}/{count}", *options) for number in range(count, 0, -1)]
    said = [one.communicate(timeout=400) for one in crew]
    assert [one.returncode for one in crew] == [0] * count, said
    opened = open_store(store)
    try:
        assert [run.name for run in await opened.runs()] == ["trial"]
        assert await (await Run.open(opened, "trial")).endings() == {"completed": 6}
    finally:
        await opened.aclose()


@pytest.mark.long
@pytest.mark.timeout(500)
async def test_the_first_begins_the_others_join(tmp_path: Path) -> None:
    await played_by(tmp_path, str(tmp_path / "runs.db"), 2)


@pytest.mark.postgres
@pytest.mark.timeout(900)
async def test_the_same_on_a_server_and_a_late_one_goes_on(tmp_path: Path) -> None:
    with PgServer() as server:
        store = server.fresh()
        await played_by(tmp_path, store, 3)
        await played_by(tmp_path, store, 1)


@pytest.mark.long
def test_who_waits_in_vain_says_so(tmp_path: Path) -> None:
    waiting = started(tmp_path, str(tmp_path / "runs.db"), "trial", "2/3", wait=0)
    _, told = waiting.communicate(timeout=250)
    assert waiting.returncode == 2
    assert "run trial has not begun" in told


@pytest.mark.long
def test_a_signal_ends_the_wait(tmp_path: Path) -> None:
    waiting = started(tmp_path, str(tmp_path / "runs.db"), "trial", "2/3", wait=600)
    waiting.terminate()
    waiting.communicate(timeout=250)
    assert waiting.returncode in (143, -15)
