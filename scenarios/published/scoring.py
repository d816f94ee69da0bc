"""Scoring under the published rules: whether a final message names the label, and how much of the record was asked."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from wardround.scenarios.published.imaging import Request, same
from wardround.scenarios.published.tables import Absent, Tables

_STATED = re.compile(r"diagnosis:(.*?)(?:treatment:|treatment plan:|\Z)", re.IGNORECASE | re.DOTALL)
_TINY = 1e-10


@dataclass(frozen=True, slots=True)
class FullPath:
    """The scores of one admission; a recall is None where the record has nothing of its kind."""

    endpoint: float
    full_path: float
    lab: float | None
    microbiology: float | None
    imaging: float | None


def stated(message: str) -> str:
    """The diagnosis of a final message: from its first `diagnosis:` to `treatment:` or the end; '' without one."""
    found = _STATED.search(message)
    return found[1].strip() if found else ""


def correct(label: str, message: str, tables: Tables) -> bool:
    """Whether the label occurs in the stated diagnosis, anywhere, or one of its alternatives as whole words.

    Raises Absent for a label that the table of alternatives does not know, unless it occurs itself.
    """
    said = stated(message)
    if label.lower() in said.lower():
        return True
    if label not in tables.alternatives:
        raise Absent("unknown_label", f"the label {label!r} has no entry among the alternatives")
    for other in tables.alternatives[label]:
        words = [other] if isinstance(other, str) else other
        if all(re.search(rf"\b{re.escape(word)}\b", said, re.IGNORECASE) for word in words):
            return True
    return False


def share(asked: Collection[int], recorded: Collection[int]) -> float | None:
    """The share of the recorded items that were asked for, None where nothing is recorded."""
    return len(set(asked) & set(recorded)) / (len(recorded) + _TINY) if recorded else None


def imaging_share(asked: Sequence[Request], exams: Sequence[str], tables: Tables) -> float | None:
    """The share of the recorded studies that were asked for; each study counts, also one done twice.

    An exam that the table does not list is taken for the one before it; Absent where there is none before it.
    """
    if not exams:
        return None
    had, known = 0, None
    for exam in exams:
        known = tables.studies.get(exam, known)
        if known is None:
            raise Absent("unknown_exam", f"the exam {exam!r} is not in the table of exam names")
        had += any(same(request, known, tables) for request in asked)
    return had / len(exams)


def full_path(right: bool, shares: Sequence[float | None]) -> FullPath:
    """Accuracy times the mean of the shares (laboratory, microbiology, imaging) that are defined, 1 if none is."""
    defined = [value for value in shares if value is not None]
    whole = sum(defined) / len(defined) if defined else 1.0
    lab, microbiology, imaging = shares
    return FullPath(float(right), right * whole, lab, microbiology, imaging)
