"""Adapters: sections, results and whole records built from MIMIC."""

from typing import Any

from conformance.admissions import discharge_sections, general_info
from conformance.compare import OneOf
from conformance.tables import Tables
from conformance.vector import Vector
from wardround.scenarios.published import admissions, imaging_words

_DISEASE = "appendicitis"


def note_sections(row: Vector, tables: Tables) -> Any:
    """mimic_discharge_sections."""
    del tables
    sections = discharge_sections(row.input["discharge_text"])
    parts: dict[str, Any] = {
        "diagnosis": sections.diagnosis,
        "diagnosis_error": sections.error,
        "history": sections.history,
        "physical_exam": sections.examination,
        "procedures": list(sections.procedures),
    }
    if sections.diagnosis is not None and "pathology_in_primary" in row.expected:
        parts["pathology_in_primary"] = admissions.is_primary(row.input.get("pathology", _DISEASE), sections.diagnosis)
    return parts


def lab_value(row: Vector, tables: Tables) -> Any:
    """mimic_lab_value_string."""
    del tables
    return {"valuestr": admissions.lab_value_string(row.input)}


def report_text(row: Vector, tables: Tables) -> Any:
    """mimic_radiology_text."""
    del tables
    sections = admissions.radiology_sections(row.input["text"])
    return {"sections": sections, "cleaned": admissions.radiology_text(sections)}


def exam_name(row: Vector, tables: Tables) -> Any:
    """mimic_radiology_name_class; where several categories have as many hits any of them will do."""
    read = imaging_words.radiology_name(row.input["exam_name"], tables)
    return {
        "modality": OneOf(*read.modalities),
        "region": OneOf(*read.regions),
        "counts": list(read.counts),
    }


def records(row: Vector, tables: Tables) -> Any:
    """mimic_extract_info_general."""
    built = general_info(row.input["tables"], row.input["disease"], tables)
    return {"hadm_info": built.records, "kept_after_cleaning": list(built.kept)}
