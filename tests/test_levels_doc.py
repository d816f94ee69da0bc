"""What docs/levels.md shows runs as it stands there."""

import re
from pathlib import Path

import pytest
from shell import Shell

PAGE = Path(__file__).resolve().parent.parent / "docs" / "levels.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_NAMES = {"jsonl": "questions.jsonl", "toml": "models.toml"}


@pytest.mark.long
def test_every_command_of_the_page_runs(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    for kind, text in blocks:
        if kind in _NAMES:
            (tmp_path / _NAMES[kind]).write_text(text)
    told = {}
    for kind, text in blocks:
        for line in text.splitlines() if kind == "sh" else ():
            assert shell(*line.removeprefix("wardround ").split()) == 0, (line, shell.err)
            told[line] = shell.out
    shown = {line: out for line, out in told.items() if line.startswith("wardround levels")}
    tables = {
        "gold-questions gold-high random-questions --html": "shared diseases",
        "own-careful own-hasty": "replies:bundled:questions#hasty",
        "random-questions --models models.toml": "Medical model minus its backbone",
        "--against": "Leaks of the sets",
    }
    for arguments, table in tables.items():
        out = next(out for line, out in shown.items() if arguments in line)
        assert table in out, arguments
    assert (tmp_path / "levels.html").is_file()
