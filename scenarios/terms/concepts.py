"""One disease as terminologies know it: its names, its codes, and where it was found."""

from dataclasses import dataclass


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
