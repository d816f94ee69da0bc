"""The strict reading of a judge's verdict."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.judge import LONGEST, read, shortened


@pytest.mark.parametrize(
    "text",
    [
        "Correct",
        "correct.",
        "**Correct**",
        "Same disease.\n\nVerdict: correct",
        "Another name for it.\n**Verdict:** Correct.",
        "Final verdict - correct",
        "It is not the usual name, but it will do.\nVerdict: correct",
        "Correct.\nThe names mean the same.",
    ],
)
def test_right(text: str) -> None:
    assert read(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect",
        "incorrect.",
        "Wrong. The correct diagnosis is appendicitis.",
        "The correct diagnosis is another.\nVerdict: incorrect",
        "`Verdict: wrong`",
        "Incorrect.",
    ],
)
def test_wrong(text: str) -> None:
    assert read(text) is False


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The prediction is not correct",
        "Partially correct",
        "Correct in part",
        "Correct. However the site is another.",
        "Correct, but late",
        "Verdict: correct\nVerdict: incorrect",
        "Verdict: not correct",
        "Verdict: correct or incorrect",
        "Verdict: unclear",
        "Correctness cannot be judged",
        "yes",
        "I am sorry, I cannot help with that.",
    ],
)
def test_neither(text: str) -> None:
    assert read(text) is None


@pytest.mark.shared
def test_the_published_judge_replies(shared: Path) -> None:
    """`defect` rows are those where the published code reads "Incorrect" or "not correct" as correct."""
    rows = json.loads((shared / "vectors" / "medr_outcome_accuracy.json").read_text(encoding="utf-8"))
    for row in rows:
        replies = row["input"]["judge"]
        text = replies if isinstance(replies, str) else replies[-1]
        if row["expect"] == "equal":
            assert read(text) is row["expected"]["value"]
        else:
            assert read(text) is not True


@given(st.text())
def test_any_text_is_read_without_error(text: str) -> None:
    assert read(text) in (True, False, None)
    assert read("in" + text) is not True or "verdict" in text.lower()


def test_a_megabyte_is_shown_shortened() -> None:
    shown = shortened("a" * 500_000 + "b" * 500_000)
    assert len(shown) < LONGEST + 100
    assert shown.startswith("aaa")
    assert shown.endswith("bbb")
    assert "992000 characters left out" in shown
    assert shortened("short") == "short"
