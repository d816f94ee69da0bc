"""Finds the numbers of a curated case that its article lacks, or gives for something else."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.reports.article import article_sentences
from wardround.scenarios.reports.case_summary import Unfaithful, item_sentences
from wardround.scenarios.reports.quantities import Quantity, quantities, same_quantity
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


def misplaced_numbers(item: str, sentence: str, text: str, case: frozenset[str]) -> Iterator[Unfaithful]:
    """Numbers of a case's sentence that the article `text` gives for something else; `case` are its own sentences."""
    known = _numbered(text)
    for said in _of_sentence(sentence):
        total = sum(said.near.values())
        equal, rival = -1.0, (-1.0, "")
        for other in known:
            score = _alike(said.near, other.near) / total if total else 1.0
            if _equal(said, other, score):
                equal = max(equal, score)
            elif other.quantity.dimension == said.quantity.dimension and score > rival[0] and other.sentence in case:
                rival = (score, other.sentence)
        written = said.quantity.written
        if (
            len(said.near) > 1
            and rival[0] >= 0.45
            and 0 <= equal < 0.35
            and rival[0] > equal + 0.25
            and not (_YEAR.fullmatch(written))
        ):
            yield Unfaithful("number", written, sentence, rival[1], item)


def _equal(said: _Numbered, other: _Numbered, score: float) -> bool:
    """Whether two numbers are equal; one without a unit must stand among the same words."""
    ours, theirs = said.quantity, other.quantity
    if ours.dimension == theirs.dimension:
        return same_quantity(ours, theirs, tuple(said.near))
    if not theirs.dimension and ours.dimension and not theirs.written[0].isdigit():
        return False
    if same_quantity(ours, theirs, tuple(said.near)) and (score >= 0.3 or (ours.dimension and theirs.dimension)):
        return True
    return score >= 0.4 and ours.written == theirs.written


def invented(text: str, source: str) -> tuple[Unfaithful, ...]:
    """Numbers of `text` that `source` has nowhere, in figures, in words or in another unit."""
    known = _numbered(source)
    lacking: dict[str, Unfaithful] = {}
    for item, sentence in item_sentences(text):
        for said in _of_sentence(sentence):
            one = said.quantity
            scores = [_alike(said.near, other.near) / sum(said.near.values()) if said.near else 1.0 for other in known]
            counts = not one.written[0].isdigit() and (not one.dimension or one.value < 2 * one.step)
            if counts or any(_equal(said, other, score) for other, score in zip(known, scores, strict=True)):
                continue
            nearest = known[scores.index(max(scores))].sentence if scores else ""
            lacking.setdefault(one.written, Unfaithful("number", one.written, sentence, nearest, item))
    return tuple(lacking.values())


_YEAR = re.compile(r"(?:19|20)\d\d")


def _alike(said: Mapping[str, float], known: Mapping[str, float]) -> float:
    return sum(weight * min(1.0, 0.3 + known[name]) for name, weight in said.items() if name in known)
