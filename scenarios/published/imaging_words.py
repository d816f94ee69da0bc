"""Reads exam names by the imaging vocabulary of MultiCogEval's published rules.

The vocabulary comes from a folder that the user names (`--lookup`); this package has no copy of it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.text import file_text, read_json

LOOKUP = "lookup_tables_at_run_time.json"
_TABLES = (
    "region_exact_dict",
    "region_substr_dict",
    "modality_exact_dict",
    "modality_substr_dict",
    "modality_special_cases_dict",
    "unique_modality_to_organ_mapping",
)

Patterns = Mapping[str, Sequence[str]]


class Absent(Exception):
    """Raised where the published code fails. `reason` is a typed word, the message a sentence."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, eq=False)
class ImagingWords:
    """One vocabulary of the imaging rules: name -> regular expressions, matched in any case.

    `exact` match whole words, `inside` parts of words; `special` cases are tried first.
    """

    exact: Patterns
    inside: Patterns
    special: Patterns

    @cached_property
    def compiled(self) -> Sequence[tuple[str, re.Pattern[str]]]:
        """(name, expression) of whole words, then of parts of words, in the tables' order."""
        whole = [(name, rf"\b{word}\b") for name, words in self.exact.items() for word in words]
        parts = [(name, word) for name, words in self.inside.items() for word in words]
        return [(name, re.compile(pattern, re.IGNORECASE)) for name, pattern in (*whole, *parts)]

    @cached_property
    def specials(self) -> Sequence[tuple[str, re.Pattern[str]]]:
        """(name, expression) of the special cases; the first match decides."""
        return [(name, re.compile(word, re.IGNORECASE)) for name, words in self.special.items() for word in words]

    @cached_property
    def names(self) -> Sequence[str]:
        """All names that can be counted, in the tables' order."""
        return tuple(dict.fromkeys((*self.exact, *self.inside)))


@dataclass(frozen=True, eq=False)
class ImagingTables:
    """The imaging vocabulary: words for modalities and regions, and `organ`, the region that a modality implies."""

    modalities: ImagingWords
    regions: ImagingWords
    organ: Mapping[str, str]


def load_tables(folder: Path) -> ImagingTables:
    """Read the tables from `folder`. Raises UsageError, which names the file, if one is missing or malformed."""
    lookup = read_table(folder / LOOKUP)
    for name in _TABLES:
        if not isinstance(lookup.get(name), dict):
            raise UsageError(f"{folder / LOOKUP}: there is no table {name!r}")
    return ImagingTables(
        ImagingWords(
            lookup["modality_exact_dict"], lookup["modality_substr_dict"], lookup["modality_special_cases_dict"]
        ),
        ImagingWords(lookup["region_exact_dict"], lookup["region_substr_dict"], {}),
        lookup["unique_modality_to_organ_mapping"],
    )


def read_table(path: Path) -> dict[str, Json]:
    """The JSON object in a file. Raises UsageError, which names the file, if there is none."""
    loaded = read_json(path, file_text(path))
    if not isinstance(loaded, dict):
        raise UsageError(f"{path}: holds no JSON object")
    return loaded


# The published builder of records uses an older vocabulary than its parser of requests. These are the words it lacks:
_LATER_SPECIALS = frozenset(
    ("cardiac catheterization", "CAD", "DSM", "ECG", "DTI", "ECHO", "CTPA", "Lower GI Series", "VCUG")
)
_LATER = frozenset(
    (
        *("computed tomography", "usg", "angiography", "lower extremities", "cxt", "pulmonary", "coronary arteries"),
        *("coronary angiogram", "coronary artery", "thorax", "myocardial", "biliary", "orbit", "mastoid", "face"),
        *("cerebral", "cerebellum", "thoracic", "spinal"),
    )
)


class ExamClass(msgspec.Struct, frozen=True):
    """The modality and the region of an exam's name: those with most hits. `counts` are the hits; 0 means none.

    `modalities` and `regions` list all candidates of a tie, because the published code picks one at random.
    """

    modality: str
    region: str
    counts: tuple[int, int]
    modalities: tuple[str, ...]
    regions: tuple[str, ...]


def radiology_name(name: str, tables: ImagingTables) -> ExamClass:
    """The class of a recorded exam's name by the number of hits, as the published builder of records counts them."""
    special = next(
        (
            category
            for category, pattern in tables.modalities.specials
            if category not in _LATER_SPECIALS and pattern.search(name)
        ),
        None,
    )
    how = {special: 1} if special else _counted(name, tables.modalities)
    where = _counted(name, tables.regions)
    modalities, most = _top(how)
    regions, count = _top(where)
    organ = tables.organ.get(modalities[0]) if len(modalities) == 1 else None
    if not count and organ and modalities[0] not in _LATER_SPECIALS:
        regions, count = (organ,), 1
    return ExamClass(modalities[0], regions[0], (most, count), modalities, regions)


def _counted(text: str, words: ImagingWords) -> dict[str, int]:
    counts = dict.fromkeys(words.names, 0)
    for name, pattern in words.compiled:
        if pattern.pattern.removeprefix(r"\b").removesuffix(r"\b") not in _LATER:
            counts[name] += len(pattern.findall(text))
    return counts


def _top(counts: Mapping[str, int]) -> tuple[tuple[str, ...], int]:
    most = max(counts.values())
    return tuple(name for name, count in counts.items() if count == most), most
