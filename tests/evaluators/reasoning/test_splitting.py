"""Steps by their marks, and by a judge's word where there are none: always the text's own words."""

import pytest
from bench import PlayedJudge, Reply
from hypothesis import given
from hypothesis import strategies as st
from reasoned import pleased, said

from wardround.engine.errors import ProviderError
from wardround.evaluators.judges.panel import Panel
from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.reasoning.part import DENSE, cut_at_starts, read_starts, steps_of
from wardround.evaluators.reasoning.step_questions import Rules
from wardround.evaluators.reasoning.steps import MANY, Split

SENTENCES = [f"Sentence number {number} says what follows from the one before it, and goes on." for number in range(20)]
DENSE_TEXT = " ".join(SENTENCES)


async def steps(text: str, judge: PlayedJudge, rules: Rules = "default") -> Split:
    return await steps_of(text, "thinking", rules, Panel([judge]))


async def test_marks_need_no_judge() -> None:
    judge = pleased()
    found = await steps("<step 1> one\n<step 2> two", judge)
    assert (found.steps, found.how, judge.asked) == (("one", "two"), "tags", [])
    assert (await steps(DENSE_TEXT[: DENSE - 1], judge)).how == "lines"
    assert (await steps(DENSE_TEXT, judge, "published")).how != "judge"
    assert judge.asked == []


async def test_a_text_in_one_piece_is_cut_where_the_judge_says() -> None:
    judge = pleased(starts=said(starts=["Sentence number 0", "Sentence number 5 says", "sentence  NUMBER 11"]))
    found = await steps(DENSE_TEXT, judge)
    assert found.how == "judge"
    assert [step.split()[2] for step in found.steps] == ["0", "5", "11"]
    assert " ".join(found.steps) == DENSE_TEXT
    assert judge.asked[0][0].text("The reply") == DENSE_TEXT


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot.",
        "",
        '{"starts": []}',
        '{"starts": ["These words stand nowhere in it at all"]}',
        '{"starts": ["Sentence number 0"]}',
        '{"starts": [1]}',
        '{"starts": ["Sentence number 5',
        ProviderError("timeout", "late"),
    ],
)
async def test_else_it_stays_in_one_piece(reply: Reply) -> None:
    found = await steps(DENSE_TEXT, pleased(starts=reply))
    assert (found.steps, found.how, found.reason) == ((DENSE_TEXT,), "lines", "")


async def test_the_second_judge_is_asked_if_the_first_fails() -> None:
    first, second = pleased(starts="No."), pleased("judge-2", starts=said(starts=["Sentence number 7"]))
    found = await steps_of(DENSE_TEXT, "thinking", "default", Panel([first, second]))
    assert len(found.steps) == 2


async def test_too_many_are_counted_and_said_so() -> None:
    words = [f"w{number:04}" for number in range(MANY + 50)]
    found = await steps(" ".join(words), pleased(starts=said(starts=words)))
    assert (len(found.steps), found.left_out, found.reason, found.how) == (MANY, 50, "too_many_steps", "judge")


def test_starts_count_only_behind_each_other() -> None:
    text = "Alpha is one. Beta is two. Gamma is three."
    assert cut_at_starts(text, ["Gamma", "Beta"]) == ["Alpha is one. Beta is two.", "Gamma is three."]
    assert cut_at_starts(text, ["Alpha", "Alpha", "is two"]) == ["Alpha is one. Beta", "is two. Gamma is three."]
    assert cut_at_starts(text, [".", "Gamma is three", "."]) == ["Alpha is one", ". Beta is two.", "Gamma is three"]
    assert cut_at_starts("", ["a"]) == []


@given(st.text(max_size=200), st.lists(st.text(max_size=10), max_size=10))
def test_no_word_is_lost_or_added(text: str, starts: list[str]) -> None:
    letters = [char for char in text if char.isalnum()]
    assert [char for piece in cut_at_starts(text, starts) for char in piece if char.isalnum()] == letters


@given(st.text(max_size=60))
def test_starts_are_read_strictly(reply: str) -> None:
    assert isinstance(read_starts(reply), Unread)


def test_starts_are_words() -> None:
    assert read_starts('Here: {"starts": ["a b", ""]}') == ("a b",)
    for reply, why in (
        ('{"starts": [" "]}', "no_steps"),
        ('{"starts": "a"}', "no_field"),
        (" ", "empty"),
        ("a", "prose"),
    ):
        found = read_starts(reply)
        assert isinstance(found, Unread)
        assert found.why == why
