"""No text of others steers a terminal or runs in a spreadsheet: every verb, every log line, every table."""

import csv
import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import structlog
from clinic import case
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table
from shell import Copied, Shell

from wardround.cli.screen import console
from wardround.engine.logs import configure
from wardround.engine.text import csv_cell, in_json, printable

EVIL = "\x1b]0;title\x07\x1b[2J\x9b31m\u202eevil\rforged\x08"
STEERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def store(copied: Copied, shell: Shell) -> Path:
    """A run whose case and replies are hostile, and whose id, in the store, has got a line of its own."""

    def fill(folder: Path) -> None:
        told = case(1)
        told = told.model_copy(update={"opening": f"{told.opening}\n{EVIL}", "group": f"group{EVIL}"})
        (folder / "c.jsonl").write_text(told.model_dump_json() + "\n" + case(2).model_dump_json() + "\n")
        answer = f"### Reasoning:\n<step 1> it {EVIL} fits\n\n### Answer:\n{EVIL}=cmd|' /C calc'!A0"
        lines = [{"case_id": f"case-{n:03}", "replies": [{"text": answer, "thinking": EVIL}]} for n in (1, 2)]
        (folder / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        path = folder / "s.db"
        play = ("run", "--cases", folder / "c.jsonl", "--scenario", "oracle", "--name", "r", "--store", path)
        assert shell(*play, "--doctor", f"replies:{folder / 'r.jsonl'}", "--log-level", "debug") == 0
        quiet(shell)
        connection = sqlite3.connect(path)
        with connection:
            connection.execute("UPDATE episodes SET name = ? WHERE number = 1", (f"case-002@1\nr: 9 episodes{EVIL}",))
        connection.close()

    return copied(fill) / "s.db"


def quiet(shell: Shell) -> None:
    """Nothing that was printed steers anything."""
    for text in (shell.out, shell.err):
        assert not (found := STEERS.search(text)), repr(text[max(0, found.start() - 80) : found.end() + 20])


VERBS: list[Callable[[Path], tuple[object, ...]]] = [
    lambda folder: ("show", "r"),
    lambda folder: ("show", "r", "0"),
    lambda folder: ("show", "r", "0", "--calls"),
    lambda folder: ("show", "r", "0", "--json"),
    lambda folder: ("show", "r", "1"),
    lambda folder: ("show", "r", f"x{EVIL}"),
    lambda folder: ("status", "r"),
    lambda folder: ("replay", "r"),
    lambda folder: ("score", "r"),
    lambda folder: ("score", "r", "--json"),
    lambda folder: ("report", "r", "--tables"),
    lambda folder: ("report", "r", "--json"),
    lambda folder: ("runs",),
    lambda folder: ("export", "r", "--scores", "--out", folder / "x.csv"),
]


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_sends_a_control_character(
    shell: Shell, store: Path, verb: Callable[[Path], tuple[object, ...]]
) -> None:
    shell(*verb(store.parent), "--store", store)
    quiet(shell)
    assert not any(line.startswith("r: 9 episodes") for line in (shell.out + shell.err).splitlines())


def test_a_case_file_with_hostile_ids_is_named_without_them(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(case(1).model_copy(update={"id": f"p{EVIL}\nq"}).model_dump_json() + "\n")
    assert shell("cases", "check", path) == 1
    quiet(shell)
    assert shell("run", "--cases", path, "--store", tmp_path / "s.db") == 2
    quiet(shell)


def test_a_log_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure("info")
    structlog.get_logger("wardround").warning(f"said {EVIL}\nforged", episode=f"e\n{EVIL}", told=[EVIL])
    said = capsys.readouterr().err
    assert not STEERS.search(said)
    assert said.count("\n") == 1


def test_a_cell_of_a_table_is_printable(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(title=EVIL)
    table.add_column(EVIL)
    table.add_row(EVIL)
    console().print(table)
    assert not STEERS.search(capsys.readouterr().out)


@given(st.text())
def test_what_is_printable_steers_nothing_and_json_says_the_same(text: str) -> None:
    assert not STEERS.search(printable(text))
    assert not STEERS.search(printable(text, lines=True))
    assert "\n" not in printable(text)
    written = json.dumps({"x": text}, ensure_ascii=False)
    assert json.loads(in_json(written)) == {"x": text}
    assert not STEERS.search(in_json(written))


@given(st.text())
def test_no_cell_is_a_formula(text: str) -> None:
    told = csv_cell(text)
    assert told in (text, f"'{text}")
    if told[:1] in ("=", "+", "-", "@", "\t", "\r"):
        float(told)


def test_cells_of_exports(shell: Shell, store: Path, tmp_path: Path) -> None:
    assert csv_cell("-0.5") == "-0.5"
    assert csv_cell("+1e3") == "+1e3"
    assert csv_cell("-x") == "'-x"
    assert csv_cell(" =1+1") == "' =1+1"
    connection = sqlite3.connect(store)
    with connection:
        connection.execute("UPDATE episodes SET name = '=cmd|x@1', case_id = '@SUM(1)' WHERE number = 1")
    connection.close()
    assert shell("score", "r", "--store", store) in (0, 3)
    assert shell("export", "r", "--scores", "--out", tmp_path / "x.csv", "--store", store) == 0
    rows = list(csv.DictReader((tmp_path / "x.csv").read_text().splitlines()))
    assert "'=cmd|x@1" in {row["episode"] for row in rows}
    assert all(row["value"] == "" or float(row["value"]) >= 0 for row in rows)
