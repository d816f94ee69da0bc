"""The thinking part comes off the front of a text, and only there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.models.reply import split_thinking


@pytest.mark.parametrize(
    ("text", "answer", "thinking"),
    [
        ("plain", "plain", ""),
        ("", "", ""),
        ("<think>why</think>because", "because", "why"),
        ("\n <THINK>\nwhy\n</Think>\n\nbecause\n", "because\n", "why"),
        ("<think>cut short", "", "cut short"),
        ("<think></think>", "", ""),
        ("<think>a <think>b</think> c</think> d", "d", "a <think>b</think> c"),
        ("<think>the tag <think> opens</think> d", "d", "the tag <think> opens"),
        ("why\n</think>\nbecause", "because", "why"),
        ("Say <think>x</think> aloud", "Say <think>x</think> aloud", ""),
        ("<think>a</think>b<think>c</think>", "b<think>c</think>", "a"),
        ("<thinker>a</thinker>", "<thinker>a</thinker>", ""),
    ],
)
def test_only_a_leading_block_is_thinking(text: str, answer: str, thinking: str) -> None:
    assert split_thinking(text) == (answer, thinking)


@given(st.lists(st.sampled_from(["<think>", "</think>", "a", " ", "\n", "b"])).map("".join))
def test_no_word_is_lost_or_invented(text: str) -> None:
    answer, thinking = split_thinking(text)
    assert [c for c in thinking + answer if c in "ab"] == [c for c in text.replace("think", "") if c in "ab"]
    assert answer == text or text.rstrip().endswith(answer.rstrip())
