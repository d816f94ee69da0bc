"""The strict reading of a judge's verdict on a treatment plan."""

import json
from typing import Any

import pytest
from bench import verdict
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.outcome.outcome_record import JudgedPlan, plan_reader

QUOTE = {"passage": 2, "quote": "It works."}
QUOTED = ((2, "It works."),)


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        (verdict("correct", basis="same", evidence=[]), JudgedPlan("correct", "same")),
        (verdict("Correct", basis=" Included "), JudgedPlan("correct", "included")),
        (verdict("correct", basis="evidence", evidence=[QUOTE]), JudgedPlan("correct", "evidence", QUOTED)),
        (verdict("wrong", basis="evidence", evidence=[QUOTE]), JudgedPlan("wrong", "evidence", QUOTED)),
        (verdict("incorrect", basis="none"), JudgedPlan("wrong", "none")),
        (verdict("unverifiable", basis="none", evidence=[]), JudgedPlan("unverifiable", "none")),
        (f"```json\n{verdict('correct', basis='same')}\n```", JudgedPlan("correct", "same")),
        (f"[{verdict('correct', basis='same')}]", JudgedPlan("correct", "same")),
        ("Correct", JudgedPlan("correct")),
        ("Wrong", JudgedPlan("wrong")),
        ("Verdict: incorrect", JudgedPlan("wrong")),
        ("unverifiable", JudgedPlan("unverifiable")),
    ],
)
def test_read(reply: str, meant: JudgedPlan) -> None:
    assert plan_reader(3)(reply) == meant


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        ("The plan is reasonable.", "prose"),
        ("not correct", "hedged"),
        ("Partially correct", "hedged"),
        ('{"verdict": "correct", "basis"', "half_json"),
        (verdict("correct"), "no_field"),
        (verdict("correct", basis="none"), "not_in_vocabulary"),
        (verdict("correct", basis="experience"), "not_in_vocabulary"),
        (verdict("correct", basis=1), "not_in_vocabulary"),
        (verdict("wrong", basis="same"), "not_in_vocabulary"),
        (verdict("wrong", basis="included"), "not_in_vocabulary"),
        ('{"verdict": true, "basis": "same"}', "not_in_vocabulary"),
        ('{"basis": "same"}', "no_field"),
        ('{"verdict": "partially correct", "basis": "same"}', "hedged"),
        (verdict("correct", basis="same") + " Rather incorrect.", "several"),
        (verdict("correct", basis="same") + "\n\u4f46\u662f\u4e0d\u6b63\u786e", "hedged"),
        (verdict("Correct: false", basis="same"), "hedged"),
        (verdict("correct", basis="same", judgment="wrong"), "several"),
        ("Correct: false", "hedged"),
        (verdict("correct", basis="same") * 2, "half_json"),
        ("\u6b63\u786e", "other_language"),
        ("I cannot judge treatments.", "refusal"),
    ],
)
def test_anything_else_has_a_typed_reason(reply: str, why: str) -> None:
    found = plan_reader(3)(reply)
    assert isinstance(found, Unread)
    assert found.why == why


def test_correct_needs_no_basis_where_there_was_nothing_to_rest_on() -> None:
    assert plan_reader(0)("Correct") == plan_reader(0)(verdict("correct")) == JudgedPlan("correct")


@pytest.mark.parametrize(
    ("evidence", "quotes"),
    [
        (None, ()),
        ("It works.", ()),
        ([None, 1, "It works.", {"passage": 1}, {"quote": 3}, {"passage": 1, "quote": " "}], ()),
        ([{"quote": "It works."}], ((0, "It works."),)),
        (
            [{"passage": "1", "quote": "a"}, {"passage": -1, "quote": "b"}, {"passage": True, "quote": "c"}],
            ((0, "a"), (-1, "b"), (0, "c")),
        ),
    ],
)
def test_only_quotations_are_quotations(evidence: Any, quotes: tuple[tuple[int, str], ...]) -> None:
    found = plan_reader(1)(json.dumps({"verdict": "wrong", "basis": "evidence", "evidence": evidence}))
    assert isinstance(found, JudgedPlan)
    assert found.quotes == quotes


@given(st.text(), st.integers(0, 3))
def test_any_text_is_read_or_typed(text: str, shown: int) -> None:
    assert isinstance(plan_reader(shown)(text), JudgedPlan | Unread)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_any_json_is_read_or_typed(value: Any) -> None:
    for fields in ({"verdict": value}, {"verdict": "correct", "basis": value, "evidence": value}):
        assert isinstance(plan_reader(1)(json.dumps(fields)), JudgedPlan | Unread)
