"""Tests of one group run in one process: what shares a Ray or a build of the package relies on it."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.long
def test_a_group_stays_in_one_process(tmp_path: Path) -> None:
    """The installed pytest and xdist understand each other: with pytest 9.2 and xdist 3.8 no test had a group."""
    seen = tmp_path / "seen"
    (tmp_path / "test_it.py").write_text(
        "import os, pathlib, time, pytest\n"
        "@pytest.mark.xdist_group('g')\n"
        "@pytest.mark.parametrize('n', range(8))\n"
        "def test_it(n):\n"
        "    time.sleep(0.1)\n"
        f"    with pathlib.Path({str(seen)!r}).open('a') as file: file.write(f'{{os.getpid()}}\\n')\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    processes = seen.read_text().split()
    assert len(processes) == 8
    assert len(set(processes)) == 1
