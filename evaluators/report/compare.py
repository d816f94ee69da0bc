"""Compares two or more runs: paired differences per case, and the settings in which the runs differ.

`unlike` says why two runs may not be comparable. `compare_runs` takes the difference of each score over the cases of
both, with an interval and a test, and corrects the tests for the number of pairs.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.text import count_noun
from wardround.evaluators.evaluation import inside
from wardround.evaluators.measures import measure_of, place_of
from wardround.evaluators.report.intervals import ANY, FEWEST, NORMAL, SHARE, Interval, Method, interval, mean
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.evaluators.report.summary import scale_of

SCORED = "doctor"
"""The seat that is compared: runs are meant to differ in it."""

_MOST = 5
"""The most pairs of runs, or prompts, that a line names."""


class Unlike(msgspec.Struct, frozen=True):
    """A field in which two runs differ, and a sentence that describes the difference."""

    first: str
    second: str
    field: str
    text: str

    def __str__(self) -> str:
        """Return a line for the terminal."""
        return f"{self.first}, {self.second}: {self.text}"


def unlike(first: RunScores, second: RunScores) -> list[Unlike]:
    """List differences in cases, scenario, patient, examiner, judge, prompts, limits, version; also open episodes."""
    differences = [*_cases(first, second), *_header(first.header, second.header), *_scoring_differences(first, second)]
    for run in (first, second):
        if left := sum(row.cause is None for row in run.episodes):
            differences.append(
                ("open", f"not finished: {left} of {count_noun(len(run.episodes), 'episode')} of {run.name}")
            )
    return [Unlike(first.name, second.name, field, text) for field, text in differences]


def by_difference(warnings: Sequence[Unlike]) -> list[str]:
    """A line for each difference, with all pairs of runs that have it, in the order in which it is first met."""
    pairs: dict[str, dict[str, list[str]]] = {}
    for one in warnings:
        pairs.setdefault(one.text, {}).setdefault(one.first, []).append(one.second)
    return [f"{_named_pairs(others)}: {text}" for text, others in pairs.items()]


def _named_pairs(pairs: Mapping[str, Sequence[str]]) -> str:
    named = [
        f"{first}, {second[0]}" if len(second) == 1 else f"{first} and each of {', '.join(second)}"
        for first, second in pairs.items()
    ]
    more = f" and {len(named) - _MOST} more" if len(named) > _MOST else ""
    return "; ".join(named[:_MOST]) + more


_FieldDifferences = Iterator[tuple[str, str]]
"""Fields in which two runs differ, each with its sentence."""


def _cases(first: RunScores, second: RunScores) -> _FieldDifferences:
    one, two = ({row.case for row in run.episodes} for run in (first, second))
    if one != two:
        yield (
            "cases",
            f"the cases differ: {len(one & two)} in both, {len(one - two)} only in {first.name}, "
            f"{len(two - one)} only in {second.name}; differences are over those in both",
        )
    indices = [inside(run.header, "cases").get("index") for run in (first, second)]
    if one == two and indices[0] != indices[1]:
        yield "cases", "the cases have the same ids, but their texts, or which of them were chosen, differ"


def _header(first: Mapping[str, Json], second: Mapping[str, Json]) -> _FieldDifferences:
    games = [inside(header, "scenario") for header in (first, second)]
    if games[0].get("name") != games[1].get("name"):
        yield "scenario.name", f"other games: {_brief(games[0].get('name'))} and {_brief(games[1].get('name'))}"
    else:
        yield from _fields("scenario", games[0], games[1])
    seats = [
        {name: seat for name, seat in inside(header, "seats").items() if name != SCORED} for header in (first, second)
    ]
    for seat in sorted(set(seats[0]) | set(seats[1])):
        if seat in seats[0] and seat in seats[1]:
            yield from _fields(seat, inside(seats[0], seat), inside(seats[1], seat))
        elif games[0].get("name") == games[1].get("name"):
            yield seat, f"only one of them has a {seat}"
    tables = [inside(header, "tables") for header in (first, second)]
    for seat in sorted((set(tables[0]) | set(tables[1])) - {SCORED}):
        if tables[0].get(seat) != tables[1].get(seat):
            yield f"tables.{seat}", f"the table that {seat} looks things up in differs"
    yield from _prompts(inside(first, "prompts"), inside(second, "prompts"))
    yield from _fields("limits", inside(first, "limits"), inside(second, "limits"))
    versions = [header.get("wardround") for header in (first, second)]
    if versions[0] != versions[1]:
        yield "wardround", f"wardround {_brief(versions[0])} and {_brief(versions[1])} played them"


def _scoring_differences(first: RunScores, second: RunScores) -> _FieldDifferences:
    one, two = first.scoring, second.scoring
    for name in sorted(set(one) | set(two)):
        if one.get(name) != two.get(name):
            yield name, f"{name} differs: {_brief(one.get(name))} and {_brief(two.get(name))}"
    yield from _rules(first, second)
    judged = [run.name for run in (first, second) if run.judged]
    if len(judged) == 1 and one.get("judge") == two.get("judge"):
        yield "judge", f"the answers of {judged[0]} were judged by a model, those of the other run were not"


def _rules(first: RunScores, second: RunScores) -> _FieldDifferences:
    """Warn of scores by different versions of an evaluator's rules: they do not measure the same."""
    one, two = ({each.evaluator: each.version for each in run.scorings if each.shown} for run in (first, second))
    for evaluator in sorted(set(one) & set(two)):
        if one[evaluator] != two[evaluator]:
            older = first if one[evaluator] < two[evaluator] else second
            yield (
                "rules",
                f"{evaluator} scored them by versions {one[evaluator]} and {two[evaluator]} of its rules: "
                f"score {older.name} again",
            )


def _prompts(first: Mapping[str, Json], second: Mapping[str, Json]) -> _FieldDifferences:
    names = sorted(name for name in set(first) | set(second) if first.get(name) != second.get(name))
    if names:
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        yield "prompts", f"prompts differ: {', '.join(names[:_MOST])}{more}"


def _fields(where: str, first: Mapping[str, Json], second: Mapping[str, Json]) -> _FieldDifferences:
    """Yield a warning for each leaf that differs."""
    for name in sorted(set(first) | set(second)):
        one, two = first.get(name), second.get(name)
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            yield from _fields(f"{where}.{name}", one, two)
        elif one != two:
            yield f"{where}.{name}", f"{where}.{name} differs: {_brief(one)} and {_brief(two)}"


def _brief(value: Json) -> str:
    if value is None or value == "":
        return "none"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else f"{text[:57]}..."


SIGNS = 250
"""Number of cases above which the permutation test draws signs for blocks of cases."""
MOST_PAIRS = 45
"""Most pairs of runs that are compared: all pairs of ten runs."""

_ByCase = Mapping[str, Sequence[float]]


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One score of two runs over the `cases` with a value in both; repeats of a case are averaged first.

    `difference` is second minus first. `ci95` is its 95% interval within the scale: Bonett and Price's for scores of 0
    and 1 with one episode per case, else a bootstrap of cases; `ci95_reason` says in words why there is none. In
    `only_first` cases the first run has more, in `only_second` the second; for scores of 0 and 1 these are the
    discordant counts. `p` is two-sided, and computed for headline scores and those of plug-ins: `mcnemar exact` for
    scores of 0 and 1 with one episode per case, else `permutation` (the signs of the cases' differences). `p_holm` is
    corrected for all pairs of runs of this score. `left_out` are cases with a value in only one run.
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
    ci95_reason: str
    only_first: int
    only_second: int
    p: float | None
    p_holm: float | None
    test: str


class Comparison(msgspec.Struct, frozen=True):
    """All pairs of runs, score by score, with the reasons not to compare them.

    `note` says in words which pairs were left out if there are too many; else "".
    """

    runs: Sequence[str]
    warnings: Sequence[Unlike]
    differences: Sequence[Difference]
    note: str = ""


def compare_runs(runs: Sequence[RunScores], seed: int = 0) -> Comparison:
    """Compare every run with every other; raises UsageError for fewer than two runs or a repeated run.

    Above `MOST_PAIRS` pairs, only pairs with the first run are compared, at most `MOST_PAIRS` of them.
    """
    names = [run.name for run in runs]
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError(f"a comparison needs two or more different runs; given: {', '.join(names) or 'none'}")
    pairs, note = _pairs_to_compare(runs)
    values = {run.name: _by_score(run.episodes) for run in runs}
    differences = [
        _difference(name, (first.name, second.name), (values[first.name][name], values[second.name][name]), seed)
        for first, second in pairs
        for name in sorted(values[first.name].keys() & values[second.name].keys(), key=place_of)
    ]
    return Comparison(
        runs=names,
        warnings=[warning for first, second in pairs for warning in unlike(first, second)],
        differences=_with_holm(differences),
        note=note,
    )


def _pairs_to_compare(runs: Sequence[RunScores]) -> tuple[list[tuple[RunScores, RunScores]], str]:
    """Return the pairs to compare, and a sentence about those left out."""
    pairs = list(combinations(runs, 2))
    if len(pairs) <= MOST_PAIRS:
        return pairs, ""
    first = pairs[: min(MOST_PAIRS, len(runs) - 1)]
    return first, (
        f"{len(runs)} runs make {len(pairs)} pairs: only {runs[0].name} is compared, with the {len(first)} runs that "
        "come after it. Give fewer runs, or another one first, for other pairs."
    )


def _difference(name: str, runs: tuple[str, str], values: tuple[_ByCase, _ByCase], seed: int) -> Difference:
    one, two = values
    shared = sorted(one.keys() & two.keys())
    pairs = [(mean(one[case]), mean(two[case])) for case in shared]
    apart = [after - before for before, after in pairs]
    single = all(len(one[case]) == len(two[case]) == 1 for case in shared)
    binary = single and all(value in (0.0, 1.0) for pair in pairs for value in pair)
    only_first, only_second = sum(d < 0 for d in apart), sum(d > 0 for d in apart)
    scale = scale_of(name, [value for pair in pairs for value in pair])
    if binary and len(shared) >= FEWEST:
        ci = Interval(bonett_price(only_first, only_second, len(shared)), "bonett_price")
    else:
        by_case = {case: [d] for case, d in zip(shared, apart, strict=True)}
        ci = interval(by_case, (-1.0, 1.0) if scale == SHARE else ANY, seed)
    p, test = _paired_test(name, apart, binary, seed)
    return Difference(
        score=name,
        first=runs[0],
        second=runs[1],
        cases=len(shared),
        left_out=len(one.keys() ^ two.keys()),
        first_mean=mean([before for before, _ in pairs]) if pairs else None,
        second_mean=mean([after for _, after in pairs]) if pairs else None,
        difference=mean(apart) if pairs else None,
        ci95=ci.ends,
        ci95_method=ci.method,
        ci95_reason=ci.reason,
        only_first=only_first,
        only_second=only_second,
        p=p,
        p_holm=None,
        test=test,
    )


def bonett_price(only_first: int, only_second: int, n: int) -> tuple[float, float]:
    """Return the 95% interval of the difference of two paired shares over `n` cases, second minus first, in -1 to 1.

    Bonett and Price (2012), as Fagerland, Lydersen and Laake (2014) recommend: it has some width even without discord.
    """
    less, more = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    half = NORMAL * math.sqrt((less + more - (more - less) ** 2) / (n + 2))
    return max(-1.0, more - less - half), min(1.0, more - less + half)


def _paired_test(name: str, apart: Sequence[float], binary: bool, seed: int) -> tuple[float | None, str]:
    """Return the two-sided p and the test's name, only for scores that are shown first, to keep the tests few."""
    measure = measure_of(name)
    if not apart or not (measure.headline or not measure.unit):
        return None, ""
    if binary:
        return mcnemar(sum(d < 0 for d in apart), sum(d > 0 for d in apart)), "mcnemar exact"
    return sign_flips(apart, seed), "permutation"


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p of McNemar's test, from the cases where two runs differ; 1 if they never differ."""
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # noqa: PLC0415  # SciPy ships no types

    discord = only_first + only_second
    return float(binomtest(only_first, discord).pvalue) if discord else 1.0


def sign_flips(apart: Sequence[float], seed: int = 0) -> float:
    """Return the two-sided p of a sign-flip permutation test of the cases' differences against 0; 1 if all are 0.

    Exact for few cases, else with 9,999 seeded draws; above `SIGNS` cases it draws signs for that many blocks of cases.
    """
    import numpy as np  # noqa: PLC0415
    from scipy.stats import permutation_test  # noqa: PLC0415

    values = np.array(sorted(d for d in apart if d))
    if len(values) < 2:
        return 1.0  # a single difference is as far from 0 with the other sign
    if len(values) > SIGNS:
        values = np.bincount(np.random.default_rng(seed).permutation(len(values)) % SIGNS, values)
    result = permutation_test(
        (values,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=9_999,
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)


def _with_holm(differences: Sequence[Difference]) -> list[Difference]:
    """Add Holm's p (1979) over all pairs of a score."""
    by_score: dict[str, list[int]] = {}
    for place, row in enumerate(differences):
        if row.p is not None:
            by_score.setdefault(row.score, []).append(place)
    corrected: dict[int, float] = {}
    for places in by_score.values():
        ps = [p for place in places if (p := differences[place].p) is not None]
        corrected |= dict(zip(places, holm(ps), strict=True))
    return [msgspec.structs.replace(row, p_holm=corrected.get(place)) for place, row in enumerate(differences)]


def holm(ps: Sequence[float]) -> list[float]:
    """Correct p values for their number by Holm's step-down method (1979), in the input order."""
    corrected, least = [0.0] * len(ps), 0.0
    for done, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        least = max(least, min(1.0, (len(ps) - done) * ps[place]))
        corrected[place] = least
    return corrected


def _by_score(episodes: Sequence[EpisodeScores]) -> dict[str, _ByCase]:
    """Return the values of closed episodes by score and case; a score without any value has no case."""
    by_score: dict[str, dict[str, list[float]]] = {}
    for row in episodes:
        if row.cause is None:
            continue
        for score in row.scores:
            by_case = by_score.setdefault(score.name, {})
            if score.value is not None:
                by_case.setdefault(row.case, []).append(score.value)
    return dict(by_score)
