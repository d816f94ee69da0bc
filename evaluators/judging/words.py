"""A verdict as one whole word in its place: the strict reading of a judge that answers in text."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

from wardround.evaluators.judging.payload import LONGEST
from wardround.evaluators.judging.unread import Unread, Why, unread

T = TypeVar("T")

_AROUND = " \t\r\n*_`\"'[](){}<>.!:#-\u201c\u201d\u2018\u2019\u3002\uff01\uff1a\u3010\u3011"
_LABEL = re.compile(
    r"^[^\w\n]*(?:(?:final|my|the)\s+)*(?:verdict|judge?ment|classification|class|type|category|answer|result|output)"
    r"[ \t*_`\"']*(?::|=|\uff1a)(.*\w.*)$",
    re.IGNORECASE | re.MULTILINE,
)
# 'The current thinking step is Reasoning.': a sentence of this form leaves no room for a negation or a doubt
_IS = re.compile(
    r"^\W*(?:(?:the|this|my|current|thinking|predicted|final)\s+){0,4}(?:step|prediction|diagnosis|treatment|plan|"
    r"statement|description|answer|verdict|judge?ment|classification|class|type|category|it)\s+is\s*:?\s+(.+)$",
    re.IGNORECASE | re.DOTALL,
)
_AFTER = re.compile(r"[*_`\"')\]\u201d ]*(?:[.!,;:\u3002\uff0c\uff01\n]|\s[-\u2013\u2014]\s)")
_HEDGES = re.compile(
    r"\b(?:partial(?:ly)?|partly|mostly|largely|somewhat|however|but|although|though|except|unless|maybe|perhaps|"
    r"possibly|probably|unsure|uncertain|unclear|doubt(?:s|ful)?|instead|rather|actually|almost|nearly)\b|\?",
    re.IGNORECASE,
)
_NEGATIONS = re.compile(r"\b(?:not|no|never|neither|nor|nothing|without|cannot)\b|n['\u2019]t\b", re.IGNORECASE)
_REFUSALS = re.compile(
    r"\b(?:I(?:['\u2019]m| am) (?:sorry|unable|not able)|I (?:cannot|must decline)|I (?:ca|wo)n['\u2019]t|as an AI\b)",
    re.IGNORECASE,
)
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)


def word(text: str, vocabulary: Mapping[str, T], negative: T | None = None) -> T | Unread:
    """What the one word of `vocabulary` (lower case, also phrases) in `text` stands for.

    Its place is the whole reply, a line `Verdict: WORD`, a sentence `the step is WORD`, the end of the reply behind a
    colon if nothing before it is a verdict or a doubt, or the beginning of the reply, closed by a mark. Behind the
    beginning neither another verdict nor a doubt may follow, nor a negation unless the verdict is the `negative` one.
    """
    if not text.strip():
        return unread("empty", text)
    if len(text) > LONGEST:
        return unread("too_long", text)
    if (plain := _plain(text)) in vocabulary:
        return vocabulary[plain]
    named = [found for found in _LABEL.findall(text) if mentioned(found, vocabulary)]
    if labelled := [_plain(found) for found in named]:
        if any(found not in vocabulary for found in labelled):
            return unread(_why(text, vocabulary), text)
        meant = {vocabulary[found] for found in labelled}
        return meant.pop() if len(meant) == 1 else unread("several", text)
    sentence = _IS.match(text)
    if sentence and (plain := _plain(sentence[1])) in vocabulary:
        return vocabulary[plain]
    if (plain := _closing(text, vocabulary)) in vocabulary:
        return vocabulary[plain]
    return _opening(text, vocabulary, negative)


def mentioned(text: str, vocabulary: Mapping[str, T]) -> set[T]:
    """The verdicts that `text` names anywhere as whole words."""
    return {vocabulary[" ".join(found.casefold().split())] for found in _any(vocabulary).findall(text)}


def _opening(text: str, vocabulary: Mapping[str, T], negative: T | None) -> T | Unread:
    """The verdict at the beginning of a reply that goes on."""
    any_word = _any(vocabulary)
    start = len(text) - len(text.lstrip(_AROUND))
    first = any_word.match(text, start)
    if first is None or not _AFTER.match(text, first.end()):
        return unread(_why(text, vocabulary), text)
    meant = vocabulary[" ".join(first[0].casefold().split())]
    rest = text[first.end() :]
    if mentioned(rest, vocabulary) - {meant}:
        return unread("several", text)
    rest = any_word.sub(" ", rest)
    if _HEDGES.search(rest) or (meant != negative and _NEGATIONS.search(rest)):
        return unread("hedged", text)
    return meant


def _closing(text: str, vocabulary: Mapping[str, T]) -> str:
    """What stands behind the last colon, if nothing before it is a verdict, a doubt or a negation."""
    before, colon, last = text.rpartition(":")
    if not colon or _HEDGES.search(before) or _NEGATIONS.search(before) or mentioned(before, vocabulary):
        return ""
    return _plain(last)


def _why(text: str, vocabulary: Mapping[str, T]) -> Why:
    """Why there is no verdict in its place."""
    found = len(mentioned(text, vocabulary))
    if found > 1:
        return "several"
    if _REFUSALS.search(text):
        return "refusal"
    if found and (_HEDGES.search(text) or _NEGATIONS.search(_any(vocabulary).sub(" ", text))):
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
    return " ".join(text.strip(_AROUND).split()).casefold()
