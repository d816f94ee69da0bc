"""Ranks several runs in one table by the same quantity, best first: the leaderboard."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Literal

import msgspec

from wardround.engine.records import Json
from wardround.engine.text import count_noun
from wardround.evaluators.evaluation import inside
from wardround.evaluators.measures import UNDEFINED, measure_of, place_of
from wardround.evaluators.report.intervals import by_case, interval, mean
from wardround.evaluators.report.score_rows import RunScores
from wardround.evaluators.report.score_tables import Taken
from wardround.evaluators.report.summary import ScoreSummary, Summary

_REPLIES = "replies:"


class PlayedRun(msgspec.Struct, frozen=True):
    """A run with its closed episodes' scores by name; `judged` says that a model judged the answers."""

    name: str
    setting: str
    doctor: str
    taken: Taken
    open: int
    judge: str
    judged: bool = False


class DoctorRuns(msgspec.Struct, frozen=True):
    """One doctor with one run of each setting."""

    label: str
    runs: Mapping[str, PlayedRun]


def played_run(run: RunScores) -> PlayedRun:
    """Return the run in the form that tables need. Of several scores with the same name, the last counts."""
    closed = [row for row in run.episodes if row.cause is not None]
    return PlayedRun(
        name=run.name,
        setting=setting_of(run.header),
        doctor=doctor_of(run.header) or run.name,
        taken=[(row, {score.name: score for score in row.scores}) for row in closed],
        open=len(run.episodes) - len(closed),
        judge=msgspec.json.encode(run.scoring.get("judge")).decode(),
        judged=_judged(run),
    )


def _judged(run: RunScores) -> bool:
    """Whether a model judged: a judge took part, and not only the lexical one."""
    return run.judged and set(run.answer_judges) != {"lexical"}


def doctor_of(header: Mapping[str, Json]) -> str:
    """Return a doctor's name for tables: the SPEC of its seat, with the model if the SPEC does not name it.

    A file of replies is shown without its folder, because a long path would push the model's name out of the line.
    """
    seat = inside(inside(header, "seats"), "doctor")
    spec, model = str(seat.get("spec") or ""), str(seat.get("model") or "")
    if spec.startswith(_REPLIES):
        path, mark, name = spec.removeprefix(_REPLIES).partition("#")
        spec = f"{_REPLIES}{PurePath(path).name}{mark}{name}"
    return f"{spec} ({model})" if spec and model and model not in spec else spec or model


def doctors_with_runs(runs: Sequence[RunScores]) -> list[DoctorRuns]:
    """Group the runs of each doctor, one run per setting; a second run of the same setting gets its own row.

    Doctors are the same if their seats are, including sampling and options. Equal labels are distinguished by number.
    """
    rows: list[tuple[bytes, str, dict[str, PlayedRun]]] = []
    for run in runs:
        key = msgspec.json.encode(inside(inside(run.header, "seats"), "doctor") or run.name, order="sorted")
        one = played_run(run)
        for seat_key, _, settings in rows:
            if seat_key == key and one.setting not in settings:
                settings[one.setting] = one
                break
        else:
            rows.append((key, one.doctor, {one.setting: one}))
    doctors: list[DoctorRuns] = []
    for _, label, settings in rows:
        number = 1 + sum(before == label for _, before, _ in rows[: len(doctors)])
        doctors.append(DoctorRuns(f"{label} #{number}" if number > 1 else label, settings))
    return doctors


def setting_of(header: Mapping[str, Json]) -> str:
    """Return the name of the scenario that was played."""
    return str(inside(header, "scenario").get("name") or "")


ENOUGH = 0.9
"""Share of a run's episodes that must be scored in all runs for a ranking by means."""
APART = 0.02
"""Largest difference between the runs' shares of missing values for a ranking by means."""

Basis = Literal["mean", "lower bound"]


class RankedRun(msgspec.Struct, frozen=True):
    """One run in a ranking; runs with the same value share a `rank`, one without any value has none.

    `value` is the ranked value (Ranking.basis) and `ci95` its interval, with `ci95_reason` if there is none. `figure`
    is the score of the ranking over all of the run's episodes; `others` are the further headline shares, None if not
    scored.
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
    """Runs ranked by the score `by`; `others` are the names of the scores beside it.

    `basis` is either the mean over the `episodes` (case and repeat) that are scored in all runs, or each run's lower
    bound, with every missing value as 0; `basis_reason` says in words which and why. Runs without any value are not
    ranked.
    """

    by: str
    others: Sequence[str]
    places: Sequence[RankedRun]
    basis: Basis = "mean"
    basis_reason: str = ""
    episodes: int = 0

    def to_json(self) -> dict[str, Json]:
        """Return values, means, intervals and counts as JSON; the runs' own summaries have the rest."""
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


class _RunValues(msgspec.Struct, frozen=True):
    """One run's values by episode, None if missing; episodes in which the score is undefined are left out."""

    values: Mapping[Key, float | None]

    @property
    def scored(self) -> set[Key]:
        """Return the episodes that have a value."""
        return {key for key, value in self.values.items() if value is not None}

    @property
    def missing(self) -> float:
        """Return the share of episodes without a value."""
        return 1 - len(self.scored) / len(self.values) if self.values else 0.0


def ranking(runs: Sequence[RunScores], summaries: Mapping[str, Summary], seed: int = 0) -> Ranking | None:
    """Rank the runs by the headline share that most of them have, the first of equals; None if no run has any.

    The basis is the mean over the episodes that are scored in all runs. If those are under 90% of any run's episodes,
    or if the shares of missing values differ by more than 2 points, it is every run's lower bound. The order ignores
    chance: intervals are shown beside it, and paired differences in the comparison.
    """
    scores = (score for run in runs for score in summaries[run.name].scores if score.mean is not None)
    scored = Counter(score.name for score in scores if _is_headline_share(score.name))
    if not scored:
        return None
    by = min(scored, key=lambda name: (-scored[name], place_of(name)))
    others = sorted((name for name in scored if name != by), key=place_of)
    by_run = {
        run.name: _values_of(run, by)
        for run in runs
        if (figure := summaries[run.name].score(by)) is not None and figure.mean is not None
    }
    shared = set.intersection(*(one.scored for one in by_run.values()))
    basis, reason = _basis(by_run, len(shared))
    if left := [run.name for run in runs if run.name not in by_run]:
        reason = reason.replace("scored in all runs", "scored in all runs that have a value")
        reason = f"{reason} Not ranked, without any value: {', '.join(left)}."
    ranked = {name: _ranked_values(one, shared, basis) for name, one in by_run.items()}
    means = {name: mean([value for repeats in cases.values() for value in repeats]) for name, cases in ranked.items()}
    places = []
    for run in runs:
        value = means.get(run.name)
        sure = interval(ranked[run.name], seed=seed) if run.name in ranked else None
        places.append(
            RankedRun(
                rank=None if value is None else 1 + sum(other > value for other in means.values()),
                run=run.name,
                doctor=doctor_of(run.header) or run.name,
                scenario=setting_of(run.header),
                figure=summaries[run.name].score(by),
                others=[summaries[run.name].score(name) for name in others],
                value=value,
                ci95=sure.ends if sure else None,
                ci95_reason=sure.reason if sure else "no value",
            )
        )
    best = sorted(places, key=lambda place: (place.rank is None, place.rank or 0))
    return Ranking(by, others, best, basis, reason, len(shared))


def _is_headline_share(name: str) -> bool:
    measure = measure_of(name)
    return measure.headline and measure.unit == "share"


def _values_of(run: RunScores, by: str) -> _RunValues:
    values: dict[Key, float | None] = {}
    for row in run.episodes:
        score = row.score(by)
        if row.cause is not None and (score.value is not None or score.reason not in UNDEFINED):
            values[row.case, row.repeat] = score.value
    return _RunValues(values)


def _basis(by_run: Mapping[str, _RunValues], shared: int) -> tuple[Basis, str]:
    """Return the basis of the ranking, and the sentence that explains it."""
    least = min(by_run, key=lambda name: shared / len(by_run[name].values))
    whole = len(by_run[least].values)
    gaps = {name: one.missing for name, one in by_run.items()}
    fewest, most = min(gaps, key=lambda name: gaps[name]), max(gaps, key=lambda name: gaps[name])
    if shared < ENOUGH * whole:
        why = f"only {shared} of {count_noun(whole, 'episode')} of {least} are scored in all runs, which is under 90 %"
        if not shared:
            why = "no episode is scored in all runs, so that the order compares cases as well as doctors"
    elif gaps[most] - gaps[fewest] > APART + 1e-9:
        why = (
            f"{100 * gaps[most]:.1f} % of the values of {most} are missing and {100 * gaps[fewest]:.1f} % of those of "
            f"{fewest}, which is more than 2 points apart"
        )
    else:
        return "mean", f"Ranked by the mean over the {count_noun(shared, 'episode')} scored in all runs."
    return "lower bound", f"Ranked by the lower bound of every run, each missing value counted as 0: {why}."


def _ranked_values(run_values: _RunValues, shared: set[Key], basis: Basis) -> dict[str, list[float]]:
    """Return the ranked values by case."""
    return by_case(
        (key[0], value or 0.0)
        for key, value in sorted(run_values.values.items(), key=lambda pair: pair[0])
        if basis == "lower bound" or key in shared
    )
