"""Which known test a name means: by name, synonym, word order, imaging region, or a careful fuzzy match."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz, process

from wardround.scenarios.records import Kind
from wardround.scenarios.terms import imaging
from wardround.scenarios.terms.catalogue import Catalogue
from wardround.scenarios.terms.wording import key, tokens, words_of

FUZZY = 90.0
"""Least rapidfuzz ratio (0 to 100) of a fuzzy match: the 0.9 of paper 000, A.3."""

LONGEST = 160
"""Characters of the longest text that is taken for one request."""

# Words of a request that name no test, as they stand after `tokens`.
_LEADING = words_of(
    """please order get obtain perform check measure repeat request send do draw run would like to i a an the some
    my stat urgent baseline initial serial another also want need next new routine standard complete full further
    consider recommend do additional specific any other"""
)
_TRAILING = words_of("level test testing assay measurement study result panel exam concentration value stat analysis")
_SPECIMENS = words_of("serum plasma blood")
_BRACKET = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]")
_OPPOSED = tuple(
    (re.compile(rf"^{one}"), re.compile(rf"^{other}"))
    for one, other in (("hyper", "hypo"), ("intra", "extra"), ("intra", "inter"), ("pre", "post"), ("macro", "micro"))
)


@dataclass(frozen=True, slots=True)
class Link:
    """A name's test: `test` its canonical name, `rule` how it was found, `score` from 0 to 1."""

    test: str
    kind: Kind
    rule: str
    score: float
    points: float
    reading: imaging.Reading | None = None


@lru_cache(maxsize=16384)
def link(name: str, table: Catalogue) -> Link | None:
    """The test that `name` means, or None.

    Tried in order: the name as it stands, without its brackets, without words such as 'please' and 'level', as
    modality and region of a study, fuzzily. What is longer than 160 characters names no single test.
    """
    if len(name) > LONGEST:
        return None
    forms = _forms(name)
    for form in forms:
        found = _named(form, table)
        if found:
            return _link(found, "exact" if key(found) == form else "synonym", 1.0, name, table)
    outer = _BRACKET.sub(" ", name)
    study = imaging.read(outer, table)
    if study.whole:
        return _study(study, table)
    for form in forms:
        hit = closest(form, table.choices)
        if hit:
            return _link(table.names[hit[0]], "fuzzy", hit[1] / 100, name, table)
    return None


def _forms(name: str) -> list[str]:
    """Comparable forms of `name` from the whole to the barest, without repeats."""
    outer = _BRACKET.sub(" ", name)
    found = [key(name), key(outer), _bare(key(name), drop_specimen=False), _bare(key(outer), drop_specimen=False)]
    found += [_bare(key(outer), drop_specimen=True)]
    found += [key(match[1] or match[2] or "") for match in _BRACKET.finditer(name)]
    return [form for form in dict.fromkeys(found) if form]


def _bare(form: str, *, drop_specimen: bool) -> str:
    words = form.split()
    while len(words) > 1 and words[0] in _LEADING:
        words = words[1:]
    while len(words) > 1 and words[-1] in _TRAILING:
        words = words[:-1]
    if drop_specimen and len(words) > 1:
        kept = [word for word in words if word not in _SPECIMENS]
        words = kept or words
    return " ".join(words)


def _named(form: str, table: Catalogue) -> str | None:
    return (
        table.names.get(form)
        or table.bags.get(tuple(sorted(form.split())))
        or (table.closed_up.get(form.replace(" ", "")) if len(form) > 3 else None)
    )


def _link(test: str, rule: str, score: float, asked: str, table: Catalogue) -> Link:
    found = table.tests[test]
    return Link(test, found.kind, rule, score, found.points, imaging.of_test(found, asked, table))


def _study(study: imaging.Reading, table: Catalogue) -> Link:
    """A study put together from its modality and regions; the table's own name where it lists just that one."""
    for test in table.tests.values():
        if (test.modality,) == study.modalities and frozenset(test.regions) == study.regions and not study.side:
            return Link(test.name, "imaging", "synonym", 1.0, test.points, study)
    points = table.modalities[study.modalities[0]].points
    return Link(imaging.title(study), "imaging", "region", 1.0, points, study)


def closest(form: str, choices: Sequence[str]) -> tuple[str, float] | None:
    """The choice most like `form` with its ratio (90 to 100), the first on ties, if no short word or number differs."""
    if len(form) < 5:
        return None
    hits = process.extract(form, choices, scorer=fuzz.ratio, score_cutoff=FUZZY, limit=8)
    for choice, score, _ in sorted(hits, key=lambda hit: (-hit[1], hit[2])):
        if alike(form, choice):
            return choice, score
    return None


def alike(one: str, other: str) -> bool:
    """Whether two comparable forms differ by spelling alone.

    Each word of one must be like its counterpart: words with digits and words of up to four letters must be equal
    (HIV and HCV, IgM and IgG, T3 and T4), longer ones differ in a few letters and not by an opposed prefix.
    """
    if one.replace(" ", "") == other.replace(" ", ""):
        return True
    ours, theirs = one.split(), other.split()
    return len(ours) == len(theirs) and all(_same(a, b) for a, b in zip(ours, theirs, strict=True))


def _same(a: str, b: str) -> bool:
    if a == b:
        return True
    if min(len(a), len(b)) <= 4 or any(mark.isdigit() for mark in a + b):
        return False
    if any((p.match(a) and q.match(b)) or (p.match(b) and q.match(a)) for p, q in _OPPOSED):
        return False
    return a[0] == b[0] and fuzz.ratio(a, b) >= 80


def content(text: str) -> tuple[str, ...]:
    """The words of `text` that carry meaning: without 'please', 'the', 'level' and the like."""
    return tuple(word for word in tokens(text) if word not in _LEADING | _TRAILING | {"of", "and", "for", "with", "in"})
