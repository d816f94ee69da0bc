"""Finds the numbers of a curated case that its article gives nowhere, in figures, in words or in another unit."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.reports.article import article_sentences
from wardround.scenarios.reports.case_summary import Unfaithful, item_sentences
from wardround.scenarios.reports.quantities import Quantity, quantities, same_quantity, written_value
from wardround.scenarios.reports.statements import concepts_text, sentence_statements


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A number with the concepts before it and after it, the nearest first, and its sentence."""

    quantity: Quantity
    near: Mapping[str, float]
    sentence: str


@lru_cache(maxsize=64)
def _numbered(text: str) -> tuple[_Numbered, ...]:
    return tuple(one for sentence in article_sentences(text) for one in _of_sentence(sentence))


@lru_cache(maxsize=4096)
def _of_sentence(sentence: str) -> tuple[_Numbered, ...]:
    return tuple(_Numbered(one, _near(sentence, one), sentence) for one in quantities(sentence))


_NEAR_WORD = re.compile(r"[A-Za-z_~]+(?:'[a-z]+)?|[;.,()]")


def _near(sentence: str, quantity: Quantity) -> Mapping[str, float]:
    """The concepts around a number with their nearness, most near 1."""
    near: dict[str, float] = {}
    before = [
        one[0].lower()
        for one in _NEAR_WORD.finditer(concepts_text(sentence[max(0, quantity.start - 160) : quantity.start]))
    ]
    after = [one[0].lower() for one in _NEAR_WORD.finditer(concepts_text(sentence[quantity.end : quantity.end + 120]))]
    for words, reach in ((list(reversed(before)), 1.0), (after, 0.8)):
        weight = reach
        for low in words:
            if not low[0].isalpha():
                weight *= 0.4 if low in ";." else 0.7
                continue
            name = _content(low)
            if name:
                near[name] = max(near.get(name, 0.0), weight)
                weight *= 0.82
    return near


@lru_cache(maxsize=65536)
def _content(low: str) -> str:
    """The concept of a word of content, '' for a little word."""
    [*words] = (word for one in sentence_statements(low) for word in one.words)
    return words[0].concept if words else ""


def _equal(said: _Numbered, other: _Numbered, score: float) -> bool:
    """Whether two numbers are equal; one without a unit must stand among the same words."""
    ours, theirs = said.quantity, other.quantity
    if (
        not ours.dimension
        and ours.written[0].isdigit()
        and len(ours.written) > 1
        and written_value(ours.written)[0] == written_value(theirs.written)[0]
    ):
        return True  # 'Woman, 33', 'T 36.4': the unit is left out
    if ours.dimension == theirs.dimension:
        return same_quantity(ours, theirs, tuple(said.near))
    if not theirs.dimension and ours.dimension and not theirs.written[0].isdigit():
        return False
    if {ours.dimension, theirs.dimension} == {"count/volume", ""} and _counted(ours, theirs):
        return True
    if same_quantity(ours, theirs, tuple(said.near)) and (score >= 0.3 or (ours.dimension and theirs.dimension)):
        return True
    return score >= 0.4 and ours.written == theirs.written


def _counted(ours: Quantity, theirs: Quantity) -> bool:
    """Whether a count in a volume is the bare number of the same count in a microlitre or in 10^9 a litre."""
    full, bare = (ours, theirs) if ours.dimension else (theirs, ours)
    return any(abs(full.value / size - bare.value) <= 1e-6 * bare.value for size in (1e6, 1e9))


def invented(text: str, source: str, own: str = "") -> tuple[Unfaithful, ...]:
    """Numbers of `text` that `source` has nowhere, in figures, in words or in another unit.

    `own` is the source without its sentences on the disease in general; times, which are often equal by chance, are
    looked for there.
    """
    everywhere = _numbered(source)
    specific = _numbered(own) if own else everywhere
    lacking: dict[str, Unfaithful] = {}
    for item, sentence in item_sentences(text):
        for said in _of_sentence(sentence):
            one = said.quantity
            known = specific if one.dimension == "time" else everywhere
            scores = [_alike(said.near, other.near) / sum(said.near.values()) if said.near else 1.0 for other in known]
            counts = not one.written[0].isdigit() and (not one.dimension or one.value < 2 * one.step)
            if counts or any(_equal(said, other, score) for other, score in zip(known, scores, strict=True)):
                continue
            nearest = known[scores.index(max(scores))].sentence if scores else ""
            lacking.setdefault(one.written, Unfaithful("number", one.written, sentence, nearest, item))
    return tuple(lacking.values())


def _alike(said: Mapping[str, float], known: Mapping[str, float]) -> float:
    return sum(weight * min(1.0, 0.3 + known[name]) for name, weight in said.items() if name in known)
