"""What a case is: one schema for admissions, case reports and OSCE stations."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1)]


class Record(BaseModel):
    """Base of every part of a case: immutable, and an unknown field is an error that names it."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=False)


class Finding(Record):
    """One section of the physical examination."""

    section: Text = Field(description="Name of the section, for instance 'Vital signs' or 'Abdomen'.")
    text: Text = Field(description="What was found.")
    normal: bool | None = Field(default=None, description="True if recorded as normal; null if not said.")


class Lab(Record):
    """One laboratory result."""

    name: Text = Field(description="Name of the test as the record has it.")
    item_id: int | None = Field(default=None, description="Item number of the source, for instance MIMIC's itemid.")
    value: Text = Field(description="The value as text: '14.0', 'positive', '>1000'.")
    unit: str = Field(default="", description="Unit of the value.")
    low: float | None = Field(default=None, description="Lower end of the reference range, in `unit`.")
    high: float | None = Field(default=None, description="Upper end of the reference range, in `unit`.")
    flag: Literal["", "normal", "low", "high", "abnormal"] = Field(default="", description="The record's own flag.")
    time: str = Field(default="", description="When it was taken, ISO 8601; the earliest result of a name comes first.")


class Culture(Record):
    """One microbiology result."""

    test: Text = Field(description="Name of the test, for instance 'Blood culture'.")
    item_id: int | None = Field(default=None, description="Item number of the source.")
    specimen: str = Field(default="", description="What was sampled.")
    organism: str = Field(default="", description="Organism grown or detected; empty if none.")
    comment: str = Field(default="", description="Comment of the laboratory, for instance 'No growth'.")
    time: str = Field(default="", description="When it was taken, ISO 8601.")


class Study(Record):
    """One imaging study."""

    exam: Text = Field(description="Name of the study, for instance 'Chest radiograph, PA and lateral'.")
    modality: str = Field(default="", description="Radiograph, CT, MRI, Ultrasound, ...")
    region: str = Field(default="", description="Chest, Abdomen, Head, ...")
    report: Text = Field(description="The radiologist's text.")
    normal: bool | None = Field(default=None, description="True if recorded as normal; null if not said.")
    time: str = Field(default="", description="When it was done, ISO 8601.")


class Investigation(Record):
    """One result that only exists as text: biopsy, endoscopy, tracing, or a case report's own line."""

    name: Text = Field(description="Name of the investigation, for instance 'Skin biopsy'.")
    text: Text = Field(description="Its result.")
    normal: bool | None = Field(default=None, description="True if recorded as normal; null if not said.")


class Truth(Record):
    """What the scores compare with; seen by no seat but a doctor told the truth by its factory."""

    diagnosis: str = Field(default="", description="The final diagnosis; empty in a treatment-only case.")
    synonyms: tuple[str, ...] = Field(default=(), description="Other names that count as the diagnosis.")
    parts: tuple[str, ...] = Field(
        default=(), description="The diseases that the diagnosis names, the principal one first; read from it if empty."
    )
    codes: tuple[str, ...] = Field(default=(), description="Codes as 'SYSTEM:CODE', for instance 'ICD10CM:K35.80'.")
    treatment: str = Field(default="", description="The treatment given; empty in a diagnosis-only case.")
    differential: str = Field(default="", description="Reference reasoning: the differential and its narrowing.")
    reasoning: str = Field(default="", description="Reference reasoning: the explanation of the final answer.")
    deciding: tuple[str, ...] = Field(
        default=(), description="Findings that settle the diagnosis; a conclusion before all are seen is premature."
    )


class Category(Record):
    """Strata for reports."""

    body_systems: tuple[str, ...] = Field(default=(), description="Body systems concerned.")
    disorders: tuple[str, ...] = Field(default=(), description="Kinds of disorder.")
    rare: bool | None = Field(default=None, description="Rare disease or not; null if not known.")


class Provenance(Record):
    """Where a case comes from."""

    source: Text = Field(description="Data set or author.")
    record: str = Field(default="", description="Identifier in the source.")
    dated: date | None = Field(default=None, description="Date of the source record or publication.")
    licence: str = Field(default="", description="Licence of the source.")


class Case(Record):
    """One patient.

    Each string belongs to one of three kinds. Open: `opening` (or `complaint` in a consultation), seen by the doctor
    from the start. Ordered: `history` (asked of the patient) and the results, seen when asked for.
    Closed: `truth`, `group`, `category`, `provenance`, seen by no seat.
    """

    id: Text = Field(description="Unique in its file.")
    opening: Text = Field(description="What a doctor reads first: history of present illness, or a report's summary.")
    complaint: str = Field(default="", description="One line for the door of a consultation; `opening` if empty.")
    opening_source: Literal["note", "structured", "composed"] = Field(
        default="note", description="A clinician's note, built from coded fields, or composed by a loader."
    )
    history: dict[str, str] = Field(default_factory=dict, description="The patient's own story, section by section.")
    examination: tuple[Finding, ...] = Field(default=(), description="Physical examination.")
    labs: tuple[Lab, ...] = Field(default=(), description="Laboratory results.")
    microbiology: tuple[Culture, ...] = Field(default=(), description="Microbiology results.")
    imaging: tuple[Study, ...] = Field(default=(), description="Imaging studies.")
    investigations: tuple[Investigation, ...] = Field(default=(), description="Results known only as text.")
    ancillary: str = Field(
        default="", description="A report's tests as one text, kept word for word; `investigations` holds its lines."
    )
    truth: Truth = Field(description="The answer.")
    group: str = Field(default="", description="The disease, for macro averages.")
    category: Category = Field(default_factory=Category, description="Strata.")
    provenance: Provenance = Field(description="Source.")
    data_class: Literal["public", "restricted"] = Field(
        description="A restricted case leaves this machine only to hosts the user names."
    )
