"""The sides of a finding that the sentences it rests on give otherwise, or give for other things only."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from wardround.scenarios.reports.case_summary import Unfaithful
from wardround.scenarios.reports.finding_evidence import ArticleIndex, FindingEvidence, meets, with_prefixes
from wardround.scenarios.reports.statements import (
    JUDGED,
    ArticleStatement,
    ArticleWord,
    all_statements,
    numbers_by_side,
    sentence_statements,
    site,
    stretch_bounds,
)

_COMPARED = re.compile(
    r"(?i)\b(?:worse|more|greater|larger|less|predominant\w*|mainly)\b[^,;]{0,20}\b(?:left|right)\b"
    r"|\b(?:than|less so|more so|lesser|as well as|to|compared)\b(?: on| with)?(?: the)? (?:left|right)\b"
)
"""A side that another is compared with."""
_OTHER_SIDE = re.compile(
    r"(?i)\b(?:on )?the other (?:side|eye|ear|hand|leg|arm|one)\b|\b(?:that|those) of the (?:left|right)\b"
)
"""A sentence that compares the sides without naming each time what is compared."""
ALIKE, MORE, FAINT, CITED, OUTSIDE = 0.5, 0.4, 0.25, 0.2, 0.1


def side_contradictions(claim: FindingEvidence, index: ArticleIndex) -> Iterator[Unfaithful]:
    """The words of side that the evidence gives only for other things, or with the other side."""
    theirs = [(one, side, place) for one in all_statements(claim.sentences) for side, place in one.sides]
    mine = [
        (said, side, place)
        for said in sentence_statements(claim.finding) for side, place in said.sides if side != "any"
    ]  # fmt: skip
    if not theirs or not mine or _COMPARED.search(claim.finding):
        return
    plain = [
        *_sides_of_numbers(claim),
        *_sides_of_sites(claim, mine, theirs),
        *_only_other_side(claim, [side for _, side, _ in theirs], mine, index),
    ]
    if plain:
        yield plain[0]
        return
    scores = [_side_scores(said, place, theirs, index) for said, _, place in mine]
    pairs = [(_own(side, best), _other(side, best)[1]) for (_, side, _), best in zip(mine, scores, strict=True)]
    several = {"left", "right"} <= {side for _, side, _ in mine}  # 'right 2 cm, left 4 cm': crossed as a whole, or not
    crossed = all(against >= max(own, 0.0) + MORE for own, against in pairs)
    for (said, side, place), best, (own, against) in zip(mine, scores, pairs, strict=True):
        near = _near(said, place)
        names = [name for name, weight in near.items() if name[0] != "#" and weight > OUTSIDE]
        if not names or (several and own >= 0 and not crossed):
            continue
        if side == "both" and (several or {"left", "right"} <= best.keys()):
            continue
        least = CITED if claim.cited and own < 0 and side != "both" and not several else ALIKE
        if own >= 0 and any(_OTHER_SIDE.search(sentence) for sentence in claim.sentences):
            continue
        if against < least or (own >= 0 and (against < own + MORE or own > FAINT)):
            continue
        if claim.cited or not _sided_elsewhere(side, _other(side, best)[0], near, against, index):
            yield Unfaithful("side", side, claim.finding, " ".join(claim.sentences), claim.item)


def _sides_of_numbers(claim: FindingEvidence) -> Iterator[Unfaithful]:
    """A number on one side that the evidence has on the other side only."""
    theirs = frozenset[tuple[str, str]]().union(*map(numbers_by_side, claim.sentences))
    for number, side in sorted(numbers_by_side(claim.finding)):
        other = "left" if side == "right" else "right"
        if (number, other) in theirs and (number, side) not in theirs:
            yield Unfaithful("side", f"{side} {number}", claim.finding, " ".join(claim.sentences), claim.item)
            return


def _sides_of_sites(
    claim: FindingEvidence,
    mine: Sequence[tuple[ArticleStatement, str, int]],
    theirs: Sequence[tuple[ArticleStatement, str, int]],
) -> Iterator[Unfaithful]:
    """A part of the body that the cited sentences have on the other side only, or on the other side with this state.

    'Right adrenal mass, left adrenal normal' is contradicted by a mass on the left and a normal gland on the right.
    """
    if not claim.cited or _ACROSS.search(claim.finding) or any(_OTHER_SIDE.search(one) for one in claim.sentences):
        return
    known, said_of = _states(theirs), _states(mine)
    vague = {(one.sentence, side) for one, side, place in theirs if not _sites_of(one, place)}
    said = frozenset[str]().union(*(one.concepts for one, _, _ in mine))
    for name, states in said_of.items():
        if name in _NAMED_BY_SIDE:
            continue
        their = known.get(name, set())
        sides, ours = {side for side, _ in their}, {side for side, _ in states}
        named = {one.sentence for one, side, place in theirs if name in _sites_of(one, place)}
        shared = with_prefixes(
            frozenset(word.concept for one in all_statements(tuple(sorted(named))) for word in one.words)
        )
        others = [one for one in said if not site(one)]
        if others and not any(meets(one, shared) for one in others):
            continue
        exchanged = {(_TURNED[side], nothing) for side, nothing in states if side in _TURNED}
        alone = len(sides) == 1 and sides <= _TURNED.keys() and ours == _TURNED.keys() - sides
        alone = alone and {nothing for _, nothing in their} == {nothing for _, nothing in states}
        if (alone and not any((one, side) in vague for one in named for side in (*ours, "both", "any"))) or (
            ours == sides == _TURNED.keys() and exchanged == their and states != their
        ):
            yield Unfaithful("side", f"side of {name}", claim.finding, " ".join(claim.sentences), claim.item)
            return


_NAMED_BY_SIDE = frozenset(("coronar", "ventric", "atri"))
"""Parts whose names have a side: 'left anterior descending coronary artery'."""
_TURNED = {"left": "right", "right": "left"}


def _states(sides: Sequence[tuple[ArticleStatement, str, int]]) -> dict[str, set[tuple[str, bool]]]:
    """(side, whether nothing is wrong there) of each part of the body."""
    states: dict[str, set[tuple[str, bool]]] = {}
    for one, side, place in sides:
        for name in _sites_of(one, place):
            states.setdefault(name, set()).add((side, _nothing_there(one, place)))
    return states


def _sites_of(one: ArticleStatement, place: int) -> Sequence[str]:
    """The parts of the body that a word of side belongs to: those behind it in a row, else those before it."""
    names: list[str] = []
    last = place
    next_side = min((at for _, at in one.sides if at > place), default=10**6)
    for word in one.words:
        if not place < word.place < next_side:
            continue
        joined = any(last < joint < word.place for joint in one.joints)
        if joined and not site(word.concept):
            break
        if site(word.concept) and (names or not joined):
            names.append(word.concept)
        elif names:
            break
        last = word.place
    if names:
        return names
    start = max((at for at in (*one.joints, *(at for _, at in one.sides)) if at < place), default=-1)
    return [word.concept for word in one.words if start < word.place < place and site(word.concept)]


_ACROSS = re.compile(r"(?i)\b(?:left|right)[- ]to[- ](?:left|right)\b|\b5/5\b")
"""A shunt from side to side, and full strength, which tells that nothing is wrong."""


def _only_other_side(
    claim: FindingEvidence,
    theirs: Sequence[str],
    mine: Sequence[tuple[ArticleStatement, str, int]],
    index: ArticleIndex,
) -> Iterator[Unfaithful]:
    """A side that neither the cited sentences, which know the other only, nor others on the same thing have."""
    if not claim.cited or len(set(theirs)) > 1 or any(_OTHER_SIDE.search(one) for one in claim.sentences):
        return
    for said, side, place in mine:
        names = [name for name, weight in _near(said, place).items() if name[0] != "#" and weight > OUTSIDE]
        if _nothing_there(said, place) or _ACROSS.search(said.text):
            continue
        if side in (*theirs, "both") or theirs[0] not in ("left", "right") or not names:
            continue
        if not any(
            known in (side, "both") and any(meets(name, with_prefixes(frozenset(near))) for name in names)
            for known, near in _side_words(index)
        ):
            yield Unfaithful("side", side, claim.finding, " ".join(claim.sentences), claim.item)
            return


def _side_scores(
    said: ArticleStatement, place: int, theirs: Sequence[tuple[ArticleStatement, str, int]], index: ArticleIndex
) -> dict[str, float]:
    """How much of what stands with a side in the case stands with each side in the evidence; -1 without it."""
    near, nothing = _near(said, place), _nothing_there(said, place)
    best: dict[str, float] = {}
    for one, other, at in theirs:
        if _nothing_there(one, at) == nothing and not _opposed(said, place, one, at):
            best[other] = max(_alike(near, _near(one, at), index), best.get(other, -1.0))
        else:
            best.setdefault(other, 0.0)
    return best


def _opposed(said: ArticleStatement, place: int, one: ArticleStatement, at: int) -> bool:
    """Whether what is affirmed of one side is denied of the other."""
    mine, theirs = ({word.concept: word.denied for word in _beside(*both)} for both in ((said, place), (one, at)))
    return any(theirs.get(name, denied) is (not denied) for name, denied in mine.items() if denied is not None)


def _own(side: str, best: dict[str, float]) -> float:
    return max(best.get(name, -1.0) for name in (side, "any", "both"))


def _other(side: str, best: dict[str, float]) -> tuple[str, float]:
    others = {name: score for name, score in best.items() if name in ("left", "right") and name != side}
    return max(others.items(), key=lambda one: (one[1], one[0]), default=("", 0.0))


def _nothing_there(one: ArticleStatement, place: int) -> bool:
    """Whether all that is said of a side is that nothing is wrong there."""
    words = _beside(one, place)
    said = [word for word in words if not site(word.concept) and word.concept not in JUDGED]
    judged = [word.judged for word in words if word.judged]
    return any(judge == ("normal", True) for judge in judged) or bool(said and all(word.denied for word in said))


def _beside(one: ArticleStatement, place: int) -> Sequence[ArticleWord]:
    """The words of the item of a list that a word of side stands in."""
    start, end = stretch_bounds(place, one)
    return [word for word in one.words if start < word.place < end]


def _near(said: ArticleStatement, place: int) -> dict[str, float]:
    """The concepts and numbers that a word of side belongs to, with their weights: 1 between the same separators."""
    start, end = _stretch(said, place)
    names = [(word.concept, word.place) for word in said.words] + [(f"#{number}", at) for number, at in said.numbers]
    return {
        name: max(0.2, 1 / (1 + abs(at - place) / 6)) if start < at < end else OUTSIDE for name, at in reversed(names)
    }


def _stretch(said: ArticleStatement, place: int) -> tuple[int, int]:
    """Where the words of a word of side begin and end: half-way to the next, or at the comma or 'and' between."""
    start, end = -1, 10**6
    for _, other in said.sides:
        between = [joint for joint in said.joints if min(place, other) < joint < max(place, other)]
        if other < place:
            start = max(start, between[-1] if between else (other + place) // 2)
        elif other > place:
            end = min(end, between[0] if between else (other + place) // 2)
    return start, end


def _alike(near: dict[str, float], theirs: dict[str, float], index: ArticleIndex) -> float:
    """The share of what stands with a side in the case that stands with one in the article."""
    total = sum(weight * index.weight(name) for name, weight in near.items())
    wide: dict[str, float] = {}
    for name, weight in theirs.items():
        for form in with_prefixes(frozenset((name,))):
            wide[form] = max(weight, wide.get(form, 0.0))
    met = 0.0
    for name, weight in near.items():
        form = name if name in wide else f"{name[:5]}-"
        met += weight * index.weight(name) * min(1.0, 1.6 * wide.get(form, 0.0))
    return met / total if total else 0.0


def _sided_elsewhere(side: str, other: str, near: dict[str, float], against: float, index: ArticleIndex) -> bool:
    """Whether another sentence on the patient gives this side for about the same words."""
    wanted = {"left", "right"} - {other} if side == "both" else {side}
    return any(
        mine in (*wanted, "both", "any") and _alike(near, theirs, index) >= against - MORE / 2
        for mine, theirs in _side_words(index)
    )


@lru_cache(maxsize=32)
def _side_words(index: ArticleIndex) -> Sequence[tuple[str, dict[str, float]]]:
    """Each word of side in the sentences on the patient, with what it belongs to."""
    patient = tuple(sentence for sentence in index.sentences if sentence in index.patient)
    return tuple((side, _near(one, at)) for one in all_statements(patient) for side, at in one.sides)
