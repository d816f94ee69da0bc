"""No seat sees a text that is not open to it or was not ordered: a sentinel stands in every field of a case."""

import re
from typing import Any

import pytest
from game import PROMPTS, Game
from patients import ADMISSION

from wardround.engine.records import Action
from wardround.scenarios.encounters.consultation import Consultation
from wardround.scenarios.encounters.staged import FreeTurn, OneTurn, Oracle, Treatment
from wardround.scenarios.encounters.workup import Workup

SENTINEL = re.compile(
    r"SENTINEL-ID|(?:TRUTH|GROUP|CATEGORY|PROVENANCE|OPENING|COMPLAINT|HISTORY|EXAM|LAB|MICRO|IMAGE|INVESTIGATION|"
    r"ANCILLARY)[-:][A-Z]+"
)
RESULTS = {
    "Vital signs": "EXAM-VITAL",
    "Abdomen": "EXAM-ABDOMEN",
    "Lipase": "LAB-LIPASE",
    "Sodium": "LAB-SODIUM",
    "CT abdomen": "IMAGE-CT",
    "Biopsy": "INVESTIGATION-BIOPSY",
}
TESTS = {"LAB-LIPASE", "LAB-SODIUM", "MICRO-SPECIMEN", "MICRO-ORGANISM", "MICRO-COMMENT", "IMAGE-CT", "ANCILLARY-TEXT"}
REPORT = {"OPENING-TEXT", "HISTORY-SOCIAL", "HISTORY-PAST", "EXAM-VITAL", "EXAM-ABDOMEN"}
OPEN = {
    Workup: {"OPENING-TEXT"},
    OneTurn: REPORT,
    FreeTurn: REPORT,
    Oracle: REPORT | TESTS,
    Treatment: REPORT | TESTS | {"TRUTH-DIAGNOSIS"},
    Consultation: {"COMPLAINT-TEXT"},
}


def seen(played: Game, seat: str = "doctor") -> set[str]:
    return set(SENTINEL.findall(str(played.view(seat))))


def new(kind: Any) -> Game:
    return Game(kind(kind.Settings(), PROMPTS), ADMISSION)


def test_every_field_has_its_sentinel() -> None:
    texts = re.findall(r"[A-Z]{3,}[-:][A-Z]+", ADMISSION.model_dump_json())
    assert len(set(texts)) >= 25
    assert {text for text in texts if not SENTINEL.search(text)} == set()


@pytest.mark.parametrize("kind", OPEN)
def test_before_any_order_the_doctor_knows_what_is_open(kind: Any) -> None:
    played = new(kind)
    assert seen(played) == OPEN[kind]
    played.act(Action("reply", text="Nonsense, LAB-like: TRUTH?"))  # a warning, or a question to the patient
    assert seen(played) == OPEN[kind]
    if played.turn == "doctor":
        played.act(Action("reply", text="again"))
        assert seen(played) == OPEN[kind]


@pytest.mark.parametrize("kind", [Workup, OneTurn, FreeTurn, Consultation])
@pytest.mark.parametrize("name", RESULTS)
def test_an_order_opens_what_was_ordered_and_nothing_else(kind: Any, name: str) -> None:
    played = new(kind).play([Action("order", args={"kind": "any", "items": [name]})])
    assert seen(played) == OPEN[kind] | {RESULTS[name]}


@pytest.mark.parametrize("kind", OPEN)
def test_nobody_else_sees_the_truth(kind: Any) -> None:
    played = new(kind)
    closed = {"TRUTH", "GROUP", "CATEGORY", "PROVENANCE", "SENTINEL"}
    for seat in played.scenario.seats[1:]:
        assert {text for text in seen(played, seat) if re.split("[-:]", text)[0] in closed} == set()


def test_what_an_answer_carries_beside_its_text_stays_behind() -> None:
    played = new(Workup)
    played.act(Action("reply", text="Action: PE"))
    answer = {"asked": "x", "state": "normal", "text": "t", "refs": ["labs[0]"], "assumed": True, "extra": "TRUTH-LEAK"}
    played.act(Action("answer", text="fine", args={"answers": [answer], "truth": "TRUTH-LEAK"}, thinking="TRUTH-LEAK"))
    assert "TRUTH-LEAK" not in str(played.view())
    assert "assumed" not in str(played.view())
