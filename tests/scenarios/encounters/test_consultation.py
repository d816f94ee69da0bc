"""The consultation, turn by turn."""

import json
from pathlib import Path

import pytest
from game import PROMPTS, Game
from hypothesis import given
from hypothesis import strategies as st
from patients import ADMISSION

from wardround.engine.records import Action
from wardround.scenarios.encounters.consultation import Consultation, ConsultationSettings


def game(case: object = ADMISSION, **settings: object) -> Game:
    return Game(Consultation(ConsultationSettings.model_validate(settings), PROMPTS), case)  # type: ignore[arg-type]  # a Case


def test_the_doctor_begins_with_the_complaint() -> None:
    view = game().view()
    assert "COMPLAINT-TEXT belly ache" in view.brief
    assert "OPENING" not in view.brief
    assert "20 turns" in view.brief
    assert set(view.verbs) == {"reply", "ask", "order", "conclude"}


def test_a_question_goes_to_the_patient_and_an_order_to_the_examiner() -> None:
    played = game().play(["ASK: Do you smoke?", "ORDER: Lipase", "ASK: And now?\nORDER: CT abdomen", "DIAGNOSIS: gout"])
    assert played.heard == [
        ("doctor", "reply"),
        ("patient", "answer"),
        ("doctor", "reply"),
        ("examiner", "answer"),
        ("doctor", "reply"),
        ("examiner", "answer"),
        ("doctor", "reply"),
    ]
    assert "HISTORY-SOCIAL" in played.view().heard[1].text
    assert "LAB-LIPASE" in played.view().heard[3].text
    assert played.ending is not None
    assert played.ending.cause == "completed"
    assert played.ending.facts == {
        "answer": {"diagnosis": "gout"},
        "replies": 4,
        "unusable": 0,
        "turns": 4,
        "orders": 2,
    }


def test_one_seat_a_turn_each_with_its_own_knowledge() -> None:
    played = game()
    played.act(Action("ask", text="Do you smoke?"))
    assert played.turn == "patient"
    patient = played.view("patient")
    assert patient.known == {
        "story": {"Social history": "HISTORY-SOCIAL smoker", "Past medical history": "HISTORY-PAST none"},
        "complaint": "COMPLAINT-TEXT belly ache",
        "incidental": ["HISTORY-SOCIAL smoker", "HISTORY-PAST none"],
    }
    assert [said.text for said in patient.heard] == ["Do you smoke?"]
    assert "LAB-" not in str(patient)
    assert "TRUTH" not in str(patient)
    played.act(Action("answer", text="Yes.", args={"topics": ["history.Social history"]}))
    assert played.view().heard[-1].args == {}
    played.act(Action("order", args={"kind": "examination", "items": []}))
    assert played.turn == "examiner"
    assert played.view("examiner").known["order"] == {"kind": "examination", "items": [], "text": ""}
    assert "smoke" not in str(played.view("examiner").heard)


def test_the_last_turn_is_the_diagnosis() -> None:
    played = game(max_turns=3).play(["How long?", "Where?"])
    assert played.heard[-1] == ("desk", "demand")
    assert played.view().verbs == ("reply", "conclude")
    played.play(["REQUEST TEST: CT"])
    assert played.heard[-1] == ("desk", "warning")
    ending = played.play(["I think the diagnosis is gout."]).ending
    assert ending is not None
    assert ending.facts["answer"] == {"diagnosis": "gout"}


def test_a_doctor_who_never_answers() -> None:
    ending = game(max_turns=3).play(["How long?"] * 30).ending
    assert ending is not None
    assert (ending.cause, ending.reason) == ("doctor", "no_answer")
    assert ending.facts["turns"] == 2


def test_a_silent_doctor() -> None:
    ending = game().play([""] * 30).ending
    assert ending is not None
    assert (ending.cause, ending.reason, ending.facts["replies"]) == ("doctor", "no_answer", 4)


def test_a_patient_who_says_nothing_ends_it_by_the_patient() -> None:
    played = game()
    played.act(Action("reply", text="How long?"))
    played.act(Action("answer", text=""))
    assert played.ending is not None
    assert played.ending.cause == "patient"


def test_without_complaint_or_history_the_opening_serves() -> None:
    played = game(ADMISSION.model_copy(update={"complaint": "", "history": {}}))
    assert "OPENING" in played.view().brief
    played.act(Action("ask", text="?"))
    assert played.view("patient").known["story"] == {"History": ADMISSION.opening}


@given(
    st.lists(
        st.sampled_from(["Why?", "ORDER: Lipase", "DIAGNOSIS: gout", "", "ASK:", "ASK: a\nORDER: b"]), max_size=12
    ),
    st.integers(1, 6),
    st.integers(0, 3),
)
def test_every_play_ends_in_one_typed_way(replies: list[str], turns: int, warnings: int) -> None:
    played = game(max_turns=turns, max_warnings=warnings).play([*replies, *[""] * 5])
    assert played.ending is not None
    facts = played.ending.facts
    assert facts["turns"] <= turns
    assert facts["unusable"] <= warnings + 1
    assert ("answer" in facts) == (played.ending.cause == "completed")


@pytest.mark.shared
def test_vectors_of_the_loop(shared: Path) -> None:
    seats = {"doctor": "doctor", "patient": "patient", "measurement": "examiner"}
    for row in json.loads((shared / "vectors/agentclinic_loop.json").read_text(encoding="utf-8")):
        given_, expected = row["input"], row["expected"]
        played = game(max_turns=given_["total_inferences"]).play(given_["doctor_replies"])
        spoke = [said.seat for said in played.view().heard]
        assert spoke == [seats[seat] for seat in expected["speaker_order"] if seat in seats]
        assert played.ending is not None
        assert played.ending.cause == "completed"
