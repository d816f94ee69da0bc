"""`wardround run` as a user types it: what it prints, how it exits, what it refuses."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from clinic import case_file, lines
from examples import first_ones
from serving import serving
from shell import Shell
from until import until_there

from wardround.testing.loopback import Loopback


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return case_file(tmp_path / "cases.jsonl", 6)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def test_all_completed_exits_0_and_says_what_is_next(shell: Shell, cases: Path, store: Path) -> None:
    assert shell("run", "--cases", cases, "--doctor", "gold", "--name", "g", "--store", store) == 0
    assert shell.out == "g: 6 episodes: 6 completed\n"
    assert "wardround score g" in shell.err


def test_a_doctor_without_an_answer_exits_3(shell: Shell, cases: Path, store: Path) -> None:
    assert shell("run", "--cases", cases, "--doctor", "silent", "--name", "s", "--store", store, "--json") == 3
    assert '"doctor": 6' in shell.out
    assert '"completed": 0' in shell.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--cases", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--scenario", "chess"], "'chess'"),
        (["--doctor", "house"], "gold, human"),
        (["--doctor", "no.such.module:Doctor"], "no.such.module:Doctor"),
        (["--doctor", "openai/gpt-4o"], "OPENAI_API_KEY"),
        (["--set", "max_turns=many"], "max_turns"),
        (["--set", "no_such_setting=1"], "no_such_setting"),
        (["--set", "max_turns"], "NAME=VALUE"),
        (["--where", "colour=red"], "colour"),
        (["--repeats", "0"], "repeats"),
        (["--timeout", "0"], "--timeout"),
        (["--patience", "soon"], "--patience"),
        (["--prompts", "nowhere"], "nowhere"),
        (["--config", "nowhere.toml"], "nowhere.toml"),
        (["--resume", "nobody"], "nobody"),
        (["--resume", "r", "--doctor", "gold"], "--doctor"),
        (["--resume", "r", "--no-preflight"], "--no-preflight"),
        (["--set", "policy=synthesise"], "policy synthesise needs a model"),
        (["--patient", "record", "--scenario", "oracle"], "no seat 'patient'"),
        (["--doctor", "replies:nowhere.jsonl"], "nowhere.jsonl"),
        (["--doctor", "recorded:nobody"], "nobody"),
    ],
)
def test_what_cannot_be_run_exits_2_and_names_it(
    shell: Shell, store: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert shell("run", "--store", store, *arguments) == 2
    assert told in shell.err
    assert "Traceback" not in shell.err


def test_a_name_is_taken_once(shell: Shell, cases: Path, store: Path) -> None:
    assert shell("run", "--cases", cases, "--doctor", "gold", "--name", "g", "--store", store) == 0
    assert shell("run", "--cases", cases, "--doctor", "gold", "--name", "g", "--store", store) == 2
    assert "already a run 'g'" in shell.err


@pytest.mark.parametrize("name", first_ones(["-x", "../up", "a b/c", "big~reasoning", ".hidden", "n" * 101], 3))
def test_a_name_that_would_be_trouble_is_refused(shell: Shell, cases: Path, store: Path, name: str) -> None:
    assert shell("run", "--cases", cases, "--doctor", "gold", "--name", name, "--store", store) == 2
    assert f"{name!r} is not a name for a run: write at most 100 letters" in shell.err
    assert shell("run", "--cases", cases, "--doctor", "gold", "--name", "A.b_1-c", "--store", store) == 0
    fork = ("replay", "A.b_1-c", "case-000", "--from", 1, "--doctor", "silent", "--store", store)
    assert shell(*fork, "--name", name) == 2
    assert "is not a name for a run" in shell.err


def test_a_taken_name_is_refused_before_anything_else_is_said(
    shell: Shell, cases: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    assert shell("run", "--cases", cases, "--doctor", "gold", "--name", "g", "--store", store) == 0
    assert shell("run", "--cases", "nowhere.jsonl", "--doctor", "openai/m", "--name", "g", "--store", store) == 2
    assert shell.err.startswith("wardround: there is already a run 'g'")


def test_an_endpoint_that_is_not_there_stops_the_run_before_it_begins(shell: Shell, cases: Path, store: Path) -> None:
    play = ("run", "--cases", cases, "--doctor", "openai/m", "--base-url", "http://127.0.0.1:9/v1", "--store", store)
    assert shell(*play) == 2
    assert "nothing listens there" in shell.err
    assert shell("runs", "--store", store) == 0
    assert "no runs yet" in shell.out


def test_a_wrong_key_stops_the_run_and_is_not_shown(
    shell: Shell, cases: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-key-123456789")
    with serving(Loopback(key="sk-right")) as url:
        assert shell("run", "--cases", cases, "--doctor", "openai/m", "--base-url", url, "--store", store) == 2
    assert "check the key and what it may use" in shell.err
    assert shell.err.endswith("; it is read from OPENAI_API_KEY\n")
    assert "sk-wrong-key" not in shell.err + shell.out + store.read_bytes().decode("latin-1")


def test_a_restricted_case_goes_to_no_foreign_host(shell: Shell, cases: Path, store: Path) -> None:
    cases.write_text(cases.read_text().replace('"data_class":"public"', '"data_class":"restricted"'))
    play = ("run", "--cases", cases, "--doctor", "openai/m", "--base-url", "http://far.example/v1", "--store", store)
    assert shell(*play) == 2
    assert "far.example" in shell.err
    assert "--allow-host" in shell.err
    with serving(Loopback(lambda messages, model: lines("workup", messages))) as url:
        near = shell.json("run", "--cases", cases, "--doctor", "openai/m", "--base-url", url, "--store", store)
    assert near["endings"]["completed"] == 18


def test_the_paper_s_repeats_and_temperature_go_with_a_model(shell: Shell, cases: Path, store: Path) -> None:
    server = Loopback(lambda messages, model: lines("workup", messages))
    with serving(server) as url:
        run = shell.json("run", "--cases", cases, "--doctor", "openai/m", "--base-url", url, "--store", store)
    assert run["episodes"] == 18
    assert server.asked[-1].json()["temperature"] == 0.8


def test_a_run_file_is_printed_and_taken(shell: Shell, cases: Path, store: Path, tmp_path: Path) -> None:
    told = ("--cases", cases, "--doctor", "gold", "--scenario", "oracle", "--limit", 2, "--name", "first")
    assert shell("run", *told, "--print-config") == 0
    config = tmp_path / "run.toml"
    config.write_text(shell.out)
    run = shell.json("run", "--config", config, "--name", "second", "--store", store)
    assert (run["run"], run["episodes"]) == ("second", 2)


def test_nonsense_from_a_model_ends_each_episode_by_the_parser_and_the_run_goes_on(
    shell: Shell, cases: Path, store: Path
) -> None:
    odd = ["", "好的，我会检查病人。", "x" * 1_000_000, "I HOPE this helps"]
    server = Loopback(lambda messages, model: odd[len(messages[min(1, len(messages) - 1)].content) % len(odd)])
    with serving(server) as url:
        run = shell.json(
            "run", "--cases", cases, "--doctor", "openai/m", "--base-url", url, "--repeats", 1, "--store", store
        )
    assert run["episodes"] == sum(run["endings"].values()) == 6
    assert set(run["endings"]) <= {"completed", "parser", "doctor"}
    assert run["endings"]["completed"] == 0


DEAF = """
import asyncio, time
from contextlib import suppress
from pathlib import Path

class Deaf:
    async def act(self, view):
        Path("begun").touch()
        while True:
            {waits}
"""


@pytest.mark.long
@pytest.mark.parametrize("waits", ["with suppress(asyncio.CancelledError): await asyncio.sleep(60)", "time.sleep(60)"])
def test_an_act_that_cannot_be_ended_ends_with_the_process(waits: str, tmp_path: Path, shell: Shell) -> None:
    (tmp_path / "deaf.py").write_text(DEAF.format(waits=waits))
    play = [sys.executable, "-m", "wardround", "run", "--doctor", "deaf:Deaf", "--limit", "2", "--name", "r"]
    process = subprocess.Popen(play, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    until_there((tmp_path / "begun").exists)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)  # the kernel joins two signals of one number that are not yet delivered
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 130, err
    assert "what was done is stored: go on with --resume RUN" in err
    status = shell.json("status", "r", "--store", tmp_path / "wardround.db")
    assert status["endings"] == {"open": 2}


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_the_first_ctrl_c_drains_and_the_run_resumes(cases: Path, store: Path, shell: Shell, workers: int) -> None:
    many = case_file(cases, 16)
    server = Loopback(lambda messages, model: lines("workup", messages), latency=0.1)
    with serving(server) as url:
        play = [
            sys.executable,
            "-m",
            "wardround",
            "run",
            "--cases",
            str(many),
            "--doctor",
            "openai/m",
            "--base-url",
            url,
        ]
        play += ["--repeats", "1", "--concurrency", "4", "--name", "r", "--store", str(store)]
        play += ["--workers", str(workers)]
        trials = 1 if workers == 1 else 1 + workers
        process = subprocess.Popen(play, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
        until_there(lambda: server.total >= 20)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=250)
        assert process.returncode == 130, err
        assert "wardround run --resume r" in err
        before = server.total
        assert shell("run", "--resume", "r", "--store", store) == 0, shell.err
        assert server.total - before == 80 + 1 - (before - trials), "with one call each to try the endpoint"
    assert shell.out == "r: 16 episodes: 16 completed\n"
