"""Several runs in one table, best first: the leaderboard. All of them are ranked by one and the same quantity."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from wardround.engine.records import Json
from wardround.engine.text import counted
from wardround.evaluators.intervals import interval
from wardround.evaluators.measures import UNDEFINED, measure_of, place_of
from wardround.evaluators.rows import RunScores
from wardround.evaluators.summary import ScoreSummary, Summary
from wardround.evaluators.tables.player import doctor_of, setting_of

ENOUGH = 0.9
"""Share of a run's episodes that must be scored in all runs for means to be ranked."""
APART = 0.02
"""By how much the runs' shares of missing values may differ for means to be ranked."""

Basis = Literal["mean", "lower bound"]


class Place(msgspec.Struct, frozen=True):
    """One run in a ranking; runs with the same value share a `rank`, one without any value has none.

    `value` is what is ranked (Ranking.basis) and `ci95` its interval, with `ci95_reason` where there is none. `figure`
    is the score that the ranking goes by, over all of the run's episodes; `others` are the further headline shares,
    None where not scored.
    """

    rank: int | None
    run: str
    doctor: str
    scenario: str
    figure: ScoreSummary | None
    others: Sequence[ScoreSummary | None]
    value: float | None = None
    ci95: tuple[float, float] | None = None
    ci95_reason: str = ""


class Ranking(msgspec.Struct, frozen=True):
    """Runs by the score `by`; `others` are the names of the scores beside it.

    `basis` says what of the score is compared: the mean over the `episodes` (case and repeat) that are scored in all
    runs, or each run's lower bound, every missing value as 0; `basis_reason` says in words which and why. Runs without
    any value take no part.
    """

    by: str
    others: Sequence[str]
    places: Sequence[Place]
    basis: Basis = "mean"
    basis_reason: str = ""
    episodes: int = 0

    def to_json(self) -> dict[str, Json]:
        """For machines: values, means, intervals and counts; all else of a figure stands with its run."""
        return {
            "by": self.by,
            "basis": self.basis,
            "basis_reason": self.basis_reason,
            "episodes": self.episodes,
            "places": [
                {
                    "rank": place.rank,
                    "run": place.run,
                    "doctor": place.doctor,
                    "scenario": place.scenario,
                    "value": place.value,
                    "ci95": place.ci95,
                    "ci95_reason": place.ci95_reason,
                    **{
                        name: figure
                        and {"mean": figure.mean, "ci95": figure.ci95, "scored": figure.scored, "n": figure.n}
                        for name, figure in zip((self.by, *self.others), (place.figure, *place.others), strict=True)
                    },
                }
                for place in self.places
            ],
        }


Key = tuple[str, int]
"""An episode of any run: its case and its repeat."""


class _Held(msgspec.Struct, frozen=True):
    """The values of one run by episode, None where missing; episodes for which there is no such figure are left out."""

    values: Mapping[Key, float | None]

    @property
    def scored(self) -> set[Key]:
        """The episodes that have a value."""
        return {key for key, value in self.values.items() if value is not None}

    @property
    def missing(self) -> float:
        """The share of episodes without a value."""
        return 1 - len(self.scored) / len(self.values) if self.values else 0.0


def ranking(runs: Sequence[RunScores], summaries: Mapping[str, Summary], seed: int = 0) -> Ranking | None:
    """The runs by the headline share that most of them have, the first of these; None if none has any.

    They are ranked by the mean over the episodes that are scored in all of them; if those are under 90% of the episodes
    of any run, or the shares of missing values differ by more than 2 points, by the lower bound of every run. The order
    says nothing of chance: intervals stand beside it, and paired differences in the comparison.
    """
    scored: dict[str, int] = {}
    for run in runs:
        for score in summaries[run.name].scores:
            measure = measure_of(score.name)
            if measure.headline and measure.unit == "share" and score.mean is not None:
                scored[score.name] = scored.get(score.name, 0) + 1
    if not scored:
        return None
    by = min(scored, key=lambda name: (-scored[name], place_of(name)))
    others = sorted((name for name in scored if name != by), key=place_of)
    held = {
        run.name: _held(run, by)
        for run in runs
        if (figure := summaries[run.name].score(by)) is not None and figure.mean is not None
    }
    shared = set.intersection(*(one.scored for one in held.values()))
    basis, reason = _basis(held, len(shared))
    if left := [run.name for run in runs if run.name not in held]:
        reason = reason.replace("scored in all runs", "scored in all runs that have a value")
        reason = f"{reason} Not ranked, without any value: {', '.join(left)}."
    ranked = {name: _ranked(one, shared, basis) for name, one in held.items()}
    means = {name: _mean(by_case) for name, by_case in ranked.items()}
    places = []
    for run in runs:
        mean = means.get(run.name)
        sure = interval(ranked[run.name], seed=seed) if run.name in ranked else None
        places.append(
            Place(
                rank=None if mean is None else 1 + sum(other > mean for other in means.values()),
                run=run.name,
                doctor=doctor_of(run.header) or run.name,
                scenario=setting_of(run.header),
                figure=summaries[run.name].score(by),
                others=[summaries[run.name].score(name) for name in others],
                value=mean,
                ci95=sure.ends if sure else None,
                ci95_reason=sure.reason if sure else "no value",
            )
        )
    best = sorted(places, key=lambda place: (place.rank is None, place.rank or 0))
    return Ranking(by, others, best, basis, reason, len(shared))


def _held(run: RunScores, by: str) -> _Held:
    values: dict[Key, float | None] = {}
    for row in run.episodes:
        score = row.score(by)
        if row.cause is not None and (score.value is not None or score.reason not in UNDEFINED):
            values[row.case, row.repeat] = score.value
    return _Held(values)


def _basis(held: Mapping[str, _Held], shared: int) -> tuple[Basis, str]:
    """What is ranked, and the sentence that says so."""
    least = min(held, key=lambda name: shared / len(held[name].values))
    whole = len(held[least].values)
    gaps = {name: one.missing for name, one in held.items()}
    fewest, most = min(gaps, key=lambda name: gaps[name]), max(gaps, key=lambda name: gaps[name])
    if shared < ENOUGH * whole:
        why = f"only {shared} of {counted(whole, 'episode')} of {least} are scored in all runs, which is under 90 %"
    elif gaps[most] - gaps[fewest] > APART + 1e-9:
        why = (
            f"{100 * gaps[most]:.1f} % of the values of {most} are missing and {100 * gaps[fewest]:.1f} % of those of "
            f"{fewest}, which is more than 2 points apart"
        )
    else:
        return "mean", f"Ranked by the mean over the {counted(shared, 'episode')} scored in all runs."
    return "lower bound", f"Ranked by the lower bound of every run, each missing value counted as 0: {why}."


def _ranked(held: _Held, shared: set[Key], basis: Basis) -> dict[str, list[float]]:
    """The values that are ranked, by case."""
    found: dict[str, list[float]] = {}
    for (case, repeat), value in sorted(held.values.items(), key=lambda pair: pair[0]):
        if basis == "lower bound":
            found.setdefault(case, []).append(value or 0.0)
        elif (case, repeat) in shared and value is not None:
            found.setdefault(case, []).append(value)
    return found


def _mean(by_case: Mapping[str, Sequence[float]]) -> float:
    values = [value for held in by_case.values() for value in held]
    return math.fsum(values) / len(values)
