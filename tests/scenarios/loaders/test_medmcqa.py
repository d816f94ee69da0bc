"""MedMCQA: places that count from 0 or from 1, and questions with several right answers."""

import json
from pathlib import Path

import pytest

from wardround.scenarios.loaders.load import problems, scan
from wardround.scenarios.loaders.source import Problem
from wardround.scenarios.question_item import SEVERAL_RIGHT, QuestionItem


def line(number: int, cop: object, kind: str = "single") -> str:
    options = {f"op{letter}": f"Option {letter} of {number}" for letter in "abcd"}
    made = {"id": f"m{number}", "question": f"Question {number}?", **options, "cop": cop, "choice_type": kind}
    return json.dumps({**made, "exp": "Why.", "subject_name": "Anatomy", "topic_name": None})


def written(where: Path, *lines: str) -> Path:
    path = where / "dev.json"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(("places", "right"), [((1, 4, 2), (0, 3, 1)), ((0, 3, 2), (0, 3, 2))])
def test_the_file_tells_where_places_begin(tmp_path: Path, places: tuple[int, ...], right: tuple[int, ...]) -> None:
    path = written(tmp_path, *(line(number, place) for number, place in enumerate(places)))
    items = [one for one in scan(path) if isinstance(one, QuestionItem)]
    assert tuple(item.truth.option for item in items) == right
    assert items[0].kind == ("Anatomy",)
    assert items[0].options[0] == "Option a of 0"


@pytest.mark.parametrize("places", [(1, 2, 3), (0, 4)])
def test_places_that_cannot_be_told_are_not_guessed(tmp_path: Path, places: tuple[int, ...]) -> None:
    path = written(tmp_path, *(line(number, place) for number, place in enumerate(places)))
    found = list(scan(path))
    assert all(isinstance(one, Problem) and one.field == "cop" and "from 0 or from 1" in one.message for one in found)
    assert len(found) == len(places)


def test_several_right_answers_and_bad_places_are_left_out_by_row_and_field(tmp_path: Path) -> None:
    path = written(tmp_path, line(0, 4), line(1, 1, "multi"), line(2, 9), line(3, None))
    assert [(one.line, one.field) for one in problems(path)] == [(2, "choice_type"), (3, "cop"), (4, "cop")]
    assert SEVERAL_RIGHT in problems(path)[0].message


def test_several_letters_are_several_right_answers(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    made = {"question": "Q?", "options": {"A": "x", "B": "y", "C": "z"}}
    rows = [{**made, "answer_idx": answer} for answer in ("A", ["A", "C"], "A, B", "D")]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    said = [one.message for one in problems(path)]
    assert [SEVERAL_RIGHT in one for one in said] == [True, True, False]
