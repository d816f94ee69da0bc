"""What a note says in phrases, a patient says in sentences; and what a turn asks is read as it was meant."""

import pytest

from wardround.agents.history import speech
from wardround.agents.history.facts import story_facts
from wardround.agents.history.interview import answer_from_story
from wardround.agents.history.question_kinds import parse_question, split_questions
from wardround.agents.history.speech import say_fact
from wardround.agents.history.vocabulary import concepts_in, with_wider
from wardround.agents.history.voice import PatientVoice


@pytest.mark.parametrize(
    ("section", "note", "said"),
    [
        (
            "Family History",
            "Leukaemia in father, lung cancer in mother.",
            "My father had leukaemia, my mother had lung",
        ),
        (
            "Family History",
            "Hypertension in father and elder brother.",
            "My father and my elder brother had high blood",
        ),
        ("Family History", "Mother with a history of gout.", "My mother had gout."),
        ("Family History", "Thyroid disease.", "There is thyroid disease in my family."),
        ("Family History", "None reported.", "There is nothing in the family that I know of."),
        ("Family History", "No congenital disorders.", "Nobody in my family has congenital disorders."),
        ("Family History", "Healthy older brother.", "My older brother is healthy."),
        ("Past Medical History", "Unremarkable.", "None that I know of."),
        ("Past Medical History", "History of cholecystectomy.", "I have had cholecystectomy."),
        ("Past Medical History", "Lung disease that requires oxygen.", "I have lung disease that requires oxygen."),
        ("Personal History", "Ex-smoker, retired.", "I'm an ex-smoker, retired."),
        ("Personal History", "20-year smoking history.", "I have smoked for 20 years."),
        ("Personal History", "Gravida 2 para 1.", "I have been pregnant twice and given birth once."),
        ("Personal History", "Heavy alcohol consumption.", "I drink a lot of alcohol."),
        ("Personal History", "Doesn't drink.", "I don't drink."),
        ("History", "Asymptomatic lesion of the chin.", "I have an asymptomatic lesion"),
        ("History", "At age 16, presented with a limp.", "At age 16 I presented with a limp."),
        ("History", "First generalized seizure at 32 months.", "I have had my first generalized seizure"),
        ("History", "Left breast nodule.", "I have a left breast nodule."),
        ("History", "Associated with night sweats.", "I also have night sweats."),
        ("History", "Inability to walk.", "I'm unable to walk."),
        ("History", "Gradual onset of back pain.", "Gradually I developed back pain."),
        ("History", "In June 2018: Swelling of both legs.", "In June 2018 I had swelling of both legs."),
        ("History", "Seizure-free since age 24.", "I'm seizure-free since age 24."),
        ("History", "Hysteroscopy performed two years ago.", "I have had hysteroscopy performed two years ago."),
    ],
)
def test_a_note_s_phrase_is_said_as_a_sentence_of_the_patient_or_of_its_family(
    section: str, note: str, said: str
) -> None:
    assert say_fact(story_facts({section: note})[0], PatientVoice("male", None)).startswith(said)


def test_a_section_that_says_none_denies_illnesses_of_its_kind() -> None:
    story = {"History": "A cough for two weeks.", "Past Medical History": "None.", "Family History": "None."}
    assert answer_from_story(story, "", ["Do you have asthma?"]).text == "None that I know of."
    family = answer_from_story(story, "", ["Nobody in your family has asthma, do they?"])
    assert family.text == "There is nothing in the family that I know of."
    assert answer_from_story(story, "", ["How old was your mother when she died?"]).text == speech.UNKNOWN
    assert answer_from_story(story, "", ["Did your heart pound?"]).text != "None that I know of."


def test_to_be_taken_through_the_complaint_is_to_be_told_it() -> None:
    story = {"History": "Pain around the navel for 30 hours. One episode of vomiting."}
    assert "navel" in answer_from_story(story, "Pain", ["Take me through the pain from the start."]).text


def test_what_a_doctor_adds_says_what_the_question_meant() -> None:
    assert split_questions("You don't take drugs, do you? I mean street drugs.") == [
        "You don't take drugs, do you (I mean street drugs)?"
    ]
    assert split_questions("Any fever, and any weight loss?") == ["Any fever", "any weight loss?"]


def test_not_that_i_have_noticed_answers_only_a_question_for_yes_or_no() -> None:
    assert not parse_question("What sort of stuff is it?").yes_no
    assert not parse_question("If it's not too painful, can you tell me about your fits?").yes_no
    assert parse_question("She hasn't been sick, has she?").yes_no


@pytest.mark.parametrize(
    ("note", "question"),
    [
        ("Right preauricular lymphadenopathy.", "Have you felt a lump in front of your ear?"),
        ("Dysarthria since Monday.", "Is your speech slurred?"),
        ("Left hemiparesis.", "Is one side of your body weak?"),
        ("Otalgia.", "Do you have earache?"),
        ("Orthopnea.", "Do you get short of breath?"),
        ("Asthenia.", "Do you feel tired?"),
        ("Menorrhagia.", "Are your periods heavy?"),
        ("Diaphoresis.", "Have you been sweating?"),
    ],
)
def test_a_lay_word_asks_for_what_the_note_calls_by_its_medical_name(note: str, question: str) -> None:
    kinds = ("finding", "disease")
    assert with_wider(concepts_in(note, *kinds)) & with_wider(concepts_in(question, *kinds))
