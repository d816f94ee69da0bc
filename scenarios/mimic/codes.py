"""ICD codes of admissions: their titles, the diseases of the pool that they stand for, and their body systems."""

import csv
import importlib
import re
import warnings
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType

from wardround.engine.errors import UsageError
from wardround.engine.text import file_text
from wardround.scenarios.diseases.ontologies import plain_code
from wardround.scenarios.mimic.pool import PoolDisease
from wardround.scenarios.terms.table_cache import building
from wardround.scenarios.terms.wording import key

_PAST = re.compile(r"\b(?:history|screening|vaccination|observation|encounter|exposure|contact|carrier|status)\b", re.I)
_NINE = re.compile(r"[0-9VE][0-9.]{2,6}", re.IGNORECASE)
_LITTLE = re.compile(
    r",?\s*\b(?:unspecified(?: as to [\w ]+)?|not otherwise specified|not elsewhere classified"
    r"|of unspecified \w+|without mention of [\w ]+|NOS|NEC)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AdmissionCode:
    """One coded diagnosis of an admission; `seq` 1 is the first-listed."""

    seq: int
    code: str
    version: int
    title: str = ""

    @property
    def cited(self) -> str:
        """The code as a case cites it: 'ICD10CM:K35.80'."""
        point = 3 if self.version == 10 or not self.code.startswith("E") else 4
        dotted = f"{self.code[:point]}.{self.code[point:]}" if len(self.code) > point else self.code
        return f"{'ICD10CM' if self.version == 10 else 'ICD9CM'}:{dotted}"


@dataclass(frozen=True)
class Codes:
    """Finds titles and diseases of codes.

    `titles` are by (code, version), `diseases` are those of the pool. `gem` maps an ICD-9-CM code to ICD-10-CM codes.
    """

    titles: Mapping[tuple[str, int], str]
    diseases: Sequence[PoolDisease]
    gem: Mapping[str, tuple[str, ...]]

    def title(self, code: str, version: int) -> str:
        """The title of a code, from the user's table or, for ICD-10-CM, the installed package; '' if unknown."""
        return self.titles.get((code, version)) or (official(code) if version == 10 else "")

    def diseases_of(self, code: str, version: int) -> tuple[int, ...]:
        """The places in the pool of the diseases that a code stands for.

        The longest matching family decides; between equal ones, the disease with fewer families. An ICD-9-CM code also
        matches by the ICD-10-CM codes to which it is mapped. A disease without families in a classification matches if
        the code's title has one of its names.
        """
        places = self._family(code, version)
        if not places and version == 9:
            places = tuple(dict.fromkeys(place for ten in self.gem.get(code, ()) for place in self._family(ten, 10)))
        return places or self._titled(code, version)

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
        by_version: dict[int, dict[str, list[int]]] = {9: defaultdict(list), 10: defaultdict(list)}
        for place, disease in enumerate(self.diseases):
            for version, families in ((10, disease.icd10), (9, disease.icd9)):
                for family in families:
                    by_version[version][family].append(place)
        return by_version

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
    """The title of an ICD-10-CM code in the official list; '' if the list does not have it, such as a retired code."""
    icd = classification()
    return str(icd.get_description(code)) if icd.is_valid_item(code) else ""


@cache
def classification() -> ModuleType:
    """The package with all of ICD-10-CM. To load it takes a second, so only builds do."""
    with building(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the package's own deprecations do not concern us
        return importlib.import_module("simple_icd_10_cm")


def code_synonyms(code: AdmissionCode) -> tuple[str, ...]:
    """Other names of a coded diagnosis: the title without 'unspecified', the inclusion terms of ICD-10-CM."""
    icd = classification()
    names = [" ".join(_LITTLE.sub(" ", code.title).split()).strip(" ,")]
    if code.version == 10 and icd.is_valid_item(code.code):
        names += [_LITTLE.sub("", str(term)).strip(" ,") for term in icd.get_inclusion_term(code.code)]
    bare = [names[0], re.sub(r"(?i)^unspecified\s+", "", names[0])]
    return tuple(dict.fromkeys(name for name in (*bare, *names[1:]) if name and key(name) != key(code.title)))


def read_gem(path: Path | None) -> Mapping[str, tuple[str, ...]]:
    """Read the user's map from ICD-9-CM to ICD-10-CM: CMS's text (two codes and flags a line), or a two-column CSV."""
    if path is None:
        return {}
    mapped: dict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(file_text(path, "latin-1").splitlines(), 1):
        cells = next(csv.reader([line]), []) if "," in line else line.split()
        if number == 1 and cells and not _NINE.fullmatch(cells[0].strip()):
            continue
        if len(cells) < 2:
            if line.strip():
                raise UsageError(f"{path}, row {number}: is no pair of codes ({line[:60]!r})")
            continue
        mapped[plain_code(cells[0])].append(plain_code(cells[1]))
    return {nine: tuple(dict.fromkeys(tens)) for nine, tens in mapped.items()}


OTHERS = "Others"
_SYSTEMS_TEN: Mapping[str, str] = {
    "Digestive System": "A00-A09 B15-B19 C15-C26 D12-D13 K20-K95 R10-R19",
    "Lungs and Breathing": "A15-A16 C33-C39 D14-D15 J00-J99 R04-R09 U07",
    "Brain and Nerves": "A17 A39 A80-A89 C70-C72 D32-D33 F00-F99 G00-G99 I60-I69 R20-R29 R40-R54 R56 S00-S09",
    "Skin, Hair and Nails": "A46 B00-B09 B35-B36 B85-B89 C43-C44 D22-D23 L00-L99",
    "Immune System": "A00-B99 D80-D89 T78",
    "Mouth and Teeth": "C00-C08 D10-D11 K00-K14",
    "Ear, Nose and Throat": "C09-C14 C30-C32 H60-H95 J00-J06 J30-J39",
    "Bones, Joints and Muscles": "C40-C41 C45-C49 D16 M00-M99 S10-S99",
    "Female Reproductive System": "C50-C58 D24-D28 N60-N98 O00-O9A",
    "Male Reproductive System": "C60-C63 D29 N40-N53",
    "Kidneys and Urinary System": "C64-C68 D30 N00-N39 N99 R30-R39",
    "Eyes and Vision": "C69 D31 H00-H59",
    "Endocrine System": "C73-C75 D34-D35 E00-E89",
    "Blood, Heart and Circulation": "C81-C96 D45-D47 D50-D77 I00-I99 M30-M31 R00-R03 R55 R70-R79",
}
"""The three-character categories of ICD-10-CM by body system. If two ranges overlap, one contains the other."""

_SYSTEMS_NINE: Mapping[str, str] = {
    "Digestive System": "001-009 070 150-159 211 530-579 787 789",
    "Lungs and Breathing": "010-012 162-165 460-519 786",
    "Brain and Nerves": "036 045-049 191-192 225 290-319 320-359 430-438 781 800-804 850-854",
    "Skin, Hair and Nails": "050-057 110-111 132-134 172-173 216 680-709",
    "Immune System": "135 001-139 279 995",
    "Mouth and Teeth": "140-145 520-529",
    "Ear, Nose and Throat": "146-149 160-161 380-389 460-465 470-478",
    "Bones, Joints and Muscles": "170-171 710-739 805-848",
    "Female Reproductive System": "174-184 217-221 610-629 630-679",
    "Male Reproductive System": "185-187 222 600-608",
    "Kidneys and Urinary System": "188-189 580-599 788",
    "Eyes and Vision": "190 360-379",
    "Endocrine System": "193-194 226-227 240-278",
    "Blood, Heart and Circulation": "200-208 280-289 390-459 785 790",
}
"""The same for ICD-9-CM."""


@cache
def _ranges(version: int) -> Sequence[tuple[str, str, str]]:
    """(first, last, system) of all ranges; a range comes before those that contain it."""
    systems = _SYSTEMS_TEN if version == 10 else _SYSTEMS_NINE
    ranges = [(part[:3], part[-3:], system) for system, parts in systems.items() for part in parts.split()]
    return sorted(sorted(ranges, reverse=True), key=lambda part: part[1])


def body_system(code: str, version: int) -> str:
    """The body system of a code (without its dot); 'Others' if no range has it."""
    category = code[:3]
    return next((system for first, last, system in _ranges(version) if first <= category <= last), OTHERS)
