"""Admissions as the published code builds its records from tables: events attached, firsts kept, names taken out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from wardround.scenarios.published import notes
from wardround.scenarios.published.imaging import radiology_name
from wardround.scenarios.published.radiology import radiology_sections, radiology_text
from wardround.scenarios.published.tables import Absent, Tables

Row = Mapping[str, Any]

CANCELLED = 90760
"""The organism number of a cancelled culture."""

_MOVED = {21285450: "13458482-RR-51"}
"""A report that the published code attaches to its admission by hand."""

_HIDDEN = "___"


@dataclass(frozen=True)
class Built:
    """`records` by admission, as the published code has them before its last check, and the admissions it keeps."""

    records: dict[int, dict[str, Any]]
    kept: tuple[int, ...]


def lab_value_string(row: Row) -> str | None:
    """A laboratory result as one text: the number or value with its unit, else the flag, else the comment."""
    for value in (_number(row.get("valuenum")), _given(row.get("value"))):
        if value is not None and value != _HIDDEN:
            unit = _given(row.get("valueuom"))
            return f"{value} {unit}" if unit is not None else str(value)
    return _text(row, "flag") or _text(row, "comments")


def culture_value_string(row: Row) -> str | None:
    """A culture as one text: the organism, else the comment."""
    return _text(row, "org_name") or _text(row, "comments")


def _text(row: Row, column: str) -> str | None:
    value = _given(row.get(column))
    return None if value is None else str(value)


def _given(value: Any) -> Any:
    """`value`, None for an empty cell (which a table may hold as NaN)."""
    return None if value is None or value != value else value  # noqa: PLR0124  # NaN is not itself


def _number(value: Any) -> Any:
    """A number as the table's column of floats has it: 22 is 22.0."""
    value = _given(value)
    return float(value) if isinstance(value, int) else value


def general_info(tables: Mapping[str, Sequence[Row]], disease: str, lookup: Tables) -> Built:
    """The records of a disease from the rows of MIMIC's tables.

    `tables` has admissions, transfers, discharge, labevents, microbiologyevents, radiology, radiology_detail,
    'diagnoses(joined long_title)' and 'procedures(joined long_title)' as lists of rows.
    """
    named = tables["diagnoses(joined long_title)"]
    wanted = _unique(row["hadm_id"] for row in named if re.search(disease, str(row["long_title"]), re.IGNORECASE))
    texts = {row["hadm_id"]: row["text"] for row in tables["discharge"]}
    ids = [one for one in wanted if one in texts and notes.is_primary(disease, _diagnosis(texts[one]))]
    events = _Events(tables, ids)
    names = _exam_names(tables["radiology_detail"])
    records = {
        one: _record(one, texts[one], tables) | events.of(one, names, lookup)
        for one in ids
        if notes.has_history(texts[one])
    }
    for record in records.values():
        _hide(record, disease)
    kept = tuple(
        one
        for one, record in records.items()
        if record["Patient History"] and notes.is_primary(disease, record["Discharge Diagnosis"])
    )
    return Built(records, kept)


def _unique(values: Iterable[int]) -> list[int]:
    return list(dict.fromkeys(values))


def _diagnosis(text: str) -> str:
    try:
        return notes.discharge_diagnosis(text)
    except Absent:
        return ""


def _record(one: int, text: str, tables: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """What comes from the note and from the coded tables."""
    codes = [row for row in tables["procedures(joined long_title)"] if row["hadm_id"] == one]
    nine = [row for row in codes if row["icd_version"] == 9]
    ten = [row for row in codes if row["icd_version"] == 10]
    named = [row for row in tables["diagnoses(joined long_title)"] if row["hadm_id"] == one]
    return {
        "Discharge": text,
        "Patient History": notes.history(text),
        "Physical Examination": notes.examination(text),
        "Discharge Diagnosis": _diagnosis(text),
        "ICD Diagnosis": [row["long_title"] for row in named],
        "Procedures Discharge": list(notes.procedures(text)),
        "Procedures ICD9": [int(row["icd_code"]) for row in nine],
        "Procedures ICD9 Title": [row["long_title"] for row in nine],
        "Procedures ICD10": [str(row["icd_code"]) for row in ten],
        "Procedures ICD10 Title": [row["long_title"] for row in ten],
    }


def _hide(record: dict[str, Any], disease: str) -> None:
    """The disease's own name goes: with it a history is emptied, elsewhere it becomes a line."""
    name = re.compile(disease, re.IGNORECASE)
    if name.search(record["Patient History"]):
        record["Patient History"] = ""
        return
    record["Physical Examination"] = name.sub("____", record["Physical Examination"])
    for study in record["Radiology"]:
        study["Report"] = name.sub("____", study["Report"])


def _exam_names(details: Iterable[Row]) -> dict[str, str]:
    """Note -> exam name; an addendum's is that of its parent."""
    first = [row for row in details if row["field_ordinal"] == 1]
    own = {row["note_id"]: row["field_value"] for row in first if row["field_name"] == "exam_name"}
    parents = {row["note_id"]: row["field_value"] for row in first if row["field_name"] == "parent_note_id"}
    return {note: own.get(parent, "Unknown") for note, parent in parents.items() if parent} | own


class _Events:
    """Results with their admission; one without a number belongs to the admission of its patient at that time."""

    def __init__(self, tables: Mapping[str, Sequence[Row]], ids: Sequence[int]) -> None:
        labs = [{**row, "valuestr": lab_value_string(row)} for row in tables["labevents"]]
        live = [row for row in tables["microbiologyevents"] if _given(row["org_itemid"]) != CANCELLED]
        cultures = [{**row, "valuestr": culture_value_string(row)} for row in live]
        told = [row for row in labs if row["valuestr"] not in (None, _HIDDEN)]
        grown = [row for row in cultures if row["valuestr"] not in (None, _HIDDEN)]
        stays = _stays(tables, ids)
        self._labs = _by_stay(told, stays)
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
            "Reference Range Lower": {item: _given(row["ref_range_lower"]) for item, row in first.items()},
            "Reference Range Upper": {item: _given(row["ref_range_upper"]) for item, row in first.items()},
            "Microbiology": {test: value for test, (value, _) in cultures.items()},
            "Microbiology Spec": {test: specimen for test, (_, specimen) in cultures.items()},
            "Radiology": _studies(self._reports.get(one, ()), names, lookup),
        }


def _stays(tables: Mapping[str, Sequence[Row]], ids: Iterable[int]) -> list[tuple[int, int, datetime, datetime]]:
    """(admission, patient, from, to): from a day before the first transfer to the beginning of the last."""
    patient = {row["hadm_id"]: row["subject_id"] for row in tables["admissions"]}
    found = []
    for one in ids:
        times = sorted(_moment(row["intime"]) for row in tables["transfers"] if row["hadm_id"] == one)
        if times:
            found.append((one, patient[one], times[0] - timedelta(days=1), times[-1]))
    return found


def _by_stay(rows: Iterable[Row], stays: Sequence[tuple[int, int, datetime, datetime]]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows:
        stay = _given(row["hadm_id"])
        if stay is None:
            at = _time(row)
            stay = next((one for one, who, low, high in stays if who == row["subject_id"] and low <= at <= high), None)
        if stay is not None:
            found.setdefault(int(stay), []).append(row)
    return found


def _time(row: Row) -> datetime:
    """When it was taken; what has no time comes last."""
    at = _given(row["charttime"])
    return datetime.max if at is None else _moment(at)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _first_cultures(rows: Iterable[Row]) -> dict[int, tuple[str, Any]]:
    """The earliest result of each test: all organisms of that time, each once; else the comment."""
    groups: dict[tuple[datetime, int], list[Row]] = {}
    for row in rows:
        if _given(row["charttime"]) is not None:
            groups.setdefault((_time(row), row["test_itemid"]), []).append(row)
    found: dict[int, tuple[str, Any]] = {}
    for (_, test), group in sorted(groups.items(), key=lambda pair: pair[0]):
        grown = dict.fromkeys(row["valuestr"] for row in group if _given(row["org_itemid"]) is not None)
        value = group[0]["valuestr"] if _given(group[0]["org_itemid"]) is None else ", ".join(grown)
        found.setdefault(test, (value, group[0]["spec_itemid"]))
    return found


def _studies(reports: Iterable[Row], names: Mapping[str, str], lookup: Tables) -> list[dict[str, str]]:
    """The studies whose exam name tells modality and region and whose report says anything."""
    found = []
    for row in reports:
        name = names.get(row["note_id"], "")
        said = radiology_text(radiology_sections(row["text"]))
        read = radiology_name(name, lookup)
        if said and all(read.counts):
            study = {"Report": said, "Modality": read.modality, "Region": read.region}
            found.append({**study, "Exam Name": name, "Note ID": row["note_id"]})
    return found
