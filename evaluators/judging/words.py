"""A verdict as one whole word in its place: the strict reading of a judge that answers in text."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from wardround.evaluators.judging.doubt import hedged, taken_back
from wardround.evaluators.judging.payload import LONGEST
from wardround.evaluators.judging.unread import Unread, Why, unread

T = TypeVar("T")

_AROUND = " \t\r\n*_`\"'[](){}<>.!:#-\u201c\u201d\u2018\u2019\u3002\uff01\uff1a\u3010\u3011"
_BEFORE = _AROUND.replace("!", "")
_LABEL = re.compile(
    r"^[^\w\n!]*(?:here(?:['\u2019]s| is)\s+)?(?:(?:final|my|the)\s+)*(?:verdict|judge?ment|classification|class|type"
    r"|category|answer|result|output|what i found)[ \t*_`\"']*(?::|=|\uff1a)(?P<said>.*\w.*)$",
    re.IGNORECASE | re.MULTILINE,
)
# 'The current thinking step is Reasoning.', 'Yes, it is correct.'
_IS = re.compile(
    r"^[^\w!]*(?:(?P<yes>yes|no)[,.]?\s+)?(?:(?:the|this|my|current|thinking|predicted|final)\s+){0,4}(?:step|prediction"
    r"|diagnosis|treatment|plan|statement|description|answer|verdict|judge?ment|classification|class|type|category|it)"
    r"\s+is\s*:?\s+(?P<said>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
# What may stand between a verdict and words about it: the end of a sentence, or what opens a clause of reasons.
_CLOSED = re.compile(r"[*_`\"')\]\u201d ]*[.!\u3002\uff01\n]")
_REASONED = re.compile(
    r"[*_`\"')\]\u201d]*(?:\s*[,;\uff0c]\s*|\s+[-\u2013\u2014]\s+|\s+)(?:because|since)\b"
    r"|[*_`\"')\]\u201d ]*(?:[,;\uff0c]|\s[-\u2013\u2014]\s)\s*"
    r"(?=(?:as\s+)?(?:it|its|this|that|the|these|those|they|both|all|each|every|step|passages?)\b)",
    re.IGNORECASE,
)

_REFUSALS = re.compile(
    r"\b(?:I(?:['\u2019]m| am) (?:sorry|unable|not able)|I (?:cannot|must decline)|I (?:ca|wo)n['\u2019]t|as an AI\b)",
    re.IGNORECASE,
)
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
_SPOKEN = re.compile(r"[^\W\d_]{2,}")
_FEW = 2
"""Words of which a sentence of reasons has more, or as many: behind a verdict one mark or word is another verdict."""


def word(text: str, vocabulary: Mapping[str, T], negative: T | None = None) -> T | Unread:
    """What the one word of `vocabulary` (lower case, also phrases) in `text` stands for.

    Its place is the whole reply, a line `Verdict: WORD`, a sentence `the step is WORD`, or the beginning of the reply.
    Behind it nothing may stand but reasons: sentences of their own, or a clause that opens as reasons do. In these
    there may be neither another verdict nor a doubt, nor a negation unless the verdict is the `negative` one. All else
    is typed: "Correct: false" is no verdict.
    """
    if not text.strip():
        return unread("empty", text)
    if len(text) > LONGEST:
        return unread("too_long", text)
    if (plain := _plain(text)) in vocabulary:
        return vocabulary[plain]
    if labels := [found for found in _LABEL.finditer(text) if mentioned(found["said"], vocabulary)]:
        return _labelled(text, labels, vocabulary, negative)
    if (sentence := _IS.match(text)) and mentioned(sentence["said"], vocabulary):
        meant = _opening(sentence["said"], vocabulary, negative)
        says_no = (sentence["yes"] or "").casefold() == "no"
        if not sentence["yes"] or isinstance(meant, Unread) or says_no is (meant == negative):
            return meant
        return unread("several", text)
    return _opening(text, vocabulary, negative)


def alone(text: str, vocabulary: Mapping[str, T]) -> T | Unread:
    """The same where nothing but the word may stand, or a label and the word: in a field of JSON."""
    label = _LABEL.fullmatch(text.strip())
    plain = _plain(label["said"] if label else text)
    return vocabulary[plain] if plain in vocabulary else unread(_why(text, vocabulary), text)


def contradicted(after: str, vocabulary: Mapping[str, T], meant: T, negative: T | None = None) -> Why | None:
    """Why the words `after` a verdict leave it open; None if they do not."""
    if mentioned(after, vocabulary) - {meant}:
        return "several"
    return taken_back(_any(vocabulary).sub(" ", after), negative=negative is not None and meant == negative)


def mentioned(text: str, vocabulary: Mapping[str, T]) -> set[T]:
    """The verdicts that `text` names anywhere as whole words."""
    return {vocabulary[" ".join(found.casefold().split())] for found in _any(vocabulary).findall(text)}


def _labelled(
    text: str, labels: Sequence[re.Match[str]], vocabulary: Mapping[str, T], negative: T | None
) -> T | Unread:
    """The verdict of labelled lines: all say the same, and behind the last there are at most reasons."""
    said = [_opening(label["said"], vocabulary, negative) for label in labels[:-1]]
    said.append(_opening(text[labels[-1].start("said") :], vocabulary, negative))
    if any(isinstance(one, Unread) for one in said):
        return unread(_why(text, vocabulary), text)
    return said[0] if all(one == said[0] for one in said) else unread("several", text)


def _opening(text: str, vocabulary: Mapping[str, T], negative: T | None) -> T | Unread:
    """The verdict at the beginning of a text that may go on with reasons."""
    start = len(text) - len(text.lstrip(_BEFORE))
    first = _any(vocabulary).match(text, start)
    if first is None:
        return unread(_why(text, vocabulary), text)
    meant = vocabulary[" ".join(first[0].casefold().split())]
    rest = text[first.end() :]
    if not rest.strip(_AROUND):
        return meant
    goes_on = _CLOSED.match(rest) or _REASONED.match(rest)
    if goes_on is None:
        why = _why(text, vocabulary)
        marked = why == "prose" and not rest.lstrip()[:1].isalpha()
        return unread("hedged" if marked else why, text)
    why_not = contradicted(rest, vocabulary, meant, negative)
    if why_not is None and len(_SPOKEN.findall(rest)) < _FEW:
        why_not = "hedged"
    return meant if why_not is None else unread(why_not, text)


def _why(text: str, vocabulary: Mapping[str, T]) -> Why:
    """Why there is no verdict in its place."""
    found = len(mentioned(text, vocabulary))
    if found > 1:
        return "several"
    if _REFUSALS.search(text):
        return "refusal"
    if found and hedged(_any(vocabulary).sub(" ", text)):
        return "hedged"
    return "prose" if _LATIN.search(text) else "other_language"


def _any(vocabulary: Mapping[str, T]) -> re.Pattern[str]:
    """Any word of the vocabulary as a whole word, the longest first."""
    return _any_of(tuple(vocabulary))


@lru_cache(maxsize=64)  # there are few vocabularies, and each is asked for at every reply
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    longest = sorted(words, key=lambda name: (-len(name), name))
    either = "|".join(r"\s+".join(map(re.escape, name.split())) for name in longest)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


def _plain(text: str) -> str:
    return " ".join(text.lstrip(_BEFORE).rstrip(_AROUND).split()).casefold()
