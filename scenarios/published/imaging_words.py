"""Reads the imaging vocabulary of the published rules from a folder that the user names; the package contains none."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wardround.engine.errors import UsageError
from wardround.engine.text import file_text

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
    """Raised where the published code fails; `reason` is one word, the message a sentence."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, eq=False)
class ImagingWords:
    """One vocabulary of the imaging rules: name -> regular expressions, matched in any case."""

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
    """Read the tables from `folder`. Raises UsageError that names a missing or malformed file."""
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


def read_table(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises UsageError that names the file."""
    try:
        loaded = json.loads(file_text(path))
    except ValueError as error:
        raise UsageError(f"{path}: is not JSON ({error})") from None
    if not isinstance(loaded, dict):
        raise UsageError(f"{path}: holds no JSON object")
    return loaded
