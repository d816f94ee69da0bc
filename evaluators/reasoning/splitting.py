"""The steps of a part: told apart by its marks, and by a judge where it has none."""

from collections.abc import Sequence

import msgspec

from wardround.evaluators.evidence.quoted import locate
from wardround.evaluators.judging.panel import Panel
from wardround.evaluators.judging.payload import strings
from wardround.evaluators.judging.unread import Unread, unread
from wardround.evaluators.measure import Part
from wardround.evaluators.reasoning import questions
from wardround.evaluators.reasoning.judged import Rules
from wardround.evaluators.reasoning.steps import ANYWHERE, MANY, Played, Split, split

DENSE = 800
"""Characters of a step from which a part that is one unmarked step is shown to a judge."""


async def steps_of(
    text: str, part: Part, rules: Rules, panel: Panel, played: Played = ANYWHERE, most: int | None = MANY
) -> Split:
    """As `steps.split`; a long text in one piece is cut where the panel's first judge says that steps begin.

    The judge names the first words of each step, so the steps are the text's own words. Where its answer cannot be had
    or its words do not stand in the text in that order, the text stays in one piece.
    """
    found = split(text, part, rules, played, most)
    if rules == "published" or len(found.steps) != 1 or len(found.steps[0]) < DENSE:
        return found
    whole = found.steps[0]
    answer = await panel.first(questions.starts(whole), read_starts)
    pieces = cut(whole, answer.value or ())
    if len(pieces) < 2:
        return found
    left_out = max(0, len(pieces) - most) if most is not None else 0
    reason = "too_many_steps" if left_out else ""
    return msgspec.structs.replace(found, steps=tuple(pieces[:most]), how="judge", reason=reason, left_out=left_out)


def read_starts(text: str) -> tuple[str, ...] | Unread:
    """The first words of each step in a reply {"starts": ["...", ...]}."""
    return strings(text, ("starts",)) or unread("no_steps", text)


def cut(text: str, starts: Sequence[str]) -> list[str]:
    """`text` in pieces that begin with `starts`; starts that do not stand behind the one before are passed over."""
    places, at = [0], 0
    for start in starts:
        place = locate(text[at:], start)
        if place is None or place.how == "aligned":
            continue
        begin = at + place.start
        if begin > places[-1]:
            places.append(begin)
        at = at + place.end
    ends = [*places[1:], len(text)]
    pieces = [text[begin:end].strip() for begin, end in zip(places, ends, strict=True)]
    return [piece for piece in pieces if any(map(str.isalnum, piece))]
