"""How like a question each sentence of a story is, by vectors of words: alike even without a word in common.

`data/history/word_vectors.npy` holds 128 small integers for each of the words and pieces of words in
`word_pieces.txt` (`_` marks a beginning). `scripts.write_word_vectors` draws both from the package wordllama. A word
that is not there is put together from its longest pieces. No chance, and no library but numpy.
"""

import io
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from wardround.agents.history.facts import Fact
from wardround.agents.history.vocabulary import units

Vector = NDArray[np.float64]

_WORD = re.compile(r"[a-z]+")
_DIGITS = 5
"""Likeness is rounded, so that the order of a sum decides nothing."""


def vector_words(text: str) -> Sequence[str]:
    """The words that have vectors: letters only, in small letters."""
    return _WORD.findall(text.lower())


@lru_cache(maxsize=32768)
def text_vector(text: str) -> Vector:
    """The direction of a text: the sum of the vectors of its pieces, of length 1 (0 for a text without words)."""
    places = [place for word in vector_words(text) for place in _pieces(word)]
    return _unit(_vectors()[places].sum(axis=0, dtype=np.int64))


@lru_cache(maxsize=4096)
def word_table(words: tuple[str, ...]) -> Vector:
    """One row of length 1 for each word."""
    return np.stack([text_vector(word) for word in words]) if words else np.zeros((0, _vectors().shape[1]))


def likeness_figures(question: str, facts: Sequence[Fact]) -> tuple[dict[str, float], list[dict[str, float]]]:
    """The figures of silence and of each fact: how alike its words and the question's are, and against the best."""
    asked = units(question)
    words, weights = [unit.text for unit in asked], [unit.weight for unit in asked]
    silence: dict[str, float] = {}
    rows: list[dict[str, float]] = []
    for fact in facts:
        aligned, best_word = alignment(words, weights, fact.text)
        rows.append({"like": likeness(question, fact.text), "aligned": aligned, "aligned word": best_word})
    for name in ("like", "aligned"):
        values = [row[name] for row in rows]
        best, mean = max(values), sum(values) / len(values)
        silence[f"best {name}"] = best
        for row in rows:
            row[f"{name}, behind"] = row[name] - best
            row[f"{name}, above mean"] = row[name] - mean
            row[f"{name}, best"] = float(row[name] >= best)
    return silence, rows


def likeness(one: str, other: str) -> float:
    """How alike two texts are, from -1 to 1.

    Example: `likeness("belly", "stomach")` is above `likeness("belly", "teacher")`.
    """
    return round(float(text_vector(one) @ text_vector(other)), _DIGITS)


def alignment(asked: Sequence[str], weights: Sequence[float], text: str) -> tuple[float, float]:
    """How well each asked word is met by the most alike word of `text`: the weighted mean, and the best."""
    own = word_table(tuple(vector_words(text)))
    if not asked or not len(own):
        return 0.0, 0.0
    near = np.maximum((word_table(tuple(asked)) @ own.T).max(axis=1), 0.0) * np.array(weights)
    return round(float(near.sum() / (sum(weights) or 1.0)), _DIGITS), round(float(near.max()), _DIGITS)


def _unit(vector: NDArray[np.int64]) -> Vector:
    length = float(np.sqrt((vector**2).sum()))
    unit: Vector = vector / length if length else vector.astype(np.float64)
    return unit


@lru_cache(maxsize=32768)
def _pieces(word: str) -> tuple[int, ...]:
    """The rows of a word: of the word itself, or of its longest pieces from the beginning."""
    rows, text, pieces, at = _rows(), f"_{word}", list[int](), 0
    while at < len(text):
        sizes = range(min(_longest(), len(text) - at), 0, -1)
        size = next((size for size in sizes if text[at : at + size] in rows), 0)
        if size:
            pieces.append(rows[text[at : at + size]])
        at += size or 1
    return tuple(pieces)


@cache
def _longest() -> int:
    return max(map(len, _rows()))


@cache
def _rows() -> Mapping[str, int]:
    text = (files("wardround.agents") / "data" / "history" / "word_pieces.txt").read_text(encoding="utf-8")
    return {piece: row for row, piece in enumerate(text.split())}


@cache
def _vectors() -> NDArray[np.int8]:
    data = (files("wardround.agents") / "data" / "history" / "word_vectors.npy").read_bytes()
    vectors: NDArray[np.int8] = np.load(io.BytesIO(data), allow_pickle=False)
    return vectors
