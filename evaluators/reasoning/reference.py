"""The steps of a case's reference reasoning, read from the judge that split it."""

import re

from wardround.evaluators.judging.payload import LONGEST, Payload, field, payload
from wardround.evaluators.judging.unread import Unread, unread

MOST = 10
"""Steps that prompt 14 allows."""

_STEP = re.compile(
    r"(?im)^[ \t>*_#-]*(?:<step\s{0,9}\d{1,4}\s{0,9}>|step[ \t]+\d{1,4}[*_]{0,3}[:.)]|\d{1,4}[.)][ \t])[*_:]*"
)
_CLOSED = re.compile(r"(?i)</step\s{0,9}\d{0,4}>")


def read_reference(text: str, most: int | None = MOST) -> tuple[str, ...] | Unread:
    """1 to 10 steps, the last being the final answer (prompt 14); as JSON {"steps": ["...", ...]}.

    In text a step is opened by `<Step n>`, `Step n:` or a number at the beginning of a line; what stands before the
    first is no step. More than `most` are `too_many_steps`: which of them would count is not ours to choose. The
    published code takes any number (None).
    """
    if not text.strip():
        return unread("empty", text)
    if len(text) > LONGEST:
        return unread("too_long", text)
    marks = list(_STEP.finditer(text))
    held = None if marks else payload(text)
    if isinstance(held, Unread):
        return held
    if isinstance(held, Payload):
        listed = held.value if isinstance(held.value, list) else field(held.value, ("steps", "reasoning_steps"))
        if not isinstance(listed, list) or not all(isinstance(step, str) for step in listed):
            return unread("no_field", text)
        found = [_CLOSED.sub("", _STEP.sub("", str(step))) for step in listed]
    else:
        ends = [mark.start() for mark in marks[1:]] + ([len(text)] if marks else [])
        found = [_CLOSED.sub("", text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
    steps = tuple(" ".join(step.split()) for step in found if any(map(str.isalnum, step)))
    if not steps:
        return unread("no_steps", text)
    return unread("too_many_steps", text) if most is not None and len(steps) > most else steps


def published_reference(text: str) -> tuple[str, ...]:
    """Every line that is not empty, as the published code has it: a preamble is a step, and there may be any number."""
    return tuple(line.strip() for line in text.split("\n") if line.strip())
