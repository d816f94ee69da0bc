"""Diseases and their tree as the official ICD-10-CM has them: titles, inclusion terms, parents (simple-icd-10-cm)."""

import gc
import re
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from wardround.scenarios.terms.concepts import Concept
from wardround.scenarios.terms.wording import key

_LITTLE = re.compile(
    r"(?i),?\s*\b(?:other and unspecified|unspecified site(?: \(primary\))?|unspecified organism|unspecified|NOS|NEC"
    r"|not elsewhere classified|not otherwise specified|initial encounter|so stated|without mention of [\w ]+"
    r"|classified elsewhere)\b"
)
_SIDE = re.compile(r"(?i)\b(?:right|left|bilateral|unspecified (?:eye|ear|side|limb|hand|foot|knee|hip|shoulder))\b")
_RESIDUAL = re.compile(r"(?i)^(?:other|certain|disorders? of other|persons?|encounter)\b|\bspecified\b|\bin diseases\b")
_SQUARE = re.compile(r"\s*\[([^\]]*)\]")
_LAST = re.compile(r"\[([^\]]*)\]\W*$")
_ROUND = re.compile(r"\s*\(([^)]*)\)")
_GROWTH = re.compile(r"(?i)^(?:primary )?malignant neoplasm of (?:the )?([a-z]+(?: [a-z]+)?)(?: gland| uteri)?$")
SHORT = re.compile(r"^(?=.*[A-Z])[A-Za-z][A-Za-z0-9]{1,6}$")
"""An abbreviation, as it is written."""
CHAPTERS = "ABCDEFGHIJKLMNOPQ"
"""First letters of the codes that name diseases; symptoms, injuries and circumstances are left out."""
LONGEST = 90
"""Titles longer than this (characters) name a circumstance, not a disease anybody says."""


@cache
def classification() -> Any:
    """The package's module, read on first use (a second) and without its own deprecation warning."""
    collected = gc.isenabled()
    gc.disable()  # it makes 600,000 objects that all stay; looking for garbage among them doubles the time
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return import_module("simple_icd_10_cm")
    finally:
        if collected:
            gc.enable()


def diseases() -> Iterator[Concept]:
    """A concept for each code that names a disease; one more for each term listed below an 'other' code."""
    icd = classification()
    for code in icd.get_all_codes(True):
        if code[0] not in CHAPTERS or "-" in code or icd.is_extended_subcategory(code):
            continue
        title = str(icd.get_description(code))
        terms = [term for text in icd.get_inclusion_term(code) for term in said(str(text))]
        if _RESIDUAL.search(title):
            for place, term in enumerate(dict.fromkeys(terms)):
                yield Concept(f"ICD10CM:{code}#{place + 1}", term, icd10=(code,))
        elif not _SIDE.search(title) and len(title) <= LONGEST:
            names = [*said(title), *grown(title), *terms]
            if names:
                yield Concept(f"ICD10CM:{code}", names[0], tuple(dict.fromkeys(names[1:])), icd10=(code,))


def said(title: str) -> Sequence[str]:
    """What a title is called by people: without 'unspecified', its brackets as names, its parentheses in and out."""
    last = _LAST.search(title)
    # A bracket at the end is another name; an abbreviation only where it starts as the title does ('[IgA]' does not).
    squares = [last[1]] if last and (not SHORT.match(last[1]) or last[1][0].lower() == title[0].lower()) else []
    found = []
    for text in (_SQUARE.sub("", title), *squares):
        bare = " ".join(_LITTLE.sub("", text).split()).strip(" ,;")
        for written in (_ROUND.sub("", bare), _ROUND.sub(r" \1", bare)):
            name = " ".join(written.split()).strip(" ,;")
            if len(key(name)) > 2 and not _RESIDUAL.search(name):
                found.append(name)
    return tuple(dict.fromkeys(found))


def grown(title: str) -> Sequence[str]:
    """'Malignant neoplasm of bladder' as it is said: bladder cancer, cancer of the bladder, bladder carcinoma."""
    match = _GROWTH.match(title)
    if match is None or " and" in match[1] or " or" in match[1]:
        return ()
    site = match[1]
    return (f"{site} cancer", f"cancer of {site}", f"{site} carcinoma", f"carcinoma of {site}", f"malignancy of {site}")


def parents() -> Iterator[tuple[str, str]]:
    """(code, parent) for every code below a category; categories under their block, blocks under their chapter."""
    icd = classification()
    for code in icd.get_all_codes(True):
        if not icd.is_extended_subcategory(code) and (parent := icd.get_parent(code)):
            yield code, str(parent)
