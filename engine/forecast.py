"""What the rest of a run will probably need, from the episodes that were played first."""

from collections.abc import Sequence
from math import inf, sqrt

import msgspec

LEVEL = 0.95


class Forecast(msgspec.Struct, frozen=True):
    """A sum over the episodes that are left: expected, and the ends of a 95 % prediction interval."""

    mean: float
    low: float
    high: float


def forecast(pilot: Sequence[float], left: int) -> Forecast:
    """The sum that `left` more episodes will need, if those of the pilot were drawn from the same run at random.

    Student's t on the pilot's mean, with the spread of the remaining episodes themselves added: the variance of the
    prediction is s² (left² / n + left). One episode says nothing about the spread: the interval is then [0, inf).
    Nothing is ever expected below 0.
    """
    n = len(pilot)
    if n == 0:
        raise ValueError("a forecast needs at least one episode")
    mean = sum(pilot) / n
    if left <= 0:
        return Forecast(0.0, 0.0, 0.0)
    if n == 1:
        return Forecast(mean * left, 0.0, inf)
    from scipy.special import stdtrit  # type: ignore[import-untyped]  # noqa: PLC0415  # only a pilot needs SciPy

    spread = sqrt(sum((value - mean) ** 2 for value in pilot) / (n - 1))
    reach = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * spread * sqrt(left**2 / n + left)
    return Forecast(mean * left, max(0.0, mean * left - reach), mean * left + reach)
