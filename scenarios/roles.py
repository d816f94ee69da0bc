"""Reading role breaks: a speaker who plays another seat, recites its instructions, or speaks of itself as a model."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal

from wardround.engine.text import later
from wardround.scenarios.nonanswers import template
from wardround.scenarios.refusals import self_as_model

Kind = Literal["plays_other", "recites", "self_as_model", "template"]
KINDS: tuple[Kind, ...] = ("plays_other", "recites", "self_as_model", "template")

RUN = 10
"""Words in a row (Chinese characters count as words) that a speaker shares with its instructions and nothing else."""
LONGEST = 200_000
"""Characters of a text that are looked at."""

_LABELS = {
    "doctor": r"doctor|dr|physician|clinician|arzt|ärztin|médecin|docteur|médico|doctora?|医生|医师",
    "patient": r"patient|patientin|patiente|paciente|患者|病人",
    "examiner": r"examiner|measurement|nurse|lab(?:oratory)? technician|untersucher|examinateur|examinador|检查员|护士",
}
_TURN = later(
    r"^[ \t>*_#\-]*(?:(?P<ask>ask|order|question)|"
    + "|".join(rf"(?P<{seat}>{words})" for seat, words in _LABELS.items())
    + r")(?:['\u2019]s)?(?: (?:answers?|repl(?:y|ies)|responds?|response|says))?[ \t]*[*_]{0,3}[ \t]*[:\uff1a][ \t*_]*"
    r"(?P<said>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_FIRST_PERSON = later(
    r"\b(?:i|i['\u2019](?:m|ve|d|ll)|my|me|ich|mein\w*|mir|je|j['\u2019]ai|mon|ma|mes|yo|mi|mis|tengo|me)\b|我",
    re.IGNORECASE,
)
_ASKS = later(r"[?\uff1f][*_ \t\"'\u201d]*$")
_WORDS = later(r"[㐀-鿿]|[^\W_]+")


def plays_other(text: str, seat: str, said: Iterable[str] = ()) -> bool:
    """Whether `seat` writes the words of another one: a dialogue with itself.

    Where a line with another's label follows one that asks ('Doctor:', 'ASK:', a question), where two such lines speak
    in the first person, or where a patient writes a doctor's line and an answer. A summary that opens with 'Patient:
    45-year-old man' is none. What others really `said` before may be quoted.
    """
    known = [_flat(other) for other in said]
    asked, spoken = False, 0
    for kind, words, above in _turns(text):
        if kind in ("ask", seat):
            asked = True
            continue
        flat = _flat(words)
        if not flat or any(flat in other for other in known):
            continue
        if asked or _ASKS.search(above):
            return True
        spoken += _FIRST_PERSON.search(words) is not None
    return spoken > 1


def _turns(text: str) -> Iterator[tuple[str, str, str]]:
    """(whose, what is said, the last line of text above) of each labelled line."""
    text = text[:LONGEST]
    for match in _TURN.finditer(text):
        kind = next(name for name in ("ask", *_LABELS) if match[name] is not None)
        yield kind, match["said"], text[max(0, match.start() - 400) : match.start()].rstrip().rpartition("\n")[2]


class Passages:
    """Texts by their passages of ten words, which are found when they are first asked for."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = tuple(texts)

    @cached_property
    def runs(self) -> frozenset[tuple[str, ...]]:
        """Every ten words in a row."""
        return frozenset(run for text in self._texts for run in _runs(text))


def recites(text: str, instructions: str, *known: Passages) -> bool:
    """Whether a text repeats ten words in a row of the instructions that it was sent, which nothing `known` holds.

    `known` is what the speaker may well repeat: its story, the record, what others said.
    """
    shared = _runs(text)
    if shared:
        shared &= _runs(instructions)
    for passages in known:
        if not shared:
            return False
        shared -= passages.runs
    return bool(shared)


def breaks(text: str, seat: str, instructions: str, case: Passages, said: Sequence[str] = ()) -> list[Kind]:
    """The kinds of role break in one action of a seat, in the order of KINDS.

    `instructions` is all that its model was sent, `case` what is told of the case, `said` what other seats said before.
    """
    found: dict[Kind, bool] = {
        "plays_other": plays_other(text, seat, said),
        "recites": recites(text, instructions, case, Passages(said)),
        "self_as_model": self_as_model(text),
        "template": template(text),
    }
    return [kind for kind in KINDS if found[kind]]


def _runs(text: str) -> set[tuple[str, ...]]:
    words = [word.casefold() for word in _WORDS.findall(text[:LONGEST])]
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def _flat(text: str) -> str:
    return " ".join(_WORDS.findall(text)).casefold()
