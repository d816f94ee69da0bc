"""The contract of a disease linker: the concepts that it knows and the mentions that it returns."""

from collections.abc import Sequence
from typing import Protocol

import msgspec


class Concept(msgspec.Struct, frozen=True):
    """A disease with its names and codes.

    `id` is stable for one set of sources ('ICD10CM:K35', 'ORPHA:558', 'OMIM:154700', 'WR:lung-cancer', 'UMLS:C...').
    `synonyms` are all other names as written, `abbreviations` those that are recognised only in capitals. `icd10` and
    `icd9` are families: prefixes of codes, as published, with the dot. `rare` has its ORPHA numbers, or 'WR' if only
    the project's own list calls it rare; `omim` has its OMIM numbers.
    """

    id: str
    name: str
    synonyms: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()
    icd10: tuple[str, ...] = ()
    icd9: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()
    omim: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All its names, the main one first, without abbreviations."""
        return (self.name, *self.synonyms)


class Mention(msgspec.Struct, frozen=True):
    """A span of a text (`text == whole[start:end]`) that names `concept`.

    `rule` says how it was linked and `score` (0 to 1) how well. `others` are concepts that the words may mean as well
    ('PE' has several): the mention is then ambiguous, and a careful caller ignores it.
    """

    text: str
    start: int
    end: int
    concept: Concept
    score: float
    rule: str
    others: tuple[Concept, ...] = ()


class Linker(Protocol):
    """Links names to concepts. The same text must always give the same result."""

    def mentions(self, text: str) -> Sequence[Mention]:
        """The diseases named in a text of any length, in its order, none overlapping another."""

    def link(self, name: str) -> Mention | None:
        """The meaning of a single name as a whole; None if no match is good enough."""
