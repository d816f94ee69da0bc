"""An admission on its way to a case: what the tables say of it, before and after each rule."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from wardround.scenarios.case import Culture, Finding, Lab, Study
from wardround.scenarios.mimic.codes import Code
from wardround.scenarios.mimic.note import Note
from wardround.scenarios.mimic.pool import Disease

Stage = Literal["codes", "note", "record", "pool"]
"""What a rule needs to see: the codes; the note as well; the whole record; all records of a disease together."""


@dataclass(frozen=True, slots=True)
class Report:
    """A radiology report as the table has it, with its exam name ('' if none is recorded)."""

    note_id: str
    exam: str
    text: str
    time: str


@dataclass(frozen=True, slots=True)
class Person:
    """Who was admitted, when and how; what is not recorded is None or ''."""

    subject: int
    sex: str = ""
    age: int | None = None
    admitted: datetime | None = None
    kind: str = ""
    origin: str = ""
    service: str = ""


@dataclass(frozen=True, slots=True)
class Results:
    """What was measured and seen, in the order of time; `reports` as the table has them, `studies` made of them."""

    labs: tuple[Lab, ...] = ()
    cultures: tuple[Culture, ...] = ()
    reports: tuple[Report, ...] = ()
    studies: tuple[Study, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """One admission.

    `coded` are the pool diseases among its codes, in their order; `leading` is the one of the first-listed code.
    `disease` becomes the label. `note` is None where the notes are absent or this admission has none, `text` is
    the note as it stands. `nearby` are the results together with those that only their time puts into this admission.
    `told` are the sections of the history by their headings.
    """

    hadm: int
    person: Person
    codes: tuple[Code, ...]
    coded: tuple[Disease, ...] = ()
    leading: Disease | None = None
    disease: Disease | None = None
    label: str = ""
    note: Note | None = None
    text: str = ""
    complaint: str = ""
    told: Mapping[str, str] = field(default_factory=dict)
    examination: tuple[Finding, ...] = ()
    results: Results = Results()
    nearby: Results | None = None

    @property
    def first(self) -> Code | None:
        """The first-listed code."""
        return self.codes[0] if self.codes else None
