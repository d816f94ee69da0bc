"""Relates two diseases by all tables: the same, a wider or narrower one, or a known complication."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal

from wardround.scenarios.diseases.contradiction import kinds
from wardround.scenarios.diseases.disease_name import parse_name
from wardround.scenarios.diseases.disease_wording import clinical
from wardround.scenarios.diseases.graph import graph
from wardround.scenarios.diseases.lexical_linker import linker
from wardround.scenarios.diseases.mondo import diseases_named, kinship, lineage, principal_part
from wardround.scenarios.diseases.names_within import ANY
from wardround.scenarios.diseases.same_disease import readings, same_disease, wider_by_table
from wardround.scenarios.terms.wording import RootWords, table_rows, vocabulary

Kinship = Literal["same", "ancestor", "descendant", "complication"]
"""The relation of one disease to another: 'ancestor' if it is wider, 'descendant' if it is a kind of the other."""


@cache
def complications() -> Sequence[tuple[tuple[str, ...], tuple[str, ...]]]:
    """(diseases, names of their complications), row by row from `complications.csv`."""
    rows = table_rows("complications.csv")
    return tuple((tuple(row["disease"].split("|")), tuple(row["complications"].split("|"))) for row in rows)


def complicates(one: str, other: str) -> bool:
    """Whether `one` is a known complication of `other`: the table has it for `other`, a wider disease or any disease.

    With another organism it is none: viral encephalitis does not complicate bacterial meningitis.
    """
    one, other = clinical(one), clinical(other)
    known = (name for name in _complications_of(other) if _akin(name, one) and same_disease(name, one).same)
    return not other_agent(one, other) and any(True for _ in known)


_CLASSES = RootWords("virus viral bacterium bacterial fungus fungal parasite parasitic")


def other_agent(one: str, other: str) -> bool:
    """Whether two diseases name different organisms, or different classes of organisms; a class may fit a species."""
    mine, theirs = (frozenset(w for w in parse_name(name).words if kinds([w]) == {"organism"}) for name in (one, other))
    if not mine or not theirs or mine & theirs:
        return False
    return (mine <= _CLASSES) == (theirs <= _CLASSES)


@lru_cache(maxsize=4096)
def _complications_of(disease: str) -> tuple[str, ...]:
    """The complications that the table gives for this disease, for wider diseases and for any disease, each once."""
    rows = [
        known
        for diseases, known in complications()
        if any(wider == ANY or (_akin(wider, disease) and same_disease(wider, disease).same) for wider in diseases)
    ]
    return tuple(dict.fromkeys(name for known in rows for name in known))


def _akin(wider: str, name: str) -> bool:
    """Whether `name` may mean `wider` or a kind of it. False rules out `same_disease`, at a hundredth of its cost."""
    return not _reach(name).isdisjoint(
        (*_words_of(wider), *diseases_named(wider), *diseases_named(principal_part(wider)))
    )


@lru_cache(maxsize=16384)
def _reach(name: str) -> frozenset[str | int]:
    """The words of a name and of wider names in the table, and the diseases of MONDO that contain it."""
    wider = (kind for one in readings(name) for kind in wider_by_table(one))
    return frozenset[str | int](lineage(name)).union(*map(_words_of, (name, *wider)))


@lru_cache(maxsize=16384)
def _words_of(name: str) -> frozenset[str | int]:
    """The words of a name in all its readings, and of the names for which it is an abbreviation."""
    names = [name, *vocabulary().short.get(name.strip(" ."), ())]
    parsed = [parse_name(one) for each in names for one in readings(each)]
    parts = [part.words for one in parsed for part in (one.head, one.cause, one.effect, one.beside)]
    return frozenset[str | int]().union(*(one.words | one.led for one in parsed), *parts)


@lru_cache(maxsize=16384)
def relation(one: str, other: str) -> Kinship | None:
    """The relation of the disease `one` to `other`; None if the tables do not relate them.

    The project's own tables and MONDO come first. ICD-10-CM and HPO take seconds to load and are read only if needed.

    ::

        relation("sepsis", "pneumonia")  # 'complication'
    """
    one, other = clinical(one), clinical(other)
    if same_disease(one, other).same and same_disease(other, one).same:
        return "same"
    if complicates(one, other):
        return "complication"
    if same_disease(one, other).same:
        return "ancestor"
    if same_disease(other, one).same:
        return "descendant"
    match kinship(one, other):
        case "wider":
            return "ancestor"
        case "narrower":
            return "descendant"
    mine, theirs = linker().link(one), linker().link(other)
    if mine is None or theirs is None or "part" in (mine.rule, theirs.rule):
        return None
    listed_as = graph().relation(mine.concept, theirs.concept)
    if listed_as == "same":
        return None if same_disease(one, other).contrary or same_disease(other, one).contrary else "same"
    return {"parent": "ancestor", "child": "descendant"}.get(listed_as)  # type: ignore[return-value]


@lru_cache(maxsize=4096)
def in_tables(name: str) -> bool:
    """Whether MONDO, the classifications or the project's tables have a disease of this name."""
    if diseases_named(name):
        return True
    linked = linker().link(name)
    return linked is not None and linked.rule not in ("part", "fuzzy")
