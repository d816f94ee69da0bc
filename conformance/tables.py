"""All look-up tables of MultiCogEval; the product reads only their imaging vocabulary."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.scenarios.published import imaging_words
from wardround.scenarios.published.imaging_words import LOOKUP, read_table

FILES = {
    "tests": "lab_and_micro_names_at_run_time.json",
    "lookup": LOOKUP,
    "studies": "radiology_name_dict.json",
    "exams": "radiology_spec_dict.json",
}


@dataclass(frozen=True, eq=False)
class Tables(imaging_words.ImagingTables):
    """The vocabulary and the other tables. `tests`: name -> item numbers, in the order in which names are tried.

    `studies`: exam name -> modalities and regions; `exams`: region -> modality -> exam names; `broad`: special modality
    -> wider modality; `alternatives`: label -> accepted names, of which a list means that all its words must occur.
    """

    tests: Mapping[str, Sequence[int]]
    studies: Mapping[str, Mapping[str, Sequence[str]]]
    exams: Mapping[str, Mapping[str, Sequence[str]]]
    broad: Mapping[str, str]
    alternatives: Mapping[str, Sequence[str | Sequence[str]]]

    @cached_property
    def lowered(self) -> Sequence[str]:
        """The names of `tests` in lower case, in order."""
        return tuple(name.lower() for name in self.tests)

    @cached_property
    def listed(self) -> Sequence[str]:
        """The names of `tests` in order."""
        return tuple(self.tests)

    @cached_property
    def first(self) -> Mapping[str, int]:
        """A name in lower case -> the place of the first name with that spelling; some names differ only in case."""
        places: dict[str, int] = {}
        for place, name in enumerate(self.lowered):
            places.setdefault(name, place)
        return places

    @cached_property
    def by_length(self) -> Sequence[tuple[int, int]]:
        """(length, place) of each name, sorted by length."""
        return sorted((len(name), place) for place, name in enumerate(self.lowered))


def load(folder: Path) -> Tables:
    """Read the tables from `folder`. Raises UsageError that names a missing or malformed file."""
    words = imaging_words.load_tables(folder)
    read = {name: read_table(folder / file) for name, file in FILES.items()}
    lookup = read["lookup"]
    for name in ("unique_to_broad_modality", "diagnosis_alternatives"):
        if not isinstance(lookup.get(name), dict):
            raise UsageError(f"{folder / LOOKUP}: there is no table {name!r}")
    return Tables(
        words.modalities,
        words.regions,
        words.organ,
        {name: tuple(int(number) for number in numbers) for name, numbers in read["tests"].items()},
        read["studies"],
        read["exams"],
        lookup["unique_to_broad_modality"],
        lookup["diagnosis_alternatives"],
    )
