"""Separates the reasoning of a reply from the rest of it: the lines of the game's protocol, and the conclusion.

A doctor also writes commands of its game and a final answer, which are no reasoning. `without_protocol` removes the
first, `without_conclusions` and `without_last_conclusion` remove the second. Whatever gives reasons stays.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from wardround.scenarios.encounters import workup
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


def without_protocol(text: str, scenario: str = "", *, asking: bool = False) -> str:
    """Return a reply without the lines of its scenario's protocol, as the parser reads them; lines with reasons stay.

    For every scenario this removes the choice of an action, `REQUEST TEST`, `DIAGNOSIS READY`, `ASK:`, `ORDER:` and the
    word `Rationale:`. In a work-up it also removes the ordered list if the reply is `asking` for something; in a
    work-up and a consultation, the line that is read as the diagnosis.
    """
    kept, at = [], 0
    for begin, end in sorted(_protocol_spans(text, scenario, asking=asking)):
        if not gives_reasons(text[begin:end]):
            kept.append(text[at:begin].strip(" "))
            at = end
    text = "\n".join([*kept, text[at:].lstrip(" ")]) if kept else text
    return _RATIONALE.sub("", text)


def _protocol_spans(text: str, scenario: str, *, asking: bool) -> Iterator[tuple[int, int]]:
    """Yield (begin, end) of each part of a reply that is the scenario's protocol, the last first, none overlapping."""
    plain = text.lower()
    spans = [match.span() for word, line in _LINES if word in plain for match in line.finditer(text)]
    if scenario in ("consultation", "sequential"):
        spans += [match.span() for match in _IN_CONSULTATION.finditer(text)]
    if scenario in ("workup", "consultation", "sequential") and not asking and (answer := reply_text.place(text)):
        spans += [answer, *(match.span() for match in _TREATMENT.finditer(text, answer[1]))]
    if scenario == "workup" and asking:
        spans += _ordered_list_spans(text)
    at = len(text) + 1
    for begin, end in sorted(spans, key=lambda span: (span[1], -span[0]), reverse=True):
        if end <= at:  # of two overlapping spans, the one that ends last
            yield begin, end
            at = begin


def _ordered_list_spans(text: str) -> list[tuple[int, int]]:
    """The span of the list that a work-up's reply orders, under its heading; each kind asked for before is tried."""
    kinds: tuple[workup.Asked, ...] = ("", *workup.LISTED)
    for asked in kinds:
        move = workup.read_workup(text, asked)
        if isinstance(move, Pick):  # a list next to a choice of another kind belongs to the reasoning
            return []
        if isinstance(move, DoctorOrder) and move.items:
            return workup.list_span(text, move)
    return []


_QUALITY = (
    r"(?:(?:the|my|our|most|likely|probable|final|primary|principal|main|definitive|leading|overall|clinical|"
    r"recommended|proposed|suggested|best)[ ]){0,4}"
)
# the words for diagnosis, conclusion and answer in Chinese and Japanese; not those for a differential diagnosis
_CHINESE = (
    r"(?:\u6700\u7ec8|\u6700\u53ef\u80fd\u7684|\u4e3b\u8981|\u4e34\u5e8a|\u6700\u7d42)?(?:\u7684)?"
    r"(?:\u8bca\u65ad\u7ed3\u8bba|\u7ed3\u8bba|\u8bca\u65ad|\u7b54\u6848|"
    r"\u6cbb\u7597\u65b9\u6848|\u7d50\u8ad6|\u8a3a\u65ad|\u56de\u7b54)"
)
_LATIN = (
    r"conclusi[o\u00f3]n(?:es)?|(?:respuesta|impresi[o\u00f3]n|diagn[o\u00f3]stico)(?:[ ](?:final|definitivo|"
    r"diagn[o\u00f3]stica|m[a\u00e1]s[ ]probable))?|r[e\u00e9]ponse(?:[ ]finale)?|diagnostic(?:[ ](?:final|retenu))?|"
    r"schlussfolgerung|fazit|(?:endg\u00fcltige[ ]|wahrscheinlichste[ ])?(?:diagnose|antwort)|conclus\u00e3o|"
    r"resposta(?:[ ]final)?|conclusione|risposta(?:[ ]finale)?|diagnosi(?:[ ]finale)?"
)
_PLAN = r"(?:treatment|management)[ ](?:plan|recommendations?)|(?:recommended|final|proposed)[ ]treatment"
_BARE = rf"{_QUALITY}(?:diagnos[ie]s|impression|conclusions?|answer)|{_LATIN}|{_CHINESE}"
_NAMES = rf"{_BARE}|{_QUALITY}(?:{_PLAN})"
# words that may head a chapter of the reasoning, but conclude it in a last line
_LAST = rf"{_NAMES}|{_QUALITY}(?:treatment|therapy|plan)|tratamiento|traitement|behandlung|tratamento|trattamento"
_REASONING = re.compile(
    r"(?i)\s*(?:\#{1,6}[ \t]*)?[*_]{0,3}(?:razonamiento|racioc\u00ednio|raisonnement|begr\u00fcndung|ragionamento|"
    r"\u63a8\u7406(?:\u8fc7\u7a0b)?|\u5206\u6790|\u601d\u8def)[*_]{0,3}[ \t]*(?:[:\uff1a][*_]{0,3}|\n)"
)
_HEADED = re.compile(
    rf"(?im)^[ \t>]*(?:(?P<level>\#{{1,6}})[ \t]*[*_]{{0,3}}|[*_]{{2,3}})[ \t]*(?:{_NAMES})[ \t]*"
    r"(?:[*_]{0,3}[:\uff1a][ \t]*[*_]{0,3}|[*_]{0,3}[ \t]*$)"
)
_HEADING = re.compile(r"(?m)^[ \t]*(?:(?P<level>\#{1,6})[ \t]|\*\*[^*\n]{1,80}(?::\*\*|\*\*:?)[ \t]*$)")
_SIGN = re.compile(r"\S")
_BLANK = re.compile(r"\n[ \t]*\n")
_LINE = re.compile(
    rf"(?i)[ \t>*_#]*(?:(?:{_LAST})[*_ ]{{0,4}}(?:[:\uff1a]|[ ][-\u2013\u2014](?=[ ]))|(?:{_BARE})[*_ ]{{0,4}}$)"
    r"[*_ \t]*(?P<said>.*)"
)
_MARK = re.compile(r"\s*(?:[-+*\u2022]|\(?\d{1,3}[.)])[ \t]+")
_INLINE = re.compile(
    rf"(?i)(?<=[^\d\s][.!?;\u3002\uff1b])[ \t]*[*_]{{0,3}}(?:{_NAMES})[*_ ]{{0,4}}[:\uff1a]"
    r"[*_ \t]*[^\n:]{1,300}$"
)
_BOXED = re.compile(r"\$*\\boxed\{[^}\n]*\}\$*\.?")
_SO = r"(?:therefore|thus|hence|so|consequently|accordingly|overall|finally|ultimately|in summary|as a result)"
_IS = (
    r"(?:is|would be|will be|should be)\b[:, ]*(?!(?:not|un\w+|still|challenging|confirmed|supported|established|"
    r"made|based|consistent|difficult|clear|to)\b)"
)
_SAID = re.compile(
    rf"(?i)(?:(?:{_SO}|in conclusion|to conclude)[,:]?[ ]+)?(?:the|my|our)[ ]+{_QUALITY}(?:diagnosis|answer|conclusion|"
    rf"treatment(?:[ ]plan)?)[ ]+(?:(?:for|in|of)[ ](?:this|the)[ ](?:patient|case)[ ]+)?{_IS}\S.{{0,300}}"
    rf"|(?:in conclusion|to conclude),?[ ]+(?:it|this|the patient|she|he|we)\b.{{1,200}}"
    r"|(?:\u56e0\u6b64|\u6240\u4ee5|\u7efc\u4e0a(?:\u6240\u8ff0)?)?[,\uff0c]?(?:\u6700\u7ec8|\u6700\u53ef\u80fd\u7684)?"
    r"(?:\u8bca\u65ad|\u7b54\u6848)(?:\u5e94)?[\u662f\u4e3a].{1,80}"
)
_SENTENCE = re.compile(r"(?:(?<=[^\d\s][.!?])[ \t]+|(?<=[\u3002\uff01\uff1f]))(?=\S)")
_NO_LETTERS = re.compile(r"[\W_]+")
_REACH = 2_000
_LONGEST = 600
_LABEL = 100
"""Characters read: at the end of a text, in a last line, and in a label inside it."""


def without_conclusions(body: str, goes_on: Callable[[int], int | None]) -> str:
    """Return `body` without its headed conclusions and its concluding last lines, unless a step continues after them.

    `goes_on` returns where the steps continue after a place, or None. A heading on a line of its own is removed with
    everything up to the next heading of the same or a higher level. Text on the heading's line, a last line and a last
    sentence are removed alone; they stay if they give reasons.
    """
    opening = _REASONING.match(body)
    kept: list[str] = []
    at, reasoned = opening.end() if opening else 0, False
    for head in _HEADED.finditer(body, at):
        if head.start() < at or goes_on(head.start()) is not None:
            continue
        before = body[at : head.start()].strip()
        beside, end = _conclusion_end(body, head, reasoned=reasoned or any(map(str.isalnum, before)))
        if not (beside and gives_reasons(body[head.end() : end])):
            kept += [before] if before else []
            at, reasoned = end, reasoned or any(map(str.isalnum, before))
    return without_last_conclusion("\n\n".join([*kept, body[at:].lstrip("\n")]))


def _conclusion_end(body: str, head: re.Match[str], *, reasoned: bool) -> tuple[bool, int]:
    """Return whether the conclusion is on its heading's line, and where it ends.

    It ends with its paragraph if it is on that line or if no reasoning comes before it.
    """
    line = body.find("\n", head.end())
    beside = any(map(str.isalnum, body[head.end() : len(body) if line < 0 else line]))
    if beside or not reasoned:
        begin = _SIGN.search(body, head.end())
        blank = _BLANK.search(body, begin.start()) if begin else None
        return beside, blank.start() if blank else len(body)
    level = len(head["level"] or "######")
    others = (other for other in _HEADING.finditer(body, head.end()) if len(other["level"] or "######") <= level)
    return beside, next((other.start() for other in others), len(body))


def without_last_conclusion(text: str) -> str:
    """Return `text` without the lines and the sentence at its end that only state a conclusion."""
    end, shorter = len(text), _end_without_conclusion(text, len(text))
    while shorter is not None:
        end, shorter = shorter, _end_without_conclusion(text, shorter)
    return text[:end]


def _end_without_conclusion(text: str, end: int) -> int | None:
    """Return where `text[:end]` ends without its last line or sentence, or None if they say more than a conclusion."""
    near = max(0, end - _REACH)
    tail = text[near:end].rstrip()
    begin = max(tail.rfind("\n") + 1, len(tail) - _LONGEST)
    line = tail[begin:]
    whole = near + begin == 0 or text[near + begin - 1] == "\n"
    if whole and line and (_LINE.fullmatch(line) or _BOXED.fullmatch(line.strip())) and not gives_reasons(line):
        return near + begin
    place = _concluding_sentence(line, whole=whole)
    if place is not None:
        return near + begin + place
    under = _last_headed_paragraph(tail)
    return None if under is None else near + under


def _concluding_sentence(line: str, *, whole: bool) -> int | None:
    """Return where a line's last sentence begins, if it only concludes; unless `whole`, it may not fill the line."""
    label = max(line.rfind(":"), line.rfind("\uff1a"), _LABEL) - _LABEL
    inline = _INLINE.search(line, label)
    if inline and not gives_reasons(inline[0]):
        return inline.start()
    *_, last = [0, *(place.end() for place in _SENTENCE.finditer(line))]
    said = _SAID.fullmatch(line[last:].strip(" \t*_#>"))
    return last if said and (last or whole) and not gives_reasons(line[last:]) else None


def _last_headed_paragraph(tail: str) -> int | None:
    """Return where a last paragraph or list begins that has a line such as 'Diagnosis:' above it."""
    for begin in [0, *[match.end() for match in _BLANK.finditer(tail)]][-2:]:
        at = begin
        for line in tail[begin:].splitlines(keepends=True):
            head = _LINE.fullmatch(line.strip())
            under = tail[at + len(line) :]
            if head and not head["said"].strip() and not _BLANK.search(under.strip()) and not gives_reasons(under):
                return at
            at += len(line)
    return None


def without_answer_steps(split: Sequence[str], answer: str = "") -> list[str]:
    """Return `split` without first and last steps that are only the answer, and without the last step's conclusion."""
    first = _LINE.fullmatch(split[0]) if len(split) > 1 else None
    kept = list(split[1:] if first and first["said"] and not gives_reasons(split[0]) else split)
    while kept:
        mark = _MARK.match(kept[-1])
        said = kept[-1][mark.end() :] if mark else kept[-1]
        last = "" if is_only_answer(said, answer) else without_last_conclusion(said)
        if last == said:
            break
        kept.pop()
        if any(map(str.isalnum, last)):
            kept.append(last.rstrip())
            break
    return kept


def is_only_answer(text: str, answer: str) -> bool:
    """Whether a text is the answer and nothing else, apart from punctuation and markup."""
    return bool(answer) and _letters(text) == _letters(answer) != ""


def asks_only(text: str) -> bool:
    """Whether a text consists only of questions, which are meant for the patient."""
    if not text.rstrip(" \t\n*_\"'").endswith(("?", "\uff1f")):
        return False
    lines = [line for line in text.split("\n") if line.strip()]
    said = [one.strip(" \t*_\"'") for line in lines for one in _SENTENCE.split(line)]
    return bool(said) and all(one.endswith(("?", "\uff1f")) for one in said if one)


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text.casefold().removeprefix("\\boxed"))
