"""The steps of a case's reference reasoning, read from the judge that split it."""

import re
from collections.abc import Sequence

from wardround.evaluators.judging.payload import LONGEST, Payload, field, payload
from wardround.evaluators.judging.unread import Unread, Why, unread
from wardround.evaluators.reasoning.keywords import REFUSAL

MOST = 10
"""Steps that prompt 14 allows."""

_STEP = re.compile(
    r"(?im)^[ \t>*_#-]*(?:<step\s{0,9}\d{1,4}\s{0,9}>|step[ \t]+\d{1,4}[*_]{0,3}[:.)]|\d{1,4}[.)][ \t])[*_:]*"
)
_CLOSED = re.compile(r"(?i)</step\s{0,9}\d{0,4}>")
_OPENS = re.compile(r'[{\[]\s*["{\[\]}]')
_BLANK = re.compile(r"\n[ \t]*\n")
# what a judge says when its list is at an end
_BEHIND = re.compile(
    r"(?im)^[ \t]*(?:```|(?:i )?hope this|let me know|(?:please )?feel free|if you (?:have|need|want)|please note)"
)


def read_reference(text: str, most: int | None = MOST) -> tuple[str, ...] | Unread:
    """1 to 10 steps, the last being the final answer (prompt 14); as JSON {"steps": ["...", ...]}.

    In text a step is opened by `<Step n>`, `Step n:` or a number at the beginning of a line; what stands before the
    first is no step, nor is what follows the list. More than `most` are `too_many_steps`: which of them would count is
    not ours to choose. The published code takes any number (None).
    """
    if not text.strip() or len(text) > LONGEST:
        return unread("too_long" if text.strip() else "empty", text)
    found = _read(text)
    if isinstance(found, Unread):
        return found
    steps = tuple(" ".join(step.split()) for step in found if any(map(str.isalnum, step)))
    if not steps:
        return unread(_why(text), text)
    return unread("too_many_steps", text) if most is not None and len(steps) > most else steps


def _read(text: str) -> list[str] | Unread:
    """The steps as they stand there: of a JSON value, or of a list in text that no JSON value opened before."""
    marks, opening = list(_STEP.finditer(text)), _OPENS.search(text)
    listed = marks and not (opening and opening.start() < marks[0].start())
    held = None if listed else payload(text)
    if isinstance(held, Unread):
        return held
    if isinstance(held, Payload):
        steps = held.value if isinstance(held.value, list) else field(held.value, ("steps", "reasoning_steps"))
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
            return unread("no_field", text)
        return [_CLOSED.sub("", _STEP.sub("", str(step))) for step in steps]
    ends = [mark.start() for mark in marks[1:]] + ([len(text)] if marks else [])
    found = [_CLOSED.sub("", text[mark.end() : end]).strip() for mark, end in zip(marks, ends, strict=True)]
    return [*found[:-1], _ended(found[-1], found[:-1])] if found else []


def _ended(last: str, others: Sequence[str]) -> str:
    """The last step without what follows the list: it ends with its paragraph, as long as all others are of one."""
    behind = _BEHIND.search(last)
    last = last[: behind.start()] if behind else last
    return last if any(map(_BLANK.search, others)) else _BLANK.split(last, maxsplit=1)[0]


def _why(text: str) -> Why:
    """Why a reply has no steps."""
    if REFUSAL.search(text):
        return "refusal"
    return "no_steps" if re.search("[a-zA-Z]", text) or not any(map(str.isalpha, text)) else "other_language"


def published_reference(text: str) -> tuple[str, ...]:
    """Every line that is not empty, as the published code has it: a preamble is a step, and there may be any number."""
    return tuple(line.strip() for line in text.split("\n") if line.strip())
