"""The services that a judge may search online: PubMed, Brave, a SearXNG server, and DuckDuckGo."""

import importlib
import os
import time
from collections.abc import Callable, Mapping, Sequence

import anyio
import anyio.to_thread
import msgspec
from lxml import etree
from yarl import URL

from wardround.engine.errors import UsageError
from wardround.engine.models.hosts import endpoint_url, host_of, join_path
from wardround.engine.records import Json
from wardround.evaluators.search.contract import MOST, Opening, Search, Source
from wardround.evaluators.search.results import SearchError, SearchHit
from wardround.evaluators.search.web import PageLimits, Web, WebReply, refused, safe_address


async def _fetch(web: Web, url: URL, headers: Mapping[str, str] | None = None, *, advice: str = "") -> WebReply:
    """Return a reply with status 200. No redirect is followed, so that a key reaches only its own service.

    The service's error text is not quoted, because it may repeat the key or the query. Raises SearchError.
    """
    got = await web.get(url, headers)
    if got.status == 200:
        return got
    if 300 <= got.status < 400:
        advice = "sent on to another address: give the final one"
    raise refused(url, got.status, advice or "the service refused")


def _json_object(got: WebReply) -> dict[str, Json]:
    """Return the JSON object of a reply; raises SearchError."""
    try:
        read = msgspec.json.decode(got.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise _malformed(got.url)
    return read


def _json_objects(url: URL, read: Json) -> list[dict[str, Json]]:
    """Return `read` as a list of objects; raises SearchError."""
    if not isinstance(read, list) or not all(isinstance(row, dict) for row in read):
        raise _malformed(url)
    return read


def _malformed(url: URL) -> SearchError:
    """Create the error for a reply that does not have the service's format."""
    return SearchError("malformed", f"{safe_address(url)}: the reply is not in the form of this service's results")


def _line(row: Mapping[str, Json], name: str) -> str:
    """Return a field as one line of text, '' if it is missing or no text."""
    value = row.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""


PUBMED = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class _WebSearch(Source):
    """A search over HTTP, whose connections it closes."""

    _web: Web

    async def aclose(self) -> None:
        """Close the connections."""
        await self._web.aclose()


class Pubmed(_WebSearch):
    """Searches PubMed by two requests: for the numbers of the most relevant articles, then for their abstracts.

    ::

        wardround score RUN --evaluators reasoning --judge SPEC --search pubmed

    It keeps to PubMed's limits: 3 requests a second, or 10 with a key (environment variable `key_env`, optional).
    PubMed requires every word of a query, so keywords find more than sentences.
    """

    FORM = "pubmed"

    name = "pubmed"

    def __init__(
        self, base_url: str = PUBMED, *, key_env: str = "NCBI_API_KEY", limits: PageLimits | None = None
    ) -> None:
        self._url = URL(base_url)
        self.host = self._url.raw_host or ""
        key = os.environ.get(key_env, "").strip()
        self._common = {"db": "pubmed", "tool": "wardround", **({"api_key": key} if key else {})}
        self._pause, self._next, self._turn = (0.11 if key else 0.34), 0.0, anyio.Lock()
        self._web = Web(limits, local=[self.host] if base_url != PUBMED else [])

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the most relevant articles that have an abstract; raises SearchError."""
        asked = {"term": query, "retmode": "json", "sort": "relevance", "retmax": str(2 * most)}
        url = self._address("esearch.fcgi", asked)
        await self._wait()
        read = _json_object(await _fetch(self._web, url)).get("esearchresult")
        numbers = read.get("idlist") if isinstance(read, dict) and not read.get("ERROR") else None
        if not isinstance(numbers, list) or not all(isinstance(one, str) and one.isdigit() for one in numbers):
            raise _malformed(url)
        if not numbers:
            return []
        url = self._address("efetch.fcgi", {"id": ",".join(numbers), "retmode": "xml"})
        await self._wait()
        articles = _articles(url, (await _fetch(self._web, url)).body)
        return [articles[number] for number in numbers if number in articles][:most]

    def _address(self, tool: str, asked: dict[str, str]) -> URL:
        return (self._url / tool).with_query({**self._common, **asked})

    async def _wait(self) -> None:
        async with self._turn:
            await anyio.sleep(max(0.0, self._next - time.monotonic()))
            self._next = time.monotonic() + self._pause


def _articles(url: URL, body: bytes) -> dict[str, SearchHit]:
    """Return the articles with an abstract by their number."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        tree = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        raise _malformed(url) from None
    if tree is None or tree.tag != "PubmedArticleSet":
        raise SearchError("malformed", f"{_malformed(url)}")
    articles = {}
    for article in tree.iterfind("PubmedArticle"):
        number = article.findtext("MedlineCitation/PMID") or ""
        inner = article.find("MedlineCitation/Article")
        if inner is None or not number.isdigit():
            continue
        parts = [(part.get("Label", ""), _words(part)) for part in inner.iterfind("Abstract/AbstractText")]
        text = "\n".join(f"{label}: {words}" if label else words for label, words in parts if words)
        if text:
            title, place = _words(inner.find("ArticleTitle")), f"https://pubmed.ncbi.nlm.nih.gov/{number}/"
            journal = _words(inner.find("Journal/Title"))
            articles[number] = SearchHit(title, place, text, 0, len(text), _date(inner), journal)
    return articles


def _words(element: etree._Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


def _date(article: etree._Element) -> str:
    """Return the date of the issue, in ISO form as far as it goes."""
    stated = article.find("Journal/JournalIssue/PubDate")
    year = "" if stated is None else stated.findtext("Year") or (stated.findtext("MedlineDate") or "")[:4]
    if stated is None or not year.isdigit():
        return ""
    month = (stated.findtext("Month") or "").strip().lower()[:3]
    number = _MONTHS.index(month) + 1 if month in _MONTHS else int(month) if month.isdigit() else 0
    if not number:
        return year
    day = (stated.findtext("Day") or "").strip()
    return f"{year}-{number:02}" + (f"-{int(day):02}" if day.isdigit() else "")


BRAVE = "https://api.search.brave.com"
_CHARACTERS, _WORDS, _RESULTS = 400, 50, 20
"""Limits of the API: characters and words of a query, and results."""


class Brave(_WebSearch):
    """Searches the web by Brave. The key is in the environment variable `key_env`; it is sent in a header, never shown.

    ::

        BRAVE_API_KEY=... wardround score RUN --evaluators reasoning --judge SPEC --search brave

    Raises UsageError if the variable is not set.
    """

    FORM = "brave"
    AT_ONCE = 1
    PAGES = True

    name = "brave"

    def __init__(
        self, base_url: str = BRAVE, *, key_env: str = "BRAVE_API_KEY", limits: PageLimits | None = None
    ) -> None:
        self._key, self._url = os.environ.get(key_env, "").strip(), URL(base_url)
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise UsageError(f"the search by Brave needs a key: set the environment variable {key_env}")
        self.host = self._url.raw_host or ""
        self._advice = f"it refused: check the key in {key_env} and what it may still spend"
        self._web = Web(limits, local=[self.host] if base_url != BRAVE else [])

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the first results with their snippets; raises SearchError. Queries are cut to 50 words."""
        asked = {"q": _short(query), "count": str(min(most, _RESULTS)), "text_decorations": "false"}
        url = (self._url / "res/v1/web/search").with_query(asked)
        headers = {"X-Subscription-Token": self._key, "Accept": "application/json"}
        web = _json_object(await _fetch(self._web, url, headers, advice=self._advice)).get("web")
        if web is None:  # the API's way to say that nothing matches
            return []
        results = _json_objects(url, web.get("results") if isinstance(web, dict) else None)
        passages = []
        for row in results:
            more = row.get("extra_snippets")
            parts = [_line(row, "description"), *(part for part in more or () if isinstance(part, str))]
            passages.append(
                SearchHit(
                    _line(row, "title"),
                    _line(row, "url"),
                    "\n".join(part for part in parts if part),
                    date=_line(row, "page_age")[:10],
                    source=self.name,
                )
            )
        return [one for one in passages if one.text and one.url][:most]


def _short(query: str) -> str:
    return " ".join(query.split()[:_WORDS])[:_CHARACTERS]


class Searxng(_WebSearch):
    """Searches by the SearXNG server at `base_url`, which may be this machine and must allow `json` in search.formats.

    ::

        wardround score RUN --evaluators reasoning --judge SPEC --search searxng:http://localhost:8888

    Its `host` is the server; the engines behind it see the query too, which no guard can prevent.
    """

    FORM = "searxng:URL"
    PAGES = True

    def __init__(self, base_url: str, *, engines: Sequence[str] = (), limits: PageLimits | None = None) -> None:
        self._url, self._engines = endpoint_url(base_url), ",".join(engines)
        self.host = host_of(self._url)
        self.name = f"searxng:{self.host}" + (f":{self._engines}" if engines else "")
        self._web = Web(limits, local=[self.host])

    @classmethod
    async def opened_at(cls, place: str, means: Opening) -> Search:
        """Open the server at this address."""
        if not place:
            raise UsageError("searxng: name the server, for instance searxng:http://localhost:8888")
        return cls(place)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the first results with a snippet; raises SearchError, also if engines failed and no result came."""
        asked = {"q": query, "format": "json", **({"engines": self._engines} if self._engines else {})}
        url = join_path(self._url, "search").update_query(asked)
        advice = "it refused: does its settings.yml list json under search.formats?"
        read = _json_object(await _fetch(self._web, url, advice=advice))
        passages = [
            SearchHit(
                _line(row, "title"),
                _line(row, "url"),
                _line(row, "content"),
                date=_line(row, "publishedDate")[:10],
                source=_line(row, "engine"),
            )
            for row in _json_objects(url, read.get("results"))
        ]
        passages = [one for one in passages if one.text and one.url]
        if not passages and read.get("unresponsive_engines"):
            raise SearchError("refused", f"{self.name}: no result, as the engines it asks did not answer")
        return passages[:most]


Ask = Callable[[str, int], Sequence[Mapping[str, Json]]]
"""Takes (query, number of results) and returns rows with title, href and body."""
_SECONDS = 20
"""The time limit of a query to DuckDuckGo."""


class DuckDuckGo(Source):
    """Searches DuckDuckGo by the library `ddgs`, imported at the first query.

    ::

        wardround score RUN --evaluators reasoning --judge SPEC --search duckduckgo

    The library comes with the extra `search`; a query raises UsageError without it. It is told to ask only DuckDuckGo,
    since by default it would ask other engines too. It takes a proxy from DDGS_PROXY if that is set. `ask` replaces
    the library.
    """

    FORM = "duckduckgo"
    AT_ONCE = 1
    PAGES = True

    name, host = "duckduckgo", "html.duckduckgo.com"

    def __init__(self, ask: Ask | None = None, *, seconds: float = _SECONDS) -> None:
        self._ask, self._seconds = ask or _ask, seconds
        self._threads = anyio.CapacityLimiter(4)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the first results with a snippet; raises SearchError."""
        try:
            with anyio.fail_after(self._seconds):
                read = await anyio.to_thread.run_sync(
                    self._ask, query, most, limiter=self._threads, abandon_on_cancel=True
                )
        except TimeoutError:
            raise SearchError("timeout", f"{self.host}: no reply within {self._seconds:g} s") from None
        except ConnectionError:
            raise SearchError("connection", f"{self.host}: it could not be reached") from None
        passages = [
            SearchHit(_line(row, "title"), _line(row, "href"), _line(row, "body"), source=self.name) for row in read
        ]
        return [one for one in passages if one.text and one.url][:most]


def _ask(query: str, most: int) -> Sequence[Mapping[str, Json]]:
    """Run one query, in a thread because the library blocks. Its error messages may contain the query."""
    try:
        ddgs = importlib.import_module("ddgs")  # an extra
        failures = importlib.import_module("ddgs.exceptions")
    except ImportError:
        raise UsageError("the search by DuckDuckGo needs the library ddgs: install wardround[search]") from None
    try:
        searching = ddgs.DDGS(timeout=_SECONDS - 5)
        results: Sequence[Mapping[str, Json]] = searching.text(query, max_results=most, backend="duckduckgo")
        return results
    except failures.RatelimitException:
        raise SearchError("rate_limit", "DuckDuckGo: too many requests") from None
    except failures.TimeoutException:
        raise SearchError("timeout", "DuckDuckGo: no reply in time") from None
    except failures.DDGSException as error:
        if str(error) == "No results found.":  # it says the same when the site refused the query
            raise SearchError(
                "refused", "DuckDuckGo: no result, or turned away: the library does not say which"
            ) from None
        raise SearchError(
            "connection", f"DuckDuckGo: {type(error.args[0] if error.args else error).__name__}"
        ) from None
