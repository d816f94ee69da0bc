"""Sections of a discharge note under the published rules: history, examination, diagnosis, procedures."""

import re
from dataclasses import dataclass

from wardround.scenarios.published.tables import Absent

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


@dataclass(frozen=True, slots=True)
class Sections:
    """What a discharge note is read as; `diagnosis` is None where it could not be found, and `error` says why."""

    diagnosis: str | None
    error: str | None
    history: str
    examination: str
    procedures: tuple[str, ...]


def discharge_sections(note: str) -> Sections:
    """All sections of a note."""
    try:
        said, error = discharge_diagnosis(note), None
    except Absent as absent:
        said, error = None, str(absent)
    return Sections(said, error, history(note), examination(note), procedures(note))


def has_history(note: str) -> bool:
    """Whether a note has the heading without which its admission is left out."""
    low = note.lower()
    return "history of present illness" in low or "___ of present illness:" in low


def history(note: str) -> str:
    """From the present illness to the first of the ends that follows it, tried in their order; '' without any.

    The headings are then deleted wherever they stand: the past history stays, without its heading.
    """
    text = note.replace("\n", " ")
    for end in _HISTORY_ENDS:
        found = re.search(f"{_PRESENT}.*?{end}", text, re.IGNORECASE | re.DOTALL)
        if found:
            kept = _HISTORY.sub("", found[0])
            for heading in _HISTORY_ENDS:
                kept = re.sub(heading, "", kept, flags=re.IGNORECASE)
            return kept
    return ""


def examination(note: str) -> str:
    """From the first kind of heading that is followed by the end to that end, without what was found on leaving.

    The end is the first of the list that occurs anywhere in the note.
    """
    text = note.replace("\n", " ")
    low = text.lower()
    end = next((end for end in _BODY_ENDS if end in low), "brief hospital course:")
    for start in _BODY_STARTS:
        found = re.search(f"{start}.*?{end}", text, re.IGNORECASE | re.DOTALL)
        if found:
            kept = found[0]
            for heading in (*_BODY_STARTS, "brief hospital course:"):
                kept = re.sub(heading, "", kept, flags=re.IGNORECASE)
            return _LEAVING.sub("", kept)
    return ""


def discharge_diagnosis(note: str) -> str:
    """What stands between the last diagnosis heading and the condition. Raises Absent where a heading is missing."""
    low = note.lower()
    starts = [low.rfind(heading) + len(heading) for heading in _DIAGNOSIS_STARTS if heading in low]
    start = max(starts, default=0)
    if not start:
        if _BLANKED not in low:
            raise Absent("no_start", "No start header found")
        start = low.rfind(_BLANKED)
    end = next((low.rfind(heading) for heading in _DIAGNOSIS_ENDS if heading in low), 0)
    if not end:
        raise Absent("no_end", "No end header found")
    return note[start:end].strip()


def is_primary(disease: str, diagnosis: str) -> bool:
    """Whether the disease occurs in the discharge diagnosis, before the secondary ones; in any case of letters."""
    disease, diagnosis = disease.lower(), diagnosis.lower()
    for line in diagnosis.split("\n"):
        if "secondary" in line and "secondary to" not in line and "with secondary" not in line:
            return disease in diagnosis.split(line)[0]
    return disease in diagnosis


def procedures(note: str) -> tuple[str, ...]:
    """What stands under the procedure heading, up to an empty line, cut at commas, colons, full stops and dashes."""
    for heading in _PROCEDURES:
        found = re.search(rf"{re.escape(heading)}.*?\n\s*\n", note, re.DOTALL)
        if found:
            text = found[0].replace(heading, "").replace("\n", " ")
            return tuple(part.strip() for part in _PARTED.split(text) if part.strip())
    return ()
