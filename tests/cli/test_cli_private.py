"""Restricted cases in files: only if it is said, and then for nobody else to read."""

from pathlib import Path

import pytest
from clinic import case
from shell import Copied, Shell


@pytest.fixture
def store(copied: Copied, shell: Shell) -> Path:
    """A store with one run, `s`, of one restricted case and one that is not."""

    def fill(folder: Path) -> None:
        path, cases = folder / "runs.db", folder / "cases.jsonl"
        both = case(1).model_copy(update={"data_class": "restricted"}), case(2)
        cases.write_text("\n".join(one.model_dump_json(exclude_defaults=True) for one in both))
        told = ["--scenario", "workup", "--doctor", "gold", "--name", "s", "--store", path]
        assert shell("run", "--cases", cases, *told, "--allow-host", "here.example") == 0, shell.err

    return copied(fill) / "runs.db"


@pytest.mark.parametrize("what", ["--events", "--dialogues"])
def test_notes_are_exported_only_if_it_is_said(shell: Shell, store: Path, tmp_path: Path, what: str) -> None:
    out = tmp_path / "out.jsonl"
    assert shell("export", "s", what, "--out", out, "--store", store) == 2
    assert "1 of the cases of s is restricted" in shell.err
    assert "--restricted" in shell.err
    assert not out.exists()
    assert shell("export", "s", what, "--out", out, "--restricted", "--store", store) == 0
    assert out.stat().st_mode & 0o077 == 0
    assert "case-001@1" in out.read_text()


def test_a_store_and_imported_cases_are_for_their_owner(shell: Shell, store: Path, tmp_path: Path) -> None:
    assert store.stat().st_mode & 0o077 == 0
    out = tmp_path / "again.jsonl"
    assert shell("cases", "import", tmp_path / "cases.jsonl", "--out", out) == 0, shell.err
    assert out.stat().st_mode & 0o077 == 0


def test_scores_hold_no_notes_and_are_written(shell: Shell, store: Path, tmp_path: Path) -> None:
    assert shell("score", "s", "--store", store) == 0
    out = tmp_path / "out.csv"
    assert shell("export", "s", "--scores", "--out", out, "--store", store) == 0
    assert "belly pain" not in out.read_text()


def test_a_run_says_how_many_of_its_cases_are_restricted_and_what_they_may_be_sent_to(
    shell: Shell, store: Path
) -> None:
    assert shell("show", "s", "--store", store) == 0
    assert "1 of its cases is restricted; hosts allowed for them: here.example" in shell.out
