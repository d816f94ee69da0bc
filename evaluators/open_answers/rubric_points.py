"""The arithmetic of a rubric: met points over positive points, bounds where a criterion is undecided, and the mean."""

import math
from collections.abc import Iterable, Sequence

from wardround.scenarios.criteria import RubricItem

Met = bool | float | None
"""Whether a criterion is met, or the share of judges that say so; None if it is undecided."""


def rubric_score(rubric: Sequence[RubricItem], met: Sequence[Met]) -> float | None:
    """Return met points / positive points of one item, as HealthBench does; not clipped, so it can be negative.

    None without a positive point, or if an undecided criterion could change the score.

    ::

        rubric_score([RubricItem(criterion="Names the dose", points=4), RubricItem(criterion="Errs", points=-2)],
                     [True, True])   # 0.5
    """
    low, high = score_bounds(rubric, met)
    return low if low == high else None


def score_bounds(rubric: Sequence[RubricItem], met: Sequence[Met]) -> tuple[float | None, float | None]:
    """Return the least and the greatest score that the undecided criteria leave open; (None, None) if undefined."""
    possible = positive_points(rubric)
    if not possible:
        return None, None
    pairs = list(zip(rubric, met, strict=True))
    low = math.fsum(min(0.0, one.points) if value is None else one.points * value for one, value in pairs)
    high = math.fsum(max(0.0, one.points) if value is None else one.points * value for one, value in pairs)
    return low / possible, high / possible


def positive_points(rubric: Iterable[RubricItem]) -> float:
    """Return the points of an answer that meets every criterion with positive points, and no other."""
    return math.fsum(one.points for one in rubric if one.points > 0)


def with_veto(score: float | None, rubric: Sequence[RubricItem], met: Sequence[Met]) -> tuple[float | None, str]:
    """Return a score after its vetoes, with the reason `veto` if one was met.

    A veto that is met leaves no more than 0; one that is undecided leaves the score undecided (`veto_undecided`).
    """
    vetoes = [value for one, value in zip(rubric, met, strict=True) if one.veto]
    if any(value is not None and value > 0.5 for value in vetoes):
        return (None if score is None else min(0.0, score)), "veto"
    return (None, "veto_undecided") if None in vetoes else (score, "")


def overall(scores: Sequence[float]) -> float | None:
    """Return the mean over items, clipped to 0..1; the items themselves are not clipped. None without an item."""
    return clip(math.fsum(scores) / len(scores)) if scores else None


def clip(value: float) -> float:
    """Return a value cut to 0..1."""
    return min(1.0, max(0.0, value))


def tag_scores(rubric: Sequence[RubricItem], met: Sequence[Met]) -> dict[str, float | None]:
    """Return the score over the criteria of each tag, in order of first mention.

    It is None for a tag whose criteria have no positive points or are undecided.
    """
    by_tag: dict[str, float | None] = {}
    for tag in dict.fromkeys(tag for one in rubric for tag in one.tags):
        places = [place for place, one in enumerate(rubric) if tag in one.tags]
        by_tag[tag] = rubric_score([rubric[place] for place in places], [met[place] for place in places])
    return by_tag
