"""Intervals against printed and worked values, and what must hold for all of them."""

import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.report.intervals import (
    AMOUNT,
    Interval,
    bootstrap_interval,
    deviation,
    effective_size,
    interval,
    published_interval,
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


def test_below_five_cases_there_is_no_interval_and_a_word_why() -> None:
    assert interval({}) == Interval(None, "", "nothing was scored")
    four = {case: [1.0, 0.0] for case in "abcd"}
    assert interval(four | {"e": []}) == Interval(None, "", "fewer than 5 cases")
    assert interval(four | {"e": [1.0]}).ends is not None
    assert student_t([0.5]) is None
    assert standard_error([0.5]) is None
    assert published_interval({"a": [1.0]}).reason == "fewer than two cases"
    assert published_interval({"a": [1.0, 0.0], "b": [1.0]}).reason == "cases are repeated; the paper repeats none"


def test_shares_of_right_and_wrong_get_wilson_and_others_the_bootstrap() -> None:
    binary = {str(i): [float(i % 3 == 0)] for i in range(30)}
    assert interval(binary) == Interval(wilson(10, 30), "wilson", "", 30)
    assert interval(binary, AMOUNT).method == "bootstrap"
    assert interval(binary | {"0": [0.5]}).method == "bootstrap"


def test_few_cases_have_the_correction_for_continuity() -> None:
    nineteen = {str(i): [float(i < 9)] for i in range(19)}
    assert interval(nineteen).ends == wilson(9, 19, corrected=True)
    assert interval(nineteen | {"x": [1.0]}).ends == wilson(10, 20)


def test_a_doctor_that_always_repeats_itself_makes_nothing_surer() -> None:
    once = {str(i): [float(i % 3 == 0)] for i in range(40)}
    often = {case: values * 7 for case, values in once.items()}
    assert interval(often).ends == pytest.approx(interval(once).ends)
    assert interval(often).effective == pytest.approx(40)
    amounts = {str(i): [float(i % 3)] for i in range(40)}
    repeated = {case: values * 7 for case, values in amounts.items()}
    assert interval(repeated, AMOUNT).ends == pytest.approx(interval(amounts, AMOUNT).ends)


def test_repeats_that_know_nothing_of_each_other_count_nearly_in_full() -> None:
    dice = random.Random(4)
    values = {str(i): [float(dice.random() < 0.4) for _ in range(5)] for i in range(300)}
    effective = interval(values).effective
    assert effective is not None
    assert 1200 < effective <= 1500


def test_where_all_are_right_the_repeats_count_as_one() -> None:
    found = interval({str(i): [1.0] * 5 for i in range(31)})
    assert found == Interval(wilson(31, 31), "wilson", "", 31)


def test_the_bootstrap_is_seeded_and_blind_to_order() -> None:
    cases = {"a": [1.0, 0.2], "b": [0.0, 0.0], "c": [1.0, 1.0], "d": [0.5], "e": [0.1]}
    one = interval(cases, seed=4)
    other = interval({case: cases[case][::-1] for case in reversed(cases)}, seed=4)
    assert one == other


def test_the_bootstrap_covers_about_what_it_says() -> None:
    """20 cases of 3 equal repeats: the spread of means is sd / sqrt(20), and a little is added for few cases."""
    low, high = bootstrap_interval([[float(i < 10)] * 3 for i in range(20)])
    half = student_t([float(i < 10) for i in range(20)])
    assert half is not None
    assert (low, high) == pytest.approx(half, abs=0.04)


def test_many_cases_are_dealt_into_blocks_and_the_interval_stays() -> None:
    dice = random.Random(1)
    values = [dice.random() for _ in range(5000)]
    low, high = bootstrap_interval([[value] for value in values])
    plain = student_t(values)
    assert plain is not None
    assert (low, high) == pytest.approx(plain, abs=0.2 * (plain[1] - plain[0]))


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


def test_wilson_is_that_of_scipy_for_whole_numbers() -> None:
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # SciPy ships no types

    for right, n in ((0, 6), (1, 6), (3, 7), (19, 20), (20, 20)):
        for corrected, method in ((False, "wilson"), (True, "wilsoncc")):
            theirs = binomtest(right, n).proportion_ci(method=method)
            assert wilson(right, n, corrected=corrected) == pytest.approx((theirs.low, theirs.high))


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


CASES = st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=5, max_size=25)


@pytest.mark.long
@given(CASES, st.integers(0, 9), st.randoms(use_true_random=False))
def test_an_interval_is_the_same_in_any_order(held: list[list[float]], seed: int, dice: random.Random) -> None:
    named = {f"c{place}": values for place, values in enumerate(held)}
    other = list(named.items())
    dice.shuffle(other)
    shuffled = {case: dice.sample(values, len(values)) for case, values in other}
    assert interval(named, seed=seed) == interval(shuffled, seed=seed)


@given(CASES)
def test_an_interval_lies_within_the_scale_and_about_the_mean(held: list[list[float]]) -> None:
    found = interval({str(place): values for place, values in enumerate(held)})
    values = [value for one in held for value in one]
    assert (found.ends is None) == bool(found.reason)
    if found.ends is not None:
        assert 0 <= found.ends[0] <= found.ends[1] <= 1
        assert found.ends[0] - 1e-9 <= math.fsum(values) / len(values) <= found.ends[1] + 1e-9


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=5), min_size=5, max_size=60))
def test_the_effective_size_lies_between_cases_and_episodes(held: list[list[float]]) -> None:
    episodes = sum(map(len, held))
    least = episodes / (sum(len(one) ** 2 for one in held) / episodes)
    assert least - 1e-9 <= effective_size(held) <= episodes + 1e-9
    found = interval({str(place): values for place, values in enumerate(held)})
    assert found.ends is not None
    assert 0 <= found.ends[0] < found.ends[1] <= 1
