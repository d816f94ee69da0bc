"""Addresses of clusters, and a crew of workers on a Ray of this machine."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from wardround.engine.cluster import Cluster, WorkerCrew, WorkerReport, cluster_of
from wardround.engine.errors import UsageError, WardroundError

ROOT = Path(__file__).resolve().parents[2]
LOOPBACK = {"0100007F", "0" * 24 + "01000000", "0000000000000000FFFF00000100007F"}
"""127.0.0.1, ::1 and ::ffff:127.0.0.1 as the kernel writes them."""


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ray", ""),
        ("ray:auto", "auto"),
        ("ray://auto", "auto"),
        ("ray://head", "ray://head:10001"),
        ("ray://10.0.0.1:7000", "ray://10.0.0.1:7000"),
        ("ray://[fd00::1]:7000", "ray://[fd00::1]:7000"),
    ],
)
def test_an_address_is_read(text: str, address: str) -> None:
    assert cluster_of(text, 3) == Cluster(address, 3)
    assert cluster_of(text, 3).local == (text == "ray")


@pytest.mark.parametrize(
    "text", ["", "rays", "local", "ray:", "ray:head", "http://head:1", "ray://", "ray://head:port", "ray://u:pw@head"]
)
def test_a_wrong_address_is_refused_without_repeating_a_password(text: str) -> None:
    with pytest.raises(UsageError) as error:
        cluster_of(text, 2)
    assert "--cluster" in str(error.value)
    assert "pw" not in str(error.value)


def test_the_number_of_workers() -> None:
    assert cluster_of("ray").workers == os.cpu_count()
    with pytest.raises(UsageError, match="--workers 0"):
        cluster_of("ray", 0)
    with pytest.raises(UsageError, match="--workers N"):
        cluster_of("ray:auto")
    with pytest.raises(UsageError, match="write ray, ray:auto or ray://HOST"):
        cluster_of("slurm")


def python(code: str) -> str:
    """What a fresh Python prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_ray_is_imported_only_by_the_child_process() -> None:
    """In a function of its module; test_start.py says that no verb has it loaded."""
    named = [
        path.relative_to(ROOT)
        for folder in ("engine", "scenarios", "agents", "evaluators", "wardround")
        for path in (ROOT / folder).rglob("*.py")
        if "import ray" in path.read_text() or 'import_module("ray")' in path.read_text()
    ]
    assert set(named) == {Path("engine/ray_process.py"), Path("wardround/engine/ray_process.py")} & set(named)
    assert Path("engine/ray_process.py") in named


def test_a_missing_extra_is_said() -> None:
    code = """if True:
        import sys, anyio
        sys.modules["ray"] = None
        from wardround.engine.cluster import Cluster, WorkerCrew
        from wardround.engine.errors import UsageError
        async def main():
            async with WorkerCrew(Cluster("", 1), "errands:errand"): pass
        try: anyio.run(main)
        except UsageError as error: print(error)
    """
    assert "pip install 'wardround[ray]'" in python(code)


async def until(crew: WorkerCrew, kind: str, count: int = 1) -> list[WorkerReport]:
    """The next events, up to the last of so many of one kind."""
    heard: list[WorkerReport] = []
    while sum(happened.kind == kind for happened in heard) < count:
        heard.append(await crew.next())
    return heard


def members(session: int) -> list[int]:
    """The processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def listening(session: int) -> set[str]:
    """The addresses (as the kernel writes them) on which processes of a session accept TCP connections."""
    inodes = set()
    for process in members(session):
        for link in Path(f"/proc/{process}/fd").glob("*"):
            try:
                inodes.add(os.readlink(link).removeprefix("socket:[").removesuffix("]"))
            except OSError:
                continue
    rows = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and row[9] in inodes}


async def gone(session: int) -> None:
    """Return when no process of a session is left."""
    with anyio.fail_after(200):
        while members(session):  # noqa: ASYNC110 the kernel tells nobody
            await anyio.sleep(0.1)


@pytest.mark.ray
@pytest.mark.timeout(900)
async def test_what_becomes_of_workers_is_told_and_nothing_is_left_behind(capfd: pytest.CaptureFixture[str]) -> None:
    secret = "hunter2-and-more"
    handler, environment = signal.getsignal(signal.SIGTERM), dict(os.environ)
    async with WorkerCrew(Cluster("", 4), "errands:errand") as crew:
        child, folder = crew._child, crew._folder
        assert child is not None
        whats = {1: "greet", 2: "refuse", 3: "stumble", 4: "vanish"}
        for place, what in whats.items():
            await crew.start(place, {"what": what, "secret": secret})
        ended: dict[str, WorkerReport] = {}
        while len(ended) < 4:
            happened = await crew.next()
            if happened.kind != "started":
                ended[whats[happened.place]] = happened
        assert ended["greet"].kind == "finished"
        assert ended["greet"].result["letters"] == len(secret)
        assert ended["greet"].result["statistics"] == "0", "Ray may send no usage statistics"
        assert (ended["refuse"].kind, ended["refuse"].error) == ("failed", "UsageError")
        assert ended["refuse"].text == "this errand is refused, key [hidden]"
        assert (ended["stumble"].kind, ended["stumble"].text) == ("died", "ValueError: a bug with 16 secret letters")
        assert ended["vanish"].kind == "died"

        await crew.start(2, {"what": "wait"})
        started = (await until(crew, "started"))[-1]
        assert started.pid in members(child.pid)
        assert listening(child.pid)
        assert listening(child.pid) <= LOOPBACK, "a Ray of this machine must be reached from this machine only"
        os.kill(started.pid, signal.SIGKILL)
        assert (await crew.next()).kind == "died"
        await crew.start(2, {"what": "greet"})
        assert (await until(crew, "finished"))[-1].place == 2

        written = [path for path in folder.rglob("*") if path.is_file()]
        assert written
        assert [path for path in written if secret.encode() in path.read_bytes()] == []
    assert not folder.exists()
    await gone(child.pid)
    assert signal.getsignal(signal.SIGTERM) == handler
    assert dict(os.environ) == environment
    assert capfd.readouterr() == ("", "")


@pytest.mark.ray
@pytest.mark.timeout(600)
async def test_a_cluster_that_never_answers_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        # Without an address Ray looks through all processes of this machine for a cluster, and may find one.
        monkeypatch.setenv("RAY_ADDRESS", f"127.0.0.1:{silent.getsockname()[1]}")
        async with WorkerCrew(Cluster("auto", 1), "errands:errand", patience=10) as crew:
            await crew.start(1, {"what": "greet"})
            with pytest.raises(UsageError, match="Ray at auto cannot be used: it did not answer in 10 s"):
                await crew.next()


@pytest.mark.ray
@pytest.mark.timeout(600)
async def test_a_ray_that_is_killed_takes_its_processes_along() -> None:
    async with WorkerCrew(Cluster("", 1), "errands:errand") as crew:
        child, folder = crew._child, crew._folder
        assert child is not None
        await crew.start(1, {"what": "wait"})
        await until(crew, "started")
        child.kill()
        with pytest.raises(WardroundError, match="Ray on this machine failed: its process ended with code -9"):
            await crew.next()
    assert not folder.exists()
    await gone(child.pid)
