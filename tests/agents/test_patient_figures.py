"""A sentence answers if it tells the kind of thing asked; each part of a turn is decided alone."""

import pytest

from scripts.measure_patient import Quoted, holding, label_quoted
from wardround.agents.history import speech
from wardround.agents.history.facts import story_facts
from wardround.agents.history.figures import strength_of
from wardround.agents.history.interview import PatientReply, answer_from_story
from wardround.agents.history.vocabulary import all_meanings, units

NOTE = {
    "History of Present Illness": "Abrupt pain in the right flank with vomiting, aggravated by oral intake.",
    "Personal History": "Heavy smoker. Retired postman.",
}


def reply(question: str) -> str:
    return answer_from_story(NOTE, "", [question]).text


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("How many cigarettes a day do you smoke?", speech.UNKNOWN),
        ("What did the vomit look like?", speech.UNKNOWN),
        ("What were you doing when the pain began?", speech.UNKNOWN),
        ("Are you a smoker?", "heavy smoker"),
        ("Which side is the pain?", "right flank"),
    ],
)
def test_a_sentence_about_the_thing_without_the_kind_of_answer_asked_is_no_answer(question: str, holds: str) -> None:
    assert holds in reply(question)


def test_what_a_turn_asks_beyond_the_record_is_said_to_be_unknown() -> None:
    text = reply("Are you a smoker, and which brand do you like?")
    assert text.endswith(speech.REST_UNKNOWN)
    assert "heavy smoker" in text


def test_a_word_is_held_more_surely_by_its_letters_than_by_a_wide_field() -> None:
    (word,) = units("Vomiting?")
    assert strength_of(word, all_meanings("He was vomiting.")) == 1.0
    assert 0.0 < strength_of(units("Cream?")[0], all_meanings("Given antibiotics.")) < 0.5
    assert strength_of(word, all_meanings("He walks well.")) == 0.0


def test_an_answer_is_apt_if_its_sentences_hold_every_stretch_of_the_story_that_answers() -> None:
    start = NOTE["History of Present Illness"].index("aggravated")
    places = f"History of Present Illness:{start}-{start + 25} | Personal History:0-12"
    asked = Quoted("", "", "", "", "", "yes", "", places)
    facts = story_facts(NOTE)
    assert [sorted(places_of_one) for places_of_one in holding(asked, (NOTE, ""), facts)] == [[0], [1]]
    whole = PatientReply("It is worse with food. I smoke a lot.", facts[:2])
    assert label_quoted(asked, whole, (NOTE, "")) == "apt"
    assert label_quoted(asked, PatientReply("I smoke a lot.", facts[1:2]), (NOTE, "")) == "evasive"
    assert label_quoted(asked, PatientReply("I am retired.", facts[2:]), (NOTE, "")) == "wrong"
    assert label_quoted(asked, PatientReply(speech.UNKNOWN, ()), (NOTE, "")) == "evasive"
