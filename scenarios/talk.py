"""The consultation's parser: whether a doctor's text asks, orders or diagnoses."""

import re

from wardround.scenarios.diagnosis import REACH, headed, named
from wardround.scenarios.listing import requests
from wardround.scenarios.moves import Conclusion, Order, Question, Unusable
from wardround.scenarios.nonanswers import postponed, template
from wardround.scenarios.reading import answer_part, clean

_READY = re.compile(r"\bDIAGNOSIS READY\b[*_ ]{0,4}(?P<colon>[:\uff1a]?)", re.IGNORECASE)
_LINE_OPENS = re.compile(r"(?:^|\n)[ \t#>*_\-]*$")
_NOT_YET = re.compile(
    r"\b(?:not|n['\u2019]t|never|cannot|no|until|unless|before|when|once|after|if|whether|almost|nearly|far from|say"
    r"|write|reply|respond|answer|type|format|form)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!?\n\u3002\uff01\uff1f]")
_ORDER = re.compile(r"(?im)^[ \t#>*_\-]*order[*_ ]{0,4}[:\uff1a]|\brequest test[*_ ]{0,4}[:\uff1a]")
_ASK = re.compile(r"(?im)^[ \t#>*_\-]*ask[*_ ]{0,4}[:\uff1a][*_ ]*")
_WHOLE_EXAMINATION = re.compile(r"(?i)(?:(?:full|complete|general) )?physical exam(?:ination)?")
_MOST = 50
_LONGEST = 2_000


def read(text: str, *, last: bool = False) -> Order | Question | Conclusion | Unusable:
    """The move in `text`.

    `DIAGNOSIS READY: ...` anywhere (unless its sentence says that it is not, or not yet), or a line `DIAGNOSIS: ...`,
    concludes; else a line `ORDER: ...`, or `REQUEST TEST:
    ...` anywhere, orders, whatever else is asked (several of them are one order); else what follows `ASK:`, or the
    whole text, is a question to the patient. In the `last` turn a diagnosis also counts inside a sentence.
    """
    text = answer_part(text)
    if not text.strip():
        return Unusable("empty", "the reply is empty")
    diagnosis = _diagnosis(text, last=last)
    if diagnosis:
        return Conclusion(diagnosis)
    order = _order(text)
    if order:
        return order
    asked = _ASK.search(text)
    question = (text[asked.end() :] if asked else text).strip()
    return Question(question) if question else Unusable("empty", "the question is empty")


def _diagnosis(text: str, *, last: bool) -> str:
    for ready in reversed(list(_READY.finditer(text))[-_MOST:]):
        if not _is_ready(text, ready):
            continue
        first, _, rest = text[ready.end() : ready.end() + REACH].lstrip(" \t*_").partition("\n")
        said = first if clean(first) else rest.strip().partition("\n")[0]
        if clean(said) and not template(said) and not postponed(said):
            return clean(said)
    return named(text) if last else headed(text)


def _is_ready(text: str, ready: re.Match[str]) -> bool:
    """Whether the words declare the diagnosis: with a colon, or opening a line, and not as what is to come."""
    before = text[max(0, ready.start() - 400) : ready.start()]
    sentence = _ENDS.split(before)[-1]
    if _NOT_YET.search(sentence):
        return False
    return bool(ready["colon"]) or _LINE_OPENS.search(before) is not None


def _order(text: str) -> Order | None:
    found: list[str] = []
    heads = list(_ORDER.finditer(text))[:_MOST]
    for index, head in enumerate(heads):
        end = heads[index + 1].start() if index + 1 < len(heads) else len(text)
        written = text[head.end() : min(end, head.end() + _LONGEST)].partition("\n")[0]
        found += requests(written.replace("_", " ").replace("[", " ").replace("]", " "))
    names = tuple(dict.fromkeys(found))
    if len(names) == 1 and _WHOLE_EXAMINATION.fullmatch(names[0]):
        return Order("examination", (), names[0])
    return Order("any", names) if names else None
