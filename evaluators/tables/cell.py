"""One figure over some episodes of one run: its mean with interval and denominators, or why there is none."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import fsum

import msgspec

from wardround.engine.records import Score
from wardround.evaluators.intervals import SHARE, Interval, Method, interval, published
from wardround.evaluators.judged_measures import untaken
from wardround.evaluators.reasoning.judged import Rules
from wardround.evaluators.rows import EpisodeScores

Taken = Sequence[tuple[EpisodeScores, Mapping[str, Score]]]
"""Closed episodes, each with its scores by name."""


class Cell(msgspec.Struct, frozen=True):
    """The mean of a score over the `scored` of `n` closed episodes, as a share; `reasons` counts the others.

    `ci95` is that of intervals.py; under published rules Student t over cases, as the paper has it (`ci95_method`).
    None for companions of a figure, and where `ci95_reason` says why.
    """

    score: str
    mean: float | None
    ci95: tuple[float, float] | None
    ci95_method: Method
    scored: int
    n: int
    reasons: Mapping[str, int]
    ci95_reason: str = ""

    @property
    def beyond(self) -> bool:
        """Whether the interval leaves what a share can be: Student t is not cut, as in the paper."""
        return self.ci95 is not None and not 0 <= self.ci95[0] <= self.ci95[1] <= 1

    @property
    def reason(self) -> str:
        """The commonest reason for a missing value; "" if none is missing."""
        return max(self.reasons, key=lambda reason: (self.reasons[reason], reason), default="")


class Figure(msgspec.Struct, frozen=True):
    """What stands in one place of a table.

    `parts` are the cells of the formal and of the thinking part, or one cell where a figure has no parts. `beside` is
    what belongs next to it: for factuality the unverifiable share and both bounds, part by part. Without parts
    `reason` says why: `no_run` of the setting, `no_rare_case`.
    """

    parts: tuple[Cell, ...] = ()
    beside: tuple[tuple[Cell, ...], ...] = ()
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether anything was scored."""
        return any(cell.scored for cell in self.parts)


def cell(score: str, taken: Taken, rules: Rules = "default", seed: int = 0, *, bare: bool = False) -> Cell:
    """The mean of `score` over episodes, with the interval that the rules have; `bare` without one."""
    by_case: dict[str, list[float]] = defaultdict(list)
    reasons: Counter[str] = Counter()
    for row, scores in taken:
        found = scores.get(score)
        if found is not None and found.value is not None:
            by_case[row.case].append(found.value)
        else:
            reasons[found.reason or "no_reason" if found else untaken(score, scores)] += 1
    values = sorted(value for held in by_case.values() for value in held)
    ci = Interval(None, "")
    if not bare:
        ci = published(by_case) if rules == "published" else interval(by_case, SHARE, seed)
    return Cell(
        score=score,
        mean=fsum(values) / len(values) if values else None,
        ci95=ci.ends,
        ci95_method=ci.method,
        scored=len(values),
        n=len(taken),
        reasons=dict(sorted(reasons.items())),
        ci95_reason=ci.reason,
    )
