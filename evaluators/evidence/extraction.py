"""The words of a page: what a reader would read, without menus, scripts and styles."""

import codecs
import io
import re
from typing import TYPE_CHECKING, NamedTuple

from wardround.engine.errors import UsageError
from wardround.engine.text import later
from wardround.evaluators.evidence.failure import SearchError
from wardround.evaluators.evidence.turned_away import turned_away

if TYPE_CHECKING:
    from lxml.html import HtmlElement

PAGES = 60
"""Pages of a PDF that are read."""
_META = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,30})""", re.IGNORECASE)
_WIDER = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
"""Encodings that pages name and the wider ones they mean, as browsers take them."""
_DATES = ("citation_publication_date", "citation_date", "article:published_time", "dc.date", "dcterms.issued", "date")
_ISO = later(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?(?!\d)")


class Words(NamedTuple):
    """The text, and the title and date that the page states."""

    text: str
    title: str
    date: str


def html(body: bytes, charset: str) -> Words:
    """The main text of a page; raises SearchError if there is none, UsageError without the extra `search`."""
    # imported here: whoever reads no page does without them
    from lxml import etree  # noqa: PLC0415
    from lxml.html import HTMLParser, document_fromstring  # noqa: PLC0415

    try:
        from trafilatura import extract  # noqa: PLC0415 (an extra, and slow to import)
    except ImportError:
        raise UsageError("reading web pages needs trafilatura: install wardround[search]") from None
    source = decoded(body, charset)
    try:
        tree = document_fromstring(
            source.encode("utf-8", "replace"), parser=HTMLParser(encoding="utf-8", huge_tree=False)
        )
    except (etree.LxmlError, ValueError):
        raise SearchError("empty", "the page has no text") from None
    try:
        text = extract(source, include_comments=False, include_tables=True, with_metadata=False) or _all(tree)
    except Exception as error:  # whatever a hostile page brings about in it
        raise SearchError("malformed", f"its text cannot be made out ({type(error).__name__})") from error
    return _checked(Words(_tidy(text), " ".join((tree.findtext(".//title") or "").split()), _dated(tree)))


def plain(body: bytes, charset: str) -> Words:
    """A text as it is; raises SearchError if it is empty or no text."""
    text = decoded(body, charset)
    if "\0" in text:
        raise SearchError("malformed", "it is called a text but is none")
    return _checked(Words(_tidy(text), "", ""))


def pdf(body: bytes) -> Words:
    """The text of a PDF's first pages, without its pictures; raises SearchError, UsageError without the extra."""
    try:
        from pypdf import PdfReader  # noqa: PLC0415 (an extra)
    except ImportError:
        raise UsageError("reading PDFs needs pypdf: install wardround[search]") from None
    try:
        reader = PdfReader(io.BytesIO(body))
        if reader.is_encrypted and not reader.decrypt(""):
            raise SearchError("unsupported", "the PDF is locked by a password")
        text = "\n\n".join(page.extract_text() for page in reader.pages[:PAGES])
        stated = reader.metadata
    except SearchError:
        raise
    except ImportError:
        raise SearchError("unsupported", "the PDF is encrypted in a way that is not read") from None
    except Exception as error:  # whatever a hostile file brings about in it
        raise SearchError("malformed", f"the PDF cannot be read ({type(error).__name__})") from error
    title = " ".join(str(stated.title).split()) if stated and stated.title else ""
    return _checked(Words(_tidy(text), title, ""))


def decoded(body: bytes, charset: str) -> str:
    """The characters of a page: by its byte order mark, its header, its own word, as UTF-8, else as Windows-1252.

    Raises SearchError if more than one in a hundred cannot be read.
    """
    stated = _META.search(body[:4096])
    for mark, name in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if body.startswith(mark):
            return _sure(body, name)
    for name in (charset, stated[1].decode("ascii") if stated else ""):
        try:
            found = codecs.lookup(name).name if name else ""
        except (LookupError, ValueError):
            continue
        # private, but all that tells an encoding of text from others such as base64
        if found and getattr(codecs.lookup(found), "_is_text_encoding", True):
            return _sure(body, _WIDER.get(found, found))
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return _sure(body, "cp1252")


def _sure(body: bytes, encoding: str) -> str:
    try:
        text = body.decode(encoding, "replace")
    except (UnicodeError, LookupError, ValueError):
        raise SearchError("malformed", f"it cannot be read as {encoding}") from None
    if text.count("\ufffd") * 100 > len(text):
        raise SearchError("malformed", f"it cannot be read as {encoding}")
    return text


def _checked(words: Words) -> Words:
    if not words.text:
        raise SearchError("empty", "the page has no text")
    if turned_away(words.text, words.title):
        raise SearchError("refused", "in place of its text the page shows a refusal")
    return words


def _all(tree: "HtmlElement") -> str:
    """All text of a page that is too short or too odd to have a main part."""
    hidden = ("script", "style", "noscript", "template", "head", "nav", "header", "footer", "form", "iframe", "svg")
    for element in list(tree.iter(*hidden)):
        element.drop_tree()
    return "\n".join(part for part in tree.itertext() if isinstance(part, str) and part.strip())


def _dated(tree: "HtmlElement") -> str:
    """The date a page states in its head, ISO as far as it goes."""
    stated: dict[str, str] = {}
    for meta in tree.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").lower()
        stated.setdefault(name, meta.get("content") or "")
    for name in _DATES:
        if match := _ISO.match(stated.get(name, "").strip()):
            return "-".join(part.zfill(2) for part in match.groups() if part)
    return ""


def _tidy(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()  # a broken font can give half a character
    lines = (" ".join(line.split()) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
