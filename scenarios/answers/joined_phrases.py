"""Splits a clause of an answer into phrases, and tells how each is joined to the one before it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from wardround.engine.text import regex
from wardround.scenarios.terms.cues import cue, cue_words

Link = Literal["first", "and", "with", "then", "shown", "due"]
"""How a disease is joined to the one before it.

'with': it accompanies it. 'then': it is a consequence. 'shown': it is a manifestation ('presenting with'). 'due': it is
the cause. 'and': it is only listed. 'first': there is none before it.
"""

Choice = Literal["", "or", "apart"]
"""Whether a phrase is an alternative: 'or' to the one before, 'apart' (versus, a slash) to the whole answer."""

ADDING: Mapping[str, Link] = {"with": "with", "by": "with", "then": "then", "shown": "shown", "due": "due"}
"""The links of phrases that add to the disease before them, by the group of `JOINER` that matched."""
_CHOICES: Mapping[str, Choice] = {"or": "or", "apart": "apart"}
JOINER = regex(
    rf"(?i)(?P<apart>{cue_words('apart')}\.?|\s*/\s*(?!(?:[dmµu]?[lL]|[CTLS]\d)\b)|[?!])"
    rf"|(?P<or>{cue_words('or')})"
    rf"|(?P<shown>{cue_words('shown')})"
    rf"|(?P<then>{cue_words('then')}|\s(?:[-=]+>|[→⇒➔⟶])\s)"
    rf"|(?P<with>{cue_words('with')})"
    rf"|(?P<due>{cue_words('due')})"
    rf"|(?P<and>,|\s[-–—]\s|\n|:\s|{cue_words('and')})"
    rf"|(?P<by>\b[a-z]{{3,}}ed\s+by\b)"
)
"""What joins two phrases; its groups are the kinds of joiners."""


class Phrase(NamedTuple):
    """A phrase between two joiners of a clause, with its link to the phrase before it."""

    link: Link
    text: str
    choice: Choice


def phrases(text: str) -> Iterator[Phrase]:
    """The phrases of a clause. 'And' after a phrase that adds to a disease has the same link: 'with A and B'."""
    link: Link = "first"
    choice: Choice = ""
    start = 0
    for joiner in JOINER.finditer(text):
        yield Phrase(link, text[start : joiner.start()], choice)
        joined_by = joiner.lastgroup or ""
        link = ADDING.get(joined_by, "and" if link == "first" else link)
        choice = _CHOICES.get(joined_by, "")
        start = joiner.end()
    yield Phrase(link, text[start:], choice)


def weakened(pieces: Sequence[Phrase]) -> list[Phrase]:
    """The phrases without 'possibly B' after a more certain 'A'; if all are only possible, they are alternatives."""
    weak = [bool(cue("weak").search(piece.text)) for piece in pieces]
    opening = [bool(cue("weak").match(piece.text.strip(" ,"))) for piece in pieces]
    beside = [at for at, piece in enumerate(pieces) if at and weak[at] and (piece.link == "and" or opening[at])]
    if not beside:
        return list(pieces)
    if weak[0]:
        return [
            piece._replace(choice="or") if place in beside and not piece.choice else piece
            for place, piece in enumerate(pieces)
        ]
    return [piece for place, piece in enumerate(pieces) if place not in beside]
