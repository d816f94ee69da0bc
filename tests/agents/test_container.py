"""An agent in a container: how it is run, what ends it, and where there is no runtime. A stand-in runs the command."""

import shlex
import sys
import threading
from pathlib import Path

import pytest
from shell import Shell

AGENT = """
import json, sys
json.loads(sys.stdin.readline())
for line in sys.stdin:
    print(json.dumps({"text": "Action: OUTPUT\\nDiagnosis: gout"}), flush=True)
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that notes its arguments and, for `run`, starts what stands behind the image."""
    monkeypatch.chdir(tmp_path)
    runtime, noted = tmp_path / "runtime", tmp_path / "calls"
    runtime.write_text(
        f'#!/bin/sh\necho "$@" >> {noted}\n[ "$1" = run ] || exit 0\n'
        'while [ "$1" != image:1 ]; do shift; done\nshift\nexec "$@"\n'
    )
    runtime.chmod(0o755)
    monkeypatch.setenv("WARDROUND_CONTAINER_RUNTIME", str(runtime))
    (tmp_path / "agent.py").write_text(AGENT)
    return noted


def spec() -> str:
    return f"container:image:1 {shlex.quote(sys.executable)} agent.py"


def test_a_container_has_no_network_and_is_removed(shell: Shell, calls: Path) -> None:
    before = {*threading.enumerate()}
    assert shell("run", "--doctor", spec(), "--limit", "2", "--name", "c") == 0, shell.err
    for removal in {*threading.enumerate()} - before:  # the run does not wait for the runtime to remove a container
        removal.join(30)
    lines = [line.split() for line in calls.read_text().splitlines()]
    begun = [words for words in lines if words[0] == "run" and "agent.py" in words]
    assert len(begun) == 2
    for words in begun:
        assert {"--network=none", "--read-only", "--cap-drop=ALL", "--rm", "--pull=never"} <= {*words}
        [name] = [word.partition("=")[2] for word in words if word.startswith("--name=")]
        assert ["rm", "--force", name] in lines
    assert shell("replay", "c") == 0, shell.out


def test_a_container_may_see_restricted_cases(shell: Shell, calls: Path) -> None:
    from wardround.runs.plan import cases_of
    from wardround.runs.settings import RunSettings

    case = next(iter(cases_of(RunSettings(limit=1)))).model_copy(update={"data_class": "restricted"})
    Path("restricted.jsonl").write_text(case.model_dump_json() + "\n")
    assert shell("run", "--doctor", spec(), "--cases", "restricted.jsonl", "--name", "c") == 0, shell.err
    process = f"exec:{shlex.quote(sys.executable)} agent.py"
    assert shell("run", "--doctor", process, "--cases", "restricted.jsonl") == 2


def test_without_a_runtime_the_run_is_refused(shell: Shell, calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARDROUND_CONTAINER_RUNTIME", "no-such-runtime")
    assert shell("run", "--doctor", spec(), "--limit", "1") == 2
    assert "needs no-such-runtime" in shell.err
