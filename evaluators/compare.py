"""Two or more runs side by side: paired differences per case, and a plain warning where they are not alike."""

import math
from collections.abc import Mapping, Sequence

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.evaluators.intervals import Interval, Method, clustered, interval, mcnemar, paired_t
from wardround.evaluators.measures import place_of
from wardround.evaluators.rows import EpisodeScores, RunScores
from wardround.evaluators.unlike import Unlike, unlike


class Difference(msgspec.Struct, frozen=True):
    """One score of two runs over the `cases` that have a value in both; repeats of a case are averaged first.

    `difference` is second minus first, `ci95` its interval: paired Student t if each case has one episode in both
    runs, else a seeded bootstrap of cases. `p` is two-sided and not corrected for several comparisons: exact McNemar
    for scores of 0 and 1, paired t otherwise, None with repeats. `left_out` are cases with a value in one run only.
    """

    score: str
    first: str
    second: str
    cases: int
    left_out: int
    first_mean: float | None
    second_mean: float | None
    difference: float | None
    ci95: tuple[float, float] | None
    ci95_method: Method
    p: float | None
    test: str


class Comparison(msgspec.Struct, frozen=True):
    """The first run against each other one, score by score, and what speaks against comparing them."""

    runs: Sequence[str]
    warnings: Sequence[Unlike]
    differences: Sequence[Difference]

    def to_json(self) -> dict[str, Json]:
        """The same as a JSON object."""
        built: dict[str, Json] = msgspec.to_builtins(self)
        return built


def compare_runs(runs: Sequence[RunScores], seed: int = 0) -> Comparison:
    """Compare the first run with each other; raises UsageError with fewer than two runs or one given twice."""
    names = [run.name for run in runs]
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError(f"a comparison needs two or more different runs; given: {', '.join(names) or 'none'}")
    pairs = [(runs[0], other) for other in runs[1:]]
    return Comparison(
        runs=names,
        warnings=[warning for first, second in pairs for warning in unlike(first, second)],
        differences=[
            _difference(name, first, second, seed) for first, second in pairs for name in _shared(first, second)
        ],
    )


def _shared(first: RunScores, second: RunScores) -> list[str]:
    names = [{score.name for row in run.episodes for score in row.scores} for run in (first, second)]
    return sorted(names[0] & names[1], key=place_of)


def _difference(name: str, first: RunScores, second: RunScores, seed: int) -> Difference:
    one, two = _values(name, first.episodes), _values(name, second.episodes)
    shared = sorted(set(one) & set(two))
    pairs = [(_mean(one[case]), _mean(two[case])) for case in shared]
    differences = [after - before for before, after in pairs]
    single = all(len(one[case]) == len(two[case]) == 1 for case in shared)
    if single:
        ci = interval(dict(zip(shared, ([d] for d in differences), strict=True)), seed)
    else:
        ci = Interval(clustered([[d] for d in differences], seed), "bootstrap")
    p, test = _tested(pairs, differences) if single else (None, "")
    return Difference(
        score=name,
        first=first.name,
        second=second.name,
        cases=len(shared),
        left_out=len(set(one) ^ set(two)),
        first_mean=_mean([before for before, _ in pairs]) if pairs else None,
        second_mean=_mean([after for _, after in pairs]) if pairs else None,
        difference=_mean(differences) if pairs else None,
        ci95=ci.ends,
        ci95_method=ci.method,
        p=p,
        test=test,
    )


def _tested(pairs: Sequence[tuple[float, float]], differences: Sequence[float]) -> tuple[float | None, str]:
    if not pairs:
        return None, ""
    if all(value in (0.0, 1.0) for pair in pairs for value in pair):
        return mcnemar(sum(d < 0 for d in differences), sum(d > 0 for d in differences)), "mcnemar"
    p = paired_t(differences)
    return p, "" if p is None else "paired_t"


def _values(name: str, episodes: Sequence[EpisodeScores]) -> Mapping[str, Sequence[float]]:
    """The values of closed episodes by case."""
    found: dict[str, list[float]] = {}
    for row in episodes:
        value = row.score(name).value
        if row.cause is not None and value is not None:
            found.setdefault(row.case, []).append(value)
    return found


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
