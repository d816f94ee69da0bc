"""Examinations in texts and lists: by the look-up of tests that answers a doctor's orders."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from wardround.engine.records import Json
from wardround.evaluators.lexical.asides import without_asides
from wardround.evaluators.lexical.content import known, sentences, share
from wardround.scenarios import case
from wardround.scenarios.loaders.values import investigations
from wardround.scenarios.parsers import lists
from wardround.scenarios.terms import examiner_lookup, imaging
from wardround.scenarios.terms.catalogue import catalogue, scope
from wardround.scenarios.terms.chart import entries
from wardround.scenarios.terms.name_lookup import link
from wardround.scenarios.terms.order_parser import understand
from wardround.scenarios.terms.wording import key

NEARLY = 0.8
"""Least share of an item's words in one sentence of a text that names it."""
MOST = 200
"""Items of a text."""

_TYPES: Mapping[str, str] = {
    "lab": "laboratory",
    "microbiology": "microbiology",
    "imaging": "imaging",
    "examination": "physical examination",
    "investigation": "procedure",
}
_NUMBERED = re.compile(r"(?m)^(\d{1,3})\. (.*)$")
_MARKS = " \t#*_`>:.-"
_WANTED = re.compile(
    r"\s+(?:in order )?(?=(?:to|for) (?:exclud|rul|assess|evaluat|confirm|check|look|determin|identif|detect|visuali"
    r"|see|find|investigat|characteri|stag|better|further|possible|evidence|signs)\w*)",
    re.IGNORECASE,
)
"""Before what a test is wanted for."""
_HEADING = re.compile(r"(?i)^(?:additional |further |more )?information\b")
_SEVERAL = re.compile(r"\s*[,;\uff0c\uff1b\u3001\n]\s*")


def items_of(text: str, recorded: bool) -> list[Json]:
    """The examinations that a text names (paper 002, prompt 21), each once, with what it is wanted for if that is said.

    Recorded ones are told by the labels of its lines, those asked for by what it orders.
    """
    found: dict[str, Json] = {}
    for phrase in _recorded(text) if recorded else _ordered(text):
        said, _, reason = phrase.partition(": ") if recorded else _WANTED.sub(": ", phrase, count=1).partition(": ")
        name = _SEVERAL.sub(" ", said.strip(_MARKS)).strip()
        if any(map(str.isalnum, name)) and scope(name) != "any" and not _HEADING.search(name):
            item: Json = {"type": _type(name), "test_name": name, "info_required": "" if recorded else reason.strip()}
            found.setdefault(key(name), item)
    return list(found.values())[:MOST]


def _recorded(text: str) -> Sequence[str]:
    return [one.name for one in investigations(text)] or lists.requests(text)


def _ordered(text: str) -> Sequence[str]:
    return understand(text, catalogue()).phrases


def _type(name: str) -> str:
    found = link(name, catalogue())
    if found is None and imaging.read(name, catalogue()).modalities:
        return "imaging"
    return _TYPES.get(found.kind if found else scope(name) or "", "other")


def same_as(request: str, listed: str) -> list[int]:
    """The numbers of a list's lines that a request asks for: the same test, a panel's members, the same study."""
    numbered = [(number, without_asides(name)) for number, name in _NUMBERED.findall(listed)]
    chart = entries(
        tuple(case.Item(number, "investigation", name, name, None) for number, name in numbered), catalogue()
    )
    linked = link(request, catalogue())
    broad = scope(request) if linked is None else None
    hits = examiner_lookup.named(request, chart) or examiner_lookup.find(request, linked, chart, catalogue())
    found = {hit.entry.item.ref for hit in hits}
    if broad:
        found |= {entry.item.ref for entry in chart if examiner_lookup.belongs(entry, broad)}
    return [int(number) for number, _ in numbered if number in found]


def names(item: str, text: str) -> bool:
    """Whether a text names an examination: by any of its names, as a member of its panel, or in nearly its words."""
    words = f" {key(text)} "
    if any(f" {form} " in words for form in _forms(item)):
        return True
    wanted = known(item)
    return bool(wanted) and any(share(wanted, known(said)) >= NEARLY for said in sentences(text))


@lru_cache(maxsize=1024)
def _forms(item: str) -> tuple[str, ...]:
    """Comparable forms of all names of the test that an item is, and of those of its panel."""
    table = catalogue()
    found = link(item, table)
    own = key(item)
    if found is None or found.test not in table.tests:
        return (own,) if len(own) > 2 else ()
    wanted = {found.test} | table.below.get(found.test, frozenset())
    return tuple(
        form for form in (own, *(form for form, test in table.names.items() if test in wanted)) if len(form) > 1
    )
