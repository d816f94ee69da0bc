"""Several runs in one table, best first: the leaderboard."""

from collections.abc import Mapping, Sequence

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.measures import measure_of, place_of
from wardround.evaluators.rows import RunScores
from wardround.evaluators.summary import ScoreSummary, Summary
from wardround.evaluators.tables.player import doctor_of, setting_of


class Place(msgspec.Struct, frozen=True):
    """One run in a ranking; runs with the same mean share a `rank`, one without a mean has none.

    `figure` is the score that the ranking goes by, `others` are the further headline shares, None where not scored.
    """

    rank: int | None
    run: str
    doctor: str
    scenario: str
    figure: ScoreSummary | None
    others: Sequence[ScoreSummary | None]


class Ranking(msgspec.Struct, frozen=True):
    """Runs by the mean of the score `by`; `others` are the names of the scores beside it."""

    by: str
    others: Sequence[str]
    places: Sequence[Place]

    def to_json(self) -> dict[str, Json]:
        """For machines: means, intervals and counts; all else of a figure stands with its run."""
        return {
            "by": self.by,
            "places": [
                {
                    "rank": place.rank,
                    "run": place.run,
                    "doctor": place.doctor,
                    "scenario": place.scenario,
                    **{
                        name: figure
                        and {"mean": figure.mean, "ci95": figure.ci95, "scored": figure.scored, "n": figure.n}
                        for name, figure in zip((self.by, *self.others), (place.figure, *place.others), strict=True)
                    },
                }
                for place in self.places
            ],
        }


def ranking(runs: Sequence[RunScores], summaries: Mapping[str, Summary]) -> Ranking | None:
    """The runs by the headline share that most of them have, the first of these; None if none has any.

    The order says nothing of chance: intervals stand beside it, and paired differences in the comparison.
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
    means = {run.name: _mean(summaries[run.name].score(by)) for run in runs}
    places = [
        Place(
            rank=None
            if (mean := means[run.name]) is None
            else 1 + sum(m is not None and m > mean for m in means.values()),
            run=run.name,
            doctor=doctor_of(run.header) or run.name,
            scenario=setting_of(run.header),
            figure=summaries[run.name].score(by),
            others=[summaries[run.name].score(name) for name in others],
        )
        for run in runs
    ]
    return Ranking(by, others, sorted(places, key=lambda place: (place.rank is None, place.rank or 0)))


def _mean(score: ScoreSummary | None) -> float | None:
    return score.mean if score else None
