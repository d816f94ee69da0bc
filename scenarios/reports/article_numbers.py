"""Compares the numbers of a finding of a case with those of the sentences on which the finding rests (its evidence).

| the number of the case | is |
|---|---|
| equal to a number of the evidence after conversion and rounding, or computed from two of them | right |
| worded as a difference, or a count of up to three or in words | open |
| equal to a number elsewhere in the article among the same words | open |
| none of these, and the evidence has another number of its kind that the finding does not give | contradicted |
| none of these, and the evidence has no number of its kind | open: a person reads it |
| one of two that have changed places: the evidence gives each to the words of the other | contradicted |
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from wardround.scenarios.reports.case_summary import Unfaithful
from wardround.scenarios.reports.finding_evidence import (
    ArticleIndex,
    FindingEvidence,
    meets,
    spelled_out,
    with_prefixes,
)
from wardround.scenarios.reports.quantities import Quantity, quantities, same_quantity, written_value
from wardround.scenarios.reports.scales import NEAR, period_days, plain_scales, smoked
from wardround.scenarios.reports.statements import GENERIC, longhand, site, text_concepts, word_concept

_INFORMS = ("Patient Information", "Patient Demographics")
_HEAD = 30
"""Number of characters at the beginning of the item on the patient in which a time is an age."""


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A number of a sentence with the words around it.

    `label` are the concepts up to the numbers beside it, `clause` those in its clause. `derived`: it is worded as a
    difference, a multiple or an ordinal. `age`: it is an age. `period` are the days in which it is taken ('a week'), 0
    if none are said.
    """

    quantity: Quantity
    label: frozenset[str]
    clause: frozenset[str]
    derived: bool
    age: bool
    period: float


_SEPARATOR = re.compile(r"[;,()\[\]|]|\.\s|\b(?:and|with|but|versus|vs|against|compared|from)\b|->|\u2192")
_OPENED = re.compile(r"[(\[:=]\s*$")
"""A bracket, colon or sign of equality before a number: 'CRP (3 mg/L)'."""
_DERIVED_BEFORE = re.compile(
    r"(?i)(?:\bby|\bput on|\bdown|(?<!made )(?<!makes )\bup|\bgain\w*(?: of)?|\b(?:fall|drop|rise|loss|difference"
    r"|increase|decrease"
    r"|reduction|increment)(?: \w+){0,4}? of|\bminus|\bplus|\bBMI\D{0,20}|\banother|\bevery|\bper|['\u2019]|[+\u2212-])"
    r"\s*(?:about |around |~)?$"
)
_DERIVED_AFTER = re.compile(
    r"(?i)^\W*(?:[a-z%\u00b5/\u00b0]{1,8}\s+)?(?:(?:of )?relative|worse|better|more|less|fewer"
    r"|thicker|thinner|smaller|longer|shorter|lower|higher|larger|warmer|hotter|cooler|colder|heavier|lighter|taller"
    r"|wider|narrower|deeper|faster|slower|greater"
    r"|older|younger|apart|excess|differ\w*|(?:\w+ )?(?:fall|drop|rise|gap|excess)|fold"
    r"|times (?:the|its|as|above|over|a)|below|above|over|under)\b"
)
_MINUS = ("-", "\u2212")
_AGE = re.compile(
    r"(?i)(?:\bage[d]?\W*(?:of )?|\bat (?:the age of )?(?:about |around )?|@ ?"
    r"|\b(?:since|when|until|while|before) (?:s?he|the patient) (?:was|had been) (?:about |around |only )?)$"
)
_AGED = re.compile(r"(?i)^[\s-]*(?:years? )?(?:old\b|of age\b|/?o\b|[MF]\b)")
_ORDINAL = re.compile(
    r"(?i)\d+(?:st|nd|rd|th)\b|(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
    r"|\w+teenth|twentieth)\b"
)
"""An ordinal. 'The 8th week' comes after seven weeks, so it need not equal a number of the evidence."""
_PRESSURE = re.compile(r"\bmm Hg\b")
_UNTELLING_TEXT = "predicted expected range limit count raised daily year old total upper lower"
_UNTELLING = frozenset(word_concept(word) for word in _UNTELLING_TEXT.split())


@lru_cache(maxsize=16384)
def _numbered(sentence: str) -> tuple[_Numbered, ...]:
    text = plain_scales(longhand(_PRESSURE.sub("mmHg", sentence)))
    every = quantities(text)
    read: list[_Numbered] = []
    for place, one in enumerate(every):
        before, after = text[: one.start], text[one.end :]
        start = every[place - 1].end if place else 0
        stop = every[place + 1].start if place + 1 < len(every) else len(text)
        parts = [part for part in _SEPARATOR.split(_OPENED.sub(" ", text[start : one.start])) if part]
        beside = f"{parts[-1] if parts else ''} {_SEPARATOR.split(text[one.end : stop])[0]}"
        clause = re.split(r";|\. ", before)[-1] + re.split(r";|\. ", after)[0]
        derived = _ORDINAL.match(text, one.start) or _DERIVED_BEFORE.search(before) or _DERIVED_AFTER.search(after)
        if not one.dimension and before.endswith(_MINUS):
            derived = None  # a value below zero
        age = one.dimension in ("", "time") and bool(_AGE.search(before) or _AGED.search(after))
        period = period_days(after[:NEAR]) if one.dimension != "time" else 0.0
        label, around = (frozenset(text_concepts(part)) - GENERIC for part in (beside, clause))
        read.append(_Numbered(one, label, around, bool(derived), age, period))
    return tuple(read)


@lru_cache(maxsize=32)
def _every_number(index: ArticleIndex) -> tuple[_Numbered, ...]:
    return tuple(one for sentence in index.sentences for one in _numbered(sentence))


def number_contradictions(claim: FindingEvidence, index: ArticleIndex) -> Iterator[Unfaithful]:
    """The numbers of a finding for which the evidence has another value, or which it gives for another thing."""
    mine = [_as_age(one, claim) for one in _numbered(spelled_out(claim.finding, claim.sentences))]
    theirs = [one for sentence in claim.sentences for one in _numbered(sentence)]
    left = [one for one in theirs if not any(_equal(other, one) for other in mine)]
    unknown = list(_unaccounted(claim, mine, theirs, index))
    for one in unknown:
        if _elsewhere(one, claim, index):
            continue
        if any(
            _of_one_kind(one, other)
            and (_linked(one, other, unknown, left) or _amid(mine.index(one), mine, theirs.index(other), theirs))
            for other in left
        ):
            yield Unfaithful("number", one.quantity.written, claim.finding, " ".join(claim.sentences), claim.item)
    for one in _exchanged(mine, theirs):
        yield Unfaithful("number", one.quantity.written, claim.finding, " ".join(claim.sentences), claim.item)


def _as_age(one: _Numbered, claim: FindingEvidence) -> _Numbered:
    """The number, marked as an age if it is a time at the beginning of the item on the patient."""
    start = claim.item in _INFORMS and one.quantity.dimension == "time" and one.quantity.start < _HEAD
    return replace(one, age=True) if start else one


def open_numbers(claim: FindingEvidence, index: ArticleIndex) -> tuple[str, ...]:
    """The numbers of a finding that its sentences do not have and that do not follow from them."""
    mine = _numbered(spelled_out(claim.finding, claim.sentences))
    theirs = [one for sentence in claim.sentences for one in _numbered(sentence)]
    return tuple(one.quantity.written for one in _unaccounted(claim, mine, theirs, index))


def _unaccounted(
    claim: FindingEvidence, mine: Sequence[_Numbered], theirs: Sequence[_Numbered], index: ArticleIndex
) -> Iterator[_Numbered]:
    ages = [one for one in _every_number(index) if one.age]
    for one in mine:
        if one.derived or _little(one.quantity) or any(_equal(one, other) for other in theirs):
            continue
        if not _computed(one, [*theirs, *(age for age in ages if age not in theirs)], claim):
            yield one


_FEW = 3
_IN_WORDS = 12


def _little(one: Quantity) -> bool:
    """Whether a number says too little to check: 0, one of a unit, or a count that is small or in words."""
    unit = one.value == one.step or (one.written[0].isalpha() and one.value < 2 * one.step)
    count = not one.dimension and one.step == 1 and one.value <= (_IN_WORDS if one.written[0].isalpha() else _FEW)
    return one.value == 0 or count or (one.dimension in ("", "time") and unit)


def _elsewhere(one: _Numbered, claim: FindingEvidence, index: ArticleIndex) -> bool:
    """Whether the article has the number elsewhere: among the same words or as an age; anywhere if nothing is cited."""
    near = with_prefixes(one.label)
    informs = claim.item in _INFORMS
    return any(
        _equal(one, other)
        and (not claim.cited or any(meets(name, near) for name in other.label) or (informs and other.age))
        for other in _every_number(index)
    )


def _linked(one: _Numbered, other: _Numbered, unknown: Sequence[_Numbered], left: Sequence[_Numbered]) -> bool:
    """Whether two different numbers of the same kind are values of one thing, so that one contradicts the other.

    Two measured values are. Two times or bare numbers are only if both are ages, if they have the same digits or stand
    among the same words, or if they are the only ones of their unit that the other text lacks.
    """
    ours, theirs = one.quantity, other.quantity
    if one.age or other.age:
        return one.age and other.age
    if ours.dimension == theirs.dimension not in ("", "time") or _same_digits(ours, theirs):
        return True
    if any(meets(name, with_prefixes(other.label)) for name in one.label - _UNTELLING if not site(name)):
        return True
    if not ours.dimension and ours.value <= _FEW:
        return False
    alone = all(sum(_of_one_unit(one, own) for own in numbers) <= 1 for numbers in (unknown, left))
    return alone and _of_one_unit(one, other)


def _same_digits(ours: Quantity, theirs: Quantity) -> bool:
    """Whether two numbers are written alike, or with the same figures in another order."""
    return sorted(ours.written) == sorted(theirs.written) or (
        written_value(ours.written)[0] == written_value(theirs.written)[0]
    )


def _amid(at: int, mine: Sequence[_Numbered], where: int, theirs: Sequence[_Numbered]) -> bool:
    """Whether two numbers stand between the same two others: 49 and 39 in '98, 61, 49, 22' and '98, 61, 39, 22'."""
    beside = [(at - 1, where - 1), (at + 1, where + 1)]
    inside = all(0 <= one < len(mine) and 0 <= other < len(theirs) for one, other in beside)
    return inside and all(_equal(mine[one], theirs[other]) for one, other in beside)


def _of_one_unit(one: _Numbered, other: _Numbered) -> bool:
    """Whether two numbers have the same unit, in the same size (mg, and not mg and g)."""
    sizes = [number.quantity.value / (written_value(number.quantity.written)[0] or 1.0) for number in (one, other)]
    return one.quantity.dimension == other.quantity.dimension and abs(sizes[0] - sizes[1]) <= 1e-6 * sizes[0]


def _of_one_kind(one: _Numbered, other: _Numbered) -> bool:
    """Whether two numbers may be values of one quantity: they have the same dimension, or one has no unit."""
    both = ["time" if number.age else number.quantity.dimension for number in (one, other)]
    return both[0] == both[1] or ("" in both and "time" not in both)


@lru_cache(maxsize=65536)
def _equal(said: _Numbered, known: _Numbered) -> bool:
    """Whether two numbers are the same after conversion and rounding; one may be without its unit."""
    ours, theirs = said.quantity, known.quantity
    mine, its = written_value(ours.written)[0], written_value(theirs.written)[0]
    if ours.decade:
        return same_quantity(ours, theirs)
    if ours.dimension == theirs.dimension:
        if said.period and known.period and said.period != known.period:
            each, other = ours.value / said.period, theirs.value / known.period
            return abs(each - other) <= (0.03 if ours.dimension else 0.12) * other
        rounded = ours.step > 1.001 * theirs.step and abs(ours.value - theirs.value) <= 0.5 * ours.step
        return (
            same_quantity(ours, theirs, tuple(said.clause))
            or (bool(ours.dimension) and rounded)
            or _about(ours, theirs)
        )
    if {ours.dimension, theirs.dimension} == {"length", "sedimentation"}:
        return mine == its
    if ours.dimension and theirs.dimension:
        both = said.label & known.label if said.label and known.label else said.clause | known.clause
        return same_quantity(ours, theirs, tuple(both))
    return mine == its or (ours.rough and abs(mine - its) <= 0.05 * its) or _without_unit(said, known)


def _about(ours: Quantity, theirs: Quantity) -> bool:
    """Whether a number is near enough to the known one, if it is rough or a time in another unit."""
    if ours.rough:
        return abs(ours.value - theirs.value) <= (0.18 if ours.dimension else 0.05) * theirs.value
    return (
        ours.dimension == "time"
        and abs(ours.step - theirs.step) > 1e-9
        and (abs(ours.value - theirs.value) <= 0.1 * theirs.value)
    )


_TWO_UNITS_TEXT = "hemoglobin c-reactive_protein crp fibrinogen protein albumin immunoglobulin igg iga igm"
_TWO_UNITS = frozenset(word_concept(word) for word in _TWO_UNITS_TEXT.split())
"""Substances that some report per litre and others per decilitre, so that a bare number may be ten times as large."""


def _without_unit(said: _Numbered, known: _Numbered) -> bool:
    """Whether a bare number equals one with a unit, in some usual unit: thousands per microlitre, millimetres."""
    full, bare = sorted((said.quantity, known.quantity), key=lambda one: not one.dimension)
    slack = (0.05 if said.quantity.rough else 1e-6) * bare.value
    if full.dimension.endswith("/volume"):
        tenfold = not (said.label | known.label).isdisjoint(_TWO_UNITS)
        written = written_value(full.written)[0]
        return any(abs(full.value / size - bare.value) <= slack for size in (1e3, 1e6, 1e9)) or (
            tenfold and any(abs(written * size - bare.value) <= 0.02 * bare.value for size in (0.1, 10))
        )
    sizes = (0.1, 10, 0.01, 100, 1e3, 1e-3) if full.dimension in ("length", "mass", "volume") else ()
    return any(abs(written_value(full.written)[0] * size - bare.value) <= slack for size in sizes)


_CALENDAR = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|(?:19|20)\d\d)\b"
)
_CLOCK = re.compile(r"(?i)\b\d{1,2}[:.]\d\d\b(?! ?[%a-z/])|\b\d{1,2}(?::\d\d)? ?[ap]\.?m\b|\b(?:noon|midnight)\b")
_LATER = re.compile(r"(?i)[\w.]+[ -]\w+ (?:later|earlier|before|after|apart)\b")
_PACK_YEARS = re.compile(r"(?i)[ -]?(?:pack[ -]?y|PY\b)")
_YEAR = 365.25


def _computed(one: _Numbered, evidence: Sequence[_Numbered], claim: FindingEvidence) -> bool:
    """Whether a number follows from the evidence by simple arithmetic: a difference, a share, a sum."""
    ours, text = one.quantity, " ".join(claim.sentences)
    if _PACK_YEARS.match(claim.finding[claim.finding.find(ours.written) + len(ours.written) :]) and "pack" not in text:
        return smoked(ours.value, text)
    plain = [written_value(other.quantity.written)[0] for other in evidence]
    same = [other.quantity.value for other in evidence if other.quantity.dimension == ours.dimension]
    shares = [other.quantity.value / 100 for other in evidence if other.quantity.dimension == "share"]
    slack = max(ours.step, 1e-6 * ours.value) / 2
    ways: list[float] = []
    if ours.dimension == "share":
        ways = [100 - value for value in same] + [100 * value for value in plain if value < 1]
        ways += [100 * part / whole for part, whole in itertools.permutations(plain, 2) if part < whole]
    elif ours.dimension == "time":
        if len(_CALENDAR.findall(text)) > 1 or len(_CLOCK.findall(text)) > 1:
            return True  # the time between two dates
        ways = _between_years(evidence)
        if _LATER.match(claim.finding[claim.finding.find(ours.written) :]):
            ways += [abs(a - b) for a, b in itertools.combinations(same, 2)]
        ways += [sum(both) for both in itertools.combinations(same, 2)]
        slack = 366.0 if ours.step > 300 else slack
    elif not ours.dimension:
        pairs = list(itertools.permutations(plain, 2))
        few = one.age or len(plain) <= 4 or "total" in claim.finding
        ways = [a - b for a, b in pairs] + [a + b for a, b in pairs] if few else []
        ways += [a / b for a, b in pairs if b and "ratio" in claim.finding]
        ways += [share * size for share in shares for size in (1.0, *plain)]
        slack = max(slack, 0.02 * ours.value) if ours.step == 1 else slack
    elif ours.dimension == "count/volume":
        ways, slack = [share * value for share in shares for value in same], 0.02 * ours.value
    else:
        ways = [abs(a - b) for a, b in itertools.combinations(same, 2)]
        ways += [value * times for value in same for times in plain if 1 < times <= 31 and times == int(times)]
    return any(abs(way - ours.value) <= slack for way in ways)


def _between_years(evidence: Sequence[_Numbered]) -> list[float]:
    """The days between any two of the ages, numbers of years and calendar years in the evidence."""
    years = [
        one.quantity.value * (1.0 if one.quantity.dimension else _YEAR)
        for one in evidence
        if (one.quantity.dimension == "time" and one.quantity.step > 300)
        or (one.age and not one.quantity.dimension)
        or re.fullmatch(r"(?:19|20)\d\d", one.quantity.written)
    ]
    return [abs(a - b) for a, b in itertools.combinations(years, 2)]


def _exchanged(mine: Sequence[_Numbered], theirs: Sequence[_Numbered]) -> Iterator[_Numbered]:
    """The first of two numbers that have changed places: the evidence gives each to the words of the other."""
    pairs = [(one, other) for one in mine for other in theirs if one.label and other.label and _equal(one, other)]
    for (one, its), (two, theirs_) in itertools.combinations(pairs, 2):
        if one is two or its is theirs_ or one.quantity.dimension != two.quantity.dimension:
            continue
        apart = not _equal(one, theirs_) and not _equal(two, its)
        if apart and _has_words_of(one, its, theirs_) and _has_words_of(two, theirs_, its):
            yield one
            return


def _has_words_of(one: _Numbered, own: _Numbered, other: _Numbered) -> bool:
    """Whether a number stands among words of the evidence's `other` number, and none of those of its `own`."""
    mine = with_prefixes(own.label - other.label)
    return bool(one.label & other.label - own.label - _UNTELLING) and not any(meets(name, mine) for name in one.label)
