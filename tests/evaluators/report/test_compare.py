"""Paired differences of runs, and what they warn of."""

import random
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.errors import UsageError
from wardround.engine.records import Score, json_object
from wardround.evaluators.report.compare import (
    Comparison,
    Difference,
    bonett_price,
    by_difference,
    compare_runs,
    holm,
    mcnemar,
    sign_flips,
)
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores

HEADER: dict[str, Any] = {
    "wardround": "1",
    "scenario": {"name": "workup", "goal": "diagnosis", "settings": {"max_turns": 5}},
    "seats": {"doctor": {"spec": "gold"}, "examiner": {"spec": "record", "options": {}}},
    "limits": {"tokens": None},
    "prompts": {"doctor/system": "aa", "workup/start": "bb"},
    "cases": {"index": "i1"},
    "tables": {},
}


def run(name: str, values: Mapping[str, tuple[float | None, ...]], **header: Any) -> RunScores:
    """A run with these accuracies, a tuple of repeats for each case."""
    rows = [
        EpisodeScores(
            episode=f"{case}@{repeat}",
            case=case,
            repeat=repeat,
            cause="completed",
            scores=(Score("diagnosis_accuracy", value, "" if value is not None else "provider/timeout"),),
        )
        for case, repeats in values.items()
        for repeat, value in enumerate(repeats)
    ]
    return RunScores(name=name, header=HEADER | header, episodes=rows)


def difference(
    first: Mapping[str, tuple[float | None, ...]], second: Mapping[str, tuple[float | None, ...]]
) -> Difference:
    """The one difference."""
    [found] = compare_runs([run("a", first), run("b", second)]).differences
    return found


def fields(first: RunScores, second: RunScores) -> list[str]:
    """The fields warned of."""
    return [warning.field for warning in compare_runs([first, second]).warnings]


def test_differences_are_paired_by_case() -> None:
    one = {str(i): (float(i < 5),) for i in range(10)}
    two = {str(i): (float(i < 8),) for i in range(10)}
    found = difference(one, two)
    assert (found.first_mean, found.second_mean) == (0.5, 0.8)
    assert found.difference == pytest.approx(0.3)
    assert (found.test, found.only_first, found.only_second) == ("mcnemar exact", 0, 3)
    assert found.p == found.p_holm == pytest.approx(0.25)
    # shares of discord 1/12 and 4/12; (5/12 - (3/12)^2) / 12 = 0.029514; half = 1.96 sqrt = 0.33671
    assert found.ci95 == pytest.approx((-0.08671, 0.58671), abs=1e-4)
    assert found.ci95_method == "bonett_price"


def test_only_cases_with_a_value_in_both_count() -> None:
    found = difference({"a": (1.0,), "b": (None,), "c": (0.0,)}, {"a": (1.0,), "b": (1.0,), "d": (1.0,)})
    assert (found.cases, found.left_out) == (1, 3)
    assert (found.difference, found.ci95) == (0.0, None)


def test_nothing_in_both_is_no_difference() -> None:
    found = difference({"a": (None,)}, {"a": (1.0,)})
    assert (found.cases, found.difference, found.p, found.first_mean) == (0, None, None, None)


def test_a_single_case_is_compared_and_shows_no_chance_in_any_order() -> None:
    for one, two in (((0.2,), (0.7,)), ((0.0, 1.0), (1.0, 1.0)), ((1.0,), (0.0,))):
        row = difference({"x": one}, {"x": two})
        assert (row.cases, row.p, row.ci95) == (1, 1.0, None)
        assert row.ci95_reason == "fewer than 5 cases"


def test_repeats_are_averaged_and_the_bootstrap_draws_cases() -> None:
    found = difference(dict.fromkeys("abcd", (1.0, 0.0)), dict.fromkeys("abcd", (1.0, 1.0)))
    assert found.difference == 0.5
    assert (found.ci95, found.ci95_reason) == (None, "fewer than 5 cases")
    assert found.test == "permutation"
    assert found.p == pytest.approx(0.125)


def test_shares_are_tested_by_the_signs_of_the_cases_differences() -> None:
    first = {str(i): (0.1 * i,) for i in range(6)}
    second = {str(i): (0.1 * i + 0.05 * (i + 1),) for i in range(6)}
    found = difference(first, second)
    assert (found.test, found.only_first, found.only_second) == ("permutation", 0, 6)
    assert found.p == pytest.approx(2 / 64)  # two of the 64 ways to draw six signs are as extreme
    assert found.ci95_method == "bootstrap"
    assert found.ci95 is not None
    assert 0.05 <= found.ci95[0] < found.ci95[1] <= 0.3


def test_equal_runs_have_a_p_of_one_and_an_interval_of_some_width() -> None:
    same = {str(i): (float(i % 2),) for i in range(20)}
    found = difference(same, same)
    assert (found.difference, found.p) == (0.0, 1.0)
    assert found.ci95 is not None
    assert found.ci95[0] < 0 < found.ci95[1]
    parts = {str(i): (0.1 * i,) for i in range(9)}
    equal = difference(parts, parts)
    assert (equal.ci95, equal.p) == (None, 1.0)
    assert equal.ci95_reason == "all 9 cases have the same mean, which shows no spread"


def test_every_run_is_compared_with_every_other() -> None:
    runs = [run(name, {"a": (1.0,)}) for name in "xyz"]
    assert [(d.first, d.second) for d in compare_runs(runs).differences] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert compare_runs(runs).note == ""


def test_of_too_many_pairs_those_with_the_first_run_are_compared_and_it_says_so() -> None:
    runs = [run(f"r{number}", {"a": (1.0,)}) for number in range(11)]
    found = compare_runs(runs)
    assert {row.first for row in found.differences} == {"r0"}
    assert len(found.differences) == 10
    assert found.note.startswith("11 runs make 55 pairs: only r0 is compared, with the 10 runs that come after it.")


def test_p_is_corrected_for_all_pairs_of_a_score() -> None:
    right = {"a": 9, "b": 5, "c": 2}
    runs = [run(name, {str(i): (float(i < k),) for i in range(10)}) for name, k in right.items()]
    rows = compare_runs(runs).differences
    assert [row.p_holm for row in rows] == holm([row.p for row in rows if row.p is not None])
    assert [row.p for row in rows] == [0.125, pytest.approx(0.015625), 0.25]
    assert [row.p_holm for row in rows] == [0.25, pytest.approx(0.046875), 0.25]


def test_holm_by_a_worked_example() -> None:
    # Holm (1979): 0.01 * 4, 0.02 * 3, 0.03 * 2, and never less than the one before
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@given(st.lists(st.floats(0, 1), max_size=8), st.randoms(use_true_random=False))
def test_holm_keeps_the_order_and_never_lowers_a_p(ps: list[float], dice: random.Random) -> None:
    found = holm(ps)
    assert all(before <= after <= 1 for before, after in zip(ps, found, strict=True))
    order = list(range(len(ps)))
    dice.shuffle(order)
    assert sorted(holm([ps[place] for place in order])) == sorted(found)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_the_interval_of_paired_shares_holds_the_difference_within_the_scale(less: int, more: int, same: int) -> None:
    n = less + more + same
    if n == 0:
        return
    low, high = bonett_price(less, more, n)
    assert -1 <= low < high <= 1
    assert bonett_price(more, less, n) == pytest.approx((-high, -low))
    if n >= 5:
        assert low <= (more - less) / n <= high


def test_mcnemar_is_exact() -> None:
    assert mcnemar(0, 0) == 1
    assert mcnemar(0, 5) == pytest.approx(0.0625)
    assert mcnemar(5, 0) == mcnemar(0, 5)
    assert mcnemar(3, 3) == 1
    assert mcnemar(2000, 2100) == pytest.approx(0.1222, abs=2e-3)


@pytest.mark.long
def test_sign_flips_of_many_cases_are_seeded_and_near_the_normal_test() -> None:
    apart = [(-1) ** number * 0.1 + 0.01 for number in range(1500)]
    p = sign_flips(apart, 3)
    assert p == sign_flips(list(reversed(apart)), 3)
    assert p < 0.01
    assert sign_flips([0.0] * 8) == 1.0


@pytest.mark.parametrize("names", [[], ["a"], ["a", "a"]])
def test_fewer_than_two_runs_are_an_error(names: list[str]) -> None:
    with pytest.raises(UsageError, match="two or more"):
        compare_runs([run(name, {"a": (1.0,)}) for name in names])


CASES = {"a": (1.0,), "b": (0.0,)}


def test_another_doctor_is_the_point_and_no_warning() -> None:
    other = {"doctor": {"spec": "silent"}, "examiner": {"spec": "record", "options": {}}}
    assert fields(run("a", CASES), run("b", CASES, seats=other, begun="later", seed=3)) == []


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ({"scenario": {"name": "oracle", "goal": "diagnosis", "settings": {"max_turns": 5}}}, "scenario.name"),
        (
            {"scenario": {"name": "workup", "goal": "diagnosis", "settings": {"max_turns": 9}}},
            "scenario.settings.max_turns",
        ),
        ({"seats": {"examiner": {"spec": "openai/gpt-4o", "options": {}}}}, "examiner.spec"),
        (
            {"seats": {"examiner": {"spec": "record", "options": {"policy": "normal-default"}}}},
            "examiner.options.policy",
        ),
        ({"limits": {"tokens": 100}}, "limits.tokens"),
        ({"prompts": {"doctor/system": "aa", "workup/start": "cc"}}, "prompts"),
        ({"cases": {"index": "i2"}}, "cases"),
        ({"tables": {"examiner": "t"}}, "tables.examiner"),
        ({"wardround": "2"}, "wardround"),
    ],
)
def test_each_other_difference_is_named(header: dict[str, Any], field: str) -> None:
    assert fields(run("a", CASES), run("b", CASES, **header)) == [field]


def test_a_patient_in_one_run_only_is_named() -> None:
    seats = HEADER["seats"] | {"patient": {"spec": "record"}}
    assert fields(run("a", CASES), run("b", CASES, seats=seats)) == ["patient"]


def test_another_judge_and_open_episodes_are_named() -> None:
    judged = RunScores(name="b", header=HEADER, episodes=run("b", CASES).episodes, scoring={"judge": "openai/gpt-4o"})
    left = EpisodeScores(episode="b@0", case="b", cause=None)
    unfinished = RunScores(name="a", header=HEADER, episodes=[*run("a", {"a": (1.0,)}).episodes, left])
    assert fields(unfinished, judged) == ["judge", "open"]


def test_a_judge_in_one_run_only_shows_in_its_scores() -> None:
    rows = run("b", CASES).episodes
    judged = [msgspec.structs.replace(row, scores=[*row.scores, Score("lexical_match", 1.0)]) for row in rows]
    assert fields(run("a", CASES), RunScores(name="b", header=HEADER, episodes=judged)) == ["judge"]


def test_a_warning_is_a_line() -> None:
    [warning] = compare_runs([run("a", CASES), run("b", CASES, wardround="2")]).warnings
    assert str(warning) == "a, b: wardround 1 and 2 played them"


def test_other_cases_are_counted() -> None:
    found: Comparison = compare_runs([run("a", CASES), run("b", {"b": (1.0,), "c": (1.0,), "d": (1.0,)})])
    [warning] = found.warnings
    assert warning.field == "cases"
    assert "1 in both, 1 only in a, 2 only in b" in warning.text


def test_a_comparison_is_json() -> None:
    found = json_object(compare_runs([run("a", CASES), run("b", CASES, limits={})]))
    assert found["differences"][0]["score"] == "diagnosis_accuracy"


def test_a_difference_that_many_pairs_have_is_said_once() -> None:
    other = {"seats": {"doctor": {"spec": "gold"}, "examiner": {"spec": "openai/gpt-4o", "options": {}}}}
    runs = [run("a", {"c": (1.0,)}), run("b", {"c": (1.0,)}, **other), run("d", {"c": (1.0,)}, **other)]
    lines = by_difference(compare_runs(runs).warnings)
    assert lines == ["a and each of b, d: examiner.spec differs: record and openai/gpt-4o"]
