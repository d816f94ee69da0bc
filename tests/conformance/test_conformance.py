"""The run over a folder of vectors: what counts, what is named, and when it fails."""

import json
from pathlib import Path
from typing import Any

import pytest
from tiny import TABLES, write

from conformance.__main__ import main, run
from conformance.compare import OneOf, agrees, same
from conformance.vector import Vector
from wardround.engine.errors import UsageError


def row(reply: str, result: str, expect: str = "equal") -> dict[str, Any]:
    kept = {"result": result, "finish": False, "kept_response": f"Action: {result}", "error": None}
    return {"input": {"reply": reply}, "expected": kept, "expect": expect, "notes": ""}


def folder(path: Path, rows: Any) -> Path:
    path.mkdir(exist_ok=True)
    (path / "multicog_action_parser.json").write_text(json.dumps(rows))
    return path


def test_rows_that_count_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        row("Action: LAB", "LAB"),
        row("Action: LAB", "PE"),
        row("Action: x", "y", "defect"),
        row("", "", "reference"),
    ]
    assert run(folder(tmp_path / "v", rows), TABLES) == (1, 2)
    told = capsys.readouterr().out
    assert "multicog_action_parser: 1/2; defects handled: 1 of 1; for reference, 0 of 1 agree" in told
    assert "row 1: ours {'result': 'LAB'" in told
    assert "recorded {'result': 'PE'" in told


def test_what_has_no_adapter_is_named_and_not_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder(tmp_path / "v", [row("Action: LAB", "LAB")])
    (path / "README.md").write_text("words")
    (path / "new_family.json").write_text("[]")
    assert run(path, TABLES) == (1, 1)
    told = capsys.readouterr().out
    assert "README.md: not a vector file" in told
    assert "new_family.json: no adapter, not counted" in told


@pytest.mark.parametrize("content", ["{", '{"a": 1}', "[1]", '[{"input": {}}]'])
def test_an_unreadable_file_fails_the_run(tmp_path: Path, content: str) -> None:
    path = folder(tmp_path / "v", [])
    (path / "multicog_action_parser.json").write_text(content)
    assert run(path, TABLES) == (0, 1)


def test_a_row_that_breaks_is_a_disagreement_and_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{**row("x", "x"), "input": {}}, {**row("x", "x", "defect"), "input": {}}]
    assert run(folder(tmp_path / "v", rows), TABLES) == (0, 1)
    told = capsys.readouterr().out
    assert "row 0: ours \"KeyError: 'reply'\"" in told
    assert "defects handled: 0 of 1" in told


@pytest.mark.parametrize(("result", "code"), [("LAB", 0), ("PE", 1)])
def test_the_exit_says_whether_all_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], result: str, code: int
) -> None:
    vectors, tables = folder(tmp_path / "v", [row("Action: LAB", result)]), tmp_path / "t"
    tables.mkdir()
    with pytest.raises(SystemExit) as ended:
        main([str(vectors), "--tables", str(write(tables))])
    assert ended.value.code == code
    assert capsys.readouterr().out.splitlines()[-1] == f"{1 - code} of 1"


def test_no_folder_is_an_error_for_people(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder"):
        run(tmp_path / "absent", TABLES)


def test_comparison_by_the_rows_mark() -> None:
    assert same({"a": {1, 2}}, {"a": [2, 1], "b": 3})
    assert not same({"a": 1, "c": 2}, {"a": 1})
    assert not same([1, 2], [2, 1])
    assert same([1, 2], [2, 1], ordered=False)
    assert same(0.1 + 0.2, 0.3)
    assert same(OneOf("a", "b"), "b")
    assert agrees("b", Vector(0, "any_of", {}, {"values": ["a", "b"]}))
    assert not agrees("c", Vector(0, "any_of", {}, {"values": ["a", "b"]}))
    assert agrees("b", Vector(0, "equal", {}, "a", ("b",)))


@pytest.mark.shared
def test_the_shared_vectors_agree(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from conformance.tables import load

    agreed, counted = run(shared / "vectors", load(shared / "data/multicogeval/mimic-iv"))
    told = capsys.readouterr().out
    assert "row" not in told
    for name in ("multicog_episodes", "multicog_metrics"):
        assert f"{name}: 0/0; for reference, 1 of 1 agree" in told
    assert agreed == counted >= 200
