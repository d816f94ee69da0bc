"""A verdict in a reply's JSON: one word in its field, and nothing beside it or behind it that says otherwise."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from wardround.engine.records import Json
from wardround.evaluators.judging.payload import Payload, field, single
from wardround.evaluators.judging.unread import Unread, Why, unread
from wardround.evaluators.judging.words import alone, contradicted, mentioned

T = TypeVar("T")

_CLAIMS = (
    *("judgment", "judgement", "verdict", "accuracy", "correct", "is_correct", "right", "found", "hit", "covered"),
    *("matched", "match", "answer", "result", "outcome", "conclusion"),
)
"""Fields in which a judge gives a verdict, whichever of them was asked for."""
_YES, _NO = frozenset(("yes", "true", "right", "correct")), frozenset(("no", "false", "wrong", "incorrect"))


def claimed(
    held: Payload, text: str, names: Sequence[str], vocabulary: Mapping[str, T], negative: T | None = None
) -> T | Unread:
    """What the first of `names` that the object has holds: a word of `vocabulary`, or a boolean where that has two.

    Another field that gives another verdict, or words behind the object that do or that doubt, leave it open. A list of
    one text is read as that text.
    """
    value = single(held.value)
    said = value if isinstance(value, str) else field(value, names)
    if said is None:
        return unread("no_field", text)
    if isinstance(said, bool) and negative is False:
        meant: T | Unread = next(one for one in vocabulary.values() if one is said)
    elif isinstance(said, str):
        meant = alone(said, vocabulary)
    else:
        return unread("not_in_vocabulary", text)
    if isinstance(meant, Unread):
        return unread("not_in_vocabulary" if meant.why == "prose" else meant.why, text)
    why = _denied(value, names, vocabulary, meant, negative) or contradicted(held.after, vocabulary, meant, negative)
    return unread(why, text) if why else meant


def _denied(value: Json, names: Sequence[str], vocabulary: Mapping[str, T], meant: T, negative: T | None) -> Why | None:
    """`several` if any field of the object gives another verdict."""
    for name, said in value.items() if isinstance(value, dict) else ():
        key = name.strip().casefold()
        if isinstance(said, bool) and key in vocabulary and key not in names:
            agrees = (vocabulary[key] == meant) is said or (not said and vocabulary[key] != meant)
        elif key in _CLAIMS or key in names:
            agrees = _agrees(said, vocabulary, meant, negative)
        else:
            continue
        if not agrees:
            return "several"
    return None


def _agrees(said: Json, vocabulary: Mapping[str, T], meant: T, negative: T | None) -> bool:
    """Whether a field says no other verdict than `meant`; what is none at all agrees."""
    plain = " ".join(said.split()).casefold().strip(" .!*") if isinstance(said, str) else said
    if negative is not None and (isinstance(plain, bool) or plain in _YES | _NO):
        positive = plain is True or plain in _YES
        return positive is (meant != negative)
    return not isinstance(said, str) or not mentioned(said, vocabulary) - {meant}
