"""Compares the numbers of a finding with those of the sentences it rests on, and of the whole article.

| the number of the case | is |
|---|---|
| equal to one of the evidence after conversion and rounding, or to one of the article among the same words | right |
| a difference, sum, ratio of two of the evidence, or worded as one | open |
| the evidence has that quantity with another value, which no other number of the finding takes | contradicted |
| nowhere in the article, and neither rough nor worded as a difference | contradicted |
| anything else | open: a person reads it |
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
from wardround.scenarios.reports.quantities import Quantity, convertible, quantities, same_quantity, written_value
from wardround.scenarios.reports.scales import NEAR, period_days, plain_scales, smoked
from wardround.scenarios.reports.statements import GENERIC, longhand, text_concepts, word_concept


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A number with the concepts that it is a number of.

    It is `derived` if it is worded as a difference or a multiple, an `age`, `ago` if it counts back from something,
    and `short` if it is a year without its century. `period` are the days in which it is taken, 0 if none is said, and
    `noun` says whether it counts the word behind it. `beside` are the concepts on both of its sides.
    """

    quantity: Quantity
    label: frozenset[str]
    derived: bool
    age: bool
    ago: bool
    short: bool
    period: float = 0.0
    noun: bool = False
    beside: frozenset[str] = frozenset()


_SEPARATOR = re.compile(r"[;,()\[\]|]|\.\s|\b(?:and|with|but|versus|vs|against|compared|from)\b|->|\u2192")
_JOINS = re.compile(
    r"^\s*(?:/|x|\u00d7|\*|by|-|\u2013|to|->|\u2192|of|and|or|[a-z\u00b5/%\u00b0]{1,6}\s*(?:x|\u00d7|by|to))\s*$",
    re.IGNORECASE,
)
_DERIVED_BEFORE = re.compile(
    r"(?i)(?:\bby|\bput on|\bdown|\bup|\bgain\w*(?: of)?|\b(?:fall|drop|rise|loss|difference|increase|decrease"
    r"|reduction|increment)(?: \w+){0,4}? of|\bminus|\bplus|\bBMI\D{0,20}|\banother|[+\u2212-])"
    r"\s*(?:about |around |~)?$"
)
_DERIVED_AFTER = re.compile(
    r"(?i)^\W*(?:[a-z%\u00b5/\u00b0]{1,8}\s+)?(?:(?:of )?relative|worse|better|more|less|fewer"
    r"|thicker|thinner|smaller|longer|shorter|lower|higher|larger"
    r"|older|younger|apart|excess|differ\w*|(?:\w+ )?(?:fall|drop|rise|gap|excess)|fold"
    r"|times (?:the|its|as|above|over|a)|below|above|over|under)\b"
)
_AGE = re.compile(
    r"(?i)(?:\bage[d]?\W*(?:of )?|\bat (?:the age of )?(?:about |around )?|@|\bwas |\bin (?:her|his) "
    r"|\b(?:wom[ae]n|m[ae]n|boy|girl|lady|gentleman|male|female)\b,? (?:of |aged )?)$"
)
_AGED = re.compile(r"(?i)^[\s-]*(?:years? )?(?:old\b|/?o\b|[MF]\b)")


_ORDINAL = re.compile(
    r"(?i)\d+(?:st|nd|rd|th)\b|(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
    r"|\w+teenth|twentieth)\b"
)
"""'The 8th week', as 'the eighth', is that after seven."""
_AGO = re.compile(r"(?i)^\W*(?:ago|earlier|before|previously|prior|later|after|following)\b")


def _clause(sentence: str, one: Quantity) -> str:
    start = max(sentence.rfind(mark, 0, one.start) for mark in (";", ". ", ", "))
    ends = [at for at in (sentence.find(mark, one.end) for mark in (";", ". ", ", ")) if at >= 0]
    return sentence[start + 1 : min(ends, default=len(sentence))]


@lru_cache(maxsize=8192)
def _numbered(sentence: str) -> tuple[_Numbered, ...]:
    sentence = plain_scales(longhand(sentence))
    read: list[_Numbered] = []
    end = 0
    every = quantities(sentence)
    for place, one in enumerate(every):
        between = sentence[end : one.start]
        stretches = _SEPARATOR.split(between)
        before = next((part for part in reversed(stretches) if text_concepts(part)), "")
        label = frozenset(text_concepts(before)) - GENERIC
        if read and _JOINS.match(between):
            label |= read[-1].label
        stop = every[place + 1].start if place + 1 < len(every) else len(sentence)
        after = sentence[one.end : stop]
        if not label:
            label = frozenset(text_concepts(_SEPARATOR.split(after)[0])) - GENERIC
        if not label and read:
            label = read[-1].label
        ordinal = _ORDINAL.match(sentence, one.start)
        noun = not one.dimension and bool(_NOUN.match(after))
        beside = frozenset(text_concepts(stretches[-1])) | frozenset(text_concepts(_SEPARATOR.split(after)[0]))
        if noun and not _OCCASIONS.match(after):
            label = frozenset(text_concepts(_SEPARATOR.split(after)[0])) - GENERIC
        if one.dimension == "time":
            label |= frozenset(text_concepts(_clause(sentence, one))) - GENERIC
            label = label or frozenset(text_concepts(sentence)) - GENERIC
        derived = (
            bool(ordinal)
            or sentence[one.start - 1 : one.start] == "/"
            or bool(_DERIVED_BEFORE.search(sentence[: one.start]) or _DERIVED_AFTER.search(after))
        )
        age = bool(_AGE.search(sentence[: one.start]) or _AGED.search(after))
        short = sentence[max(0, one.start - 1) : one.start] in ("'", "\u2019")
        period = period_days(sentence[one.end : one.end + NEAR]) if one.dimension != "time" else 0.0
        read.append(
            _Numbered(
                one, label, derived, age, bool(_AGO.search(after)), short, period, noun, beside - GENERIC - _UNTELLING
            )
        )
        if len(read) > 1 and not read[-2].label and _JOINS.match(between):  # 'four of six cultures'
            read[-2] = replace(read[-2], label=label)
        end = one.end
    return tuple(read)


_NOUN = re.compile(r" [a-z]{3,}s\b")
_UNTELLING = frozenset(word_concept(word) for word in ("predicted", "expected", "range", "limit", "count", "raised"))
_OCCASIONS = re.compile(r" (?:times|occasions|episodes|attacks)\b")


def number_contradictions(claim: FindingEvidence, index: ArticleIndex) -> Iterator[Unfaithful]:
    """The numbers of a finding of which the evidence gives another value, or which the article does not have.

    A number of the evidence that the finding has too is used up; only one that is left over can be a rival.
    """
    known = [(one, sentence) for sentence in claim.sentences for one in _numbered(sentence)]
    numbers = _numbered(spelled_out(claim.finding, claim.sentences))
    said = [one for one in numbers if not _is_count(one.quantity)]
    taken = [any(_equal(one, other) for one in numbers) for other, _ in known]
    left = [both for both, used in zip(known, taken, strict=True) if not used]
    for one in said:
        evidence = [other.quantity for other, _ in known if one.quantity.dimension != "time" or _of_time(other)]
        evidence += [other.quantity for other in _every_number(index) if other.age and one.quantity.dimension == "time"]
        if years := _years_ago(one, known, index):
            yield Unfaithful("number", one.quantity.written, claim.finding, years, claim.item)
            continue
        if _accounted(one, known, index) or _computed(one, evidence, claim):
            continue
        rivals = [
            sentence
            for other, sentence in left
            if (other.derived or not one.derived)
            and _rivals(one, other, [rival for rival, _ in known], sure=claim.cited)
        ]
        absent = not (one.derived or one.quantity.rough or _small(one.quantity) or _stands(one, index))
        if rivals or (absent and (not claim.cited or any(_comparable(one, other) for other, _ in left))):
            nearest = rivals[0] if rivals else " ".join(claim.sentences[:1])
            yield Unfaithful("number", one.quantity.written, claim.finding, nearest, claim.item)
    for one in _counts(numbers):
        if any(_equal(one, other) for other, _ in known):
            continue
        for other, sentence in left:
            if _is_count(other.quantity) and _other_count(one, other):
                yield Unfaithful("number", one.quantity.written, claim.finding, sentence, claim.item)
                return
    yield from _exchanged(claim, numbers, known)


def _comparable(one: _Numbered, other: _Numbered) -> bool:
    """Whether two numbers may be values of one quantity: one dimension, or a unit that is left out."""
    ours, theirs = one.quantity.dimension, other.quantity.dimension
    return ours == theirs or ("" in (ours, theirs) and "time" not in (ours, theirs) and not (one.noun or other.noun))


def _counts(numbers: Sequence[_Numbered]) -> Sequence[_Numbered]:
    return [one for one in numbers if not one.quantity.dimension and 2 <= one.quantity.value <= 2 * _SMALL]


def _other_count(one: _Numbered, other: _Numbered) -> bool:
    """Whether two small counts are of the same things: 'three episodes of vomiting' and 'vomited five times'."""
    if other.quantity.dimension or other.quantity.value < 2 or one.age or other.age or one.derived or other.derived:
        return False
    return one.quantity.value != other.quantity.value and _alike(one, other)


def _exchanged(
    claim: FindingEvidence, numbers: Sequence[_Numbered], known: Sequence[tuple[_Numbered, str]]
) -> Iterator[Unfaithful]:
    """A number that the evidence has for another thing of the finding, whose own number the finding gives to that."""
    both = [
        (one, other, sentence)
        for one in numbers
        for other, sentence in known
        if one.beside and other.beside and _equal(one, other) and not one.quantity.rough
    ]
    for one, its, sentence in both:
        for two, theirs, _ in both:
            if (
                one.quantity.dimension == two.quantity.dimension
                and not _equal(one, theirs)
                and _only(one, theirs, its)
                and not _only(two, theirs, its)
                and not any(_equal(one, other) and _better(one, other, theirs) for other, _ in known)
                and (_only(two, its, theirs) or not (two.label & one.label))
            ):
                yield Unfaithful("number", one.quantity.written, claim.finding, sentence, claim.item)
                return


def _only(one: _Numbered, this: _Numbered, that: _Numbered) -> bool:
    """Whether a number's own words are those of one number of the evidence and not of another."""
    here, there = with_prefixes(this.beside), with_prefixes(that.beside)
    mine = {name for name in one.beside if meets(name, here) != meets(name, there)}
    return bool(mine) and all(meets(name, here) for name in mine)


def _better(one: _Numbered, other: _Numbered, theirs: _Numbered) -> bool:
    """Whether a number of the evidence has the words of a number as well as another has."""
    here, there = with_prefixes(other.label), with_prefixes(theirs.label)
    return sum(meets(name, here) for name in one.label) >= sum(meets(name, there) for name in one.label)


def _years_ago(one: _Numbered, known: Sequence[tuple[_Numbered, str]], index: ArticleIndex) -> str:
    """The sentence by which something was longer or shorter ago: it gives the age at which the same happened."""
    if not one.ago or one.age or one.quantity.step < 300 or one.quantity.rough:
        return ""
    ages = {
        other.quantity.value if not other.quantity.dimension else other.quantity.value / 365.25
        for other in _every_number(index)
        if other.age
    }
    mine = one.quantity.value / 365.25
    fits = [(other, sentence) for other, sentence in known if other.age and not other.ago and _alike(one, other)]
    if not fits or any(_equal(one, other) for other, _ in known if other.ago or other.quantity.dimension == "time"):
        return ""
    for other, sentence in fits:
        then = other.quantity.value / (365.25 if other.quantity.dimension else 1)
        if any(abs(age - then - mine) <= 1 for age in ages):
            return ""
        if written_value(one.quantity.written)[0] == written_value(other.quantity.written)[0]:
            return sentence
    return ""


def _of_time(one: _Numbered) -> bool:
    return one.age or one.ago or one.quantity.dimension == "time"


def open_numbers(claim: FindingEvidence, index: ArticleIndex) -> tuple[str, ...]:
    """The numbers of a finding that the article does not have in this form."""
    known = [(one, sentence) for sentence in claim.sentences for one in _numbered(sentence)]
    said = [one for one in _numbered(claim.finding) if not _is_count(one.quantity)]
    return tuple(one.quantity.written for one in said if not _accounted(one, known, index))


@lru_cache(maxsize=32)
def _every_number(index: ArticleIndex) -> tuple[_Numbered, ...]:
    return tuple(one for sentence in index.sentences for one in _numbered(sentence))


def _is_count(one: Quantity) -> bool:
    """Whether a number is a small count in words, none or one of something, which say little."""
    if not one.written[0].isdigit():
        return not one.dimension or one.value < 2 * one.step
    return one.value == 0 or (one.value == one.step and one.dimension in ("", "time"))


def _accounted(one: _Numbered, known: Sequence[tuple[_Numbered, str]], index: ArticleIndex) -> bool:
    """Whether a number stands in the evidence, follows from it, or stands elsewhere in the article for the same."""
    if any(_equal(one, other) for other, _ in known):
        return True
    wide = with_prefixes(one.label)
    return any(
        _equal(one, other) and (any(meets(name, wide) for name in other.label) or _telling(one.quantity.written))
        for other in _every_number(index)
    )


def _telling(written: str) -> bool:
    """Whether a number has so many figures that another thing hardly has the same."""
    return len(written) > 3 and written[0].isdigit()


_SMALL = 10
_PACK_YEARS = re.compile(r"(?i)[ -]?pack[ -]?y")
_PART_OF = re.compile(r"\b(\d+) (?:out )?of (?:the |all )?(\d+)\b")


def _small(ours: Quantity) -> bool:
    """Whether a number may be a small count of what the article lists."""
    return not ours.dimension and "." not in ours.written and ours.value <= _SMALL


def _computed(one: _Numbered, evidence: Sequence[Quantity], claim: FindingEvidence) -> bool:
    """Whether a number follows from the evidence by plain arithmetic that nobody words.

    Years since are a difference of ages, a share is what
    another leaves, and a unit that is not known may have another prefix.
    """
    ours = one.quantity
    same = [two.value for two in evidence if two.dimension == ours.dimension]
    plain = [written_value(two.written)[0] for two in evidence]
    slack = max(ours.step, 1e-6 * ours.value) / 2
    ways: list[float] = []
    text = " ".join(claim.sentences)
    if _PACK_YEARS.match(claim.finding[claim.finding.find(ours.written) + len(ours.written) :]):
        return "pack" not in text and smoked(ours.value, text)
    if ours.dimension == "share":
        ways = [100 - value for value in same] + [100 * value for value in plain if value < 1]
        ways += [100 * float(one) / float(all_) for one, all_ in _PART_OF.findall(text) if float(all_)]
    elif ours.dimension == "time" and ours.step > 300 and not one.age:
        ways = [365.25 * abs(a - b) for a, b in itertools.combinations(plain, 2)]
        slack = 366.0
    elif ours.dimension == "pressure":
        ways = [abs(a - b) for a, b in itertools.combinations(same, 2)]
    elif ours.dimension == "count/volume":
        shares = [two.value / 100 for two in evidence if two.dimension == "share"]
        ways, slack = [share * value for share in shares for value in same], 0.02 * ours.value
    elif not ours.dimension:
        ways = [factor * value for value in same for factor in (1e3, 1e-3)]
        if ours.value < 1:
            ways += [two.value / 100 for two in evidence if two.dimension == "share"]
        if "ratio" in claim.finding:
            ways += [a / b for a, b in itertools.permutations(plain, 2) if b]
        if one.age:
            ways += [abs(a - b) for a, b in itertools.combinations(plain, 2)]
    return any(abs(way - ours.value) <= slack for way in ways)


def _stands(one: _Numbered, index: ArticleIndex) -> bool:
    """Whether the article has the number anywhere, of whatever it is a number there; a time may be a difference."""
    every = _every_number(index)
    ours = written_value(one.quantity.written)[0]
    if any(
        _equal(one, other) or (written_value(other.quantity.written)[0] == ours and _alike(one, other))
        for other in every
    ):
        return True
    if not one.ago:
        return False
    years = [
        two.quantity.value / (365.25 if two.quantity.dimension else 1)
        for two in every
        if two.age or two.quantity.dimension in ("", "time")
    ]
    ago = one.quantity.value / 365.25
    return any(abs(abs(a - b) - ago) <= 1 for a, b in itertools.combinations(years, 2))


def _equal(one: _Numbered, other: _Numbered) -> bool:
    """Whether two numbers are one after conversion and rounding; a unit may be left out."""
    ours, theirs = one.quantity, other.quantity
    if ours.decade:
        return same_quantity(ours, theirs)
    if one.period and other.period and one.period != other.period and ours.dimension == theirs.dimension:
        mine, its = (both.quantity.value / both.period for both in (one, other))
        if abs(mine - its) <= (0.03 if ours.dimension else 0.12) * its:
            return True
    if "time" in (ours.dimension, theirs.dimension) and ((one.noun and not one.age) or (other.noun and not other.age)):
        return False  # six tablets are no six months
    if one.ago and not one.age and other.age and not other.ago:
        return False
    if one.short and written_value(ours.written)[0] == written_value(theirs.written)[0] % 100:
        return True
    if (
        ours.dimension == theirs.dimension != ""
        and ours.step > 1.001 * theirs.step
        and (abs(ours.value - theirs.value) <= 0.5 * ours.step)
    ):
        return True
    if ours.dimension == "time" == theirs.dimension and abs(ours.step - theirs.step) > 1e-9:
        return same_quantity(ours, theirs) or abs(ours.value - theirs.value) <= 0.1 * theirs.value
    if ours.dimension == theirs.dimension:
        return same_quantity(ours, theirs, tuple(one.label)) or _roughly(ours, theirs)
    if ours.dimension and theirs.dimension:
        return same_quantity(ours, theirs, (*one.label, *other.label))
    if {ours.dimension, theirs.dimension} == {"count/volume", ""} and _counted(ours, theirs):
        return True
    mine, its = written_value(ours.written)[0], written_value(theirs.written)[0]
    if mine == its or (ours.rough and abs(mine - its) <= 0.05 * its):
        return True
    full = ours.dimension or theirs.dimension
    return (
        full.endswith("/volume")
        and any(abs(mine * size - its) < 0.02 * its for size in (0.1, 10))
        and (max(ours.value, theirs.value) >= _GRAMS or not (one.label | other.label).isdisjoint(_TWO_UNITS))
        and _alike(one, other)
    )


_GRAMS = 5.0
"""From so many grams a litre on a protein is meant: haemoglobin, albumin."""
_TWO_UNITS_TEXT = "hemoglobin c-reactive_protein crp fibrinogen protein albumin immunoglobulin igg iga igm complement"
_TWO_UNITS = frozenset(word_concept(word) for word in _TWO_UNITS_TEXT.split())
"""What is reported in grams a litre by some and a decilitre by others, so that a bare number may be ten times one."""


def _roughly(ours: Quantity, theirs: Quantity) -> bool:
    return bool(ours.dimension) and ours.rough and abs(ours.value - theirs.value) <= 0.18 * theirs.value


def _counted(ours: Quantity, theirs: Quantity) -> bool:
    """Whether a count in a volume is the bare number of the same count in a microlitre or in 10^9 a litre."""
    full, bare = (ours, theirs) if ours.dimension else (theirs, ours)
    slack = 0.05 if ours.rough else 1e-6
    return any(abs(full.value / size - bare.value) <= slack * bare.value for size in (1e6, 1e9))


def _alike(one: _Numbered, other: _Numbered) -> bool:
    wide = with_prefixes(other.label)
    return any(meets(name, wide) for name in one.label)


def _rivals(one: _Numbered, other: _Numbered, known: Sequence[_Numbered], *, sure: bool) -> bool:
    """Whether another value is that of the same quantity."""
    ours, theirs = one.quantity, other.quantity
    if _is_count(theirs) or (one.age and other.noun and not other.age):
        return False
    if ours.dimension and theirs.dimension and ours.dimension != theirs.dimension:
        both = {ours.dimension, theirs.dimension}
        return (
            both == {"mass/volume", "moles/volume"} and _alike(one, other) and convertible((*one.label, *other.label))
        )
    if "time" in (ours.dimension, theirs.dimension) and (
        one.age != other.age or one.ago != other.ago or (ours.dimension != theirs.dimension and not one.age)
    ):
        return False
    if sure and ours.dimension and written_value(ours.written) == written_value(theirs.written):
        return _alike(one, other) or not one.label or not other.label  # the same figures in another unit
    if _alike(one, other):
        return True
    if not sure or ours.dimension != theirs.dimension or ours.dimension in ("", "time"):
        return False
    return not any(_alike(one, rival) for rival in known)
