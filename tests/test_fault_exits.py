"""What the command line says of a run that met a fault: its exit code, its words, and how it is mended."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from clinic import lines
from matrix import MARK, House, Ward, cases, endings, played
from serving import serving
from shell import Shell
from trouble import TROUBLES, Trouble, outcome

from wardround.engine.records import Message
from wardround.evaluators.reasons import ended_by, phrase
from wardround.runs.stored_run import open_store
from wardround.testing.loopback import Loopback
from wardround.testing.wire import Fault, Rates, Schedule

AT_ONCE = [
    replace(trouble, fault=Fault("rate_limit", retry_after=3600)) if trouble.fault.kind == "rate_limit" else trouble
    for trouble in TROUBLES
    if not trouble.passing
]
"""What is not tried again, so that the default patience does not make a test of minutes."""
TRIED = [trouble for trouble in TROUBLES if trouble.passing]


def named(trouble: Trouble) -> str:
    return re.sub(r"\W+", "-", trouble.name)


def say(messages: Sequence[Message], model: str) -> str:
    return "Verdict: correct" if model == "judge" else lines("oracle", messages)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return cases(tmp_path / "cases.jsonl")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.mark.parametrize("trouble", AT_ONCE, ids=named)
def test_one_episode_fails_and_is_mended(trouble: Trouble, shell: Shell, file: Path, store: Path) -> None:
    server = Loopback(say, faults=Rates({trouble.fault: 1.0}), only=lambda asked: MARK in asked.body)
    cause, _, reason = outcome(trouble, "doctor", "oracle", lasting=True).partition("/")
    with serving(server) as url:
        play = ["run", "--cases", file, "--scenario", "oracle", "--repeats", 1, "--name", "r", "--store", store]
        assert shell(*play, "--doctor", "openai/doctor", "--base-url", url, "--no-preflight") == 3
        assert shell.out == f"r: 3 episodes: 2 completed, 1 {ended_by(cause)}\n"
        assert f"1 {ended_by(cause)}; the first: {phrase(reason)} (wardround show r case-001@1)" in shell.err
        server.faults = Schedule(())
        assert shell("run", "--resume", "r", "--retry", cause, "--store", store) == 0
        assert shell.out == "r: 3 episodes: 3 completed\n"
        assert server.total == 3 + 1 + 3 * (cause == "doctor"), "what was completed is not asked for again"


@pytest.mark.parametrize("trouble", AT_ONCE, ids=named)
def test_what_cannot_be_right_stops_the_run_before_it_begins(
    trouble: Trouble, shell: Shell, file: Path, store: Path
) -> None:
    server = Loopback(say, faults=Rates({trouble.fault: 1.0}), only=lambda asked: b"word OK" in asked.body)
    with serving(server) as url:
        play = ["run", "--cases", file, "--scenario", "oracle", "--repeats", 1, "--name", "r", "--store", store]
        code = shell(*play, "--doctor", "openai/doctor", "--base-url", url)
    assert code == (0 if trouble.starts else 2)
    assert shell("show", "r", "--store", store) == (0 if trouble.starts else 2), "a run that did not begin is not there"


def test_what_passes_is_not_noticed(shell: Shell, file: Path, store: Path) -> None:
    rates: dict[Fault | str, float] = {
        trouble.fault: 1 / 8 for trouble in TRIED if trouble.fault.kind != "stall" and not trouble.down
    }
    server = Loopback(say, faults=Rates(rates, first=1))
    with serving(server) as url:
        play = ["run", "--cases", file, "--scenario", "oracle", "--repeats", 4, "--name", "r", "--store", store]
        assert shell(*play, "--doctor", "openai/doctor", "--base-url", url, "--no-preflight") == 0
    assert shell.out == "r: 12 episodes: 12 completed\n"
    assert server.total > 12


@pytest.mark.long
def test_what_lasts_beyond_the_patience_exits_3(shell: Shell, file: Path, store: Path) -> None:
    async def play() -> dict[str, str]:
        house = House(open_store(store))
        await house.plan("oracle", file)
        found = {}
        for trouble in TRIED:
            ward = Ward(trouble, "doctor", "oracle", lasting=True)
            async with ward.open():
                scene = await house.staged(ward, named(trouble))
                await played(scene)
                found[named(trouble)] = (await endings(scene))["case-001@1"]
        await house.store.aclose()
        return found

    reasons = anyio.run(play)
    for trouble in TRIED:
        assert shell("run", "--resume", named(trouble), "--store", store) == 3
        assert reasons[named(trouble)] == f"provider/{trouble.kind}"
        assert f"ended by the endpoint; the first: {phrase(trouble.kind)} (" in shell.err


def test_a_judge_that_fails_leaves_no_score_and_never_0(shell: Shell, file: Path, store: Path) -> None:
    server = Loopback(say, faults=Rates({"context_overflow": 1.0}), only=lambda asked: MARK in asked.body)
    with serving(server) as url:
        play = ["run", "--cases", file, "--scenario", "oracle", "--repeats", 1, "--name", "r", "--store", store]
        assert shell(*play, "--doctor", "gold") == 0
        judge = ["score", "r", "--judge", "openai/judge", "--judge-base-url", url, "--store", store]
        table = {row["name"]: row for row in shell.json(*judge)["scores"]}
        accuracy = table["diagnosis_accuracy"]
        assert (accuracy["mean"], accuracy["scored"], accuracy["none"]) == (1.0, 2, 1)
        assert accuracy["reasons"] == {"judge/context_overflow": 1}
        assert accuracy["bounds"] == pytest.approx([2 / 3, 1.0])
        server.faults = Rates({"expired_key": 1.0})
        server.only = None
        assert shell(*judge) == 2, "a judge that cannot be reached is noticed before the scoring"
        server.faults = Schedule(())
        table = {row["name"]: row for row in shell.json(*judge)["scores"]}
        assert table["diagnosis_accuracy"]["mean"] == 1.0
        assert table["diagnosis_accuracy"]["scored"] == 3


def test_a_verdict_is_of_the_episode_as_it_stands_now(shell: Shell, file: Path, store: Path) -> None:
    """Judged while an episode had failed, then mended and judged again: the old `provider/...` must not come back."""
    server = Loopback(say, faults=Rates({"context_overflow": 1.0}), only=lambda asked: MARK in asked.body)
    with serving(server) as url:
        play = ["run", "--cases", file, "--scenario", "oracle", "--repeats", 1, "--name", "r", "--store", store]
        assert shell(*play, "--doctor", "openai/doctor", "--base-url", url, "--no-preflight") == 3
        judge = ["score", "r", "--judge", "openai/judge", "--judge-base-url", url, "--store", store]
        table = {row["name"]: row for row in shell.json(*judge)["scores"]}
        assert table["diagnosis_accuracy"]["reasons"] == {"provider/context_overflow": 1}
        server.faults = Schedule(())
        assert shell("run", "--resume", "r", "--retry", "provider", "--store", store) == 0
        table = {row["name"]: row for row in shell.json(*judge)["scores"]}
        assert (table["diagnosis_accuracy"]["scored"], table["diagnosis_accuracy"]["mean"]) == (3, 1.0)
        assert server.total == 3 + 1 + 3 + 2 + 2, "episodes, one twice; verdicts; two preflights and trials"
