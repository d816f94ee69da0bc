"""The staged games and the consultation under the published rules."""

from typing import Any

import pytest
from game import PROMPTS, Game
from hypothesis import given
from hypothesis import strategies as st
from patients import ADMISSION

from wardround.engine.records import Action
from wardround.scenarios.encounters.consultation import Consultation
from wardround.scenarios.encounters.staged import FreeTurn, OneTurn, Oracle, Treatment

ASK = "### Additional Information Required:\nLipase\n\n### Conclusion:\nunclear"
SURE = "### Additional Information Required:\nNot required.\n\n### Conclusion:\nGout"
FIRST = "### Conclusion:\nunclear\n\n### Additional Information Required:\nNot required."
BARE = ADMISSION.model_copy(
    update={"labs": (), "microbiology": (), "imaging": (), "investigations": (), "ancillary": ""}
)


def game(kind: Any, case: Any = ADMISSION, **settings: object) -> Game:
    return Game(kind(kind.Settings.model_validate({"rules": "published", **settings}), PROMPTS), case)


def ended(played: Game) -> tuple[str, str, Any]:
    assert played.ending is not None
    return played.ending.cause, played.ending.reason, played.ending.facts.get("answer")


def test_an_unreadable_free_turn_is_the_end() -> None:
    assert ended(game(FreeTurn, max_warnings=9).play([ASK, "prose"])) == ("parser", "unreadable", None)
    assert ended(game(FreeTurn).play([ASK, "```"])) == ("doctor", "no_answer", None)
    assert ended(game(FreeTurn).play([SURE])) == ("completed", "", {"diagnosis": "Gout"})
    assert ended(game(FreeTurn, max_turns=2).play([ASK, ASK])) == ("completed", "", {"diagnosis": "unclear"})


def test_one_turn_asks_the_patient_even_for_nothing_and_begins_anew_up_to_three_times() -> None:
    played = game(OneTurn).play([FIRST])
    assert played.heard == [("doctor", "reply"), ("patient", "answer")]
    assert ended(played.play(["It is gout, I think."])) == (
        "completed",
        "",
        {"diagnosis": "It is gout, I think."},
    )
    played = game(OneTurn).play(["prose"])
    assert played.heard == []
    assert played.play([FIRST, ""]).heard == []
    assert played.view().verbs == ("reply", "order", "conclude")
    assert ended(played.play(["prose"])) == ("parser", "unreadable", None)
    assert played.ending is not None
    assert (played.ending.facts["replies"], played.ending.facts["unusable"]) == (4, 3)


@pytest.mark.parametrize(("kind", "goal"), [(Oracle, "diagnosis"), (Treatment, "treatment")])
def test_a_game_of_one_reply_takes_what_is_said(kind: Any, goal: str) -> None:
    assert ended(game(kind).play(["rest and water"])) == ("completed", "", {goal: "rest and water"})
    assert ended(game(kind).play(["### Answer:\nrest"])) == ("completed", "", {goal: "rest"})
    assert ended(game(kind).play([" "])) == ("doctor", "no_answer", None)


def test_a_case_without_tests_is_refused_where_tests_are_asked_for() -> None:
    kinds: list[Any] = [OneTurn, FreeTurn]
    for kind in kinds:
        assert "no ancillary tests" in game(kind).scenario.lacks(BARE)
        assert kind(kind.Settings(), PROMPTS).lacks(BARE) is None
    assert game(Oracle).scenario.lacks(BARE) is None


def test_a_consultation_hears_capitals_only() -> None:
    played = game(Consultation).play(["request test: lipase", "REQUEST TEST: Lipase", ""])
    assert [seat for seat, _ in played.heard] == ["doctor", "patient", "doctor", "examiner", "doctor", "patient"]
    assert "LAB-LIPASE" in played.view().heard[3].text
    assert ended(played.play(["REQUEST TEST: CT, DIAGNOSIS READY: Gout."])) == (
        "completed",
        "",
        {"diagnosis": "Gout"},
    )


def test_what_is_ordered_in_the_last_turn_is_answered_to_nobody() -> None:
    played = game(Consultation, max_turns=2).play(["How long?"])
    assert played.heard[-1] == ("desk", "demand")
    assert "order" in played.view().verbs
    assert ended(played.play(["REQUEST TEST: Lipase"])) == ("doctor", "no_answer", None)
    assert played.ending is not None
    assert played.ending.detail == "no diagnosis within 2 turns"
    assert (played.ending.facts["turns"], played.ending.facts["orders"]) == (2, 1)
    assert ended(game(Consultation, max_turns=1).play([Action("ask", text="Why?")])) == ("doctor", "no_answer", None)


@given(
    st.sampled_from([OneTurn, FreeTurn, Oracle, Treatment, Consultation]),
    st.lists(st.one_of(st.text(), st.sampled_from([ASK, SURE, FIRST, "DIAGNOSIS READY", "REQUEST TEST"]))),
)
def test_any_replies_end_or_go_on(kind: Any, replies: list[str]) -> None:
    played = game(kind).play(replies)
    assert played.ending is not None or len(replies) < 21
