"""The work-up's parser: what a doctor's text asks for (paper 000, section A.3, read tolerantly)."""

import re
from typing import Literal

from wardround.scenarios.diagnosis import HEADING, MARKS, MOST, REACH, headed, named
from wardround.scenarios.listing import items
from wardround.scenarios.moves import Conclusion, Move, Order, Pick, Unusable
from wardround.scenarios.reading import answer_part

Asked = Literal["", "lab", "microbiology", "imaging", "output"]
Listed = Literal["lab", "microbiology", "imaging"]
LISTED: tuple[Listed, ...] = ("lab", "microbiology", "imaging")
Named = Literal["examination", "lab", "microbiology", "imaging", "output"]

_OPEN = r"^[ \t#>*_\-]*"
_RATIONALE = re.compile(rf"(?im){_OPEN}rationale[*_ ]*[:\uff1a]")
_ACTION = re.compile(r"[aA](?<!\w[aA])(?i:ctions?)[*_ ]{0,4}[:\uff1a]")  # so written it is searched four times as fast
_ACTION_LINE = re.compile(rf"(?im){_OPEN}action[*_ ]*$")
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
_BULLET = re.compile(r"[ \t]*(?:[-*•]|\(?\d{1,2}[.)])\s")
_ACTIONS_OF_A_TEMPLATE = 4


def read(text: str, asked: Asked = "") -> Move:
    """The move in `text`; `asked` is what the desk asked for last.

    A diagnosis that was asked for is taken wherever it stands. Else the part from the last line `Rationale:` on
    counts, and if that names nothing the whole text. In this order: a list of tests under its heading (where there
    are several: of the kind asked for, of the kind chosen by `Action:`, imaging, laboratory, microbiology); a line
    `Diagnosis:`, if `Action:` chose OUTPUT or is missing; the action named first after the last `Action:`. A list above
    an `Action:` of another kind is part of the reasoning. Without any heading, a line that is nothing but an action's
    name counts.
    """
    text = answer_part(text)
    if not text.strip():
        return Unusable("empty", "the reply is empty")
    if asked == "output":
        diagnosis = named(text)
        if diagnosis:
            return Conclusion(diagnosis)
    told = list(_RATIONALE.finditer(text))
    move = _move(text[told[-1].start() :], asked) if told else None
    return move or _move(text, asked) or Unusable("unreadable", "the reply names no action")


def _move(text: str, asked: Asked) -> Order | Conclusion | Pick | None:
    chosen, head = _chosen(text)
    order = _listed(text, asked, chosen, head)
    if order:
        return order
    if chosen == "output" or head < 0:
        diagnosis = headed(text)
        if diagnosis:
            return Conclusion(diagnosis)
    return Pick(chosen) if chosen else None


def _chosen(text: str) -> tuple[Named | None, int]:
    """The action chosen, and where its heading stands (-1: nowhere)."""
    heads = list(_ACTION.finditer(text)) or list(_ACTION_LINE.finditer(text))
    if heads:
        begin = heads[-1].end()
        lines = text[begin : begin + REACH].splitlines()
        value = next((line for line in lines if line.strip(MARKS)), "")
        found = list(_NAMED.finditer(value[:400]))
        if len({match.lastgroup for match in found}) >= _ACTIONS_OF_A_TEMPLATE:  # the format repeated, not filled in
            return None, heads[-1].start()
        return (_kind(found[0]) if found else None), heads[-1].start()
    for line in reversed(text.splitlines()):
        whole = _NAMED.fullmatch(line.strip(MARKS[:-1])) if len(line) < 80 else None
        if whole:
            return _kind(whole), -1
    return None, -1


def _kind(match: re.Match[str]) -> Named:
    return next(kind for kind, _ in _NAMES if kind == match.lastgroup)


def _listed(text: str, asked: Asked, chosen: Named | None, head: int) -> Order | None:
    """The list to be ordered, if the reply has one that names anything."""
    lists: dict[str | None, Order] = {}
    for match in list(_LIST.finditer(text))[-MOST:]:
        kind = next(kind for kind in LISTED if match[kind] is not None)
        if kind not in (asked, chosen) and (match["noun"] is None or match.start() < head):
            continue
        body = _body(text[match.end() : match.end() + REACH])
        names = items(body)
        if names:
            lists[kind] = Order(kind, names, body.strip())
    return next((lists[kind] for kind in (asked, chosen, "imaging", "lab", "microbiology") if kind in lists), None)


def lists(text: str, order: Order) -> list[tuple[int, int]]:
    """Where `order`, which was read from `text`, is written there: from its heading to the end of its list."""
    found = []
    for match in list(_LIST.finditer(text))[-MOST:]:
        body = text[match.end() : match.end() + REACH]
        written = _body(body).strip()
        begin = body.find(written)
        if match[order.kind] is not None and written == order.text and begin >= 0:
            found.append((match.start(), match.end() + begin + len(written)))
    return found[-1:]


def _body(text: str) -> str:
    """What stands under a heading: its own line, and the lines of the list that follow it.

    The list ends at the next heading; after content on the heading's own line, also at a line that is no bullet; else
    at the first empty line after an item.
    """
    first, *rest = text.split("\n")
    lines = [first]
    inline = bool(first.strip(MARKS))
    goes_on = first.rstrip().endswith((",", ";"))
    for line in rest:
        if HEADING.match(line) or line.lstrip().startswith("#"):
            break
        if not line.strip():
            if not inline and any(kept.strip(MARKS) for kept in lines):
                break
            continue
        if inline and not goes_on and not _BULLET.match(line):
            break
        lines.append(line)
        goes_on = line.rstrip().endswith((",", ";"))
    return "\n".join(lines)
