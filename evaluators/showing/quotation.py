"""Quoted words in the text they stand in, taken from the store's own copy and checked against its hash."""

from collections.abc import Mapping

import msgspec

from wardround.engine.events import digest_of
from wardround.evaluators.reasoning.account import Quoted
from wardround.evaluators.showing.source import host, link

AROUND = 160
"""Characters of context on each side."""


class Quotation(msgspec.Struct, frozen=True):
    """`words` as they stand in the stored text, with what stands `before` and `after`; or the `fault` why not.

    `href` is empty for an address that must not be followed; `where` then tells the place.
    """

    quoted: Quoted
    words: str = ""
    before: str = ""
    after: str = ""
    fault: str = ""
    href: str = ""
    where: str = ""


def quotation(quoted: Quoted, texts: Mapping[str, str]) -> Quotation:
    """The words at `quoted` in the stored text of its digest. What is shown is never what a judge wrote."""
    href = link(quoted.url)
    where = host(href) if href else quoted.url
    text = texts.get(quoted.digest)
    if text is None:
        return Quotation(quoted, fault="The text is not in the store.", href=href, where=where)
    if digest_of(text) != quoted.digest:
        return Quotation(quoted, fault="The stored text is not what it was when it was cited.", href=href, where=where)
    if not 0 <= quoted.start < quoted.end <= len(text):
        fault = f"The stored text has {len(text)} characters, none at this place."
        return Quotation(quoted, fault=fault, href=href, where=where)
    return Quotation(
        quoted,
        words=text[quoted.start : quoted.end],
        before=_before(text, quoted.start),
        after=_after(text, quoted.end),
        href=href,
        where=where,
    )


def _before(text: str, end: int) -> str:
    """Some words up to `end`, none of them cut."""
    start = max(0, end - AROUND)
    if not start:
        return text[:end]
    space = text.find(" ", start, end)
    return f"… {text[space + 1 if space >= 0 else start : end]}"


def _after(text: str, start: int) -> str:
    end = min(len(text), start + AROUND)
    if end == len(text):
        return text[start:]
    space = text.rfind(" ", start, end)
    return f"{text[start : space if space > start else end]} …"
