"""Whether a step holds, by the sentence of the passages that is most like one of its own."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from wardround.evaluators.lexical.content import known, sentences, share
from wardround.evaluators.lexical.keywords import keywords

ALIKE, SHARED = 0.4, 4
"""Least share of a claim's words, and least number of them, that one sentence of a passage must hold to settle it."""
OPPOSED = 0.6
"""The least share for a contradiction: a "not" may be about another thing, so the sentences must be much alike."""
SHORT = 3
"""Words of the shortest claim that is checked; up to SHARED words a sentence must hold them all."""
RESTATED = 0.7
"""Share of a claim's words from which on it restates the case: there is nothing to look up."""
LONG = 500
"""Characters above which a sentence is a list: it holds many words and says little of each. A question says nothing."""

_DENIED = re.compile(r"\b(?:not(?! only\b)|never|neither|cannot)\b|n['\u2019]t\b", re.IGNORECASE)
"""Negations of what a sentence says."""
_REACH = re.compile(r"[,;:.()]|\b(?:and|but|or|while|whereas|which|who|although|because)\b", re.IGNORECASE)
"""Where the reach of a negation ends at the latest."""
_NEGATIVE = re.compile(
    r"\b(?:no|nor|without|none|fail(?:s|ed)? to|lack(?:s|ed|ing)?|absence|absent|un(?:likely|able)|insufficient"
    r"|negative|ineffective|rul(?:e|es|ed|ing)[ -]out|exclud\w+|exclusion|den(?:y|ies|ied)|false|myth|rather than"
    r"|instead of)\b",
    re.IGNORECASE,
)
"""Negations of one word in it, mostly."""
_UP = re.compile(r"\b(?:increas|rais|elevat|higher|high|hyper|improv|promot|worsen|more|greater|caus|rise)\w*", re.I)
_DOWN = re.compile(r"\b(?:decreas|reduc|lower|low|hypo|prevent|inhibit|protect|less|fewer|declin)\w*", re.I)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Match(NamedTuple):
    """A passage (1 is the first) and the sentence in it, word for word, that is like a claim; how, and how much."""

    passage: int
    quote: str
    agrees: bool
    likeness: float


def settled(case: str, passages: Sequence[str], text: str) -> Match | None:
    """The likest sentence that says the same as a claim of the text or its opposite; None if none is like enough.

    What restates the case is no claim. A contradiction is a "not" on one side alone, of what the other says. Where
    other negations, directions (more, less) or numbers differ nothing is settled: whether both can be true takes
    understanding.
    """
    best: Match | None = None
    told = known(case)
    claims = [claim for claim in sentences(text) if len(known(claim)) >= SHORT and share(known(claim), told) < RESTATED]
    for number, passage in enumerate(passages, 1):
        for sentence in sentences(passage):
            if len(sentence) <= LONG and not sentence.endswith("?"):
                best = max((best, *(_match(number, sentence, claim) for claim in claims)), key=_likeness)
    return best


def _match(number: int, sentence: str, claim: str) -> Match | None:
    wanted, had = known(claim), known(sentence)
    if len(wanted & had) < min(SHARED, len(wanted)):
        return None
    likeness = share(wanted, had)
    if likeness < ALIKE or not _comparable(claim, sentence):
        return None
    denied, negative = ({bool(pattern.search(said)) for said in (claim, sentence)} for pattern in (_DENIED, _NEGATIVE))
    if len(denied) == len(negative) == 1:
        return Match(number, sentence, True, likeness)
    if len(denied) == 2 and negative == {False} and likeness >= OPPOSED and _denies(claim, sentence):
        return Match(number, sentence, False, likeness)
    return None


def _denies(claim: str, sentence: str) -> bool:
    """Whether one of the two denies what the other says: "is not excreted and builds up" denies no building up."""
    for saying, other in ((claim, sentence), (sentence, claim)):
        for found in _DENIED.finditer(saying):
            if known(_REACH.split(saying[found.end() :], maxsplit=1)[0]) & known(other):
                return True
    return False


def _likeness(match: Match | None) -> float:
    return match.likeness if match else 0.0


def further(passages: Sequence[str], text: str) -> str:
    """What to look up next: words of the text that no passage has and the first keywords had not; "" if none."""
    first = known(keywords([text]))
    had = frozenset(word for passage in passages for word in known(passage))
    return keywords([text], without=first | had)


def _comparable(claim: str, sentence: str) -> bool:
    ours = bool(_UP.search(claim)) - bool(_DOWN.search(claim))
    theirs = bool(_UP.search(sentence)) - bool(_DOWN.search(sentence))
    numbers, others = set(_NUMBER.findall(claim)), set(_NUMBER.findall(sentence))
    return ours * theirs >= 0 and (not numbers or not others or bool(numbers & others))
