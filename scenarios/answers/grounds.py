"""Removes the grounds of a diagnosis and the care that it calls for: 'confirmed by biopsy', 'needs surgery'."""

from collections.abc import Callable

from wardround.engine.text import regex
from wardround.scenarios.diseases.contradiction import kinds
from wardround.scenarios.diseases.disease_heads import disease_like, heads_disease
from wardround.scenarios.diseases.disease_wording import clinical
from wardround.scenarios.diseases.mondo import diseases_named
from wardround.scenarios.terms.cues import cue, cue_words
from wardround.scenarios.terms.wording import root, tokens

REACH = 400
"""Characters of a sentence within which the words of a ground must begin."""

_GROUNDS = regex(
    r"(?i)(?:^|[\s,(–—-])(?:(?:the|this|these|its?|final|clinical|definitive)\s+)*"
    r"(?:diagnos[ei]s|it|this|that|which|condition)"
    r"(?:\s+of\s+[\w' -]{2,60}?)?(?:\s+(?:was|is|were|are|has been|had been))?"
    r"(?:\s+(?:\w+ly|further|also|made|then|subsequently))*"
    r"\s+(?:based|supported|confirmed|established|substantiated|corroborated|rooted|verified|reached"
    r"|validated|made|determined)"
    r"\s+(?:up)?(?:on|by|from|through|via|in|with|after|using|intra\w+|histo\w+|patho\w+)\b"
)
_HEAD = regex(
    r"(?i)^\W*(?:(?:the|key|main|other|further|diagnostic|clinical|additional)\s+)*(?:supporting\s+)?"
    r"(?:features|findings|factors|evidence|points|clues|reasons|criteria)\s+(?:\w+\s+){0,2}"
    r"(?:supporting|support|favou?ring|confirming|for)\b"
    r"|^\W*(?:key\s+)?supporting\s+(?:features|findings|evidence|factors)\b"
)

_REASONS = regex(r":\s+|\s[-–—]\s")
_BETWEEN = regex(rf"(?i)[,:]\s*|\s[-–—]\s|\s*{cue_words('and', 'with')}\s*")
_OPEN = regex(
    rf"(?i){cue_words('or', 'apart', 'due', 'then', 'shown', 'weak', 'denying', 'denied')}|[?!]|\w/[A-Za-z]{{4}}"
)
_BRACKETED = regex(r"\([^()]{0,400}\)")
_CARE = regex(
    r"(?i)^\W*(?:(?:he|she|they|who|(?:the|this) (?:patient|child|baby|man|woman|boy|girl))\s+)?(?:now\s+|urgently\s+)?"
    r"(?:needs?|requires?|warrants?|(?:should|must|will)\s+(?:need|receive|get|start|be \w+(?:ed|en)))\s+"
)


def without_reasons(text: str) -> str:
    """A clause without the findings that follow a diagnosis and a colon or dash: 'cystic fibrosis: salty sweat'.

    Pieces after the mark that name a disease stay, so that a list of diseases remains one. If the text after the mark
    leaves something open, denies or gives a cause, the clause stays as it is.
    """
    mark = _REASONS.search(text)
    named = _BRACKETED.sub("", text[: mark.start()]) if mark else ""
    if mark is None or "(" in named or "," in named or _OPEN.search(text, mark.end()):
        return text
    if not disease_like(named) and not diseases_named(named):
        return text
    pieces = [piece.strip() for piece in _BETWEEN.split(text[mark.end() :])]
    return ", ".join((text[: mark.start()], *(piece for piece in pieces if piece and _names_disease(piece))))


def _names_disease(phrase: str) -> bool:
    """Whether a phrase names a disease, has a word that heads names of diseases, or is a name without 'disease'."""
    words = tokens(phrase)
    if (
        disease_like(phrase)
        or (clinical(phrase) != phrase and disease_like(clinical(phrase)))
        or any(map(heads_disease, phrase.split()))
        or diseases_named(phrase)
    ):
        return True
    if phrase[:1].isupper() and len(words) == 1 and "organism" not in kinds([root(words[0])]):
        return True
    return bool(words) and any(diseases_named(f"{phrase} {noun}") for noun in ("disease", "syndrome"))


def calls_for_care(text: str) -> bool:
    """Whether a clause says what the patient needs, and names no disease among it: 'needs surgery today'."""
    care = _CARE.match(text)
    return care is not None and not any(map(_names_disease, _BETWEEN.split(text[care.end() : REACH])))


def without_grounds(said: str, grounded: bool, framed: Callable[[str], str | None]) -> tuple[str, bool]:
    """(the sentence without the grounds of a diagnosis, whether the bullets after it continue the grounds).

    `grounded` says that the sentence is such a bullet. `framed` returns what follows a frame such as 'the diagnosis
    is', or None without one.
    """
    if grounded or (_HEAD.search(said) and framed(said) is None):
        return "", True
    grounds = _GROUNDS.search(said[:REACH])
    if grounds is None or (
        not any(map(str.isalnum, said[: grounds.start()])) and cue("stating").search(said, grounds.end())
    ):
        return said, False
    before = said[: grounds.start()].strip()
    return (before if any(map(str.isalnum, before)) else ""), False
