"""The items of a case summary ('- Chief Complaint: ...'): parted, missing ones marked, put together again."""

import re
from collections.abc import Mapping, Sequence
from textwrap import dedent

from wardround.scenarios.reports.options import Kind
from wardround.scenarios.reports.prose import plain

MISSING = "Not reported."
"""Stands where the article says nothing."""

ITEMS: Mapping[Kind, Sequence[str]] = {
    "diagnosis": (
        "Patient Information",
        "Chief Complaint",
        "History of Present Illness",
        "Past Medical History",
        "Personal History",
        "Family History",
        "Physical Examination",
        "Ancillary Tests",
    ),
    "treatment": (
        "Patient Demographics",
        "Chief Complaint",
        "History of Present Illness",
        "Past Medical History",
        "Allergies",
        "Family History",
        "Social History",
        "Physical Exam",
        "Lab Events",
        "Imaging Events",
        "Final Diagnostic Results",
    ),
}
"""The items of each kind of case, in their order (paper 002, prompts 2 and 3)."""

_ITEM = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*\u2022+]|\d{1,2}[.)])?[ \t]*(?P<label>[^:\n]{2,60}?)[ \t]*:[ \t]*(?P<rest>.*)$"
)


def items(summary: str, kind: Kind) -> dict[str, str]:
    """Item to text, known items first in their order; a text without any item is the history of present illness.

    Nested lines belong to the item above them; an item of another name stays, below the known ones. Several patients
    told one after another are told under the same items.
    """
    known = {name.lower(): name for name in ITEMS[kind]}
    found: dict[str, list[str]] = {}
    current = ""
    for line in summary.splitlines():
        item = _ITEM.match(_unmarked(line))
        label = plain(item["label"]).lower() if item else ""
        # A line at the margin with a label opens an item; so does a known label wherever it stands.
        if item and (label in known or (not item["indent"] and _bulleted(line) and current != _last(kind))):
            current = known.get(label, plain(item["label"]))
            found.setdefault(current, []).append(item["rest"].strip())
        elif line.strip():
            current = current or "History of Present Illness"
            found.setdefault(current, []).append(line.rstrip())
    told = {name: "\n".join(lines).strip("\n") for name, lines in found.items()}
    first = {name: told[name] for name in ITEMS[kind] if name in told}
    return {**first, **{name: text for name, text in told.items() if name not in first}}


def _last(kind: Kind) -> str:
    """The item below which lines at the margin are its own: tests listed without indentation."""
    return "Ancillary Tests" if kind == "diagnosis" else ""


def completed(told: Mapping[str, str], kind: Kind) -> dict[str, str]:
    """`told` with every item of the kind; a missing or blank one is marked so."""
    made = {name: told[name] if told.get(name, "").strip() else MISSING for name in ITEMS[kind]}
    last = _last(kind)
    others = {name: text for name, text in told.items() if name not in made and text.strip()}
    if last not in made:
        return {**made, **others}
    tests = made.pop(last)  # what is withheld must come last
    return {**made, **others, last: tests}


def summary(told: Mapping[str, str]) -> str:
    """The items as one text, in the form the published cases have."""
    return "\n".join(f"- {name}:{_below(text)}" for name, text in told.items())


def _below(text: str) -> str:
    """What stands behind an item's colon, and the lines below it, indented."""
    lines = [line.replace("\t", "    ") for line in text.splitlines() if line.strip()]
    head = f" {lines.pop(0).strip()}" if lines and not _bulleted(lines[0]) else ""
    below = dedent("\n".join(lines)).splitlines()
    return head + "".join(f"\n  {line.rstrip()}" for line in below)


def _unmarked(line: str) -> str:
    return line.replace("**", "").replace("__", "")


def _bulleted(line: str) -> bool:
    return bool(re.match(r"\s*(?:[-*\u2022+]|\d{1,2}[.)])\s", line))
