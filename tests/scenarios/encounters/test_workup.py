"""The work-up, move by move."""

import pytest
from game import PROMPTS, Game
from hypothesis import given
from hypothesis import strategies as st
from patients import ADMISSION
from pydantic import ValidationError

from wardround.engine.prompts import Prompts
from wardround.engine.records import Action
from wardround.scenarios.encounters.workup import Workup, WorkupSettings


def game(case: object = ADMISSION, **settings: object) -> Game:
    return Game(Workup(WorkupSettings.model_validate(settings), PROMPTS), case)  # type: ignore[arg-type]  # a Case


def pick(name: str) -> str:
    return f"Rationale: next.\nAction: {name}"


def last(played: Game) -> str:
    return played.view().heard[-1].text


def test_history_comes_first_and_every_action_is_offered() -> None:
    view = game().view()
    assert "OPENING-TEXT pain in the belly" in view.brief
    assert "PE, LAB, IMAGE, MICRO, OUTPUT" in view.brief
    assert view.heard == ()
    assert set(view.verbs) == {"reply", "order", "conclude"}


def test_the_examination_is_told_at_once_and_not_offered_again() -> None:
    played = game().play([pick("PE")])
    assert played.heard == [("doctor", "reply"), ("examiner", "answer")]
    assert "EXAM-ABDOMEN" in last(played)
    assert "EXAM-VITAL" in last(played)
    assert "LAB, IMAGE, MICRO, OUTPUT" in last(played)
    assert "PE," not in last(played)


@pytest.mark.parametrize(
    ("name", "listed", "result"),
    [
        ("LAB", "Lab Tests: lipase", "LAB-LIPASE"),
        ("MICRO", "Microbiology tests: blood culture", "MICRO-ORGANISM"),
        ("IMAGE", "Imaging scans: CT abdomen", "IMAGE-CT"),
    ],
)
def test_tests_are_told_after_their_list(name: str, listed: str, result: str) -> None:
    played = game().play([pick(name)])
    assert played.heard[-1] == ("desk", "question")
    assert listed.partition(":")[0] in last(played)
    played.play([f"Rationale: y\n{listed}"])
    assert result in last(played)
    assert "PE, LAB, IMAGE, MICRO, OUTPUT" in last(played)
    assert played.state.tally.orders == 1


def test_a_list_given_at_once_needs_no_question() -> None:
    played = game().play(["Action: LAB\nLab Tests: lipase"])
    assert played.heard == [("doctor", "reply"), ("examiner", "answer")]


def test_what_is_not_in_the_record_is_answered_as_such_and_a_type_can_be_had_again() -> None:
    played = game().play(["Lab Tests: dragon titre", "Lab Tests: lipase, sodium", pick("PE"), pick("PE")])
    told = [said.text for said in played.view().heard if said.seat == "examiner"]
    assert "dragon titre: not known" in told[0]
    assert "LAB-LIPASE" in told[1]
    assert "EXAM-VITAL" in told[2]
    assert told[2] == told[3]


def test_output_asks_for_the_diagnosis() -> None:
    played = game().play([pick("OUTPUT")])
    assert played.heard[-1] == ("desk", "demand")
    assert set(played.view().verbs) == {"reply", "conclude"}
    played.play(["Diagnosis: gout"])
    assert played.ending is not None
    assert (played.ending.cause, played.ending.facts["answer"]) == ("completed", {"diagnosis": "gout"})
    assert played.ending.facts == {
        "answer": {"diagnosis": "gout"},
        "replies": 2,
        "unusable": 0,
        "turns": 2,
        "orders": 0,
    }


def test_a_diagnosis_given_with_output_ends_at_once() -> None:
    ending = game().play(["Action: OUTPUT\nDiagnosis: gout"]).ending
    assert ending is not None
    assert ending.facts["answer"] == {"diagnosis": "gout"}


def test_an_unusable_reply_is_warned_with_its_reason_and_the_budget_is_the_episodes_own() -> None:
    played = game(max_warnings=2).play(["I HOPE", pick("PE"), "I HOPE"])
    warnings = [said for said in played.view().heard if said.verb == "warning"]
    assert [said.args["reason"] for said in warnings] == ["unreadable", "unreadable"]
    assert played.ending is None
    played.play(["I HOPE"])
    assert played.ending is not None
    assert (played.ending.cause, played.ending.reason) == ("parser", "unreadable")
    assert played.ending.facts["unusable"] == 3
    assert "answer" not in played.ending.facts


def test_a_warning_while_a_list_is_awaited_names_its_heading() -> None:
    played = game().play([pick("LAB"), "I would like some tests."])
    assert "Lab Tests:" in last(played)
    played.play(["Lab Tests: lipase"])
    assert "LAB-LIPASE" in last(played)


def test_another_action_instead_of_the_list_is_taken() -> None:
    played = game().play([pick("LAB"), pick("PE")])
    assert "EXAM-VITAL" in last(played)


def test_while_the_diagnosis_is_awaited_nothing_else_is_possible() -> None:
    played = game().play([pick("OUTPUT"), pick("PE")])
    assert played.view().heard[-1].args["reason"] == "unavailable"
    assert played.state.tally.orders == 0


@pytest.mark.parametrize("silence", ["", "  \n", "<think>long thoughts", Action("conclude", args={"diagnosis": " "})])
def test_a_silent_doctor_ends_it_by_the_doctor(silence: str | Action) -> None:
    ending = game().play([silence] * 40).ending
    assert ending is not None
    assert (ending.cause, ending.reason) == ("doctor", "no_answer")
    assert ending.facts["replies"] == 4


def test_the_last_reply_can_answer() -> None:
    played = game(max_turns=3).play([pick("PE"), pick("LAB")])
    assert played.heard[-1] == ("desk", "demand")
    assert set(played.view().verbs) == {"reply", "conclude"}
    ending = played.play(["Diagnosis: gout"]).ending
    assert ending is not None
    assert ending.cause == "completed"


def test_results_that_leave_one_reply_come_with_the_demand() -> None:
    played = game(max_turns=2).play([pick("PE")])
    assert played.heard[1:] == [("examiner", "answer"), ("desk", "demand")]
    assert "choose from now: OUTPUT." in played.view().heard[1].text


@pytest.mark.parametrize(
    ("final", "cause", "reason"),
    [(pick("PE"), "doctor", "no_answer"), ("", "doctor", "no_answer"), ("who knows", "parser", "unreadable")],
)
def test_a_last_reply_that_is_no_answer(final: str, cause: str, reason: str) -> None:
    ending = game(max_turns=2).play([pick("PE"), final]).ending
    assert ending is not None
    assert (ending.cause, ending.reason) == (cause, reason)


def test_one_turn_is_the_diagnosis() -> None:
    played = game(max_turns=1)
    assert played.view().verbs == ("reply", "conclude")
    assert played.heard == [("desk", "demand")]
    ending = played.play(["Diagnosis: gout"]).ending
    assert ending is not None
    assert ending.cause == "completed"


def test_typed_verbs_skip_the_text() -> None:
    items = ["Vital signs", "Abdomen", "Lipase", "Sodium", "Blood culture", "CT abdomen", "Biopsy"]
    played = game().play(
        [
            Action("order", args={"kind": "any", "items": items}),
            Action("conclude", args={"diagnosis": "TRUTH-DIAGNOSIS", "treatment": "x"}),
        ]
    )
    assert played.ending is not None
    assert played.ending.facts["answer"] == {"diagnosis": "TRUTH-DIAGNOSIS"}
    told = played.view().heard[1]
    assert {row["test"] for row in told.args["answers"]} == set(items)
    assert all(set(row) == {"asked", "kind", "state", "test", "text"} for row in told.args["answers"])


@pytest.mark.parametrize(
    "action",
    [
        Action("order", args={"kind": "blood", "items": ["x"]}),
        Action("order", args={"kind": "lab", "items": []}),
        Action("order", args={"kind": ["lab"], "items": {"a": 1}}),
        Action("order", args={"kind": "lab", "items": [1]}),
        Action("conclude", args={"diagnosis": 7}),
        Action("ask", text="how are you?"),
        Action("dance"),
    ],
)
def test_a_wrong_verb_is_warned(action: Action) -> None:
    played = game().play([action])
    assert played.view().heard[-1].verb == "warning"


def test_an_examiner_who_says_nothing_ends_it_by_the_examiner() -> None:
    played = game()
    played.act(Action("reply", text=pick("PE")))
    assert played.turn == "examiner"
    played.act(Action("answer"))
    assert played.ending is not None
    assert played.ending.cause == "examiner"


def test_the_examiner_gets_the_record_and_the_order() -> None:
    played = game(policy="normal-default")
    played.act(Action("reply", text="Lab Tests: lipase, CRP"))
    view = played.view("examiner")
    assert view.verbs == ("answer",)
    assert view.known["order"] == {"kind": "lab", "items": ["lipase", "CRP"], "text": "lipase, CRP"}
    assert view.known["policy"] == "normal-default"
    assert {row["ref"] for row in view.known["record"]} >= {"labs[0]", "imaging[0]", "examination[1]"}
    assert "TRUTH" not in str(view)


def test_a_published_wording_can_replace_ours() -> None:
    fields = {name: PROMPTS[name].fields for name in PROMPTS.texts() if name.startswith("workup/")}
    assert fields["workup/start"] == {"history", "actions"}
    assert fields["workup/results_lab"] == {"results", "actions"}
    assert fields["workup/warning"] == fields["workup/none_found"] == {"actions"}
    assert fields["workup/repeated"] == {"type", "actions"}
    assert fields["workup/none"] == {"type"}
    assert not (fields["workup/ask_lab"] | fields["workup/output"] | fields["workup/enforced"])
    own = Prompts({**PROMPTS.texts(), "workup/output": "OWN WORDS"})
    assert last(Game(Workup(WorkupSettings(), own), ADMISSION).play([pick("OUTPUT")])) == "OWN WORDS"


def test_settings_are_checked() -> None:
    for wrong in ({"max_turns": 0}, {"max_turn": 5}, {"rules": "mine"}, {"max_warnings": -1}):
        with pytest.raises(ValidationError):
            WorkupSettings.model_validate(wrong)


def test_a_case_without_a_diagnosis_cannot_be_played() -> None:
    workup = Workup(WorkupSettings(), PROMPTS)
    assert workup.lacks(ADMISSION) is None
    truth = ADMISSION.truth.model_copy(update={"diagnosis": " "})
    assert "truth.diagnosis" in (workup.lacks(ADMISSION.model_copy(update={"truth": truth})) or "")


REPLIES = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(
            [pick("PE"), pick("LAB"), pick("OUTPUT"), "Lab Tests: lipase", "Imaging scans: x", "Diagnosis: gout", ""]
        ),
    ),
    max_size=20,
)


@given(REPLIES, st.integers(1, 6), st.integers(0, 3), st.sampled_from(["default", "published"]))
def test_every_play_ends_in_one_typed_way_within_its_turns(
    replies: list[str], turns: int, warnings: int, rules: str
) -> None:
    played = game(max_turns=turns, max_warnings=warnings, rules=rules).play([*replies, *[""] * 20])
    assert played.ending is not None
    facts = played.ending.facts
    assert facts["replies"] <= turns
    assert facts["unusable"] <= warnings + 1
    expected = {"completed"} if "answer" in facts else {"doctor", "parser"}
    assert played.ending.cause in expected


def test_a_state_is_a_value() -> None:
    played = game()
    before = played.state
    played.play([pick("PE")])
    again = game()
    assert before == again.state
    assert again.play([pick("PE")]).state == played.state
