"""Fixtures that every test may use."""

import gc
import ipaddress
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from examples import QUICK
from hypothesis import HealthCheck, settings
from shell import Copied, Shell


def _loopback_only(event: str, args: tuple[Any, ...]) -> None:
    """Refuses every connection that leaves this machine: the suite runs without network and must notice if it tries."""
    if event == "socket.connect":
        address = args[1]
    elif event == "socket.getaddrinfo":
        address = args[:1]
    else:
        return
    host = address[0] if isinstance(address, tuple) else None
    if not isinstance(host, str) or host == "localhost":
        return
    try:
        inside = ipaddress.ip_address(host).is_loopback
    except ValueError:
        inside = False
    if not inside:
        raise RuntimeError(f"a test tried to reach {host}; tests talk to this machine only")


sys.addaudithook(_loopback_only)

# How long an example takes says nothing of the program where the machine has other work.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", _PATIENT, max_examples=QUICK)
settings.register_profile("full", _PATIENT, max_examples=60)  # make test-all: all of CI within forty minutes
settings.load_profile("quick")


collect_ignore = ["plugin"]
"""A package of its own, whose test runs where it is installed (tests/cli/test_new.py)."""
MEMORY, ROOM = Path("/dev/shm"), 4 * 2**30
"""A file system in memory, and the free bytes from which tests use it."""


def pytest_configure() -> None:
    """Temporary files lie in memory where there is room: no test asks what a disk does, and each commit waits for one.

    A folder that the user names (`--basetemp`, PYTEST_DEBUG_TEMPROOT) comes first.
    """
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


gc.disable()  # up to the end of collecting: nothing that it makes is garbage


def pytest_collection_finish() -> None:
    """What collecting made stays to the end, so the collector of garbage need not look through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 100)  # what tests load, such as the tables of diseases, is looked through far less
    gc.enable()


SLOWEST = ("records", "kill", "ray")
"""Marks of tests that take minutes. They go first: else one process ends with them while the others wait."""


GROUPS = {"ray": "ray", "packaging": "build", "scispacy": "build"}
"""Marks of tests that share a Ray of this machine or a build: two builds at once would remove each other's files."""


def pytest_itemcollected(item: pytest.Item) -> None:
    """Under `--dist loadgroup` tests that share something stay in one process; all others go wherever there is room.

    xdist reads the group of a test before it asks for changes to the list of tests, so it is named here.
    """
    for mark, group in GROUPS.items():
        if item.get_closest_marker(mark):
            item.add_marker(pytest.mark.xdist_group(group))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let the slowest tests go first, where tests are handed out by groups."""
    if config.getoption("loadgroup", False):  # xdist sets it in each of its processes
        items.sort(key=lambda item: not any(item.get_closest_marker(mark) for mark in SLOWEST))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Pytest has just looked for garbage, and does so once more before it ends: there is nothing new to find."""
    gc.freeze()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The data folder beside the project; tests that use it are marked `shared` and skipped where it is absent."""
    folder = Path(__file__).resolve().parent.parent.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("no ../shared/data beside this checkout")
    return folder


@pytest.fixture(scope="session")
def _filled() -> dict[str, Path]:
    return {}


@pytest.fixture
def copied(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, _filled: dict[str, Path]) -> Copied:
    """Copies into the test's folder what a function fills a folder with; it is called once for all tests."""

    def copy(fill: Callable[[Path], object]) -> Path:
        name = f"{fill.__module__}.{fill.__qualname__}"
        if name not in _filled:
            folder = tmp_path_factory.mktemp("filled")
            fill(folder)
            _filled[name] = folder
        return shutil.copytree(_filled[name], tmp_path, dirs_exist_ok=True)

    return copy


@pytest.fixture
def two_runs(copied: Copied, shell: Shell) -> Path:
    """A store with two runs, `g` (gold) and `s` (silent), of four cases."""
    from clinic import case_file

    def fill(folder: Path) -> None:
        told = ("run", "--cases", case_file(folder / "cases.jsonl", 4), "--store", folder / "runs.db")
        assert shell(*told, "--doctor", "gold", "--name", "g") == 0
        assert shell(*told, "--doctor", "silent", "--name", "s") == 3

    return copied(fill) / "runs.db"


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs the command line in this process."""
    return Shell(capsys)
