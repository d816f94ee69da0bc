"""Summarises a run from its episodes' scores: means with denominators, bounds, intervals, groups, repeats."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wardround.engine.records import Score
from wardround.engine.text import count_noun
from wardround.evaluators.evaluation import UNANSWERED
from wardround.evaluators.measures import FULL_PATHS, NO_ORDERS, UNDEFINED, measure_of, place_of, why_untaken
from wardround.evaluators.report.intervals import (
    AMOUNT,
    ANY,
    SHARE,
    Method,
    Scale,
    by_case,
    interval,
    published_interval,
    standard_error,
)
from wardround.evaluators.report.score_rows import EpisodeScores


class GroupMean(msgspec.Struct, frozen=True):
    """One group (a disease): its number of `cases` and of episodes `n`, of which `scored` have a value."""

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


class ScoreSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One score over a run.

    - `mean` is over the `scored` of `n` closed episodes of `cases` different cases. If there is none, `instead` says
      why in words.
    - `none` counts the episodes without a value, `reasons` the same by reason. `zeros` counts each 0.0 that has a typed
      reason, by reason; `no_answer` is one of these counts.
    - `answered` counts the scored episodes without the zeros for a missing answer (`evaluation.UNANSWERED`).
      `of_answered` is the mean over them, which is shown beside the mean and never replaces it.
    - `bounds` are the means with every None as 0 and as 1, without episodes in which the score is undefined
      (`UNDEFINED`: no reference, no orders in the scenario). Only shares have them, and the cost of a case: the least
      and the most that it can be where a test has no price.
    - `ci95` is the 95% interval within the scale (intervals.py), by the method `ci95_method`; if it is None,
      `ci95_reason` says why in words. `effective` is the effective number of independent episodes for a share of 0 and
      1. `ci95_published` is Student's t, not cut, as MedR-Bench prints it; None if cases repeat.
    - `method` says how right and wrong were decided: by word match, or by the judges; "" for all other scores.
    - `micro` is the mean over episodes, the same as `mean`. `macro` is the mean of the groups' means with equal weight,
      and `macro_se` its standard error over repeats. If `macro` is None, `macro_reason` says why in words, for instance
      that most groups have one case. `ungrouped` counts the episodes that it leaves out, because their case has no
      group.
    - `groups` (of the headline scores and a plug-in's shares) are sorted, best first.
    - `over_types`, of examination recall and precision, is the mean of the run's means by type (MultiCogEval, table 5).
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
    cases: int = 0
    zeros: Mapping[str, int] = {}
    answered: int = 0
    of_answered: float | None = None
    ci95_reason: str = ""
    effective: float | None = None
    ci95_published: tuple[float, float] | None = None
    method: str = ""
    instead: str = ""


class Summary(msgspec.Struct, frozen=True):
    """The summary of a run: `endings` counts closed episodes by cause, `reasons` by cause and reason; `open` is apart.

    `instead` is a sentence that replaces all scores if no episode has ended; else "".
    """

    episodes: int
    open: int
    cases: int
    repeats: int
    endings: Mapping[str, int]
    reasons: Mapping[str, int]
    scores: Sequence[ScoreSummary]
    instead: str = ""

    def score(self, name: str) -> ScoreSummary | None:
        """Return the summary of one score, or None if no episode has it."""
        return next((score for score in self.scores if score.name == name), None)


def summarise(episodes: Iterable[EpisodeScores], seed: int = 0, judges: Sequence[str] = ()) -> Summary:
    """Summarise a run; the order of the episodes has no effect.

    `seed` is that of the bootstrap, `judges` are the SPECs of the answers' judges (`RunScores.answer_judges`).
    """
    rows = sorted(episodes, key=lambda row: (row.case, row.repeat, row.episode))
    closed = [row for row in rows if row.cause is not None]
    taken = [{score.name: score for score in row.scores} for row in closed]
    names = sorted({name for scores in taken for name in scores}, key=place_of)
    endings = Counter(row.cause or "" for row in closed)
    reasons = Counter(f"{row.cause}/{row.reason}" for row in closed if row.reason)
    played, method = _played(closed), _judging_method(taken, judges)
    return Summary(
        episodes=len(closed),
        open=len(rows) - len(closed),
        cases=len(set(played.cases)),
        repeats=len(played.repeats),
        endings=dict(sorted(endings.items(), key=lambda pair: (pair[0] != "completed", pair[0]))),
        reasons=dict(sorted(reasons.items())),
        scores=_with_companions([_score_summary(name, played, _column(name, taken), seed, method) for name in names]),
        instead="" if closed else _NONE_ENDED,
    )


_NONE_ENDED = "No episode has ended, so there is no figure."
_Places = Sequence[int]
"""Places of some closed episodes among all of them."""


class _Played(msgspec.Struct, frozen=True):
    """The common data of all scores of a run: the closed episodes in order, and their groups and repeats.

    `groups` maps each group to its episodes and `sizes` to its number of cases; `repeats` has the episodes of each
    repeat, and `split` those by group.
    """

    cases: Sequence[str]
    groups: Mapping[str, _Places]
    sizes: Mapping[str, int]
    repeats: Mapping[int, _Places]
    split: Sequence[Sequence[_Places]]


def _played(rows: Sequence[EpisodeScores]) -> _Played:
    groups: dict[str, list[int]] = defaultdict(list)
    repeats: dict[int, list[int]] = defaultdict(list)
    split: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place, row in enumerate(rows):
        repeats[row.repeat].append(place)
        if row.group:
            groups[row.group].append(place)
            split[row.repeat][row.group].append(place)
    return _Played(
        cases=[row.case for row in rows],
        groups=dict(sorted(groups.items())),
        sizes={group: len({rows[place].case for place in places}) for group, places in groups.items()},
        repeats=dict(sorted(repeats.items())),
        split=[list(split[repeat].values()) for repeat in sorted(repeats)],
    )


class _Column(msgspec.Struct, frozen=True):
    """One score of all closed episodes: its values and reasons ("" for none); or `instead`, why they have no mean."""

    values: Sequence[float | None]
    reasons: Sequence[str]
    instead: str = ""

    def at(self, places: _Places) -> list[float]:
        """Return the values of the episodes at these places, as far as they have one."""
        return [value for place in places if (value := self.values[place]) is not None]


def _judging_method(taken: Sequence[Mapping[str, Score]], judges: Sequence[str]) -> str:
    """Return how a run's answers were judged; judges leave the lexical verdict beside their own."""
    named = [judge for judge in dict.fromkeys(judges) if judge != "lexical"]
    if not any("lexical_match" in scores for scores in taken) or (judges and not named):
        return WORD_MATCH
    return f"judged by {', '.join(named)}" if named else "judged by a model"


WORD_MATCH = "word match (a lower bound, not a verdict)"
"""The method of a score in which no judge took part."""


def _column(name: str, taken: Sequence[Mapping[str, Score]]) -> _Column:
    scores = [_score(name, of_episode) for of_episode in taken]
    if any(score.reason == MIXED for score in scores):
        return _Column([None] * len(scores), [MIXED] * len(scores), _OF_TWO_RULES)
    return _Column([score.value for score in scores], [score.reason for score in scores])


def _score(name: str, scores: Mapping[str, Score]) -> Score:
    """Return an episode's score, or None with a reason; without orders there is no full path."""
    score = scores.get(name) or Score(name, None, why_untaken(name, scores))
    if score.value is None and name in FULL_PATHS:
        recall = scores.get("exam_recall")
        if recall is not None and recall.reason == NO_ORDERS:
            return Score(name, None, NO_ORDERS)
    return score


def _score_summary(name: str, played: _Played, column: _Column, seed: int, method: str) -> ScoreSummary:
    measure, n = measure_of(name), len(column.values)
    values = [value for value in column.values if value is not None]
    pairs = list(zip(column.values, column.reasons, strict=True))
    missing = Counter(reason or "no_reason" for value, reason in pairs if value is None)
    zeros = Counter(reason for value, reason in pairs if value == 0 and reason)
    answered = [value for value, reason in pairs if value is not None and not (value == 0 and reason in UNANSWERED)]
    cases = _by_case(column, played.cases, range(n))
    share = _is_share(name, values)
    ci = interval(cases, scale_of(name, values), seed)
    macro, macro_reason, macro_se = _macro(column, played)
    grouped = share and (measure.headline or not measure.unit)
    return ScoreSummary(
        name=name,
        mean=_mean(values, name),
        n=n,
        scored=len(values),
        none=n - len(values),
        no_answer=zeros.get("no_answer", 0),
        reasons=dict(sorted(missing.items())),
        bounds=_bounds(values, missing) if share and not column.instead else None,
        ci95=ci.ends,
        ci95_method=ci.method,
        micro=_mean(values, name),
        macro=macro,
        macro_reason=macro_reason,
        macro_se=macro_se,
        ungrouped=n - sum(map(len, played.groups.values())),
        repeats=_repeats(column, played, name),
        groups=_groups(column, played, seed, name) if grouped else (),
        cases=len(cases),
        zeros=dict(sorted(zeros.items())),
        answered=len(answered),
        of_answered=_mean(answered, name),
        ci95_reason=column.instead or ci.reason,
        effective=ci.effective,
        ci95_published=published_interval(cases).ends,
        method=(WORD_MATCH if measure.by_words else method) if measure.matched else "",
        instead=column.instead or ("" if values else f"none of {count_noun(n, 'closed episode')} has a value"),
    )


MIXED = "mixed_rules"
"""Reason of all values of a score if some would be under other rules than the rest (wardround/scoring/score.py)."""
_OF_TWO_RULES = "no figure: the episodes were scored under rules of different versions; score the run again"


def _mean(values: Sequence[float], name: str = "") -> float | None:
    """Return the mean, cut to 0..1 if the score `name` asks for it."""
    mean = math.fsum(values) / len(values) if values else None
    return min(1.0, max(0.0, mean)) if mean is not None and name and measure_of(name).clipped else mean


def scale_of(name: str, values: Sequence[float]) -> Scale:
    """Return the range of a score's mean."""
    measure = measure_of(name)
    return SHARE if measure.clipped or _is_share(name, values) else AMOUNT if measure.unit else ANY


def _is_share(name: str, values: Sequence[float]) -> bool:
    """Whether the score is a share: Wardround's own by its unit, another if all its values are in 0..1."""
    measure, within = measure_of(name), bool(values) and all(0 <= value <= 1 for value in values)
    return not measure.clipped and (measure.unit == "share" or (not measure.unit and within))


def _bounds(values: Sequence[float], missing: Mapping[str, int]) -> tuple[float, float] | None:
    unknown = sum(count for reason, count in missing.items() if reason not in UNDEFINED)
    if NO_ORDERS in missing or not (n := len(values) + unknown):
        return None
    return math.fsum(values) / n, (math.fsum(values) + unknown) / n


def _by_case(column: _Column, cases: Sequence[str], places: _Places) -> dict[str, list[float]]:
    return by_case((cases[place], value) for place in places if (value := column.values[place]) is not None)


def _groups(column: _Column, played: _Played, seed: int, name: str) -> list[GroupMean]:
    groups = [
        GroupMean(
            group=group,
            mean=_mean(values := column.at(places), name),
            cases=played.sizes[group],
            n=len(places),
            scored=len(values),
            ci95=interval(_by_case(column, played.cases, places), SHARE, seed).ends,
        )
        for group, places in played.groups.items()
    ]
    return sorted(groups, key=lambda g: (g.mean is None, -(g.mean or 0.0), g.group))


def _macro(column: _Column, played: _Played) -> tuple[float | None, str, float | None]:
    """Return the mean over groups, the reason if there is none, and its standard error over repeats."""
    groups, single = len(played.groups), sum(size == 1 for size in played.sizes.values())
    if groups < 2:
        return None, "all cases are of one group" if groups else "no case has a group", None
    if single * 2 > groups or groups - single < 2:
        return None, f"{single} of {groups} groups have one case", None
    if (mean := _mean_of(column, played.groups.values())) is None:
        return None, "no group has a value", None
    means = [_mean_of(column, groups) for groups in played.split]
    return mean, "", standard_error([mean for mean in means if mean is not None])


def _mean_of(column: _Column, groups: Iterable[_Places]) -> float | None:
    """Return the mean of the means of some groups."""
    means = [_mean(column.at(places)) for places in groups]
    return _mean([mean for mean in means if mean is not None])


def _repeats(column: _Column, played: _Played, name: str) -> Repeats:
    means = tuple(_mean(column.at(places), name) for places in played.repeats.values())
    had = [mean for mean in means if mean is not None]
    return Repeats(len(means), means, _mean(had), standard_error(had))


def _with_companions(scores: Sequence[ScoreSummary]) -> list[ScoreSummary]:
    """Return the scores with what others of the run say of them: means over types, bounds of the cost of a case."""
    means = {score.name: score.mean for score in scores}
    kinds = {
        whole: [
            mean
            for name, mean in means.items()
            if name.startswith(f"{whole}_") and not name.endswith("_pooled") and mean is not None
        ]
        for whole in ("exam_recall", "exam_precision")
    }
    ends = means.get("known_cost_usd"), means.get("most_cost_usd")
    cost = None if ends[0] is None or ends[1] is None else (ends[0], ends[1])
    return [
        msgspec.structs.replace(score, over_types=_mean(kinds[score.name]))
        if score.name in kinds
        else msgspec.structs.replace(score, bounds=cost)
        if score.name == "case_cost_usd" and score.none
        else score
        for score in scores
    ]
