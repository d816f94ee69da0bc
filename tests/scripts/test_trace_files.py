"""The trace of the files that a turn and a judged reply pass."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.trace_files import ROOT, Trace
from wardround.engine.records import Ending
from wardround.engine.seat import knowledge_of
from wardround.engine.text import printable


def test_a_file_counts_only_while_the_trace_is_on(tmp_path: Path) -> None:
    trace = Trace()
    other = tmp_path / "other.py"
    other.write_text("def other():\n    return 1\n")
    scope: dict[str, object] = {}
    exec(compile(other.read_text(), str(other), "exec"), scope)  # a file that is none of the product's
    sys.setprofile(trace)
    try:
        printable("\x1b")
        assert trace.files() == []
        trace.on = True
        printable("\x1b")
        exec("other()", scope)
        Ending("completed")
        knowledge_of(object())
        trace.on = False
        assert trace.files() == ["engine/seat.py", "engine/text.py"]
        trace.again()
        assert trace.files() == ["engine/seat.py", "engine/text.py"]
        trace.on = True
        printable("\x1b")
        trace.on = False
    finally:
        sys.setprofile(None)
    assert trace.files() == ["engine/text.py"]


@pytest.mark.long
def test_a_turn_and_a_judged_reply_are_traced() -> None:
    asked = [sys.executable, "-m", "scripts.trace_files", "--json"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    judged_rooms = {"engine", "evaluators"}
    for name, rooms in (
        ("turn", {"agents", "engine", "scenarios"}),
        ("judged", judged_rooms),
        ("judged_again", judged_rooms),
        ("judged_step", judged_rooms),
    ):
        files = found[name]["files"]
        assert found[name]["count"] == len(files) == len(set(files))
        assert {file.partition("/")[0] for file in files} >= rooms
        assert all((ROOT / file).is_file() for file in files)
        assert not [file for file in files if "loopback" in file]
    assert 20 < found["turn"]["count"] < found["judged_step"]["count"]
    assert found["judged_step"]["count"] < found["judged_again"]["count"] < found["judged"]["count"]
    assert set(found["judged_step"]["files"]) < set(found["judged_again"]["files"])
