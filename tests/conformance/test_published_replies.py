"""Replies as the published code reads them: what it computes on a row that counts, a typed reason on one that does not.

The values were worked out from the published functions' behaviour (design/reference_behaviour.md, c3).
"""

import json
from typing import Any

import pytest
from tiny import TABLES

from conformance.assessing import assessment
from conformance.compare import agrees
from conformance.judging import outcome, reasoning
from conformance.vector import Vector
from wardround.scenarios.published.imaging_words import Absent


def says(judgment: Any, keywords: Any = "None") -> str:
    return json.dumps({"judgment": judgment, "keywords_to_search": keywords})


def item(name: Any, **more: Any) -> dict[str, Any]:
    return {"type": "Imaging", "test_name": name, "info_required": "why", **more}


def row(metric: str, judge: Any, expected: Any = None, expect: str = "equal") -> Vector:
    return Vector(0, expect, {"metric": metric, "judge": judge}, expected)


CT, US = item("CT"), item("US")
RIGHT, WRONG = says("Correct"), says("Wrong")


@pytest.mark.parametrize(
    ("replies", "correct", "last", "calls", "searches"),
    [
        (["kw", says("Correct", "")], True, ["Correct", ""], 2, ["kw"]),
        (["kw", says("correct")], True, ["correct", "None"], 2, ["kw"]),
        (["kw", says("Incorrect")], False, ["Incorrect", "None"], 2, ["kw"]),
        (["kw", says("Correct.")], True, ["Correct.", "None"], 2, ["kw"]),
        (["kw", says("Wrong", ["a"])], False, ["Wrong", ["a"]], 2, ["kw"]),
        (["kw", says("The step is Correct because of it")], True, ["The step is Correct because of it", "None"], 2, 0),
        (["kw", says("Undecided")], False, ["Undecided", "None"], 2, ["kw"]),
        (["kw", f"```json\n{WRONG}\n```"], False, ["Wrong", "None"], 2, ["kw"]),
        (["kw", f"```\n{RIGHT}```"], True, ["Correct", "None"], 2, ["kw"]),
        (["kw", f"Here it is: {RIGHT}", RIGHT], True, ["Correct", "None"], 3, ["kw"]),
        (["kw", f"{RIGHT} as the text says", WRONG], False, ["Wrong", "None"], 3, ["kw"]),
        (["kw", f"{RIGHT[:-1]},}}", RIGHT], True, ["Correct", "None"], 3, ["kw"]),
        (["kw", "{'judgment': 'Correct'}", RIGHT], True, ["Correct", "None"], 3, ["kw"]),
        (["kw", "Correct", "bad", "", "bad", "bad", RIGHT], True, ["Correct", "None"], 7, ["kw"]),
        (["kw", says("Search", "more"), "bad", RIGHT], True, ["Correct", "None"], 4, ["kw", "more"]),
        (["kw one,\n kw two.", RIGHT], True, ["Correct", "None"], 2, ["kw one,\n kw two."]),
        (["k " * 400, RIGHT], True, ["Correct", "None"], 2, ["k " * 400]),
        (["", RIGHT], True, ["Correct", "None"], 2, [""]),
        (["kw", says("Search", "a,  b."), RIGHT], True, ["Correct", "None"], 3, ["kw", "a,  b."]),
        (["kw", says("Search", ["a", "b"]), RIGHT], True, ["Correct", "None"], 3, ["kw", ["a", "b"]]),
        (["kw", says("Search", ""), RIGHT], True, ["Correct", "None"], 3, ["kw", ""]),
        (["kw", *[says("Search", "m")] * 5], False, ["Search", "m"], 6, ["kw", *["m"] * 4]),
        (["kw", *[says("Search", "m")] * 4, RIGHT], True, ["Correct", "None"], 6, ["kw", *["m"] * 4]),
    ],
)
def test_factuality(replies: list[str], correct: bool, last: list[Any], calls: int, searches: Any) -> None:
    told = reasoning(row("evaluate_factuality", replies), TABLES)
    assert told["value"][0] is correct
    assert [*told["value"][1][-1].values()] == last
    assert (told["judge_calls"], told["searches"]) == (calls, searches or ["kw"])
    assert [look["keywords_to_search"] for look in told["value"][1][:-1]] == told["searches"]


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        (["kw", *["bad"] * 6, RIGHT], "judge_unreadable/prose"),
        (["kw", "{", *["{"] * 12], "judge_unreadable/half_json"),
        (["kw", '{"judgment": "Correct"}'], "judge_unreadable/no_field"),
        (["kw", '"Correct"'], "judge_unreadable/no_field"),
        (["kw", says(True)], "judge_unreadable/not_in_vocabulary"),
        (["kw", says("Partially Correct")], "judge_unreadable/hedged"),
    ],
)
def test_a_verdict_that_stops_the_published_code_or_misleads_it_is_typed(replies: list[str], reason: str) -> None:
    with pytest.raises(Absent) as absent:
        reasoning(row("evaluate_factuality", replies, expect="defect"), TABLES)
    assert absent.value.reason == reason


def compared(precision: float, recall: float, asked: list[Any], recorded: list[Any], calls: int) -> dict[str, Any]:
    value = {"precision": precision, "recall": recall, "infer_info_split": asked, "gt_info_split": recorded}
    return {"value": value, "error": None, "judge_calls": calls, "searches": []}


def hit(entry: Any, found: bool) -> dict[str, Any]:
    return {**entry, "hit": found}


NAMELESS = {"type": "Imaging", "test_name": "CT"}
ITEMS = {"items": [CT]}
ONE = [hit(CT, True)]


@pytest.mark.parametrize(
    ("replies", "expected"),
    [
        ([[{"x": "none"}]], compared(0, 0, [], [], 1)),
        ([{"x": "none"}], compared(0, 0, [], [], 1)),
        ([ITEMS], compared(0, 0, [], [], 1)),
        ([CT, ITEMS, "Yes"], compared(1, 0, ONE, [hit(ITEMS, False)], 3)),
        ([CT, [CT], "Yes", "No"], compared(1, 0, ONE, [hit(CT, False)], 4)),
        (["not json", [CT], [CT], "Yes", "Yes"], compared(1, 1, ONE, ONE, 5)),
        ([f"Here: {json.dumps([CT])}", [CT], [CT], "Yes", "Yes"], compared(1, 1, ONE, ONE, 5)),
        ([f"{json.dumps([CT])[:-1]},]", [CT], [CT], "Yes", "Yes"], compared(1, 1, ONE, ONE, 5)),
        ([*["bad"] * 7, [CT], [CT], "Yes", "Yes"], compared(1, 1, ONE, ONE, 11)),
        ([f"```json\n{json.dumps([CT])}\n```", [CT], "Yes", "Yes"], compared(1, 1, ONE, ONE, 4)),
        ([[NAMELESS], [CT], "Yes"], compared(0, 1, [hit(NAMELESS, False)], ONE, 3)),
        ([[{"x": 1}, CT], [CT], "Yes", "Yes"], compared(0.5, 1, [hit({"x": 1}, False), *ONE], ONE, 4)),
        ([[CT], [CT], "Covered", "maybe"], compared(0, 0, [hit(CT, False)], [hit(CT, False)], 4)),
        ([[CT], [CT], "Yes, the CT is covered.", "It is: YES"], compared(1, 1, ONE, ONE, 4)),
        ([[CT], [CT], "\u662f", "\u5426"], compared(1, 0, ONE, [hit(CT, False)], 4)),
        ([[CT, CT], [CT], *["Yes"] * 3], compared(1, 1, ONE * 2, ONE, 5)),
        ([[item("CT, MRI")], [CT], "Yes", "Yes"], compared(1, 1, [hit(item("CT, MRI"), True)], ONE, 4)),
        ([[item("CT", why=1)], [CT], "Yes", "Yes"], compared(1, 1, [hit(item("CT", why=1), True)], ONE, 4)),
        (
            [[item(["CBC", "CRP"])], [US], "Yes", "No"],
            compared(1, 0, [hit(item(["CBC", "CRP"]), True)], [hit(US, False)], 4),
        ),
        (
            [[item("CT", info_required=None)], [], "Yes"],
            compared(1, 0, [hit(item("CT", info_required=None), True)], [], 3),
        ),
        ([[], [CT, US], "Yes", "No"], compared(0, 0.5, [], [hit(CT, True), hit(US, False)], 4)),
        ([[], []], compared(0, 0, [], [], 2)),
    ],
)
def test_assessments(replies: list[Any], expected: dict[str, Any]) -> None:
    judge = [reply if isinstance(reply, str) else json.dumps(reply) for reply in replies]
    vector = row("eval_dynamic_asking_info_precision_recall", judge, expected)
    told = assessment(vector, TABLES)
    assert agrees(told, vector), told
    assert told.keys() == expected.keys()
    assert told["value"].keys() == expected["value"].keys()


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        (["[]", "[]"], "nothing_asked"),
        ([json.dumps(CT), "[]", "Yes"], "no_reference"),
        ([json.dumps([{"x": 1}])], "judge_unreadable/no_test"),
        ([json.dumps(NAMELESS), json.dumps(CT), "Yes"], "judge_unreadable/no_test"),
        ([json.dumps(CT), json.dumps(CT), "Covered", "No"], "judge_unreadable/prose"),
        (["bad"] * 30, "judge_unreadable/prose"),
        (['["CT"]'] * 3, "judge_unreadable/no_field"),
    ],
)
def test_assessments_that_are_none_are_typed(replies: list[str], reason: str) -> None:
    with pytest.raises(Absent) as absent:
        assessment(row("x", replies, expect="defect"), TABLES)
    assert absent.value.reason == reason


def test_an_assessment_of_an_unknown_form_is_typed() -> None:
    with pytest.raises(Absent, match="nothing answers x"):
        assessment(Vector(0, "equal", {"metric": "x"}, None), TABLES)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("This step is a Citation.", "Citation"),
        ("This is Reasoning", "Reasoning"),
        ("The step belongs to Reasoning", "Reasoning"),
        ("I classify this as repetition", "Repetition"),
        ("It adds nothing", "Redundancy"),
    ],
)
def test_classes(reply: str, kind: str) -> None:
    assert reasoning(row("evaluate_efficiency", reply), TABLES)["value"] == kind
    with pytest.raises(Absent):
        reasoning(row("evaluate_efficiency", reply, expect="defect"), TABLES)


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("Yes, it is correct.", True),
        ("The prediction is Correct because both name it", True),
        ("Both name the same disease: Correct", True),
        ("They do not match", False),
    ],
)
def test_outcomes(reply: str, right: bool) -> None:
    assert outcome(row("eval_accuracy", reply), TABLES)["value"] is right
    searched = outcome(row("eval_accuracy_with_websearch", ["kw, \nkw.", reply]), TABLES)
    assert (searched["value"], searched["searches"]) == (["kw, \nkw.", "info 1", right], ["kw, \nkw."])


@pytest.mark.parametrize(("reply", "found"), [("The output says so: it is covered, yes", True), ("Covered", False)])
def test_hits(reply: str, found: bool) -> None:
    assert reasoning(row("check_step_hit", reply), TABLES)["value"] is found


@pytest.mark.parametrize(
    ("written", "steps"),
    [
        ("<Step 1> a\nmore\n<Step 2> b", ["<Step 1> a", "more", "<Step 2> b"]),
        ("<Step 1>\na", ["<Step 1>", "a"]),
        ("### Steps\n\na\n", ["### Steps", "a"]),
        ("", []),
    ],
)
def test_reference_steps_are_lines(written: str, steps: list[str]) -> None:
    hits = ["Yes", "Covered", "No"][: len(steps)]
    value = reasoning(row("eval_reasoning_completeness", [written, *hits]), TABLES)["value"]
    assert [one["step"] for one in value["ground_truth_steps"]] == steps
    assert value["recall_score"] == (1 / len(steps) if steps else 0)
    with pytest.raises(Absent):
        reasoning(row("eval_reasoning_completeness", [written, *hits], expect="defect"), TABLES)
