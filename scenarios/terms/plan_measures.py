"""Names of measures of treatment: which mean one measure, and which drug belongs to which class (`measures.csv`)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.terms.wording import cells, roots, table_rows


@dataclass(frozen=True, slots=True)
class MeasureNames:
    """`named` maps the roots of a name to its measure, `classes` the root of a drug to the classes it belongs to."""

    named: Mapping[tuple[str, ...], str]
    classes: Mapping[str, frozenset[str]]
    longest: int


@lru_cache(maxsize=1)
def measure_names() -> MeasureNames:
    """The table; the first measure of a name counts."""
    named: dict[tuple[str, ...], str] = {}
    classes: dict[str, frozenset[str]] = {}
    for row in table_rows("measures.csv"):
        for name in (row["name"], *cells(row["names"])):
            named.setdefault(roots(name), row["name"])
        for member in cells(row["members"]):
            for word in roots(member):
                classes[word] = classes.get(word, frozenset()) | {row["name"]}
    return MeasureNames(named, classes, max(map(len, named)))


def measure_words(text: str) -> tuple[str, ...]:
    """The roots of a text, each name of a measure written as that measure: 'excision' and 'removal' as 'resection'."""
    table, words = measure_names(), roots(text)
    written: list[str] = []
    place = 0
    while place < len(words):
        size = _longest(words[place : place + table.longest], table.named)
        written.append(table.named[words[place : place + size]] if size else words[place])
        place += max(size, 1)
    return tuple(written)


def _longest(words: Sequence[str], named: Mapping[tuple[str, ...], str]) -> int:
    return next((size for size in range(len(words), 0, -1) if tuple(words[:size]) in named), 0)


def with_classes(words: Iterable[str]) -> frozenset[str]:
    """The words with the classes of the drugs among them: 'ceftriaxone' is an antibiotic, not the other way round."""
    said = frozenset(words)
    return said.union(*(measure_names().classes.get(word, frozenset()) for word in said))
