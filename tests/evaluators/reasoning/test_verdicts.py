"""What a judge says of steps, outcomes and hits: JSON first, else a word, else a typed failure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.reasoning.step_questions import (
    Judgment,
    StepClass,
    StepVerdict,
    read_class,
    read_judgment,
    read_outcome,
    read_presence,
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Citation", StepClass.CITATION),
        ("[Repetition]", StepClass.REPETITION),
        ("reasoning", StepClass.REASONING),
        ("REDUNDANCY.", StepClass.REDUNDANCY),
        ('{"classification": "Reasoning"}', StepClass.REASONING),
        ('```json\n{"Type": "[Citation]"}\n```', StepClass.CITATION),
        ('["Reasoning"]', StepClass.REASONING),
        ("The current thinking step is Reasoning.", StepClass.REASONING),
    ],
)
def test_classes(text: str, kind: StepClass) -> None:
    assert read_class(text) == kind


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("Citation|Repetition|Reasoning|Redundancy", "several"),
        ('{"classification": "Citation|Reasoning"}', "several"),
        ('{"classification": "Thinking"}', "not_in_vocabulary"),
        ('{"classification": 3}', "not_in_vocabulary"),
        ('{"classification": null}', "no_field"),
        ('{"step": "Reasoning"}', "no_field"),
        ('{"classification": "Reason', "half_json"),
        ("Not Reasoning", "hedged"),
        ("The reasoning here is about fever", "prose"),
    ],
)
def test_a_class_is_never_a_default(text: str, why: str) -> None:
    found = read_class(text)
    assert isinstance(found, Unread)
    assert found.why == why


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Yes", True),
        ("yes.", True),
        ("[No]", False),
        ("Not covered", False),
        ("No, the step is not covered.", False),
        ("No, the text only touches on the same subject.", False),
        ("Yes, it is correct.", True),
        ('{"found": true, "answer": "Gout"}', True),
        ('{"found": false, "addressed": true, "answer": "No"}', False),
        ("Yes, the third step says it.", True),
        ("\u662f", True),
        ("\u4e0d\u662f", False),
        ("\u5426\u3002", False),
        ('{"found": true}', True),
        ('{"hit": false}', False),
        ('{"answer": "Yes"}', True),
    ],
)
def test_hits(text: str, found: bool) -> None:
    assert read_presence(text) is found


@pytest.mark.parametrize(
    "text",
    [
        *("eyes", "Yesterday", "Yes and no", "Yes|No", "\u662f\u4e0d\u662f", "", "Maybe", "Yes, but not fully"),
        *("Yes: false", "Yes: \u274c", "\u662f\uff0c\u4e0d\u5305\u542b", "\u662f\uff0c\u4f46\u53ea\u6709\u90e8\u5206"),
        *("Yes, in part.", "Yes, only the first half", "No. It is found in step 3", "No, it is correct."),
        *('{"found": true, "answer": "no"}', '{"found": false, "yes": true}', '{"found": "Yes: false"}'),
        '{"Found": true, "found": false}',
    ],
)
def test_eyes_are_no_yes(text: str) -> None:
    assert isinstance(read_presence(text), Unread)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Correct", True),
        ("Incorrect", False),
        ("Wrong", False),
        ('{"verdict": "Incorrect"}', False),
        ('{"correct": true}', True),
        ('{"accuracy": false}', False),
        ('It means the same. {"verdict": "correct"}', True),
        ('It might be wrong at first sight. {"verdict": "correct"}', True),
        ('{"verdict": "Verdict: [Correct]", "wrong": false}', True),
        ('{"verdict": "wrong", "correct": false, "answer": "Gout"}', False),
        ("Yes, it is correct.", True),
        ("The prediction is Correct because both are names of gout.", True),
    ],
)
def test_outcomes(text: str, right: bool) -> None:
    assert read_outcome(text) is right


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The prediction is not correct", "hedged"),
        ("Partially correct", "hedged"),
        ('{"verdict": "partially correct"}', "hedged"),
        ('{"verdict": "not correct"}', "hedged"),
        ("Wrong. The correct diagnosis is gout", "several"),
        ('{"verdict": "correct"}\nIt is wrong.', "several"),
        ('{"verdict": "correct", "verdict": "wrong"}', "half_json"),
        ('{"verdict": "correct", "Verdict": "wrong"}', "half_json"),
        ('{"verdict": "Correct: false"}', "hedged"),
        ('{"verdict": "correct, in part"}', "hedged"),
        ('{"verdict": "correct, since both name gout"}', "not_in_vocabulary"),
        ('{"verdict": "correct"}\n\u4f46\u662f\u4e0d\u6b63\u786e', "hedged"),
        ('{"verdict": "correct"}\nThe answer misses the side.', "hedged"),
        ('{"verdict": "correct", "correct": false}', "several"),
        ('{"verdict": "correct", "wrong": true}', "several"),
        ('{"verdict": "correct", "judgment": "Wrong"}', "several"),
        ('{"verdict": "wrong"}\nThe answer is right.', "several"),
        ('{"verdict": {"value": "correct"}}', "not_in_vocabulary"),
        ("\u6b63\u786e", "other_language"),
    ],
)
def test_an_outcome_that_is_not_plain_is_none(text: str, why: str) -> None:
    found = read_outcome(text)
    assert isinstance(found, Unread)
    assert found.why == why


@pytest.mark.parametrize(
    ("text", "judgment"),
    [
        ('{"judgment": "Correct", "keywords_to_search": "None"}', Judgment(StepVerdict.CORRECT, "None")),
        ('{"judgment": "Incorrect"}', Judgment(StepVerdict.WRONG)),
        ('{"judgment": "Search", "keywords_to_search": ["a", "b c"]}', Judgment(None, "a, b c")),
        ('{"judgment": "Search"}', Judgment(None)),
        ('{\n "judgment": "Wrong",\n "keywords_to_search": "None",\n}', Judgment(StepVerdict.WRONG, "None")),
        ("Wrong", Judgment(StepVerdict.WRONG)),
        ("Search: gout, red joint", Judgment(None, "gout, red joint")),
        ('{"judgment": "unverifiable"}', Judgment(StepVerdict.UNVERIFIABLE)),
    ],
)
def test_judgments(text: str, judgment: Judgment) -> None:
    assert read_judgment(text) == judgment


@pytest.mark.parametrize(
    "text", ['{"judgment": "Correct", "verdict": "Wrong"}', '{"judgment": "Wrong", "correct": true}', "Search: wrong"]
)
def test_of_two_judgments_none_is_taken(text: str) -> None:
    found = read_judgment(text)
    assert isinstance(found, Unread)
    assert found.why == "several"


def test_a_boolean_is_no_judgment_and_no_class() -> None:
    assert isinstance(read_judgment('{"judgment": true}'), Unread)
    assert isinstance(read_class('{"class": false}'), Unread)


@given(
    st.text()
    | st.lists(st.sampled_from(["Correct", "Wrong", '{"judgment":', '"', "}", "not ", "|", "\n"])).map("".join)
)
def test_any_reply_is_read_or_typed(text: str) -> None:
    for read in (read_class, read_presence, read_outcome, read_judgment):
        found = read(text)
        if isinstance(found, Unread):
            assert found.why
