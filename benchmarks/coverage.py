"""Measures how often 95% intervals cover the true mean, in simulated runs with and without repeated cases."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from benchmarks.figure import Figure, table
from wardround.evaluators.report.intervals import AMOUNT, FEW, SHARE, Scale, interval

DRAWS, FEWER = 2_000, 500
"""Number of simulated runs for each figure of an accuracy, and for each of another mean."""
CASES = (5, 10, 31, 200)
SHARES = (0.05, 0.5, 0.95)
REPEATS = 5
CORRELATIONS = (0.0, 0.1, 0.3, 0.6, 1.0)
"""Correlations between two repeats of a case: none, slight, moderate, strong, and that of a doctor who always says the
same."""
LOW, HIGH = 0.93, 0.97

Numbers = NDArray[np.float64]
OTHERS: dict[str, tuple[Scale, float, Callable[[np.random.Generator, int], Numbers]]] = {
    "even shares": (SHARE, 0.5, lambda dice, size: dice.beta(2, 2, size)),
    "high shares": (SHARE, 8 / 9, lambda dice, size: dice.beta(8, 1, size)),
    "tokens": (AMOUNT, float(np.exp(0.5)), lambda dice, size: dice.lognormal(0, 1, size)),
}
"""The means for which the bootstrap is used: their scale, the true mean, and how the value of a case is drawn."""


def coverage(quick: bool) -> Sequence[Figure]:
    """A figure for each cell. Few cases may be covered too often (see `_figure`), and the bootstrap has no aim."""
    once = [_once(cases, share, 200 if quick else DRAWS) for cases in CASES for share in SHARES]
    repeated = [
        _repeated(cases, share, correlation, 200 if quick else DRAWS)
        for cases in CASES
        for share in SHARES
        for correlation in CORRELATIONS
    ]
    return [*once, *repeated, *(_other(cases, name, 50 if quick else FEWER) for cases in CASES for name in OTHERS)]


def _once(cases: int, share: float, draws: int) -> Figure:
    dice = np.random.default_rng([cases, round(100 * share)])
    ends = [_covering((0,) * (cases - right) + (1,) * right, 1) for right in dice.binomial(cases, share, draws)]
    return _figure(f"{cases} cases, p {share:g}", cases, share, ends, exact(cases, share))


def exact(cases: int, share: float) -> float:
    """The exact coverage without repeats, or with equal repeats, summed over all possible counts of right cases."""
    covered = 0.0
    for right in range(cases + 1):
        low, high = _covering((0,) * (cases - right) + (1,) * right, 1)
        covered += comb(cases, right) * share**right * (1 - share) ** (cases - right) * (low <= share <= high)
    return covered


def _repeated(cases: int, share: float, correlation: float, draws: int) -> Figure:
    dice = np.random.default_rng([cases, round(100 * share), round(100 * correlation)])
    rights = simulated(dice, (draws, cases), share, correlation)
    ends = [_covering(tuple(sorted(run)), REPEATS) for run in rights.tolist()]
    what = f"{cases} cases, p {share:g}, {REPEATS} repeats, correlation {correlation:g}"
    return _figure(what, cases, share, ends, exact(cases, share) if correlation == 1 else None)


def simulated(dice: np.random.Generator, shape: tuple[int, int], share: float, correlation: float) -> NDArray[np.int64]:
    """How many of its repeats are right, for each case of each simulated run; `shape` is (runs, cases).

    Cases differ in difficulty: the share of right repeats of a case has a beta distribution with mean `share`, so that
    two repeats of a case have this `correlation` (beta-binomial).
    """
    if correlation == 0:
        own = np.full(shape, share)
    elif correlation == 1:
        own = (dice.random(shape) < share).astype(float)
    else:
        spread = (1 - correlation) / correlation
        own = dice.beta(share * spread, (1 - share) * spread, shape)
    return dice.binomial(REPEATS, own)


def _other(cases: int, name: str, draws: int) -> Figure:
    scale, truth, drawn = OTHERS[name]
    dice = np.random.default_rng([cases, *name.encode()])
    ends = []
    for _ in range(draws):
        bounds = interval({f"{n:04}": [value] for n, value in enumerate(drawn(dice, cases).tolist())}, scale).ends
        assert bounds is not None
        ends.append(bounds)
    within = sum(low <= truth <= high for low, high in ends) / draws
    outside = sum(low < scale[0] or high > scale[1] for low, high in ends)
    return Figure(f"bootstrap: {cases} cases, {name}", within, note=f"{outside} outside the scale; {draws} runs")


def _figure(
    what: str, cases: int, share: float, ends: Sequence[tuple[float, float]], exactly: float | None = None
) -> Figure:
    """The figure of a cell: the exact coverage if it is known, with the simulated one in its note, else the simulated.

    With fewer than `FEW` cases no interval can be exact, so only too little coverage misses the aim.
    """
    within = sum(low <= share <= high for low, high in ends) / len(ends)
    outside = sum(low < 0 or high > 1 for low, high in ends)
    notes = [f"mean width {np.mean([high - low for low, high in ends]):.3f}", f"{outside} outside the scale"]
    if exactly is not None:
        notes.append(f"exact; {within:.4f} of {len(ends)} simulated runs")
    return Figure(
        f"coverage: {what}",
        within if exactly is None else exactly,
        at_least=LOW,
        at_most=None if cases < FEW else HIGH,
        note="; ".join(notes),
    )


@lru_cache(maxsize=100_000)
def _covering(rights: tuple[int, ...], repeats: int) -> tuple[float, float]:
    """The interval of a run by the counts of right repeats of its cases; it is kept, since the same counts recur."""
    values = {f"{place:04}": [1.0] * right + [0.0] * (repeats - right) for place, right in enumerate(rights)}
    bounds = interval(values).ends
    assert bounds is not None
    return bounds


if __name__ == "__main__":
    print(table(coverage(quick=False)))
