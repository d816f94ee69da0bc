"""The contract of a linker of diseases: the concepts it knows and the mentions it gives back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Concept:
    """`id` is stable for one set of sources ('ICD10CM:K35', 'ORPHA:558', 'OMIM:154700', 'WR:lung-cancer', 'UMLS:C...').

    `synonyms` hold every other name as it was written, `abbreviations` those that are read in capitals only. `icd10`
    and `icd9` are families: prefixes of codes, as published, with the dot. `rare` are its ORPHA numbers
    ('WR' where only the project's own list says that it is rare), `omim` its OMIM numbers.
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
        """All its names, the own one first, abbreviations left out."""
        return (self.name, *self.synonyms)


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text (`text == whole[start:end]`) that names `concept`.

    `rule` says how it was found and `score` (0 to 1) how well. `others` are concepts that the words may mean as well
    ('PE' and the like): the first choice is a choice then, and a careful caller passes it over.
    """

    text: str
    start: int
    end: int
    concept: Concept
    score: float
    rule: str
    others: tuple[Concept, ...] = ()


class Linker(Protocol):
    """Names to concepts. Pure after its first use: the same text gives the same answer."""

    def mentions(self, text: str) -> Sequence[Mention]:
        """The diseases named in a text of any length, in its order, none overlapping another."""
        ...

    def link(self, name: str) -> Mention | None:
        """What a single name means as a whole; None where nothing fits well enough."""
        ...

    def candidates(self, name: str, limit: int = 5) -> Sequence[Mention]:
        """What a single name may mean, best first, without the threshold of `link`."""
        ...
