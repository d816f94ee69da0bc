"""The benchmarks run: small loads, all parts; what they measure is not judged here."""

import subprocess
import sys

import anyio
import pytest

from benchmarks.figure import Figure, of_runs, table
from benchmarks.load import Load, prose
from benchmarks.memory import ROOT, resident
from benchmarks.opening import VERBS
from benchmarks.played import played, played_in_a_file
from benchmarks.server import Answers, served

SMALL = Load(episodes=30, calls=3, concurrency=10, latency=0.01, turn_chars=200)


def test_a_load_without_faults_ends_right() -> None:
    with served(SMALL.latency) as server:
        measured = anyio.run(played, SMALL, server.url)
    assert server.sent == {"200": SMALL.total}
    assert measured.more["right"] == SMALL.episodes
    assert measured.wall >= SMALL.limit
    assert measured.more["bytes"] > SMALL.calls * SMALL.turn_chars


@pytest.mark.long
def test_faults_are_sent_and_mended() -> None:
    with served(0.0, {"429": 0.1, "reset": 0.05}, retry_after=0.0, seed=3) as server:
        measured = anyio.run(played_in_a_file, SMALL, server.url)
    assert server.sent["200"] == SMALL.total
    assert server.sent["429"] > 0
    assert server.sent["reset"] > 0
    assert measured.more["right"] == SMALL.episodes


def test_the_same_seed_draws_the_same_faults() -> None:
    drawing = [Answers({"429": 0.2, "reset": 0.2}, 0.05, seed) for seed in (1, 1, 2)]
    drawn = [[answers.next()[0] for _ in range(200)] for answers in drawing]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawing[0].sent == {kind: drawing[0].sent[kind] for kind in ("200", "429", "reset")}
    assert drawn[0].count(None) == drawing[0].sent["reset"] > 0


@pytest.mark.parametrize(
    ("row", "met"),
    [
        (Figure("x", 0.9, at_least=0.9), True),
        (Figure("x", 0.89, at_least=0.9), False),
        (Figure("x", 1.31, at_most=1.3), False),
        (Figure("x", 1.3, at_most=1.3), True),
        (Figure("x", 1.0), None),
        (Figure("x", None, at_most=1.0), None),
    ],
)
def test_a_row_says_whether_its_aim_is_met(row: Figure, met: bool | None) -> None:
    assert row.met is met


def test_the_table_names_what_was_missed() -> None:
    shown = table([Figure("fast", 0.5, at_least=0.9), of_runs("cheap", [1.0, 3.0, 1.2], at_most=1.3)])
    assert shown.splitlines()[-1] == "missed: fast"
    assert "1.20" in shown
    assert "1.00-3.00 in 3" in shown


@pytest.mark.long
def test_memory_is_read_from_this_process() -> None:
    before = resident("VmRSS")
    held = b"x" * (200 * 2**20)
    assert resident("VmRSS") >= before + 100
    assert resident("VmHWM") >= before + 100
    del held


@pytest.mark.long
def test_memory_of_a_process_is_not_that_of_the_one_that_started_it() -> None:
    held = b"x" * (300 * 2**20)
    code = "from benchmarks.memory import resident; print(resident('VmHWM'))"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert float(said) < resident("VmHWM") - 200
    del held


def test_prose_is_as_long_as_asked_and_hard_to_shrink() -> None:
    assert len(prose(3100)) == 3100
    assert len(set(prose(3100).split())) > 200
    assert prose(100, seed=1) != prose(100, seed=2)


def test_the_verbs_that_are_timed() -> None:
    assert [verb[0] for verb in VERBS] == ["runs", "show", "status"]
