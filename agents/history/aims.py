"""What a question is after, and which sentences of a story tell that.

A question has the aims ("allergies", "what makes it better") of the example questions that are nearest to it
(`data/history/question_bank.csv`), by the words, pairs of words and parts of long words that they share. A sentence
tells an aim by the aim's pattern (`data/history/aims.csv`).
"""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from wardround.agents.history.facts import Fact
from wardround.agents.history.vocabulary import history_rows

_NEAREST = 12
"""How many of the nearest examples count."""
_FADE = 0.07
"""How far behind the nearest example another one counts 1/e as much."""
_STRANGE = 0.1
"""A question that is less near to every example has no aim: it is empty, or in another language."""
_LONG = 7
_PART = 5
"""Words of five letters and more (seven with a mark at either end) are also compared by their parts of five."""
Vector = NDArray[np.float64]


class Aims(msgspec.Struct, frozen=True):
    """How likely each aim of the table is, and how near the nearest example, from 0 to 1."""

    shares: tuple[float, ...]
    nearest: float


class _Bank(msgspec.Struct, frozen=True):
    """The example questions: the aim of each, and for each mark its weight and the examples that hold it."""

    aims: tuple[int, ...]
    weights: Mapping[str, float]
    holding: Mapping[str, tuple[NDArray[np.int64], Vector]]


@lru_cache(maxsize=8192)
def aims_of(question: str) -> Aims:
    """What a question is after.

    Example: the likeliest aim of "Does any medicine disagree with you?" is "allergies".
    """
    bank = _bank()
    marks = sorted(_marks(question))
    unknown = math.log(len(bank.aims) + 1) - 1.0
    length = math.sqrt(sum(bank.weights.get(mark, unknown) ** 2 for mark in marks)) or 1.0
    near = np.zeros(len(bank.aims))
    for mark in marks:
        if mark in bank.holding:
            rows, weights = bank.holding[mark]
            near[rows] += weights * (bank.weights[mark] / length)
    near = np.round(near, 5)
    close = np.flatnonzero(near >= np.partition(near, -_NEAREST)[-_NEAREST])
    order = close[np.argsort(-near[close], kind="stable")][:_NEAREST]
    best = float(near[order[0]])
    shares = [0.0] * len(aim_names())
    for row in order if best >= _STRANGE else ():
        shares[bank.aims[row]] += math.exp((float(near[row]) - best) / _FADE)
    total = sum(shares) or 1.0
    return Aims(tuple(round(share / total, 5) if share else 0.0 for share in shares), best)


def aim_share(aim: str, question: str) -> float:
    """How likely a question is after this aim, from 0 to 1."""
    return aims_of(question).shares[aim_names().index(aim)]


@cache
def aim_names() -> tuple[str, ...]:
    """The names of the aims, in the order of the table."""
    return tuple(row["aim"] for row in history_rows("aims.csv"))


@cache
def examples() -> Sequence[Mapping[str, str]]:
    """The example questions, each with its aim."""
    return history_rows("question_bank.csv")


def aim_figures(question: str, facts: Sequence[Fact]) -> tuple[dict[str, float], list[dict[str, float]]]:
    """The figures of aims: for silence, what no fact tells of them; for each fact, how much of them it tells."""
    aims = aims_of(question)
    likely = [(place, share) for place, share in enumerate(aims.shares) if share]
    tells = [_aims_in(fact.section, fact.text) for fact in facts]
    silence = {
        "nearest example": aims.nearest,
        "sure of aim": max(aims.shares),
        "aims not told": sum(share for place, share in likely if not any(place in own for own in tells)),
    }
    top = max(likely, key=lambda one: one[1])[0] if likely else -1
    return silence, [
        {
            "aim": sum(share for place, share in likely if place in own),
            "first aim": float(top in own),
        }
        for own in tells
    ]


@lru_cache(maxsize=8192)
def _aims_in(section: str, text: str) -> frozenset[int]:
    """The aims that a sentence of a section tells, by their patterns or because the section is the aim's own."""
    return frozenset(
        place
        for place, (pattern, own) in enumerate(_tellings())
        if pattern.search(text) is not None or (own and own in section.lower())
    )


@lru_cache(maxsize=8192)
def _marks(text: str) -> frozenset[str]:
    """The words of a question without endings, its pairs of words, and the parts of its long words."""
    bare = re.findall(r"[a-z']+", text.lower().replace("\u2019", "'"))
    words = [re.sub(r"(?:ing|ed|es|s|ly)$", "", word) if len(word) > 4 else word for word in bare]
    pairs = {f"{one} {other}" for one, other in itertools.pairwise(["^", *words, "$"])}
    long = [f"<{word}>" for word in bare if len(word) + 2 >= _LONG]
    parts = {f"#{word[at : at + _PART]}" for word in long for at in range(len(word) - _PART + 1)}
    return frozenset(words) | pairs | parts


@cache
def _bank() -> _Bank:
    places = {name: place for place, name in enumerate(aim_names())}
    marks = [sorted(_marks(row["question"])) for row in examples()]
    count: dict[str, int] = {}
    for one in marks:
        for mark in one:
            count[mark] = count.get(mark, 0) + 1
    weights = {mark: math.log((len(marks) + 1) / (number + 0.5)) for mark, number in count.items()}
    holding: dict[str, list[tuple[int, float]]] = {}
    for row, one in enumerate(marks):
        length = math.sqrt(sum(weights[mark] ** 2 for mark in one)) or 1.0
        for mark in one:
            holding.setdefault(mark, []).append((row, weights[mark] / length))
    return _Bank(
        tuple(places[row["aim"]] for row in examples()),
        weights,
        {
            mark: (np.array([row for row, _ in rows]), np.array([weight for _, weight in rows]))
            for mark, rows in holding.items()
        },
    )


@cache
def _tellings() -> Sequence[tuple[re.Pattern[str], str]]:
    """For each aim the pattern of what tells it, and the section that is its own."""
    return tuple(
        (re.compile(rf"\b(?:{row['tells']})", re.IGNORECASE), row["section"]) for row in history_rows("aims.csv")
    )
