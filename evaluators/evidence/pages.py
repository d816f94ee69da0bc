"""Reads the page at an address."""

import anyio
import anyio.to_process
import anyio.to_thread

from wardround.evaluators.evidence import extraction
from wardround.evaluators.evidence.domains import Domains
from wardround.evaluators.evidence.extraction import Words
from wardround.evaluators.evidence.failure import SearchError
from wardround.evaluators.evidence.page import Page
from wardround.evaluators.evidence.web import Got, Web, address, shown

_HTML = ("text/html", "application/xhtml+xml")
_PLAIN = ("text/plain", "text/markdown")


class Pages:
    """A reader of single pages over HTTP: html, plain text and PDF; nothing of a page is run or loaded with it.

    A page is read because a search named it, one at a time, as a person would: robots.txt, which speaks to crawlers, is
    not asked. An error's page is not a page: any status from 400 on is a SearchError.
    """

    name = "pages"

    def __init__(self, web: Web, domains: Domains | None = None) -> None:
        self._web, self._domains = web, domains or Domains()
        self._threads = anyio.CapacityLimiter(2)

    async def read(self, url: str) -> Page:
        """The page at `url`; raises SearchError, of the kinds of failure.py."""
        got = await self._web.get(
            address(url), {"Accept": "text/html, text/plain, application/pdf"}, domains=self._domains
        )
        refused(got)
        kind, charset = _kind(got)
        try:
            with anyio.fail_after(self._web.limits.seconds):
                words = await self._words(kind, got.body, charset)
        except TimeoutError:
            raise SearchError("timeout", f"{shown(got.url)}: its text could not be made out in time") from None
        except SearchError as error:
            raise SearchError(error.kind, f"{shown(got.url)}: {error}", status=got.status) from None
        return Page(url, str(got.url), words.text, words.title, words.date, kind)

    async def _words(self, kind: str, body: bytes, charset: str) -> Words:
        if kind == "pdf":  # in a process that can be ended: a PDF can keep its reader busy for ever
            try:
                return await anyio.to_process.run_sync(extraction.pdf, body, cancellable=True)
            except anyio.BrokenWorkerProcess:
                raise SearchError("malformed", "the PDF ended the process that read it") from None
        extract = extraction.html if kind == "html" else extraction.plain
        return await anyio.to_thread.run_sync(extract, body, charset, abandon_on_cancel=True, limiter=self._threads)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._web.aclose()


def refused(got: Got) -> None:
    """Raise the SearchError of a reply that is none: any status but 200."""
    status, where = got.status, shown(got.url)
    if status == 200:
        return
    if status == 429:
        raise SearchError("rate_limit", f"{where}: HTTP 429: too many requests", status=status)
    if status in (408, 504):
        raise SearchError("timeout", f"{where}: HTTP {status}: the server gave up waiting", status=status)
    raise SearchError("refused", f"{where}: HTTP {status}", status=status)


def _kind(got: Got) -> tuple[str, str]:
    """(html, plain or pdf; charset or ''); a body that begins as a PDF is one, whatever it is called."""
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
    raise SearchError("unsupported", f"{shown(got.url)}: pages of type {stated[:60] or 'unknown'} are not read")


def _parameters(rest: str) -> list[tuple[str, str]]:
    pairs = (part.partition("=") for part in rest.split(";"))
    return [(name.strip().lower(), value.strip().strip("\"'")) for name, _, value in pairs]
