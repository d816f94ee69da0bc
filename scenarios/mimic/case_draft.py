"""The draft of a case from an admission: its history, and the words that would reveal the diagnosis."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Literal

from wardround.scenarios.case import Culture, Finding, Lab, Study
from wardround.scenarios.diseases.disease import ALONE, names_in_tables
from wardround.scenarios.mimic.codes import AdmissionCode
from wardround.scenarios.mimic.headings import MARK
from wardround.scenarios.mimic.note import Note, Phrases
from wardround.scenarios.mimic.pool import PoolDisease
from wardround.scenarios.terms.wording import key, roots

Stage = Literal["codes", "note", "record", "pool"]
"""What a rule sees: 'codes' the codes, 'note' also the discharge note, 'record' also the results, 'pool' all finished
cases together."""


@dataclass(frozen=True, slots=True)
class Report:
    """A radiology report from the table, with its exam name ('' if none is recorded)."""

    note_id: str
    exam: str
    text: str
    time: str


@dataclass(frozen=True, slots=True)
class Person:
    """The admitted patient, with time and kind of admission; unrecorded values are None or ''."""

    subject: int
    sex: str = ""
    age: int | None = None
    admitted: datetime | None = None
    kind: str = ""
    origin: str = ""
    service: str = ""


@dataclass(frozen=True, slots=True)
class AdmissionResults:
    """The results of an admission in order of time; `reports` are as in the table, `studies` are made from them."""

    labs: tuple[Lab, ...] = ()
    cultures: tuple[Culture, ...] = ()
    reports: tuple[Report, ...] = ()
    studies: tuple[Study, ...] = ()


@dataclass(frozen=True, slots=True)
class AdmissionDraft:
    """One admission on its way to a case.

    `coded` are the pool diseases among its codes, in their order; `leading` is the one of the first-listed code.
    `disease` becomes the label. `note` is None if this admission has no note; `text` is the note as written. `history`
    are the sections of the history by heading. `nearby` are the results together with those that only their time
    assigns to this admission; None if there are no such results.
    """

    hadm: int
    person: Person
    codes: tuple[AdmissionCode, ...]
    coded: tuple[PoolDisease, ...] = ()
    leading: PoolDisease | None = None
    disease: PoolDisease | None = None
    label: str = ""
    note: Note | None = None
    text: str = ""
    complaint: str = ""
    history: Mapping[str, str] = field(default_factory=dict)
    examination: tuple[Finding, ...] = ()
    results: AdmissionResults = AdmissionResults()
    nearby: AdmissionResults | None = None

    @property
    def first(self) -> AdmissionCode | None:
        """The first-listed code."""
        return self.codes[0] if self.codes else None


class Leaks:
    """The names that reveal a diagnosis; noun and adjective of an organ count as one word (cardiac, heart)."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self._phrases = Phrases(((name, True) for name in names), roots)

    def names_it(self, text: str) -> bool:
        """Whether `text` names the diagnosis."""
        return bool(self._phrases.hits(text, shifts=False))

    def masked(self, text: str) -> str:
        """`text` with a blank (`MARK`) in place of each name."""
        done, parts = 0, []
        for hit in self._phrases.hits(text, shifts=False):
            parts += [text[done : hit.start], MARK]
            done = hit.end
        return "".join([*parts, text[done:]]) if parts else text


@lru_cache(maxsize=1024)
def leaks_of(disease: PoolDisease, said: str = "") -> Leaks:
    """What reveals `disease`: its names, those that the tables add, their abbreviations, and an eponym alone.

    `said` is the disease as the admission's own note writes it, which may be a name that no table has: 'UC flare'.
    """
    names = names_in_tables(tuple(disease.names))
    eponyms = (match[1] for name in names if (match := _EPONYM.fullmatch(name)) and key(match[1]) not in ALONE)
    known = Leaks((*names, *eponyms))
    return Leaks((*known.names, *_names_said(said))) if said and not known.names_it(said) else known


def _names_said(said: str) -> tuple[str, ...]:
    """The name as a note writes it, and without words of course and degree: 'UC flare' and 'UC'."""
    bare = " ".join(_COURSE.sub(" ", said).split())
    return tuple(dict.fromkeys(name for name in (said.strip(), bare) if key(name) and len(name.split()) < 6))


_EPONYM = re.compile(r"([A-Z][\w-]{3,}?)(?:'s|') (?:disease|syndrome)")
_COURSE = re.compile(
    r"(?i)\b(?:acute|chronic|severe|mild|moderate|recurrent|active|flare|exacerbation|relapse|crisis|left|right"
    r"|bilateral|new(?:ly diagnosed)?|possible|probable|likely|suspected)\b"
)


HEADINGS: Mapping[str, str] = {
    "present": "History of Present Illness",
    "past": "Past Medical History",
    "surgical": "Past Surgical History",
    "social": "Social History",
    "family": "Family History",
}
"""The sections that form the history, in their order."""

_MARKS = re.compile(r"_{2,}(?:[ \t]*_{2,})*")
_EMPTY = re.compile(r"(?m)^[\s_.,;:-]+$\n?")
_NAMED = "".join(
    f"(?<!{word} )"
    for word in ("Dr.", "Dr", "Mr.", "Mr", "Ms.", "Ms", "Mrs.", "Mrs", "Miss", "by", "at", "from", "per")
)
"""Words after which a mark hides a name and not an age: 'Per Dr. ___ female relative'."""
_AGE = re.compile(
    rf"{_NAMED}___(?=[ \t-]*(?:(?:year|yr)s?[- ]*old\b|y[./]?o\b\.?|(?:[fFmM]|female|male|woman|man|lady|gentleman)\b))"
)
_SERVICES = {
    "MED": "general medicine", "CMED": "cardiac medicine", "NMED": "neurology", "OMED": "oncology",
    "SURG": "general surgery", "CSURG": "cardiac surgery", "NSURG": "neurosurgery", "TSURG": "thoracic surgery",
    "VSURG": "vascular surgery", "PSURG": "plastic surgery", "ORTHO": "orthopaedics", "TRAUM": "trauma surgery",
    "GU": "urology", "GYN": "gynaecology", "OBS": "obstetrics", "ENT": "ear, nose and throat surgery",
    "PSYCH": "psychiatry", "EYE": "ophthalmology", "DENT": "dental surgery", "NB": "newborn care",
    "NBB": "newborn care",
}  # fmt: skip
_KINDS = {
    "EW EMER.": "as an emergency through the emergency department", "DIRECT EMER.": "directly as an emergency",
    "URGENT": "urgently", "ELECTIVE": "electively", "OBSERVATION ADMIT": "after observation",
    "EU OBSERVATION": "for observation in the emergency department", "DIRECT OBSERVATION": "directly for observation",
    "AMBULATORY OBSERVATION": "for observation after an ambulatory visit",
    "SURGICAL SAME DAY ADMISSION": "on the day of a planned operation",
}  # fmt: skip


def history_sections(note: Note) -> dict[str, str]:
    """The sections of the history in a note, tidied, by readable heading."""
    return {heading: text for kind, heading in HEADINGS.items() if (text := tidy_note(note.get(kind)))}


def tidy_note(text: str) -> str:
    """A note's text without lines of spaces and de-identification marks; repeated marks become one."""
    text = _MARKS.sub("___", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _EMPTY.sub("", f"{text}\n")
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip()).strip()


def with_age(text: str, person: Person) -> str:
    """A history with its first de-identified age restored from the coded one; an age above 89 becomes 'over 89'."""
    if person.age is None:
        return text
    return _AGE.sub("over 89" if person.age > 89 else str(person.age), text, count=1)


def structured(person: Person) -> str:
    """An opening for an admission without a note: what is recorded of age, sex, admission type, origin and service."""
    adult = person.age is None or person.age >= 18
    who = {"F": "woman" if adult else "girl", "M": "man" if adult else "boy"}.get(person.sex.upper(), "patient")
    age = "" if person.age is None else "over-89-year-old " if person.age > 89 else f"{person.age}-year-old "
    article = "An" if re.match(r"8|11|18|over", age) else "A"
    how = _KINDS.get(person.kind.upper(), f"({person.kind.lower()})" if person.kind else "")
    origin = f", from: {person.origin.lower()}" if person.origin and person.origin.upper() != "EMERGENCY ROOM" else ""
    service = _SERVICES.get(person.service.upper(), person.service)
    parts = [f"{article} {age}{who} was admitted", how, f"to the service of {service}" if service else ""]
    return (
        f"{' '.join(part for part in parts if part)}{origin}. No history is recorded; examinations and tests that were "
        "done can be ordered."
    )
