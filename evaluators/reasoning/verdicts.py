"""What a judge is asked, and the strict reading of what it says: structured JSON first, else one whole word."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from wardround.evaluators.judging.claimed import claimed
from wardround.evaluators.judging.payload import Payload, field, payload, single
from wardround.evaluators.judging.unread import Unread, unread
from wardround.evaluators.judging.words import mentioned, word
from wardround.evaluators.reasoning.judged import StepClass, Verdict

T = TypeVar("T")

SEARCH = "search"
_ROLES: Mapping[str, StepClass] = {str(kind): kind for kind in StepClass}
_CLASSES: Mapping[str, StepClass] = {word: kind for word, kind in _ROLES.items() if kind != StepClass.UNSEEN}
_CLASS = ("classification", "class", "type", "category", "efficiency")
_OPINIONS: Mapping[str, Verdict] = {
    "correct": Verdict.CORRECT,
    "wrong": Verdict.WRONG,
    "incorrect": Verdict.WRONG,
    "unsure": Verdict.UNVERIFIABLE,
    "unverifiable": Verdict.UNVERIFIABLE,
}
_JUDGMENTS: Mapping[str, Verdict | str] = {
    "correct": Verdict.CORRECT,
    "wrong": Verdict.WRONG,
    "incorrect": Verdict.WRONG,
    "unverifiable": Verdict.UNVERIFIABLE,
    "search": SEARCH,
}
_OUTCOMES: Mapping[str, bool] = {"correct": True, "wrong": False, "incorrect": False}
# The published prompts of the assessment are asked and answered in Chinese too.
_FOUND: Mapping[str, bool] = {
    "yes": True,
    "no": False,
    "not covered": False,
    "not found": False,
    "not included": False,
    "not present": False,
    "\u662f": True,
    "\u5426": False,
    "\u4e0d\u662f": False,
}
_KEYWORDS = re.compile(r"\bsearch\b[*_]{0,3}[ \t]*[:\uff1a](.+)", re.IGNORECASE)
_SEARCH = re.compile(r"\W*search\b[*_]{0,3}[ \t]*[:\uff1a]", re.IGNORECASE)  # 'Search: gout, red joint'

_VERDICT = ("judgment", "judgement", "verdict")


class Judgment(msgspec.Struct, frozen=True):
    """A verdict on a step, or None where the judge wants the `keywords` searched first."""

    verdict: Verdict | None
    keywords: str = ""


def read_class(text: str) -> StepClass | Unread:
    """The class of a step (prompt 15); as JSON {"classification": "Reasoning"}."""
    return _read(text, _CLASSES, _CLASS)


def read_role(step: str, known: str) -> Callable[[str], StepClass | Unread]:
    """Reads the class of `step` in an encounter: one of prompt 15's, or `unseen` with the `finding` in its words.

    A finding that does not stand in the step is `not_in_vocabulary`, none at all `no_field`, and one that stands word
    for word in what was `known` is `contradicted`.
    """

    def read(text: str) -> StepClass | Unread:
        kind = _read(text, _ROLES, _CLASS)
        if kind != StepClass.UNSEEN:
            return kind
        held = payload(text)
        said = field(single(held.value), ("finding", "unseen")) if isinstance(held, Payload) else None
        if not isinstance(said, str) or not _plain(said):
            return unread("no_field", text)
        if _plain(said) not in _plain(step):
            return unread("not_in_vocabulary", text)
        return unread("contradicted", text) if _plain(said) in _plain(known) else kind

    return read


def _plain(text: str) -> str:
    """Words and numbers alone, in small letters."""
    return " ".join(re.findall(r"\w+(?:[.,]\d+)?", text.casefold()))


def read_opinion(text: str) -> Verdict | Unread:
    """What a judge holds of a step by its own knowledge; `unsure` is unverifiable."""
    return _read(text, _OPINIONS, _VERDICT, negative=Verdict.WRONG)


def read_found(text: str) -> bool | Unread:
    """Whether a step or an item was found (prompt 18): yes or no; as JSON {"found": true}."""
    return _read(text, _FOUND, ("found", "hit", "covered", "answer", *_VERDICT), negative=False)


def read_outcome(text: str) -> bool | Unread:
    """Whether a diagnosis or a treatment is right (prompts 19 and 20); as JSON {"verdict": "correct"}."""
    return _read(text, _OUTCOMES, (*_VERDICT, "accuracy", "correct", "answer"), negative=False)


def read_judgment(text: str) -> Judgment | Unread:
    """The verdict on a step (prompt 17): {"judgment": "Correct" or "Wrong" or "Search", "keywords_to_search": ...}.

    A verdict in text is read too.
    """
    held = payload(text)
    if isinstance(held, Unread):
        return held
    if held is None and _SEARCH.match(text) and mentioned(text, _JUDGMENTS) == {SEARCH}:
        meant: Verdict | str | Unread = SEARCH
    else:
        meant = _read(text, _JUDGMENTS, _VERDICT, negative=Verdict.WRONG)
    if isinstance(meant, Unread):
        return meant
    wanted = field(held.value, ("keywords_to_search", "keywords")) if held else None
    if wanted is None and meant == SEARCH and (said := _KEYWORDS.search(text)):
        wanted = said[1]
    words = ", ".join(map(str, wanted)) if isinstance(wanted, list) else str(wanted or "")
    return Judgment(meant if isinstance(meant, Verdict) else None, " ".join(words.split()))


def _read(text: str, vocabulary: Mapping[str, T], names: Sequence[str], negative: T | None = None) -> T | Unread:
    held = payload(text)
    if isinstance(held, Unread):
        return held
    return word(text, vocabulary, negative) if held is None else claimed(held, text, names, vocabulary, negative)
