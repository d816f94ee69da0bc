"""The reference split by a judge: one to ten steps, no preamble, or a typed reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.reasoning.step_questions import read_reference


@pytest.mark.parametrize(
    "text",
    [
        "<Step 1> a\n<Step 2> b c",
        "Here are the steps:\n<step 1> a\n<step 2> b\nc",
        "```\nStep 1: a\nStep 2: b c\n```".replace("```", ""),
        "1. a\n2. b c",
        '{"steps": ["a", "b c"]}',
        '["<Step 1> a", "<Step 2> b c"]',
        "<step 1>a</step>\n<step 2>b c</step>",
        "1. a\n2. b c\n\nI hope this helps!",
        "1. a\n\n2. b c\n\nThese are the steps, the last being the answer.",
        "Step 1:\n\na\n\nStep 2:\n\nb c\n\nDone.",
        "```\n1. a\n2. b c\n```\nThat is all.",
        "1. a\n2. b c\nLet me know if you need more.",
        '{"steps": [\n"1. a",\n"2. b c"\n]}',
    ],
)
def test_steps_are_read(text: str) -> None:
    assert read_reference(text) == ("a", "b c")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("I cannot do this.", "refusal"),
        ("I'm sorry, but I can't help with that.", "refusal"),
        ("This is a hard case.", "no_steps"),
        ("...", "no_steps"),
        ("\u6211\u89c9\u5f97\u8fd9\u4e2a\u95ee\u9898\u5f88\u96be\u3002", "other_language"),
        ('{"steps": ["a",\n1. "b"\n]}', "half_json"),
        ('{"steps": ["a"', "half_json"),
        ("<Step 1>\n<Step 2>", "no_steps"),
        ('{"steps": []}', "no_steps"),
        ('{"steps": [1]}', "no_field"),
        ('{"other": []}', "no_field"),
        ("\n".join(f"<Step {n}> s" for n in range(1, 12)), "too_many_steps"),
        ("<Step 1> a" * 20_000, "too_long"),
    ],
)
def test_anything_else_has_a_typed_reason(text: str, why: str) -> None:
    found = read_reference(text)
    assert isinstance(found, Unread)
    assert found.why == why


@given(st.lists(st.text("abc xyz", min_size=1).filter(str.strip), min_size=1, max_size=10))
def test_what_is_written_as_steps_is_read(steps: list[str]) -> None:
    wanted = tuple(" ".join(step.split()) for step in steps)
    assert read_reference("\n".join(f"<Step {n}> {step}" for n, step in enumerate(steps, 1))) == wanted
    assert read_reference(json.dumps({"steps": steps})) == wanted


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(read_reference(text), tuple | Unread)
