"""The adapters of judges and aggregation: recorded replies played in order, typed reasons where there is no verdict."""

import json
from pathlib import Path
from typing import Any

import pytest
from tiny import TABLES

from conformance.assessing import assessment
from conformance.compare import agrees
from conformance.judging import outcome, reasoning
from conformance.vector import Vector, vectors
from wardround.scenarios.published.imaging_words import Absent

SEARCH = json.dumps({"judgment": "Search", "keywords_to_search": "more"})
RIGHT = json.dumps({"judgment": "Correct", "keywords_to_search": "None"})


def row(metric: str, expect: str = "equal", **given: Any) -> Vector:
    return Vector(0, expect, {"metric": metric, **given}, None)


def test_a_judge_is_played_to_its_verdict() -> None:
    told = reasoning(row("evaluate_factuality", judge=["a", SEARCH, RIGHT]), TABLES)
    assert told["value"][0] is True
    assert [look.get("info") for look in told["value"][1]] == ["info 1", "info 2", None]
    assert (told["judge_calls"], told["searches"]) == (3, ["a", "more"])


def test_recall_is_the_share_of_reference_steps_that_were_found() -> None:
    steps = [{"step": "a", "hit": True}, {"step": "b", "hit": False}, {"step": "c", "hit": True}]
    assert reasoning(row("calculate_recall", steps=steps), TABLES) == {"value": pytest.approx(2 / 3)}
    assert reasoning(row("calculate_recall", ground_truth_steps=steps[:1]), TABLES) == {"value": 1.0}
    assert reasoning(row("calculate_recall", hits=[False, True]), TABLES) == {"value": 0.5}
    assert reasoning(row("calculate_recall", steps=[]), TABLES) == {"value": 0.0}


def test_what_five_searches_do_not_settle_is_not_correct() -> None:
    told = reasoning(row("evaluate_factuality", judge=["a", *[SEARCH] * 5, RIGHT]), TABLES)
    assert told["value"][0] is False
    assert told["value"][1][-1] == {"judgment": "Search", "keywords_to_search": "more"}
    assert (told["judge_calls"], len(told["searches"])) == (6, 5)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (row("evaluate_efficiency", "defect", judge=""), "judge_unreadable/empty"),
        (row("check_step_hit", "defect", judge="eyes"), "judge_unreadable/prose"),
        (row("evaluate_factuality", judge=["a", *["bad"] * 20]), "judge_unreadable/prose"),
        (row("evaluate_factuality", judge=["a", '{"x": 1}']), "judge_unreadable/no_field"),
        (row("eval_reasoning_completeness", "defect", judge=["Steps:\n<Step 1> a", "Yes"]), "no_step"),
        (
            row("eval_reasoning_efficiency_factuality", "defect", steps=["a"], judge=["Citation"]),
            "no_reasoning_step",
        ),
        (row("calculate_efficiency_factuality", steps=[{"efficiency": "x"}]), "unknown_label"),
        (row("calculate_recall", "defect", steps=[]), "no_reference"),
        (row("calculate_recall"), "no_reference"),
        (row("calculate_recall", steps=[{"step": "a", "hit": "yes"}]), "unknown_label"),
        (row("something_else", judge=""), "unknown_metric"),
        (row("check_step_hit", judge=None), "no_text"),
    ],
)
def test_reasoning_without_a_verdict_has_a_typed_reason(given: Vector, reason: str) -> None:
    with pytest.raises(Absent) as absent:
        reasoning(given, TABLES)
    assert absent.value.reason == reason


def test_steps_are_judged_one_after_another() -> None:
    told = reasoning(
        row("eval_reasoning_efficiency_factuality", steps=["a", "b"], judge=["Reasoning", "k", RIGHT, "Citation"]),
        TABLES,
    )
    assert (told["value"]["efficiency_score"], told["value"]["factuality_score"]) == (0.5, 1.0)
    assert [step["factulity"] for step in told["value"]["evaluated_steps"]] == [True, None]
    covered = reasoning(row("eval_reasoning_completeness", judge=["<Step 1> a\n<Step 2> b", "No", "Yes"]), TABLES)
    assert covered["value"]["recall_score"] == 0.5


def test_outcomes() -> None:
    assert outcome(row("eval_accuracy", judge="Incorrect"), TABLES)["value"] is False
    assert outcome(row("eval_accuracy_with_websearch", judge=["a", "Correct"]), TABLES)["value"] == [
        "a",
        "info 1",
        True,
    ]
    with pytest.raises(Absent, match="holds no verdict"):
        outcome(row("eval_accuracy", "defect", judge="Partially correct"), TABLES)


def test_assessments() -> None:
    ct = {"type": "Imaging", "test_name": "CT", "info_required": "why"}
    one = json.dumps(ct)
    told = assessment(row("x", judge=[one, json.dumps([ct, {"x": 1}]), "Yes", "No"]), TABLES)
    assert (told["value"]["precision"], told["value"]["recall"]) == (1.0, 0.0)
    assert told["value"]["gt_info_split"] == [ct | {"hit": False}, {"x": 1, "hit": False}]
    assert assessment(row("calculate_match_rate", hits=[True, False]), TABLES) == {"value": 0.5}
    with pytest.raises(Absent) as absent:
        assessment(row("x", judge=[one, one]), TABLES)
    assert absent.value.reason == "no_reply"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "adapter"),
    [
        ("medr_reasoning_metrics", reasoning),
        ("medr_outcome_accuracy", outcome),
        ("medr_assessment_metrics", assessment),
    ],
)
def test_recorded_rows_agree_and_defects_are_typed(shared: Path, name: str, adapter: Any) -> None:
    rows = vectors(shared / "vectors" / f"{name}.json")
    assert rows
    for vector in rows:
        if vector.counts:
            assert agrees(adapter(vector, TABLES), vector), vector.number
        else:
            try:
                typed = adapter(vector, TABLES)["error"] is None
            except Absent as absent:
                typed = bool(absent.reason)
            assert typed, vector.number
