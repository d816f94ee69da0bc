"""Kappa, AC1 and their intervals by worked examples, by redrawing, and by what must hold."""

import random

import pytest
from examples import first_ones
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.report.agreement import Agreement, agreement

EXAMPLE = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40)


def test_a_worked_example() -> None:
    """20 both right, 15 both wrong, 5 and 10 apart: observed 0.7, by chance 0.5, kappa 0.4."""
    found = agreement(EXAMPLE)
    assert (found.n, found.agreed) == (50, 35)
    assert found.kappa == pytest.approx(0.4)
    assert found.sensitivity == pytest.approx(20 / 30)
    assert found.specificity == pytest.approx(15 / 20)


def test_ac1_by_a_worked_example() -> None:
    """Shares of right 0.5 and 0.6, mean 0.55: by chance 0.495, AC1 (0.7 - 0.495) / 0.505."""
    assert agreement(EXAMPLE).ac1 == pytest.approx(0.205 / 0.505)


def test_ac1_stays_where_one_verdict_is_rare() -> None:
    """Gwet's case: 118 of 125 alike, yet kappa is near 0 because almost all is right."""
    found = agreement([(True, True)] * 118 + [(True, False)] * 5 + [(False, True)] * 2)
    assert found.kappa == pytest.approx(-0.0234, abs=1e-4)
    assert found.ac1 == pytest.approx(0.9408, abs=1e-4)
    assert agreement([(True, True)] * 3).ac1 == 1


@pytest.mark.parametrize(
    "pairs",
    first_ones(
        [EXAMPLE * 4, [(True, True)] * 160 + [(True, False)] * 12 + [(False, True)] * 8 + [(False, False)] * 20], 1
    ),
)
def test_intervals_are_those_of_redrawn_answers(pairs: list[tuple[bool, bool]]) -> None:
    draw = random.Random(3)
    redrawn = [agreement(draw.choices(pairs, k=len(pairs))) for _ in range(2000)]
    found = agreement(pairs)
    for ends, values in (
        (found.kappa_ci95, [one.kappa for one in redrawn]),
        (found.ac1_ci95, [one.ac1 for one in redrawn]),
        (found.sensitivity_ci95, [one.sensitivity for one in redrawn]),
        (found.specificity_ci95, [one.specificity for one in redrawn]),
    ):
        known = sorted(value for value in values if value is not None)
        assert len(known) == 2000
        assert ends == pytest.approx((known[50], known[-51]), abs=0.03)


def test_intervals_need_answers() -> None:
    assert agreement([]) == Agreement(0, 0, None, None, None)
    one = agreement([(True, True)])
    assert (one.kappa_ci95, one.ac1_ci95, one.specificity_ci95) == (None, None, None)
    assert one.sensitivity_ci95 == pytest.approx((0.2065, 1), abs=1e-4)


def test_one_verdict_throughout_has_no_kappa() -> None:
    assert agreement([(True, True)] * 3).kappa is None
    assert agreement([]).kappa is None
    assert agreement([(True, True)] * 3).specificity is None


@given(PAIRS)
def test_kappa_lies_in_its_range_and_is_symmetric(pairs: list[tuple[bool, bool]]) -> None:
    found, turned = agreement(pairs), agreement([(b, a) for a, b in pairs])
    assert found.kappa == turned.kappa
    if found.kappa is not None:
        assert -1 <= found.kappa <= 1
        assert (found.kappa == 1) == (found.agreed == found.n)


@given(PAIRS)
def test_figures_lie_within_their_intervals(pairs: list[tuple[bool, bool]]) -> None:
    found, turned = agreement(pairs), agreement([(b, a) for a, b in pairs])
    assert found.ac1 == pytest.approx(turned.ac1)
    assert (found.ac1 is None) == (not pairs)
    for value, ends in (
        (found.kappa, found.kappa_ci95),
        (found.ac1, found.ac1_ci95),
        (found.sensitivity, found.sensitivity_ci95),
        (found.specificity, found.specificity_ci95),
    ):
        if value is not None and ends is not None:
            assert -1 <= ends[0] <= value + 1e-12
            assert value - 1e-12 <= ends[1] <= 1


def test_answers_that_are_all_alike_get_no_interval_of_no_width() -> None:
    alike = agreement([(True, True), (False, False)] * 10)
    assert (alike.kappa, alike.kappa_ci95, alike.ac1_ci95) == (1.0, None, None)
    assert alike.sensitivity_ci95 is not None
    assert agreement(EXAMPLE[::12]).kappa_ci95 is not None
    assert agreement([(True, True), (False, True), (False, False), (True, False)]).kappa_ci95 is None
