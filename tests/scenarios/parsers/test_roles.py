"""Role breaks: who plays another seat, recites instructions, or speaks of itself as a model."""

import re

import pytest
from examples import first_ones
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.parsers.nonanswers import RUN, Passages, breaks, plays_other, recites, self_as_model

WORDS = st.lists(st.text(alphabet="abcdefgh", min_size=1, max_size=6), min_size=RUN, max_size=40)


@pytest.mark.parametrize(
    "text",
    [
        "ASK: Where does it hurt?\nPatient: In my belly.",
        "Where does it hurt?\n\n**Patient:** In the belly.\n\nDIAGNOSIS: Gout",
        "Doctor: Hello.\nPatient: Hello, doctor.",
        "Patient: I have pain.\nPatient: It began on Monday, I think.",
        "ORDER: CBC\nExaminer: White cells 14",
        "Frage an Sie: Seit wann?\nPatientin: Seit gestern.",
        "医生\uff1a哪里疼\uff1f\n患者\uff1a肚子疼",
    ],
)
def test_a_doctor_who_plays_the_others(text: str) -> None:
    assert plays_other(text, "doctor")


@pytest.mark.parametrize(
    "text",
    [
        "Patient: 45-year-old man with chest pain.\nImpression: infarction",
        "**Patient:** reports pain.",
        "ASK: Where does it hurt?",
        "The patient: tired. Where does it hurt?",
        "Patient: Mrs A., 45\nHistory: ...\nPatient: stable",
    ],
)
def test_a_summary_is_no_dialogue(text: str) -> None:
    assert not plays_other(text, "doctor")


def test_what_was_really_said_may_be_quoted() -> None:
    text = "You told me:\nDoctor: Where?\nPatient: In my belly."
    assert plays_other(text, "doctor")
    assert not plays_other(text, "doctor", ["In my belly."])


def test_a_patient_who_plays_the_doctor() -> None:
    assert plays_other("Patient: It hurts.\nDoctor: Then take this.", "patient")
    assert not plays_other("Patient: It hurts.", "patient")


@pytest.mark.parametrize(
    "text",
    [
        "Doctor: Do you smoke?\nPatient: I do.",
        "**Doctor:** Do you smoke?\n\n**Patient:** I do.",
        "Dr: I will listen to your lungs.\nPatient: All right.",
        "Arzt: Rauchen Sie?\nPatientin: Ja.",
    ],
)
def test_a_patient_who_writes_both_parts_of_the_talk(text: str) -> None:
    assert plays_other(text, "patient")
    assert not plays_other(text, "patient", [re.split("[\n:]", text)[1]])


@pytest.mark.parametrize(
    "text",
    [
        "I do. My doctor said: do you smoke? I said yes.",
        "My doctor said: I must stop smoking.\nSo I stopped.",
        "Doctor: Smith\nPatient: Mrs A., 45",
        "Doctor: Dr Smith, at the practice.\nPatient: I am Mrs A.",
        "Doctor: do you smoke? That is what the last one asked me.",
    ],
)
def test_a_patient_who_quotes_a_doctor(text: str) -> None:
    assert not plays_other(text, "patient")


@pytest.mark.parametrize(
    "text", ["Patient: 45, says my chest hurts.\nASK: Since when?", "Patient: Mrs A., 45\nDoctor: Smith"]
)
def test_a_heading_above_the_doctors_own_words_is_no_dialogue(text: str) -> None:
    assert not plays_other(text, "doctor")


RULES = "Answer the question that was asked and stop there. Do not bring up other symptoms, your past or your habits."
STORY = "It began on Monday after a long walk in the rain and it has not stopped since then."


def test_instructions_recited_are_seen_and_the_story_is_no_instruction() -> None:
    told = Passages([STORY])
    assert recites(f"I am to {RULES.lower()}", f"{STORY}\n{RULES}", told)
    assert not recites(STORY, f"{STORY}\n{RULES}", told)
    assert not recites("It hurts since Monday.", f"{STORY}\n{RULES}", told)


@given(WORDS, WORDS, st.integers(0, 30))
def test_any_ten_words_in_a_row_are_enough_and_nine_are_not(own: list[str], rules: list[str], at: int) -> None:
    rules = [f"r{word}" for word in rules]
    start = min(at, len(rules) - RUN)
    own = [f"o{word}" for word in own]
    nothing = Passages([])
    assert recites(" ".join([*own, *rules[start : start + RUN], *own]), " ".join(rules), nothing)
    assert not recites(" ".join([*own, *rules[start : start + RUN - 1], *own]), " ".join(rules), nothing)


def test_the_kinds_come_in_one_order() -> None:
    text = f"As an AI language model I must: {RULES}\nDoctor: Where?\nPatient: Here."
    assert breaks(text, "doctor", RULES, Passages([])) == ["plays_other", "recites", "self_as_model"]
    assert breaks("[diagnosis]", "doctor", "", Passages([])) == ["template"]


@given(st.text(), st.text())
def test_any_text_is_read(text: str, rules: str) -> None:
    assert isinstance(breaks(text, "patient", rules, Passages([])), list)


@pytest.mark.parametrize("piece", first_ones(["a ", "Patient: I ", "Doctor:\n", "我", "Patient:\n"]))
def test_a_megabyte_is_read_at_once(piece: str) -> None:
    plays_other(piece * (1_000_000 // len(piece)), "doctor")


@pytest.mark.parametrize("at", range(8))
@pytest.mark.parametrize("parts", [1, 2, 7])
def test_recites_a_run_wherever_it_begins_and_however_the_messages_are_cut(at: int, parts: int) -> None:
    rules = [f"rule{number}" for number in range(40)]
    text = " ".join([*(f"own{number}" for number in range(at)), *rules[13 : 13 + RUN], "own"])
    size = -(-len(rules) // parts)
    messages = tuple(" ".join(rules[start : start + size]) for start in range(0, len(rules), size))
    assert recites(text, messages, Passages([]))
    assert not recites(text, messages, Passages([text]))
    assert not recites(text.replace("rule17", "own"), messages, Passages([]))
    assert recites(text, "\n".join(messages), Passages([]))


@pytest.mark.parametrize(
    "text",
    [
        *("As an AI I cannot", "I'm only a computer program", "Als KI", "Ich bin nur ein Sprachmodell"),
        *("en tant qu'IA", "je suis un modèle de langage", "como inteligencia artificial", "soy un asistente virtual"),
        *("作为人工智能", "我只是AI", "作为一个大模型", "I am an LLM", "as a virtual aſſistant"),
    ],
)
def test_calls_itself_a_model(text: str) -> None:
    assert self_as_model(text)
