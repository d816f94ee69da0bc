"""How well two markers agree on right and wrong beyond chance, and what a marker misses or grants, with intervals."""

import math
from collections.abc import Iterable

import msgspec

from wardround.evaluators.intervals import FEWEST, NORMAL, wilson

Ends = tuple[float, float]


class Agreement(msgspec.Struct, frozen=True):
    """One marker held against a reference marker, over the `n` answers that both marked.

    `kappa` (Cohen) is None if chance alone would make them agree always (one verdict throughout); `ac1` (Gwet) holds
    there too, and where one verdict is rare. `sensitivity`: share of the reference's right answers found right;
    `specificity`: of its wrong ones found wrong; None where there are none.

    The 95% intervals take the answers for independent: by the large-sample variance for kappa (Fleiss, Cohen and
    Everitt 1969) and AC1 (Gwet 2008), cut at -1 and 1; None below five answers, and where they show no spread (all
    alike), since an interval of no width would be read as certainty. Wilson for the shares.
    """

    n: int
    agreed: int
    kappa: float | None
    sensitivity: float | None
    specificity: float | None
    ac1: float | None = None
    kappa_ci95: Ends | None = None
    ac1_ci95: Ends | None = None
    sensitivity_ci95: Ends | None = None
    specificity_ci95: Ends | None = None


def agreement(pairs: Iterable[tuple[bool, bool]]) -> Agreement:
    """From pairs (marker's verdict, reference's verdict)."""
    table = [[0, 0], [0, 0]]
    for ours, theirs in pairs:
        table[ours][theirs] += 1
    (wrong_wrong, wrong_right), (right_wrong, right_right) = table
    n = wrong_wrong + wrong_right + right_wrong + right_right
    agreed = wrong_wrong + right_right
    by_chance = (right_wrong + right_right) * (wrong_right + right_right)
    by_chance += (wrong_wrong + wrong_right) * (wrong_wrong + right_wrong)
    kappa = (n * agreed - by_chance) / (n * n - by_chance) if n * n > by_chance else None
    ac1 = _ac1(table) if n else None
    return Agreement(
        n=n,
        agreed=agreed,
        kappa=kappa,
        sensitivity=right_right / (right_right + wrong_right) if right_right + wrong_right else None,
        specificity=wrong_wrong / (wrong_wrong + right_wrong) if wrong_wrong + right_wrong else None,
        ac1=ac1,
        kappa_ci95=None if kappa is None or n < FEWEST else _around(kappa, _kappa_variance(table, kappa)),
        ac1_ci95=None if ac1 is None or n < FEWEST else _around(ac1, _ac1_variance(table, ac1)),
        sensitivity_ci95=wilson(right_right, right_right + wrong_right),
        specificity_ci95=wilson(wrong_wrong, wrong_wrong + right_wrong),
    )


_Table = list[list[int]]


def _shares(table: _Table) -> tuple[list[list[float]], list[float], list[float]]:
    """The table as shares of all answers, with the markers' own shares of each verdict."""
    n = sum(map(sum, table))
    cells = [[count / n for count in row] for row in table]
    return cells, [sum(row) for row in cells], [sum(column) for column in zip(*cells, strict=True)]


def _ac1(table: _Table) -> float:
    """Gwet's AC1: chance agreement 2 q (1 - q), q the mean of both markers' shares of right; never above a half."""
    cells, ours, theirs = _shares(table)
    right = (ours[1] + theirs[1]) / 2
    by_chance = 2 * right * (1 - right)
    return (cells[0][0] + cells[1][1] - by_chance) / (1 - by_chance)


def _kappa_variance(table: _Table, kappa: float) -> float:
    n = sum(map(sum, table))
    cells, ours, theirs = _shares(table)
    by_chance = sum(a * b for a, b in zip(ours, theirs, strict=True))
    same = sum(cells[k][k] * (1 - (ours[k] + theirs[k]) * (1 - kappa)) ** 2 for k in (0, 1))
    apart = sum(cells[a][b] * (theirs[a] + ours[b]) ** 2 for a, b in ((0, 1), (1, 0)))
    spread = same + (1 - kappa) ** 2 * apart - (kappa - by_chance * (1 - kappa)) ** 2
    return spread / (n * (1 - by_chance) ** 2)


def _ac1_variance(table: _Table, ac1: float) -> float:
    n = sum(map(sum, table))
    cells, ours, theirs = _shares(table)
    mean = [(a + b) / 2 for a, b in zip(ours, theirs, strict=True)]
    by_chance = sum(share * (1 - share) for share in mean)
    observed = cells[0][0] + cells[1][1]
    same = sum(cells[k][k] * (1 - mean[k]) for k in (0, 1)) - observed * by_chance
    pairs = ((0, 0), (0, 1), (1, 0), (1, 1))
    every = sum(cells[a][b] * (1 - (mean[a] + mean[b]) / 2) ** 2 for a, b in pairs) - by_chance**2
    spread = observed * (1 - observed) - 4 * (1 - ac1) * same + 4 * (1 - ac1) ** 2 * every
    return spread / (n * (1 - by_chance) ** 2)


def _around(value: float, variance: float) -> Ends | None:
    if variance < 1e-12:
        return None
    half = NORMAL * math.sqrt(variance)
    return max(-1.0, value - half), min(1.0, value + half)
