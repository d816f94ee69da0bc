"""Placeholders, copied instructions and postponements, against answers that look alike."""

import pytest
from game import PROMPTS
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.parsers.nonanswers import Instructions, postponed, template

TOLD = Instructions(PROMPTS.of("workup"))


@pytest.mark.parametrize(
    "value",
    [
        "[diagnosis]",
        "(the diagnosis)",
        "<your answer>",
        "{answer}",
        "diagnosis",
        "The diagnosis.",
        "[insert diagnosis here]",
        "[the most likely diagnosis based on the findings]",
        "(the disease, as specific as you can be)",
        "the disease, as specific as you can be",
        "the tests, separated by commas",
        "Your reply names no action that is possible now",
        "...",
        "[...]",
        "___",
        "\uff08最终诊断\uff09",
        "\u3010诊断\u3011",
        "votre diagnostic",
        "[Ihre Diagnose]",
        "(su diagnóstico aquí)",
    ],
)
def test_a_placeholder_is_no_answer(value: str) -> None:
    assert template(value, TOLD)


@pytest.mark.parametrize(
    "value",
    [
        "Gout",
        "[Gout]",
        "(Kawasaki disease)",
        "Addison's disease",
        "[The patient has Graves disease]",
        "[Disease of the gallbladder]",
        "[final diagnosis: gout]",
        "Heart disease",
        "[A-V block]",
        "痛风",
        "发热待查",
        "Name of the game syndrome",
        "```",
        "---",
        "",
        "x" * 10_000,
    ],
)
def test_a_disease_is_an_answer(value: str) -> None:
    assert not template(value, TOLD)


@pytest.mark.parametrize(
    "value",
    [
        "pending",
        "Pending further tests",
        "unknown",
        "not yet known",
        "unclear at this time",
        "None",
        "no diagnosis yet",
        "待查",
        "to be determined after biopsy",
        "N/A",
        "insufficient information to make a diagnosis",
        "TBD",
        "unklar",
    ],
)
def test_to_put_it_off_is_no_answer(value: str) -> None:
    assert postponed(value)


@pytest.mark.parametrize(
    "value", ["Carcinoma of unknown primary", "Unknown primary carcinoma", "发热待查", "Fever", ""]
)
def test_what_is_unknown_by_name_is_an_answer(value: str) -> None:
    assert not postponed(value)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(template(text, TOLD), bool)
    assert isinstance(postponed(text), bool)


@given(st.sampled_from(["[{}]", "({})", "**{}**", '"{}"', "<{}>", "{}."]), st.sampled_from(["the diagnosis", "answer"]))
def test_brackets_and_emphasis_change_nothing(frame: str, inside: str) -> None:
    assert template(frame.format(inside))
