"""Reads files of articles, JATS XML or JSON lines, one article at a time."""

import gzip
import html
import os
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import IO, TypedDict

from lxml import etree
from pydantic import ValidationError

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.text import loads
from wardround.scenarios.loaders.source import Problem, text_lines
from wardround.scenarios.reports.article import Article, ArticleSection, UnreadArticle, tidy_text
from wardround.scenarios.reports.plain_text import TEXTS, article_text

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
    """Raised for a file that is no readable JATS; the message says where and why."""


class ArticleFields(TypedDict):
    """The fields of `Article` that a file states; '' for an id that it lacks."""

    id: str
    title: str
    abstract: str
    sections: tuple[ArticleSection, ...]
    kind: str
    published: date | None
    language: str
    licence: str


def jats_articles(stream: IO[bytes]) -> Iterator[ArticleFields]:
    """Stream the articles of a JATS file; raises Broken if it cannot be read.

    A file that defines entities is refused, because a small file could expand to a huge one. No other file and no
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


def _article(root: etree._Element) -> ArticleFields:
    meta = _first(root, "front/article-meta")
    meta = _first(root, "front-stub") if meta is None else meta
    body = _first(root, "body")
    return {
        "id": _id(meta),
        "title": _text(_first(meta, "title-group/article-title")),
        "abstract": _abstract(meta),
        "sections": tuple(_sections(body)) if body is not None else (),
        "kind": _article_type(root, meta),
        "published": _published(meta),
        "language": (root.get(_LANG) or "")[:2].lower(),
        "licence": _licence(meta),
    }


def _first(element: etree._Element | None, path: str) -> etree._Element | None:
    """The first element at `path`, in any namespace."""
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
    ids = {(node.get("pub-id-type") or "").lower(): _text(node) for node in _all(meta, "article-id")}
    number = ids.get("pmcid") or ids.get("pmc") or ""
    if number:
        return number if number.upper().startswith("PMC") else f"PMC{number}"
    return ids.get("doi") or (f"PMID{ids['pmid']}" if ids.get("pmid") else "")


def _article_type(root: etree._Element, meta: etree._Element | None) -> str:
    """The type: the attribute `article-type` and the headings under which the journal files the article."""
    headings = [_text(node) for node in _all(_first(meta, "article-categories"), "subject")]
    return "; ".join(dict.fromkeys(part for part in (root.get("article-type") or "", *headings) if part))


def _published(meta: etree._Element | None) -> date | None:
    dates = [_date(node) for node in _all(meta, "pub-date")]
    return min((day for day in dates if day), default=None)


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


def _sections(node: etree._Element, heading: str = "") -> Iterator[ArticleSection]:
    """The text below `node`, one section for each title; paragraphs before the first title belong to `heading`."""
    loose: list[str] = []
    for child in node:
        if _named(child) == "sec":
            if loose:
                yield ArticleSection(heading=heading, text="\n\n".join(loose))
                loose = []
            title = _text(_first(child, "title"))
            yield from _sections(child, f"{heading}: {title}" if heading and title else title or heading)
        elif _named(child) not in _LEFT_OUT and (text := tidy_text(_words(child))):
            loose.append(text)
    if loose:
        yield ArticleSection(heading=heading, text="\n\n".join(loose))


def _text(node: etree._Element | None) -> str:
    return " ".join(_words(node).split()) if node is not None else ""


def _words(node: etree._Element) -> str:
    """All text of an element, without figures, tables and reference numbers."""
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
    """'CC-BY-NC-4.0', 'CC0-1.0' and the like, from an address or a sentence; '' if there is none."""
    if match := _CREATIVE.search(said.lower()):
        return f"CC0-{match['version']}" if match["zero"] else f"CC-{match['kind'].upper()}-{match['version']}"
    if match := _SHORT.search(said):
        kind = "CC0" if match["kind"] == "0" else f"CC-{match['kind'].upper()}"
        return f"{kind}-{match['version']}" if match["version"] else kind
    return ""


FIELDS = {
    "id": ("id", "pmcid", "pmc_id", "doi"),
    "text": ("text", "raw_case", "full_text", "body"),
    "title": ("title",),
    "abstract": ("abstract",),
    "kind": ("article_type", "type"),
    "published": ("published", "date", "receive_time"),
    "language": ("language", "lang"),
    "licence": ("licence", "license"),
}
"""The accepted names of each field of a line; `sections` is a list of {heading, text} besides or in place of text."""

_LONGEST = 120
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*\.?|[IVX]+\.)\s+")
_HEADING = re.compile(
    r"(?i)^(?:abstract|highlights?|background|introduction|case|patient|presentation|description|materials?|methods?"
    r"|results?|discussion|clinical|conclusions?|comments?|consent|ethic|funding|author|guarantor|research|conflict"
    r"|declaration|credit|supplement|learning|diagnos|treatment|management|outcome|follow|history|physical|laboratory"
    r"|imaging|investigation|differential|therap|intervention|surg|post|autopsy|histopath|patholog|limitation|key)"
)


class BadLine(Exception):
    """Raised for a line that is not an article; the message names the field and the fault."""


def fields(record: Json) -> ArticleFields:
    """The fields of `Article` that a line of JSON states; raises BadLine, which names the field, if one is wrong."""
    if not isinstance(record, Mapping):
        raise BadLine(f"a line must be a JSON object, this is {type(record).__name__}")
    texts = {name: _field_text(record, names) for name, names in FIELDS.items()}
    title, sections = texts["title"], _listed_sections(record.get("sections"))
    if texts["text"]:
        heading, parted = title_and_sections(texts["text"], titled=bool(title))
        title, sections = title or heading, (*sections, *parted)
    abstract = texts["abstract"]
    if not abstract and sections and sections[0].heading.lower() == "abstract":
        abstract, sections = sections[0].text, sections[1:]
    return {
        "id": texts["id"],
        "title": " ".join(title.split()),
        "abstract": tidy_text(abstract),
        "sections": sections,
        "kind": texts["kind"],
        "published": dated(texts["published"]),
        "language": texts["language"][:2].lower(),
        "licence": texts["licence"],
    }


def title_and_sections(text: str, *, titled: bool = False) -> tuple[str, tuple[ArticleSection, ...]]:
    """(title, sections) of a plain text. A short separate line that begins like a heading of a report is a heading.

    A short first line that is no heading is the title, unless the title is known already (`titled`).
    """
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text.strip()) if block.strip()]
    title = ""
    if not titled and len(blocks) > 1 and "\n" not in blocks[0] and len(blocks[0]) <= 400 and not _heads(blocks[0]):
        title, blocks = blocks[0], blocks[1:]
    headed: list[tuple[str, list[str]]] = [("", [])]
    for block in blocks:
        first, _, rest = block.partition("\n")
        if _heads(first):
            headed.append((_NUMBER.sub("", first.strip()).rstrip(":. "), [rest] if rest.strip() else []))
        else:
            headed[-1][1].append(block)
    made = ((heading, tidy_text("\n\n".join(body))) for heading, body in headed)
    return title, tuple(ArticleSection(heading=heading, text=body) for heading, body in made if body)


def _heads(line: str) -> bool:
    name = _NUMBER.sub("", line.strip())
    return (
        len(name) <= _LONGEST
        and len(name.split()) <= 9
        and not name.endswith((".", ",", ";"))
        and bool(_HEADING.match(name))
    )


def _listed_sections(value: Json) -> tuple[ArticleSection, ...]:
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise BadLine("field sections: must be a list of {heading, text}")
    sections = []
    for part in value:
        if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
            raise BadLine("field sections: must be a list of {heading, text}")
        if text := tidy_text(part["text"]):
            sections.append(ArticleSection(heading=" ".join(str(part.get("heading") or "").split()), text=text))
    return tuple(sections)


def _field_text(record: Mapping[str, Json], names: Sequence[str]) -> str:
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if value is not None and not isinstance(value, str):
            if name in FIELDS["id"] and isinstance(value, int):
                return str(value)
            raise BadLine(f"field {name}: must be a text, is {type(value).__name__}")
    return ""


def dated(value: str) -> date | None:
    """'2024-7-10', '2024-07' or '2024' as a date, the first of the month or year if need be; raises BadLine."""
    if not value:
        return None
    try:
        numbers = [int(part) for part in value.partition("T")[0].split("-")]
        year, month, day = (*numbers, 1, 1)[: max(3, len(numbers))]
        return date(year, month, day)
    except ValueError:
        raise BadLine(f"field published: {value!r} is no date; it is written as 2024-07-10") from None


_XML = (".xml", ".nxml")
_LINES = (".jsonl", ".ndjson")
_LARGEST = 256 * 1024 * 1024
OPEN = ("CC-", "CC0", "PUBLIC DOMAIN")
"""Beginnings of the names of licences that permit redistribution of an article."""


def articles(
    paths: Sequence[Path], *, licence: str = "", data_class: str = "auto"
) -> Iterator[Article | UnreadArticle]:
    """Stream the articles of `paths` (files, or folders with all files below them in order of name).

    `licence` applies if a source names none. With `data_class` 'auto', an article under a Creative Commons licence or
    in the public domain is public, and any other is restricted. Repeated articles, unreadable files and unreadable
    lines come as UnreadArticle. Raises UsageError if there is nothing to read.
    """
    seen: set[str] = set()
    any_file = False
    for path in _files(paths):
        any_file = True
        for place, record in _read(path):
            if isinstance(record, UnreadArticle):
                yield record
                continue
            made = _made(path, place, record, licence, data_class)
            if isinstance(made, Article) and made.id in seen:
                yield UnreadArticle(made.id, "unique", f"{place}: {made.id} was read before")
                continue
            seen.add(made.id)
            yield made
    if not any_file:
        raise UsageError(
            f"{', '.join(map(str, paths))}: holds no file of articles (.xml, .nxml, .jsonl and .gz of each; .txt, .pdf)"
        )


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
        if not path.is_dir():
            if _kind(path) is None:
                raise UsageError(f"{path}: is none of .xml, .nxml, .jsonl, .ndjson, nor .gz of one, nor .txt or .pdf")
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            kinds = {name: _kind(Path(name)) for name in sorted(names)}
            texts_alone = not {"xml", "lines"} & set(kinds.values())  # beside articles, a text is a note
            yield from (Path(folder, name) for name, kind in kinds.items() if kind and (kind != "text" or texts_alone))


def _kind(path: Path) -> str | None:
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(TEXTS):
        return "text"
    return "xml" if name.endswith(_XML) else "lines" if name.endswith(_LINES) else None


def _read(path: Path) -> Iterator[tuple[str, ArticleFields | UnreadArticle]]:
    """(where, fields) of each article of a file."""
    try:
        if _kind(path) == "text":
            yield str(path), fields({"id": path.stem, "text": article_text(path)})
        else:
            yield from _xml(path) if _kind(path) == "xml" else _json(path)
    except UsageError as error:
        yield str(path), UnreadArticle(path.name, "readable", str(error))


def _xml(path: Path) -> Iterator[tuple[str, ArticleFields | UnreadArticle]]:
    try:
        if path.stat().st_size > _LARGEST:
            raise Broken(f"it is larger than {_LARGEST >> 20} MB")
        with gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb") as stream:
            for record in jats_articles(stream):  # type: ignore[arg-type]  # a GzipFile reads as a file does
                yield str(path), record
    except (Broken, OSError, EOFError, zlib.error) as error:
        yield str(path), UnreadArticle(path.name, "readable", f"{path}: {_said(error)}")


def _said(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _json(path: Path) -> Iterator[tuple[str, ArticleFields | UnreadArticle]]:
    for line in text_lines(path):
        name = f"{path.name}:{line.line if isinstance(line, Problem) else line.number}"
        if isinstance(line, Problem):
            yield str(path), UnreadArticle(name, "readable", str(line))
            continue
        where = f"{path}, line {line.number}"
        try:
            yield where, fields(loads(line.text))
        except BadLine as error:
            yield where, UnreadArticle(name, "readable", f"{where}: {error}")
        except (ValueError, RecursionError) as error:
            yield where, UnreadArticle(name, "readable", f"{where}: is no JSON object ({error})")


def _made(path: Path, place: str, record: ArticleFields, licence: str, data_class: str) -> Article | UnreadArticle:
    name = record["id"] or _stem(path, place)
    under = record["licence"] or licence
    opened = under.upper().replace(" ", "-").startswith(OPEN) or under.upper().startswith(OPEN)
    chosen = data_class if data_class != "auto" else "public" if opened else "restricted"
    fields = {**record, "id": "-".join(name.split()), "licence": under, "source": path.name, "data_class": chosen}
    try:
        return Article.model_validate(fields)
    except ValidationError as error:
        fault = error.errors()[0]
        return UnreadArticle(name, "readable", f"{place}: field {fault['loc'][0]}: {fault['msg']}")


def _stem(path: Path, place: str) -> str:
    stem = path.name.partition(".")[0]
    number = place.rpartition(", line ")[2]
    return f"{stem}-{number}" if number.isdecimal() else stem
