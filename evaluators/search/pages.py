"""Reads the page at an address and extracts its text, or finds that the page refuses access.

`html`, `plain_text` and `pdf` read one type each. A text that mostly says that access is refused counts as no page
(`turned_away`).
"""

import codecs
import io
import re
from typing import TYPE_CHECKING, NamedTuple

import anyio
import anyio.to_process
import anyio.to_thread

from wardround.engine.errors import UsageError
from wardround.engine.text import regex
from wardround.evaluators.search.contract import Domains
from wardround.evaluators.search.results import Page, SearchError
from wardround.evaluators.search.web import Web, WebReply, checked_address, refused, safe_address

if TYPE_CHECKING:
    from lxml.html import HtmlElement


SHARE = 0.5
"""Share of a text's characters, in sentences that refuse access, from which the text counts as no page."""
SHORT = 300
"""Length, in characters, up to which one such sentence is enough."""
TITLED = 3000
"""Length, in characters, up to which such a title is enough."""

_PHRASES = (
    # access barriers
    r"enable (?:javascript|cookies)",
    r"(?:javascript|cookies) (?:is|are) (?:disabled|required)",
    r"captcha",
    r"verify (?:that )?you(?:'re| are) (?:a )?human",
    r"(?:not|are you) a robot",
    r"checking your browser",
    r"complet(?:e|ing) the security check",
    r"unusual (?:traffic|activity) from",
    r"access (?:to this (?:page|site|resource|server|article|content) (?:has been |is |was )?)?(?:denied|forbidden)",
    r"access to this (?:page|site|resource|server|article|content) (?:has been |is |was )?restricted",
    r"you (?:have been|were|are) (?:temporarily |permanently )?(?:blocked|banned|rate.limited)",
    r"(?:unable|not allowed|not authori[sz]ed|not have (?:permission|the right)) to (?:access|view) (?:this|the)",
    r"not available in your (?:country|region|location)",
    # missing pages
    r"(?:page|url|document|resource|content|file) (?:can ?not|could not|can't|couldn't) be "
    r"(?:found|loaded|displayed|retrieved)",
    r"(?:page|url|resource) (?:was )?not found",
    r"page you (?:requested|are looking for|were looking for)",
    r"\b(?:403|404|429|50[0-4])\b\W{1,3}(?:forbidden|not found|too many|internal server|bad gateway|service|gateway)",
    r"403 forbidden|404 not found",
    # server errors
    r"internal server error|bad gateway|gateway time-?out",
    r"service (?:is )?(?:temporarily |currently )?unavailable",
    r"(?:site|website|page|server) is (?:temporarily |currently )?(?:unavailable|down|offline)",
    r"(?:scheduled|undergoing|down for|performing) (?:\w+ )?maintenance",
    r"(?:try|check back) again (?:later|in a (?:few|moment|minute|while))",
    r"too many requests",
    r"(?:exceed|reach)ed (?:the|your) (?:\w+ ){0,2}(?:rate|request|usage|download|article) (?:limit|quota)",
    r"error (?:fetching|loading|retrieving|reading) (?:the )?(?:page|content|url|document|data)",
    r"(?:failed|unable) to (?:fetch|load|retrieve) (?:the )?(?:page|content|url|document|data|resource)",
    r"(?:request|connection) (?:has )?timed out|connection (?:was )?(?:refused|reset)",
    # paywalls and logins
    r"(?:log|sign) ?in (?:\w+ ){0,4}to (?:read|view|access|continue|see)",
    r"(?:purchase|buy|rent) (?:full |instant |digital )*access|purchase (?:this|the) (?:article|chapter)",
    r"subscri(?:be|ption) (?:\w+ ){0,3}(?:to (?:read|view|access|continue)|(?:is )?required)",
    # Chinese, French, German, Spanish
    "\u8bf7\u6c42\u8fc7\u4e8e\u9891\u7e41|\u8bbf\u95ee\u88ab\u62d2\u7edd|\u9875\u9762\u4e0d\u5b58\u5728|\u9a8c\u8bc1\u7801"
    "|\u8bf7\u5148?\u767b\u5f55|\u670d\u52a1(?:\u6682\u65f6)?\u4e0d\u53ef\u7528|\u65e0\u6cd5\u8bbf\u95ee\u6b64",
    "acc\u00e8s refus\u00e9|page introuvable|zugriff verweigert|seite nicht gefunden"
    "|acceso denegado|p\u00e1gina no encontrada",
)
_READ = 20_000
"""Number of characters of a text that are checked: a refusal comes at its beginning."""
_AWAY = tuple(map(regex, _PHRASES))  # one by one and in lower case they are several times as fast as together
_END = regex(r"(?<=[.!?])\s+|\n+|(?<=[\u3002\uff01\uff1f])")


def turned_away(text: str, title: str = "") -> bool:
    """Whether sentences that refuse access make up at least half of a text's characters.

    In a text of at most 300 characters one such sentence is enough; in one of at most 3,000, such a title.
    """
    text = text[:_READ].lower()
    if len(text) <= TITLED and _is_refusal_page(title.lower()):
        return True
    if not _is_refusal_page(text):
        return False
    if len(text) <= SHORT:
        return True
    sentences = [sentence for sentence in _END.split(text) if sentence.strip()]
    away = sum(len(sentence) for sentence in sentences if _is_refusal_page(sentence))
    return away >= SHARE * sum(map(len, sentences))


def _is_refusal_page(text: str) -> bool:
    return any(phrase.search(text) for phrase in _AWAY)


PAGES = 60
"""Number of pages of a PDF that are read."""
_META = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{2,30})""", re.IGNORECASE)
_WIDER = {"iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
"""Encodings that pages declare, and the wider ones that browsers use for them."""
_DATES = ("citation_publication_date", "citation_date", "article:published_time", "dc.date", "dcterms.issued", "date")
_ISO = regex(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?(?!\d)")


class PageText(NamedTuple):
    """The text of a page, and the title and date that it states."""

    text: str
    title: str
    date: str


def html(body: bytes, charset: str) -> PageText:
    """Return the main text of a page; raises SearchError if there is none, UsageError without the extra `search`."""
    # imported here, since only readers of pages need them
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
    except Exception as error:  # a hostile page may cause any error
        raise SearchError("malformed", f"its text cannot be made out ({type(error).__name__})") from error
    return _require_text(PageText(_tidy(text), " ".join((tree.findtext(".//title") or "").split()), _head_date(tree)))


def plain_text(body: bytes, charset: str) -> PageText:
    """Return a plain text; raises SearchError if it is empty or no text."""
    text = decoded(body, charset)
    if "\0" in text:
        raise SearchError("malformed", "it is called a text but is none")
    return _require_text(PageText(_tidy(text), "", ""))


def pdf(body: bytes) -> PageText:
    """Return the text of a PDF's first pages, without pictures; raises SearchError, UsageError without the extra."""
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
    except Exception as error:  # a hostile file may cause any error
        raise SearchError("malformed", f"the PDF cannot be read ({type(error).__name__})") from error
    title = " ".join(str(stated.title).split()) if stated and stated.title else ""
    return _require_text(PageText(_tidy(text), title, ""))


def decoded(body: bytes, charset: str) -> str:
    """Decode a page: by its byte order mark, its header, its own declaration, as UTF-8, else as Windows-1252.

    Raises SearchError if more than one character in a hundred cannot be read.
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
            encoding = codecs.lookup(name).name if name else ""
        except (LookupError, ValueError):
            continue
        # private, but the only way to tell encodings of text from others such as base64
        if encoding and getattr(codecs.lookup(encoding), "_is_text_encoding", True):
            return _sure(body, _WIDER.get(encoding, encoding))
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


def _require_text(words: PageText) -> PageText:
    if not words.text:
        raise SearchError("empty", "the page has no text")
    if turned_away(words.text, words.title):
        raise SearchError("refused", "in place of its text the page shows a refusal")
    return words


def _all(tree: "HtmlElement") -> str:
    """Return all text of a page that is too short or too odd to have a main part."""
    hidden = ("script", "style", "noscript", "template", "head", "nav", "header", "footer", "form", "iframe", "svg")
    for element in list(tree.iter(*hidden)):
        element.drop_tree()
    return "\n".join(part for part in tree.itertext() if isinstance(part, str) and part.strip())


def _head_date(tree: "HtmlElement") -> str:
    """Return the date in the head of a page, in ISO form as far as it goes."""
    stated: dict[str, str] = {}
    for meta in tree.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").lower()
        stated.setdefault(name, meta.get("content") or "")
    for name in _DATES:
        if match := _ISO.match(stated.get(name, "").strip()):
            return "-".join(part.zfill(2) for part in match.groups() if part)
    return ""


def _tidy(text: str) -> str:
    text = text.encode("utf-8", "replace").decode()  # a broken font can yield half a surrogate pair
    lines = (" ".join(line.split()) for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


_HTML = ("text/html", "application/xhtml+xml")
_PLAIN = ("text/plain", "text/markdown")


class Pages:
    """Reads single pages over HTTP: html, plain text and PDF. It runs nothing on a page and loads nothing else.

    It reads a page because a search named it, one at a time, as a person would. So it does not consult robots.txt,
    which addresses crawlers. An error page is no page: any status but 200 is a SearchError.
    """

    name = "pages"

    def __init__(self, web: Web, domains: Domains | None = None) -> None:
        self._web, self._domains = web, domains or Domains()
        self._threads = anyio.CapacityLimiter(2)

    async def read(self, url: str) -> Page:
        """Return the page at `url`; raises SearchError, of the kinds of results.py."""
        got = await self._web.get(
            checked_address(url), {"Accept": "text/html, text/plain, application/pdf"}, domains=self._domains
        )
        if got.status != 200:
            raise refused(got.url, got.status)
        kind, charset = _kind(got)
        try:
            with anyio.fail_after(self._web.limits.seconds):
                words = await self._words(kind, got.body, charset)
        except TimeoutError:
            raise SearchError("timeout", f"{safe_address(got.url)}: its text could not be made out in time") from None
        except SearchError as error:
            raise SearchError(error.kind, f"{safe_address(got.url)}: {error}", status=got.status) from None
        return Page(url, str(got.url), words.text, words.title, words.date, kind)

    async def _words(self, kind: str, body: bytes, charset: str) -> PageText:
        if kind == "pdf":  # in a process that can be killed: a PDF can occupy its reader for ever
            try:
                return await anyio.to_process.run_sync(pdf, body, cancellable=True)
            except anyio.BrokenWorkerProcess:
                raise SearchError("malformed", "the PDF ended the process that read it") from None
        extract = html if kind == "html" else plain_text
        return await anyio.to_thread.run_sync(extract, body, charset, abandon_on_cancel=True, limiter=self._threads)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._web.aclose()


def _kind(got: WebReply) -> tuple[str, str]:
    """Return (html, plain or pdf; charset or ''). A body that begins like a PDF is one, whatever its declared type."""
    stated, _, rest = got.headers.get("content-type", "").partition(";")
    stated = stated.strip().lower()
    charset = next((value for name, value in _parameters(rest) if name == "charset"), "")
    start = got.body[:1024].lstrip().lower()
    if start.startswith(b"%pdf-"):
        return "pdf", ""
    if stated in _HTML or (not stated and (b"<html" in start or b"<!doctype html" in start)):
        return "html", charset
    if stated in _PLAIN:
        return "plain", charset
    raise SearchError("unsupported", f"{safe_address(got.url)}: pages of type {stated[:60] or 'unknown'} are not read")


def _parameters(rest: str) -> list[tuple[str, str]]:
    pairs = (part.partition("=") for part in rest.split(";"))
    return [(name.strip().lower(), value.strip().strip("\"'")) for name, _, value in pairs]
