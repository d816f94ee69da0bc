"""The work-up that reads replies as the published code reads them."""

import pytest
from game import PROMPTS, Game
from patients import ADMISSION

from wardround.scenarios.encounters.workup import Workup, WorkupSettings


def game() -> Game:
    return Game(Workup(WorkupSettings(rules="published", reading="published"), PROMPTS), ADMISSION)


@pytest.mark.parametrize(
    ("reply", "heard"),
    [
        ("Action: I HOPE so", ("examiner", "answer")),
        ("Action: LABEL", ("desk", "question")),
        ("Action: lab", ("desk", "warning")),
        ("**Diagnosis:** gout", ("desk", "warning")),
        ("Action: OUTPUT", ("desk", "demand")),
        ("Lab Tests: lipase", ("examiner", "answer")),
    ],
)
def test_a_reply_is_read_by_its_letters(reply: str, heard: tuple[str, str]) -> None:
    assert game().play([reply]).heard[-1] == heard


def test_the_answer_needs_a_treatment() -> None:
    played = game().play(["Action: OUTPUT", "Diagnosis: gout"])
    assert played.ending is None
    played.play(["Diagnosis: gout\nTreatment: rest"])
    assert played.ending is not None
    assert played.ending.facts["answer"] == {"diagnosis": "gout"}


def test_a_list_given_at_once_does_not_use_up_its_action() -> None:
    played = game().play(["Lab Tests: lipase", "Action: LAB"])
    assert played.heard[-1] == ("desk", "question")
    played.play(["Lab Tests: sodium"])
    assert played.heard[-1] == ("desk", "warning")


def test_with_all_types_used_even_an_unreadable_reply_demands_the_answer_once() -> None:
    played = game().play([f"Action: {name}" for name in ("PE", "LAB", "IMAGE", "MICRO")] + ["gibberish"])
    assert played.heard[-1] == ("desk", "demand")
    played.play(["gibberish"])
    assert played.heard[-1] == ("desk", "warning")
