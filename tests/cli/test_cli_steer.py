"""A run with a budget, a pilot, a cache; and a running batch seen and steered from another terminal."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from clinic import case_file, lines
from serving import serving
from shell import Shell
from until import until_there

from wardround.testing.loopback import Loopback
from wardround.testing.wire import Fault


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return case_file(tmp_path / "cases.jsonl", 40)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    path = tmp_path / "prices.csv"
    path.write_text("model,input,output\nopenai/m,1,1\n")
    return path


def oracle(base_url: str, *more: object) -> list[object]:
    fixed = ["run", "--scenario", "oracle", "--doctor", "openai/m", "--base-url", base_url, "--repeats", 1]
    return [*fixed, "--no-preflight", "--name", "r", *more]


def server(latency: float = 0.0) -> Loopback:
    return Loopback(lambda messages, model: lines("oracle", messages), latency=latency)


def told(shell: Shell, store: Path) -> Any:
    assert shell("status", "r", "--store", store, "--json") == 0
    return json.loads(shell.out)


def test_calls_that_were_made_again_are_in_the_status(shell: Shell, cases: Path, store: Path) -> None:
    faults = [Fault("rate_limit", retry_after=0), None, Fault("server_error"), Fault("reset"), None]
    failing = Loopback(lambda messages, model: lines("oracle", messages), faults=faults)
    with serving(failing) as url:
        assert shell(*oracle(url, "--cases", cases, "--limit", 4, "--concurrency", 1, "--store", store)) == 0
    assert told(shell, store)["made_again"] == 3
    assert shell("status", "r", "--store", store) == 0
    assert "made again after a refusal, an error or a silence: 3 calls" in shell.out


def test_a_budget_drains_the_run_and_a_top_up_goes_on(shell: Shell, cases: Path, store: Path) -> None:
    with serving(server()) as url:
        assert shell(*oracle(url, "--cases", cases, "--budget", "15calls", "--store", store)) == 130
        assert "made 15 of 15 calls" in shell.err
        assert "25 episodes are open: wardround run --resume r --budget MORE\n" in shell.err
        found = told(shell, store)
        assert (found["endings"], found["spent"]["doctor"]["calls"]) == ({"completed": 15, "open": 25}, 15)
        assert shell("run", "--resume", "r", "--store", store) == 130
        assert told(shell, store)["spent"]["doctor"]["calls"] == 15
        assert shell("run", "--resume", "r", "--budget", "30calls", "--store", store) == 130
        assert told(shell, store)["endings"] == {"completed": 30, "open": 10}
        assert shell("run", "--resume", "r", "--budget", "1Mtokens,1000calls", "--store", store) == 0
    assert told(shell, store)["spent"]["doctor"]["calls"] == 40


def test_a_cap_on_cost_needs_a_price(shell: Shell, cases: Path, store: Path) -> None:
    with serving(server()) as url:
        assert shell(*oracle(url, "--cases", cases, "--budget", "1usd", "--store", store)) == 2
        assert "no price is known for doctor 'openai/m'" in shell.err
        assert shell(*oracle(url, "--cases", cases, "--budget", "15calls", "--store", store)) == 130
        for again in (["run", "--resume", "r", "--budget", "1usd"], ["set", "budget", "r", "doctor=1usd"]):
            assert shell(*again, "--store", store) == 2
            assert "no price is known for doctor 'openai/m'" in shell.err
            assert "or begin a new run with --prices" in shell.err
    assert told(shell, store)["budget"] == [{"of": "the run", "what": "calls", "spent": 15, "cap": 15}]


@pytest.mark.long
def test_a_pilot_goes_on_only_where_the_budget_will_do(
    shell: Shell, cases: Path, store: Path, prices: Path, tmp_path: Path
) -> None:
    common = ["--cases", cases, "--prices", prices, "--pilot", 8]
    with serving(server()) as url:
        assert shell(*oracle(url, *common, "--store", tmp_path / "a.db", "--budget", "10usd")) == 0
        assert "pilot of 8 episodes; the other 32 will need" in shell.err
        assert "USD" in shell.err
        assert shell(*oracle(url, *common, "--store", tmp_path / "b.db", "--budget", "0.005usd")) == 130
        assert "the rest may exceed the budget of the run: cost" in shell.err
        assert shell(*oracle(url, *common, "--store", store, "--json")) == 130
    found = json.loads(shell.out)
    assert found["endings"]["open"] == 32
    assert found["pilot"]["rest"]["calls"] == {"mean": 32.0, "low": 32.0, "high": 32.0}
    assert "no budget allows the rest" in found["stopped"]


def test_cached_answers_cost_nothing_and_are_marked(shell: Shell, cases: Path, store: Path) -> None:
    model = server()
    with serving(model) as url:
        assert shell(*oracle(url, "--cases", cases, "--cache", "doctor", "--store", store)) == 0
        assert model.total == 40
        again = [part if part != "r" else "again" for part in oracle(url, "--cases", cases, "--cache", "doctor")]
        assert shell(*again, "--store", store) == 0
        assert model.total == 40
        assert shell("status", "again", "--store", store, "--json") == 0
        assert json.loads(shell.out)["spent"]["doctor"] | {"prompt": 0, "completion": 0} == {
            "calls": 0, "failed": 0, "recalled": 40, "prompt": 0, "completion": 0, "cost": 0.0, "unpriced": 0,
        }  # fmt: skip
        more = [part if part != "r" else "three" for part in oracle(url, "--cases", cases, "--cache", "doctor")]
        more[more.index("--repeats") + 1] = 2
        assert shell(*more, "--store", store) == 0
    assert model.total == 80, "a second repeat is another question"
    assert shell("show", "again", "0", "--calls", "--store", store) == 0
    assert "recalled" in shell.out


@contextmanager
def batch(arguments: list[object], store: Path) -> Iterator["subprocess.Popen[str]"]:
    """A run in a process of its own."""
    command = [sys.executable, "-m", "wardround", *map(str, arguments), "--store", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def held(shell: Shell, store: Path) -> bool:
    """Whether nothing ends any more, for longer than a call takes: those that were under way have ended."""
    before = told(shell, store)["endings"]
    time.sleep(1.2)
    return before["open"] > 0 and bool(told(shell, store)["endings"] == before)


@pytest.mark.long
def test_a_running_batch_is_paused_widened_resumed_and_stopped(shell: Shell, tmp_path: Path, store: Path) -> None:
    cases, model = case_file(tmp_path / "many.jsonl", 300), server(latency=0.5)
    with serving(model) as url:
        arguments = oracle(url, "--cases", cases, "--concurrency", 2)
        with batch(arguments, store) as process:
            until_there(store.exists)
            until_there(lambda: shell("status", "r", "--store", store) == 0 and "running" in shell.out)
            assert shell("pause", "r", "--store", store) == 0
            until_there(lambda: bool(told(shell, store)["at_work"][0]["told"].get("paused")))
            until_there(lambda: held(shell, store))
            model.latency = 1.0  # it must not be ready before it is told to stop
            assert shell("set", "concurrency", "r", 5, "--store", store) == 0
            assert shell("resume", "r", "--store", store) == 0
            until_there(lambda: told(shell, store)["at_work"][0]["told"].get("running") == 5)
            assert shell("stop", "r", "--store", store) == 0
            _, err = process.communicate(timeout=250)
            assert process.returncode == 130, err
            assert "told to stop" in err
        found = told(shell, store)
        assert found["state"] == "nobody at work"
        assert found["endings"]["open"] > 0
        assert shell("pause", "r", "--store", store) == 2
        assert "--resume r" in shell.err
        model.latency = 0.0
        assert shell("run", "--resume", "r", "--store", store, "--concurrency", 40) == 0
    assert told(shell, store)["endings"] == {"completed": 300}


@pytest.mark.long
def test_two_processes_share_one_run(shell: Shell, cases: Path, store: Path) -> None:
    model = server(latency=0.15)
    with serving(model) as url, batch(oracle(url, "--cases", cases, "--concurrency", 2), store) as process:
        until_there(store.exists)
        until_there(lambda: shell("status", "r", "--store", store) == 0 and "running" in shell.out)
        assert shell("run", "--resume", "r", "--share", "2/2", "--concurrency", 2, "--store", store) == 0
        process.communicate(timeout=250)
        assert process.returncode == 0
    assert model.total == 40, "no episode was played twice"
    assert told(shell, store)["endings"] == {"completed": 40}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--budget", "50"], "write amounts such as 50usd"),
        (["--budget", "nobody=5usd"], "not a seat or model"),
        (["--budget", "0usd"], "leaves nothing"),
        (["--budget", "1usd,2usd"], "set twice"),
        (["--budget", "doctor=2h"], "whole run only"),
        (["--cache", "nurse"], "no seat 'nurse'"),
        (["--quota", "rpm=many"], "rpm"),
    ],
)
def test_what_cannot_be_read_is_said(shell: Shell, cases: Path, store: Path, arguments: list[str], said: str) -> None:
    assert shell("run", "--cases", cases, "--doctor", "gold", *arguments, "--store", store) == 2
    assert said in shell.err


def test_what_cannot_be_shared_is_said(shell: Shell, cases: Path, store: Path) -> None:
    assert shell("run", "--cases", cases, "--doctor", "gold", "--name", "g", "--store", store) == 0
    assert shell("run", "--resume", "g", "--share", "3/2", "--store", store) == 2
    assert "I/N" in shell.err
    assert shell("set", "concurrency", "g", "many", "--store", store) == 2
    assert shell("set", "concurrency", "g", "0", "--store", store) == 2
    assert shell("status", "nothing", "--store", store) == 2


def test_a_judge_has_a_budget_of_its_own_and_goes_on(shell: Shell, store: Path) -> None:
    judging = Loopback(lambda messages, model: "Verdict: correct")
    assert shell("run", "--doctor", "gold", "--name", "r", "--limit", 8, "--store", store) == 0
    with serving(judging) as url:
        score = ["score", "r", "--judge", "openai/j", "--judge-base-url", url, "--store", store]
        assert shell(*score, "--budget", "5calls") == 130
        assert "5 of 5 calls" in shell.err
        asked = judging.total
        assert shell(*score, "--budget", "100calls") == 0
        assert judging.total - asked <= 4 + 1, "what was judged is not judged again, and the probe is one more call"
        assert shell("status", "r~standard", "--store", store) == 0
        assert "judge: 8 calls" in shell.out
