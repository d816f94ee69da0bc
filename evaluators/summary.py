"""From the scores of episodes to the figures of a run: means with denominators, bounds, intervals, groups, repeats."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wardround.engine.records import Json, Score
from wardround.evaluators.intervals import Interval, Method, interval, standard_error, within
from wardround.evaluators.judged_measures import untaken
from wardround.evaluators.measures import UNDEFINED, measure_of, place_of
from wardround.evaluators.rows import EpisodeScores


class GroupMean(msgspec.Struct, frozen=True):
    """One group (a disease): `cases` and `n` episodes in it, of which `scored` have a value."""

    group: str
    mean: float | None
    cases: int
    n: int
    scored: int
    ci95: tuple[float, float] | None


class Repeats(msgspec.Struct, frozen=True):
    """The mean of each repeat, their mean, and its standard error (None with one repeat)."""

    n: int
    means: tuple[float | None, ...]
    mean: float | None
    se: float | None


class ScoreSummary(msgspec.Struct, frozen=True):
    """One score over a run.

    `mean` is over the `scored`; `n` counts all closed episodes, `none` those without a value, by `reasons`;
    `no_answer` counts the zeros of doctors who gave none. `bounds` are the means with every None as 0 and as 1, without
    the episodes for which there is no such figure (`UNDEFINED`: no reference, no thinking part); None for scores that
    are no shares. Student t is not cut (paper 002), so that of a share may leave 0 to 1: then, and only
    then, `ci95_within` is one that does not, to be read instead, by `ci95_within_method`: Wilson for a share of 0 and 1
    a case, else a bootstrap of cases.

    `micro` is the mean over episodes, that is `mean`. `macro` is the mean of the groups' means, each group counting the
    same, with its standard error over repeats; it is None, reason `singletons`, unless two groups have two cases, and
    None, `nothing_scored`, if no group has a value. `ungrouped` counts episodes whose case has no group: macro leaves
    them out. `groups` (of the headline scores and a plug-in's shares) are sorted, best first. `over_types` is, for
    examination recall and precision, the mean of the run's means by type (paper 000, table 5).
    """

    name: str
    mean: float | None
    n: int
    scored: int
    none: int
    no_answer: int
    reasons: Mapping[str, int]
    bounds: tuple[float, float] | None
    ci95: tuple[float, float] | None
    ci95_method: Method
    micro: float | None
    macro: float | None
    macro_reason: str
    macro_se: float | None
    ungrouped: int
    repeats: Repeats
    groups: Sequence[GroupMean]
    over_types: float | None = None
    ci95_within: tuple[float, float] | None = None
    ci95_within_method: Method = ""


class Summary(msgspec.Struct, frozen=True):
    """A run in figures. `endings` counts closed episodes by cause, `reasons` by cause and reason; `open` are apart."""

    episodes: int
    open: int
    cases: int
    repeats: int
    endings: Mapping[str, int]
    reasons: Mapping[str, int]
    scores: Sequence[ScoreSummary]

    def score(self, name: str) -> ScoreSummary | None:
        """The figures of one score, or None if no episode has it."""
        return next((score for score in self.scores if score.name == name), None)

    def to_json(self) -> dict[str, Json]:
        """The same as a JSON object."""
        built: dict[str, Json] = msgspec.to_builtins(self)
        return built


def summarise(episodes: Iterable[EpisodeScores], seed: int = 0) -> Summary:
    """All figures of a run; the order of the episodes changes nothing. `seed` is that of the bootstrap."""
    rows = sorted(episodes, key=lambda row: (row.case, row.repeat, row.episode))
    closed = [row for row in rows if row.cause is not None]
    taken = [(row, {score.name: score for score in row.scores}) for row in closed]
    names = sorted({name for _, scores in taken for name in scores}, key=place_of)
    endings = Counter(row.cause or "" for row in closed)
    reasons = Counter(f"{row.cause}/{row.reason}" for row in closed if row.reason)
    return Summary(
        episodes=len(closed),
        open=len(rows) - len(closed),
        cases=len({row.case for row in closed}),
        repeats=len({row.repeat for row in closed}),
        endings=dict(sorted(endings.items(), key=lambda pair: (pair[0] != "completed", pair[0]))),
        reasons=dict(sorted(reasons.items())),
        scores=_over_types([_one(name, _pairs(name, taken), seed) for name in names]),
    )


_Pairs = Sequence[tuple[EpisodeScores, Score]]


def _pairs(name: str, taken: Sequence[tuple[EpisodeScores, Mapping[str, Score]]]) -> _Pairs:
    return [(row, scores.get(name) or Score(name, None, untaken(name, scores))) for row, scores in taken]


def _one(name: str, pairs: _Pairs, seed: int) -> ScoreSummary:
    values = [score.value for _, score in pairs if score.value is not None]
    missing = Counter(score.reason or "no_reason" for _, score in pairs if score.value is None)
    by_case = _by_case(pairs)
    ci = interval(by_case, seed)
    share = _is_share(name, values)
    beyond = share and ci.ends is not None and not 0 <= ci.ends[0] <= ci.ends[1] <= 1
    instead = within(by_case, seed) if beyond else Interval(None, "")
    macro, macro_reason, macro_se = _macro(pairs)
    grouped = share and (measure_of(name).headline or not measure_of(name).unit)
    return ScoreSummary(
        name=name,
        mean=_mean(values),
        n=len(pairs),
        scored=len(values),
        none=len(pairs) - len(values),
        no_answer=sum(score.value is not None and score.reason == "no_answer" for _, score in pairs),
        reasons=dict(sorted(missing.items())),
        bounds=_bounds(values, missing) if share else None,
        ci95=ci.ends,
        ci95_method=ci.method,
        micro=_mean(values),
        macro=macro,
        macro_reason=macro_reason,
        macro_se=macro_se,
        ungrouped=sum(not row.group for row, _ in pairs),
        repeats=_repeats(pairs),
        groups=_groups(pairs, seed) if grouped else (),
        ci95_within=instead.ends,
        ci95_within_method=instead.method,
    )


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _is_share(name: str, values: Sequence[float]) -> bool:
    """A house score by its unit; another one if all that is known of it lies in 0..1."""
    unit = measure_of(name).unit
    return unit == "share" or (not unit and bool(values) and all(0 <= value <= 1 for value in values))


def _bounds(values: Sequence[float], missing: Mapping[str, int]) -> tuple[float, float] | None:
    unknown = sum(count for reason, count in missing.items() if reason not in UNDEFINED)
    if not (n := len(values) + unknown):
        return None
    return math.fsum(values) / n, (math.fsum(values) + unknown) / n


def _by_case(pairs: _Pairs) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for row, score in pairs:
        if score.value is not None:
            found[row.case].append(score.value)
    return found


def _by_group(pairs: _Pairs) -> dict[str, list[tuple[EpisodeScores, Score]]]:
    """Groups by name; cases without a group are in none."""
    found: dict[str, list[tuple[EpisodeScores, Score]]] = defaultdict(list)
    for row, score in pairs:
        if row.group:
            found[row.group].append((row, score))
    return dict(sorted(found.items()))


def _groups(pairs: _Pairs, seed: int) -> list[GroupMean]:
    groups = [
        GroupMean(
            group=group,
            mean=_mean(values := [score.value for _, score in inside if score.value is not None]),
            cases=len({row.case for row, _ in inside}),
            n=len(inside),
            scored=len(values),
            ci95=interval(_by_case(inside), seed).ends,
        )
        for group, inside in _by_group(pairs).items()
    ]
    return sorted(groups, key=lambda g: (g.mean is None, -(g.mean or 0.0), g.group))


def _macro(pairs: _Pairs) -> tuple[float | None, str, float | None]:
    """The mean over groups, why there is none, and its standard error over repeats."""
    groups = _by_group(pairs)
    several = [group for group, inside in groups.items() if len({row.case for row, _ in inside}) > 1]
    if len(several) < 2:
        return None, "singletons", None
    mean = _mean_of_groups(groups)
    return (None, "nothing_scored", None) if mean is None else (mean, "", _se_of_groups(pairs))


def _mean_of_groups(groups: Mapping[str, _Pairs]) -> float | None:
    means = [_mean([score.value for _, score in inside if score.value is not None]) for inside in groups.values()]
    return _mean([mean for mean in means if mean is not None])


def _by_repeat(pairs: _Pairs) -> dict[int, list[tuple[EpisodeScores, Score]]]:
    found: dict[int, list[tuple[EpisodeScores, Score]]] = defaultdict(list)
    for row, score in pairs:
        found[row.repeat].append((row, score))
    return dict(sorted(found.items()))


def _se_of_groups(pairs: _Pairs) -> float | None:
    means = [_mean_of_groups(_by_group(inside)) for inside in _by_repeat(pairs).values()]
    return standard_error([mean for mean in means if mean is not None])


def _repeats(pairs: _Pairs) -> Repeats:
    means = tuple(
        _mean([score.value for _, score in inside if score.value is not None]) for inside in _by_repeat(pairs).values()
    )
    had = [mean for mean in means if mean is not None]
    return Repeats(len(means), means, _mean(had), standard_error(had))


def _over_types(scores: Sequence[ScoreSummary]) -> list[ScoreSummary]:
    means = {score.name: score.mean for score in scores}
    found = []
    for score in scores:
        if score.name in ("exam_recall", "exam_precision"):
            kinds = [
                mean
                for name, mean in means.items()
                if name.startswith(f"{score.name}_") and not name.endswith("_pooled") and mean is not None
            ]
            found.append(msgspec.structs.replace(score, over_types=_mean(kinds)))
        else:
            found.append(score)
    return found
