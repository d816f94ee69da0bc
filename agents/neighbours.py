"""The other cases of a run that read like this patient: their diseases, their tests, their treatments."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, runtime_checkable

import numpy as np

from wardround.agents.features import findings
from wardround.scenarios.case import Case, items

MOST = 2000
"""Of more cases than these every n-th is read, so that an act stays fast."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another case and how much it has in common: cosine of tf-idf vectors, 0 to 1."""

    case: Case
    likeness: float


class Neighbours:
    """Cases as one sparse matrix of words; built once for all patients of a run, each of whom is left out in turn."""

    def __init__(self, cases: Sequence[Case]) -> None:
        step = 1 + (len(cases) - 1) // MOST if cases else 1
        self.cases = tuple(cases[::step])
        bags = [_remembered(told(case)) for case in self.cases]
        self._column = {word: index for index, word in enumerate(dict.fromkeys(word for bag in bags for word in bag))}
        self._rows = np.array([row for row, bag in enumerate(bags) for _ in bag], dtype=np.intp)
        self._columns = np.array([self._column[word] for bag in bags for word in bag], dtype=np.intp)
        self._values = np.array([1 + math.log(times) for bag in bags for times in bag.values()])
        self._seen = np.bincount(self._columns, minlength=len(self._column))

    def like(self, found: Mapping[str, int], without: str) -> list[Neighbour]:
        """The eight cases likest to the affirmed words `found`, likest first, equals by id.

        The case with the id `without` is left out of the list and of how rare a word is, as if it had never been there.
        """
        kept = np.array([case.id != without for case in self.cases], dtype=bool)
        if not kept.any():
            return []
        own = self._columns[~kept[self._rows]]
        seen = self._seen - np.bincount(own, minlength=len(self._seen))
        rarity = np.where(seen > 0, np.log1p(int(kept.sum()) / np.maximum(seen, 1)), 0.0)
        query = np.zeros(len(self._column))
        for word, times in found.items():
            column = self._column.get(word)
            if column is not None:
                query[column] = (1 + math.log(times)) * rarity[column]
        weights = self._values * rarity[self._columns]
        lengths = np.sqrt(np.bincount(self._rows, weights**2, len(self.cases)))
        shared = np.bincount(self._rows, weights * query[self._columns], len(self.cases))
        whole = lengths * float(np.sqrt((query**2).sum()))
        likeness = np.divide(shared, whole, out=np.zeros(len(self.cases)), where=whole > 0)
        scored = [Neighbour(case, round(float(likeness[i]), 12)) for i, case in enumerate(self.cases) if kept[i]]
        return sorted(scored, key=lambda neighbour: (-neighbour.likeness, neighbour.case.id))[:8]


@runtime_checkable
class Whole(Protocol):
    """The cases of a run but one, with the tuple of them all."""

    all: tuple[Case, ...]


def neighbours(cases: Sequence[Case]) -> Neighbours:
    """The neighbours among `cases`. The run hands out one tuple of all its cases as `cases.all`: it is indexed once."""
    return _shared(_Same(cases.all)) if isinstance(cases, Whole) and isinstance(cases.all, tuple) else Neighbours(cases)


def told(case: Case) -> str:
    """All that a doctor could have heard of a case."""
    results = case.ancillary or "\n".join(item.text for item in items(case))
    return "\n".join((case.opening, case.complaint, results))


@lru_cache(maxsize=2 * MOST)
def _remembered(text: str) -> Counter[str]:
    return findings(text)


class _Same:
    """A tuple of cases that is equal to itself alone: a cache's key, as cases cannot be hashed."""

    def __init__(self, cases: tuple[Case, ...]) -> None:
        self.cases = cases

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.cases is self.cases

    def __hash__(self) -> int:
        return id(self.cases)


@lru_cache(maxsize=2)
def _shared(key: _Same) -> Neighbours:
    return Neighbours(key.cases)
