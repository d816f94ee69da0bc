"""Articles in JATS XML, the format of the PMC open-access subset: read as a stream, with no entity ever expanded."""

import html
import re
from collections.abc import Iterator
from datetime import date
from typing import IO, Any

from lxml import etree

from wardround.scenarios.reports.article import Section
from wardround.scenarios.reports.prose import tidy

_HEAD = 65_536
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_HREF = "{http://www.w3.org/1999/xlink}href"
_LEFT_OUT_TEXT = """fig fig-group table-wrap table-wrap-group supplementary-material media graphic inline-graphic
disp-formula tex-math fn fn-group ref-list title label caption object-id"""
_LEFT_OUT = frozenset(_LEFT_OUT_TEXT.split())
_CREATIVE = re.compile(
    r"creativecommons\.org/(?:licenses/(?P<kind>[a-z-]+)|(?P<zero>publicdomain/zero))/(?P<version>[\d.]+)"
)
_SHORT = re.compile(r"\bCC[ -]?(?P<kind>BY(?:-(?:NC|ND|SA))*|0)\b[ -]*(?P<version>\d\.\d)?", re.IGNORECASE)


class Broken(Exception):
    """A file that is no readable JATS; the message says where and what."""


Fields = dict[str, Any]
"""What a source says of an article, by the fields of `Article`; no id where it has none."""


def articles(stream: IO[bytes]) -> Iterator[Fields]:
    """The articles of a file, one after another; raises Broken.

    Entities of the file's own are refused (they are how a small file becomes a huge one), no other file and no
    address is read.
    """
    if b"<!ENTITY" in stream.read(_HEAD).replace(b"\0", b"").upper():
        raise Broken("it defines entities of its own; such a file is not read")
    stream.seek(0)
    count = 0
    try:
        parser = etree.iterparse(
            stream, events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
        )
        for event, element in parser:
            if event == "start":
                _no_entities(element)
            elif etree.QName(element).localname == "article":
                count += 1
                yield _article(element)
                element.clear()
    except etree.XMLSyntaxError as error:
        line, column = error.position
        said = str(error.msg or "no XML").partition(", line")[0]
        raise Broken(f"line {line}, column {column}: {said}") from error
    if not count:
        raise Broken("it is XML, but holds no <article>: is it JATS?")


def _no_entities(element: etree._Element) -> None:
    if element.getparent() is None:
        declared = element.getroottree().docinfo.internalDTD
        if declared is not None and any(True for _ in declared.iterentities()):
            raise Broken("it defines entities of its own; such a file is not read")


def _article(root: etree._Element) -> Fields:
    meta = _first(root, "front/article-meta")
    meta = _first(root, "front-stub") if meta is None else meta
    body = _first(root, "body")
    return {
        "id": _id(meta),
        "title": _text(_first(meta, "title-group/article-title")),
        "abstract": _abstract(meta),
        "sections": tuple(_sections(body)) if body is not None else (),
        "kind": _kind(root, meta),
        "published": _published(meta),
        "language": (root.get(_LANG) or "")[:2].lower(),
        "licence": _licence(meta),
    }


def _first(element: etree._Element | None, path: str) -> etree._Element | None:
    """The first element at `path`, whatever namespace the file puts it into."""
    for name in path.split("/"):
        if element is None:
            return None
        element = next((child for child in element if _named(child) == name), None)
    return element


def _all(element: etree._Element | None, name: str) -> Iterator[etree._Element]:
    if element is not None:
        yield from (child for child in element.iter() if _named(child) == name)


def _named(element: etree._Element) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _id(meta: etree._Element | None) -> str:
    found = {(node.get("pub-id-type") or "").lower(): _text(node) for node in _all(meta, "article-id")}
    number = found.get("pmcid") or found.get("pmc") or ""
    if number:
        return number if number.upper().startswith("PMC") else f"PMC{number}"
    return found.get("doi") or (f"PMID{found['pmid']}" if found.get("pmid") else "")


def _kind(root: etree._Element, meta: etree._Element | None) -> str:
    """The attribute, and the headings under which the journal files the article."""
    headings = [_text(node) for node in _all(_first(meta, "article-categories"), "subject")]
    return "; ".join(dict.fromkeys(part for part in (root.get("article-type") or "", *headings) if part))


def _published(meta: etree._Element | None) -> date | None:
    dates = [_date(node) for node in _all(meta, "pub-date")]
    return min((found for found in dates if found), default=None)


def _date(node: etree._Element) -> date | None:
    try:
        year, month, day = (int(_text(_first(node, name)) or 1) for name in ("year", "month", "day"))
        return date(year, month, day) if year > 1 else None
    except ValueError:
        return None


def _abstract(meta: etree._Element | None) -> str:
    for node in _all(meta, "abstract"):
        if node.get("abstract-type") in (None, "", "section", "structured", "web-summary"):
            return "\n\n".join(
                f"{part.heading}: {part.text}" if part.heading else part.text for part in _sections(node)
            )
    return ""


def _sections(node: etree._Element, heading: str = "") -> Iterator[Section]:
    """The text below `node`, a section for each title; paragraphs before the first one stand under `heading`."""
    loose: list[str] = []
    for child in node:
        if _named(child) == "sec":
            if loose:
                yield Section(heading=heading, text="\n\n".join(loose))
                loose = []
            title = _text(_first(child, "title"))
            yield from _sections(child, f"{heading}: {title}" if heading and title else title or heading)
        elif _named(child) not in _LEFT_OUT and (text := tidy(_words(child))):
            loose.append(text)
    if loose:
        yield Section(heading=heading, text="\n\n".join(loose))


def _text(node: etree._Element | None) -> str:
    return " ".join(_words(node).split()) if node is not None else ""


def _words(node: etree._Element) -> str:
    """All text of an element but that of figures, tables and numbers of references."""
    parts = [node.text or ""]
    for child in node:
        name = _named(child)
        if isinstance(child, etree._Entity):
            parts.append(html.unescape(child.text or ""))
        elif name in ("p", "list-item", "disp-quote", "def-item"):
            parts.append(f"\n{_words(child)}\n")
        elif name == "sup" and (power := _words(child).strip()) and parts[-1][-1:].isdigit():
            parts.append(f"^{power}" if power.lstrip("+-\u2212").isdigit() else power)
        elif name and name not in _LEFT_OUT and not (name == "xref" and child.get("ref-type") == "bibr"):
            parts.append(_words(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _licence(meta: etree._Element | None) -> str:
    for node in (*_all(meta, "license"), *_all(meta, "license_ref")):
        said = " ".join((node.get(_HREF) or "", *(link.get(_HREF) or "" for link in node.iter()), _text(node)))
        if name := short_licence(said):
            return name
    for node in _all(meta, "license"):
        return _text(node)[:200]
    return ""


def short_licence(said: str) -> str:
    """'CC-BY-NC-4.0', 'CC0-1.0' and the like, from an address or a sentence; '' if there is none in it."""
    if found := _CREATIVE.search(said.lower()):
        return f"CC0-{found['version']}" if found["zero"] else f"CC-{found['kind'].upper()}-{found['version']}"
    if found := _SHORT.search(said):
        kind = "CC0" if found["kind"] == "0" else f"CC-{found['kind'].upper()}"
        return f"{kind}-{found['version']}" if found["version"] else kind
    return ""
