"""What a doctor reads first: the history of the note made readable, or a sentence from the coded fields."""

import re
from collections.abc import Mapping

from wardround.scenarios.mimic.draft import Person
from wardround.scenarios.mimic.note import Note

HEADINGS: Mapping[str, str] = {
    "present": "History of Present Illness",
    "past": "Past Medical History",
    "surgical": "Past Surgical History",
    "social": "Social History",
    "family": "Family History",
}
"""The sections that make the history, in the order in which it tells them."""

_MARKS = re.compile(r"_{2,}(?:[ \t]*_{2,})*")
_EMPTY = re.compile(r"(?m)^[\s_.,;:-]+$\n?")
_AGE = re.compile(
    r"___(?=[ \t-]*(?:(?:year|yr)s?[- ]*old\b|y[./]?o\b\.?|(?:[fFmM]|female|male|woman|man|lady|gentleman)\b))"
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


def told(note: Note) -> dict[str, str]:
    """The sections of the history that a note has, tidied, by their readable headings."""
    return {heading: text for kind, heading in HEADINGS.items() if (text := tidy(note.get(kind)))}


def history(sections: Mapping[str, str]) -> str:
    """The sections as one text, each under its heading."""
    return "\n\n".join(f"{heading}:\n{text}" for heading, text in sections.items())


def tidy(text: str) -> str:
    """A note's text without lines that hold nothing but blanks and marks of de-identification; doubled ones are one."""
    text = _MARKS.sub("___", text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _EMPTY.sub("", f"{text}\n")
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip()).strip()


def with_age(text: str, person: Person) -> str:
    """The first de-identified age of a history written in again from the patient's coded age; 91 is 'over 89'."""
    if person.age is None:
        return text
    return _AGE.sub("over 89" if person.age > 89 else str(person.age), text, count=1)


def structured(person: Person) -> str:
    """A sentence from age, sex, admission type, origin and service; what is not recorded is left out."""
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
