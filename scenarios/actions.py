"""The work-up's parser: what a doctor's text asks for (paper 000, section A.3, read tolerantly)."""

import re
from typing import Literal

from wardround.scenarios.listing import items
from wardround.scenarios.moves import Conclusion, Move, Order, Pick, Unusable
from wardround.scenarios.reading import answer_part, clean

Asked = Literal["", "lab", "microbiology", "imaging", "output"]
Listed = Literal["lab", "microbiology", "imaging"]
LISTED: tuple[Listed, ...] = ("lab", "microbiology", "imaging")
Named = Literal["examination", "lab", "microbiology", "imaging", "output"]

_OPEN = r"^[ \t#>*_\-]*"
_RATIONALE = re.compile(rf"(?im){_OPEN}rationale[*_ ]*[:\uff1a]")
_ACTION = re.compile(rf"(?im)\bactions?[*_ ]{{0,4}}[:\uff1a]|{_OPEN}action[*_ ]*$")
_NAMES: tuple[tuple[Named, str], ...] = (
    ("examination", r"pe|physical(?:[ \t]+exam(?:ination)?s?)?|exam(?:ination|ine)?"),
    ("lab", r"labs?|laborator(?:y|ies)|blood[ \t]+(?:tests?|work)"),
    ("microbiology", r"micro|microbiolog(?:y|ical)|cultures?"),
    ("imaging", r"images?|imaging|radiology|scans?"),
    ("output", r"output|final[ \t]+diagnosis|diagnos(?:is|e)"),
)
_NAMED = re.compile("|".join(rf"(?P<{kind}>\b(?:{words})\b)" for kind, words in _NAMES), re.IGNORECASE)
_LIST = re.compile(
    rf"(?im){_OPEN}(?:\d[.)] ?)?(?:specific +)?"
    r"(?:(?P<lab>labs?|laborator(?:y|ies))|(?P<microbiology>micro(?:biolog(?:y|ical))?)|(?P<imaging>imag(?:ing|es?)))"
    r"(?P<noun> +(?:tests?|scans?|studies|study))?(?: +(?:requested|required|needed|ordered))?[*_ ]*[:\uff1a]"
)
_DIAGNOSIS = re.compile(
    rf"(?im){_OPEN}(?:\d[.)] ?)?(?:(?:the|my|most|likely|final|primary|principal|main|definitive|leading) +){{0,4}}"
    r"diagnos[ie]s[*_ ]*(?:[:\uff1a]|$)"
)
_DIAGNOSIS_INLINE = re.compile(r"(?i)\bdiagnosis[*_ ]{0,4}[:\uff1a]")
_DIAGNOSIS_SAID = re.compile(r"(?i)\bdiagnosis +(?:is|would be)\b[: ]*")
_NO_ANSWER = re.compile(r"(?i)\b(?:differential|secondary|other|additional|alternative)[\s*_]*$")
_HEADING = re.compile(
    r"(?i)[ \t#>*_\-]*(?:rationale|action|reasoning|explanation|note|treatment(?: +plan)?|(?:\w+ +)?diagnos[ie]s|"
    r"(?:lab|laboratory|microbiology) +tests?|imaging +(?:scans?|studies))[*_ ]*[:\uff1a]"
)
_BULLET = re.compile(r"[ \t]*(?:[-*•]|\(?\d{1,2}[.)])\s")
_TREATMENT = re.compile(r"(?i)\btreatment(?: +plan)?[*_ ]*[:\uff1a]")
_MARKS = " \t\r*_`#[](){}<>\"'.!:"  # the colon last: a bare line with one is a heading
_ACTIONS_OF_A_TEMPLATE = 4
_REACH = 8_000
_MOST = 50
"""Characters after a heading, and headings of a kind, that are looked at: a reply of 1 MB must not cost minutes."""


def read(text: str, asked: Asked = "") -> Move:
    """The move in `text`, of which the part from its last line `Rationale:` on counts.

    `asked` is what the desk asked for last. In this order: the diagnosis, if it was asked for; a list of tests under
    its heading (where there are several: of the kind asked for, of the kind chosen by `Action:`, imaging, laboratory,
    microbiology); a line `Diagnosis:`, if `Action:` chose OUTPUT or is missing; the action named first after the last
    `Action:`. A list above an `Action:` of another kind is part of the reasoning. Without any heading, a line that is
    nothing but an action's name counts.
    """
    text = answer_part(text)
    if not text.strip():
        return Unusable("empty", "the reply is empty")
    told = list(_RATIONALE.finditer(text))
    if told:
        text = text[told[-1].start() :]
    if asked == "output":
        diagnosis = _diagnosis(text, _DIAGNOSIS, _DIAGNOSIS_INLINE, _DIAGNOSIS_SAID)
        if diagnosis:
            return Conclusion(diagnosis)
    chosen, head = _chosen(text)
    order = _listed(text, asked, chosen, head)
    if order:
        return order
    if chosen == "output" or head < 0:
        diagnosis = _diagnosis(text, _DIAGNOSIS)
        if diagnosis:
            return Conclusion(diagnosis)
    return Pick(chosen) if chosen else Unusable("unreadable", "the reply names no action")


def _chosen(text: str) -> tuple[Named | None, int]:
    """The action chosen, and where its heading stands (-1: nowhere)."""
    heads = list(_ACTION.finditer(text))
    if heads:
        begin = heads[-1].end()
        lines = text[begin : begin + _REACH].splitlines()
        value = next((line for line in lines if line.strip(_MARKS)), "")
        found = list(_NAMED.finditer(value[:400]))
        if (
            len({match.lastgroup for match in found}) >= _ACTIONS_OF_A_TEMPLATE
        ):  # repeated the format, filled in nothing
            return None, heads[-1].start()
        return (_kind(found[0]) if found else None), heads[-1].start()
    for line in reversed(text.splitlines()):
        whole = _NAMED.fullmatch(line.strip(_MARKS[:-1])) if len(line) < 80 else None
        if whole:
            return _kind(whole), -1
    return None, -1


def _kind(match: re.Match[str]) -> Named:
    return next(kind for kind, _ in _NAMES if kind == match.lastgroup)


def _listed(text: str, asked: Asked, chosen: Named | None, head: int) -> Order | None:
    """The list to be ordered, if the reply has one that names anything."""
    lists: dict[str | None, Order] = {}
    for match in list(_LIST.finditer(text))[-_MOST:]:
        kind = next(kind for kind in LISTED if match[kind] is not None)
        if kind not in (asked, chosen) and (match["noun"] is None or match.start() < head):
            continue
        body = _body(text[match.end() : match.end() + _REACH])
        names = items(body)
        if names:
            lists[kind] = Order(kind, names, body.strip())
    return next((lists[kind] for kind in (asked, chosen, "imaging", "lab", "microbiology") if kind in lists), None)


def _body(text: str) -> str:
    """What stands under a heading: its own line, and the lines of the list that follow it.

    The list ends at the next heading; after content on the heading's own line, also at a line that is no bullet; else
    at the first empty line after an item.
    """
    first, *rest = text.split("\n")
    lines = [first]
    inline = bool(first.strip(_MARKS))
    goes_on = first.rstrip().endswith((",", ";"))
    for line in rest:
        if _HEADING.match(line) or line.lstrip().startswith("#"):
            break
        if not line.strip():
            if not inline and any(kept.strip(_MARKS) for kept in lines):
                break
            continue
        if inline and not goes_on and not _BULLET.match(line):
            break
        lines.append(line)
        goes_on = line.rstrip().endswith((",", ";"))
    return "\n".join(lines)


def _diagnosis(text: str, *headings: re.Pattern[str]) -> str:
    """What the last heading names, by the first of the patterns that finds one; else the empty text."""
    for heading in headings:
        for match in list(heading.finditer(text))[: -_MOST - 1 : -1]:
            if _NO_ANSWER.search(text[max(0, match.start() - 24) : match.start()]):
                continue
            line, *rest = text[match.end() : match.end() + _REACH].split("\n")
            if not line.strip(_MARKS):
                line = _paragraph(rest)
            value = clean(_TREATMENT.split(line, maxsplit=1)[0])
            if value and not value.lower().startswith("(the "):  # the format repeated, not filled in
                return value
    return ""


def _paragraph(lines: list[str]) -> str:
    """The first paragraph of `lines`, in one line."""
    kept: list[str] = []
    for line in lines:
        if _HEADING.match(line) or (kept and not line.strip()):
            break
        if line.strip():
            kept.append(line.strip())
    return " ".join(kept)
