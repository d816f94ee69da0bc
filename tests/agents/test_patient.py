"""Patients with and without a model: only what was asked, never the truth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seats import a_seat

from wardround.agents.history import interview, speech
from wardround.agents.history.facts import story_sentences
from wardround.agents.patient import MOST, NOTHING, LLMPatient, Patient
from wardround.engine.errors import UsageError
from wardround.engine.models.scripted import Scripted
from wardround.engine.records import Completion, Json, Said, View

STORY = {
    "Demographics": "35-year-old woman",
    "History": "For one month I have had double vision. It gets worse in the evening. Rest helps.",
    "Past medical history": "Asthma as a child.",
    "Social history": "Non-smoker, drinks wine occasionally. Works as a designer.",
    "Current medications": "Salbutamol inhaler",
    "Review of systems": "No fever, no chest pain.",
}
ROWS = [
    {"ref": "investigations[0]", "kind": "investigation", "name": "CT Scan", "text": "CT Scan: a mass", "normal": None},
    {
        "ref": "investigations[1]",
        "kind": "investigation",
        "name": "Blood work",
        "text": "Blood work: CRP 90",
        "normal": None,
    },
]


def asked(*talk: tuple[str, str]) -> View:
    heard = tuple(
        Said(seq, seat, "ask" if seat == "doctor" else "answer", text) for seq, (seat, text) in enumerate(talk)
    )
    return View("patient", "You are a patient.", heard, ("answer",), {"story": STORY, "complaint": "Double vision"})


def requested(*items: str, text: str = "", rows: Json = ROWS, ancillary: str = "tests") -> View:
    order = {"kind": "any", "items": list(items), "text": text}
    known = {"summary": "A woman.", "ancillary": ancillary, "record": rows, "policy": "strict", "order": order}
    return View("patient", "You keep the file.", (), ("answer",), known)


@pytest.mark.parametrize(
    ("question", "holds", "lacks"),
    [
        ("What brings you in today?", "double vision", "Asthma"),
        ("Are you taking any medication?", "Salbutamol", "double"),
        ("Do you smoke?", "I'm a non-smoker", "designer"),
        ("What do you do for work?", "I work as a designer", "wine"),
        ("Any past medical conditions?", "asthma", "wine"),
        ("Have you had a fever?", "No, no fever", "Asthma"),
        ("When did this start?", "one month", "Asthma"),
        ("How old are you?", "I'm 35 years old.", "vision"),
        ("Does anything make it worse?", "evening", "Asthma"),
    ],
)
async def test_a_question_gets_the_sentences_about_it(question: str, holds: str, lacks: str) -> None:
    action = await Patient().act(asked(("doctor", question)))
    assert holds in action.text
    assert lacks not in action.text
    assert action.args["topics"]


async def test_an_answer_cites_the_sentences_that_it_comes_from() -> None:
    action = await Patient().act(asked(("doctor", "Do you have asthma, and when did this start?")))
    story = {f"history.{name}": str(text) for name, text in STORY.items()}
    told = action.text.removeprefix("Yes. ").removesuffix(f" {speech.REST_UNKNOWN}")
    assert len(action.args["cited"]) == len(told.rstrip(".").split(". "))
    assert all(one["sentence"] in story[one["field"]] for one in action.args["cited"])


async def test_what_the_story_does_not_hold_is_not_made_up() -> None:
    for question in ("Do you like opera?", "Any recent travel?", "Do you have allergies?", "", "¿Dónde?"):
        action = await Patient().act(asked(("doctor", question)))
        assert (action.text, action.args) == (speech.UNKNOWN, {"topics": [], "cited": []})


async def test_of_a_flood_of_words_only_the_beginning_is_read() -> None:
    """A question of three million characters took a minute, in which no other episode of the process went on."""
    question = "Do you smoke?" + " " * 20_000 + "What do you do for work? " * 100_000
    action = await Patient().act(asked(("doctor", question)))
    assert "non-smoker" in action.text
    assert "designer" not in action.text


async def test_the_whole_story_is_never_told_at_once() -> None:
    talk: list[tuple[str, str]] = [("doctor", "What brings you in?")]
    told: list[str] = []
    for _ in range(6):
        action = await Patient().act(asked(*talk))
        talk += [("patient", action.text), ("doctor", "Is there anything else?")]
        told.append(action.text)
        assert len(story_sentences(action.text)) <= MOST
    assert len(set(told[:3])) == 3
    assert told[-1] == speech.NOTHING_MORE


async def test_a_request_gets_the_lines_that_answer_it() -> None:
    action = await Patient().act(requested("CT of the abdomen", "MRI brain"))
    assert action.text == "CT Scan: a mass\nNot in the report: MRI brain."
    assert action.args["answers"][0]["refs"] == ["investigations[0]"]
    action = await Patient().act(requested(text="C-reactive protein"))
    assert action.args["answers"][0]["rule"] == "mention"


async def test_a_broad_request_gets_all_of_its_kind() -> None:
    action = await Patient().act(requested("any imaging"))
    assert [line["refs"] for line in action.args["answers"]] == [["investigations[0]"]]


@pytest.mark.parametrize("items", [("lipase",), ("blorbogram",), ()])
async def test_where_nothing_fits_the_protocols_sentence_is_said(items: tuple[str, ...]) -> None:
    action = await Patient().act(requested(*items))
    assert action.text == NOTHING == "There is no relevant ancillary test information available for this request."


async def test_a_report_without_items_is_read_line_by_line() -> None:
    action = await Patient().act(requested("skin biopsy", rows=[], ancillary="- Skin biopsy: granuloma\n- ECG: normal"))
    assert action.text == "Skin biopsy: granuloma"
    assert action.args["answers"][0]["refs"] == ["ancillary"]


@given(st.text(max_size=200))
def test_any_question_can_be_asked(question: str) -> None:
    told = interview.answer_from_story(STORY, "Double vision", [question])
    assert told.text
    assert set(told.sections) <= {*STORY, "Complaint"}


async def test_the_model_plays_the_patient_from_the_story_alone() -> None:
    model = Scripted([Completion(" About a month. ", thinking="hm")])
    view = asked(("doctor", "What is it?"), ("patient", "I see double."), ("doctor", "Since when?"))
    action = await LLMPatient(a_seat(model)).act(view)
    assert (action.verb, action.text, action.thinking) == ("answer", "About a month.", "hm")
    messages, purpose, _ = model.calls[0]
    assert purpose == "act"
    assert [(message.role, message.content) for message in messages[1:]] == [
        ("user", "What is it?"),
        ("assistant", "I see double."),
        ("user", "Since when?"),
    ]
    assert messages[0].role == "system"
    assert all(text in messages[0].content for text in STORY.values())


async def test_the_model_answers_requests_from_the_report() -> None:
    model = Scripted([NOTHING])
    action = await LLMPatient(a_seat(model)).act(requested("MRI brain", "CBC", ancillary="- **CT:** a mass {x}"))
    assert action.text == NOTHING
    (system, user), _, _ = model.calls[0]
    assert "- **CT:** a mass {x}" in system.content
    assert NOTHING in system.content
    assert "MRI brain\nCBC" in user.content


async def test_a_report_in_fields_is_told_to_the_model_line_by_line() -> None:
    model = Scripted(["x"])
    await LLMPatient(a_seat(model)).act(requested("CT", ancillary=""))
    assert "- CT Scan: a mass" in model.calls[0][0][0].content


async def test_an_empty_reply_is_asked_for_once_more() -> None:
    model = Scripted([" \n", "It hurts."])
    assert (await LLMPatient(a_seat(model)).act(asked(("doctor", "Well?")))).text == "It hurts."
    (first, _, _), (second, purpose, _) = model.calls
    assert purpose == "repair"
    assert second[: len(first)] == first
    assert [message.role for message in second[len(first) :]] == ["assistant", "user"]
    for view in (asked(("doctor", "Well?")), requested("CT", ancillary="- **CT:** a mass")):
        silent = Scripted(["", ""])
        action = await LLMPatient(a_seat(silent)).act(view)
        assert (action.verb, action.text, silent.count) == ("answer", "", 2)


async def test_faults_are_plain_errors() -> None:
    with pytest.raises(UsageError, match="needs a model"):
        LLMPatient(a_seat())
    for agent in (Patient(), LLMPatient(a_seat(Scripted([])))):
        with pytest.raises(ValueError, match="holds neither"):
            await agent.act(View("patient", "", (), ("answer",), None))
