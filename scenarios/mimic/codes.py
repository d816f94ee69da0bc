"""What an ICD code says: its title, the pool diseases it stands for, and its body system."""

import csv
import importlib
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from wardround.engine.errors import UsageError
from wardround.scenarios.mimic.pool import Disease, plain
from wardround.scenarios.terms.wording import key

_PAST = re.compile(r"\b(?:history|screening|vaccination|observation|encounter|exposure|contact|carrier|status)\b", re.I)
_NINE = re.compile(r"[0-9VE][0-9.]{2,6}", re.IGNORECASE)
_LITTLE = re.compile(
    r",?\s*\b(?:unspecified(?: as to [\w ]+)?|not otherwise specified|not elsewhere classified"
    r"|of unspecified \w+|without mention of [\w ]+|NOS|NEC)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Code:
    """One coded diagnosis of an admission; `seq` 1 is the first-listed."""

    seq: int
    code: str
    version: int
    title: str = ""

    @property
    def cited(self) -> str:
        """As a case cites it: 'ICD10CM:K35.80'."""
        point = 3 if self.version == 10 or not self.code.startswith("E") else 4
        dotted = f"{self.code[:point]}.{self.code[point:]}" if len(self.code) > point else self.code
        return f"{'ICD10CM' if self.version == 10 else 'ICD9CM'}:{dotted}"


@dataclass(frozen=True)
class Codes:
    """Titles by (code, version) and the diseases to find. `gem` maps an ICD-9 code to those of ICD-10-CM."""

    titles: Mapping[tuple[str, int], str]
    diseases: Sequence[Disease]
    gem: Mapping[str, tuple[str, ...]]

    def title(self, code: str, version: int) -> str:
        """The title of a code, '' if none is known: from the user's table, for ICD-10-CM also from the package."""
        return self.titles.get((code, version)) or (official(code) if version == 10 else "")

    def diseases_of(self, code: str, version: int) -> tuple[int, ...]:
        """The places in the pool of the diseases that a code stands for.

        By family, the longest that fits, of equal ones that of the narrower disease; an ICD-9 code also by the
        ICD-10-CM codes of the map. A disease without families in a classification is found by its names in the title
        of the code.
        """
        found = self._family(code, version)
        if not found and version == 9:
            found = tuple(dict.fromkeys(place for ten in self.gem.get(code, ()) for place in self._family(ten, 10)))
        return found or self._titled(code, version)

    def _family(self, code: str, version: int) -> tuple[int, ...]:
        families = self._families[10 if version == 10 else 9]
        for size in range(len(code), 1, -1):
            if places := families.get(code[:size]):
                return (min(places, key=lambda place: (self._breadth(place, version), place)),)
        return ()

    def _breadth(self, place: int, version: int) -> int:
        disease = self.diseases[place]
        return len(disease.icd10 if version == 10 else disease.icd9)

    @cached_property
    def _families(self) -> Mapping[int, Mapping[str, list[int]]]:
        found: dict[int, dict[str, list[int]]] = {9: defaultdict(list), 10: defaultdict(list)}
        for place, disease in enumerate(self.diseases):
            for version, families in ((10, disease.icd10), (9, disease.icd9)):
                for family in families:
                    found[version][family].append(place)
        return found

    @cached_property
    def _unmapped(self) -> Mapping[int, Sequence[tuple[int, tuple[str, ...]]]]:
        """By classification, the diseases without families in it, with the comparable forms of their names."""
        return {
            version: [
                (place, tuple(f" {form} " for name in disease.names if len(form := key(name)) > 3))
                for place, disease in enumerate(self.diseases)
                if not (disease.icd10 if version == 10 else disease.icd9)
            ]
            for version in (9, 10)
        }

    def _titled(self, code: str, version: int) -> tuple[int, ...]:
        unmapped = self._unmapped[10 if version == 10 else 9]
        title = self.title(code, version) if unmapped else ""
        if not title or _PAST.search(title):
            return ()
        words = f" {key(title)} "
        return tuple(place for place, forms in unmapped if any(form in words for form in forms))


def official(code: str) -> str:
    """The title of an ICD-10-CM code in the official list, '' if it has none (a retired one)."""
    icd = _classification()
    return str(icd.get_description(code)) if icd.is_valid_item(code) else ""


@cache
def _classification() -> Any:
    """The package with all of ICD-10-CM: a second of processor time, for builds alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # how the package reads its own data is its own matter
        return importlib.import_module("simple_icd_10_cm")


def other_names(code: Code) -> tuple[str, ...]:
    """Other names of a coded diagnosis: the title without 'unspecified', the terms ICD-10-CM includes in it."""
    icd = _classification()
    names = [" ".join(_LITTLE.sub(" ", code.title).split()).strip(" ,")]
    if code.version == 10 and icd.is_valid_item(code.code):
        names += [_LITTLE.sub("", str(term)).strip(" ,") for term in icd.get_inclusion_term(code.code)]
    bare = [names[0], re.sub(r"(?i)^unspecified\s+", "", names[0])]
    return tuple(dict.fromkeys(name for name in (*bare, *names[1:]) if name and key(name) != key(code.title)))


def read_gem(path: Path | None) -> Mapping[str, tuple[str, ...]]:
    """The user's map from ICD-9-CM to ICD-10-CM: CMS's own text (two codes and flags a line), or CSV of two columns."""
    if path is None:
        return {}
    found: dict[str, list[str]] = defaultdict(list)
    try:
        lines = path.read_text(encoding="latin-1").splitlines()
    except OSError as error:
        raise UsageError(f"{path}: cannot be opened ({error.strerror or error}); is the path right?") from error
    for number, line in enumerate(lines, 1):
        cells = next(csv.reader([line]), []) if "," in line else line.split()
        if number == 1 and cells and not _NINE.fullmatch(cells[0].strip()):
            continue
        if len(cells) < 2:
            if line.strip():
                raise UsageError(f"{path}, row {number}: is no pair of codes ({line[:60]!r})")
            continue
        found[plain(cells[0])].append(plain(cells[1]))
    return {nine: tuple(dict.fromkeys(tens)) for nine, tens in found.items()}


def read_titles(rows: Iterable[tuple[str | None, int, str | None]]) -> dict[tuple[str, int], str]:
    """Titles by code from the rows of d_icd_diagnoses."""
    return {(plain(code), version): title.strip() for code, version, title in rows if code and title}
