"""Two scorings of the same episodes side by side: how far they agree, and where they do not."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from wardround.engine.records import Score
from wardround.evaluators.agreement import agreement
from wardround.evaluators.measures import measure_of

Scored = Mapping[str, Mapping[str, Score]]
"""Scores by episode and name."""


class Differing(msgspec.Struct, frozen=True, kw_only=True):
    """An episode in which two scorings give a score another value; None where one has none, with its reason."""

    episode: str
    score: str
    first: float | None
    second: float | None
    first_reason: str = ""
    second_reason: str = ""


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """One score of two scorings, over the `n` episodes that have a value in both, of which `equal` have the same.

    `first_only` and `second_only` episodes have a value in that scoring alone. `kind` is `verdict` where a share or a
    score of the user's own is 0 or 1 throughout: then `table` counts the episodes by (first's value, second's value),
    and `kappa` is Cohen's, None where chance alone would make them agree always. Else `difference` is the mean of
    second - first. Without a common episode all figures are None.
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
    """Two scorings by their names, what each score comes to, and every episode in which they differ."""

    first: str
    second: str
    scores: Sequence[Pairing]
    differing: Sequence[Differing]


def side_by_side(first: str, second: str, ours: Scored, theirs: Scored) -> SideBySide:
    """Hold the scores that two scorings have in common against each other.

    `first` and `second` are the names of the scorings, `ours` and `theirs` their scores. Scores and episodes stand in
    the order of the first scoring; episodes that only the second knows follow.
    """
    known = {name for scores in theirs.values() for name in scores}
    names = dict.fromkeys(name for scores in ours.values() for name in scores if name in known)
    episodes = list(dict.fromkeys([*ours, *theirs]))
    pairings, differing = [], []
    for name in names:
        pairs = [(one, _of(ours, one, name), _of(theirs, one, name)) for one in episodes]
        pairings.append(_pairing(name, [(a.value, b.value) for _, a, b in pairs]))
        differing += [
            Differing(
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
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def _pairing(name: str, values: Sequence[tuple[float | None, float | None]]) -> Pairing:
    both = [(a, b) for a, b in values if a is not None and b is not None]
    shares = measure_of(name).unit in ("share", "")  # a count that happens to be 0 or 1 is no verdict
    verdicts = shares and bool(both) and all(value in (0.0, 1.0) for pair in both for value in pair)
    found = Pairing(
        name=name,
        kind="verdict" if verdicts else "figure",
        n=len(both),
        equal=sum(_same(a, b) for a, b in both),
        first_only=sum(a is not None and b is None for a, b in values),
        second_only=sum(a is None and b is not None for a, b in values),
    )
    if not verdicts:
        difference = math.fsum(b - a for a, b in both) / len(both) if both else None
        return msgspec.structs.replace(found, difference=difference)
    right = [(a == 1.0, b == 1.0) for a, b in both]
    told = agreement(right)
    table = (
        (right.count((False, False)), right.count((False, True))),
        (right.count((True, False)), right.count((True, True))),
    )
    return msgspec.structs.replace(found, kappa=told.kappa, kappa_ci95=told.kappa_ci95, table=table)
