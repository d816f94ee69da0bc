"""The sides of a finding that the sentences it rests on have only as the other side, or for other things."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from wardround.scenarios.reports.case_summary import Unfaithful
from wardround.scenarios.reports.denials import item_concepts
from wardround.scenarios.reports.finding_evidence import ArticleIndex, FindingEvidence, meets, with_prefixes
from wardround.scenarios.reports.statements import CLAUSE_END, concepts_text, word_concept

_SIDES = {"left": "left", "leftward": "left", "right": "right", "rightward": "right", "bilateral": "both",
          **dict.fromkeys(("contralateral", "fellow", "opposite", "ipsilateral"), "any")}  # fmt: skip
_NO_SIDE = frozenset(
    ["the", "hospital", "with", "without", "untreated", "against", "home", "him", "her", "away", "after", "us"]
)
"""Words after 'left' and 'right' where these are no sides."""
_OTHER = {"left": "right", "right": "left"}
SIDE_WORDS = frozenset(("side", "left", "right", "bilater", "bilateral", "both"))
"""Concepts that only place others."""
_POINTS_BACK = re.compile(
    r"(?i)\b(?:on )?the other (?:side|eye|ear|hand|leg|arm|one|kidney|lung)\b|\bcontralateral|\bipsilateral|\bsame side"
    r"|\bthat side|\bfellow|\b(?:left|right) ones?\b|\b(?:left|right)[- ]to[- ](?:left|right)\b"
)
"""Sentences in which a side does not stand beside what is on it."""
_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_~]*|\d+(?:[.,]\d+)*|[,:]")
_WELL = frozenset(("no", "not", "without", "normal", "negative", "absent", "clear", "free"))
_JOINTS = frozenset((",", "and", "or", ":", "than", "versus", "vs", "against"))
_ENOUGH = 2
"""So many words of the other side only, a number counting twice, make a side the wrong one."""


def side_contradictions(claim: FindingEvidence, index: ArticleIndex) -> Iterator[Unfaithful]:
    """The first word of side whose words and numbers the evidence has with the other side only.

    Without citations no sentence on the patient may have them with this side, and what denies counts against what
    denies only.
    """
    mine = [one for one in _sided(claim.finding) if one[0] in _OTHER]
    theirs = [one for sentence in claim.sentences for one in _sided(sentence)]
    if theirs and not claim.cited:
        theirs = [one for sentence in index.sentences if sentence in index.patient for one in _sided(sentence)]
    if not theirs or any(_POINTS_BACK.search(one) for one in (claim.finding, *claim.sentences)):
        return
    sides = {side for side, _, _ in theirs} - {"both"}
    alone = len({side for side, _, _ in mine}) == 1 and len(sides) == 1 and sides
    for side, beside, well in mine:
        words = beside.difference(*(near for other, near, _ in mine if other != side))
        here = frozenset[str]().union(*(near for other, near, _ in theirs if other in (side, "both", "any")))
        there = frozenset[str]().union(
            *(near for other, near, its in theirs if other == _OTHER[side] and (claim.cited or its == well))
        )
        wide, over = with_prefixes(here), with_prefixes(there)
        own = [one for one in words if meets(one, wide) and not meets(one, over)]
        crossed = [one for one in words if meets(one, over) and not meets(one, wide)]
        if alone == {_OTHER[side]}:
            wrong = bool(crossed) or not _elsewhere(side, words, index)
        else:
            weight = sum(2 if one[0] == "#" else 1 for one in crossed)
            wrong = weight >= _ENOUGH or (weight > 0 and len(crossed) == len(words))
        if wrong and not own:
            yield Unfaithful("side", side, claim.finding, " ".join(claim.sentences), claim.item)
            return


def _elsewhere(side: str, words: frozenset[str], index: ArticleIndex) -> bool:
    """Whether the article has one of the words beside a side in any sentence on its patient."""
    sided = (one for sentence in index.sentences if sentence in index.patient for one in _sided(sentence))
    return any(meets(word, with_prefixes(near)) for own, near, _ in sided if own in (side, "both") for word in words)


@lru_cache(maxsize=16384)
def _sided(sentence: str) -> tuple[tuple[str, frozenset[str], bool], ...]:
    """(side, the concepts and '#numbers' beside it, whether something is denied) of each word of side.

    What stands before the first of two sides in a clause belongs to both: 'potentials were late on the right and
    absent on the left'.
    """
    text = concepts_text(sentence).replace("(", " ").replace(")", " , ")
    sides: list[tuple[str, frozenset[str], bool]] = []
    for clause in CLAUSE_END.split(text):
        lows = [hit[0].lower() for hit in _TOKEN.finditer(clause)]
        places = [at for at, low in enumerate(lows) if low in _SIDES and _is_side(lows, at)]
        contrasted = {"left", "right"} <= {_SIDES[lows[at]] for at in places}
        subject = item_concepts(lows[: places[0]]) if contrasted else frozenset[str]()
        for at in places:
            start, end = _stretch(lows, at, places)
            beside = lows[start + 1 : end]
            numbers = {f"#{low.replace(',', '.')}" for low in beside if low[0].isdigit()}
            well = _WELL.intersection(beside) or any(low.startswith("no~") for low in beside)
            near = (item_concepts(beside) | subject) - SIDE_WORDS
            parts = {word_concept(part) for one in near if "_" in one for part in one.split("_")}
            sides.append((_SIDES[lows[at]], near | parts | numbers, bool(well)))
    return tuple(sides)


def _is_side(lows: Sequence[str], at: int) -> bool:
    return lows[at - 1 : at] == ["the"] or not _NO_SIDE.intersection(lows[at + 1 : at + 2])


def _stretch(lows: Sequence[str], at: int, places: Sequence[int]) -> tuple[int, int]:
    """Where the words of a word of side begin and end: at a comma, at a joint or half-way to the next side."""
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
