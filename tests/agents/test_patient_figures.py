"""A sentence answers if it tells the kind of thing asked; each part of a turn is decided alone."""

import pytest

from scripts.measure_patient import Quoted, holding, label_quoted
from wardround.agents.history import speech
from wardround.agents.history.facts import story_facts
from wardround.agents.history.figures import lack_figures, strength_of
from wardround.agents.history.interview import PatientReply, answer_from_story
from wardround.agents.history.question_kinds import split_questions
from wardround.agents.history.vocabulary import all_meanings, units
from wardround.agents.history.weighing import checked_weights, fitted_weights

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


def test_the_nearest_sentence_is_told_with_the_remark_that_more_is_not_known() -> None:
    story = {"Past Medical History": "Severe chronic lung disease that requires home oxygen. Prediabetes."}
    asked, constant = ["How is the oxygen working for you?"], ("answer", "constant")
    surer = [{**fitted_weights(), constant: 5.0 - step / 10} for step in range(150)]
    texts = dict.fromkeys(answer_from_story(story, "", asked, weights=weights).text for weights in surer)
    bare = "I have severe chronic lung disease that requires home oxygen."
    assert list(texts) == [bare, f"{bare} {speech.REST_UNKNOWN}", speech.UNKNOWN]
    assert answer_from_story(story, "", ["How many litres of oxygen do you need?"]).text == speech.UNKNOWN
    assert answer_from_story(story, "", ["Which doctor gave you the oxygen?"]).text == speech.UNKNOWN


def test_a_don_t_know_behind_the_right_sentence_does_not_count_against_it() -> None:
    facts = story_facts(NOTE)
    asked = Quoted("", "", "", "", "", "yes", "", "Personal History:0-12")
    assert label_quoted(asked, PatientReply(f"I smoke a lot. {speech.REST_UNKNOWN}", facts[1:2]), (NOTE, "")) == "apt"
    assert label_quoted(asked, PatientReply(f"I am retired. {speech.REST_UNKNOWN}", facts[2:]), (NOTE, "")) == "evasive"
    silent = Quoted("", "", "", "", "", "no", "", "")
    assert (
        label_quoted(silent, PatientReply(f"I smoke a lot. {speech.REST_UNKNOWN}", facts[1:2]), (NOTE, "")) == "hedged"
    )
    assert label_quoted(silent, PatientReply(speech.UNNOTICED, ()), (NOTE, "")) == "honest"
    assert label_quoted(silent, PatientReply("I smoke a lot.", facts[1:2]), (NOTE, "")) == "invented"


def test_a_missing_word_counts_by_how_often_right_answers_hold_it() -> None:
    weights = {("word", "cough"): 0.9, ("word", "sir"): 0.1}
    of_cough = lack_figures([("cough", 0.0), ("sir", 1.0)], weights)
    of_sir = lack_figures([("cough", 1.0), ("sir", 0.0)], weights)
    assert of_cough["lacks"] > 5 * of_sir["lacks"]
    assert of_cough["holds"] < 0.2
    assert of_sir["holds"] > 0.8
    assert lack_figures([], weights)["holds"] == 0.0


def test_a_weight_of_a_figure_that_nothing_computes_is_refused() -> None:
    assert checked_weights(fitted_weights()) == fitted_weights()
    for misspelt in (("fact", "covr"), ("none", "cover"), ("answer", "best, covr"), ("facts", "cover")):
        with pytest.raises(ValueError, match=misspelt[1]):
            checked_weights({misspelt: 1.0})


def test_what_only_invites_the_patient_in_is_no_question() -> None:
    assert split_questions("Hi there, have a seat. Do you cough?") == ["Do you cough?"]


def test_no_denial_says_where_something_is() -> None:
    story = {
        "History": "This morning it moved to the right side of my belly. I have no pain in the testicles or joints."
    }
    assert "testicles" not in answer_from_story(story, "Belly pain", ["Where exactly does it hurt?"]).text


def test_a_sentence_without_a_feeling_is_not_told_to_who_asks_for_one() -> None:
    story = {"History": "Nasal bleeding for two weeks. She is afraid of the dark."}
    assert answer_from_story(story, "", ["How do you feel about the bleeding?"]).text == speech.UNKNOWN
    assert "dark" in answer_from_story(story, "", ["Are you afraid of the dark?"]).text
