"""`wardround cases build mimic` and `wardround cases pool` as commands: what they print, write and refuse."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from benchmarks.mimic_tree import MimicTree
from wardround.cli.build_cases import mimic, pool
from wardround.engine.errors import UsageError


def called(command: click.Command, *arguments: object) -> int:
    return int(command(list(map(str, arguments)), standalone_mode=False) or 0)


@pytest.fixture
def tree(tmp_path: Path) -> MimicTree:
    return MimicTree(tmp_path / "mimic", 51)


def test_the_flow_is_printed_and_written_beside_the_cases(
    tree: MimicTree, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "cases.jsonl"
    assert called(mimic, "--mimic", tree.root, "--out", out, "--min-per-disease", 1, "--seed", 7) == 0
    said = capsys.readouterr()
    assert "51 admissions, pool: Wardround's own list" in said.out
    assert any(line.split()[:3] == ["coded", "51", "3"] for line in said.out.splitlines())
    assert said.err.startswith("PhysioNet's terms of 24 September 2025")
    assert said.err.splitlines()[1] == "admissions: 51"
    account = json.loads(Path(f"{out}.flow.json").read_text())
    assert account["cases"] == len(out.read_text().splitlines()) > 0
    assert account["seed"] == 7
    assert account["flow"][0] == {
        "rule": "coded", "what": "an ICD code of a pool disease", "in": 51, "dropped": 3, "changed": 0, "out": 48,
    }  # fmt: skip
    assert set(account["files"]) == set(tree.written)
    assert len(account["files"]["labevents"]["sha256"]) == 64
    assert set(account["versions"]) == {"wardround", "duckdb", "simple-icd-10-cm", "python"}


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_build_without_a_case_says_what_to_do_and_leaves_the_files_alone(
    tree: MimicTree, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: Sequence[str]
) -> None:
    out = tmp_path / "out" / "cases.jsonl"
    arguments = ("--mimic", tree.root, "--out", out, "--min-per-disease", 1000, *more)
    assert called(mimic, *arguments) == 2
    said = capsys.readouterr()
    assert "no cases were built and no file was written: name other inputs, or loosen the rule" in said.err
    assert "written: " not in said.out
    assert list(out.parent.iterdir()) == []
    out.write_text("of an earlier build\n")
    assert called(mimic, *arguments) == 2
    assert [path.read_text() for path in out.parent.iterdir()] == ["of an earlier build\n"]


@pytest.mark.long
def test_the_account_can_be_had_as_json(tree: MimicTree, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = called(mimic, "--mimic", tree.root, "--out", tmp_path / "c.jsonl", "--limit", 2, "--json")
    assert code == 2, "the tree gives no case"
    assert json.loads(capsys.readouterr().out)["options"]["limit"] == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--table", "labevents"], "--table labevents: write NAME=PATH"),
        (["--table", "chairs=x"], "there is no such table"),
        (["--pool", "nowhere.csv"], "nowhere.csv"),
        (["--gem", "nowhere.txt"], "nowhere.txt"),
        (["--without", "colour"], "there is no such rule"),
        (["--mimic-version", "1.0"], "a build reads MIMIC-IV 2.x or 3.x"),
        (["--data-class", "public"], "only the open demo"),
        (["--lookup", "nowhere", "--rules", "published"], "nowhere"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_read(
    arguments: Sequence[str], said: str, tree: MimicTree, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        called(mimic, "--mimic", tree.root, "--out", tmp_path / "c.jsonl", *arguments)
    assert not (tmp_path / "c.jsonl").exists()


def test_a_folder_that_is_not_there_is_named(tree: MimicTree, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="the folder cannot be made"):
        called(mimic, "--mimic", tree.root, "--out", tmp_path / "file" / "c.jsonl")
    with pytest.raises(UsageError, match="is no folder"):
        called(mimic, "--mimic", tmp_path / "no", "--out", tmp_path / "c.jsonl")


@pytest.mark.long
def test_a_pool_is_written_and_taken_by_a_build(
    tree: MimicTree, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": "Acute pancreatitis, or pneumonia?", "answer": "A"}))
    assert called(pool, tmp_path / "q.jsonl", "--out", tmp_path / "pool.csv") == 0
    assert "diseases in 1 question;" in capsys.readouterr().out
    options = ("--pool", tmp_path / "pool.csv", "--min-per-disease", 1)
    assert called(mimic, "--mimic", tree.root, "--out", tmp_path / "c.jsonl", *options) == 0
    account = json.loads((tmp_path / "c.jsonl.flow.json").read_text())
    assert str(tmp_path / "pool.csv") in account["also"]
    assert account["pool"]["diseases"] == 2


def test_the_scispacy_linker_says_what_it_needs(tmp_path: Path) -> None:
    if find_spec("scispacy"):
        pytest.skip("the extra scispacy is installed here")
    (tmp_path / "q.jsonl").write_text('{"question": "gout?"}\n')
    with pytest.raises(UsageError, match="scispacy"):
        called(pool, tmp_path / "q.jsonl", "--linker", "scispacy")
