"""The staged games, turn by turn."""

from typing import Any

import pytest
from game import PROMPTS, Game
from hypothesis import given
from hypothesis import strategies as st
from patients import ADMISSION
from pydantic import ValidationError

from wardround.engine.records import Action
from wardround.scenarios.encounters.staged import FreeTurn, OneTurn, Oracle, Treatment

ASK = "### Conclusion:\nunclear\n\n### Additional Information Required:\n1. Laboratory tests: Lipase, dragon titre"
SURE = "### Additional Information Required:\nNot required.\n\n### Conclusion:\nGout"
FINAL = "### Conclusion:\nGout"
ANSWER = "### Reasoning:\n<step 1> a\n### Answer:\nGout"


def game(kind: Any, case: Any = ADMISSION, **settings: object) -> Game:
    return Game(kind(kind.Settings.model_validate(settings), PROMPTS), case)


def ended(played: Game) -> tuple[str, str, Any]:
    assert played.ending is not None
    return played.ending.cause, played.ending.reason, played.ending.facts.get("answer")


def test_one_turn() -> None:
    played = game(OneTurn).play([ASK])
    assert played.heard == [("doctor", "reply"), ("patient", "answer")]
    told = played.view().heard[-1].text
    assert "LAB-LIPASE" in told
    assert "LAB-SODIUM" not in told
    assert "### Conclusion:" in told
    assert played.view().verbs == ("reply", "conclude")
    assert ended(played.play([FINAL])) == ("completed", "", {"diagnosis": "Gout"})
    assert played.ending is not None
    assert {name: played.ending.facts[name] for name in ("replies", "unusable", "turns", "orders")} == {
        "replies": 2,
        "unusable": 0,
        "turns": 2,
        "orders": 1,
    }


def test_one_turn_asks_for_the_diagnosis_even_if_nothing_was_requested() -> None:
    played = game(OneTurn).play([SURE])
    assert played.heard[-1] == ("desk", "demand")
    assert ended(played.play([FINAL])) == ("completed", "", {"diagnosis": "Gout"})


def test_one_turn_grants_one_round() -> None:
    played = game(OneTurn).play([ASK, ASK.replace("unclear", "Gout")])
    assert ended(played) == ("completed", "", {"diagnosis": "Gout"})
    again = game(OneTurn).play([ASK, "### Additional Information Required:\nCT"])
    assert again.view().heard[-1].verb == "warning"


def test_free_turns_go_on_until_nothing_is_required() -> None:
    played = game(FreeTurn).play([ASK, ASK, SURE])
    assert ended(played) == ("completed", "", {"diagnosis": "Gout"})
    assert played.ending is not None
    assert played.ending.facts["turns"] == 3
    assert played.ending.facts["orders"] == 2


def test_the_last_free_turn_is_enforced() -> None:
    played = game(FreeTurn).play([ASK] * 4)
    last = played.view().heard[-1].text
    assert "This is your last turn" in last
    assert "LAB-LIPASE" in last
    assert all("This is your last turn" not in said.text for said in played.view().heard[:-1])
    assert "This is your last turn" not in played.view().brief
    assert played.view().verbs == ("reply", "conclude")
    assert ended(played.play([ASK, ASK])) == ("doctor", "no_answer", None), "to put it off is no answer"


def test_a_last_turn_without_an_answer_is_warned_and_then_over() -> None:
    asks = "### Additional Information Required:\nCT"
    played = game(FreeTurn, max_turns=1).play([asks])
    assert played.heard == [("desk", "demand"), ("doctor", "reply"), ("desk", "warning")]
    assert ended(played.play([asks])) == ("parser", "unreadable", None)


@pytest.mark.parametrize(("kind", "goal"), [(Oracle, "diagnosis"), (Treatment, "treatment")])
def test_told_all_at_once(kind: Any, goal: str) -> None:
    played = game(kind)
    brief = played.view().brief
    for shown in ("OPENING", "EXAM-ABDOMEN", "LAB-LIPASE", "IMAGE-CT", "ANCILLARY-TEXT"):
        assert shown in brief
    assert ("TRUTH-DIAGNOSIS" in brief) is (kind is Treatment)
    assert "TRUTH-TREATMENT" not in brief
    assert ended(played.play([ANSWER])) == ("completed", "", {goal: "Gout"})


def test_a_published_treatment_case_is_told_once() -> None:
    case = ADMISSION.model_copy(update={"opening": "- Final Diagnosis: TRUTH-DIAGNOSIS"})
    assert game(Treatment, case).view().brief.count("TRUTH-DIAGNOSIS") == 1


@pytest.mark.parametrize("kind", [OneTurn, FreeTurn, Oracle, Treatment])
def test_a_silent_doctor_ends_it_by_the_doctor(kind: Any) -> None:
    assert ended(game(kind).play([""] * 9)) == ("doctor", "no_answer", None)


@pytest.mark.parametrize("kind", [OneTurn, FreeTurn, Oracle, Treatment])
def test_nonsense_is_warned_and_then_ends_by_the_parser(kind: Any) -> None:
    played = game(kind).play(["The weather is fine."])
    assert played.view().heard[-1].verb == "warning"
    assert played.view().heard[-1].args["reason"] == "unreadable"
    assert ended(played.play(["The weather is fine."])) == ("parser", "unreadable", None)
    assert ended(game(kind).play(["The weather is fine.", ""])) == ("parser", "unreadable", None)


@pytest.mark.parametrize("kind", [OneTurn, FreeTurn, Oracle, Treatment])
def test_a_repaired_reply_costs_no_turn(kind: Any) -> None:
    played = game(kind).play(["", ANSWER, ANSWER])
    assert played.ending is not None
    assert played.ending.cause == "completed"
    assert played.ending.facts["unusable"] == 1
    assert played.ending.facts["turns"] == played.ending.facts["replies"] - 1


@pytest.mark.parametrize("kind", [OneTurn, FreeTurn, Oracle, Treatment])
def test_typed_verbs(kind: Any) -> None:
    truth = {"diagnosis": "TRUTH-DIAGNOSIS", "treatment": "TRUTH-TREATMENT"}
    actions = [Action("conclude", args=truth)]
    if "patient" in kind.seats:
        actions.insert(0, Action("order", args={"kind": "any", "items": ["Lipase", "CT abdomen"]}))
    played = game(kind).play(actions)
    assert ended(played) == ("completed", "", {kind.goal: truth[kind.goal]})
    assert ended(game(kind).play([Action("conclude", args=truth)]))[0] == "completed"


def test_an_order_in_the_last_turn_is_not_possible() -> None:
    played = game(Oracle).play([Action("order", args={"kind": "lab", "items": ["Lipase"]})])
    assert played.view().heard[-1].args["reason"] == "unavailable"


def test_the_patient_knows_the_tests_and_the_request() -> None:
    played = game(FreeTurn, policy="normal-default")
    played.act(Action("reply", text=ASK))
    assert played.turn == "patient"
    known = played.view("patient").known
    assert "ANCILLARY-TEXT" in known["ancillary"]
    assert "OPENING" in known["summary"]
    assert known["policy"] == "normal-default"
    assert known["order"]["items"] == ["Lipase", "dragon titre"]
    assert known["order"]["text"] == "1. Laboratory tests: Lipase, dragon titre"
    assert "TRUTH" not in str(played.view("patient"))
    played.act(Action("answer", text="  "))
    assert ended(played)[:2] == ("patient", "no_answer")


def test_cases_that_lack_their_truth() -> None:
    bare = ADMISSION.model_copy(update={"truth": ADMISSION.truth.model_copy(update={"diagnosis": "", "treatment": ""})})
    for kind in (OneTurn, FreeTurn, Oracle, Treatment):
        scenario: Any = kind(kind.Settings(), PROMPTS)  # type: ignore[arg-type]  # each takes its own settings
        assert scenario.lacks(ADMISSION) is None
        assert "truth." in scenario.lacks(bare)


def test_settings_are_checked() -> None:
    with pytest.raises(ValidationError):
        Oracle.Settings.model_validate({"max_turns": 3})
    with pytest.raises(ValidationError):
        FreeTurn.Settings.model_validate({"max_turns": 0})
    assert FreeTurn.Settings().max_turns == 5


def test_a_published_wording_can_replace_ours() -> None:
    fields = {name: PROMPTS[name].fields for name in PROMPTS.texts()}
    for start in ("one-turn/start", "free-turn/start", "oracle/start", "treatment/start"):
        assert fields[start] == {"case"}
    for told in ("one-turn/last", "free-turn/next", "free-turn/last"):
        assert fields[told] == {"information"}


@given(
    st.lists(st.sampled_from([ASK, SURE, FINAL, "", "x", ANSWER]), max_size=12), st.integers(1, 6), st.integers(0, 2)
)
def test_every_free_turn_play_ends_in_one_typed_way(replies: list[str], turns: int, warnings: int) -> None:
    played = game(FreeTurn, max_turns=turns, max_warnings=warnings).play([*replies, *[""] * 5])
    assert played.ending is not None
    facts = played.ending.facts
    assert facts["turns"] <= turns
    assert facts["orders"] < turns or turns == 1
    assert facts["unusable"] <= warnings + 1
    assert ("answer" in facts) == (played.ending.cause == "completed")
