"""The intervals of an accuracy cover what they say, with and without repeats, and never leave the scale."""

import math

import numpy as np
import pytest

from benchmarks.coverage import CASES, DRAWS, HIGH, LOW, SHARES, coverage, exact, simulated

CANNOT = {(31, 0.5)}
"""Of 31 cases at one half no interval that treats right and wrong alike is within: 92.9 % or 97.1 %, by one count."""


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("share", SHARES)
def test_without_repeats_the_exact_coverage_is_within_the_aim(cases: int, share: float) -> None:
    found = exact(cases, share)
    if (cases, share) in CANNOT:
        assert found == pytest.approx(0.9292, abs=1e-4)
    else:
        assert found >= LOW
        assert cases < 20 or found <= HIGH


@pytest.mark.long
def test_with_repeats_that_correlate_the_simulated_coverage_is_within_the_aim() -> None:
    figures = [figure for figure in coverage(quick=False) if "correlation" in figure.name]
    noise = 2 * math.sqrt(LOW * (1 - LOW) / DRAWS)
    assert len(figures) == 60
    for figure in figures:
        assert figure.value is not None
        assert "; 0 outside the scale" in figure.note
        assert figure.value >= LOW - noise, figure
        assert figure.at_most is None or figure.value <= figure.at_most + noise, figure


def test_simulated_repeats_correlate_as_they_should() -> None:
    for correlation in (0.0, 0.3, 1.0):
        rights = simulated(np.random.default_rng(1), (1, 200_000), 0.4, correlation) / 5
        single = 0.4 * 0.6
        assert rights.mean() == pytest.approx(0.4, abs=0.01)
        assert rights.var() == pytest.approx(single * (1 + 4 * correlation) / 5, rel=0.03)
