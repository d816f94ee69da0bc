"""The parser of the staged games: what a doctor's sections ask for or conclude (paper 002, prompts 8 to 13)."""

import re

from wardround.scenarios.listing import requests
from wardround.scenarios.moves import Conclusion, Order, Unusable
from wardround.scenarios.reading import answer, answer_part, sections

_SENTENCE = re.compile(r"[.!\n]")
_NOTHING = re.compile(
    r"(?:no(?:ne)?|nothing|n/a|not (?:required|needed|necessary|applicable)"
    r"|no (?:further|additional|more|other) (?:information|tests?|testing|investigations?)"
    r"|none (?:required|needed|necessary))(?: (?:is|are) (?:required|needed|necessary))?(?: required| needed)?"
)


def read(text: str, *, last: bool, goal: str = "diagnosis") -> Order | Conclusion | Unusable:
    """The move in `text`: a request, or the answer.

    What stands under `Additional Information Required` is a request unless it says no more than that nothing is
    required. Then, and in the last turn in any case, the answer to `goal` counts (see `reading.answer`).
    """
    text = answer_part(text)
    if not text.strip():
        return Unusable("empty", "the reply is empty")
    parts = sections(text)
    wanted = next((part.text for part in reversed(parts) if part.name == "information"), "")
    if wanted and not last and not nothing(wanted):
        return Order("any", requests(wanted), wanted)
    concluded = answer(text, parts, goal)
    if concluded:
        return Conclusion(concluded)
    if any(part.name in ("answer", "conclusion") or (part.name == "information" and not last) for part in parts):
        return Unusable("empty", "the reply asks for nothing and concludes nothing")
    return Unusable("unreadable", "the reply has none of the sections that were asked for")


def nothing(wanted: str) -> bool:
    """Whether a section asks for nothing: its first sentence says so and no more ('Not required.')."""
    first = _SENTENCE.split(wanted.strip(" \t\r\n*_-.\"'["), maxsplit=1)[0]
    said = first.strip(" \t\r*_\"'[]()").lower()
    return not said or _NOTHING.fullmatch(said) is not None
