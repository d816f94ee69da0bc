"""docs/data.md: each of its commands, in its order, on files of the names that it uses."""

import json
import shlex
from pathlib import Path

import pytest
from clinic import case_file
from shell import Shell

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "data.md"


@pytest.mark.long
def test_each_command_of_the_page_runs(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    case_file(tmp_path / "diagnosis_cases.json", 2).rename(tmp_path / "diagnosis_cases.jsonl")
    told = {f"case-00{number}": {"results": {"content": "### Answer:\nAcute appendicitis"}} for number in range(2)}
    (tmp_path / "oracle__o3-mini__replies.json").write_text(json.dumps(told))
    (tmp_path / "results.csv").write_text("pmid,output,gold,acc\n1,Gout,Gout,1\n")
    play = ["--cases", "diagnosis_cases.jsonl", "--doctor", "gold", "--name", "calm-heron-417"]
    assert shell("run", *play) == 0, shell.err
    lines = [line.strip() for line in PAGE.read_text().splitlines() if line.startswith("    wardround ")]
    assert len(lines) >= 6
    for line in lines:
        words = shlex.split(line.replace("diagnosis_cases.json", "diagnosis_cases.jsonl"))[1:]
        assert shell(*words) == 0, f"{line}: {shell.err}"
    assert (tmp_path / "calm-heron-417.tables" / "turns.parquet").exists()
    assert (tmp_path / "train.jsonl").read_text().count("\n") == 2
