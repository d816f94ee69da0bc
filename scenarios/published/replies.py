"""A doctor's list under the published rules: which items it names, and what they match."""

import re

from wardround.scenarios.parsers.published import HEADINGS, Listed
from wardround.scenarios.published import imaging
from wardround.scenarios.published.matching import Match, match
from wardround.scenarios.published.tables import Absent, Tables

_LITTLE = tuple(
    re.compile(rf"\b{word}\b", re.IGNORECASE)  # the dots are not escaped there: "EKG t" goes as "e.g." does
    for word in (
        "order",
        "run",
        "level[s]?",
        "repeat",
        "check",
        "including",
        "the",
        "e.g.",
        "etc.",
        "for",
        "to",
        "with",
    )
)
_LONGEST = 10
"""Words of the longest item that is looked up."""


def matches(kind: Listed, reply: str, tables: Tables, *, falls_back: bool = True) -> tuple[Match, ...]:
    """The names that the items of a laboratory or microbiology reply match, in order, repeats among them.

    First the names outside brackets; then, for those that match nothing, what stands in their brackets. `falls_back`
    false is the sibling function that does not look further where nothing stands before the first full stop.
    """
    text = _body(kind, reply, falls_back=falls_back)
    text = re.sub(r"\b(?:and|or)\b", ",", text)
    for word in _LITTLE:
        text = word.sub("", text)
    names, bracketed = _cut(text)
    found: list[Match] = []
    spare: list[str] = []
    for name in names:
        if len(name) <= 1 or len(name.split()) > _LONGEST:
            continue
        hit = match(name, tables)
        if hit:
            found.append(hit)
        else:
            spare += bracketed.get(name, ())
    found += [hit for name in spare if len(name) > 1 and len(name.split()) <= _LONGEST and (hit := match(name, tables))]
    return tuple(found)


def item_ids(kind: Listed, reply: str, tables: Tables) -> tuple[int, ...]:
    """The item numbers that a laboratory or microbiology reply asks for, sorted."""
    return tuple(sorted({number for hit in matches(kind, reply, tables) for number in hit.item_ids}))


def studies(reply: str, tables: Tables) -> tuple[imaging.Request, ...]:
    """The studies that an imaging reply asks for. Raises Absent where the published code fails."""
    text = _body("imaging", reply)
    mark = next((mark for mark in "\n;" if mark in text), ",")
    items, held, inside = [], "", False
    for sign in text:
        if sign in "()":
            inside = sign == "("
        elif sign != mark:
            held += sign
        elif not inside and held.strip():
            items.append(held)
            held = ""
    if held.strip():
        items.append(held)
    if ", including" in items:
        raise Absent("including", "an item that is nothing but ', including' stops the published parser")
    return imaging.requests([item.strip() for item in items if len(item.strip()) > 1], reply, tables)


def _body(kind: Listed, reply: str, *, falls_back: bool = True) -> str:
    """The list: up to the first full stop of its heading's line, else all behind the last heading."""
    heading = HEADINGS[kind]
    line = re.search(rf"{heading}(.*?)\.", reply, re.IGNORECASE)
    text = line[1] if line else reply.rpartition(heading)[2]
    if falls_back and not text.strip():
        text = reply.rpartition(heading)[2]
    return text.replace("*", "")


def _cut(text: str) -> tuple[list[str], dict[str, list[str]]]:
    """The items of a list, and for those before a bracket what it holds.

    A bracket that is never closed leaves its name twice; what stands before a stray closing one is lost.
    """
    names: list[str] = []
    bracketed: dict[str, list[str]] = {}
    outer = inner = ""
    inside = False
    for sign in text:
        if sign == "(":
            inside = True
            names.append(outer)
        elif sign == ")":
            inside = False
            bracketed[outer.strip()] = [part.strip() for part in inner.split(",") if part.strip()]
            outer = inner = ""
        elif sign == "," and not inside and outer.strip():
            names.append(outer)
            outer = ""
        elif sign == "," or inside:
            inner += sign
        else:
            outer += sign
    if outer.strip():
        names.append(outer)
    return [name.strip() for name in names if name.strip()], bracketed
