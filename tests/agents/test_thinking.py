"""Thinking and answer of recorded replies come apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.agents.recorded import split_reply

WEB = (
    "> Reasoning\n**Heading**\nthought\n### Answer:\nno border\nReasoned for 8 seconds\n\n"
    "### Reasoning:\n1. x\n\n### Answer:\ny"
)


@pytest.mark.parametrize(
    ("content", "kept", "answer", "thinking"),
    [
        ("plain", "", "plain", ""),
        ("\n\n```\n### Resoning:", "apart", "\n\n```\n### Resoning:", "apart"),
        ("<think>a</think>\n\nb", "", "b", "a"),
        ("<think>a</think>b", "kept", "b", "kept\n\na"),
        ("<think>never closed", "", "", "never closed"),
        (WEB, "", "### Reasoning:\n1. x\n\n### Answer:\ny", "**Heading**\nthought\n### Answer:\nno border"),
        (
            WEB.replace("8 seconds", "a couple of seconds"),
            "",
            WEB[WEB.index("### Reasoning") :],
            "**Heading**\nthought\n### Answer:\nno border",
        ),
        ("> Reasoning\nwithout an end", "", "> Reasoning\nwithout an end", ""),
        (
            "answer\n> Reasoning\nx\nReasoned for 8 seconds\ny",
            "",
            "answer\n> Reasoning\nx\nReasoned for 8 seconds\ny",
            "",
        ),
        ("Alright, let's dive in.\n### Answer:\nx", "", "Alright, let's dive in.\n### Answer:\nx", ""),
    ],
)
def test_parted(content: str, kept: str, answer: str, thinking: str) -> None:
    assert split_reply(content, kept) == (answer, thinking)


@given(st.text().filter(lambda text: "think>" not in text.lower()), st.text())
def test_a_text_without_marks_is_the_answer_word_for_word(content: str, kept: str) -> None:
    if not content.lstrip().startswith("> Reasoning"):
        assert split_reply(content, kept) == (content, kept.strip())


@given(st.text(), st.text())
def test_a_block_is_taken_out_whole(thinking: str, answer: str) -> None:
    if "think>" not in (thinking + answer).lower() and not answer.lstrip().startswith("> Reasoning"):
        assert split_reply(f"<think>{thinking}</think>{answer}") == (answer.lstrip(), thinking.strip())
