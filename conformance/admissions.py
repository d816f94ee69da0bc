"""Whole records of admissions under MultiCogEval's rules, built from the rows of MIMIC's tables."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from conformance.tables import Tables
from wardround.scenarios.published.admissions import (
    culture_value_string,
    discharge_diagnosis,
    examination,
    has_history,
    history_text,
    is_primary,
    lab_value_string,
    radiology_sections,
    radiology_text,
    recorded_value,
)
from wardround.scenarios.published.imaging_words import Absent, radiology_name

Row = Mapping[str, Any]
"""A row of a table of a vector, by column."""

_PROCEDURES = (
    "Major Surgical or Invasive Procedure:",
    "PROCEDURES:",
    "PROCEDURE:",
    "Major Surgical ___ Invasive Procedure:",
    "___ Surgical or Invasive Procedure:",
    "INVASIVE PROCEDURE ON THIS ADMISSION:",
    "Major ___ or Invasive Procedure:",
    "MAJOR SURGICAL AND INVASIVE PROCEDURES PERFORMED THIS DURING\nADMISSION:",
)
_PARTED = re.compile(r": |, |\. | - ")

_HIDDEN = "___"


@dataclass(frozen=True, slots=True)
class Sections:
    """The parts of a discharge note; if `diagnosis` could not be found it is None, and `error` gives the reason."""

    diagnosis: str | None
    error: str | None
    history: str
    examination: str
    procedures: tuple[str, ...]


def discharge_sections(note: str) -> Sections:
    """Read all sections of a note."""
    try:
        said, error = discharge_diagnosis(note), None
    except Absent as absent:
        said, error = None, str(absent)
    return Sections(said, error, history_text(note), examination(note), procedures(note))


def procedures(note: str) -> tuple[str, ...]:
    """The text under the procedure heading, up to an empty line, split at commas, colons, full stops and dashes."""
    for heading in _PROCEDURES:
        section = re.search(rf"{re.escape(heading)}.*?\n\s*\n", note, re.DOTALL)
        if section:
            text = section[0].replace(heading, "").replace("\n", " ")
            return tuple(part.strip() for part in _PARTED.split(text) if part.strip())
    return ()


CANCELLED = 90760
"""The organism number of a cancelled culture."""

_MOVED = {21285450: "13458482-RR-51"}
"""A report that the published code assigns to its admission by hand."""


@dataclass(frozen=True)
class Built:
    """`records` by admission, as in the published code before its last check, and the admissions that it keeps."""

    records: dict[int, dict[str, Any]]
    kept: tuple[int, ...]


def general_info(tables: Mapping[str, Sequence[Row]], disease: str, lookup: Tables) -> Built:
    """The records of a disease from the rows of MIMIC's tables.

    `tables` maps admissions, transfers, discharge, labevents, microbiologyevents, radiology, radiology_detail,
    'diagnoses(joined long_title)' and 'procedures(joined long_title)' to lists of rows.
    """
    named = tables["diagnoses(joined long_title)"]
    wanted = _unique(row["hadm_id"] for row in named if re.search(disease, str(row["long_title"]), re.IGNORECASE))
    texts = {row["hadm_id"]: row["text"] for row in tables["discharge"]}
    ids = [one for one in wanted if one in texts and is_primary(disease, _diagnosis(texts[one]))]
    events = _Events(tables, ids)
    names = _exam_names(tables["radiology_detail"])
    records = {
        one: _record(one, texts[one], tables) | events.of(one, names, lookup) for one in ids if has_history(texts[one])
    }
    for record in records.values():
        _hide(record, disease)
    kept = tuple(
        one
        for one, record in records.items()
        if record["Patient History"] and is_primary(disease, record["Discharge Diagnosis"])
    )
    return Built(records, kept)


def _unique(values: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(values))


def _diagnosis(text: str) -> str:
    try:
        return discharge_diagnosis(text)
    except Absent:
        return ""


def _record(one: int, text: str, tables: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """The part of a record that comes from the note and the coded tables."""
    codes = [row for row in tables["procedures(joined long_title)"] if row["hadm_id"] == one]
    nine = [row for row in codes if row["icd_version"] == 9]
    ten = [row for row in codes if row["icd_version"] == 10]
    named = [row for row in tables["diagnoses(joined long_title)"] if row["hadm_id"] == one]
    return {
        "Discharge": text,
        "Patient History": history_text(text),
        "Physical Examination": examination(text),
        "Discharge Diagnosis": _diagnosis(text),
        "ICD Diagnosis": [row["long_title"] for row in named],
        "Procedures Discharge": list(procedures(text)),
        "Procedures ICD9": [int(row["icd_code"]) for row in nine],
        "Procedures ICD9 Title": [row["long_title"] for row in nine],
        "Procedures ICD10": [str(row["icd_code"]) for row in ten],
        "Procedures ICD10 Title": [row["long_title"] for row in ten],
    }


def _hide(record: dict[str, Any], disease: str) -> None:
    """Hide the disease's own name: empty a history that contains it; replace it by '____' elsewhere."""
    name = re.compile(disease, re.IGNORECASE)
    if name.search(record["Patient History"]):
        record["Patient History"] = ""
        return
    record["Physical Examination"] = name.sub("____", record["Physical Examination"])
    for study in record["Radiology"]:
        study["Report"] = name.sub("____", study["Report"])


def _exam_names(details: Iterable[Row]) -> dict[str, str]:
    """Note -> exam name; an addendum has the name of its parent."""
    first = [row for row in details if row["field_ordinal"] == 1]
    own = {row["note_id"]: row["field_value"] for row in first if row["field_name"] == "exam_name"}
    parents = {row["note_id"]: row["field_value"] for row in first if row["field_name"] == "parent_note_id"}
    return {note: own.get(parent, "Unknown") for note, parent in parents.items() if parent} | own


class _Events:
    """Results by admission; a result without an admission number belongs to its patient's admission at that time."""

    def __init__(self, tables: Mapping[str, Sequence[Row]], ids: Sequence[int]) -> None:
        labs = [{**row, "valuestr": lab_value_string(row)} for row in tables["labevents"]]
        live = [row for row in tables["microbiologyevents"] if recorded_value(row["org_itemid"]) != CANCELLED]
        cultures = [{**row, "valuestr": culture_value_string(row)} for row in live]
        reported = [row for row in labs if row["valuestr"] not in (None, _HIDDEN)]
        grown = [row for row in cultures if row["valuestr"] not in (None, _HIDDEN)]
        stays = _stays(tables, ids)
        self._labs = _by_stay(reported, stays)
        self._cultures = _by_stay(grown, stays)
        self._reports = _by_stay(tables["radiology"], stays)
        for one, note in _MOVED.items():
            if one in ids:
                self._reports.setdefault(one, []).extend(row for row in tables["radiology"] if row["note_id"] == note)

    def of(self, one: int, names: Mapping[str, str], lookup: Tables) -> dict[str, Any]:
        """The results of one admission."""
        first: dict[int, Row] = {}
        for row in sorted(self._labs.get(one, ()), key=_time):
            first.setdefault(row["itemid"], row)
        cultures = _first_cultures(self._cultures.get(one, ()))
        return {
            "Laboratory Tests": {item: row["valuestr"] for item, row in first.items()},
            "Reference Range Lower": {item: recorded_value(row["ref_range_lower"]) for item, row in first.items()},
            "Reference Range Upper": {item: recorded_value(row["ref_range_upper"]) for item, row in first.items()},
            "Microbiology": {test: value for test, (value, _) in cultures.items()},
            "Microbiology Spec": {test: specimen for test, (_, specimen) in cultures.items()},
            "Radiology": _studies(self._reports.get(one, ()), names, lookup),
        }


def _stays(tables: Mapping[str, Sequence[Row]], ids: Iterable[int]) -> list[tuple[int, int, datetime, datetime]]:
    """(admission, patient, from, to): from one day before the first transfer to the start of the last."""
    patient = {row["hadm_id"]: row["subject_id"] for row in tables["admissions"]}
    stays = []
    for one in ids:
        times = sorted(_moment(row["intime"]) for row in tables["transfers"] if row["hadm_id"] == one)
        if times:
            stays.append((one, patient[one], times[0] - timedelta(days=1), times[-1]))
    return stays


def _by_stay(rows: Iterable[Row], stays: Sequence[tuple[int, int, datetime, datetime]]) -> dict[int, list[Row]]:
    by_stay: dict[int, list[Row]] = {}
    for row in rows:
        stay = recorded_value(row["hadm_id"])
        if stay is None:
            at = _time(row)
            stay = next((one for one, who, low, high in stays if who == row["subject_id"] and low <= at <= high), None)
        if stay is not None:
            by_stay.setdefault(int(stay), []).append(row)
    return by_stay


def _time(row: Row) -> datetime:
    """The time of a result; a result without one comes last."""
    at = recorded_value(row["charttime"])
    return datetime.max if at is None else _moment(str(at))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _first_cultures(rows: Iterable[Row]) -> dict[int, tuple[str, Any]]:
    """The earliest result of each test: all organisms of that time, each once; else the comment."""
    groups: dict[tuple[datetime, int], list[Row]] = {}
    for row in rows:
        if recorded_value(row["charttime"]) is not None:
            groups.setdefault((_time(row), row["test_itemid"]), []).append(row)
    cultures: dict[int, tuple[str, Any]] = {}
    for (_, test), group in sorted(groups.items(), key=lambda pair: pair[0]):
        grown = dict.fromkeys(row["valuestr"] for row in group if recorded_value(row["org_itemid"]) is not None)
        value = group[0]["valuestr"] if recorded_value(group[0]["org_itemid"]) is None else ", ".join(grown)
        cultures.setdefault(test, (value, group[0]["spec_itemid"]))
    return cultures


def _studies(reports: Iterable[Row], names: Mapping[str, str], lookup: Tables) -> list[dict[str, str]]:
    """The studies whose exam name gives modality and region and whose report has text."""
    studies = []
    for row in reports:
        name = names.get(row["note_id"], "")
        said = radiology_text(radiology_sections(row["text"]))
        read = radiology_name(name, lookup)
        if said and all(read.counts):
            study = {"Report": said, "Modality": read.modality, "Region": read.region}
            studies.append({**study, "Exam Name": name, "Note ID": row["note_id"]})
    return studies
