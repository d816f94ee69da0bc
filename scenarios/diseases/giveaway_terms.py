"""Reads the terms of `giveaways.csv` and makes patterns of each.

A row is for the diseases that it names: by words of their names, or by `kind of X` for every kind of X in MONDO. The
relations of most rows are what their terms are: a drug, a treatment, a procedure, an organism. Five need more words:

- `organ`: the term is an organ, and an operation on it gives the disease away.
- `culture`: the term is a specimen, and an organism in it gives the disease away.
- `place`: the term is a part of the body, and a report of its image or operation gives the disease away.
- `site`: the term is a site of infection, and an antibiotic or an organism for it gives the disease away.
- `lasting`: the term is a procedure for a disease that stays, so it gives the disease away even if it was long ago.

The signs in a term:

- `A ... B`: up to six words stand between A and B.
- `A ~ B`, `A & B`: both in one clause, or in one sentence, in either order.
- `###`: a number of at least three digits.
- `A > 5 < 60`: A with a number above 5 and below 60 (a titre of 1:640 is 640), also as a part of `A & B`.
- `<clot>`: any word of this class in `giveaway_words.csv`, such as a process, a part of the body or a class of drugs.
"""

import operator
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import pairwise

from wardround.engine.text import regex
from wardround.scenarios.diseases.mondo import diseases_named, lineage
from wardround.scenarios.terms.wording import cells, roots, table_rows

_WORDS_BETWEEN = r"(?:[ \n]+[\w'/%-]+){0,6}?[ \n]+"
_FEW_WORDS = r"(?:[ \n]+(?!(?:and|or|but)\b)[\w'/%-]+){0,4}?[ \n]+"
_IN_ONE_CLAUSE = r"(?:[^.;:\n]|\.(?=\d)){0,60}?"


_KIND_OF = "kind of "
_SENTENCE_END = regex(r"[;\n]|[.?!](?!\d)")
_MOST_BETWEEN = 120
"""Most characters between two terms of one sentence that give something away together."""
_VALUE = (
    r"(?:[ \n:=(]+(?!(?:and|or|but|with)\b)[a-z'/-]{1,12}){0,4}?[ \n:=(~]{1,3}(?:1 ?: ?)?"
    r"([<>]? ?\d[\d,]*(?:\.\d+)?)(?![\d/]|\.\d)"
)
"""A result after the name of its test: 'sodium came back at 118', 'RPR 1:128'."""
_DENIAL = regex(r"\b(?:not|no|never|nothing)\b")
_COMPARED = {">": operator.gt, "<": operator.lt}

Span = tuple[int, int]
Limits = tuple[tuple[str, float], ...]
"""Conditions on a number, each '>' or '<' and the limit; () if there is no number."""
Matches = dict[tuple[re.Pattern[str], Limits], list[Span]]
"""The spans that each pattern, with its limits, matched in a text."""


@dataclass(frozen=True)
class Term:
    """What to look for: one pattern, or several that must stand in one sentence.

    `relation` says by what a match gives the disease away. `limits` are the conditions on the number in each pattern.
    """

    relation: str
    patterns: tuple[re.Pattern[str], ...]
    limits: tuple[Limits, ...] = ()

    @cached_property
    def denies(self) -> bool:
        """Whether the term itself is a denial: 'does not compress'."""
        return any(_DENIAL.search(pattern.pattern) for pattern in self.patterns)

    def spans(self, text: str, seen: Matches) -> Iterator[tuple[Span, ...]]:
        """The places of the term in a text, each with the span of every pattern; `seen` keeps matches between terms."""
        limits = self.limits or ((),) * len(self.patterns)
        matched: list[list[Span]] = []
        for pattern, limit in zip(self.patterns, limits, strict=True):
            if (pattern, limit) not in seen:
                seen[pattern, limit] = list(_matched(pattern, limit, text))
            if not seen[pattern, limit]:
                return
            matched.append(seen[pattern, limit])
        for span in matched[0]:
            placed = sorted([span, *(_nearest(span, listed) for listed in matched[1:])])
            if all(_in_one_sentence(text, one, other) for one, other in pairwise(placed)):
                yield tuple(placed)


def _matched(pattern: re.Pattern[str], limits: Limits, text: str) -> Iterator[Span]:
    """The spans where a pattern matches and the number in its group is within the limits, if there are any."""
    for match in pattern.finditer(text):
        if all(_COMPARED[sign](float(re.sub(r"[^\d.]", "", match[1])), limit) for sign, limit in limits):
            yield match.span()


def sentence_spans(text: str) -> Iterator[Span]:
    """The span of each sentence; a semicolon or the end of a line ends one too."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield start, end.start()
        start = end.end()
    yield start, len(text)


def _nearest(span: Span, listed: Sequence[Span]) -> Span:
    """The span of a sorted list that is nearest to `span`; one that does not overlap it, if there is any."""
    at = bisect_left(listed, span)
    return min(
        listed[max(0, at - 2) : at + 2],
        key=lambda one: (one[0] < span[1] and span[0] < one[1], max(one[0] - span[1], span[0] - one[1])),
    )


def _in_one_sentence(text: str, one: Span, other: Span) -> bool:
    """Whether two spans, the earlier first, do not overlap, stand in one sentence and are not far apart."""
    (_, end), (start, _) = one, other
    return 0 <= start - end <= _MOST_BETWEEN and not _SENTENCE_END.search(text, end, start)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the table: its diseases, by roots of names and by numbers in MONDO, its relation and its terms."""

    names: tuple[tuple[str, ...], ...]
    kinds: frozenset[int]
    relation: str
    terms: tuple[str, ...]

    def about(self, names: Sequence[Sequence[str]], lines: frozenset[int]) -> bool:
        """Whether the row is for a disease with these names, or with one of these numbers in its lineage."""
        return not self.kinds.isdisjoint(lines) or any(_within(mine, name) for mine in self.names for name in names)


@cache
def _rows() -> tuple[_Row, ...]:
    """The rows of `giveaways.csv`."""
    rows = []
    for row in table_rows("giveaways.csv"):
        listed = cells(row["disease"])
        kinds = frozenset(
            place for one in listed if one.startswith(_KIND_OF) for place in diseases_named(one.removeprefix(_KIND_OF))
        )
        names = tuple(roots(one) for one in listed if not one.startswith(_KIND_OF))
        rows.append(_Row(names, kinds, row["relation"], cells(row["terms"])))
    return tuple(rows)


_OF = re.compile(r" (?:of|in|due to|with|from|by) ")


def terms_of(names: Sequence[str], added: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(term, relation) of the rows for a disease with these names, each once.

    Of the names that the tables `added`, only the words before 'of', 'due to' and the like count: 'ketoacidosis of
    diabetes mellitus' is no diabetes mellitus.
    """
    said = [*map(roots, names), *(roots(_OF.split(name)[0]) for name in added)]
    lines = frozenset[int]().union(*map(lineage, names))
    found = [row for row in _rows() if row.about(said, lines)]
    whole = [("|".join(row.terms), row.relation) for row in found if row.relation in _TOLD_OF]
    return tuple(
        dict.fromkeys(
            [*whole, *((term, row.relation) for row in found if row.relation not in _TOLD_OF for term in row.terms)]
        )
    )


def patterns_of(term: str, relation: str) -> tuple[Term, ...]:
    """What to look for by a term of a row with this relation (see the top of this module)."""
    if relation in _TOLD_OF:
        place = any_of(cells(term))
        return tuple(
            Term(shown, (place, *(word_pattern(f"<{one}>") for one in classes)))
            for shown, classes in _TOLD_OF[relation]
        )
    if _LIMIT.search(term) or " & " in term:
        parts = term.split(" & ")
        return (Term(relation, tuple(map(_value_pattern, parts)), tuple(map(_limits, parts))),)
    shown = _SHOWN_AS.get(relation, relation)
    return (Term(shown, (_PATTERNS.get(relation, word_pattern)(term),)),)


_TOLD_OF: Mapping[str, Sequence[tuple[str, Sequence[str]]]] = {
    "place": (
        ("finding", ("reported",)),
        ("finding", ("modality", "abnormal")),
        ("procedure", ("cut",)),
        ("procedure", ("theatre", "done")),
    ),
    "site": (("treatment", ("antibiotic",)), ("organism", ("bacterium",))),
}
"""For the relations `place` and `site`: the classes of words that must stand in one sentence with the term, and the
relation by which they give the disease away."""
_LIMIT = regex(r" ([<>]) ([\d.]+)")


def _limits(part: str) -> Limits:
    return tuple((sign, float(limit)) for sign, limit in _LIMIT.findall(part))


def _value_pattern(part: str) -> re.Pattern[str]:
    """A pattern for a part of a term; if it has a limit, the number is the pattern's group."""
    value = rf"(?i)(?<![\w-]){_phrase(_LIMIT.sub('', part))}{_VALUE}"
    return re.compile(value) if _LIMIT.search(part) else word_pattern(part)


@cache
def class_words(name: str) -> frozenset[str]:
    """The words of a class of `giveaway_words.csv`, as they stand there."""
    return frozenset(next(cells(row["words"]) for row in table_rows("giveaway_words.csv") if row["class"] == name))


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    return any(tuple(whole[at : at + len(part)]) == tuple(part) for at in range(len(whole) - len(part) + 1))


@lru_cache(maxsize=16384)
def word_pattern(term: str, *, capitals: bool = False) -> re.Pattern[str]:
    """A pattern for a term. An abbreviation matches only in capitals, unless it is no word in small letters ('dka')."""
    if " ~ " in term:
        one, other = (_phrase(part) for part in term.split(" ~ ", maxsplit=1))
        start, end = r"(?<![\w-])", r"(?:e?s|'s)?(?!\w)"
        one, other = f"{start}{one}{end}", f"{start}{other}{end}"
        between = _FEW_WORDS if "<operated>" in term else _IN_ONE_CLAUSE
        return re.compile(f"(?i){one}{between}{other}|{other}{between}{one}")
    pattern = _phrase(term)
    if re.fullmatch(r"[A-Z]{2,6}", term):
        pattern = r"\.?".join(term)  # 'D.K.A.'
    capitals = term.isupper() and len(term) <= 8 and (capitals or not _never_a_word(term))
    flags = re.NOFLAG if capitals else re.IGNORECASE
    return re.compile(rf"(?<![\w-]){pattern}(?:e?s|'s)?(?!\w)", flags)


def _never_a_word(short: str) -> bool:
    """Whether an abbreviation means nothing else in small letters: 'dka', but not 'cap'."""
    return bool(re.fullmatch(r"[A-Z]{3,6}", short)) and short not in class_words("also a word")


def _phrase(term: str) -> str:
    """A pattern for the words of a term, one after the other."""
    parts = []
    for part in term.split(" ... "):
        words = (_class_pattern(one) for one in re.findall(r"<[^>]+>|\S+", part))
        parts.append(r"[\s-]+".join(words))
    return _WORDS_BETWEEN.join(parts)


def _class_pattern(word: str) -> str:
    """A pattern for a word of a term, for any word of a class (`<clot>`), or for a number of so many digits (`###`)."""
    if set(word) == {"#"}:
        return rf"\d,?\d{{{len(word) - 1},}}"
    if not word.startswith("<"):
        return _spelled(word)
    return rf"(?:{'|'.join(_words_of(word[1:-1]))})"


@cache
def _words_of(name: str) -> tuple[str, ...]:
    """A pattern for each word of a class of `giveaway_words.csv`; `*` stands for the rest of a word."""
    return tuple(_one_of_class(word) for word in sorted(class_words(name), key=lambda word: (-len(word), word)))


def _one_of_class(word: str) -> str:
    pattern = r"[\s-]+".join(map(_spelled, word.split()))
    return f"(?-i:{pattern})" if word.isupper() else pattern


def _spelled(word: str) -> str:
    """A pattern for a word, with or without its hyphens ('R-CHOP', 'RCHOP'); `*` stands for the rest of a word."""
    return r"[\s-]*".join(map(re.escape, word.split("-"))).replace(r"\*", r"\w*")


@lru_cache(maxsize=4096)
def any_of(terms: Sequence[str]) -> re.Pattern[str]:
    """A pattern for any of some terms; abbreviations match in capitals only."""
    listed = "|".join(f"(?-i:{_phrase(term)})" if term.isupper() else _phrase(term) for term in terms)
    return re.compile(rf"(?i)(?<![\w-])(?:{listed})(?:e?s|'s)?(?!\w)")


def _operated(organ: str) -> re.Pattern[str]:
    """A pattern for an organ and an operation on it, in either order."""
    organ = r"[\s-]+".join(map(re.escape, organ.split())) if not organ.isupper() else f"(?-i:{organ})"
    operated, diseased = _class_pattern("<operated>"), _class_pattern("<diseased>")
    done = rf"(?:{operated}|{diseased})"
    return re.compile(rf"(?i)\b{organ}s?{_FEW_WORDS}{operated}\b|\b{done}{_FEW_WORDS}{organ}s?\b")


def _grown(specimen: str) -> re.Pattern[str]:
    """A pattern for a specimen and an organism in it, in either order."""
    specimen = r"[\s-]+".join(map(re.escape, specimen.split())) if not specimen.isupper() else f"(?-i:{specimen})"
    between, organism = r"[^.;\n]{0,70}?", _class_pattern("<organism>")
    return re.compile(rf"(?i)\b{organism}\b{between}\b{specimen}\b|\b{specimen}\b{between}\b{organism}\b")


_PATTERNS = {"organ": _operated, "culture": _grown}
"""The relations of the table whose patterns need more than the words of the term."""
_SHOWN_AS = {"organ": "procedure", "culture": "organism"}


def exact_words(terms: Iterable[str]) -> set[str]:
    """The terms of one long word (eight letters or more): names of drugs, organisms and operations."""
    words = {one for term in terms for one in ([term] if "<" not in term else _members(term))}
    return {word.casefold() for word in words if re.fullmatch(r"[A-Za-z]{8,}", word)}


def _members(term: str) -> tuple[str, ...]:
    """The words of a class, if the term is nothing but this class; else ()."""
    return _words_of(term[1:-1]) if re.fullmatch(r"<[^>]+>", term) else ()


@cache
def listed_words() -> frozenset[str]:
    """Every word of the two tables; none of them counts as a misspelling of another word."""
    rows = [row["terms"] for row in table_rows("giveaways.csv")]
    rows += [row["words"] for row in table_rows("giveaway_words.csv")]
    return frozenset(word for text in rows for word in re.findall(r"[a-z]{5,}", text.casefold()))
