"""MultiCogEval's published rules for admissions: discharge notes, radiology reports, laboratory values, cultures."""

import re
from collections.abc import Mapping

from wardround.scenarios.published.imaging_words import Absent

_PRESENT = r"(?:history|___) of present(?:ing)? illness:"
_HISTORY = re.compile("history of present(?:ing)? illness:", re.IGNORECASE)
_BODY = ("physical exam:", "physical examination:", "physical ___:", "pe:", "pe ___:")
_HISTORY_ENDS = (*_BODY, "(?:pertinent|___) results:", "hospital course:", "past medical history:")
_BODY_STARTS = (*_BODY, "pertinent results:")
_BODY_ENDS = (
    "pertinent results:",
    "brief hospital course:",
    "hospital course:",
    "impression:",
    "laboratory data:",
    "concise summary of hospital course:",
    "admission labs",
    "medications on admission:",
    "laboratory evaluation:",
)
_LEAVING = re.compile(r"(?:at |upon |on )?discharge.*", re.IGNORECASE)
_DIAGNOSIS_STARTS = ("discharge diagnosis:", "___ diagnosis:")
_DIAGNOSIS_ENDS = (
    "discharge condition:",
    "___ condition:",
    "condition:",
    "procedure:",
    "procedures:",
    "invasive procedure on this admission:",
)
_BLANKED = "\n___:"


def has_history(note: str) -> bool:
    """Whether a note has the heading of the present illness; without it an admission is left out."""
    low = note.lower()
    return "history of present illness" in low or "___ of present illness:" in low


def history_text(note: str) -> str:
    """The text from the present illness to the first ending heading that matches, in the order of the list; else ''.

    These headings are then deleted wherever they occur, so the past history stays without its heading.
    """
    text = note.replace("\n", " ")
    for end in _HISTORY_ENDS:
        match = re.search(f"{_PRESENT}.*?{end}", text, re.IGNORECASE | re.DOTALL)
        if match:
            kept = _HISTORY.sub("", match[0])
            for heading in _HISTORY_ENDS:
                kept = re.sub(heading, "", kept, flags=re.IGNORECASE)
            return kept
    return ""


def examination(note: str) -> str:
    """The text from the first starting heading that matches to the ending one, without the findings at discharge.

    The ending heading is the first of the list that occurs anywhere in the note.
    """
    text = note.replace("\n", " ")
    low = text.lower()
    end = next((end for end in _BODY_ENDS if end in low), "brief hospital course:")
    for start in _BODY_STARTS:
        match = re.search(f"{start}.*?{end}", text, re.IGNORECASE | re.DOTALL)
        if match:
            kept = match[0]
            for heading in (*_BODY_STARTS, "brief hospital course:"):
                kept = re.sub(heading, "", kept, flags=re.IGNORECASE)
            return _LEAVING.sub("", kept)
    return ""


def discharge_diagnosis(note: str) -> str:
    """The text between the last heading of the diagnosis and that of the condition.

    Raises Absent if either heading is missing.
    """
    low = note.lower()
    start = max([low.rfind(heading) + len(heading) for heading in _DIAGNOSIS_STARTS if heading in low], default=0)
    if not start:
        if _BLANKED not in low:
            raise Absent("no_start", "No start header found")
        start = low.rfind(_BLANKED)
    end = next((low.rfind(heading) for heading in _DIAGNOSIS_ENDS if heading in low), 0)
    if not end:
        raise Absent("no_end", "No end header found")
    return note[start:end].strip()


def is_primary(disease: str, diagnosis: str) -> bool:
    """Whether the name of the disease, in any case, stands in the discharge diagnosis before the secondary ones."""
    disease, diagnosis = disease.lower(), diagnosis.lower()
    for line in diagnosis.split("\n"):
        if "secondary" in line and "secondary to" not in line and "with secondary" not in line:
            return disease in diagnosis.split(line)[0]
    return disease in diagnosis


_HEADER = re.compile(r"(?m)^([A-Z \t,._-]+):")
_TELLING = (
    *("CLINICAL HISTORY", "MEDICAL HISTORY", "CLINICAL INFORMATION", "COMPARISON", "COMMENT", "CONCLUSION", "HISTORY"),
    *("IMPRESSION", "CLINICAL INDICATION", "INDICATION", "OPERATORS", "REASON", "REFERENCE", "DATE"),
)


def radiology_sections(text: str) -> dict[str, str]:
    """The sections of a report by header. A line in capitals is a header; of equal headers the last counts.

    A first line in capitals gets a colon at its end, even if it has one inside.
    """
    lines = text.strip().split("\n")
    if lines[0].isupper() and not lines[0].strip().endswith(":"):
        lines[0] = lines[0].strip() + ":"
    lines = [line.strip() + ":" if line.isupper() and ":" not in line else line for line in lines]
    report = "\n".join(lines)
    heads = list(_HEADER.finditer(report))
    sections: dict[str, str] = {}
    for place, head in enumerate(heads, 1):
        end = heads[place].start() if place < len(heads) else len(report)
        sections[head[1].strip()] = report[head.end() : end].strip()
    return sections


def radiology_text(sections: Mapping[str, str]) -> str:
    """The report without the sections whose header begins with a revealing word; '' if no other section has text."""
    kept = {header: body for header, body in sections.items() if not header.startswith(_TELLING)}
    if not any(kept.values()):
        return ""
    return "".join(f"{header}:\n{body}\n\n" for header, body in kept.items())


Cell = str | float | None
"""A value of a table; NaN and None are empty."""
Row = Mapping[str, Cell]

_HIDDEN = "___"


def lab_value_string(row: Row) -> str | None:
    """A laboratory result as one text: the number or the value with its unit, else the flag, else the comment.

    None if the row has none of these.
    """
    for value in (_number(row.get("valuenum")), recorded_value(row.get("value"))):
        if value is not None and value != _HIDDEN:
            unit = recorded_value(row.get("valueuom"))
            return f"{value} {unit}" if unit is not None else str(value)
    return _text(row, "flag") or _text(row, "comments")


def culture_value_string(row: Row) -> str | None:
    """A culture as one text: the organism, else the comment; None if the row has neither."""
    return _text(row, "org_name") or _text(row, "comments")


def _text(row: Row, column: str) -> str | None:
    value = recorded_value(row.get(column))
    return None if value is None else str(value)


def recorded_value(value: Cell) -> Cell:
    """`value`, or None for an empty cell (which a table may store as NaN)."""
    return None if value is None or value != value else value  # noqa: PLR0124  # NaN is not itself


def _number(value: Cell) -> Cell:
    """A number as the table's float column stores it: 22 becomes 22.0."""
    return float(value) if isinstance(value, int) else recorded_value(value)
