"""A model that says whether an answer means the same as the truth, and the strict reading of its verdict."""

import re

from wardround.engine.records import Message
from wardround.engine.seat import Seat
from wardround.evaluators.standing import Goal
from wardround.scenarios.case import Truth

LONGEST = 8000
"""Characters of an answer that the judge is shown; of a longer one the beginning and the end."""

_RIGHT = frozenset({"correct"})
_WRONG = frozenset({"incorrect", "wrong"})
_LINE = re.compile(r"^[^\w\n]*(?:final\s+)?verdict[^\w\n]+(\w+)[^\w\n]*$", re.IGNORECASE | re.MULTILINE)
_FIRST = re.compile(r"^[^\w]*(\w+)[ \t*_`\"')\]]*(?:[.!:\n]|$)")
_DOUBT = re.compile(r"\b(?:incorrect|wrong|not|partially|partly|however|but)\b", re.IGNORECASE)


async def judge(seat: Seat, goal: Goal, given: str, truth: Truth) -> bool | None:
    """Ask the seat's model, once more if its reply cannot be read; None if it cannot be read then either.

    Raises ProviderError and LimitReached as the model does.
    """
    assert seat.model is not None
    question = seat.prompts[f"judge/{goal}"].render(answer=shortened(given), truth=_reference(truth, goal))
    messages = [Message("user", question)]
    reply = await seat.model.complete(messages, purpose="judge")
    verdict = read(reply.text)
    if verdict is not None:
        return verdict
    messages += [Message("assistant", reply.text), Message("user", seat.prompts["judge/repair"].text)]
    repaired = await seat.model.complete(messages, purpose="judge repair")
    return read(repaired.text)


def read(text: str) -> bool | None:
    """The verdict in a judge's reply; None unless it is one whole word in its place.

    Its place is a line `Verdict: correct`, or else the reply's first sentence, alone in it. Two verdict lines that
    differ are none, and so is "Correct" with a doubt after it: "Incorrect", "not correct" and "partially correct"
    are never read as correct.
    """
    lines = {_word(word) for word in _LINE.findall(text)}
    if lines:
        return lines.pop() if len(lines) == 1 else None
    first = _FIRST.match(text)
    if first is None:
        return None
    verdict = _word(first[1])
    return None if verdict and _DOUBT.search(text, first.end(1)) else verdict


def shortened(text: str) -> str:
    """`text`, or the beginning and the end of one that is longer than a judge should read."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n[{len(text) - LONGEST} characters left out]\n{text[-half:]}"


def _reference(truth: Truth, goal: Goal) -> str:
    if goal == "treatment":
        return truth.treatment
    return truth.diagnosis + (f" (also called: {'; '.join(truth.synonyms)})" if truth.synonyms else "")


def _word(word: str) -> bool | None:
    lowered = word.lower()
    return True if lowered in _RIGHT else False if lowered in _WRONG else None
