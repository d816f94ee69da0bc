"""The strict reading of what a judge wants looked up: a few short terms, no sentence and no refusal."""

import re

from wardround.evaluators.judging.payload import LONGEST, field, payload
from wardround.evaluators.judging.unread import Unread, Why, unread

KEYWORDS = "keywords"
"""Stands before the reason for which keywords could not be read: `keywords/refusal`."""
QUERY = 500
"""Characters of a query."""
TERM = 16
"""Words of one term: what has more is a sentence."""
_SAID = 6
"""Words from which a line that ends with a full stop is a sentence."""
_NONE = frozenset({"none", "null", "n/a", "nothing", "no keywords"})

_FIELDS = ("keywords", "keywords_to_search", "terms")
_LETTER = re.compile(r"[^\W\d_]")
_LINE = re.compile(r"^\s*(?:[-*\u2022]|\d{1,2}[.)])\s+")
_LABEL = re.compile(
    r"^\W*(?:[^\W\d]+[\s,!'\u2019]+){0,6}(?:keywords?|(?:search )?(?:terms?|quer(?:y|ies)))\W*[:\uff1a]", re.IGNORECASE
)
_COLONS = (":", "\uff1a")
_PARTS = re.compile(r"[,;\uff0c\u3001\uff1b]")
REFUSAL = re.compile(
    r"\b(?:I(?:['\u2019]m| am) (?:sorry|unable|not able|afraid)|I (?:cannot|must decline|do not|apologi[sz]e)"
    r"|I (?:ca|wo|do)n['\u2019]t|(?:ca|wo)n['\u2019]t|sorry|as an AI|unable to|not able to|lo siento|no puedo"
    r"|d\u00e9sol\u00e9|je ne peux|es tut mir leid|ich kann)\b"
    r"|\u62b1\u6b49|\u5bf9\u4e0d\u8d77|\u65e0\u6cd5|\u4e0d\u80fd|\u62d2\u7edd",
    re.IGNORECASE,
)
# in the case of a sentence only: WAS, ARE and CAN are names as well, and so is a I behind a word ("type I")
_SENTENCE = re.compile(
    r"\b(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Hh]as|[Hh]ave|[Hh]ad|[Ss]hould|[Ww]ould|[Cc]ould|[Cc]an|[Mm]ust|[Ww]ill|[Yy]ou|"
    r"[Yy]our|[Ww]e|[Mm]y|[Mm]e|[Pp]lease|[Bb]ecause|[Ll]et)\b(?!-)"
    r"|^\s*(?:I|This|These|It|There|Here|Ignore)\s|\bI(?:['\u2019]\w+|\s(?:am|need|think|will|want|have)\b)"
    r"|[a-z]{4}[.]\s+[A-Z]"
)
_SIGN = re.compile(r"[?!\u3002\uff1f]|\u6211|\u8bf7|\u8fd9")


def read_keywords(text: str) -> str | Unread:
    """The terms of a reply on one line, separated by commas; "" if it says that there are none.

    Terms stand on one line or on several, behind a label or not, or in a JSON list. A refusal is `refusal`, and so is
    `prose` what is a sentence, or a term of more than 16 words; above 500 characters it is `too_long`.
    """
    if len(text) > LONGEST:
        return unread("too_long", text)
    held = payload(text) if text.lstrip("` \n\t").startswith(("{", "[", "json")) else None
    if isinstance(held, Unread):
        return held
    if held is not None:
        listed = held.value if isinstance(held.value, list) else field(held.value, _FIELDS)
        if isinstance(listed, list) and all(isinstance(one, str) for one in listed):
            listed = "\n".join(listed) or "none"
        return _terms(listed, text) if isinstance(listed, str) else unread("no_field", text)
    return _terms(text, text)


def _terms(told: str, text: str) -> str | Unread:
    if " ".join(told.split()).strip(" .`\"'").casefold() in _NONE:
        return ""
    lines = [_LABEL.sub("", _LINE.sub("", line)) for line in told.splitlines()]
    lines = [line for line in lines if _LETTER.search(line) and not line.rstrip().endswith(_COLONS)]
    terms = ", ".join(" ".join(line.split()).strip(" .,;`*\"'") for line in lines)
    if not terms:
        return unread("empty", text)
    why = _why(lines, terms)
    return unread(why, text) if why else terms


def _why(lines: list[str], terms: str) -> Why | None:
    """Why these are no keywords."""
    if REFUSAL.search(terms):
        return "refusal"
    if _SIGN.search(terms) or any(map(_closed, lines)) or any(map(_said, _PARTS.split(terms))):
        return "prose"
    return "too_long" if len(terms) > QUERY else None


def _said(term: str) -> bool:
    """Whether a term is a piece of a sentence; one or two words are none, whichever they are."""
    words = len(term.split())
    return words > TERM or (words > 2 and _SENTENCE.search(term) is not None)


def _closed(line: str) -> bool:
    """Whether a line ends as a sentence does: with a full stop, behind a term of some length."""
    return line.rstrip(" *`").endswith(".") and any(len(term.split()) >= _SAID for term in _PARTS.split(line))
