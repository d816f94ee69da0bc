"""Search in PubMed through its E-utilities: abstracts of the biomedical literature."""

import os
import time
from collections.abc import Sequence

import anyio
from lxml import etree
from yarl import URL

from wardround.evaluators.search.contract import MOST, Source
from wardround.evaluators.search.providers import service
from wardround.evaluators.search.results import SearchError, SearchHit
from wardround.evaluators.search.web import PageLimits, Web

BASE = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class Pubmed(Source):
    """Makes two requests per query: for the numbers of the most relevant articles, then for their abstracts.

    ::

        wardround score RUN --evaluators reasoning --judge SPEC --search pubmed

    It keeps to PubMed's limits: 3 requests a second, or 10 with a key (environment variable `key_env`, optional).
    PubMed requires every word of a query, so keywords find more than sentences.
    """

    FORM = "pubmed"

    name = "pubmed"

    def __init__(
        self, base_url: str = BASE, *, key_env: str = "NCBI_API_KEY", limits: PageLimits | None = None
    ) -> None:
        self._url = URL(base_url)
        self.host = self._url.raw_host or ""
        key = os.environ.get(key_env, "").strip()
        self._common = {"db": "pubmed", "tool": "wardround", **({"api_key": key} if key else {})}
        self._pause, self._next, self._turn = (0.11 if key else 0.34), 0.0, anyio.Lock()
        self._web = Web(limits, local=[self.host] if base_url != BASE else [])

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the most relevant articles that have an abstract; raises SearchError."""
        asked = {"term": query, "retmode": "json", "sort": "relevance", "retmax": str(2 * most)}
        url = self._address("esearch.fcgi", asked)
        await self._wait()
        read = service.json(await service.fetch(self._web, url)).get("esearchresult")
        numbers = read.get("idlist") if isinstance(read, dict) and not read.get("ERROR") else None
        if not isinstance(numbers, list) or not all(isinstance(one, str) and one.isdigit() for one in numbers):
            raise service.malformed(url)
        if not numbers:
            return []
        url = self._address("efetch.fcgi", {"id": ",".join(numbers), "retmode": "xml"})
        await self._wait()
        articles = _articles(url, (await service.fetch(self._web, url)).body)
        return [articles[number] for number in numbers if number in articles][:most]

    def _address(self, tool: str, asked: dict[str, str]) -> URL:
        return (self._url / tool).with_query({**self._common, **asked})

    async def _wait(self) -> None:
        async with self._turn:
            await anyio.sleep(max(0.0, self._next - time.monotonic()))
            self._next = time.monotonic() + self._pause

    async def aclose(self) -> None:
        """Close the connections."""
        await self._web.aclose()


def _articles(url: URL, body: bytes) -> dict[str, SearchHit]:
    """Return the articles with an abstract by their number."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        tree = etree.fromstring(body, parser)
    except etree.XMLSyntaxError:
        raise service.malformed(url) from None
    if tree is None or tree.tag != "PubmedArticleSet":
        raise SearchError("malformed", f"{service.malformed(url)}")
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
