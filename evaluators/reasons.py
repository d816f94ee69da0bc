"""What every reason, cause and ending means, in words for people: a short phrase and a sentence.

The code itself (`no_thinking`, `provider/timeout`) stays in JSON and in the store. To add a reason add its line to one
of the tables below; a test names those that the code gives and that have no words.
"""

from collections.abc import Mapping
from typing import NamedTuple

from wardround.evaluators.reason_words import CAUSES, EXACT, WORDS


class Words(NamedTuple):
    """A reason in words: a `phrase` for a cell, without a full stop, and a whole `sentence`."""

    phrase: str
    sentence: str


def words_of(reason: str) -> Words:
    """The words of a reason, of a cause, of both as `CAUSE/REASON`, or of several with commas between them.

    One that has no words, such as a plug-in's own, is shown as it is, its underscores as spaces.
    """
    if exact := EXACT.get(reason):
        return Words(*exact)
    if ", " in reason:
        several = [words_of(one) for one in reason.split(", ")]
        return Words(", ".join(one.phrase for one in several), " ".join(one.sentence for one in several))
    cause, slash, rest = reason.partition("/")
    if not slash:
        return Words(*WORDS[reason]) if reason in WORDS else _unknown(reason)
    who = CAUSES.get(cause, plain(cause))
    inner = words_of(rest)
    return Words(f"{who}: {inner.phrase}", f"{who[:1].upper()}{who[1:]}: {inner.sentence}")


def phrase(reason: str) -> str:
    """A reason in a few words; the empty text for none."""
    return words_of(reason).phrase if reason else ""


def sentence(reason: str) -> str:
    """A reason as a sentence; the empty text for none."""
    return words_of(reason).sentence if reason else ""


def ended_by(cause: str | None, reason: str = "") -> str:
    """How an episode ended, for instance `completed` or `the endpoint gave no reply in time`."""
    if cause is None:
        return phrase("open")
    return phrase(f"{cause}/{reason}" if reason else cause)


def listed(reasons: Mapping[str, int]) -> str:
    """Counted reasons, the commonest first: `no thinking part (7); nothing could be verified (1)`."""
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return "; ".join(f"{phrase(reason)}\u00a0({count:,})" for reason, count in ordered)


def known(reason: str) -> bool:
    """Whether the house has words for this reason."""
    if reason in EXACT or reason in WORDS:
        return True
    cause, slash, rest = reason.partition("/")
    return bool(slash) and cause in CAUSES and known(rest)


def plain(code: str) -> str:
    """A code as it is, but for its underscores."""
    return " ".join(code.replace("_", " ").split())


def _unknown(reason: str) -> Words:
    said = plain(reason)
    return Words(said, f"{said[:1].upper()}{said[1:]}.")
