"""The pages on rubrics and checklists: every command of theirs runs as it is printed, on the files that they print."""

import re
import shlex
from pathlib import Path

import pytest
from shell import Shell

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "file"),
    [("rubrics.md", "bench.jsonl"), pytest.param("checklists.md", "open.jsonl", marks=pytest.mark.long)],
)
def test_every_command_of_the_page_runs(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str, file: str
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text(encoding="utf-8")
    [printed] = re.findall(r"```jsonl\n(.*?)```", text, re.DOTALL)
    Path(file).write_text(printed, encoding="utf-8")
    commands = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert len(commands) >= 5
    for command in commands:
        name, *arguments = shlex.split(command)
        assert name == "wardround"
        assert shell(*arguments) == 0, (command, shell.err)
