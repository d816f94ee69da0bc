"""A radiology report under the published rules: its sections, and the report without those that tell the reading."""

import re
from collections.abc import Mapping

_HEADER = re.compile(r"(?m)^([A-Z \t,._-]+):")
_TELLING = (
    *("CLINICAL HISTORY", "MEDICAL HISTORY", "CLINICAL INFORMATION", "COMPARISON", "COMMENT", "CONCLUSION", "HISTORY"),
    *("IMPRESSION", "CLINICAL INDICATION", "INDICATION", "OPERATORS", "REASON", "REFERENCE", "DATE"),
)


def radiology_sections(text: str) -> dict[str, str]:
    """The sections of a report by their headers; a line all in capitals is one too, and of two alike the last counts.

    A first line all in capitals gets a colon at its end even if it has one inside.
    """
    lines = text.strip().split("\n")
    if lines[0].isupper() and not lines[0].strip().endswith(":"):
        lines[0] = lines[0].strip() + ":"
    lines = [line.strip() + ":" if line.isupper() and ":" not in line else line for line in lines]
    report = "\n".join(lines)
    heads = list(_HEADER.finditer(report))
    found: dict[str, str] = {}
    for place, head in enumerate(heads, 1):
        end = heads[place].start() if place < len(heads) else len(report)
        found[head[1].strip()] = report[head.end() : end].strip()
    return found


def radiology_text(sections: Mapping[str, str]) -> str:
    """The report from its sections, without those whose header begins with a telling word; '' if none has a text."""
    kept = {header: body for header, body in sections.items() if not header.startswith(_TELLING)}
    if not any(kept.values()):
        return ""
    return "".join(f"{header}:\n{body}\n\n" for header, body in kept.items())
