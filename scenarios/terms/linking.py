"""Which known test a name means: by name, synonym, word order, imaging region, or a careful fuzzy match."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rapidfuzz import fuzz, process

from wardround.scenarios.records import Kind
from wardround.scenarios.terms import imaging
from wardround.scenarios.terms.catalogue import Catalogue
from wardround.scenarios.terms.forms import BRACKET, LEADING, SITES, TRAILING, bare, detailed, forms, unmeasured
from wardround.scenarios.terms.spelling import corrected
from wardround.scenarios.terms.wording import key, tokens

FUZZY = 90.0
"""Least rapidfuzz ratio (0 to 100) of a fuzzy match: the 0.9 of paper 000, A.3."""

LONGEST = 160
"""Characters of the longest text that is taken for one request."""

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
    modality and region of a study, fuzzily (a ratio of 90, then a mistake in a word). What is longer than 160
    characters names no single test.
    """
    if len(name) > LONGEST:
        return None
    tried = forms(name)
    for form in tried:
        found = _named(form, table)
        if found and not (table.tests[found].kind == "examination" and detailed(name)):  # 'pelvis with contrast'
            return _link(found, "exact" if key(found) == form else "synonym", 1.0, name, table)
    for told in (name, unmeasured(BRACKET.sub(" ", name))):
        study = imaging.read(told, table)
        if study.whole:
            return _study(study, table)
    return _elsewhere(name, table) or _of_something(name, table) or _fuzzy(name, tried, table)


def _elsewhere(name: str, table: Catalogue) -> Link | None:
    """A microbiology test told with the specimen it is taken from ('HSV PCR of the CSF')."""
    words = key(unmeasured(name)).split()
    kept = [word for word in words if word not in SITES]
    if len(kept) == len(words) or not kept:
        return None
    found = _named(bare(" ".join(kept)), table)
    fits = found is not None and table.tests[found].kind == "microbiology"
    return _link(found, "synonym", 1.0, name, table) if found and fits else None


def _of_something(name: str, table: Catalogue) -> Link | None:
    """A procedure told with what it is done to ('FNA of the nodule')."""
    head, found, _ = name.partition(" of the ")
    test = _named(bare(key(head)), table) if found else None
    fits = test is not None and table.tests[test].kind == "investigation" and "fluid" not in name
    return _link(test, "synonym", 1.0, name, table) if test and fits else None


def _fuzzy(name: str, tried: Sequence[str], table: Catalogue) -> Link | None:
    """The test whose name is spelled nearly so: a ratio of 90 first, then words with a mistake put right."""
    for form in tried:
        hit = near(form, table)
        if hit:
            return _link(table.names[hit[0]], "fuzzy", hit[1] / 100, name, table)
    for form in tried:
        right = corrected(form, table)
        found = _named(right, table) if right else None
        if right and found:
            return _link(found, "fuzzy", fuzz.ratio(form, right) / 100, name, table)
    right = corrected(tried[0], table) if tried else None
    study = imaging.read(right, table) if right else None
    return replace(_study(study, table), rule="fuzzy", score=0.9) if study is not None and study.whole else None


def _named(form: str, table: Catalogue) -> str | None:
    return (
        table.names.get(form)
        or table.bags.get(tuple(sorted(form.split())))
        or (table.closed_up.get(form.replace(" ", "")) if len(form) > 3 else None)
    )


def _link(test: str, rule: str, score: float, asked: str, table: Catalogue) -> Link:
    found = table.tests[test]
    if found.modality and not found.regions:  # 'MRV brain' by the name 'MRV': the region is told besides
        told = imaging.read(asked, table)
        if len(told.modalities) == 1 and told.regions:
            return _study(told, table)
    return Link(test, found.kind, rule, score, found.points, imaging.of_test(found, asked, table))


def _study(study: imaging.Reading, table: Catalogue) -> Link:
    """A study put together from its modality and regions; the table's own name where it lists just that one."""
    test = table.studies.get((study.modalities[0], study.regions)) if not study.side else None
    if test is not None:
        return Link(test.name, "imaging", "synonym", 1.0, test.points, study)
    points = table.modalities[study.modalities[0]].points
    return Link(imaging.title(study), "imaging", "region", 1.0, points, study)


def near(form: str, table: Catalogue) -> tuple[str, float] | None:
    """`closest` among all names of the table.

    What `alike` accepts has as many words and the same first letter, or is the same without its blanks (which the exact
    stage has found): so the names of that block alone are compared, and the outcome is that of comparing all.
    """
    return closest(form, table.blocks.get((form[0], form.count(" ") + 1), ())) if form else None


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
    return tuple(word for word in tokens(text) if word not in LEADING | TRAILING | {"of", "and", "for", "with", "in"})
