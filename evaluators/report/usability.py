"""Usability by category and sub-category with intervals, the judge's stability, and agreement with people."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wardround.engine.text import count_noun
from wardround.evaluators.open_answers.checklist import NOT_MEASURED, ChecklistAccount, TurnAccount
from wardround.evaluators.open_answers.checklist_marking import Marking
from wardround.evaluators.open_answers.checklist_scale import CATEGORIES, ERRORS, Category
from wardround.evaluators.reasons import list_reasons
from wardround.evaluators.report.agreement import Agreement, agreement
from wardround.evaluators.report.intervals import FEWEST, by_case, deviation, format_ends, format_share, interval, mean
from wardround.evaluators.report.table_text import align_figures

Ends = tuple[float, float]
LEAST_AGREEMENT = 0.9
"""The agreement with people under which a category is reported from people only, unless the user states another."""
NO_INTERVAL = f"a category has fewer than {FEWEST} cases, or no spread"


class MarkedItem(msgspec.Struct, frozen=True):
    """A marked episode: its item and repeat, and its account."""

    episode: str
    case: str
    account: ChecklistAccount


class Usability(msgspec.Struct, frozen=True):
    """The usability of a group of answers: the mean of their verdicts over those `scored` of `answers`.

    `usable` of `markings` single markings call an answer usable; a missing answer counts with as many
    markings as it was to have. `source` is `judges`, or `people` where the judges do not agree with them.
    """

    group: str
    rate: float | None
    answers: int
    scored: int
    usable: int
    markings: int
    ci95: Ends | None
    ci95_reason: str = ""
    strict: float | None = None
    errors: Mapping[str, float] = {}
    source: str = "judges"


class Stability(msgspec.Struct, frozen=True):
    """How steadily one judge marks the same answer: the mean coefficient of variation of its scores.

    `variability` is the mean over answers of s / mean, with n - 1; `same` the share of answers whose markings all agree
    on usability. None if the judge marked no answer twice.
    """

    judge: str
    answers: int
    times: int
    variability: float | None
    same: float | None


class Confusion(msgspec.Struct, frozen=True):
    """The judges' verdicts against people's in one category.

    `over` counts answers that only the judges call usable (they overestimate), `under` those that only people do.
    `trusted`: the agreement is at least as stated, so the judges' rate may be reported.
    """

    group: str
    both: int
    over: int
    under: int
    neither: int
    rate: float | None
    agreement: Agreement
    trusted: bool


class UsabilityTable(msgspec.Struct, frozen=True):
    """Usability overall, by category and by sub-category.

    `overall` is the unweighted mean of the categories present (`LLMEval-Med`: of all five); `lacking` names the others.
    """

    overall: float | None
    overall_ci95: Ends | None
    lacking: tuple[Category, ...]
    categories: tuple[Usability, ...]
    kinds: tuple[Usability, ...]
    stability: tuple[Stability, ...]
    confusion: tuple[Confusion, ...] = ()
    overall_reason: str = ""
    drafted: int = 0
    strangers: tuple[str, ...] = ()
    """Episodes of people's verdicts whose answers were not marked, or not in that turn."""
    left: Mapping[str, int] = {}
    """By reason, how many answers have no marks."""


People = Mapping[tuple[str, int], bool]
"""People's verdicts by episode and turn (1 is the first)."""


class ItemAgreement(msgspec.Struct, frozen=True):
    """How far the verdicts on the answers to one item agree, among markings or with people; `pairs` were compared."""

    case: str
    agreement: float
    pairs: int


def by_agreement(items: Sequence[MarkedItem], people: People | None = None) -> list[ItemAgreement]:
    """Return the items, those of low agreement first: with people, or else among the markings of each answer.

    An item without anything to compare is left out.
    """
    agreed: dict[str, list[float]] = defaultdict(list)
    for one, turn in _answers(items):
        verdicts = [bool(mark.usable) for mark in turn.markings if mark.usable is not None]
        said = people.get((one.episode, turn.turn)) if people else None
        if people and said is not None and verdicts:
            agreed[one.case] += [float(verdict is said) for verdict in verdicts]
        elif not people and len(verdicts) > 1:
            agreed[one.case].append(max(verdicts.count(True), verdicts.count(False)) / len(verdicts))
    rows = [ItemAgreement(case, mean(values), len(values)) for case, values in agreed.items()]
    return sorted(rows, key=lambda row: (row.agreement, row.case))


def usability_table(
    items: Sequence[MarkedItem],
    people: People | None = None,
    *,
    left: Mapping[str, int],
    stated: float = LEAST_AGREEMENT,
    seed: int = 0,
) -> UsabilityTable:
    """Compute the table of marked items; with `people`, a category that disagrees with them has their rate.

    `left` counts by reason the answers that have no marks.
    """
    confusion = tuple(_confusions(items, people, stated)) if people else ()
    doubted = {one.group for one in confusion if not one.trusted}

    def usability(name: str, group: Sequence[MarkedItem]) -> Usability:
        if people and group[0].account.category in doubted:
            return _by_people(name, group, people, seed)
        return _usability(name, group, seed)

    grouped = {category: [one for one in items if one.account.category == category] for category in CATEGORIES}
    categories = [usability(category, group) for category, group in grouped.items() if group]
    kinds: dict[str, list[MarkedItem]] = defaultdict(list)
    for one in items:
        kinds[" / ".join((CATEGORIES[one.account.category], *one.account.kind[1:2]))].append(one)
    rates = [one.rate for one in categories if one.rate is not None]
    ends = _overall_ends(categories)
    return UsabilityTable(
        overall=mean(rates) if rates and len(rates) == len(categories) else None,
        overall_ci95=ends,
        lacking=tuple(one for one in CATEGORIES if one not in {row.group for row in categories}),
        categories=tuple(categories),
        kinds=tuple(usability(name, group) for name, group in kinds.items()),
        stability=tuple(_stability(items)),
        confusion=confusion,
        overall_reason="" if ends else NO_INTERVAL,
        drafted=sum(one.account.drafted for one in items),
        strangers=_strangers(items, people or {}),
        left=left,
    )


def _strangers(items: Sequence[MarkedItem], people: People) -> tuple[str, ...]:
    marked = {(one.episode, turn.turn) for one, turn in _answers(items)}
    return tuple(dict.fromkeys(episode for episode, turn in people if (episode, turn) not in marked))


def _answers(items: Iterable[MarkedItem]) -> list[tuple[MarkedItem, TurnAccount]]:
    return [(one, turn) for one in items for turn in one.account.turns if turn.reason != NOT_MEASURED]


def _usability(name: str, items: Sequence[MarkedItem], seed: int) -> Usability:
    answers = _answers(items)
    values = [(one.case, turn.usable) for one, turn in answers if turn.usable is not None]
    strict = [turn.strict for _, turn in answers if turn.strict is not None]
    markings = [one for _, turn in answers for one in turn.markings if one.score is not None]
    silent = sum(one.account.votes for one, turn in answers if not turn.markings and turn.usable == 0)
    ci = interval(by_case(values), seed=seed)
    return Usability(
        group=name,
        rate=mean([value for _, value in values]) if values else None,
        answers=len(answers),
        scored=len(values),
        usable=sum(_usable(one, items[0].account) for one in markings),
        markings=len(markings) + silent,
        ci95=ci.ends,
        ci95_reason=ci.reason,
        strict=mean(strict) if strict else None,
        errors={error: sum(error in one.errors for one in markings) / len(markings) for error in ERRORS if markings},
    )


def _usable(one: Marking, account: ChecklistAccount) -> bool:
    return bool(one.usable if account.reading == "3.2" else one.strict)


def _overall_ends(rows: Sequence[Usability]) -> Ends | None:
    """Return the interval of the unweighted mean from those of the categories: the method MOVER.

    The distances from the categories' rates to their lower ends are combined as the root of the sum of their squares,
    and so are those to the upper ends. At a rate of 1 the interval therefore extends only downwards, and with a single
    category it is that category's own.
    """
    known = [(row.rate, *row.ci95) for row in rows if row.rate is not None and row.ci95]
    if not rows or len(known) < len(rows):
        return None
    middle = mean([rate for rate, _, _ in known])
    below = math.hypot(*(rate - low for rate, low, _ in known)) / len(known)
    above = math.hypot(*(high - rate for rate, _, high in known)) / len(known)
    return max(0.0, middle - below), min(1.0, middle + above)


def _stability(items: Sequence[MarkedItem]) -> Iterable[Stability]:
    by_judge: dict[str, list[list[Marking]]] = defaultdict(list)
    for _, turn in _answers(items):
        for judge in dict.fromkeys(one.judge for one in turn.markings):
            by_judge[judge].append([one for one in turn.markings if one.judge == judge and one.score is not None])
    for judge, answers in by_judge.items():
        again = [made for made in answers if len(made) > 1]
        spread = [_variation([float(one.score or 0) for one in made]) for made in again]
        yield Stability(
            judge=judge,
            answers=len(again),
            times=max(map(len, answers), default=0),
            variability=mean(spread) if spread else None,
            same=sum(len({one.usable for one in made}) == 1 for made in again) / len(again) if again else None,
        )


def _variation(scores: Sequence[float]) -> float:
    middle = mean(scores)
    return deviation(scores) / middle if middle else 0.0


def _pairs(items: Sequence[MarkedItem], people: People) -> list[tuple[bool, bool]]:
    """Return the verdicts of the judges and of people on the answers that both marked; a tie is no verdict."""
    return [
        (turn.usable > 0.5, people[one.episode, turn.turn])
        for one, turn in _answers(items)
        if turn.usable is not None and turn.usable != 0.5 and (one.episode, turn.turn) in people
    ]


def _confusions(items: Sequence[MarkedItem], people: People, stated: float) -> Iterable[Confusion]:
    for category in CATEGORIES:
        pairs = _pairs([one for one in items if one.account.category == category], people)
        if not pairs:
            continue
        rate = sum(ours is theirs for ours, theirs in pairs) / len(pairs)
        yield Confusion(
            group=category,
            both=pairs.count((True, True)),
            over=pairs.count((True, False)),
            under=pairs.count((False, True)),
            neither=pairs.count((False, False)),
            rate=rate,
            agreement=agreement(pairs),
            trusted=rate >= stated,
        )


def _by_people(category: str, items: Sequence[MarkedItem], people: People, seed: int) -> Usability:
    """Return the usability of a category, or of one of its sub-categories, from people's verdicts alone."""
    answers = _answers(items)
    said = [(one.case, people.get((one.episode, turn.turn))) for one, turn in answers]
    verdicts = [(case, float(verdict)) for case, verdict in said if verdict is not None]
    values = [value for _, value in verdicts]
    ci = interval(by_case(verdicts), seed=seed)
    return Usability(
        group=category,
        rate=mean(values) if values else None,
        answers=len(answers),
        scored=len(values),
        usable=int(math.fsum(values)),
        markings=len(values),
        ci95=ci.ends,
        ci95_reason=ci.reason if values else "people gave no verdict",
        source="people",
    )


def usability_lines(table: UsabilityTable) -> list[str]:
    """Return the table as lines for the terminal."""
    name = "Overall" + ("" if not table.lacking else f" (mean of {len(table.categories)} of {len(CATEGORIES)})")
    rows = [(name, f"{format_share(table.overall)} {format_ends(table.overall_ci95, table.overall_reason)}")]
    for row in (*table.categories, *table.kinds):
        label = _TITLES.get(row.group, f"  {row.group}")
        source = "  from people only" if row.source == "people" else ""
        of = f"{row.usable}/{row.markings}"
        rows.append((label, f"{format_share(row.rate)} {format_ends(row.ci95, row.ci95_reason)}  {of}{source}"))
    lines = align_figures(rows)
    for row in table.categories:
        strict = f"{_TITLES[row.group]}: {format_share(row.strict)} by section 4.2 (every dimension at least 4)"
        lines += [strict] if row.source == "judges" and row.strict != row.rate else []
        errors = ", ".join(f"{error.replace('_', ' ')} {share:.3f}" for error, share in row.errors.items() if share)
        lines += [f"Errors, {_TITLES[row.group]}: {errors}"] if errors else []
    lines += [_stability_line(one) for one in table.stability]
    lines += [_confusion_line(one) for one in table.confusion]
    lines += [f"Without marks: {list_reasons(table.left)}"] if table.left else []
    named = ", ".join(table.strangers[:_NAMED]) + (", ..." if len(table.strangers) > _NAMED else "")
    lines += [f"People's verdicts on answers that were not marked here are left out: {named}"] if named else []
    drafts = f"{count_noun(table.drafted, 'answer')} marked by a model's draft that nobody has read"
    return [*lines, drafts] if table.drafted else lines


_TITLES: Mapping[str, str] = {str(name): title for name, title in CATEGORIES.items()}


_NAMED = 5


def _stability_line(one: Stability) -> str:
    if one.times == 0:
        return f"{one.judge} gave no mark that could be read"
    if one.variability is None or one.same is None:
        return f"{one.judge} marked each answer once: its stability is not known (--judge-repeats 5)"
    return (
        f"{one.judge} marked {count_noun(one.answers, 'answer')} {one.times} times: "
        f"variability {100 * one.variability:.2f} %, the same verdict on {100 * one.same:.1f} %"
    )


def _confusion_line(one: Confusion) -> str:
    kappa = "–" if one.agreement.kappa is None else f"{one.agreement.kappa:z.3f}"
    verdict = "" if one.trusted else "; under the stated agreement, so this category is reported from people only"
    direction = "overestimate" if one.over > one.under else "underestimate" if one.under > one.over else "do not lean"
    return (
        f"People, {_TITLES[one.group]}: agreement {format_share(one.rate)}, kappa {kappa}; both usable {one.both}, "
        f"judges only {one.over}, people only {one.under}, neither {one.neither}; the judges {direction}{verdict}"
    )
