"""Stored step labels through the aggregation: the published figures exactly, and the printed intervals of the paper."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from wardround.engine.errors import UsageError
from wardround.evaluators.reasoning.reasoning_record import PartAccount, scores
from wardround.evaluators.reasoning.step_questions import StepClass, StepVerdict
from wardround.evaluators.reasoning.steps import split
from wardround.evaluators.report.intervals import NORMAL, standard_error, student_t
from wardround.exchange.published_results import judged_reply

MODELS = ("deepseek-r1", "gemini2-ft", "qwq")


def normal(values: Sequence[float]) -> tuple[float, float] | None:
    """Mean +- 1.96 s / sqrt(n), s with n - 1: some printed intervals of MedR-Bench are these."""
    error = standard_error(values)
    mean = math.fsum(values) / len(values)
    return None if error is None else (mean - NORMAL * error, mean + NORMAL * error)


def stored(shared: Path, model: str) -> dict[str, Any]:
    path = shared / f"data/medrbench/results/oracle_diagnosis__{model}__replies_and_judged_steps.json"
    loaded = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def values(judged: PartAccount) -> dict[str, float | None]:
    told = (*scores(judged, "published"), *scores(judged))
    return {score.name.removesuffix("_formal"): score.value for score in told}


@pytest.mark.shared
@pytest.mark.parametrize("model", MODELS)
def test_the_stored_figures_come_out_exactly(shared: Path, model: str) -> None:
    undefined = 0
    for case, row in stored(shared, model).items():
        found = values(judged_reply(row, case))
        assert found["published_efficiency"] == row["efficiency"], case
        assert found["published_factuality"] == row["factulity"], case
        assert found["published_completeness"] == row["recall"], case
        reasons = any(step["efficiency"] == "Reasoning" for step in row["reasoning_eval"])
        assert (found["factuality"] is None) == (not reasons), case
        undefined += not reasons
    # the five of the whole set that have no reasoning step are not among the cases that are shared
    assert undefined == 0


@pytest.mark.shared
def test_the_one_step_that_was_not_settled_is_unverifiable(shared: Path) -> None:
    judged = [judged_reply(row, case) for model in MODELS for case, row in stored(shared, model).items()]
    steps = [step for one in judged for step in one.steps]
    assert len(judged) == 480
    assert sum(step.verdict == StepVerdict.UNVERIFIABLE for step in steps) == 1
    assert sum(step.verdict == StepVerdict.WRONG for step in steps) == 44 + 24 + 51
    moved = [one for one in judged if values(one)["factuality"] != values(one)["published_factuality"]]
    assert len(moved) == 1
    assert values(moved[0])["factuality_low"] == values(moved[0])["published_factuality"]


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize("model", MODELS)
def test_the_replies_are_split_into_the_steps_that_were_judged(shared: Path, model: str) -> None:
    concluded = 0
    for case, row in stored(shared, model).items():
        judged = tuple(step["step"] for step in row["reasoning_eval"])
        assert split(row["results"]["content"], rules="published").steps == judged, case
        told = split(row["results"]["content"])
        assert told.steps, case
        if told.how == "tags" and told.steps[:10] != judged:
            # the last step was, or ended with, 'Therefore, the final diagnosis is ...'
            assert "\n".join(judged).startswith("\n".join(told.steps)), case
            concluded += 1
        thinking = row["results"].get("thinking_process")
        assert split(thinking or "", "thinking").reason == ("" if thinking else "no_thinking")
    assert concluded == (6 if model == "gemini2-ft" else 0)


@pytest.mark.shared
def test_the_paper_prints_student_t_and_twice_what_only_the_normal_quantile_gives(shared: Path) -> None:
    rows = json.loads((shared / "vectors/medr_paper_ci.json").read_text(encoding="utf-8"))
    fits = {"student_t": 0, "normal": 0, "neither": 0}
    for row in rows:
        k, n = row["input"]["successes"], row["input"]["n"]
        printed = [row["expected"][name] for name in ("mean", "lo", "hi")]
        sample = [1.0] * k + [0.0] * (n - k)
        by = {"student_t": student_t(sample), "normal": normal(sample)}
        fitting = [name for name, ends in by.items() if ends and [round(100 * v, 2) for v in (k / n, *ends)] == printed]
        assert ("student_t" in fitting) == ([k, n] in row["expected"]["consistent_k_n_under_student_t"])
        assert ("normal" in fitting) == ([k, n] in row["expected"]["consistent_k_n_under_normal"])
        fits[fitting[0] if fitting else "neither"] += 1
    # docs/reasoning.md prints these
    assert fits == {"student_t": 4, "normal": 2, "neither": 1}


STEP = {"step": "a", "efficiency": "Reasoning", "factulity": True, "judgment_path": [{"judgment": "Correct"}]}


def test_labels_are_read() -> None:
    rows = [
        STEP,
        STEP | {"factulity": False, "judgment_path": [{"judgment": "Wrong"}]},
        STEP | {"factulity": False, "judgment_path": [{"judgment": "Wrong"}, {"judgment": "Search"}]},
        STEP | {"factulity": False, "judgment_path": []},
        STEP | {"efficiency": "Citation", "factulity": None, "judgment_path": []},
    ]
    found = judged_reply(
        {"reasoning_eval": rows, "gt_reasoning_eval": [{"step": "b", "hit": True}, {"step": "c", "hit": False}]}
    )
    assert [step.verdict for step in found.steps] == ["correct", "wrong", "unverifiable", "wrong", None]
    assert found.steps[-1].kind == StepClass.CITATION
    assert found.reference is not None
    assert [(step.hit, step.final) for step in found.reference] == [(True, False), (False, True)]


def test_examination_reasoning_is_stored_without_a_reference() -> None:
    assert judged_reply({"reasoning_eval": [STEP]}).reference is None
    assert judged_reply({"reasoning_eval": []}).reason == "no_steps"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({}, "`reasoning_eval` is not a list of judged steps"),
        ({"reasoning_eval": ["a"]}, "`reasoning_eval` is not a list of judged steps"),
        ({"reasoning_eval": [], "gt_reasoning_eval": 3}, "`gt_reasoning_eval` is not a list of judged steps"),
        ({"reasoning_eval": [STEP | {"efficiency": "Thought"}]}, "labelled 'thought'; the classes are citation"),
    ],
)
def test_what_is_no_stored_evaluation_is_an_error_that_names_it(row: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=f"case 7: .*{told}"):
        judged_reply(row, "case 7")
