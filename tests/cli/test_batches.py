"""`run --batch` and `score --batch`: questions and judging in batches, resumed, refused where they make no sense."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from serving import serving
from shell import Shell
from until import until_there

from wardround.engine.records import Message
from wardround.testing.loopback import Batches, Loopback

QUESTIONS = [
    {
        "id": f"q{number}",
        "form": "choice",
        "question": f"Which of these is number {number}?",
        "options": ["one", "two", "three", "four"],
        "truth": {"option": number % 4},
        "provenance": {"source": "test"},
        "data_class": "public",
    }
    for number in range(12)
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from json import dumps

    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text("".join(dumps(one) + "\n" for one in QUESTIONS))
    return tmp_path


def answering(messages: Sequence[Message], model: str) -> str:
    del model
    return "Answer: B" if "Which of these" in messages[-1].content else "Yes"


WORDS = ("run", "--scenario", "questions", "--cases", "q.jsonl", "--doctor", "openai/m", "--repeats", "2")


@pytest.mark.long
def test_questions_are_asked_in_one_batch_and_replay_equal(shell: Shell, here: Path) -> None:
    server = Loopback(answering)
    with serving(server) as url:
        assert shell(*WORDS, "--base-url", url, "--batch", "--name", "b") == 0, shell.err
        assert (server.batches.created, server.batches.requests) == (1, 24)
        assert shell(*WORDS, "--base-url", url, "--name", "plain") == 0, shell.err
    assert shell("replay", "b") == 0, shell.out
    scores = [
        [one for one in shell.json("score", name)["scores"] if not one["name"].endswith("_seconds")]
        for name in ("b", "plain")
    ]
    assert scores[0] == scores[1]


@pytest.mark.long
def test_a_run_whose_batch_fails_is_retried_in_a_new_one(shell: Shell, here: Path) -> None:
    server = Loopback(answering, batches=Batches(ends=("failed",)))
    with serving(server) as url:
        assert shell(*WORDS, "--base-url", url, "--batch", "--name", "b") == 3
        assert "The file cannot be read" in shell.json("show", "b", "0")["events"][-1]["ending"]["detail"]
        assert shell("run", "--resume", "b", "--retry", "provider") == 0, shell.err
    assert server.batches.created == 2


@pytest.mark.long
def test_judges_are_asked_in_batches(shell: Shell, here: Path) -> None:
    server = Loopback(lambda messages, model: '{"verdict": "right", "reason": "it is"}')
    with serving(server) as url:
        assert shell("run", "--scenario", "workup", "--doctor", "baseline", "--limit", "6", "--name", "g") == 0, (
            shell.err
        )
        words = ("score", "g", "--judge", "openai/j", "--judge-base-url", url, "--batch", "--evaluators", "assessment")
        assert shell(*words) in (0, 3), shell.err
        assert server.batches.requests >= 6
        paid = server.batches.requests
        assert shell(*words) in (0, 3), shell.err
    assert server.batches.requests == paid


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--scenario", "workup", "--doctor", "openai/m"), "each turn of workup would wait"),
        (("--scenario", "oracle", "--doctor", "openai-responses/m"), "cannot be asked in batches"),
        (("--scenario", "oracle", "--doctor", "openai/m", "--share", "1/2"), "one process"),
    ],
)
def test_what_cannot_go_in_batches_is_refused(words: tuple[str, ...], said: str, shell: Shell, here: Path) -> None:
    assert shell("run", *words, "--base-url", "http://127.0.0.1:9/v1", "--batch", "--no-preflight") == 2
    assert said in shell.err


def test_a_fleet_is_refused(shell: Shell, here: Path) -> None:
    urls = "http://127.0.0.1:9/v1,http://127.0.0.1:10/v1"
    assert shell(*WORDS, "--base-url", urls, "--batch") == 2
    assert "several addresses are a fleet" in shell.err


@pytest.mark.kill
def test_a_killed_run_is_resumed_with_the_batch_that_it_paid_for(here: Path) -> None:
    server = Loopback(answering, batches=Batches(seconds=6.0))
    with serving(server) as url:
        command = [sys.executable, "-m", "wardround", *WORDS, "--base-url", url, "--batch", "--name", "k"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until_there(lambda: server.batches.created > 0 or process.poll() is not None)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert server.batches.created == 1
        again = [sys.executable, "-m", "wardround", "run", "--resume", "k"]
        done = subprocess.run(again, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    assert (server.batches.created, server.batches.requests) == (1, 24)
