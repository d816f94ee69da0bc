"""One requested item against the published table of tests: the single name that is most like it."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz, process

from wardround.scenarios.published.tables import Tables

_CUTOFF = 90.0
_LEAST = 91
"""Least ratio as a whole number; a name inside the item counts whatever its ratio is."""

_EDGE = re.compile(r"\b")


@dataclass(frozen=True, slots=True)
class Match:
    """`key` is the name in the table, `score` its ratio (0 to 100, rounded to even), `item_ids` what it stands for.

    `rule` is exact (also for a trailing s), fuzzy, or inside (the name occurs in the item as whole words).
    """

    key: str
    score: int
    rule: str
    item_ids: tuple[int, ...]


@lru_cache(maxsize=16384)
def match(item: str, tables: Tables) -> Match | None:
    """The name that the published code takes `item` for, None for none.

    An exact name wins at once, the first of the table that is spelled so; else, of the names with a ratio above 90 or
    inside the item, the highest ratio, the first on ties.
    """
    if not item:
        return None
    low = item.lower()
    same = [tables.first[form] for form in _exact(item, low) if form in tables.first]
    if same:
        return _match(min(same), 100, "exact", tables)
    scores = {place: (_rounded(fuzz.ratio(low, tables.lowered[place])), "inside") for place in _inside(low, tables)}
    scores.update((place, (score, "fuzzy")) for place, score in _alike(low, tables))
    best = min(scores, key=lambda place: (-scores[place][0], place), default=None)
    return None if best is None else _match(best, *scores[best], tables)


def _exact(item: str, low: str) -> Iterator[str]:
    yield low
    if item.endswith("s"):
        yield item[:-1].lower()


def _match(place: int, score: int, rule: str, tables: Tables) -> Match | None:
    name = tables.listed[place]
    return Match(name, score, rule, tuple(sorted(set(tables.tests[name])))) if name else None


def _rounded(ratio: float) -> int:
    return round(ratio)


def _inside(low: str, tables: Tables) -> set[int]:
    """Places of the names of more than one letter that stand in the item between word boundaries."""
    edges = [edge.start() for edge in _EDGE.finditer(low)]
    found = set()
    for number, start in enumerate(edges):
        for end in edges[number + 1 :]:
            place = tables.first.get(low[start:end])
            if place is not None and end - start > 1:
                found.add(place)
    return found


def _alike(low: str, tables: Tables) -> Iterator[tuple[int, int]]:
    """(place, ratio) of the names whose ratio rounds to more than 90.

    Two strings of lengths m and n share at most min(m, n) letters, so that a ratio of 90 needs lengths within 9 to 11
    of each other: only those names are compared, and no other can reach it.
    """
    length = len(low)
    first = bisect_left(tables.by_length, (int(length * 0.9 / 1.1), -1))
    last = bisect_left(tables.by_length, (int(length * 1.1 / 0.9) + 2, -1))
    places = [place for _, place in tables.by_length[first:last]]
    names = [tables.lowered[place] for place in places]
    for _, ratio, index in process.extract(low, names, scorer=fuzz.ratio, score_cutoff=_CUTOFF, limit=None):
        if _rounded(ratio) >= _LEAST:
            yield places[index], _rounded(ratio)
