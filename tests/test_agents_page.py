"""Each recipe of docs/agents.md runs as it stands there, against the loopback server, and replays equal."""

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from examples import first_ones
from serving import serving
from shell import Shell

from wardround.engine.records import Json, Message
from wardround.testing.loopback import Loopback

PAGE = Path(__file__).resolve().parent.parent / "docs" / "agents.md"
_FILE = re.compile(r"^```(?:python|toml)\n# ([\w.]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^## (\d+)\. (.*?)$.*?^wardround (.*?)$", re.DOTALL | re.MULTILINE)
_CALL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"word": "fever"}'}}
RECIPES = {int(number): command for number, _, command in _COMMAND.findall(PAGE.read_text(encoding="utf-8"))}


def answering(messages: Sequence[Message], model: str) -> str | Mapping[str, Json]:
    if "look_up" in messages[0].content and messages[-1].role != "tool":
        return {"content": None, "tool_calls": [_CALL], "finish_reason": "tool_calls"}
    return {"content": "Diagnosis: influenza", "reasoning_content": "it is winter"}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in _FILE.findall(PAGE.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, name.partition(".")[0], raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


def test_the_page_has_twelve_recipes() -> None:
    assert sorted(RECIPES) == list(range(1, 13))


@pytest.mark.parametrize("number", first_ones([number for number in RECIPES if number != 12], 3))
def test_a_recipe_runs_as_it_stands(number: int, shell: Shell, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = shlex.split(RECIPES[number])
    with serving(Loopback(answering)) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        assert shell(*words, "--name", "r") == 0, shell.err
    assert shell("replay", "r") == 0, shell.out
    assert shell("show", "r", "wa-001") == 0
    assert "influenza" in shell.out


def test_the_certificate_of_the_page(shell: Shell, here: Path) -> None:
    assert shell(*shlex.split(RECIPES[12])) == 0, shell.out
    assert "nothing wrong" in shell.out
