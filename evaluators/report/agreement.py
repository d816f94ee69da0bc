"""Measures how well two markers or two scorings of the same episodes agree, and shows where they differ."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from wardround.engine.records import Score
from wardround.evaluators.measures import format_value, measure_of
from wardround.evaluators.reasons import phrase
from wardround.evaluators.report.intervals import FEWEST, NORMAL, wilson
from wardround.evaluators.report.rendering import environment, style

Ends = tuple[float, float]


class Agreement(msgspec.Struct, frozen=True):
    """A marker compared with a reference marker, over the `n` answers that both marked.

    `kappa` (Cohen) is None if chance alone would always make them agree (one verdict throughout); `ac1` (Gwet) is
    defined there too, and where one verdict is rare. `sensitivity` is the share of the reference's right answers that
    the marker calls right, `specificity` that of its wrong answers that the marker calls wrong; None if there are
    none.

    The 95% intervals treat the answers as independent. Kappa (Fleiss, Cohen and Everitt 1969) and AC1 (Gwet 2008) use
    the large-sample variance, cut at -1 and 1. They have no interval (None) below five answers, or if the answers show
    no spread: an interval of no width would look like certainty. The shares use Wilson's interval.
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
    """Compute the agreement from pairs (marker's verdict, reference's verdict)."""
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
        kappa_ci95=None if kappa is None or n < FEWEST else _interval_around(kappa, _kappa_variance(table, kappa)),
        ac1_ci95=None if ac1 is None or n < FEWEST else _interval_around(ac1, _ac1_variance(table, ac1)),
        sensitivity_ci95=wilson(right_right, right_right + wrong_right),
        specificity_ci95=wilson(wrong_wrong, wrong_wrong + right_wrong),
    )


_Table = list[list[int]]


def _shares(table: _Table) -> tuple[list[list[float]], list[float], list[float]]:
    """Return the table as shares of all answers, with each marker's own shares of both verdicts."""
    n = sum(map(sum, table))
    cells = [[count / n for count in row] for row in table]
    return cells, [sum(row) for row in cells], [sum(column) for column in zip(*cells, strict=True)]


def _ac1(table: _Table) -> float:
    """Return Gwet's AC1. Chance agreement is 2 q (1 - q), at most a half; q is the mean of both shares of right."""
    cells, ours, theirs = _shares(table)
    right = (ours[1] + theirs[1]) / 2
    by_chance = 2 * right * (1 - right)
    return (cells[0][0] + cells[1][1] - by_chance) / (1 - by_chance)


def _kappa_variance(table: _Table, kappa: float) -> float:
    """Return the large-sample variance of kappa (Fleiss, Cohen and Everitt 1969)."""
    n = sum(map(sum, table))
    cells, ours, theirs = _shares(table)
    by_chance = sum(a * b for a, b in zip(ours, theirs, strict=True))
    same = sum(cells[k][k] * (1 - (ours[k] + theirs[k]) * (1 - kappa)) ** 2 for k in (0, 1))
    apart = sum(cells[a][b] * (theirs[a] + ours[b]) ** 2 for a, b in ((0, 1), (1, 0)))
    spread = same + (1 - kappa) ** 2 * apart - (kappa - by_chance * (1 - kappa)) ** 2
    return spread / (n * (1 - by_chance) ** 2)


def _ac1_variance(table: _Table, ac1: float) -> float:
    """Return the large-sample variance of AC1 (Gwet 2008)."""
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


def _interval_around(value: float, variance: float) -> Ends | None:
    if variance < 1e-12:
        return None
    half = NORMAL * math.sqrt(variance)
    return max(-1.0, value - half), min(1.0, value + half)


Scored = Mapping[str, Mapping[str, Score]]
"""Scores by episode and name."""


class DifferingScore(msgspec.Struct, frozen=True, kw_only=True):
    """An episode in which a score differs between two scorings; a value is None, with its reason, if one has none."""

    episode: str
    score: str
    first: float | None
    second: float | None
    first_reason: str = ""
    second_reason: str = ""


class ScorePair(msgspec.Struct, frozen=True, kw_only=True):
    """One score of two scorings, over the `n` episodes with a value in both; `equal` of them have the same value.

    `first_only` and `second_only` episodes have a value only in that scoring. `kind` is `verdict` if a share or a
    user's own score is always 0 or 1. Then `table` counts the episodes by (first's value, second's value), and `kappa`
    is Cohen's, None if chance alone would always make them agree. Otherwise `difference` is the mean of second -
    first. Without a common episode all statistics are None.
    """

    name: str
    kind: Literal["verdict", "figure"]
    n: int
    equal: int
    first_only: int
    second_only: int
    kappa: float | None = None
    kappa_ci95: tuple[float, float] | None = None
    table: tuple[tuple[int, int], tuple[int, int]] | None = None
    difference: float | None = None


class SideBySide(msgspec.Struct, frozen=True, kw_only=True):
    """Two scorings by name, the comparison of each score, and every episode in which they differ."""

    first: str
    second: str
    scores: Sequence[ScorePair]
    differing: Sequence[DifferingScore]


def side_by_side(first: str, second: str, ours: Scored, theirs: Scored) -> SideBySide:
    """Compare the scores that two scorings have in common.

    `first` and `second` are the names of the scorings, `ours` and `theirs` their scores. Scores and episodes keep the
    order of the first scoring; episodes that only the second has come last.
    """
    known = {name for scores in theirs.values() for name in scores}
    names = dict.fromkeys(name for scores in ours.values() for name in scores if name in known)
    episodes = list(dict.fromkeys([*ours, *theirs]))
    pairings, differing = [], []
    for name in names:
        pairs = [(one, _of(ours, one, name), _of(theirs, one, name)) for one in episodes]
        pairings.append(_pairing(name, [(a.value, b.value) for _, a, b in pairs]))
        differing += [
            DifferingScore(
                episode=one,
                score=name,
                first=a.value,
                second=b.value,
                first_reason=a.reason,
                second_reason=b.reason,
            )
            for one, a, b in pairs
            if not _same(a.value, b.value)
        ]
    return SideBySide(first=first, second=second, scores=pairings, differing=differing)


def _of(side: Scored, episode: str, name: str) -> Score:
    return side.get(episode, {}).get(name, Score(name, None, "not_scored"))


def _same(a: float | None, b: float | None) -> bool:
    return a is b if a is None or b is None else math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def _pairing(name: str, values: Sequence[tuple[float | None, float | None]]) -> ScorePair:
    both = [(a, b) for a, b in values if a is not None and b is not None]
    shares = measure_of(name).unit in ("share", "")  # a count that happens to be 0 or 1 is no verdict
    verdicts = shares and bool(both) and all(value in (0.0, 1.0) for pair in both for value in pair)
    pairing = ScorePair(
        name=name,
        kind="verdict" if verdicts else "figure",
        n=len(both),
        equal=sum(_same(a, b) for a, b in both),
        first_only=sum(a is not None and b is None for a, b in values),
        second_only=sum(a is None and b is not None for a, b in values),
    )
    if not verdicts:
        difference = math.fsum(b - a for a, b in both) / len(both) if both else None
        return msgspec.structs.replace(pairing, difference=difference)
    right = [(a == 1.0, b == 1.0) for a, b in both]
    agreed = agreement(right)
    table = (
        (right.count((False, False)), right.count((False, True))),
        (right.count((True, False)), right.count((True, True))),
    )
    return msgspec.structs.replace(pairing, kappa=agreed.kappa, kappa_ci95=agreed.kappa_ci95, table=table)


def scorings_page(run: str, sides: SideBySide) -> str:
    """Return the HTML page. It loads nothing and runs nothing.

    It shows only an episode's id and values, so it contains no text of a case.
    """
    return (
        environment()
        .get_template("scorings.html.j2")
        .render(
            style=style("report.css"),
            run=run,
            sides=sides,
            verdicts=[one for one in sides.scores if one.kind == "verdict"],
            unequal=[one for one in sides.scores if one.kind == "figure" and differs(one)],
            equal=[one for one in sides.scores if one.kind == "figure" and not differs(one)],
            label=lambda name: measure_of(name).label,
            kappa=kappa,
            value=value,
        )
    )


def differs(one: ScorePair) -> bool:
    """Whether any episode has different values in the two scorings."""
    return one.equal < one.n or bool(one.first_only or one.second_only)


def kappa(one: ScorePair) -> str:
    """Return Cohen's kappa with its interval; a dash if chance alone would always make the scorings agree."""
    if one.kappa is None:
        return "–"
    ends = f" ({one.kappa_ci95[0]:z.2f} to {one.kappa_ci95[1]:z.2f})" if one.kappa_ci95 else ""
    return f"{one.kappa:z.2f}{ends}".replace("-", "−")


def value(name: str, number: float | None, reason: str) -> str:
    """Return a value with its reason in words."""
    why = phrase(reason, name)
    return f"none ({why})" if number is None else format_value(name, number, one=True) + (f" ({why})" if why else "")
