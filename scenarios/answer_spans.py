"""Finds the protocol parts of a doctor's reply: the action, the request, the line with the answer."""

import re
from collections.abc import Iterator

from wardround.scenarios import workup
from wardround.scenarios.parsers import reply_text
from wardround.scenarios.parsers.moves import DoctorOrder, Pick

_OPEN = r"^[ \t#>*_\-]*"
_COLON = "[*_ ]{0,4}[:\uff1a]"
_NAMED = (
    r"(?:pe|labs?|image|imaging|micro|microbiology|output|physical[ \t]+exam(?:ination)?|laboratory(?:[ \t]+tests?)?)\b"
)
# Every scenario's formats: a doctor may have learnt the format of another scenario.
# A literal word precedes each pattern; searching for that first takes a tenth of the time.
_LINES = (
    ("action", re.compile(rf"(?im){_OPEN}actions?(?:{_COLON}(?:[*_ \t]*\n)?|[*_ ]*\n)[^\n]*")),
    ("action", re.compile(rf"(?i)(?<=[.!?;)])[ \t]+[*_]{{0,3}}action{_COLON}[*_ \t]*{_NAMED}[^\n]*")),
    ("diagnosis ready", re.compile(r"(?i)\bDIAGNOSIS READY\b[*_ ]{0,4}[:\uff1a]?(?:[*_ \t]*\n)?[^\n]*")),
    ("request ", re.compile(rf"(?i)\bREQUEST (?:TEST|IMAGES?){_COLON}[^\n]*|\bREQUEST (?:TEST|IMAGE)S?\b[^\n]*")),
    ("ask", re.compile(rf"(?m){_OPEN}ASK{_COLON}[^\n]*")),
    ("order", re.compile(rf"(?m){_OPEN}ORDER{_COLON}[^\n]*")),
)
_IN_CONSULTATION = re.compile(rf"(?im){_OPEN}(?:ask|order){_COLON}[^\n]*")
_TREATMENT = re.compile(rf"(?im){_OPEN}treatment(?:[ ]plan)?{_COLON}[^\n]*")
_RATIONALE = re.compile(rf"(?im){_OPEN}rationale(?:{_COLON}[*_ \t]*|[*_ ]*\n)")
_REASONS = re.compile(
    r"(?i)\b(?:because|since|based on|given (?:the|that|his|her|their|this|these)|in (?:light|view) of|considering|"
    r"as (?:evidenced|shown|suggested|indicated|supported|demonstrated)|supported by|evidenced by|"
    r"(?:shows?|showed|reveal(?:s|ed)|confirms|suggests?|suggesting|indicat(?:es?|ing)|supports?|supporting|explain(?:s|ed)?|"
    r"demonstrat(?:es?|ing)|rul(?:es?|ed|ing) out|make[s]? (?:this|it))|porque|dado que|debido a que|ya que|puesto que|"
    r"parce que|en raison|weil|aufgrund|poich\u00e9|perch\u00e9)\b"
    r"|\u56e0\u4e3a|\u6839\u636e|\u57fa\u4e8e|\u652f\u6301|\u63d0\u793a|\u7406\u7531|\u4f9d\u636e"
)


def gives_reasons(text: str) -> bool:
    """Whether a line gives a reason: 'appendicitis, because the pain moved'."""
    return _REASONS.search(text) is not None


def unscripted(text: str, scenario: str = "", *, asking: bool = False) -> str:
    """A reply without the lines of its scenario's protocol, as the parser reads them; lines that give reasons stay.

    For every scenario this removes the choice of an action, `REQUEST TEST`, `DIAGNOSIS READY`, `ASK:`, `ORDER:` and the
    word `Rationale:`. In a work-up it also removes the ordered list if the reply is `asking` for something; in a
    work-up and a consultation, the line that is read as the diagnosis.
    """
    kept, at = [], 0
    for begin, end in sorted(_spans(text, scenario, asking=asking)):
        if not gives_reasons(text[begin:end]):
            kept.append(text[at:begin].strip(" "))
            at = end
    text = "\n".join([*kept, text[at:].lstrip(" ")]) if kept else text
    return _RATIONALE.sub("", text)


def _spans(text: str, scenario: str, *, asking: bool) -> Iterator[tuple[int, int]]:
    plain = text.lower()
    spans = [match.span() for word, line in _LINES if word in plain for match in line.finditer(text)]
    if scenario in ("consultation", "sequential"):
        spans += [match.span() for match in _IN_CONSULTATION.finditer(text)]
    if scenario in ("workup", "consultation", "sequential") and not asking and (answer := reply_text.place(text)):
        spans += [answer, *(match.span() for match in _TREATMENT.finditer(text, answer[1]))]
    if scenario == "workup" and asking:
        spans += _listed(text)
    at = len(text) + 1
    for begin, end in sorted(spans, key=lambda span: (span[1], -span[0]), reverse=True):
        if end <= at:  # of two overlapping spans, the one that ends last
            yield begin, end
            at = begin


def _listed(text: str) -> list[tuple[int, int]]:
    """The span of the list that a work-up's reply orders, under its heading; each kind asked for before is tried."""
    kinds: tuple[workup.Asked, ...] = ("", *workup.LISTED)
    for asked in kinds:
        move = workup.read_workup(text, asked)
        if isinstance(move, Pick):  # a list next to a choice of another kind belongs to the reasoning
            return []
        if isinstance(move, DoctorOrder) and move.items:
            return workup.lists(text, move)
    return []
