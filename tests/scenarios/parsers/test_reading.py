"""Sections, answers and steps of replies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.parsers.reply_text import (
    answer_part,
    clean_value,
    final_answer,
    reasoning_text,
    reply_sections,
    reply_steps,
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("### Answer:\nAcute appendicitis", "Acute appendicitis"),
        ("**Answer:** Gout.", "Gout"),
        ("## **Answer**\n\n[Gout]", "Gout"),
        ("### answer\nGout", "Gout"),
        ("#### Final Answer: Gout", "Gout"),
        ("Answer: Gout", "Gout"),
        ("### Answer:\nfirst\n### Answer:\nlast", "last"),
        ("### Answer:\nkept\n### Answer:\n", "kept"),
        ("### Answer:\nGout\n### Explanation\nbecause", "Gout"),
        ("### Answer:\n#### Drugs\n- colchicine\n#### Diet\n- water", "Drugs\n- colchicine\n#### Diet\n- water"),
        ("```\n### Answer:\nGout\n```\nI hope this helps.", "Gout"),
        ("### Answer:\n```\nGout\n```", "Gout"),
        ("### Conclusion:\nGout", "Gout"),
        ("### Answer:\nGout\n### Conclusion:\nsee above", "Gout"),
        ("### Conclusion: X ### Additional Information Required: CT", "X"),
        ("### Answer:\n\n**Final Diagnosis:**\n\nGout", "Gout"),
        ("It fits.\n\n**Final diagnosis: gout**", "gout"),
        ("**Final Diagnosis:**\nGout\n\n**Management Plan:**\n\nColchicine", "Gout"),
        ("Therefore, the final diagnosis is **gout**. Treat it.", "gout"),
        ("Therefore, the final diagnosis is:\n\n**Gout**\n\n**Note:** maybe", "Gout"),
        ("the answer: gout", ""),
        ("### Answer:\n", ""),
        ("### Answer:\n[Just output the diagnostic result without any other explanation.]", ""),
        ("", ""),
    ],
)
def test_the_answer(text: str, found: str) -> None:
    assert final_answer(text) == found


@pytest.mark.parametrize(
    "heading",
    [
        "### Reasoning:",
        "### Resoning:",
        "### Chain of Thought:",
        "**Reasoning:**",
        "## reasoning",
        "Reasoning:",
        "",
        "```",
    ],
)
def test_steps_under_every_heading(heading: str) -> None:
    text = f"{heading}\n<step 1> Fever.\nAnd pain.\n<Step  2>Scan.\n\n### Conclusion:\nAppendicitis"
    assert reply_steps(text) == ["Fever.\nAnd pain.", "Scan."]


def test_steps_without_tags_are_paragraphs_and_else_lines() -> None:
    assert reply_steps("### Reasoning:\na\nb\n\nc\n### Answer:\nd") == ["a\nb", "c"]
    assert reply_steps("### Reasoning:\na\nb\n### Answer:\nd") == ["a", "b"]
    assert reply_steps("### Reasoning:") == []
    assert reply_steps("") == []


def test_steps_of_the_published_reader() -> None:
    text = "### Reasoning\n\na\n\nb\n\n## Answer:\n\nc"
    assert reply_steps(text) == ["a", "b"]
    assert reply_steps(text, published=True) == ["### Reasoning", "a", "b", "## Answer:", "c"]


def test_the_reasoning_goes_on_to_the_answer() -> None:
    assert reasoning_text("### Resoning:\na\n**Conclusion:**\nb\n### Answer:\nc") == "a\n**Conclusion:**\nb"


def test_sections_in_any_order() -> None:
    text = "### Additional Information Required:\n1. CT\n### Conclusion:\nX"
    assert [(part.name, part.text) for part in reply_sections(text)] == [("information", "1. CT"), ("conclusion", "X")]
    assert [part.text for part in reply_sections("## Additional information needed\nCT")] == ["CT"]


def test_the_answer_part() -> None:
    assert answer_part("<think>\nmaybe\n</think>\n\nGout") == "Gout"
    assert answer_part("<think>\nmaybe") == ""
    assert answer_part("Gout") == "Gout"


def test_clean() -> None:
    assert clean_value(" **Gout (acute)**. ") == "Gout (acute)"
    assert clean_value("[Gout]") == "Gout"
    assert clean_value("[Gout] or [flu]") == "[Gout] or [flu]"


@given(
    st.lists(st.sampled_from(["### ", "Answer", ":", "\n", "**", "Reasoning", "x", "<step 1>", "Conclusion", "```"]))
)
def test_any_mixture_is_read(parts: list[str]) -> None:
    text = "".join(parts)
    assert isinstance(final_answer(text), str)
    assert all(step.strip() for step in reply_steps(text))
    assert all(part.begin < part.end <= len(text) for part in reply_sections(text))


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(final_answer(text), str)
    assert isinstance(reply_steps(text), list)


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", ["a", " ", "\n", "*", "#", "### ", "### Answer:\n", "**Answer:**\n", "<step 1>", "[", "_ "]
)
def test_a_megabyte_is_read(piece: str) -> None:
    """Ends at all: quadratic work would outlast the time limit of a test."""
    text = piece * (1_000_000 // len(piece))
    assert final_answer(text) == ""
    assert all(step in text for step in reply_steps(text))
