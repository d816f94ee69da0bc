"""Own agents and evaluators that misbehave, from the command line: named, contained, and the others go on."""

from pathlib import Path

import pytest
from clinic import case_file
from shell import Shell

MODULE = """
import asyncio, sys, time
from wardround.engine.records import Action, Score

class Leaving:
    async def act(self, view):
        sys.exit(3)

class Cancelling:
    async def act(self, view):
        raise asyncio.CancelledError

class Stopping:
    async def act(self, view):
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        return Action("reply", "Diagnosis: gout")

class Blocking:
    # The act of the run, then those of `agents check`: its warming up, its episode, and some thirty more.
    pauses = iter([1.6, 0.0, 1.2])

    async def act(self, view):
        time.sleep(next(self.pauses, 0.0))
        return Action("reply", "Diagnosis: gout")

class Unmade:
    def __init__(self):
        sys.exit(4)

    async def act(self, view):
        raise AssertionError

class Hanging:
    async def act(self, view):
        await asyncio.sleep(10_000)

class Judge:
    name = "mine"
    async def score(self, case, trajectory, seat):
        if case.id == "case-001":
            sys.exit(5)
        if case.id == "case-002":
            raise asyncio.CancelledError
        return [Score("mine", 1.0)]

class NoJudge:
    name = "none"
    def __init__(self):
        sys.exit(6)
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module of one's own in the working directory; another in each test."""
    name = f"mine_{abs(hash(tmp_path.name))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    case_file(tmp_path / "cases.jsonl", 4)
    return name


RUN = ("run", "--cases", "cases.jsonl", "--scenario", "oracle", "--name", "r", "--store", "s.db")


@pytest.mark.parametrize("kind", ["Leaving", "Cancelling", "Stopping"])
def test_each_episode_ends_by_the_doctor(shell: Shell, mine: str, kind: str) -> None:
    assert shell(*RUN, "--doctor", f"{mine}:{kind}") == 3
    assert "4 episodes: 4 ended by the doctor" in shell.out
    assert shell("replay", "r", "--store", "s.db") == 0
    shell("score", "r", "--store", "s.db")


def test_one_that_hangs_ends_after_its_own_time(shell: Shell, mine: str) -> None:
    assert shell(*RUN, "--doctor", f"{mine}:Hanging", "--max-act-seconds", 0.2) == 3
    assert "4 ended by the doctor; the first: no reply in time (wardround show" in shell.err


def test_one_that_blocks_the_loop_is_named_with_its_line(shell: Shell, mine: str) -> None:
    shell(*RUN, "--doctor", f"{mine}:Blocking", "--limit", 1)
    [line] = [line for line in shell.err.splitlines() if "blocks the event loop" in line]
    assert f"{mine}.py:" in line
    assert "in act" in line
    assert "case-000@1" in line
    assert "doctor" in line
    assert f"{mine}:Blocking" in line
    assert shell("agents", "check", f"{mine}:Blocking") == 1
    assert "blocks the event loop" in shell.out + shell.err


def test_one_that_cannot_be_made_is_said_before_the_run(shell: Shell, mine: str) -> None:
    assert shell(*RUN, "--doctor", f"{mine}:Unmade") == 2
    assert "cannot be made: SystemExit: 4" in shell.err


@pytest.mark.parametrize("text", ["import sys; sys.exit(1)", "1/0", "def (", "raise KeyboardInterrupt"])
def test_a_module_that_fails_when_it_is_imported_is_a_usage_error(
    shell: Shell, mine: str, tmp_path: Path, text: str
) -> None:
    (tmp_path / f"{mine}_bad.py").write_text(text)
    assert shell(*RUN, "--doctor", f"{mine}_bad:Doctor") == 2
    assert "cannot be loaded" in shell.err
    assert f"{mine}_bad.py, line 1" in shell.err


def test_an_evaluator_that_exits_leaves_its_reason_and_the_others_are_scored(shell: Shell, mine: str) -> None:
    assert shell(*RUN, "--doctor", "gold") == 0
    assert shell("score", "r", "--evaluators", f"{mine}:Judge", "--store", "s.db", "--json") == 3
    assert '"evaluator/SystemExit": 1' in shell.out
    assert '"evaluator/CancelledError": 1' in shell.out
    judged = ("--evaluators", f"{mine}:Judge", "--judge", "lexical")
    assert shell("score", "r", *judged, "--store", "s.db", "--json") == 3
    assert '"evaluator/SystemExit": 1' in shell.out
    assert shell("score", "r", "--evaluators", f"{mine}:NoJudge", "--store", "s.db") == 2
    assert "cannot be made into an evaluator: SystemExit: 6" in shell.err
