"""Converts the laboratory, microbiology and imaging rows of MIMIC-IV to items of a case's record."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from wardround.scenarios.case import Culture, Lab, Study, Susceptibility
from wardround.scenarios.loaders.values import Flag
from wardround.scenarios.mimic.case_draft import Report, tidy_note
from wardround.scenarios.mimic.headings import MARK
from wardround.scenarios.orders import imaging
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.published.admissions import culture_value_string, lab_value_string

LAB_COLUMNS = (
    "itemid", "charttime", "value", "valuenum", "valueuom", "ref_range_lower", "ref_range_upper", "flag", "comments",
)  # fmt: skip
CULTURE_COLUMNS = (
    "test_itemid", "charttime", "test_name", "spec_itemid", "spec_type_desc", "org_itemid", "org_name", "comments",
    "ab_name", "interpretation", "dilution_text",
)  # fmt: skip
_FLUIDS = {
    "blood": "",
    "cerebrospinal fluid": "CSF",
    "joint fluid": "Joint fluid",
    "pleural": "Pleural fluid",
    "ascites": "Ascitic fluid",
}
_READINGS: Mapping[str, Literal["susceptible", "intermediate", "resistant"]] = {
    "S": "susceptible",
    "I": "intermediate",
    "R": "resistant",
}
_FLAGS: Mapping[str, Flag] = {
    "abnormal": "abnormal",
    "delta": "abnormal",
    "high": "high",
    "low": "low",
    "normal": "normal",
}


@dataclass(frozen=True, slots=True)
class LabItem:
    """One row of the table d_labitems: a laboratory test."""

    label: str
    fluid: str = ""
    category: str = ""

    @property
    def name(self) -> str:
        """The test's name as in a chart: with its fluid if that is not blood, with 'Blood gas' if it is of one."""
        fluid = self.fluid.strip()
        above = _FLUIDS.get(fluid.casefold(), fluid)
        if not above and self.category.strip().casefold() == "blood gas":
            above = "Blood gas"
        return f"{above}: {self.label}" if above and above.casefold() not in self.label.casefold() else self.label


Row = tuple[Any, ...]
"""A row of the working database: a value for each column of its query."""
NamedRow = Mapping[str, Any]
"""A row of the working database, by column."""


def _by_column(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[NamedRow]:
    return (dict(zip(columns, row, strict=True)) for row in rows)


def labs(rows: Iterable[Row], items: Mapping[int, LabItem]) -> tuple[Lab, ...]:
    """Laboratory results from rows of `LAB_COLUMNS`, the earliest first.

    The value is the table's text; if that is empty or hidden, its number; else the laboratory's comment. A row without
    any of these, or of an unknown item, gives no result.
    """
    results = []
    for one in _by_column(rows, LAB_COLUMNS):
        number = _number(one["valuenum"])
        value = _said(one["value"]) or number or _said(one["comments"])
        if not value or one["itemid"] not in items:
            continue
        flag: Flag = _FLAGS.get((one["flag"] or "").strip().casefold(), "")
        measured = value == number or _float(value.lstrip("<>= ")) is not None
        results.append(
            Lab(
                name=items[one["itemid"]].name,
                item_id=one["itemid"],
                value=value,
                unit=_said(one["valueuom"]) if measured or not number else "",
                low=one["ref_range_lower"] if measured else None,
                high=one["ref_range_upper"] if measured else None,
                flag=flag,
                time=iso_time(one["charttime"]),
            )
        )
    return tuple(results)


def labs_published(rows: Iterable[Row], items: Mapping[int, LabItem]) -> tuple[Lab, ...]:
    """As `labs`, but as the published code does: the number before the text, the flag as a value, no ranges."""
    results = []
    for one in _by_column(rows, LAB_COLUMNS):
        shown = lab_value_string({**one, "valuenum": _float(one["valuenum"])})
        if shown in (None, MARK) or one["itemid"] not in items:
            continue
        unit = (one["valueuom"] or "").strip()
        value = shown.removesuffix(f" {unit}") if unit else shown
        results.append(
            Lab(
                name=items[one["itemid"]].label,
                item_id=one["itemid"],
                value=value,
                unit=unit if value != shown else "",
                time=iso_time(one["charttime"]),
            )
        )
    return tuple(results)


def cultures(rows: Iterable[Row]) -> tuple[Culture, ...]:
    """Microbiology results from rows of `CULTURE_COLUMNS`, the earliest first.

    Rows with the same test, specimen and time form one result. Its organisms are joined in the order of the table, each
    once, and so are its comments. A row with an antibiotic and its reading (S, I, R) gives one susceptibility.
    """
    results = []
    one_result = itemgetter("test_itemid", "spec_itemid", "charttime")
    for (test, _, _), group in groupby(_by_column(rows, CULTURE_COLUMNS), key=one_result):
        parts = list(group)
        organisms = list(dict.fromkeys(said for part in parts if (said := _said(part["org_name"]))))
        comments = list(dict.fromkeys(said for part in parts if (said := _said(part["comments"]))))
        first = parts[0]
        if first["test_name"] and (organisms or comments):
            results.append(
                Culture(
                    test=first["test_name"].strip(),
                    item_id=test,
                    specimen=_said(first["spec_type_desc"]),
                    organism=", ".join(organisms),
                    comment=" ".join(comments),
                    susceptibility=_susceptibility(parts, several=len(organisms) > 1),
                    time=iso_time(first["charttime"]),
                )
            )
    return tuple(results)


def _susceptibility(parts: Iterable[NamedRow], *, several: bool) -> tuple[Susceptibility, ...]:
    """The antibiotics tested in one result, each once for an organism and a reading; only S, I and R are readings."""
    tested = dict[tuple[str, str, str], Susceptibility]()
    for part in parts:
        antibiotic = _said(part["ab_name"])
        reading = _READINGS.get(_said(part["interpretation"]).upper())
        if antibiotic and reading:
            organism = _said(part["org_name"]) if several else ""
            concentration = _said(part["dilution_text"])
            one = Susceptibility(organism=organism, antibiotic=antibiotic, result=reading, concentration=concentration)
            tested.setdefault((organism, antibiotic, reading), one)
    return tuple(tested.values())


def cultures_published(rows: Iterable[Row]) -> tuple[Culture, ...]:
    """As `cultures`, but as the published code does: by test and time, with the organisms or else the first comment."""

    time_and_test = itemgetter("charttime", "test_itemid")
    named = _by_column(rows, CULTURE_COLUMNS)
    known = [row for row in named if row["charttime"] and culture_value_string(row) not in (None, MARK)]
    results = []
    for (at, test), group in groupby(sorted(known, key=time_and_test), key=time_and_test):
        parts = list(group)
        grown = list(dict.fromkeys(row["org_name"] for row in parts if row["org_itemid"] is not None))
        only = parts[0]["org_itemid"] is None
        results.append(
            Culture(
                test=(parts[0]["test_name"] or str(test)).strip(),
                item_id=test,
                specimen=_said(parts[0]["spec_type_desc"]),
                organism="" if only else ", ".join(filter(None, grown)),
                comment=str(culture_value_string(parts[0])) if only else "",
                time=iso_time(at),
            )
        )
    return tuple(results)


def _said(cell: str | None) -> str:
    """A cell's text, '' if it is empty or entirely de-identified."""
    text = " ".join((cell or "").split())
    return "" if not text.strip("_ .") else text


def _number(cell: str | float | None) -> str:
    value = _float(cell)
    return "" if value is None else f"{value:.10g}"


def _float(cell: str | float | None) -> float | None:
    try:
        value = math.nan if cell is None else float(cell)
    except ValueError:
        return None
    return None if math.isnan(value) else value


def iso_time(at: datetime | None) -> str:
    """A time as a case writes it; '' for None."""
    return at.isoformat() if at is not None else ""


_HEAD = re.compile(
    r"(?m)^[ \t]*([A-Z][A-Z ,/&'().-]{2,60}?)[ \t]*:(?!\d)|(?:^[ \t]*|(?<=[.!?] ))((?i:indications?|history|clinical"
    r" (?:information|history|indication)|reason for (?:exam(?:ination)?|study)|techniques?|comparisons?|findings?"
    r"|impressions?|conclusions?|opinion|summary|exam(?:ination)?|study|report|recommendations?|addendum|wet read"
    r"|interpretation|provisional findings impression(?: \(pfi\))?))[ \t]*:(?!\d)"
)
"""A heading of a report: in capitals at the start of a line, or a usual one in any case, also after a sentence."""
_TELLING = (
    "IMPRESSION", "CONCLUSION", "SUMMARY", "OPINION", "INDICATION", "CLINICAL", "HISTORY", "REASON", "COMPARISON",
    "RECOMMENDATION", "NOTIFICATION", "COMMENT", "MEDICAL HISTORY", "REFERENCE", "OPERATOR", "DATE", "WET READ",
    "FINAL", "PROVISIONAL", "PRELIMINARY", "PFI", "PRELIM", "INTERPRETATION", "ADDENDUM",
)  # fmt: skip
_ASKING = ("INDICATION", "CLINICAL", "HISTORY", "REASON", "COMPARISON", "MEDICAL HISTORY")
"""Sections after which a report often gives its findings without a heading of their own."""
_NAMING = ("EXAMINATION", "EXAM", "STUDY", "TYPE OF EXAMINATION")
_SAYING = re.compile(r"(?m)^[ \t]*(?:Impression|Conclusion|IMPRESSION|CONCLUSION)[ \t]*:?")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_LEAST = 15


def report_sections(text: str) -> dict[str, str]:
    """The sections of a report by their headings, in capitals. Text before the first heading is under ''.

    Sections with the same heading are joined.
    """
    heads = list(_HEAD.finditer(text))
    bodies = {"": text[: heads[0].start()] if heads else text}
    for head, end in zip(heads, [*(other.start() for other in heads[1:]), len(text)], strict=False):
        name = " ".join((head[1] or head[2]).upper().split())
        body = text[head.end() : end].strip()
        bodies[name] = f"{bodies[name]}\n{body}" if name in bodies else body
    return {name: body.strip() for name, body in bodies.items() if body.strip()}


def report_findings(text: str) -> str:
    """The findings of a report, without indication, history, comparison, impression and the like; '' if it has none."""
    kept = []
    sections = report_sections(text)
    headed = any(name.startswith(("FINDING", "REPORT")) for name in sections)
    for name, body in sections.items():
        if name.startswith(_TELLING):
            below = [] if headed or not name.startswith(_ASKING) else _PARAGRAPH.split(body, maxsplit=1)[1:]
            kept += [part.strip() for part in below]
            continue
        said = _SAYING.split(body)[0].strip()
        if name not in _NAMING and said:
            kept.append(f"{name}:\n{said}" if name else said)
    text = tidy_note("\n\n".join(kept))
    return text if len(text.strip("_ ")) >= _LEAST else ""


def exam_name(report: Report) -> str:
    """The recorded name of the exam, else the one in the report's text, else 'Imaging study'."""
    if report.exam.strip("_ "):
        return report.exam.strip()
    parts = report_sections(report.text)
    said = next((parts[name] for name in _NAMING if name in parts), "")
    line = next((line.strip() for line in (said or parts.get("", "")).splitlines() if line.strip("_ ")), "")
    return " ".join(line.split())[:120] or "Imaging study"


def study(report: Report) -> Study | None:
    """The whole report as an imaging study; None if it has no text."""
    text = tidy_note(report.text)
    if not text.strip("_ "):
        return None
    name = exam_name(report)
    modality, region = placed(name)
    return Study(exam=name, modality=modality, region=region, report=text, time=report.time)


def placed(name: str) -> tuple[str, str]:
    """(modality, region) of an exam by its name; '' for each that the name does not give."""
    table = catalogue()
    read = imaging.read_study(name.replace("_", " ").replace("W&W/O", " "), table)
    regions: Mapping[str, object] = table.regions
    return (read.modalities[0] if read.modalities else "", next((name for name in regions if name in read.regions), ""))
