"""Personas: how a patient speaks, while every fact that is asked for is still said truly."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from clinic import case_file
from examples import at_most, first_ones
from hypothesis import given
from hypothesis import strategies as st
from seats import AGENT_PROMPTS
from shell import Shell

from wardround.agents.history.facts import story_sentences
from wardround.agents.patient import LLMPatient, Patient
from wardround.agents.persona import choose_fact, first_misstatement, read_persona, shared_words
from wardround.agents.toml_files import bundled_names
from wardround.engine.errors import UsageError
from wardround.engine.models.scripted import Scripted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Json, Message, Said, View
from wardround.engine.seat import Seat
from wardround.runs.plan import cases_of
from wardround.runs.settings import RunSettings
from wardround.scenarios.case import Case
from wardround.scenarios.encounters.consultation import incidental_facts
from wardround.scenarios.terms.wording import roots

PROMPTS = Prompts.load([AGENT_PROMPTS])
QUESTIONS = (
    "What brings you in today?",
    "When did it start?",
    "Do you take any medication?",
    "Do you have any allergies?",
    "Do you smoke?",
    "What illnesses have you had before?",
    "Any illnesses in the family?",
    "What do you do for work?",
    "Who do you live with?",
    "Have you had a fever?",
    "Is there anything else?",
)
HERE = "test_persona"
LITTLE = {"a", "an", "the", "am", "is", "are", "was", "were", "been"}


def bundled() -> list[Case]:
    return [case for case in cases_of(RunSettings()) if isinstance(case, Case)]


def known(case: Case) -> Mapping[str, Json]:
    complaint = case.complaint or case.opening
    return {"story": dict(case.history), "complaint": complaint, "incidental": incidental_facts(case)}


def seat(persona: Json, strength: int = 3, model: Scripted | None = None, seed: int = 5) -> Seat:
    return Seat("patient", "case", seed, PROMPTS, {"persona": persona, "strength": strength}, model)


async def talk(patient: Patient | LLMPatient, case: Case, questions: Sequence[str]) -> list[Action]:
    heard: list[Said] = []
    actions = []
    for question in questions:
        heard.append(Said(len(heard), "doctor", "ask", question))
        action = await patient.act(View("patient", "", tuple(heard), ("answer",), known(case)))
        heard.append(Said(len(heard), "patient", "answer", action.text, action.args))
        actions.append(action)
    return actions


def content(text: str) -> set[str]:
    return {word for word in roots(text) if word not in LITTLE}


TRUE = [name for name in bundled_names("personas") if name != "contradicts"]


@pytest.mark.parametrize("name", first_ones(TRUE, 2))
async def test_every_fact_asked_for_is_still_said(name: str) -> None:
    await all_facts(bundled()[::25], name, 3)


@pytest.mark.long
@pytest.mark.parametrize("name", TRUE)
@pytest.mark.parametrize("strength", [1, 2, 3])
async def test_over_all_bundled_cases_every_fact_asked_for_is_still_said(name: str, strength: int) -> None:
    await all_facts(bundled(), name, strength)


async def all_facts(cases: Sequence[Case], name: str, strength: int) -> None:
    """What the plain patient says is said too: at once, when asked for more, or exactly when asked again."""
    persona = read_persona(name)
    for case in cases:
        for question in QUESTIONS[:-1]:
            [plain] = await talk(Patient(), case, [question])
            said = await talk(
                Patient(seat(persona, strength)), case, [question, question, "Anything else?", "Anything else?"]
            )
            missing = content(plain.text) - content(" ".join(action.text for action in said))
            assert not missing, (case.id, question, plain.text, [action.text for action in said])


@pytest.mark.parametrize("name", first_ones(bundled_names("personas"), 2))
async def test_strength_0_is_no_persona(name: str) -> None:
    for case in bundled()[:1]:
        plain = await talk(Patient(), case, QUESTIONS)
        assert await talk(Patient(seat(read_persona(name), 0)), case, QUESTIONS) == plain


@pytest.mark.parametrize("name", first_ones(bundled_names("personas"), 2))
async def test_a_persona_can_be_heard_and_grows_with_its_strength(name: str) -> None:
    case, differ = bundled()[0], []
    plain = await talk(Patient(), case, QUESTIONS)
    for strength in (1, 2, 3):
        said = await talk(Patient(seat(read_persona(name), strength)), case, QUESTIONS)
        differ.append(sum(one.text != other.text for one, other in zip(plain, said, strict=True)))
    assert differ == sorted(differ)
    assert differ[2] > 0 or name == "contradicts"


async def test_one_who_contradicts_himself_misstates_one_fact_that_decides_nothing_and_corrects_it() -> None:
    assert await contradictions(bundled()[3:7]) == 3


@pytest.mark.long
async def test_over_all_bundled_cases_no_deciding_fact_is_misstated() -> None:
    assert await contradictions(bundled()) >= 15


@pytest.mark.parametrize("again", ["And again, what work do you do?", "Are you really sure of that?"])
async def test_one_who_is_asked_again_in_other_words_or_doubted_corrects_it(again: str) -> None:
    [case] = [case for case in bundled() if case.id == "wa-007"]
    asked = ["Do you smoke?", "Are you sure about smoking?", "What work do you do?", again, "What work do you do?"]
    said = await talk(Patient(seat(read_persona("contradicts"), 2)), case, asked)
    marks = [{"misstated", "corrected"} & set(action.args) for action in said]
    assert marks == [set(), set(), {"misstated"}, {"corrected"}, set()]
    assert "I said engaged before, but that was wrong. I'm a travel agent, married." in said[3].text


async def contradictions(cases: Sequence[Case]) -> int:
    """How many patients misstated a fact, once each."""
    contradicting = 0
    for case in cases:
        asked = [question for question in QUESTIONS[4:9] for _ in range(2)]
        plain = await talk(Patient(), case, asked)
        said = await talk(Patient(seat(read_persona("contradicts"), 1)), case, asked)
        wrong = [action.args["misstated"] for action in said if "misstated" in action.args]
        right = [action.args["corrected"] for action in said if "corrected" in action.args]
        assert len(wrong) <= 1
        assert len(right) == len(wrong), (case.id, wrong)
        contradicting += len(wrong)
        truth = case.truth
        for change in wrong:
            assert change["fact"] in incidental_facts(case)
            for finding in (*truth.deciding, truth.diagnosis):
                assert shared_words(str(change["fact"]), finding) == 0, (case.id, change)
            at = next(place for place, action in enumerate(said) if "misstated" in action.args)
            assert str(change["said"]) in said[at].text
            assert str(change["true"]) not in said[at].text
            assert "that was wrong" in said[at + 1].text
            assert str(change["true"]) in said[at + 1].text
        for one, other in zip(plain, said, strict=True):
            if not {"misstated", "corrected"} & set(other.args):
                assert other.text == one.text
    return contradicting


def test_deciding_facts_symptoms_and_drugs_are_never_incidental() -> None:
    for case in bundled():
        for fact in incidental_facts(case):
            section = next(name for name, text in case.history.items() if fact in text)
            assert not re.search("present|medic(?!al)|family", section, re.I), section
            assert all(not content(fact) & {w for w in roots(f) if len(w) > 3} for f in case.truth.deciding)
    assert choose_fact(["Cough for two weeks.", "Takes aspirin daily."], 1) == ""
    assert first_misstatement("Smokes 15 cigarettes a day") == ("15 cigarettes", "30 cigarettes")


NUMBERS = st.one_of(st.integers(1, 99).map(str), st.sampled_from(["one", "two", "three", "four", "five", "six", "ten"]))


@at_most(300)
@given(NUMBERS, st.sampled_from(["pack", "cigarette", "cup"]), st.sampled_from(["{} a day {} enough", "{} {} enough"]))
def test_noun_and_verb_agree_with_the_number_that_is_misstated(number: str, noun: str, frame: str) -> None:
    one = number in ("1", "one")
    plain = frame.format(f"{number} {noun}{'' if one else 's'}", "is" if one else "are")
    wrong = misstated(plain)
    assert wrong != plain
    said = re.fullmatch(r"(half a|\d+|[a-z]+) ([a-z]+?)(s?)( a day)? (is|are) enough", wrong)
    assert said, wrong
    single = said[1] in ("half a", "1", "one")
    assert (said[2], said[3] == "", said[5] == "is") == (noun, single, single)


@at_most(300)
@given(st.integers(1, 99))
def test_the_article_agrees_with_the_number_that_is_misstated(number: int) -> None:
    plain = f"{article(number)} {number} pack-year history"
    said = re.fullmatch(r"(an?) (\d+) pack-year history", misstated(plain))
    assert said, plain
    assert (said[1], int(said[2]) != number) == (article(int(said[2])), True)


def article(number: int) -> str:
    return "an" if re.match(r"8|1[18]$", str(number)) else "a"


@pytest.mark.parametrize(
    ("plain", "wrong"),
    [
        ("One cup of tea a day.", "Half a cup of tea a day."),
        ("My father died 1 year ago.", "My father died half a year ago."),
        ("A one-pack-a-day habit.", "A three-pack-a-day habit."),
        ("A 1 pack per day smoker.", "A 3 pack per day smoker."),
        ("Two cats at home.", "Four cats at home."),
        ("She lives alone.", "She lives with a friend."),
        ("I live alone.", "I live with a friend."),
        ("Lives with her husband.", "Lives alone."),
        ("He has never smoked.", "He has smoked a little."),
        ("I don't smoke.", "I smoke a little."),
        ("I'm a retired nurse.", "I'm a working nurse."),
    ],
)
def test_what_is_misstated_keeps_the_forms_of_its_sentence(plain: str, wrong: str) -> None:
    assert misstated(plain) == wrong


@pytest.mark.parametrize(
    "plain",
    [
        "My one cup of tea.",
        "0-1 pack a day.",
        "I retired from teaching.",
        "Retired in 2010.",
        "I married my husband.",
        "A married man.",
        "I live with my wife and a dog.",
        "She lives with her friend's mother.",
    ],
)
def test_what_no_other_words_fit_is_not_misstated(plain: str) -> None:
    assert first_misstatement(plain) is None


def misstated(plain: str) -> str:
    """The sentence with its first misstatement."""
    change = first_misstatement(plain)
    return plain.replace(*change, 1) if change else plain


async def test_a_vague_historian_is_exact_when_asked_again() -> None:
    case = bundled()[0].model_copy(update={"history": {"History": "I have had a cough for three weeks."}})
    said = await talk(Patient(seat(read_persona("vague"), 2)), case, ["How long have you been coughing?"] * 2)
    assert "some weeks" in said[0].text
    assert said[0].args["vague"]
    assert "three weeks" in said[1].text
    [exact] = await talk(Patient(seat(read_persona("vague"), 2)), case, ["How long exactly have you been coughing?"])
    assert "three weeks" in exact.text


async def test_a_model_is_told_the_manner_and_the_fact_to_misstate() -> None:
    case = next(case for case in bundled() if "Never smoked." in case.history["Social history"])
    words = ["I smoked a little.", "It hurts.", "I never smoked; what I said was wrong."]
    model = Scripted(words)
    persona = read_persona("contradicts")
    only = [fact for fact in incidental_facts(case) if first_misstatement(fact)]
    seed = next(number for number in range(50) if choose_fact(only, number).startswith("Never smoked"))
    said = await talk(
        LLMPatient(seat(persona, 2, model, seed)), case, ["Do you smoke?", "Does it hurt?", "So you smoke?"]
    )
    assert said[0].args["misstated"]["said"] == "smoked a little"
    assert "misstated" not in said[1].args
    assert said[2].args["corrected"]
    systems = {messages[0].content for messages, _, _ in model.calls}
    assert len(systems) == 1
    assert persona["model"]["2"] in systems.pop()
    model = Scripted(["I do not know."])
    [unsaid] = await talk(LLMPatient(seat(persona, 2, model, seed)), case, ["Do you smoke?"])
    assert "misstated" not in unsaid.args, "a mark that is not true"


async def test_a_bias_is_told_to_the_model_alone() -> None:
    model = Scripted(["Yes."])
    biased = Seat("patient", "case", 1, PROMPTS, {"bias": "self-diagnosis"}, model)
    await talk(LLMPatient(biased), bundled()[0], ["Does it hurt?"])
    assert "own diagnosis" in model.calls[0][0][0].content
    with pytest.raises(UsageError, match="did you mean recency"):
        LLMPatient(Seat("patient", "case", 1, PROMPTS, {"bias": "recensy"}, model))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("about = 3", "about"),
        ("about = 'x'\n[record]\nsentences = [1]", "sentences has 1 entry;"),
        ("about = 'x'\n[record]\nsentences = [1, 0, 1]", "at least 1"),
        ("about = 'x'\n[model]\n4 = 'y'", "not a strength"),
        ("about = 'x'\ncolour = 'red'", "colour"),
        ("about = ", "TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name_and_field(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=told) as refused:
        read_persona(str(path))
    assert "mine.toml" in str(refused.value)


def test_a_persona_of_ones_own_stays_with_the_run(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "shy.toml"
    path.write_text('about = "shy"\n[record]\nbefore = [["Um."], ["Um, well."], ["Um, well, sorry."]]\n')
    cases = case_file(tmp_path / "cases.jsonl", 2)
    doctor = "scripted/test_persona:asking"
    store = ("--store", tmp_path / "runs.db")
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    run = ("run", "--cases", cases, "--scenario", "consultation", "--doctor", doctor, "--no-preflight", *store)
    assert shell(*run, "--persona", path, "--persona-strength", 3, "--name", "r") == 0, shell.err
    path.unlink()
    assert shell("replay", "r", *store) == 0, shell.err
    assert shell("show", "r", "case-000@1", *store) == 0
    assert "Um, well, sorry." in shell.out
    assert shell("score", "r", *store) == 0
    assert shell(*run, "--persona", "tersed") == 2
    assert "did you mean terse?" in shell.err
    assert shell("run", "--scenario", "free-turn", "--persona", "terse") == 2
    assert "a persona is for a patient who tells a story" in shell.err
    assert shell(*run, "--patient-bias", "recency") == 2
    assert "takes no option 'bias'" in shell.err


def test_show_tells_what_was_misstated_on_purpose(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    store = ("--store", tmp_path / "runs.db")
    doctor = ("--doctor", "scripted/test_persona:repeating", "--no-preflight")
    play = ("run", "--where", "id=wa-004", "--scenario", "consultation", *doctor, *store, "--name", "r")
    assert shell(*play, "--persona", "contradicts") == 0, shell.err
    assert shell("show", "r", "wa-004@1", *store) == 0
    assert "misstated on purpose" in shell.out
    assert "corrected what was misstated before" in shell.out
    assert shell("score", "r", *store) == 0
    scores = {score["name"]: score["mean"] for score in shell.json("report", "r", *store)["runs"][0]["scores"]}
    assert (scores["misstated_facts"], scores["corrected_facts"]) == (1.0, 1.0)


def repeating(messages: Sequence[Message], purpose: str) -> str:
    turn = sum(message.role == "assistant" for message in messages)
    asked = ("Do you smoke?", "Do you smoke?", "Do you have children?", "Do you have children?")
    return f"ASK: {asked[turn]}" if turn < 4 else "DIAGNOSIS: gallstones"


def asking(messages: Sequence[Message], purpose: str) -> str:
    turn = sum(message.role == "assistant" for message in messages)
    return ("ASK: Since when does it hurt?", "DIAGNOSIS: acute appendicitis")[min(turn, 1)]


async def test_one_of_few_words_says_no_more_sentences_than_its_persona_has() -> None:
    for case in bundled()[:1]:
        for action in await talk(Patient(seat(read_persona("terse"), 3)), case, QUESTIONS):
            assert len([one for one in story_sentences(action.text) if one not in ("Yes.", "No.")]) == 1
