"""Bad rows of question sets: file, row and field are named, the rest is played, and the report counts them."""

import json
from pathlib import Path

from shell import Shell


def line(name: str, **fields: object) -> str:
    base: dict[str, object] = {"id": name, "form": "choice", "question": f"{name}?", "options": ["a", "b"]}
    return json.dumps(
        {**base, "truth": {"option": 1}, "provenance": {"source": "test"}, "data_class": "public", **fields}
    )


def free(name: str, **fields: object) -> str:
    return line(name, form="free", level="open", options=[], **{"truth": {}, **fields})


ROWS = (
    line("two", options=["a", "A ", "b"], truth={"option": 0}),
    line("none", truth={}),
    line("missing", options=["a", ""]),
    line("beyond", truth={"option": 4}),
    free("nan", checklist=float("nan")),
    free("empty"),
    free("penalties", rubric=[{"criterion": "Recommends waiting", "points": -3}], truth={"answers": ["x"]}),
    free("sum", rubric=[{"criterion": "A", "points": 2}, {"criterion": "B", "points": -3}], truth={"answers": ["x"]}),
    line("list", truth={"option": [0, 1]}),
    free("nothing", rubric=[{"criterion": "A", "points": 0}], truth={"answers": ["x"]}),
    line("mixed", question="哪一个 is right?", options=["阿司匹林", "Heparin"]),
)
NAMED = (
    "line 1, case two, field options: has several right answers",
    "line 2, case none, field truth.option: is missing",
    "line 3, case missing, field options[1]: must not be empty",
    "line 4, case beyond, field truth.option: is 4, and the last option is 1",
    "line 5: field checklist: NaN is no JSON; write null where a value is missing",
    "line 6, case empty, field checklist: is empty, and there is neither reference nor rubric",
    "line 7, case penalties, field rubric: has penalties only",
    "line 8, case sum, field rubric: has points that sum to -1",
    "line 9, case list, field truth.option: must be a valid integer",
    "line 10, case nothing, field rubric[0].points: must not be 0",
)


def test_each_bad_row_is_named_and_the_rest_is_played_and_counted(shell: Shell, tmp_path: Path) -> None:
    path, store = tmp_path / "bad.jsonl", ("--store", tmp_path / "s.db")
    path.write_text("\n".join(ROWS) + "\n", encoding="utf-8")
    assert shell("cases", "check", path) == 1
    for said in NAMED:
        assert said in shell.out, said
    assert shell("run", "--scenario", "questions", "--cases", path, "--doctor", "gold", "--name", "r", *store) in (0, 3)
    assert shell("score", "r", *store) == 0
    assert shell("report", "r", *store) == 0
    assert "7 cases could not be played and are in no figure: " in shell.out
    assert "(two); " in shell.out
    assert shell("levels", "r", *store) == 0
    assert "r: 7 cases could not be played and are in no figure: " in shell.out


def test_a_group_in_disorder_leaves_the_other_groups_of_its_category(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "groups.json"
    rows = [
        {"problem": "A?", "groupCode": 1, "round": 2, "sanswer": "x", "checklist": float("nan")},
        {"problem": "B?", "groupCode": 1, "round": 1, "sanswer": "y"},
        {"problem": "", "groupCode": 3, "round": 1},
        {"problem": "C?", "groupCode": 2, "round": 1, "sanswer": "z"},
    ]
    path.write_text(json.dumps({"医学知识": rows}), encoding="utf-8")
    assert shell("cases", "check", path) == 1
    assert "1 case, 2 problems" in shell.out
    assert "field [0].round: group 1 has the rounds [2, 1]" in shell.out
    assert "field [2].problem: is missing, or no text" in shell.out


def test_closed_questions_are_no_rubrics_without_criteria(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(line("closed") + "\n" + free("open", truth={"answers": ["x"]}) + "\n")
    assert shell("rubrics", "lint", path) == 1
    assert "open: empty: there is no criterion" in shell.out
    assert "closed" not in shell.out


def test_rows_of_an_array_in_one_line_are_told_apart(shell: Shell, tmp_path: Path) -> None:
    stem = "Question: Q?\nOptions: A: x\tB: y"
    rows = [[0, stem, "A"], [1, stem, "E"], [2, stem, "AB"], [3, "Question: none", "A"], [4, stem]]
    path = tmp_path / "MCQ.test.json"
    path.write_text(json.dumps(rows))
    assert shell("cases", "check", path) == 1
    found = [line.split("line 1, ")[1] for line in shell.out.splitlines() if "line 1, " in line]
    assert [line.split(":")[0] for line in found] == ["field [1][2]", "field [2][2]", "field [3][1]", "field [4]"]


def test_options_may_be_a_list_and_nothing_else_but_texts_by_letter(shell: Shell, tmp_path: Path) -> None:
    same = {"question": "Q?", "answer": "No", "answer_idx": "B"}
    rows = [
        same | {"options": {"A": "Yes", "B": "No"}},
        same | {"options": ["Yes", "No"]},
        same | {"options": "Yes"},
        same | {"options": []},
    ]
    path = tmp_path / "set.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert shell("cases", "check", path) == 1
    assert "2 cases, 2 problems" in shell.out
    assert "line 3, field options: must be texts by letter" in shell.out
    assert "line 4, field answer_idx: 'B' is none of the letters (there are no options)" in shell.out
