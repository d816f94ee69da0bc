"""Which known test a name means: by name, synonym, word order, imaging region, or a careful fuzzy match."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rapidfuzz import fuzz, process

from wardround.scenarios.records import Kind
from wardround.scenarios.terms import imaging
from wardround.scenarios.terms.catalogue import Catalogue
from wardround.scenarios.terms.spelling import corrected
from wardround.scenarios.terms.wording import key, tokens, words_of

FUZZY = 90.0
"""Least rapidfuzz ratio (0 to 100) of a fuzzy match: the 0.9 of paper 000, A.3."""

LONGEST = 160
"""Characters of the longest text that is taken for one request."""

# Words of a request that name no test, as they stand after `tokens`.
_LEADING = words_of(
    """please order get obtain perform check measure repeat request send do draw run would like to i a an the some
    my stat urgent baseline initial serial another also want need next new routine standard complete full further
    consider recommend do additional specific any other now then just let us we need should will would could can you
    go ahead have also patient what is was were are d s ll portable bedside quick am random spot formal start begin with add on of fresh
    24h 12h 48h bilateral simple plain"""
)
_TRAILING = words_of(
    """level test testing assay measurement study result panel exam concentration value stat analysis please now today
    first asap urgently immediately instead trend trending serial serially titer check series again too tonight
    tomorrow once daily screening quantitative quantification status only if possible at baseline"""
)
_SPECIMENS = words_of("serum plasma blood")
# Where a culture or a swab is taken from; the name without them must be a microbiology test.
_SITES = words_of(
    """urine urinary stool fecal csf cerebrospinal sputum nasal nasopharyngeal throat serum plasma blood swab swabs rectal
    cervical vaginal urethral of the from for in skin lesion vesicle pleural synovial joint ascitic peritoneal bal"""
)
# How often, how many, when: '2 sets', 'x3', 'q6h', 'in 3 hours', 'at 0 and 3 h'.
_AMOUNT = re.compile(
    r"(?i)\s*\b(?:x\s?\d+|q\.?\s?\d+\s?(?:h|hr|hrs|hours)?|[\u00d7]\s?\d+|(?:in|at|after|every|over|for)\s+(?:the next\s+)?\d+"
    r"[\d\s,/&-]*(?:and\s+\d+\s*)?(?:h|hr|hrs|hours?|min|minutes|days?|weeks?|months?)\b"
    r"|\d+\s*-?\s*(?:sets?|units?|times|views?|bottles?|samples?|am|pm)\b|\d+\s*(?:am|pm)\b)"
)
_DETAIL = re.compile(
    r"(?i)\s+(?:with|w/|w)\s*(?:(?:auto(?:mated)?|manual|iv|and without|or without)\s+)*(?:reflex|microscop|micro\b|diff|sensitivit"
    r"|contrast|gram stain$|smear$|indices)(?:(?!\band\b)[^,;()])*$|\s+reflex\b[^,;()]*$"
)
# Shorthand of single words, each as `key` has it.
_SHORT = {
    **dict.fromkeys(("ab", "abs"), "antibody"),
    **dict.fromkeys(("ag", "ags"), "antigen"),
    **dict.fromkeys(("cx", "cxs"), "culture"),
    **dict.fromkeys(("24h", "24hr", "24hrs"), "24 hour"),
    **dict.fromkeys(("hr", "hrs"), "hour"),
    "bx": "biopsy",
    "scrn": "screen",
}
_LEVEL = words_of("level test testing")
_LISTED = re.compile(r"[,;]|\band\b")
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
    modality and region of a study, fuzzily (a ratio of 90, then a mistake in a word). What is longer than 160
    characters names no single test.
    """
    if len(name) > LONGEST:
        return None
    forms = _forms(name)
    for form in forms:
        found = _named(form, table)
        if found:
            return _link(found, "exact" if key(found) == form else "synonym", 1.0, name, table)
    for told in (name, _AMOUNT.sub(" ", _BRACKET.sub(" ", name))):
        study = imaging.read(told, table)
        if study.whole:
            return _study(study, table)
    return _elsewhere(name, table) or _fuzzy(name, forms, table)


def _elsewhere(name: str, table: Catalogue) -> Link | None:
    """A microbiology test told with the specimen that it is taken from ('HSV PCR of the CSF', 'throat swab for ...')."""
    words = key(_AMOUNT.sub(" ", name)).split()
    kept = [word for word in words if word not in _SITES]
    if len(kept) == len(words) or not kept:
        return None
    found = _named(_bare(" ".join(kept), drop_specimen=False), table)
    fits = found is not None and table.tests[found].kind == "microbiology"
    return _link(found, "synonym", 1.0, name, table) if found and fits else None


def _fuzzy(name: str, forms: Sequence[str], table: Catalogue) -> Link | None:
    """The test whose name is spelled nearly so: a ratio of 90 first, then words with a mistake put right."""
    for form in forms:
        hit = near(form, table)
        if hit:
            return _link(table.names[hit[0]], "fuzzy", hit[1] / 100, name, table)
    for form in forms:
        right = corrected(form, table)
        found = _named(right, table) if right else None
        if right and found:
            return _link(found, "fuzzy", fuzz.ratio(form, right) / 100, name, table)
    right = corrected(forms[0], table) if forms else None
    study = imaging.read(right, table) if right else None
    return replace(_study(study, table), rule="fuzzy", score=0.9) if study is not None and study.whole else None


def _forms(name: str) -> list[str]:
    """Comparable forms of `name` from the whole to the barest, without repeats."""
    outer = _BRACKET.sub(" ", name)
    short = _AMOUNT.sub(" ", outer)
    short = _DETAIL.sub("", short)
    found = [
        key(name),
        key(outer),
        key(short),
        _bare(key(short), drop_specimen=False),
        _bare(key(name), drop_specimen=False),
        _bare(key(outer), drop_specimen=False),
    ]
    found += [_bare(key(outer), drop_specimen=True)]
    found += [" ".join(word for word in key(short).split() if word not in _LEVEL)]
    if name.count("(") + name.count("[") == 1 and not _LISTED.search(outer):
        found += [key(match[1] or match[2] or "") for match in _BRACKET.finditer(name)]
    found += [" ".join(_SHORT.get(word, word) for word in form.split() if word != "for") for form in found[:4]]
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
    return tuple(word for word in tokens(text) if word not in _LEADING | _TRAILING | {"of", "and", "for", "with", "in"})
