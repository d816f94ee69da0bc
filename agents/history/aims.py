"""What a question is after, by the example questions that are nearest to it (`data/history/question_bank.csv`).

Each aim ("allergies", "what makes it better") has a dozen questions in the words of different doctors, and a pattern of
the sentences that tell it (`aims.csv`). A question is near an example by the words and meanings that they share and by
the vectors of their words, so that wording which no table foresaw still has an aim.
"""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from wardround.agents.history import meaning
from wardround.agents.history.vocabulary import history_rows
from wardround.agents.history.word_vectors import Vector, text_vector

VIEWS = (("words", 1.0, 12, 0.07), ("vectors", 0.4, 8, 0.08))
"""Each view of nearness: its name, the share of words and meanings in it (the rest is vectors), how many of the nearest
examples count, and how fast one counts less the farther it is behind the nearest."""
_SMALL = frozenset(
    re.findall(
        r"\S+",
        """the a an of to in on at is are was were be been do does did has have had you your he his she her him it its
        i me my we us and or for with any that this there some so""",
    )
)


@dataclass(frozen=True, slots=True)
class Aims:
    """What a question may be after: how likely each aim is, and how near its nearest example."""

    shares: tuple[float, ...]
    nearest: float


@dataclass(frozen=True, slots=True)
class _Bank:
    """The example questions: the aim of each, what each of their words weighs and where it stands, and vectors."""

    aims: tuple[int, ...]
    weights: Mapping[str, float]
    holding: Mapping[str, tuple[tuple[int, float], ...]]
    vectors: Vector


@lru_cache(maxsize=8192)
def aims_of(question: str) -> tuple[Aims, ...]:
    """How likely each aim of the table is, once for each of `VIEWS`."""
    return tuple(_seen(question, of_words, most, sharp) for _, of_words, most, sharp in VIEWS)


def _seen(question: str, of_words: float, most: int, sharp: float) -> Aims:
    bank = _bank()
    near = (1.0 - of_words) * (bank.vectors @ text_vector(question))
    marks = _marks(question)
    unknown = math.log(len(bank.aims) + 1) - 1.0
    length = math.sqrt(sum(bank.weights.get(mark, unknown) ** 2 for mark in sorted(marks))) or 1.0
    for mark in sorted(marks):
        for row, weight in bank.holding.get(mark, ()):
            near[row] += of_words * weight * bank.weights[mark] / length
    rounded = np.round(near, 5)
    order = np.argsort(-rounded, kind="stable")[:most]
    best = float(rounded[order[0]])
    shares = [0.0] * len(aim_names())
    for row in order:
        shares[bank.aims[row]] += math.exp((float(rounded[row]) - best) / sharp)
    total = sum(shares)
    return Aims(tuple(round(share / total, 5) for share in shares), best)


@lru_cache(maxsize=8192)
def likeliest_aim(question: str) -> str:
    """The name of the likeliest aim by vectors.

    Example: `likeliest("Does any medicine disagree with you?")` is "allergies".
    """
    shares = aims_of(question)[-1].shares
    return aim_names()[shares.index(max(shares))]


@cache
def aim_names() -> tuple[str, ...]:
    """The names of the aims, in the order of the table."""
    return tuple(row["aim"] for row in history_rows("aims.csv"))


@cache
def examples() -> Sequence[Mapping[str, str]]:
    """The example questions, each with its aim."""
    return history_rows("question_bank.csv")


@lru_cache(maxsize=8192)
def aims_met(section: str, text: str) -> tuple[bool, ...]:
    """For each aim whether a sentence of a section tells it."""
    return tuple(
        (words is not None and words.search(text) is not None) or bool(place and place in section.lower())
        for words, place in _tellings()
    )


@lru_cache(maxsize=8192)
def _marks(text: str) -> frozenset[str]:
    """The words of a text, its pairs of words, and all that its words mean."""
    words = [_root(word) for word in re.findall(r"[a-z']+", text.lower())]
    pairs = {f"{one} {other}" for one, other in itertools.pairwise(words)}
    meant = {name for unit in meaning.units(text) for name in unit.meanings}
    return frozenset({word for word in words if word not in _SMALL} | pairs | meant)


def _root(word: str) -> str:
    return re.sub(r"(?:ing|ed|es|s|ly)$", "", word) if len(word) > 4 else word


@cache
def _bank() -> _Bank:
    places = {name: place for place, name in enumerate(aim_names())}
    rows = examples()
    marks = [_marks(row["question"]) for row in rows]
    counts: dict[str, int] = {}
    for one in marks:
        for mark in sorted(one):
            counts[mark] = counts.get(mark, 0) + 1
    weights = {mark: math.log((len(rows) + 1) / (count + 0.5)) for mark, count in counts.items()}
    holding: dict[str, list[tuple[int, float]]] = {}
    for place, one in enumerate(marks):
        length = math.sqrt(sum(weights[mark] ** 2 for mark in sorted(one))) or 1.0
        for mark in sorted(one):
            holding.setdefault(mark, []).append((place, weights[mark] / length))
    vectors = np.stack([text_vector(row["question"]) for row in rows])
    of = tuple(places[row["aim"]] for row in rows)
    return _Bank(of, weights, {mark: tuple(at) for mark, at in holding.items()}, vectors)


@cache
def _tellings() -> Sequence[tuple[re.Pattern[str] | None, str]]:
    return tuple(
        (re.compile(rf"\b(?:{row['told']})", re.IGNORECASE) if row["told"] else None, row["section"])
        for row in history_rows("aims.csv")
    )
