"""The record patient understands questions, keeps to its story, and speaks as a patient."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from scripts.measure_patient import answer, label, questions, stories
from wardround.agents.history import aims, speech
from wardround.agents.history.facts import statements, story_facts, story_sentences
from wardround.agents.history.interview import answer_from_story
from wardround.agents.history.question_kinds import parse_question, split_questions
from wardround.agents.history.vocabulary import concepts_in, history_concepts, topics, units, word_fields
from wardround.agents.history.voice import patient_voice

SHEET = {
    "Demographics": "61-year-old man",
    "History": (
        "The patient reports a 3-week history of burning chest pain, which is worse after meals. He saw Dr. Li at 5"
        " p.m. on Monday. His wife noticed that he has lost his appetite. The pain spreads to his left arm."
    ),
    "Symptoms": "Primary symptom: Chest pain; Secondary symptoms: Dyspnea on exertion, Black stools",
    "Past medical history": "Hypertension. Appendectomy at 20. Treated for gout in 2019.",
    "Current medications": "Lisinopril, naproxen",
    "Family history": "Father died of a stroke at 70. No family history of cancer.",
    "Social history": "Works as a carpenter, drinks two beers a day. Never smoked. Lives with his wife.",
    "Review of systems": "Denies fever, cough, or weight loss. If asked, the patient should not mention the naproxen.",
}
CHILD = {
    "Demographics": "4-year-old girl",
    "History": "The patient's mother reports that she has had a rash on her arms for two days. She has not vomited.",
    "Social history": "Information not provided.",
}


def said(question: str, *earlier: str, story: dict[str, str] = SHEET) -> str:
    return answer_from_story(story, "", [*earlier, question]).text


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("What brings you in today?", "I've had burning chest pain for 3 weeks, which is worse after meals."),
        ("When did the pain start?", "for 3 weeks"),
        ("What makes it worse?", "after meals"),
        ("Does the pain go anywhere else?", "spreads to my left arm"),
        ("What does the pain feel like?", "burning"),
        ("Do you get short of breath?", "Yes. I have shortness of breath"),
        ("Have you noticed any blood in your poo?", "black stools"),
        ("Are you running a temperature?", "No, no fever."),
        ("You haven't lost any weight, have you?", "No, no weight loss."),
        ("Do you have high blood pressure?", "high blood pressure"),
        ("Have you ever had an operation?", "appendectomy"),
        ("Which tablets do you take?", "I take Lisinopril, naproxen."),
        ("Has anyone in the family had a stroke?", "My father died of a stroke at 70."),
        ("What do you do for a living?", "I work as a carpenter."),
        ("Do you smoke or drink?", "I drink two beers a day."),
        ("Who lives with you at home?", "I live with my wife."),
        ("How old are you?", "I'm 61 years old."),
        ("How has your appetite been?", "My wife noticed that I have lost my appetite."),
        ("Do you cough? And do you have a fever?", "No, no cough. No, no fever."),
    ],
)
def test_a_question_of_each_kind_is_answered(question: str, holds: str) -> None:
    assert holds.lower() in said(question).lower()


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("Do you have any allergies?", speech.UNKNOWN),
        ("Have you travelled recently?", speech.UNKNOWN),
        ("Are your vaccinations up to date?", speech.UNKNOWN),
        ("Do you have a headache?", speech.UNNOTICED),
        ("Do you have knee pain?", speech.UNNOTICED),
        ("Is there diabetes in your family?", speech.NO_RELATIVE),
        ("What do you think it is?", speech.OPINION),
        ("What did the ECG show?", speech.RESULTS),
    ],
)
def test_what_the_record_does_not_tell_is_not_denied_and_not_made_up(question: str, answered: str) -> None:
    assert said(question) == answered


def test_a_follow_up_leans_on_what_was_asked_before() -> None:
    assert "for 3 weeks" in said("And since when?", "Tell me about the chest pain.")
    assert said("And since when?", "Do you cough?") != said("And since when?", "What brings you in?")


def test_the_answer_is_the_same_when_asked_again_and_in_other_words() -> None:
    first = said("Do you have a fever?")
    assert first == said("Do you have a fever?", "Do you have a fever?") == said("Any temperature?", "Do you cough?")


def test_instructions_to_the_actor_and_labels_are_never_read_aloud() -> None:
    told_all = " ".join(
        said(question) for question in ("What brings you in?", "Anything else?", "Which tablets?", "Fever?")
    )
    assert "should not" not in told_all
    assert "symptom:" not in told_all.lower()
    assert "the patient" not in told_all.lower()


def test_a_parent_speaks_for_a_child() -> None:
    assert said("What is wrong with her?", story=CHILD) == "She has had a rash on her arms for two days."
    assert said("Has she thrown up?", story=CHILD) == "No. She has not vomited."
    assert said("Does anyone smoke at home?", story=CHILD) == speech.UNKNOWN


def test_a_story_in_the_patients_words_stays_as_it_is() -> None:
    story = {"History": "My head is splitting. This morning it moved to the left.", "Social history": "Does not smoke."}
    assert said("What brings you in?", story=story).startswith("My head is splitting.")
    assert said("Do you smoke?", story=story) == "I do not smoke."


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("He saw Dr. Li. It hurt.", 2),
        ("Since 5 p.m. Monday it hurts.", 1),
        ("She has hepatitis B. She denies fever.", 2),
        ("No. 4 on the list.", 1),
        ("Weight 3.5 kg. Fever 38.5 C.", 2),
    ],
)
def test_sentences_survive_abbreviations(text: str, count: int) -> None:
    assert len(story_sentences(text)) == count


def test_a_denial_ends_where_its_scope_ends() -> None:
    found = {
        name: item.denied
        for item in statements("Denies fever, cough, or rash, but has nausea")
        for name in item.findings
    }
    assert found == {"fever": True, "cough": True, "rash": True, "nausea": False}
    assert [fact.text for fact in story_facts({"Social history": "No smoking history provided."})] == []


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("What made you come and see us, sir?", "burning chest pain"),
        ("What seems to be the matter, as you or your family see it?", "burning chest pain"),
        ("What's your main worry?", "burning chest pain"),
        ("I hear you have chest pain. Tell me about that.", "burning chest pain"),
        ("Have you had a scan, and what did it show?", speech.UNKNOWN),
        ("What was your last HbA1c?", speech.RESULTS),
        ("What did the biopsy say?", speech.RESULTS),
        ("How many brothers do you have?", speech.UNKNOWN),
    ],
)
def test_an_opening_is_answered_and_a_number_or_name_that_the_record_lacks_is_not(question: str, reply: str) -> None:
    assert reply in said(question)


REPORT = {
    "History of Present Illness": "Developed fever and joint pain. Nail biopsy reveals spongiotic changes.",
    "Past Medical History": "Newly diagnosed MALT lymphoma.",
    "Personal History": "Physically active.",
}


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("His joints are hurting?", "I developed fever and joint pain."),
        ("Do you have a fever?", "Yes. I developed fever and joint pain."),
        ("Any past illnesses?", "I was newly diagnosed with MALT lymphoma."),
        ("Are your nails affected?", speech.UNKNOWN),
    ],
)
def test_a_report_is_told_in_sentences_and_no_finding_of_an_examiner(question: str, reply: str) -> None:
    assert said(question, story=REPORT) == reply


def test_a_complaint_is_told_in_the_first_person_and_only_where_the_story_lacks_it() -> None:
    complaint = "A 22-year-old man: headache since yesterday, with vomiting."
    bare = {"Social history": "Works as a baker."}
    assert answer_from_story(bare, complaint, ["Have you vomited?"]).text.startswith("Yes. I have a headache")
    told = {"History": "My head hurts on the right. It began this morning."}
    assert "22-year-old" not in answer_from_story(told, complaint, ["Where does your head hurt?"]).text


def test_a_turn_is_cut_into_its_questions() -> None:
    assert split_questions("Hello. Any fever? And do you cough?") == ["Any fever?", "do you cough?"]
    assert parse_question("Since when have you had tummy ache?").sites == {"abdomen"}


def test_the_halves_of_a_compound_question_are_two_questions() -> None:
    asked = "Tell me what is wrong, and roughly how long has it gone on?"
    assert split_questions(asked) == ["Tell me what is wrong", "how long has it gone on?"]
    assert split_questions("Is it sore, and if so, where?") == ["Is it sore", "where?"]
    assert split_questions("Do you have pain and fever?") == ["Do you have pain and fever?"]


def test_asking_politely_where_is_not_asking_whether() -> None:
    assert not parse_question("Can you show me where it hurts?").yes_no
    assert parse_question("Can you bend the knee?").yes_no


def test_each_cell_of_the_tables_is_an_expression() -> None:
    """They are compiled at their first use, which may be late."""
    for concept in history_concepts():
        assert not concept.words.fullmatch("")
    for _, words in word_fields():
        assert not words.fullmatch("")
    for topic in topics():
        assert not topic.in_question.fullmatch("")
        assert not topic.in_text.fullmatch("")


def test_no_concept_is_missed_by_looking_only_where_a_word_begins_alike() -> None:
    kinds = ("finding", "disease", "site")
    for row in aims.examples()[::40]:
        text = row["question"]
        every = {one.name for one in history_concepts() if one.kind in kinds and one.words.search(text)}
        assert concepts_in(text, *kinds) == every, text


LIMP = {
    "Demographics": "7-year-old boy",
    "History": (
        "The patient's mother reports that her son has had a painless, nonpruritic rash on his trunk for 4 days. He was"
        " playing football when he ran into another child. Mother denies any fever. He has pain in his knee, but denies"
        " any trauma. Family members have noticed a yellowish coloring of his eyes over the past week."
    ),
    "Past medical history": "Immunizations up to date. No history of adverse drug reactions.",
    "Social history": (
        "Exclusively breastfed as an infant. Recently traveled to Miami. His family history is negative for cancer."
    ),
}
MAN = {
    "History": (
        "A 64-year-old man with a history of skin cancers presents with a lesion on his nose that first appeared"
        " 6 months ago. The lesion is painless."
        " He wears eyeglasses, and the nose pad rubs on the lesion. He had a colonoscopy"
        " last year. He moved from Brazil in May and was started on risperidone."
    )
}


@pytest.mark.parametrize(
    ("story", "question", "reply"),
    [
        (LIMP, "Is the rash itchy?", "No. "),
        (LIMP, "Does he have a rash?", "Yes. "),
        (LIMP, "Has he had a knock?", "No, no trauma."),
        (LIMP, "Has he had a fever?", "No. He hasn't had any fever."),
        (LIMP, "How long have his eyes been yellow?", "over the past week"),
        (LIMP, "Is he up to date with his jabs?", "up to date"),
        (LIMP, "Has he reacted badly to any medicine?", "adverse drug reactions"),
        (LIMP, "How were you feeding him as a baby?", "breastfed"),
        (LIMP, "Where have you been lately?", "Miami"),
        (LIMP, "Is there any cancer in the family?", "negative for cancer"),
        (MAN, "Have you had skin cancer before?", "Yes. I have a history of skin cancers."),
        (MAN, "What has brought you?", "I have a lesion on my nose"),
        (MAN, "Have you ever had a camera test?", "I had a colonoscopy"),
        (MAN, "What medicine did they put you on?", "risperidone"),
        (MAN, "Where did you live before?", "Brazil"),
        (MAN, "Does the lesion hurt?", "No. "),
        (SHEET, "What illnesses have you had before?", "high blood pressure"),
        (MAN, "Do you cough up blood?", speech.UNNOTICED),
        (MAN, "Has your voice changed?", speech.UNNOTICED),
    ],
)
def test_classes_of_the_second_battery(story: dict[str, str], question: str, reply: str) -> None:
    """Lay words by meaning, adjectives that deny, a parent's voice, and a history within the first sentence."""
    assert reply in said(question, story=story)


def test_a_bare_question_leans_on_the_one_before_it() -> None:
    assert "Brazil" in said("Whereabouts?", "Where did you live before?", story=MAN)


FINGER = {
    "History": (
        "The patient reports that the pain and swelling in his right ring finger began 2 days ago while playing"
        " football. He is unable to flex the tip of the finger. The pain disrupts his sleep. His skin shows"
        " small plaques on the lower lip. He enjoys walking and sunbathing. He is a refugee from Sudan."
    ),
    "Past medical history": "Born prematurely at 32 weeks. Had pneumonia at 12.",
    "Family history": "Grandfather had gout.",
}


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Can you bend the tip of that finger?", "flex"),
        ("Does it keep you awake?", "disrupts my sleep"),
        ("Which country do you come from?", "Sudan"),
        ("How many weeks early were you born?", "32 weeks"),
        ("What sport were you playing?", "football"),
    ],
)
def test_plain_words_find_the_sentence_that_means_the_same(question: str, reply: str) -> None:
    assert reply in said(question, story=FINGER)


@pytest.mark.parametrize(
    "question",
    [
        "Have you taken anything for the pain?",
        "Do you use sunscreen?",
        "Do you have pain in any other finger?",
        "Have you had this pain before?",
        "What is your job?",
    ],
)
def test_a_sentence_that_covers_only_a_part_of_the_question_is_no_answer(question: str) -> None:
    assert said(question, story=FINGER) in (speech.UNKNOWN, speech.UNNOTICED)


INTRODUCED = {
    "History": (
        "A 32-year-old premenopausal woman who has never smoked presents with an itchy rash on her thighs. The rash"
        " fails to improve with creams."
    )
}


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Do you smoke?", "I have never smoked."),
        ("What brings you in?", "I have an itchy rash on my thighs. The rash fails to improve with creams."),
        ("Did the creams help?", "The rash fails to improve with creams."),
    ],
)
def test_a_first_sentence_tells_who_the_patient_is_what_it_does_and_why_it_comes(question: str, reply: str) -> None:
    assert said(question, story=INTRODUCED) == reply


def test_a_word_means_what_its_neighbours_make_of_it() -> None:
    water, night = units("Do you pass water at night?")[-2:]
    assert "!urine" in water.meanings
    assert "=night" in night.meanings
    assert "!urine" not in units("Do you drink water?")[-1].meanings


@pytest.mark.long
@pytest.mark.shared
def test_the_goals_hold_on_the_seen_questions(shared: Path) -> None:
    """The goals for apt and honest answers hold on the part `check`, which the rules were tuned on."""
    cases = stories(shared / "data")
    counts: Counter[str] = Counter()
    for question in questions("check"):
        counts[label(question, asyncio.run(answer(question, cases[question.case])))] += 1
    assert counts["apt"] / 203 >= 0.9
    assert (counts["honest"] + counts["hedged"]) / 93 >= 0.95


def test_relatives_are_the_childs_where_a_parent_speaks_and_others_stay_others() -> None:
    child = {**CHILD, "Family history": "Brother had surgery for pyloric stenosis. Father has psoriasis."}
    text = said("Does anything run in the family?", story=child)
    assert "Her brother had surgery" in text
    assert "My brother" not in text
    own = {
        "History": "It's cramps all over my belly, and I keep throwing up.",
        "Family history": "My father gets a fat hand after hard work. His sister choked to death at 31.",
    }
    assert "His sister choked to death at 31." in said("What runs in your family?", story=own)


ELBOWS = {
    "Demographics": "34-year-old woman",
    "History": (
        "The patient presents with a scaly rash on both elbows for 3 months. It has slowly become larger. She thinks "
        "the rash is due to a new detergent. She has tried hydrocortisone cream without relief."
    ),
    "Social history": "Works as a baker.",
    "Review of systems": "Denies fever or joint pain. No known drug allergies.",
}


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Does any medicine disagree with you?", "no known drug allergies"),
        ("Which bits of you are affected?", "both elbows"),
        ("Hello there, what's made you come along?", "scaly rash"),
    ],
)
def test_a_question_without_a_word_in_common_finds_its_sentence_by_what_it_is_after(question: str, reply: str) -> None:
    assert reply in said(question, story=ELBOWS)


def test_what_no_sentence_tells_stays_unknown_whatever_its_aim() -> None:
    for question in ("Do you wear glasses?", "What's your blood group?", "Which country are you from?"):
        assert said(question, story=ELBOWS) == speech.UNKNOWN


def test_each_aim_has_examples_and_each_example_an_aim() -> None:
    questions = {row["question"]: row["aim"] for row in aims.examples()}
    assert set(questions.values()) == set(aims.aim_names())
    shares = {question: aims.aims_of(question).shares for question in list(questions)[::7]}
    names = aims.aim_names()
    own = sum(names[one.index(max(one))] == questions[question] for question, one in shares.items())
    assert own > 0.95 * len(shares)


@pytest.mark.parametrize(
    ("sentence", "spoken"),
    [
        ("75-year-old woman undergoing maintenance hemodialysis.", "I am undergoing maintenance hemodialysis."),
        ("30-year-old male, originally from Peru.", "I am originally from Peru."),
        ("Patient did not report perineal pain.", "I haven't had any perineal pain."),
        ("45-year-old female who works as a nurse.", "I work as a nurse."),
    ],
)
def test_a_note_without_a_verb_is_said_in_the_first_person(sentence: str, spoken: str) -> None:
    story = {"History": sentence}
    (fact,) = story_facts(story, "")
    assert speech.say_fact(fact, patient_voice(story, "")) == spoken


def test_a_question_asked_again_gets_the_same_answer() -> None:
    story = {"History": "Fever and cough for three days. It began on Wednesday evening with a shaking chill."}
    once, again = (
        answer_from_story(story, "Fever", asked) for asked in (["When did it start?"], ["When did it start?"] * 2)
    )
    assert once == again


@pytest.mark.parametrize(
    "question",
    [
        "What's the matter, my friend?",
        "Good morning sir, what made you come to the skin clinic?",
        "No need to be shy, what would you like me to know about?",
        "Tell me all your complaints, one by one.",
        "Hey mate, what's happened to your elbows?",
    ],
)
def test_an_opening_in_any_words_gets_the_complaint(question: str) -> None:
    assert "scaly rash" in said(question, story=ELBOWS)


def test_which_one_asks_for_the_kind_that_the_question_before_names() -> None:
    story = {"History": "Weakness for two days. The left leg is weaker than the right."}
    asked = ["Is one leg weaker than the other?", "Which one?"]
    assert "left" in answer_from_story(story, "", asked).text


def test_an_answer_about_one_of_two_symptoms_says_that_more_is_not_known() -> None:
    text = answer_from_story({"History": "A cough for two weeks. No fever."}, "", ["Any cough or rash?"]).text
    assert text.endswith(speech.REST_UNKNOWN)
    assert "cough" in text
