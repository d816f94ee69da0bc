"""Takes from a sentence what founds a diagnosis: 'confirmed by biopsy', 'key findings supporting it'."""

from collections.abc import Callable

from wardround.engine.text import regex
from wardround.scenarios.terms.cues import cue

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


def without_grounds(said: str, grounded: bool, framed: Callable[[str], str | None]) -> tuple[str, bool]:
    """(a sentence without what founds a diagnosis, whether the bullets behind it go on with that).

    `grounded`: the sentence is such a bullet. `framed` gives what stands behind 'the diagnosis is'.
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
