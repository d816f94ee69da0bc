"""What is no answer ends no encounter, whatever form it takes, and is counted by its shape."""

from typing import Any, get_args

import pytest
from clinic import case
from game import PROMPTS, Game
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.events import Acted
from wardround.engine.records import Action
from wardround.scenarios.encounters.consultation import Consultation, read_consultation
from wardround.scenarios.encounters.staged import FreeTurn, OneTurn, Oracle, Treatment
from wardround.scenarios.encounters.workup import Workup
from wardround.scenarios.parsers.moves import Conclusion, PatientQuestion, Shape, Unusable, checked_move

FORMS = {
    Workup: "Diagnosis: {}",
    Consultation: "DIAGNOSIS: {}",
    OneTurn: "### Conclusion:\n{}\n\n### Additional Information Required:\nNot required.",
    FreeTurn: "### Conclusion:\n{}\n\n### Additional Information Required:\nNot required.",
    Oracle: "### Reasoning:\nit fits\n\n### Answer:\n{}",
    Treatment: "### Chain of Thought:\nit fits\n\n### Answer:\n{}",
}
NO_ANSWERS = {
    "[diagnosis]": ("doctor", "no_answer"),
    "(the diagnosis, and nothing else)": ("doctor", "no_answer"),
    "<your answer>": ("doctor", "no_answer"),
    "As an AI language model I cannot diagnose.": ("doctor", "refusal"),
    "I cannot provide a diagnosis of appendicitis": ("doctor", "refusal"),
    "Ich kann keine Diagnose stellen": ("doctor", "refusal"),
    "我无法提供诊断": ("doctor", "refusal"),
}


def game(kind: Any, **settings: Any) -> Game:
    return Game(kind(kind.Settings(**settings), PROMPTS), case(1))


def acted(text: str, thinking: str = "", finish: str = "") -> Acted:
    return Acted(1, 0.0, "doctor", Action("reply", text, thinking=thinking), finish=finish)


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("said", NO_ANSWERS)
def test_what_is_no_answer_completes_nothing(kind: Any, said: str) -> None:
    played = game(kind).play([FORMS[kind].format(said)] * 40)
    assert played.ending is not None
    cause = (played.ending.cause, played.ending.reason)
    assert cause == NO_ANSWERS[said]
    assert "answer" not in played.ending.facts
    shapes = played.ending.facts["unread_shapes"]
    assert sum(shapes.values()) == played.ending.facts["unusable"]
    assert set(shapes) <= set(get_args(Shape))


@pytest.mark.parametrize("kind", FORMS)
def test_a_refusal_followed_by_an_answer_is_an_answer(kind: Any) -> None:
    said = "I cannot give medical advice; this is gout"
    played = game(kind).play([FORMS[kind].format(said)] * 2)
    assert played.ending is not None
    assert played.ending.cause == "completed"
    assert "gout" in next(iter(played.ending.facts["answer"].values()))


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize(
    ("finish", "text", "reason", "shape"),
    [
        ("content_filter", "", "content_filter", "content_filter"),
        ("content_filter", FORMS[Oracle].format("Gout"), "content_filter", "content_filter"),
        ("refusal", "", "refusal", "refusal"),
        ("tool_calls", "", "no_answer", "tool_call"),
        ("length", "", "no_answer", "truncated"),
        ("", "", "no_answer", "empty"),
    ],
)
def test_how_the_call_ended_is_seen(kind: Any, finish: str, text: str, reason: str, shape: str) -> None:
    played = game(kind)
    while played.turn:
        played.seq += 1
        played.state = played.scenario.apply(
            played.state, Acted(played.seq, 0.0, "doctor", Action("reply", text), finish=finish)
        )
    assert played.ending is not None
    assert (played.ending.cause, played.ending.reason) == ("doctor", reason)
    assert played.ending.facts["unread_shapes"] == {shape: played.ending.facts["unusable"]}


@pytest.mark.parametrize(
    "text",
    [
        "I am not DIAGNOSIS READY yet",
        "I am not yet DIAGNOSIS READY.",
        "I'm not DIAGNOSIS READY: I need more tests",
        "When I know enough I will say DIAGNOSIS READY: [diagnosis]",
        "Before I am DIAGNOSIS READY I want to ask: how long has it hurt?",
        "DIAGNOSIS READY: [diagnosis here]",
        "DIAGNOSIS READY: not yet",
        "DIAGNOSIS: pending further tests",
        "DIAGNOSIS: (the disease; this ends the consultation)",
    ],
)
@pytest.mark.parametrize("last", [False, True])
def test_who_is_not_ready_has_not_concluded(text: str, last: bool) -> None:
    assert not isinstance(read_consultation(text, last=last), Conclusion)


def test_a_copy_of_the_instructions_is_neither_answer_nor_order() -> None:
    for kind in FORMS:
        played = game(kind)
        copy = played.view().brief
        played.play([copy] * 40)
        assert played.ending is not None
        assert played.ending.cause != "completed", kind.__name__
        assert played.ending.facts["orders"] == 0, kind.__name__


DIALOGUE = "ASK: Where does it hurt?\nPatient: In my belly, doctor.\nASK: And how long?\nPatient: Two days.\n{}"


@pytest.mark.parametrize("kind", FORMS)
def test_a_dialogue_with_itself_is_no_answer(kind: Any) -> None:
    played = game(kind).play([DIALOGUE.format(FORMS[kind].format("Acute appendicitis"))] * 40)
    assert played.ending is not None
    assert (played.ending.cause, played.ending.reason) == ("doctor", "no_answer")
    assert list(played.ending.facts["unread_shapes"]) == ["dialogue"]


@pytest.mark.parametrize(
    ("event", "shape"),
    [
        (acted(""), "empty"),
        (acted("", "long thoughts"), "only_thinking"),
        (acted("<think>never closed"), "only_thinking"),
        (acted("", finish="tool_calls"), "tool_call"),
        (acted('{"name": "order", "arguments": {}}'), "tool_call"),
        (acted("It may be one of", finish="length"), "truncated"),
        (acted("I cannot help with that."), "refusal"),
        (acted("这是一个很长的病史"), "other_language"),
        (acted("Well, it is hard to tell."), "no_heading"),
        (Acted(1, 0.0, "doctor", Action("order", args={"kind": "?"})), "bad_arguments"),
    ],
)
def test_each_unread_reply_has_its_shape(event: Acted, shape: str) -> None:
    found = checked_move(Unusable("unreadable", "x"), event)
    assert isinstance(found, Unusable)
    assert found.shape == shape
    assert found.fault == ("refusal" if shape == "refusal" else "unreadable")


@given(st.text(), st.sampled_from(["", "length", "stop", "tool_calls"]))
def test_any_reply_is_looked_at(text: str, finish: str) -> None:
    for move in (Conclusion(text), PatientQuestion(text), Unusable("unreadable", "x")):
        found = checked_move(move, acted(text, finish=finish))
        assert found == move or isinstance(found, Unusable)
        assert not isinstance(found, Unusable) or found.shape in get_args(Shape)
