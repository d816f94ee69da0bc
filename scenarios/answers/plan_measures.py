"""Names of measures of treatment (`measures.csv`): which mean one, which class a drug is of; phrases that give none."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wardround.engine.text import regex
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


_ASKED = regex(r"(?:^|(?<=[.;\n!]))[^.;\n!?]*\?")
_DEALING = regex(
    r"(?i)(?:^|(?<=[.;\n]))[^,;.\n]*\b(?:(?:fear|simulation|chapters?|books?|phobia)\s+(?:of|on|in|about)"
    r"|patient['’]s (?:mother|father|brother|sister|wife|husband)|colleagues?|textbooks?|malingered|feigned"
    r"|looked like)\b[^;.\n]*"
    r"|\b(?:specialists?|experts?|side[- ]effects?|risks?|(?:differential )?diagnosis)\s+(?:of|on|in|about|to)\b[^,;]*"
    r"|\b(?:dr|prof)\.\s[^,;]*|\bformerly\b[^,;]*|\bwhether\b[^;.\n]*"
    r"|(?:^|(?<=[,;.\n%]))[^,;.\n]*\b0(?:[.,]0+)?\s?%"
)
"""A phrase that only deals with a treatment, or tells of another's: it gives nothing."""
_FOR_THE_JUDGE = regex(
    r"(?im)(?:^|(?<=[.;!]))\W{0,20}(?:the )?(?:reference|gold standard|ground truth"
    r"|(?:for|to) the (?:grader|judge|examiner|marker))[^:\n]{0,40}:[^\n;.]*"
)
_THOUGHT = regex(
    r"(?i)[(\[][^()\[\]]*\b(?:was|were)\s+(?:(?:my|the|our|a|an)\s+)?(?:first thought|alternative|considered|discussed"
    r"|excluded|thought of)\W*[)\]]"
)
_WERE = regex(r"(?i)\bif (?:it|this|that|he|she|they) were\b[^;\n]*")
ASIDES = (_ASKED, _THOUGHT, _WERE, _FOR_THE_JUDGE, _DEALING)
"""What a plan says without giving anything."""
