"""The knowledge base of the baseline: extracts findings from a text and ranks diseases by them.

The diseases come from a table of our own and from the Human Phenotype Ontology. The ontology's disease annotations
(HPO: OMIM and Orphanet) come with the package `hpo3`.
"""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from wardround.engine.text import package_rows
from wardround.scenarios.diseases.ontologies import phenotype_ontology

_WORD = re.compile(r"[a-z0-9]+")
_PART = re.compile(r"[.;:\n,]|\bbut\b")
_NEGATED = re.compile(
    r"\b(?:no|not|denies|denied|without|negative|absence|absent|never|non|nor|unremarkable|ruled out|none|normal)\b"
)
_ACCENT = re.compile(r"[\u0300-\u036f]")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_PAST = re.compile(r"history|personal|family|past|years ago|previous|rule|exclu|differential|unlikely|medications")
_LAB = re.compile(
    r"^[\s*-]*(?P<name>[^:=\n]{1,50}?)\s*[:=]\s*(?P<sign>[<>]?)\s*(?P<value>\d+(?:\.\d+)?)(?=$|[^\w.]|\s|/)(?P<rest>[^\n;]*)"
)
_RANGE = re.compile(r"reference (?:(?:from )?(?P<low>\d[\d.]*))?-?(?:(?:up to )?(?P<high>\d[\d.]*))?\)")
_FLAG = re.compile(
    r"\[(?P<flag>high|low|abnormal)\]|\((?:\w+ )?(?P<word>elevated|high|low|decreased|reduced)\)", re.IGNORECASE
)
# fmt: off
_STOP = frozenset((
    "the", "a", "an", "of", "and", "or", "in", "on", "to", "with", "for", "is", "was", "were", "are", "be", "by",
    "at", "from", "as", "his", "her", "their", "he", "she", "they", "that", "this", "has", "had", "have", "patient",
    "man", "woman", "year", "old", "years", "male", "female", "reports", "presents", "history", "no", "not", "any",
    "all", "it", "which", "who", "due", "than", "over", "after", "before", "into", "then", "there", "been", "being",
    "also", "if", "may", "can", "while", "during", "since", "including", "other", "both", "per", "my", "me", "you",
    "your", "about", "when", "what",
))
# fmt: on
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ness", ""), ("ing", ""), ("edly", ""), ("ed", ""), ("es", "e"), ("s", ""))
_SUFFIXES = ("ation", "ous", "ity", "ic", "al", "ia", "e")


def stems(text: str) -> tuple[str, ...]:
    """The stems of the content words of `text`, in order; negation is ignored."""
    return tuple(_stem(word) for word in _WORD.findall(_spell_out(strip_accents(text))) if word not in _STOP)


def disease_key(name: str) -> str:
    """A disease name in normal form: lower case, no accents, possessives or punctuation, American spelling."""
    text = strip_accents(re.sub(r"['\u2019]s\b", "", name))
    return " ".join(_WORD.findall(text.replace("tumour", "tumor").replace("haem", "hem").replace("oedema", "edema")))


def affirmed_findings(text: str) -> Counter[str]:
    """Count how often `text` affirms each stem; text after a negation in its clause and normal values do not count."""
    counted: Counter[str] = Counter()
    for line in re.split(r"[\n;]", strip_accents(text)):
        for part in _PART.split(_lab(line)):
            negated = _NEGATED.search(part)
            affirmed = _spell_out(part[: negated.start()] if negated else part)
            counted.update(
                _stem(word)
                for word in _WORD.findall(affirmed)
                if word not in _STOP and len(word) > 1 and not word.isdigit()
            )
    return counted


def affirmed_sentences(text: str) -> Iterator[tuple[str, ...]]:
    """The stems of each sentence without a negation or a reference to the past."""
    for part in re.split(r"[.;\n]", strip_accents(text)):
        if not _NEGATED.search(part) and not _PAST.search(part[:40]):
            yield stems(part)


def strip_accents(text: str) -> str:
    """The text in lower case, without accents."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", text.lower().replace("\u2019", "'").replace("\u03bc", "u"))
    return _FOREIGN.sub(" ", _ACCENT.sub("", folded))


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        if len(word) > len(ending) + 3 and word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + instead
            break
    for suffix in _SUFFIXES:
        if len(word) > len(suffix) + 3 and word.endswith(suffix):
            return word[: -len(suffix)]
    return word


@cache
def _aliases() -> tuple[re.Pattern[str], dict[str, str]]:
    rows = {row["said"]: row["meant"] for row in package_rows("wardround.agents", "data", "aliases.csv")}
    return re.compile("|".join(map(re.escape, sorted(rows, key=lambda said: (-len(said), said))))), rows


def _spell_out(text: str) -> str:
    pattern, rows = _aliases()
    return pattern.sub(lambda match: rows[match[0]], text)


@cache
def _ranges() -> dict[str, list[str]]:
    rows = (tuple(row.values()) for row in package_rows("wardround.agents", "data", "ranges.csv"))
    return {name: values for names, *values in rows for name in names.split("|")}


def _lab(line: str) -> str:
    """The meaning of a line with a laboratory value ('leukocytosis'), '' if it is normal; other lines unchanged.

    The record's flag takes precedence, then the record's reference range, then the table's.
    """
    line = re.sub(r"(?<=\d),(?=\d{3}\b)", "", line)
    match = _LAB.match(line)
    if match is None:
        return line
    name, value, rest = match["name"].strip(), float(match["value"]), match["rest"]
    row = _ranges().get(name.split(": ")[-1].strip())
    below, above = row[4:] if row else (f"low {name}", f"elevated {name}")
    flag = _FLAG.search(rest)
    if flag:
        said = (flag["flag"] or flag["word"]).lower()
        return above if said in ("high", "elevated") else below if said in ("low", "decreased", "reduced") else line
    limits = _RANGE.search(rest)
    low, high = (limits["low"], limits["high"]) if limits else row[:2] if row else (None, None)
    if row and not limits and row[2] and value > float(row[2]):
        value /= float(row[3])
    if low and value < float(low):
        return below
    if high and value > float(high):
        return above
    return "" if row or limits else line


_K, _B = 1.2, 0.75
"""The usual parameters of BM25: saturation of term frequency (k1) and length normalisation (b)."""

_NAME_WEIGHT = {"table": 3.0, "hpo": 2.0}
_PRIOR = {"table": 1.0, "hpo": 0.85}
"""The factor on a disease's score by source; the table's diseases are the common ones."""

_NAMED = 2.0
"""The weight of a disease's name in an affirmed sentence, relative to the same words scattered in the text."""

_LONGEST_NAME = 7


@dataclass(frozen=True, slots=True)
class DiseaseTest:
    """A test that shows findings of a disease: kind (lab, imaging, microbiology, other), name, stems of findings."""

    kind: str
    name: str
    shows: frozenset[str]
    weight: float


@dataclass(frozen=True, slots=True)
class RankedDisease:
    """A disease: weighted stems of its findings, its tests and treatment (both empty if it comes from HPO)."""

    name: str
    source: str
    words: Mapping[str, float]
    tests: tuple[DiseaseTest, ...] = ()
    treatment: str = ""


class DiseaseIndex:
    """All diseases, ranked by BM25 over their findings, with a bonus for a disease's name in the text."""

    def __init__(self, diseases: Sequence[RankedDisease]) -> None:
        self.diseases = tuple(diseases)
        self._rarity: dict[str, float] = {}
        self._postings = self._index()
        self._prior = np.array([_PRIOR[disease.source] for disease in self.diseases])
        self._names: dict[tuple[str, ...], int] = {}
        for index, disease in enumerate(self.diseases):
            self._names.setdefault(stems(disease_key(disease.name)), index)
        self._lengths = sorted({len(name) for name in self._names if 0 < len(name) <= _LONGEST_NAME})

    def rarity(self, word: str) -> float:
        """The inverse document frequency of a word over the diseases; 0 if no disease has it."""
        return self._rarity.get(word, 0.0)

    def scores(self, affirmed: Mapping[str, int], text: str) -> NDArray[np.float64]:
        """A score for each disease, from the affirmed words of `text` and from the names in it."""
        scores = np.zeros(len(self.diseases))
        for word, times in affirmed.items():
            if word in self._postings:
                rows, weights = self._postings[word]
                scores[rows] += (1 + math.log(times)) * weights
        scores *= self._prior
        for index, times in self._mentions(text).items():
            name = stems(disease_key(self.diseases[index].name))
            scores[index] += _NAMED * sum(self.rarity(word) for word in name) * min(2.0, 1 + math.log(times))
        return scores

    def _mentions(self, text: str) -> Counter[int]:
        named: Counter[int] = Counter()
        for words in affirmed_sentences(text):
            for length in self._lengths:
                for start in range(len(words) - length + 1):
                    index = self._names.get(words[start : start + length])
                    if index is not None:
                        named[index] += 1
        return named

    def _index(self) -> dict[str, tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """For each word, the diseases that have it and its BM25 weight in each; sets the rarity of each word."""
        lengths = np.array([sum(disease.words.values()) for disease in self.diseases])
        discount = _K * (1 - _B + _B * lengths / lengths.mean())
        listed: defaultdict[str, list[int]] = defaultdict(list)
        weights: defaultdict[str, list[float]] = defaultdict(list)
        for row, disease in enumerate(self.diseases):
            for word, weight in disease.words.items():
                listed[word].append(row)
                weights[word].append(weight)
        postings = {}
        for word, diseases in listed.items():
            rarity = self._rarity[word] = math.log(1 + len(self.diseases) / len(diseases))
            rows, weight_in = np.array(diseases, dtype=np.intp), np.array(weights[word])
            postings[word] = rows, rarity * weight_in * (_K + 1) / (weight_in + discount[rows])
        return postings


@cache
def disease_index() -> DiseaseIndex:
    """The diseases of the table, and those of HPO that the table lacks; indexed once in a process."""
    known = {disease_key(disease.name): disease for disease in disease_table()}
    for disease in _ontology():
        known.setdefault(disease_key(disease.name), disease)
    return DiseaseIndex(tuple(known.values()))


@cache
def disease_table() -> tuple[RankedDisease, ...]:
    """The diseases of `data/findings.csv` with their treatments from `data/treatments.csv`."""
    treatments = {
        row["disease"]: row["treatment"] for row in package_rows("wardround.agents", "data", "treatments.csv")
    }
    by_disease: dict[str, list[dict[str, str]]] = {}
    for row in package_rows("wardround.agents", "data", "findings.csv"):
        by_disease.setdefault(row["disease"], []).append(row)
    return tuple(_disease(name, rows, treatments.get(name, "")) for name, rows in by_disease.items())


def _disease(name: str, rows: Sequence[Mapping[str, str]], treatment: str) -> RankedDisease:
    words = dict.fromkeys(stems(name), _NAME_WEIGHT["table"])
    tests: dict[tuple[str, str], tuple[set[str], float]] = {}
    for row in rows:
        weight = float(row["weight"])
        for word in stems(row["finding"]):
            words[word] = max(words.get(word, 0.0), weight)
        if row["test"]:
            shows, most = tests.get((row["kind"], row["test"]), (set(), 0.0))
            tests[row["kind"], row["test"]] = (shows | set(stems(row["finding"])), max(most, weight))
    made = tuple(DiseaseTest(kind, test, frozenset(shows), weight) for (kind, test), (shows, weight) in tests.items())
    return RankedDisease(name, "table", words, made, treatment)


def _ontology() -> list[RankedDisease]:
    ontology = phenotype_ontology()
    words = {term.number: stems(term.name) for term in ontology.terms}
    diseases = []
    for listed in (ontology.orphanet, ontology.omim):
        for disease in listed:
            name = disease.name.split(";", maxsplit=1)[0]
            bag = dict.fromkeys((word for term in disease.phenotypes for word in words[term]), 1.0)
            diseases.append(RankedDisease(name, "hpo", bag | dict.fromkeys(stems(name), _NAME_WEIGHT["hpo"])))
    return diseases
