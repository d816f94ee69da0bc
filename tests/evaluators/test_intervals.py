"""Intervals against printed and worked values, and what must hold for all of them."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.intervals import (
    clustered,
    deviation,
    interval,
    mcnemar,
    normal,
    paired_t,
    standard_error,
    student_t,
    wilson,
)

VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=12)


def test_student_t_by_a_worked_example() -> None:
    # 1..5: mean 3, s = 1.5811, t(0.975, 4) = 2.7764, half = 1.9633
    assert student_t([1, 2, 3, 4, 5]) == pytest.approx((1.0367568, 4.9632432), abs=1e-6)


def test_student_t_is_not_cut_at_the_ends_of_the_scale() -> None:
    ends = student_t([1.0, 1.0, 1.0, 0.0])
    assert ends is not None
    assert ends[1] > 1


@pytest.mark.shared
def test_student_t_prints_the_intervals_of_paper_002(shared: Path) -> None:
    rows = json.loads((shared / "vectors" / "medr_paper_ci.json").read_text(encoding="utf-8"))
    checked = 0
    for row in rows:
        for k, n in row["expected"]["consistent_k_n_under_student_t"]:
            ends = student_t([1.0] * k + [0.0] * (n - k))
            assert ends is not None
            printed = (row["expected"]["mean"], row["expected"]["lo"], row["expected"]["hi"])
            assert [round(100 * value, 2) for value in (k / n, *ends)] == pytest.approx(printed, abs=1e-9)
            checked += 1
    assert checked >= 3


def test_nothing_can_be_said_below_two_cases() -> None:
    assert student_t([0.5]) is None
    assert clustered([[0.5, 0.7]]) is None
    assert interval({}).ends is None
    assert interval({"a": [1.0, 0.0], "b": []}).ends is None
    assert standard_error([0.5]) is None


def test_cases_with_one_value_get_student_t_and_repeated_cases_the_bootstrap() -> None:
    assert interval({"a": [1.0], "b": [0.0]}).method == "student_t"
    assert interval({"a": [1.0, 1.0], "b": [0.0, 0.0]}).method == "bootstrap"


def test_the_bootstrap_draws_cases_not_episodes() -> None:
    """Repeating each case a hundred times makes nothing surer: the interval stays that of the cases."""
    once = {str(i): [float(i % 2)] for i in range(20)}
    often = {case: values * 100 for case, values in once.items()}
    wide, narrow = interval(often).ends, interval(once).ends
    assert wide is not None
    assert narrow is not None
    assert wide[1] - wide[0] == pytest.approx(narrow[1] - narrow[0], rel=0.2)


def test_the_bootstrap_is_seeded_and_blind_to_order() -> None:
    one = interval({"a": [1.0, 0.0], "b": [0.0, 0.0], "c": [1.0, 1.0]}, seed=4)
    other = interval({"c": [1.0, 1.0], "b": [0.0, 0.0], "a": [0.0, 1.0]}, seed=4)
    assert one == other


def test_the_bootstrap_covers_about_what_it_says() -> None:
    """20 cases of 3 equal repeats: the spread of means is sd / sqrt(20)."""
    ends = clustered([[float(i < 10)] * 3 for i in range(20)])
    assert ends is not None
    half = 1.96 * 0.5 / math.sqrt(20)
    assert ends[0] == pytest.approx(0.5 - half, abs=0.04)
    assert ends[1] == pytest.approx(0.5 + half, abs=0.04)


def test_the_normal_interval_is_the_narrower_one() -> None:
    # 1..5: mean 3, s / sqrt(5) = 0.70711, half = 1.38590
    assert normal([1, 2, 3, 4, 5]) == pytest.approx((1.6141, 4.3859), abs=1e-4)
    assert normal([1.0]) is None


def test_wilson_by_worked_examples() -> None:
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson(10, 10) == pytest.approx((0.7225, 1), abs=1e-4)
    assert wilson(0, 0) is None


@given(st.integers(0, 500), st.integers(0, 500))
def test_wilson_lies_within_0_and_1_and_is_symmetric(right: int, wrong: int) -> None:
    if (ends := wilson(right, right + wrong)) is not None:
        share = right / (right + wrong)
        assert 0 <= ends[0] <= share + 1e-12
        assert share - 1e-12 <= ends[1] <= 1
        assert wilson(wrong, right + wrong) == pytest.approx((1 - ends[1], 1 - ends[0]))


@given(VALUES)
def test_an_interval_holds_its_mean(values: list[float]) -> None:
    ends = student_t(values)
    assert ends is not None
    assert ends[0] - 1e-12 <= math.fsum(values) / len(values) <= ends[1] + 1e-12


@given(st.floats(0, 1), st.integers(2, 9))
def test_equal_values_have_an_interval_of_no_width(value: float, n: int) -> None:
    assert student_t([value] * n) == pytest.approx((value, value))
    assert deviation([value] * n) == 0


def test_standard_error_is_that_of_paper_000() -> None:
    # multicog_metrics: three runs, macro end points with sd 0.0962, SE 0.0556
    assert standard_error([0.0, 1.0, 0.5]) == pytest.approx(0.5 / math.sqrt(3))


def test_paired_t_by_a_worked_example() -> None:
    # differences 1, 2, 3: t = 2 / (1 / sqrt(3)) = 3.4641, two degrees of freedom
    assert paired_t([1, 2, 3]) == pytest.approx(0.0741799, abs=1e-6)
    assert paired_t([1]) is None
    assert paired_t([0.5, 0.5]) is None


def test_mcnemar_is_exact() -> None:
    assert mcnemar(0, 0) == 1
    assert mcnemar(0, 5) == pytest.approx(0.0625)
    assert mcnemar(5, 0) == mcnemar(0, 5)
    assert mcnemar(3, 3) == 1
    assert mcnemar(2000, 2100) == pytest.approx(0.1222, abs=2e-3)
