"""How sure a mean is: Student t over cases, and a bootstrap that keeps the repeats of a case together."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np
from scipy.special import stdtr, stdtrit  # type: ignore[import-untyped]  # SciPy ships no types

Method = Literal["student_t", "bootstrap", "wilson", ""]
NORMAL = 1.959963984540054
"""The 97.5% point of the normal distribution."""
DAGGER = "\u2020"
"""Marks an interval that leaves what a share can be."""
DRAWS = 10_000
_CELLS = 2_000_000  # of the table of resampled cases held at once: 16 MB


class Interval(msgspec.Struct, frozen=True):
    """A 95% interval and how it was had; `ends` is None where it is not defined."""

    ends: tuple[float, float] | None
    method: Method


def interval(by_case: Mapping[str, Sequence[float]], seed: int = 0) -> Interval:
    """The 95% interval of the mean over all values.

    Student t with the sample's standard deviation if each case has one value; else a bootstrap of cases. None below
    two cases. The order of cases and of their values changes nothing.
    """
    clusters = [sorted(values) for _, values in sorted(by_case.items()) if len(values)]
    if len(clusters) < 2:
        return Interval(None, "")
    if all(len(values) == 1 for values in clusters):
        return Interval(student_t([values[0] for values in clusters]), "student_t")
    return Interval(clustered(clusters, seed), "bootstrap")


def student_t(values: Sequence[float]) -> tuple[float, float] | None:
    """Mean +- t(0.975, n - 1) s / sqrt(n), s with n - 1; not cut at 0 or 1 (as paper 002's tables). None if n < 2."""
    n = len(values)
    if n < 2:
        return None
    mean = math.fsum(values) / n
    half = float(stdtrit(n - 1, 0.975)) * deviation(values) / math.sqrt(n)
    return mean - half, mean + half


def normal(values: Sequence[float]) -> tuple[float, float] | None:
    """Mean +- 1.96 s / sqrt(n), s with n - 1: what some printed intervals of paper 002 are. None if n < 2."""
    if (error := standard_error(values)) is None:
        return None
    mean = math.fsum(values) / len(values)
    return mean - NORMAL * error, mean + NORMAL * error


def within(by_case: Mapping[str, Sequence[float]], seed: int = 0) -> Interval:
    """An interval of the mean of shares that stays within 0 and 1: Wilson's for a 0 or 1 a case, else the bootstrap."""
    clusters = [sorted(values) for _, values in sorted(by_case.items()) if len(values)]
    if clusters and all(len(values) == 1 and values[0] in (0.0, 1.0) for values in clusters):
        return Interval(wilson(sum(values[0] == 1.0 for values in clusters), len(clusters)), "wilson")
    return Interval(clustered(clusters, seed), "bootstrap")


def wilson(successes: int, n: int) -> tuple[float, float] | None:
    """The 95% interval of a share (Wilson 1927): within 0 and 1, of some width also at 0 and at 1. None if n is 0."""
    if not n:
        return None
    share, square = successes / n, NORMAL**2
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = NORMAL * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    # at the ends the formula is 0 or 1 but for rounding
    return 0.0 if not successes else centre - half, 1.0 if successes == n else centre + half


def clustered(clusters: Sequence[Sequence[float]], seed: int = 0) -> tuple[float, float] | None:
    """The middle 95% of the means of cases drawn with replacement, each with all of its values. None below two.

    10,000 draws; above 500 cases fewer, at least 1,000.
    """
    n = len(clusters)
    if n < 2:
        return None
    draw = np.random.default_rng(seed)
    sums = np.array([math.fsum(values) for values in clusters])
    sizes = np.array([len(values) for values in clusters], dtype=float)
    draws = max(1000, min(DRAWS, 5_000_000 // n))
    step = max(1, _CELLS // n)
    means: list[float] = []
    for start in range(0, draws, step):
        chosen = draw.integers(0, n, size=(min(step, draws - start), n))
        means.extend((sums[chosen].sum(axis=1) / sizes[chosen].sum(axis=1)).tolist())
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


def deviation(values: Sequence[float]) -> float:
    """The sample's standard deviation, with n - 1; exactly 0 for values that are all the same."""
    if min(values) == max(values):
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def standard_error(values: Sequence[float]) -> float | None:
    """Of the mean over repeats: s / sqrt(n) with n - 1. None below two."""
    return deviation(values) / math.sqrt(len(values)) if len(values) > 1 else None


def paired_t(differences: Sequence[float]) -> float | None:
    """Two-sided p of Student's paired test; None below two differences, or if all are the same."""
    n = len(differences)
    if n < 2 or not (spread := deviation(differences)):
        return None
    t = math.fsum(differences) / n / (spread / math.sqrt(n))
    return float(2 * stdtr(n - 1, -abs(t)))


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p that one of two runs is right more often on the cases where they differ; 1 if they never do."""
    n, less = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(n, k) for k in range(less + 1)) / 2**n if n else 1.0
    return min(1.0, 2 * tail)
