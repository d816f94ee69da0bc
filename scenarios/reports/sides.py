"""Finds sides of a finding that its evidence contradicts: it has the same words only with the other side."""

import itertools
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from wardround.scenarios.reports.case_summary import Unfaithful
from wardround.scenarios.reports.denials import item_concepts
from wardround.scenarios.reports.finding_evidence import ArticleIndex, FindingEvidence, meets, with_prefixes
from wardround.scenarios.reports.statements import CLAUSE_END, concepts_text, site, word_concept

_SIDES = {"left": "left", "leftward": "left", "right": "right", "rightward": "right", "bilateral": "both",
          **dict.fromkeys(("contralateral", "fellow", "opposite", "ipsilateral"), "any")}  # fmt: skip
_NO_SIDE = frozenset(
    ["the", "hospital", "with", "without", "untreated", "against", "home", "him", "her", "away", "after", "us"]
)
"""Words right after 'left' or 'right' with which these are no sides: 'left the hospital'."""
_OTHER = {"left": "right", "right": "left"}
SIDE_WORDS = frozenset(("side", "left", "right", "bilater", "bilateral", "both"))
"""Concepts that only say where other concepts are."""
_POINTS_BACK = re.compile(
    r"(?i)\b(?:on )?the other (?:side|eye|ear|hand|leg|arm|one|kidney|lung)\b|\bcontralateral|\bipsilateral|\bsame side"
    r"|\bthat side|\bfellow|\b(?:left|right) ones?\b|\b(?:left|right)[- ]to[- ](?:left|right)\b"
)
"""Words of sentences in which a side does not stand beside the thing that is on it."""
_COMPARED = re.compile(r"(?i)\b(?:than|exceed\w*) (?:that )?(?:(?:on|in|of) )?(?:the )?(?:left|right)\b")
_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_~]*|\d+(?:[.,]\d+)*|[,:]")
_WELL = frozenset(("no", "not", "without", "normal", "negative", "absent", "clear", "free"))
_PAIRED = frozenset(("eye", "ear", "puls", "arter", "vein", "nerv", "coronar", "cord", "blood"))
"""Parts of the body that prove no contradiction: abbreviations may name them ('OD'), or a side has many of them."""
_LINKS = frozenset(("is", "are", "was", "were"))
_ILL = frozenset(("positive", "no~normal", "lower", "reduced", "diminished", "decreased", "elevated"))
_JUDGED_WELL = frozenset(("normal", "negative", "absent"))
_JOINTS = frozenset((",", "and", "or", ":", "than", "versus", "vs", "against"))
_ENOUGH = 2
"""A side is wrong if so many of its words stand only with the other side; a number counts twice."""


def side_contradictions(claim: FindingEvidence, index: ArticleIndex) -> Iterator[Unfaithful]:
    """The first word of side whose words and numbers the evidence has only with the other side.

    Without citations, all sentences on the patient count as evidence, and a denial is compared only with denials.
    """
    mine = [one for one in _sided(claim.finding) if one[0] in _OTHER]
    theirs = [one for sentence in claim.sentences for one in _sided(sentence)]
    if theirs and not claim.cited:
        theirs = [one for sentence in index.sentences if sentence in index.patient for one in _sided(sentence)]
    if (
        not theirs
        or _COMPARED.search(claim.finding)
        or any(_POINTS_BACK.search(one) for one in (claim.finding, *claim.sentences))
    ):
        return
    sides = {side for side, *_ in theirs} - {"both"}
    alone = len({side for side, *_ in mine}) == 1 and len(sides) == 1 and sides
    for side, beside, well, close in mine:
        words = beside.difference(*(near for other, near, *_ in mine if other != side))
        here = frozenset[str]().union(*(near for other, near, *_ in theirs if other in (side, "both", "any")))
        there = frozenset[str]().union(
            *(near for other, near, its, _ in theirs if other == _OTHER[side] and (claim.cited or its == well))
        )
        wide, over = with_prefixes(here), with_prefixes(there)
        own = [one for one in words if meets(one, wide) and not meets(one, over)]
        crossed = [one for one in words if meets(one, over) and not meets(one, wide)]
        parts = [one for one in crossed if one in close and _part(one)]
        if parts and len(own) < _ENOUGH and not any(site(one) or one[0] == "#" for one in own):
            own = []  # the part of the body decides
        if alone == {_OTHER[side]}:
            wrong = bool(crossed) or not _elsewhere(side, words, index)
        else:
            weight = sum(2 if one[0] == "#" or one in parts else 1 for one in crossed)
            wrong = weight >= _ENOUGH or (weight > 0 and len(crossed) == len(words))
        if wrong and not own:
            yield Unfaithful("side", side, claim.finding, " ".join(claim.sentences), claim.item)
            return


def _elsewhere(side: str, words: frozenset[str], index: ArticleIndex) -> bool:
    """Whether any sentence on the patient has one of the words with this side."""
    sided = (one for sentence in index.sentences if sentence in index.patient for one in _sided(sentence))
    return any(meets(word, with_prefixes(near)) for own, near, *_ in sided if own in (side, "both") for word in words)


class _Sided(NamedTuple):
    """A word of side in a sentence.

    `side` is 'left', 'right', 'both' or 'any'. `near` are the concepts and '#numbers' in its stretch, `close` the
    concepts up to the next joint. `well` says whether the stretch denies something or calls it normal.
    """

    side: str
    near: frozenset[str]
    well: bool
    close: frozenset[str]


@lru_cache(maxsize=16384)
def _sided(sentence: str) -> tuple[_Sided, ...]:
    """The words of side of a sentence.

    If a clause has both sides, the words before the first one belong to both: 'potentials were late on the right and
    absent on the left'. So does a part of the body that only one of them names.
    """
    text = concepts_text(sentence).replace("(", " ").replace(")", " , ")
    sides: list[_Sided] = []
    for clause in CLAUSE_END.split(text):
        lows = [hit[0].lower() for hit in _TOKEN.finditer(clause)]
        first = len(sides)
        places = [at for at, low in enumerate(lows) if low in _SIDES and _is_side(lows, at)]
        contrasted = {"left", "right"} <= {_SIDES[lows[at]] for at in places}
        verb = max((at for at, low in enumerate(lows[: places[0]] if places else ()) if low in _LINKS), default=None)
        subject = item_concepts(lows[: verb or places[0]]) if contrasted else frozenset[str]()
        for at in places:
            start, end = _stretch(lows, at, places)
            beside = lows[start + 1 : end]
            before = list(itertools.takewhile(lambda low: low not in _JOINTS, reversed(lows[start + 1 : at])))
            near_by = [*before, *itertools.takewhile(lambda low: low not in _JOINTS, lows[at + 1 : end])]
            numbers = {f"#{low.replace(',', '.')}" for low in beside if low[0].isdigit()} | _result(near_by)
            well = _WELL.intersection(beside) or any(low.startswith("no~") for low in beside)
            near = (item_concepts(beside) | subject) - SIDE_WORDS
            parts = {word_concept(part) for one in near if "_" in one for part in one.split("_")}
            sides.append(_Sided(_SIDES[lows[at]], near | parts | numbers, bool(well), item_concepts(near_by)))
        shared = frozenset(filter(_part, frozenset[str]().union(*(one.near for one in sides[first:]))))
        if contrasted:  # '148 in the right arm and 144 in the left'
            sides[first:] = [
                one if any(map(_part, one.near - subject)) else one._replace(near=one.near | shared)
                for one in sides[first:]
            ]
    return tuple(sides)


def _part(name: str) -> bool:
    """Whether a concept is a part of the body that a side places."""
    return site(name) and name not in _PAIRED


def _result(beside: Sequence[str]) -> set[str]:
    """{'#ill'} if the words say that something is abnormal, {'#well'} if they say that it is normal; else empty."""
    if not _ILL.isdisjoint(beside):
        return {"#ill"}
    return {"#well"} if not _JUDGED_WELL.isdisjoint(beside) else set()


def _is_side(lows: Sequence[str], at: int) -> bool:
    return lows[at - 1 : at] == ["the"] or not _NO_SIDE.intersection(lows[at + 1 : at + 2])


def _stretch(lows: Sequence[str], at: int, places: Sequence[int]) -> tuple[int, int]:
    """(begin, end) of the words that belong to a word of side: up to a comma, a joint, or half-way to the next side."""
    joints = [place for place, low in enumerate(lows) if low in _JOINTS]
    commas = [place for place, low in enumerate(lows) if low in (",", ":")]
    start = max((place for place in commas if place < at and item_concepts(lows[place + 1 : at])), default=-1)
    end = min((place for place in commas if place > at), default=len(lows))
    for other in places:
        between = [place for place in joints if min(at, other) < place < max(at, other)]
        if other < at:
            start = max(start, between[-1] if between else (other + at) // 2)
        elif other > at:
            end = min(end, between[0] if between else (other + at) // 2)
    return start, end
