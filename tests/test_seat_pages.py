"""Each command of the sections on examiners, personas, teams and the sequential scenario runs as the pages say."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from serving import serving
from shell import Shell

from wardround.engine.records import Json, Message
from wardround.testing.loopback import Loopback

DOCS = Path(__file__).resolve().parent.parent / "docs"
SECTIONS = (
    ("agents.md", "A model as the examiner"),
    ("agents.md", "Patients with a persona"),
    ("agents.md", "AgentClinic's settings"),
    ("agents.md", "Teams"),
    ("scenarios.md", "sequential"),
)
_FILE = re.compile(r"^```(?:toml|csv)\n# ([\w.]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def section(page: str, title: str) -> str:
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found, f"{page} has no section {title}"
    return found[1]


def commands(page: str, title: str) -> list[str]:
    return re.findall(r"^wardround (.*?)$", section(page, title), re.MULTILINE)


def answering(messages: Sequence[Message], model: str) -> str | Mapping[str, Json]:
    text = "\n".join(message.content for message in messages)
    if '{"result"' in text:
        return '{"result": "Within normal limits."}'
    if '{"verdict"' in text:
        return '{"verdict": "wrong"}'
    if '{"basis"' in text:
        return '{"basis": "near", "points": 4}'
    turn = sum(message.role == "assistant" for message in messages)
    return ("ASK: Since when?", "ORDER: chest x-ray", "DIAGNOSIS: influenza")[min(turn, 2)]


@pytest.mark.parametrize(
    ("page", "title"), [*SECTIONS[:2], *(pytest.param(*section, marks=pytest.mark.long) for section in SECTIONS[2:])]
)
def test_every_command_of_a_section_runs(
    page: str, title: str, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name, text in _FILE.findall(section(page, title)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    lines = commands(page, title)
    assert lines
    for number, line in enumerate(lines):
        words = shlex.split(line)
        named = ["--name", f"r{number}"] if words[0] == "run" and "--name" not in words else []
        with serving(Loopback(answering)) as url:
            monkeypatch.setenv("OPENAI_BASE_URL", url)
            assert shell(*words, *named) == 0, shell.err
        if named:
            assert shell("replay", named[1]) == 0, shell.out
