"""Computes confidence intervals of means, within their scale, over cases that keep their repeats together.

NumPy and SciPy are imported inside the functions that need them, since playing a run needs neither.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Method = Literal["wilson", "bootstrap", "student_t", "bonett_price", ""]
Scale = tuple[float, float]
"""The least and the greatest possible value of a mean."""

SHARE: Scale = (0.0, 1.0)
AMOUNT: Scale = (0.0, math.inf)
"""The scale of counts, tokens, points, money and seconds."""
ANY: Scale = (-math.inf, math.inf)

FEWEST = 5
"""Number of cases below which there is no interval."""
FEW = 20
"""Number of cases below which a share's interval has the continuity correction, since few cases make coarse steps."""
TOO_FEW = f"fewer than {FEWEST} cases"
NORMAL = 1.959963984540054
"""The 97.5% point of the normal distribution."""
DAGGER = "\u2020"
"""Marks an interval that exceeds the possible values of a share."""
DRAWS = 10_000
"""Number of bootstrap draws."""
UNITS = 500
"""Number of cases above which the bootstrap draws blocks of cases."""


class Interval(msgspec.Struct, frozen=True):
    """A 95% interval and its method; `ends` is None if there is none, and `reason` says why in words.

    `effective` is the effective sample size of a share of 0 and 1: episodes / design effect.
    """

    ends: tuple[float, float] | None
    method: Method
    reason: str = ""
    effective: float | None = None


Clusters = Sequence[Sequence[float]]


def by_case(values: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    """Gather the values of each case, its repeats in order, from pairs (case, value)."""
    cases: dict[str, list[float]] = {}
    for case, value in values:
        cases.setdefault(case, []).append(value)
    return cases


def interval(cases: Mapping[str, Sequence[float]], scale: Scale = SHARE, seed: int = 0) -> Interval:
    """Compute the 95% interval of the mean of all values, within `scale`; `cases` has each case's repeats.

    If every value is 0 or 1: Wilson's interval on episodes / design effect. Otherwise: a seeded bootstrap of cases.
    There is none below `FEWEST` cases, and none for values that are all equal but neither 0 nor 1: a bootstrap of
    equal values has no width, which would look like certainty. The order of cases and of their values has no effect.
    """
    clusters = [sorted(values) for _, values in sorted(cases.items()) if len(values)]
    if not clusters:
        return Interval(None, "", "nothing was scored")
    if len(clusters) < FEWEST:
        return Interval(None, "", TOO_FEW)
    if scale == SHARE and all(value in (0.0, 1.0) for values in clusters for value in values):
        return _of_share(clusters)
    means = [math.fsum(values) / len(values) for values in clusters]
    if max(means) - min(means) <= 1e-12 * max(1.0, abs(means[0])):
        return Interval(None, "", f"all {len(clusters)} cases have the same mean, which shows no spread")
    low, high = bootstrap_interval(clusters, seed)
    return Interval((max(scale[0], low), min(scale[1], high)), "bootstrap")


def _of_share(clusters: Clusters) -> Interval:
    effective = effective_size(clusters)
    share = math.fsum(map(math.fsum, clusters)) / sum(map(len, clusters))
    ends = wilson(share * effective, effective, corrected=len(clusters) < FEW)
    return Interval(ends, "wilson", "", effective)


def effective_size(clusters: Clusters) -> float:
    """Return the effective number of independent episodes for values of 0 and 1: episodes / design effect (Kish 1965).

    The design effect is the variance of the mean by cases, divided by that by episodes. Since it is estimated, it is
    multiplied by the square of t(cases - 1) / t(episodes - 1), Student's t at 97.5% (Korn and Graubard 1998). It is at
    least 1, and at most what it would be if all repeats of a case were equal. That upper value is used if fewer than
    two cases have a right episode, or fewer than two a wrong one: they cannot show how far repeats of a case agree.
    """
    sizes, rights = [len(values) for values in clusters], [math.fsum(values) for values in clusters]
    cases, episodes = len(sizes), sum(sizes)
    most = sum(size * size for size in sizes) / episodes
    telling = min(sum(r > 0 for r in rights), sum(r < size for r, size in zip(rights, sizes, strict=True)))
    if most == 1 or telling < 2:
        return episodes / most
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # noqa: PLC0415  # SciPy ships no types

    share = math.fsum(rights) / episodes
    apart = math.fsum((right - share * size) ** 2 for right, size in zip(rights, sizes, strict=True))
    effect = cases / (cases - 1) * apart / episodes / (share * (1 - share))
    unsure = float(stdtrit(cases - 1, 0.975) / stdtrit(episodes - 1, 0.975)) ** 2
    return episodes / min(most, max(1.0, effect * unsure))


def wilson(successes: float, n: float, *, corrected: bool = False) -> tuple[float, float] | None:
    """Return Wilson's 95% interval of a share (1927), within 0 and 1, with some width even at 0 and 1. None if n is 0.

    It equals `scipy.stats.binomtest(...).proportion_ci`, which only takes whole numbers; an effective size is not
    whole. `corrected` applies the continuity correction (Newcombe 1998, method 4).
    """
    if not n:
        return None
    share, square = successes / n, NORMAL**2
    if corrected:
        spread, shift = 4 * n * share * (1 - share), 4 * share - 2
        low = 2 * n * share + square - 1 - NORMAL * math.sqrt(max(0.0, square - 1 / n + spread + shift))
        high = 2 * n * share + square + 1 + NORMAL * math.sqrt(max(0.0, square - 1 / n + spread - shift))
        ends = low / (2 * (n + square)), high / (2 * (n + square))
    else:
        centre = (share + square / (2 * n)) / (1 + square / n)
        half = NORMAL * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
        ends = centre - half, centre + half
    # at the ends the formula gives 0 or 1 except for rounding
    return 0.0 if share <= 0 else max(0.0, ends[0]), 1.0 if share >= 1 else min(1.0, ends[1])


def bootstrap_interval(clusters: Clusters, seed: int = 0) -> tuple[float, float]:
    """Return a bootstrap interval of the mean: draw cases with replacement, each with all of its values.

    Needs at least two cases. 10,000 draws; the percentiles are those of Hesterberg (2015), wider than the middle 95% if
    cases are few. Above `UNITS` cases, a seeded shuffle deals them into that many blocks, and blocks are drawn.
    """
    import numpy as np  # noqa: PLC0415

    sums = np.array([math.fsum(values) for values in clusters])
    sizes = np.array([len(values) for values in clusters], dtype=float)
    if (n := len(sums)) > UNITS:
        dealt = np.random.default_rng(seed).permutation(n) % UNITS
        sums, sizes = np.bincount(dealt, sums), np.bincount(dealt, sizes)
    totals = _draw_counts(len(sums), seed) @ np.column_stack([sums, sizes])
    return _percentiles(totals[:, 0] / totals[:, 1], n)


@lru_cache(maxsize=4)
def _draw_counts(n: int, seed: int) -> "NDArray[np.float64]":
    """Return how often each of `n` is drawn, for each draw: one table for all the scores of a run."""
    import numpy as np  # noqa: PLC0415

    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=DRAWS).astype(float)


def resampled_ratios(
    sums: Sequence[Sequence[float]], counts: Sequence[Sequence[float]], weights: Sequence[float], seed: int = 0
) -> list[float]:
    """Return bootstrap draws of a weighted sum of ratios: rows are units, and each column is a ratio of sums to counts.

    A draw in which a column has no count is NaN, which `percentiles` leaves out.
    """
    import numpy as np  # noqa: PLC0415

    table, sizes = np.array(sums, dtype=float), np.array(counts, dtype=float)
    if (n := len(table)) > UNITS:
        dealt = np.random.default_rng(seed).permutation(n) % UNITS
        columns = range(table.shape[1])
        table = np.column_stack([np.bincount(dealt, table[:, column]) for column in columns])
        sizes = np.column_stack([np.bincount(dealt, sizes[:, column]) for column in columns])
    draws = _draw_counts(len(table), seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = ((draws @ table) / (draws @ sizes)) @ np.array(weights, dtype=float)
    return [float(value) for value in means]


def percentiles(draws: Sequence[float], units: int) -> tuple[float, float] | None:
    """Return the 95% interval of bootstrap draws over so many units, None without a draw."""
    import numpy as np  # noqa: PLC0415

    values = np.array([value for value in draws if not math.isnan(value)])
    return _percentiles(values, units) if len(values) and units > 1 else None


def _percentiles(values: "NDArray[np.float64]", units: int) -> tuple[float, float]:
    import numpy as np  # noqa: PLC0415
    from scipy.special import ndtr, stdtrit  # noqa: PLC0415

    tail = float(ndtr(-math.sqrt(units / (units - 1)) * stdtrit(units - 1, 0.975)))
    low, high = np.quantile(values, (tail, 1 - tail))
    return float(low), float(high)


def published_interval(cases: Mapping[str, Sequence[float]]) -> Interval:
    """Return the interval of MedR-Bench's tables: Student's t over cases, not cut at 0 and 1. None if cases repeat."""
    values = [value for _, repeats in sorted(cases.items()) for value in repeats]
    if any(len(repeats) > 1 for repeats in cases.values()):
        return Interval(None, "", "cases are repeated; the paper repeats none")
    ends = student_t(values)
    return Interval(ends, "student_t" if ends else "", "" if ends else "fewer than two cases")


def student_t(values: Sequence[float]) -> tuple[float, float] | None:
    """Return mean +- t(0.975, n - 1) s / sqrt(n), s with n - 1, not cut at 0 or 1 (MedR-Bench). None if n < 2."""
    n = len(values)
    if n < 2:
        return None
    from scipy.special import stdtrit  # noqa: PLC0415

    mean = math.fsum(values) / n
    half = float(stdtrit(n - 1, 0.975)) * deviation(values) / math.sqrt(n)
    return mean - half, mean + half


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one value."""
    return math.fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """Return the sample's standard deviation, with n - 1; exactly 0 if all values are equal."""
    if min(values) == max(values):
        return 0.0
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def standard_error(values: Sequence[float]) -> float | None:
    """Return the standard error of the mean over repeats: s / sqrt(n), s with n - 1. None for fewer than two."""
    return deviation(values) / math.sqrt(len(values)) if len(values) > 1 else None


def format_share(value: float | None) -> str:
    """Format a share for a column of text: three decimals, a dash for None."""
    return "    –" if value is None else f"{value:z.3f}"


def format_ends(ends: tuple[float, float] | None, reason: str) -> str:
    """Format an interval in brackets, or say why there is none."""
    return f"({ends[0]:z.3f}, {ends[1]:z.3f})" if ends else f"(no interval: {reason})"
