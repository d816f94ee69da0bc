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
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.reports.case_summary import Unfaithful
from wardround.scenarios.reports.finding_evidence import ArticleIndex, FindingEvidence, meets, with_prefixes
from wardround.scenarios.reports.quantities import Quantity, convertible, quantities, same_quantity, written_value
from wardround.scenarios.reports.statements import GENERIC, longhand, text_concepts


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A number with the concepts that it is a number of, `derived` if it is worded as a difference or a multiple,
    `age` if it is an age, `ago` if it counts back from now or from something, `short` if it is
    a year without its century."""

    quantity: Quantity
    label: frozenset[str]
    derived: bool
    age: bool
    ago: bool
    short: bool


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
    r"(?i)(?:\bage[d]?\W*(?:of )?|\bat (?:the age of )?|@|\bwas |\bin (?:her|his) "
    r"|\b(?:wom[ae]n|m[ae]n|boy|girl|lady|gentleman|male|female)\b,? (?:of |aged )?)$"
)
_AGED = re.compile(r"(?i)^[\s-]*(?:years? )?(?:old\b|/?o\b|[MF]\b)")


_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\b")
"""'The 8th week', as 'the eighth', is that after seven."""
_AGO = re.compile(r"(?i)^\W*(?:ago|earlier|before|previously|prior|later|after|following)\b")


def _clause(sentence: str, one: Quantity) -> str:
    start = max(sentence.rfind(mark, 0, one.start) for mark in (";", ". ", ", "))
    ends = [at for at in (sentence.find(mark, one.end) for mark in (";", ". ", ", ")) if at >= 0]
    return sentence[start + 1 : min(ends, default=len(sentence))]


_METRIC_ACUITY = re.compile(r"(?<![\d/.])6/(5|6|9|12|15|18|24|36|60)(?![\d/])(?! ?(?:mm|weeks|months|days))")
_PER_THOUSAND = re.compile(r"(\d+(?:\.\d+)?) ?(?:per (?:1[, ]?000|thousand)\b|\u2030)")


def _plain_scales(sentence: str) -> str:
    """A sentence with acuities in feet and shares of a thousand in per cent: '6/60' gives '20/200'."""
    sentence = _METRIC_ACUITY.sub(lambda hit: f"20/{round(int(hit[1]) * 20 / 6)}", sentence)
    return _PER_THOUSAND.sub(lambda hit: f"{float(hit[1]) / 10:g}%", sentence)


@lru_cache(maxsize=8192)
def _numbered(sentence: str) -> tuple[_Numbered, ...]:
    sentence = _plain_scales(longhand(sentence))
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
        ordinal = _ORDINAL.match(sentence, one.start) or (one.written[0].isdigit() and sentence[one.start].isalpha())
        if one.dimension == "time":
            label |= frozenset(text_concepts(_clause(sentence, one))) - GENERIC
        derived = (
            bool(ordinal)
            or sentence[one.start - 1 : one.start] == "/"
            or bool(_DERIVED_BEFORE.search(sentence[: one.start]) or _DERIVED_AFTER.search(after))
        )
        age = bool(_AGE.search(sentence[: one.start]) or _AGED.search(after))
        short = sentence[max(0, one.start - 1) : one.start] in ("'", "\u2019")
        read.append(_Numbered(one, label, derived, age, bool(_AGO.search(after)), short))
        end = one.end
    return tuple(read)


def number_contradictions(claim: FindingEvidence, index: ArticleIndex) -> Iterator[Unfaithful]:
    """The numbers of a finding of which the evidence gives another value, or which the article does not have."""
    known = [(one, sentence) for sentence in claim.sentences for one in _numbered(sentence)]
    said = [one for one in _numbered(claim.finding) if not _is_count(one.quantity)]
    taken = [any(_equal(one, other) for one in said) for other, _ in known]
    for one in said:
        evidence = [other.quantity for other, _ in known if one.quantity.dimension != "time" or _of_time(other)]
        evidence += [other.quantity for other in _every_number(index) if other.age and one.quantity.dimension == "time"]
        if _accounted(one, known, index) or _computed(one, evidence, claim):
            continue
        rivals = [
            sentence
            for (other, sentence), used in zip(known, taken, strict=True)
            if not used
            and (other.derived or not one.derived)
            and _rivals(one, other, [rival for rival, _ in known], sure=claim.cited)
        ]
        absent = not (one.derived or one.quantity.rough or _small(one.quantity) or _stands(one, index))
        if rivals or absent:
            nearest = rivals[0] if rivals else " ".join(claim.sentences[:1])
            yield Unfaithful("number", one.quantity.written, claim.finding, nearest, claim.item)


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
        _equal(one, other) and (any(meets(name, wide) for name in other.label) or len(one.quantity.written) > 3)
        for other in _every_number(index)
    )


_SMALL = 10
_DAILY = re.compile(r"(?i)\b(?:a|per|each|every) day\b|/d(?:ay)?\b|\bdaily\b")

_TIMES = tuple(
    (times, re.compile(rf"(?i)\b(?:{said})\b"))
    for times, said in (
        (2, r"twice|two times|b\.?i\.?d|every (?:12|twelve) hours"),
        (3, r"thrice|three times|t\.?i\.?d|every (?:8|eight) hours"),
        (4, r"four times|q\.?i\.?d|every (?:6|six) hours"),
    )
)
"""How often a day a dose is taken."""


_PACK_YEARS = re.compile(r"(?i)[ -]?pack[ -]?y")
_WEEKLY = re.compile(r"(?i)\b(?:a|per|each|every) week\b|\bweekly\b|/w(?:ee)?k\b")
_PART_OF = re.compile(r"\b(\d+) (?:out )?of (?:the |all )?(\d+)\b")


def _small(ours: Quantity) -> bool:
    """Whether a number may be a small count of what the article lists."""
    return not ours.dimension and ours.value == round(ours.value) and ours.value <= _SMALL


def _computed(one: _Numbered, evidence: Sequence[Quantity], claim: FindingEvidence) -> bool:
    """Whether a number follows from the evidence by plain arithmetic that nobody words.

    A daily dose is that of as many times as the evidence says, years since are a difference of ages, a share is what
    another leaves, and a unit that is not known may have another prefix.
    """
    ours = one.quantity
    same = [two.value for two in evidence if two.dimension == ours.dimension]
    plain = [written_value(two.written)[0] for two in evidence]
    slack = max(ours.step, 1e-6 * ours.value) / 2
    ways: list[float] = []
    text = " ".join(claim.sentences)
    if _PACK_YEARS.match(claim.finding[claim.finding.find(ours.written) + len(ours.written) :]):
        return "pack" not in text
    if not ours.dimension and _WEEKLY.search(claim.finding):
        ways = [7 * value for value in plain]
    elif ours.dimension == "mass" and _DAILY.search(claim.finding):
        ways = [times * value for value in same for times, said in _TIMES if said.search(" ".join(claim.sentences))]
    elif ours.dimension == "share":
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
        and _alike(one, other)
    )


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
    if _is_count(theirs):
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
