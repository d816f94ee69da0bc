"""All diseases the linkers know, from every source, each once: built on first use, kept in memory only."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from wardround.scenarios.terms import icd, rare, synonyms
from wardround.scenarios.terms.comparable import ordered_form
from wardround.scenarios.terms.concepts import Concept
from wardround.scenarios.terms.families import bare, covered
from wardround.scenarios.terms.vocabulary import vocabulary
from wardround.scenarios.terms.wording import key

OWN, NAMED = range(2)
"""How much the names of a concept count where several have them: those of the project and the user before others."""
LISTED = "WR"
"""Stands for the ORPHA number of a disease that only the project's own list says is rare."""


@dataclass(frozen=True)
class Knowledge:
    """`concepts` in a fixed order; `ranks` says for each whether its synonyms count as names of the project (OWN)."""

    concepts: tuple[Concept, ...]
    ranks: tuple[int, ...]
    broader: Mapping[str, str]

    def by_id(self, name: str) -> Concept | None:
        """The concept of an id; None if there is none."""
        return self._ids.get(name)

    @property
    def _ids(self) -> Mapping[str, Concept]:
        return _ids(self.concepts)


@cache
def _ids(concepts: tuple[Concept, ...]) -> Mapping[str, Concept]:
    return {concept.id: concept for concept in concepts}


@cache
def knowledge(*own: Path) -> Knowledge:
    """The knowledge of the project, ICD-10-CM, Orphanet and OMIM, and of the user's files (CSV, MRCONSO.RRF).

    Takes some seconds on the first call of a process. Raises UsageError for a file that cannot be read.
    """
    given = [concept for path in own for concept in synonyms.read(path)]
    return assembled(conditions(), given, (icd.diseases(), rare.orphanet(), rare.omim()))


def small(concepts: Sequence[Concept]) -> Knowledge:
    """A knowledge of these concepts alone, for tests and for those who bring their own."""
    return Knowledge(tuple(concepts), tuple(OWN for _ in concepts), {})


def conditions() -> tuple[Sequence[Concept], Mapping[str, str]]:
    """The project's own table, and which of its diseases is a kind of which (by id)."""
    found, broader = [], {}
    for row in _rows("conditions.csv"):
        names, short, ten, nine = (_parts(row[column]) for column in ("synonyms", "abbreviations", "icd10", "icd9"))
        found.append(Concept(_own_id(row["name"]), row["name"], names, short, ten, nine))
        if row["broader"]:
            broader[_own_id(row["name"])] = _own_id(row["broader"])
    return found, broader


def _own_id(name: str) -> str:
    return "WR:" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def assembled(
    table: tuple[Sequence[Concept], Mapping[str, str]],
    given: Sequence[Concept],
    sources: Iterable[Iterable[Concept]],
) -> Knowledge:
    """One concept for one disease: those of one name, or of one code that the user's file names, are put together."""
    own, broader = table
    held = [*own]
    ranks = [OWN] * len(held)
    named = {key(name): place for place, concept in reversed(list(enumerate(held))) for name in concept.names}
    named |= {key(concept.name): place for place, concept in enumerate(held)}
    ordered = {_order(name): place for name, place in reversed(named.items())}
    families = [concept.icd10 for concept in held]
    coded = {codes[0]: place for place, codes in enumerate(families) if len(codes) == 1 and families.count(codes) == 1}
    for source in sources:
        for concept in source:
            place = named.get(key(concept.name), ordered.get(_order(key(concept.name))))
            if place is None and concept.id.startswith("ICD10CM:") and "#" not in concept.id:
                place = coded.get(concept.icd10[0])
            if place is None:
                ordered.setdefault(_order(key(concept.name)), len(held))
                named[key(concept.name)] = len(held)
                held.append(concept)
                ranks.append(NAMED)
            else:
                held[place] = _joined(held[place], concept, ranks[place])
    _give(held, ranks, named, given)
    if own:
        _also(held, named)
        _mark(held, ranks)
    return Knowledge(tuple(held), tuple(ranks), broader)


def _order(form: str) -> str:
    return ordered_form(form.split())


def _give(held: list[Concept], ranks: list[int], named: dict[str, int], given: Sequence[Concept]) -> None:
    """The user's concepts: to the concept they name by id, by name, or by the one ICD-10-CM code; else new."""
    by_id = {concept.id: place for place, concept in enumerate(held)}
    for concept in given:
        coded = by_id.get(f"ICD10CM:{concept.icd10[0]}") if len(concept.icd10) == 1 else None
        meant = (key(concept.id), *(key(name) for name in concept.names))
        place = by_id.get(concept.id, next((named[name] for name in meant if name in named), coded))
        if place is None:
            named[key(concept.name)] = by_id[concept.id] = len(held)
            held.append(concept)
            ranks.append(OWN)
        else:
            held[place], ranks[place] = _joined(held[place], concept, NAMED), OWN


def _also(held: list[Concept], known: Mapping[str, int]) -> None:
    """The tables behind the comparison of diagnoses: abbreviations, and names of one disease."""
    named = {key(name): place for place, concept in reversed(list(enumerate(held))) for name in concept.names}
    named |= known
    for name, others in vocabulary().synonyms.items():
        place = named.get(name)
        new = tuple(other for other in others if key(other) not in named)
        if place is not None:
            held[place] = replace(held[place], synonyms=tuple(dict.fromkeys((*held[place].synonyms, *new))))
            named.update((key(other), place) for other in new)
    for short, name in vocabulary().abbreviations.items():
        place = named.get(key(name))
        if place is not None and short not in held[place].abbreviations:
            held[place] = replace(held[place], abbreviations=(*held[place].abbreviations, short))


def _mark(held: list[Concept], ranks: list[int]) -> None:
    """The project's own list of rare diseases: Orphanet's ontology holds more than HPO annotates."""
    named = {key(name): place for place, concept in reversed(list(enumerate(held))) for name in concept.names}
    listed = []
    for row in _rows("rare.csv"):
        names = (row["name"], *_parts(row["synonyms"]))
        place = named.get(key(names[0]))
        if place is None:
            held.append(Concept(_own_id(names[0]), names[0]))
            ranks.append(OWN)
            place = len(held) - 1
        concept = held[place]
        listed.append(place)
        new = tuple(name for name in names[1:] if key(name) not in named)
        held[place] = replace(concept, synonyms=(*concept.synonyms, *new), rare=concept.rare or (LISTED,))
        for name in names[1:]:
            other = named.get(key(name))
            if other is not None and not held[other].rare:
                held[other] = replace(held[other], rare=(LISTED,))
    families = {bare(code) for place in listed for code in held[place].icd10}
    for place, concept in enumerate(held):
        # What stands below a rare disease in the classification is one: pulmonary nocardiosis.
        if ranks[place] != OWN and not concept.rare and concept.icd10 and _within(concept.icd10, families):
            held[place] = replace(concept, rare=(LISTED,))


def _within(codes: Sequence[str], families: Set[str]) -> bool:
    return all(any(bare(code)[:size] in families for size in range(3, len(code) + 1)) for code in codes)


def _rows(name: str) -> list[dict[str, str]]:
    text = files(__package__).joinpath("data", name).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def _parts(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split("|") if part.strip())


def _joined(one: Concept, other: Concept, rank: int) -> Concept:
    """`one` with the names and numbers of `other`. Families that the project's table wrote stay as it wrote them."""
    names = dict.fromkeys((*one.synonyms, *other.names))
    names.pop(one.name, None)
    keep = bool(one.icd10) and (rank == OWN or covered(other.icd10, one.icd10))
    return replace(
        one,
        synonyms=tuple(names),
        abbreviations=tuple(dict.fromkeys((*one.abbreviations, *other.abbreviations))),
        icd10=one.icd10 if keep else tuple(dict.fromkeys((*one.icd10, *other.icd10))),
        icd9=one.icd9 or other.icd9,
        rare=tuple(dict.fromkeys((*one.rare, *other.rare))),
        omim=tuple(dict.fromkeys((*one.omim, *other.omim))),
    )
