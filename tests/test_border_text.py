"""Half of a surrogate pair, wherever text comes in: escaped or named, and no run is lost to it."""

import json
from pathlib import Path

import pytest
from clinic import case, case_file
from shell import Shell

from wardround import run
from wardround.engine.errors import UsageError
from wardround.engine.text import loads, lone_surrogate, printable
from wardround.testing.memory_store import MemoryStore

HALF = "\ud83d"


def test_one_in_a_reply_is_escaped_and_the_others_are_played(shell: Shell, tmp_path: Path) -> None:
    cases, replies = case_file(tmp_path / "cases.jsonl", 3), tmp_path / "r.jsonl"
    answer = "### Reasoning:\n<step 1> it fits {}\n\n### Answer:\nAcute appendicitis"
    lines: list[dict[str, object]] = [
        {"case_id": f"case-{n:03}", "replies": [answer.format(HALF if n == 1 else "")]} for n in range(3)
    ]
    lines[2]["replies"] = [{"text": answer.format(""), "thinking": HALF}]
    replies.write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = ("--cases", cases, "--scenario", "oracle", "--store", tmp_path / "s.db")
    assert shell("run", *told, "--doctor", f"replies:{replies}", "--name", "r") == 0
    assert "3 completed" in shell.out
    assert shell("replay", "r", "--store", tmp_path / "s.db") == 0
    assert shell("score", "r", "--store", tmp_path / "s.db") == 0
    assert shell("show", "r", "case-001", "--store", tmp_path / "s.db") == 0
    assert "\\ud83d" in shell.out


@pytest.mark.parametrize(
    "options",
    [
        {"doctor": {"spec": "silent", "options": {"x": HALF}}},
        {"doctor": {"spec": "silent", "options": {HALF: 1}}},
        {"set": {"max_turns": HALF}},
        {"where": (f"group={HALF}",)},
    ],
)
async def test_one_in_a_setting_is_a_usage_error(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="surrogate"):
        await run(case_file(tmp_path / "c.jsonl", 1), store=MemoryStore(), **options)  # type: ignore[arg-type]


def test_json_with_escapes_is_read_whole() -> None:
    assert loads('{"a\\ud83d": ["\\ude00", "\\ud83d\\ude00"]}') == {"a\\ud83d": ["\\ude00", "\U0001f600"]}
    assert lone_surrogate({"a": [{"b": HALF}]}) == "a[0].b"
    assert lone_surrogate({"a": ["\U0001f600"]}) is None


def test_nothing_that_steers_a_terminal_is_printable() -> None:
    assert printable("a\x1b]0;t\x07\r\n\u202eb\ud83d") == "a\\x1b]0;t\\x07\\r\\n\\u202eb\\ud83d"
    assert printable("one\r\ntwo\tthree\x1b", lines=True) == "one\ntwo\tthree\\x1b"
    assert printable("Müller, 37 °C: µg ≥ 3 – 医") == "Müller, 37 °C: µg ≥ 3 – 医"


def test_a_truth_that_stands_in_the_opening_is_named_by_run(shell: Shell, tmp_path: Path) -> None:
    told = case(1).model_copy(update={"opening": "Acute appendicitis, said the last doctor."})
    (tmp_path / "c.jsonl").write_text(told.model_dump_json() + "\n" + case(2).model_dump_json() + "\n")
    play = ("run", "--cases", tmp_path / "c.jsonl", "--doctor", "silent", "--store", tmp_path / "s.db")
    shell(*play)
    [line] = [line for line in shell.err.splitlines() if "can read the right answer" in line]
    assert "case-001" in line
    assert "cases=1" in line
    shell(*play, "--scenario", "treatment")
    assert "right answer" not in shell.err
