"""Decides whether an article gives the other side of the body than a case does.

| the case's words | the article | contradicted |
|---|---|---|
| one side | the same words with that side, in a sentence that fits about as well as any | no |
| one side | the same words with the other side only | yes |
| two sides | a sentence that has them both, not crossed | no |
| one side twice | a sentence that fits, with as many words of side, of both sides | yes |
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from wardround.scenarios.reports.case_summary import Unfaithful
from wardround.scenarios.reports.disagreement import ELLIPTIC, Known, meets, site, with_prefixes
from wardround.scenarios.reports.statements import ArticleStatement, sentence_statements

_REACH = 10
_OUTSIDE = 0.15
"""The weight of a word that belongs to another word of side."""
_PARTS = re.compile(r";\s+")
_COMPARED = re.compile(
    r"(?i)\b(?:worse|more|greater|larger|less|predominant\w*|mainly)\b[^,;]{0,20}\b(?:left|right)\b"
    r"|\b(?:than|less so|more so|lesser|as well as|to|compared)\b(?: the)? (?:left|right)\b"
)
"""A side that another is compared with."""


def contradicted_sides(item: str, sentence: str, known: Known) -> Iterator[Unfaithful]:
    """The words of side in a sentence of a case that the article contradicts."""
    for part in _PARTS.split(sentence):
        read = sentence_statements(part)
        if _COMPARED.search(part):
            continue
        mentions = [
            (one, side, place) for one in read for side, place in one.sides if side != "any" and _around(one, place)
        ]
        if len(mentions) > 1 and (decided := _several(mentions, read, known)) is not None:
            yield from (Unfaithful("side", side, sentence, text, item) for side, text in decided)
            continue
        for one, side, place in mentions:
            if text := _other_side(one, side, place, known):
                yield Unfaithful("side", side, sentence, text, item)


_Mention = tuple[ArticleStatement, str, int]
FITS, CROSSED, MORE = 0.5, 0.6, 0.25


def _several(
    mentions: Sequence[_Mention], read: Sequence[ArticleStatement], known: Known
) -> Sequence[tuple[str, str]] | None:
    """(side, the article's sentence) of what is contradicted among several words of side; None if that is open."""
    said = Counter(side for _, side, _ in mentions)
    names = {word.concept for one in read for word in one.words}
    total = sum(known.weight(name) for name in names)
    fits = sorted(
        (
            (
                sum(known.weight(name) for name in sorted(names) if meets(name, known.sentences[text]))
                / (total or 1.0),
                text,
            )
            for text in known.sided
        ),
        reverse=True,
    )
    near = [(fit, text) for fit, text in fits if fit >= max(FITS, fits[0][0] - 0.1)]
    if not near:
        return None
    if any(not said - Counter(known.sided[text]) or "any" in known.sided[text] for _, text in near):
        crossed = [_scores(one, place, side, known) for one, side, place in mentions]
        if all(against[0] >= CROSSED and against[0] > own + MORE for own, against in crossed):
            return [(mentions[0][1], crossed[0][1][1])]
        return [(side, text) for one, side, place in mentions if (text := _number_of_other(one, side, place, known))]
    text = near[0][1]
    theirs = known.sided[text]
    if len(said) == 1 and "both" not in (*said, *theirs) and len(theirs) == len(mentions) and len(set(theirs)) > 1:
        return [(mentions[0][1], text)]
    return None


def _other_side(one: ArticleStatement, side: str, place: int, known: Known) -> str:
    """The article's sentence that gives the other side of the same, '' if there is none or the side is supported."""
    own, (against, text) = _scores(one, place, side, known, nothing=_nothing_there(one, place))
    if against == 0.0:
        return ""
    if side == "both" and own >= 0.25 * against:
        return ""
    if side in known.sided[text] and ELLIPTIC.search(text):
        return ""
    if side in known.sided[text] and own >= 0.05:
        least, more = (0.7, 0.25) if against >= 0.7 else (0.45, 0.35)
    else:
        least, more = (0.15, 0.1) if own < 0.05 else (0.25, 0.085)
    return text if against >= least and against > own + more else ""


def _number_of_other(one: ArticleStatement, side: str, place: int, known: Known) -> str:
    """The article's sentence that gives a number of this side only for the other, '' if there is none."""
    own = _numbers_at(one, place)
    others = [
        (other, number, text.sentence)
        for text in known.statements
        for other, at in text.sides
        for number in _numbers_at(text, at)
        if number in own and "both" not in (other, side)
    ]
    if not others or any(other == side for other, _, _ in others):
        return ""
    return others[0][2]


def _numbers_at(one: ArticleStatement, place: int) -> Sequence[str]:
    """The decimals and long numbers that stand with a word of side."""
    start, end = _stretch(one, place)
    return [number for number, at in one.numbers if start < at < end and len(number) > 1]


def _nothing_there(one: ArticleStatement, place: int) -> bool:
    """Whether all that is said of a side is that nothing is wrong there."""
    start = max((joint for joint in one.joints if joint < place), default=-1)
    end = min((joint for joint in one.joints if joint > place), default=10**6)
    near = [word for word in one.words if start < word.place < end and word.head]
    said = [word for word in near if not site(word.concept)]
    return any(word.judged == ("normal", True) or word.concept == "symptom" for word in near) or bool(
        said and all(word.denied for word in said)
    )


def _scores(
    one: ArticleStatement, place: int, side: str, known: Known, *, nothing: bool = False
) -> tuple[float, tuple[float, str]]:
    """How well the article supports a side, and how well another side, with its sentence.

    `nothing`: the case says only that nothing is wrong there, so only the same of the other side is against it.
    """
    near = _around(one, place)
    best: dict[str, tuple[float, str]] = {}
    for other, score, sentence, clear in _sided(near, known):
        if (clear == nothing or other == side) and score > best.get(other, (0.0, ""))[0]:
            best[other] = (score, sentence)
    own = best.get(side, (0.0, ""))[0]
    own = max(own, best.get("any", (0.0, ""))[0])
    if side == "both":
        own = max(own, min(best.get("left", (0.0,))[0], best.get("right", (0.0,))[0]))
    against = max(
        ((score, text) for other, (score, text) in best.items() if other not in (side, "any")), default=(0.0, "")
    )
    return own, against


def side_support(said: ArticleStatement, known: Known) -> Sequence[float]:
    """For each word of side of a statement how well the article fits, whatever side it gives."""
    return [
        max((score for _, score, _, _ in _sided(near, known)), default=0.0)
        for _, place in said.sides
        if (near := _around(said, place))
    ]


def _around(said: ArticleStatement, place: int) -> list[tuple[str, float]]:
    """(concept, weight) of the words and numbers near a word of side; those of another word of side count little."""
    start, end = _stretch(said, place)
    near = []
    for name, at in (
        *((word.concept, word.place) for word in said.words),
        *((f"#{one}", at) for one, at in said.numbers),
    ):
        if abs(at - place) <= _REACH:
            joints = sum(min(place, at) < joint < max(place, at) for joint in said.joints)
            weight = (1.0 if start < at < end else _OUTSIDE) / (1 + abs(at - place) / 6) / 1.5**joints
            near.append((name, weight * 0.75 if name.startswith("#") else weight))
    return near


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


def _sided(near: Sequence[tuple[str, float]], known: Known) -> Iterator[tuple[str, float, str, bool]]:
    """(side, likeness, sentence, whether nothing is wrong there) of each word of side of the article."""
    total = sum(weight * known.weight(name) for name, weight in near)
    for one in known.statements:
        for other, place in one.sides:
            theirs: dict[str, float] = {}
            for name, weight in _around(one, place):
                for form in sorted(with_prefixes(frozenset((name,)))):
                    theirs[form] = max(weight, theirs.get(form, 0.0))
            score = 0.0
            for name, weight in near:
                form = name if name in theirs else f"{name[:5]}-"
                if form in theirs:
                    score += weight * known.weight(name) * min(1.0, theirs[form] * 1.6)
                elif meets(name, known.sentences[one.sentence]):
                    score += 0.2 * weight * known.weight(name)
            yield other, score / total, one.sentence, _nothing_there(one, place)
