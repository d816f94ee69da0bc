"""A table of choice questions: columns by name or by a map, faults by line and field, in any language."""

import json
from pathlib import Path

import pytest
from shell import Shell

from wardround.scenarios.loaders.load import load_playable, problems
from wardround.scenarios.question_item import QuestionItem

ROWS = """1,Which sign is one of appendicitis?,McBurney,Murphy,Homans,A
2,哪种病毒引起水痘？,流感病毒,水痘-带状疱疹病毒,腺病毒,B
3,Two options,yes,no,,no
4,A letter beyond,a,b,c,D
5,Two letters,a,b,c,AB
6,No number,a,b,c,NaN
7,A gap,a,,c,A
8,No key,a,b,c,
9,A cell too many,a,b,c,A,B
"""
FAULTS = [
    "line 5, case 4, field answer: 'D' is none of the letters A, B, C",
    "line 6, case 5, field answer: has several right answers: A, B",
    "line 7, case 6, field answer: 'NaN' is none of the letters A, B, C",
    "line 8, case 7, field option.B: is blank, and options come after it",
    "line 9, case 8, field answer: must not be blank: write the letter of the right option, or its text",
    "line 10, case 9: the row has another number of cells than the header",
]
MAP = ("id=nr", "question=frage", "option.A=x", "option.B=y", "option.C=z", "answer=sol")


def asked(path: Path) -> list[tuple[str, int, str]]:
    items = [item for item in load_playable(path, []) if isinstance(item, QuestionItem)]
    return [(item.question, len(item.options), item.options[item.truth.option or 0]) for item in items]


RIGHT = [
    ("Which sign is one of appendicitis?", 3, "McBurney"),
    ("哪种病毒引起水痘？", 3, "水痘-带状疱疹病毒"),
    ("Two options", 2, "no"),
]


def test_columns_of_these_names_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "exam.csv"
    path.write_text("id,question,A,B,C,answer\n" + ROWS, encoding="utf-8")
    assert asked(path) == RIGHT
    assert [str(one) for one in problems(path)] == [f"{path}, {fault}" for fault in FAULTS]


def test_other_columns_are_named_by_a_map(shell: Shell, tmp_path: Path) -> None:
    path, out = tmp_path / "pruefung.csv", tmp_path / "exam.jsonl"
    path.write_text("nr,frage,x,y,z,sol\n" + ROWS, encoding="utf-8")
    assert shell("cases", "check", path) == 1
    assert "--map COLUMN=option.A" in shell.out
    assert shell("cases", "import", path, *(word for one in MAP for word in ("--map", one)), "--out", out) == 1
    assert all(fault in shell.out for fault in FAULTS)
    assert asked(out) == RIGHT


def test_what_is_left_out_is_counted_by_rows(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "exam.jsonl"
    path.write_text('{"form": "choice", "question": "q", "truth": {}}\n' + "{}\n" * 3, encoding="utf-8")
    (tmp_path / "exam.csv").write_text("id,question,A,B,C,answer\n" + ROWS, encoding="utf-8")
    store = ("--store", tmp_path / "runs.db")
    words = ("--cases", path, "--cases", tmp_path / "exam.csv", "--doctor", "gold", "--name", "r")
    assert shell("run", "--scenario", "questions", *words, *store) == 0, shell.err
    assert "not run: 10 cases" in shell.err


def test_each_row_of_one_list_that_is_left_out_counts(shell: Shell, tmp_path: Path) -> None:
    whole = {"category1": "A", "sanswer": "It is an arthritis.", "checklist": None}
    places = ((1, 1, "What is gout?"), (2, 2, "And then?"), (2, 1, "What is flu?"), (3, 1, ""))
    rows = [{**whole, "groupCode": group, "round": place, "problem": said} for group, place, said in places]
    (tmp_path / "turns.json").write_text(json.dumps({"MK": rows}), encoding="utf-8")
    words = ("--cases", tmp_path / "turns.json", "--doctor", "gold", "--name", "r", "--store", tmp_path / "runs.db")
    assert shell("run", "--scenario", "questions", *words) == 0, shell.err
    assert "not run: 2 cases" in shell.err
    assert "group 2 has the rounds [2, 1], not 1, 2, 3 ..." in shell.err


@pytest.mark.parametrize("turned", [False, True])
def test_a_map_is_read_in_both_orders(shell: Shell, tmp_path: Path, *, turned: bool) -> None:
    path, out = tmp_path / "exam.csv", tmp_path / "exam.jsonl"
    path.write_text("id,frage,x,y,z,question\n" + ROWS, encoding="utf-8")
    pairs = [one.split("=") for one in ("id=id", "question=frage", "option.A=x", "option.B=y", "option.C=z")]
    words = [f"{field}={column}" if turned else f"{column}={field}" for field, column in pairs]
    # Both sides of this pair are fields: only one of them is a column of the file.
    last = "answer=question" if turned else "question=answer"
    assert shell("cases", "import", path, *(w for one in [*words, last] for w in ("--map", one)), "--out", out) == 1
    assert "columns: id as id, frage as question, x as option.A" in shell.out
    assert asked(out) == RIGHT


def test_a_map_without_a_field_or_with_a_field_twice_is_refused(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "exam.csv").write_text("frage,x\nx,y\n", encoding="utf-8")
    assert shell("cases", "import", tmp_path / "exam.csv", "--map", "frage=stem") == 2
    assert "there is no field 'stem'; there are: id" in shell.err
    assert shell("cases", "import", tmp_path / "exam.csv", "--map", "frage=question", "--map", "question=x") == 2
    assert "two columns for question: 'frage' and 'x'" in shell.err
