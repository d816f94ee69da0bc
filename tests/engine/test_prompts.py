"""Prompts: strict placeholders, replaceable, and never read what a value holds."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.errors import UsageError
from wardround.engine.prompts import Prompt, Prompts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own" / "game").mkdir(parents=True)
    (tmp_path / "own" / "game" / "start.md").write_text("Hello {name}, {{not}} {Not} {0} {a b}.\n")
    return tmp_path / "own"


def test_a_prompt_is_found_by_its_path_and_filled(folder: Path) -> None:
    prompt = Prompts.load([folder])["game/start"]
    assert prompt.fields == {"name", "not"}
    assert prompt.render(name="you", **{"not": "x"}) == "Hello you, {x} {Not} {0} {a b}."


@given(st.text())
def test_a_value_is_never_read_as_a_placeholder(value: str) -> None:
    assert Prompt("p", "a {x} b {y}").render(x=value, y="{x}") == f"a {value} b {{x}}"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("game/strt.md", "x", "replaces no prompt, did you mean game/start"),
        ("gme/start.md", "x", "replaces no prompt, did you mean game/start"),
        ("start.md", "x", "replaces no prompt, did you mean game/start"),
        ("gam.md", "x", "replaces no prompt, did you mean game"),
        ("game/start.md", "Hello.", r"missing: \{name\}, \{not\}"),
        ("game/start.md", "{name} {not} {age}", r"unknown: \{age\}"),
    ],
)
def test_a_replacement_that_cannot_work_is_refused(
    folder: Path, tmp_path: Path, name: str, text: str, told: str
) -> None:
    path = tmp_path / "mine" / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(UsageError, match=told):
        Prompts.load([folder], tmp_path / "mine")


def test_a_replacement_replaces(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine" / "game" / "start.md"
    path.parent.mkdir(parents=True)
    path.write_text("{not} {name}")
    assert Prompts.load([folder], tmp_path / "mine")["game/start"].text == "{not} {name}"


def test_a_file_that_is_no_text_is_named(folder: Path) -> None:
    (folder / "game" / "start.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"start\.md"):
        Prompts.load([folder])


def test_an_unknown_prompt_lists_those_there_are(folder: Path) -> None:
    with pytest.raises(UsageError, match="there are: game/start"):
        Prompts.load([folder])["game/stop"]
