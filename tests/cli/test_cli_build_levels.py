"""`wardround cases build levels` and `wardround cases sheet` on the command line."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from item_writing import choice_set, written
from serving import serving
from shell import Shell

from wardround.testing.loopback import Loopback


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture
def served() -> Iterator[str]:
    with serving(Loopback(written)) as address:
        yield address


def test_a_build_is_interrupted_resumed_and_verified(shell: Shell, tmp_path: Path, served: str) -> None:
    out, store = tmp_path / "middle.jsonl", tmp_path / "s.db"
    begin = (
        choice_set(tmp_path),
        "--model",
        "openai/m",
        "--checker",
        "openai/n",
        "--base-url",
        served,
        "--no-preflight",
    )
    where = ("--out", out, "--store", store)
    assert (
        shell("cases", "build", "levels", *begin, *where, "--name", "b", "--budget", "8calls", "--concurrency", 1)
        == 130
    )
    assert "questions are open: wardround cases build levels --resume b --out" in shell.err
    assert shell("cases", "build", "levels", "--resume", "b", "--budget", "99calls", *where) == 0
    assert "18 items (6 statement, 6 rectification, 6 existence)" in shell.out
    assert f"written: {out}, {out}.flow.json, {out}.sheet.csv" in shell.out
    sheet = Path(f"{out}.sheet.csv")
    assert shell("cases", "sheet", sheet) == 0
    assert "all: 0 of 9 marked\n" in shell.out
    rows = list(csv.DictReader(io.StringIO(sheet.read_text())))
    for number, row in enumerate(rows):
        row["correct"] = "no" if number == 0 else "yes"
    with sheet.open("w") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert shell("cases", "sheet", sheet) == 0
    assert "all: 9 of 9 marked, 1 error: 0.111 (95% " in shell.out
    told = shell.json("cases", "sheet", sheet)
    assert [row["errors"] for row in told["rows"]] == [1, 1, 0, 0]
    sheet.write_text("piece,correct\ndistractor,perhaps\n")
    assert shell("cases", "sheet", sheet) == 2
    assert "row 2, column correct: 'perhaps' is neither yes nor no" in shell.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name the question sets"),
        (("a.jsonl",), "--model SPEC is needed"),
        (("a.jsonl", "--model", "openai/m", "--retry", "parser"), "--retry goes with --resume"),
        (("a.jsonl", "--model", "openai/m", "--sample", "2"), "sample"),
        (("--resume", "b", "--model", "openai/m"), "--model"),
    ],
)
def test_what_cannot_be_is_refused_before_a_call(
    shell: Shell, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    assert shell("cases", "build", "levels", *arguments, "--out", tmp_path / "m.jsonl", "--store", tmp_path / "s") == 2
    assert said in shell.err
