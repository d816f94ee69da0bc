"""`wardround cases build reports`: what it says, what it refuses, and kills from outside."""

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import click
import pytest
from curating import answered, jats, pmc_folder
from serving import serving

from wardround.cli.curate import reports
from wardround.engine.errors import UsageError
from wardround.runs.stored_run import open_store
from wardround.scenarios.loaders.load import load
from wardround.testing.loopback import Loopback

CALLS = 6
"""Calls that one of our articles needs: two of relevance, two cases, two strata."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture
def pmc(tmp_path: Path) -> Path:
    """A folder of eight articles, of which four can become cases."""
    return pmc_folder(tmp_path)


@pytest.fixture
def served() -> Iterator[str]:
    """The base URL of the scripted curator."""
    with serving(Loopback(answered)) as address:
        yield address


@pytest.fixture
def unhurried() -> Iterator[str]:
    """The same, and so slow that what it is asked for is not over before somebody looks."""
    with serving(Loopback(answered, latency=0.05)) as address:
        yield address


def command(*arguments: object) -> int:
    code = reports.main([str(argument) for argument in arguments], standalone_mode=False)
    assert isinstance(code, int)
    return code


def test_the_command_line(tmp_path: Path, pmc: Path, served: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, store = tmp_path / "cases.jsonl", tmp_path / "s.db"
    shared = ("--out", out, "--store", store)
    begin = (pmc, "--model", "openai/m", "--base-url", served, "--rare", 0, "--name", "r", *shared)
    assert command(*begin, "--published-after", "2024-06-30", "--budget", "8calls", "--concurrency", 1) == 130
    said = capsys.readouterr()
    assert re.search(r"articles are open: wardround cases build reports --resume r --out", said.err)
    assert "not finished" in said.out
    assert command("--resume", "r", "--budget", "100calls", *shared) == 0
    said = capsys.readouterr()
    assert re.search(r"published_after +6 +1 +0 +5", said.out)
    assert "6 cases (3 diagnosis, 3 treatment)" in said.out
    assert f"written: {out}, {out}.flow.json" in said.out
    assert command("--resume", "r", *shared, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["cases"], told["run"], told["endings"]) == (6, "r", {"completed": 4})
    assert len(list(load(out))) == 6


@pytest.mark.parametrize(
    ("more", "code"),
    [(("--published-after", "2030-01-01"), 2), (("--max-tokens", 1), 3), (("--budget", "1calls"), 130)],
)
def test_a_build_without_a_case_exits_with_two_unless_it_failed_or_was_stopped(
    tmp_path: Path, pmc: Path, capsys: pytest.CaptureFixture[str], more: tuple[object, ...], code: int
) -> None:
    out = tmp_path / "cases.jsonl"
    with serving(Loopback(lambda messages, model: "colour")) as address:
        begin = (pmc, "--model", "openai/m", "--base-url", address, *more, "--out", out, "--store", tmp_path / "s.db")
        assert command(*begin) == code
    said = capsys.readouterr()
    assert ("no cases were built and no file was written: name other inputs" in said.err) is (code != 130)
    assert "written: " not in said.out
    assert not list(tmp_path.glob("cases.jsonl*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "openai/m"), "name the articles"),
        (("a.xml",), "--model SPEC is needed"),
        (("a.xml", "--model", "openai/m", "--without", "leaks"), "there is no rule 'leaks'"),
        (("a.xml", "--model", "openai/m", "--published-after", "soon"), "published_after"),
        (("a.xml", "--model", "openai/m", "--kinds", "diagnosis,prognosis"), "kinds"),
        (("a.xml", "--model", "openai/m", "--retry", "parser"), "--retry goes with --resume"),
        (("--resume", "r", "--model", "openai/m"), "leave out --model"),
        (("--resume", "r", "a.xml"), "leave out ARTICLES"),
        (("nowhere.xml", "--model", "openai/m", "--base-url", "http://127.0.0.1:9/v1"), "there is no such file"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises((UsageError, click.ClickException), match=re.escape(said)):
        command(*arguments, "--out", tmp_path / "c.jsonl", "--store", tmp_path / "s.db")
    assert not (tmp_path / "c.jsonl").exists()


@pytest.mark.kill
def test_kill_nine_and_resume_give_the_same_cases(tmp_path: Path, pmc: Path, unhurried: str) -> None:
    for number in range(10, 60):
        (pmc / f"{number}.xml").write_text(jats(number).replace("41-year-old", f"{number}-year-old"))
    code = (
        "import sys; from wardround.cli.curate import reports as r; sys.exit(r.main(sys.argv[1:], standalone_mode=0))"
    )
    shared = ["--store", str(tmp_path / "s.db"), "--out", str(tmp_path / "cut.jsonl")]
    begin = [str(pmc), "--model", "openai/m", "--base-url", unhurried, "--rare", "0", "--name", "r"]
    begin += ["--concurrency", "4"]
    arguments, kills = [*begin, *shared], 0
    while True:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        goal = 12 * (kills + 1)
        while process.poll() is None and closed(tmp_path / "s.db") < goal:
            time.sleep(0.05)
        if process.poll() is not None:
            assert process.returncode == 0
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        arguments = ["--resume", "r", *shared]
    assert kills > 1
    whole = [*begin[:-4], "--name", "whole", "--store", str(tmp_path / "w.db"), "--out", str(tmp_path / "w.jsonl")]
    assert command(*whole) == 0
    assert (tmp_path / "cut.jsonl").read_text() == (tmp_path / "w.jsonl").read_text()


def closed(path: Path) -> int:
    """How many articles are done."""
    return anyio.run(counted, path) if path.exists() else 0


async def counted(path: Path) -> int:
    store = open_store(path)
    try:
        return sum(count for cause, count in (await store.endings("r")).items() if cause != "open")
    finally:
        await store.aclose()
