"""The other cases of a run that read like this patient: their diseases, their tests, their treatments."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wardround.agents.features import findings
from wardround.agents.knowledge import knowledge
from wardround.scenarios.case import Case
from wardround.scenarios.records import items

MOST = 2000
"""Of more cases than these every n-th is read, so that an act stays fast."""

_UNKNOWN = 5.0
"""Weight of a word that no disease of the knowledge has: about that of a word in one of 150 diseases."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another case and how much it has in common: cosine of tf-idf vectors, 0 to 1."""

    case: Case
    likeness: float


def neighbours(cases: Sequence[Case], found: Mapping[str, int], most: int = 8) -> list[Neighbour]:
    """The `most` cases likest to the affirmed words of a patient, likest first; equals by id."""
    step = 1 + (len(cases) - 1) // MOST if cases else 1
    query = _vector(found)
    scored = []
    for case in cases[::step]:
        other = _remembered(told(case))
        shared = sum(query[word] * other[word] for word in query.keys() & other.keys())
        scored.append(Neighbour(case, shared))
    return sorted(scored, key=lambda neighbour: (-neighbour.likeness, neighbour.case.id))[:most]


def told(case: Case) -> str:
    """All that a doctor could have heard of a case."""
    results = case.ancillary or "\n".join(item.text for item in items(case))
    return "\n".join((case.opening, case.complaint, results))


@lru_cache(maxsize=2 * MOST)
def _remembered(text: str) -> dict[str, float]:
    return _vector(findings(text))


def _vector(found: Mapping[str, int]) -> dict[str, float]:
    """tf-idf weights of unit length."""
    known = knowledge()
    weights = {word: (known.rarity(word) or _UNKNOWN) * (1 + math.log(times)) for word, times in found.items()}
    norm = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
    return {word: weight / norm for word, weight in weights.items()} if norm else {}
