"""Rubric scores by theme, axis and tag, how far judges agree on criteria, and what each criterion distinguishes."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import correlation

import msgspec

from wardround.engine.text import count_noun
from wardround.evaluators.open_answers.rubric import RubricAccount
from wardround.evaluators.open_answers.rubric_points import clip, overall, rubric_score, tag_scores
from wardround.evaluators.reasons import list_reasons
from wardround.evaluators.report.agreement import Agreement, agreement
from wardround.evaluators.report.intervals import (
    ANY,
    FEWEST,
    by_case,
    deviation,
    format_ends,
    format_share,
    interval,
    mean,
)
from wardround.evaluators.report.table_text import align_figures
from wardround.scenarios.criteria import RubricItem

Ends = tuple[float, float]


class JudgedItem(msgspec.Struct, frozen=True):
    """A judged episode: its item, its scores and its account (None where no judge was asked)."""

    run: str
    episode: str
    case: str
    score: float | None
    reason: str
    account: RubricAccount | None


class TagScore(msgspec.Struct, frozen=True):
    """The clipped mean over the `n` items of a tag that have a score, with a bootstrap interval cut to 0..1.

    `kind` is `item` for labels of the whole item (theme) and `criterion` for tags of criteria (axis).
    """

    tag: str
    kind: str
    score: float | None
    n: int
    ci95: Ends | None
    ci95_reason: str = ""


class JudgesAgree(msgspec.Struct, frozen=True):
    """Two judges' votes on the same criteria, and their item scores by ICC(2,1) (Shrout and Fleiss 1979)."""

    first: str
    second: str
    criteria: Agreement
    items: int
    icc: float | None


class CriterionFigure(msgspec.Struct, frozen=True):
    """One criterion over several answers: the share that meet it, and its discrimination.

    `discrimination` is the correlation of meeting it with the score of the rest of its rubric, with the sign of its
    points, so that a criterion that good answers meet has a positive one; None below five answers or without spread.
    """

    case: str
    criterion: str
    points: float
    answers: int
    met: float | None
    undecided: int
    discrimination: float | None


class RubricTable(msgspec.Struct, frozen=True):
    """The scores of one or several runs: overall, by tag, the length of answers, agreement, criteria."""

    overall: float | None
    overall_ci95: Ends | None
    overall_reason: str
    items: int
    scored: int
    reasons: Mapping[str, int]
    characters: float | None
    length_correlation: float | None
    tags: tuple[TagScore, ...]
    judges: tuple[JudgesAgree, ...]
    criteria: tuple[CriterionFigure, ...]


PENALTIES_ONLY = "all its criteria are faults, so no score is made of them"


def rubric_table(items: Sequence[JudgedItem], seed: int = 0) -> RubricTable:
    """Compute the table of judged items; a missing answer counts with its 0."""
    values = [(one.case, one.score) for one in items if one.score is not None]
    ends, reason = _ends(values, seed)
    reasons = Counter(one.reason for one in items if one.score is None)
    lengths = [(float(one.account.characters), one.score) for one in items if one.account and one.score is not None]
    return RubricTable(
        overall=overall([value for _, value in values]),
        overall_ci95=ends,
        overall_reason=reason,
        items=len(items),
        scored=len(values),
        reasons=dict(sorted(reasons.items())),
        characters=mean([length for length, _ in lengths]) if lengths else None,
        length_correlation=_correlation(lengths),
        tags=tuple(_tags(items, seed)),
        judges=tuple(_judges(items)),
        criteria=tuple(_criteria(items)),
    )


def _ends(values: Sequence[tuple[str, float]], seed: int) -> tuple[Ends | None, str]:
    """Return the bootstrap interval of the mean, cut to 0..1 like the mean, over items with their repeats."""
    outcome = interval(by_case(values), ANY, seed)
    return (None, outcome.reason) if outcome.ends is None else ((clip(outcome.ends[0]), clip(outcome.ends[1])), "")


def _rubric(account: RubricAccount) -> list[RubricItem]:
    return [RubricItem(criterion=one.criterion, points=one.points, tags=one.tags) for one in account.criteria]


def _tags(items: Sequence[JudgedItem], seed: int) -> Iterable[TagScore]:
    by_label: dict[str, list[tuple[str, float]]] = defaultdict(list)
    by_tag: dict[str, list[tuple[str, float]]] = defaultdict(list)
    judged = [(one, one.account) for one in items if one.account is not None]
    rewarded = {tag for _, account in judged for one in account.criteria if one.points > 0 for tag in one.tags}
    for one, account in judged:
        for label in account.labels:
            by_label[label] += [(one.case, one.score)] if one.score is not None else []
        rubric, met = _rubric(account), [criterion.met for criterion in account.criteria]
        for tag, score in tag_scores(rubric, met).items():
            by_tag[tag] += [(one.case, score)] if score is not None else []
    for kind, by_name in (("item", by_label), ("criterion", by_tag)):
        for tag, values in sorted(by_name.items()):
            ends, reason = _ends(values, seed)
            why = PENALTIES_ONLY if kind == "criterion" and tag not in rewarded else reason
            yield TagScore(tag, kind, overall([value for _, value in values]), len(values), ends, why)


def _judges(items: Sequence[JudgedItem]) -> Iterable[JudgesAgree]:
    """Yield the agreement of each two judges."""
    accounts = [one.account for one in items if one.account is not None]
    votes: dict[str, dict[tuple[int, int], bool]] = defaultdict(dict)
    for item, account in enumerate(accounts):
        for place, criterion in enumerate(account.criteria):
            for vote in criterion.votes:
                if isinstance(vote.value, bool):
                    votes[vote.judge].setdefault((item, place), vote.value)
    for first, second in combinations(sorted(votes, key=lambda seat: (len(seat), seat)), 2):
        pairs = [(votes[first][at], votes[second][at]) for at in votes[first] if at in votes[second]]
        scores = [_scores_of_two(account, votes, item, (first, second)) for item, account in enumerate(accounts)]
        both = [pair for pair in scores if pair is not None]
        yield JudgesAgree(first, second, agreement(pairs), len(both), icc(both))


def _scores_of_two(
    account: RubricAccount,
    votes: Mapping[str, Mapping[tuple[int, int], bool]],
    item: int,
    judges: tuple[str, str],
) -> tuple[float, float] | None:
    """Return an item's scores by each of two judges; None if one of them left a criterion open."""
    rubric = _rubric(account)
    judged = [place for place, one in enumerate(account.criteria) if one.by == "judge"]
    first, second = (
        rubric_score([rubric[place] for place in judged], [votes[judge].get((item, place)) for place in judged])
        for judge in judges
    )
    return None if first is None or second is None else (first, second)


def icc(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return ICC(2,1), absolute agreement of two raters over items; None below five items or without any spread."""
    n, k = len(pairs), 2
    if n < FEWEST:
        return None
    grand = math.fsum(value for pair in pairs for value in pair) / (n * k)
    rows = k * math.fsum((math.fsum(pair) / k - grand) ** 2 for pair in pairs) / (n - 1)
    means = [math.fsum(pair[rater] for pair in pairs) / n for rater in range(k)]
    columns = n * math.fsum((one - grand) ** 2 for one in means) / (k - 1)
    total = math.fsum((value - grand) ** 2 for pair in pairs for value in pair)
    error = (total - rows * (n - 1) - columns * (k - 1)) / ((n - 1) * (k - 1))
    whole = rows + (k - 1) * error + k * (columns - error) / n
    return (rows - error) / whole if total > 1e-12 and abs(whole) > 1e-12 else None


def _criteria(items: Sequence[JudgedItem]) -> Iterable[CriterionFigure]:
    by_criterion: dict[tuple[str, str, float], list[tuple[RubricAccount, int]]] = defaultdict(list)
    for one in items:
        for place, criterion in enumerate(one.account.criteria if one.account else ()):
            assert one.account is not None
            by_criterion[one.case, criterion.criterion, criterion.points].append((one.account, place))
    for (case, text, points), answers in by_criterion.items():
        values = [met for account, place in answers if (met := account.criteria[place].met) is not None]
        pairs = [pair for account, place in answers if (pair := _with_the_rest(account, place)) is not None]
        relation = _correlation(pairs)
        yield CriterionFigure(
            case=case,
            criterion=text,
            points=points,
            answers=len(answers),
            met=mean(values) if values else None,
            undecided=len(answers) - len(values),
            discrimination=None if relation is None else math.copysign(1, points) * relation,
        )


def _with_the_rest(account: RubricAccount, place: int) -> tuple[float, float] | None:
    """Return whether a criterion is met, and the score of the other criteria; None if either is undecided."""
    rubric, met = _rubric(account), [one.met for one in account.criteria]
    own = met.pop(place)
    rest = rubric_score(rubric[:place] + rubric[place + 1 :], met)
    return None if own is None or rest is None else (float(own), rest)


def _correlation(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return Pearson's correlation; None below five pairs or if one side has no spread."""
    if len(pairs) < FEWEST:
        return None
    first, second = zip(*pairs, strict=True)
    return correlation(first, second) if deviation(first) and deviation(second) else None


def rubric_lines(table: RubricTable, *, criteria: int = 0) -> list[str]:
    """Return the table as lines for the terminal, with the `criteria` of least discrimination."""
    score = f"{format_share(table.overall)} {format_ends(table.overall_ci95, table.overall_reason)}"
    rows = [("Rubric score", f"{score}  {table.scored} of {count_noun(table.items, 'answer')}")]
    related = table.length_correlation
    relation = "" if related is None else f", correlation with the score {related:z.3f}"
    if table.characters is not None:
        rows.append(("Length of the answer, characters", f"{table.characters:.0f}{relation}"))
    rows += [
        (tag.tag, f"{format_share(tag.score)} {format_ends(tag.ci95, tag.ci95_reason)}  n {tag.n}")
        for tag in table.tags
    ]
    lines = align_figures(rows)
    lines += [f"Without a score: {list_reasons(table.reasons)}"] if table.reasons else []
    lines += [_agreement_line(one) for one in table.judges]
    ranked = sorted(table.criteria, key=lambda one: (one.discrimination is None, one.discrimination or 0.0, one.case))
    lines += _CRITERIA_HEAD if ranked[:criteria] else ()
    for one in ranked[:criteria]:
        apart = "–" if one.discrimination is None else f"{one.discrimination:+z.2f}"
        met = "–" if one.met is None else f"{one.met:.3f} of {one.answers}"
        lines.append(f"{apart:>14}  {met:>14}  {one.points:>+6g}  {one.case}: {one.criterion}")
    return lines


_CRITERIA_HEAD = (
    "",
    "Criteria that discriminate least",
    f"{'discrimination':>14}  {'met by':>14}  {'points':>6}  criterion",
)


def _agreement_line(one: JudgesAgree) -> str:
    figures = (("kappa", one.criteria.kappa), ("AC1", one.criteria.ac1), ("ICC of scores", one.icc))
    shares = ", ".join(f"{name} {format_share(value).strip()}" for name, value in figures)
    return f"{one.first} and {one.second}: the same on {one.criteria.agreed} of {one.criteria.n} criteria, {shares}"
