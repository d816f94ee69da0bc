"""From the words that a judge says it quotes to the place where they really stand."""

from collections.abc import Sequence

from wardround.engine.records import Json
from wardround.evaluators.evidence.citation import cite
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.page import Page
from wardround.evaluators.reasoning.account import Quoted


def quoted_in(sources: Sequence[Found | Page], number: Json, words: str, seat: str) -> Quoted | None:
    """Where `words` stand: in the source with the `number` that is named (1 is the first), else in any; or None.

    None also where a source is named that there is not: such words are nobody's. 0, or no number, names none.
    """
    numbered = isinstance(number, int) and not isinstance(number, bool) and number != 0
    if numbered and not 0 < number <= len(sources):
        return None
    named = [sources[number - 1]] if numbered else []
    for source in (*named, *sources):
        if place := cite(source, words):
            where = (source.title, source.url, source.date, source.source if isinstance(source, Found) else "")
            return Quoted(place.digest, place.start, place.end, *where, place.how, place.likeness, seat)
    return None
