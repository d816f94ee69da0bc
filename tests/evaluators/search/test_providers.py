"""The search services, each against a server on this machine that answers as it does."""

import json
import threading
from collections.abc import Awaitable, Callable, Sequence

import pytest
from examples import first_ones
from website import Answer, Website

from wardround.engine.errors import UsageError
from wardround.evaluators.search.contract import Search
from wardround.evaluators.search.results import SearchError, SearchHit
from wardround.evaluators.search.services import Brave, DuckDuckGo, Pubmed, Searxng
from wardround.evaluators.search.web import PageLimits

KEY = "bsa-geheim-1234567"
LIMITS = PageLimits(size=100_000, seconds=100)


def told(value: object, status: int = 200) -> Answer:
    """JSON."""
    return Answer(json.dumps(value).encode(), status, {"Content-Type": "application/json"})


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of somebody who has a key for each service."""
    monkeypatch.setenv("BRAVE_API_KEY", KEY)
    monkeypatch.setenv("NCBI_API_KEY", KEY)


MADE: dict[str, tuple[str, Callable[[str, PageLimits], Search]]] = {
    "searxng": ("/search", lambda url, limits: Searxng(url, limits=limits)),
    "brave": ("/res/v1/web/search", lambda url, limits: Brave(url, limits=limits)),
    "pubmed": ("/esearch.fcgi", lambda url, limits: Pubmed(url, limits=limits)),
}


async def failing(asking: Awaitable[Sequence[SearchHit]]) -> SearchError:
    """The error that it ends with."""
    with pytest.raises(SearchError) as caught:
        await asking
    return caught.value


@pytest.mark.parametrize("name", first_ones(list(MADE), 1))
@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (told({"error": f"bad key {KEY} for secret query"}, 401), "refused"),
        (told({}, 403), "refused"),
        (told({"error": "slow down"}, 429), "rate_limit"),
        (told({}, 500), "refused"),
        (Answer(status=302, headers={"Location": "http://127.0.0.1:1/elsewhere"}), "refused"),
        (Answer(b"<html>Rate limit reached: aspirin is deadly</html>"), "malformed"),
        (told({"results": "none", "web": 3, "esearchresult": {"ERROR": "x"}}), "malformed"),
        (told([1, 2]), "malformed"),
        (Answer(b"{", wait=3600), "timeout"),
        (Answer(b"x" * 200_000), "too_large"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_failed_search_is_an_error_that_shows_neither_key_nor_query(
    name: str, answer: Answer, kind: str
) -> None:
    path, made = MADE[name]
    async with Website({path: answer}) as site:
        search = made(site.url, PageLimits(seconds=0.3) if kind == "timeout" else LIMITS)
        error = await failing(search.find("secret query"))
        await search.aclose()
    assert error.kind == kind
    assert KEY not in str(error) + repr(error) + repr(search) + search.name
    assert "secret" not in str(error)


@pytest.mark.parametrize("name", MADE)
async def test_a_closed_port_is_a_connection(name: str) -> None:
    async with Website({}) as site:
        url = site.url
    search = MADE[name][1](url, LIMITS)
    assert (await failing(search.find("secret query"))).kind == "connection"
    await search.aclose()


async def test_searxng() -> None:
    rows = [
        {
            "title": "One",
            "url": "http://a.test/1",
            "content": "Aspirin  and\nfever",
            "publishedDate": "2020-02-03T00:00:00",
        },
        {"title": "No words", "url": "http://a.test/2", "content": None, "engine": "x"},
        {"title": "Two", "url": "http://a.test/3", "content": "Fever", "engine": "bing"},
    ]
    async with Website({"/sx/search": told({"results": rows})}) as site:
        search = Searxng(f"{site.url}/sx", engines=["bing"])
        found = await search.find("fever & aspirin?", most=2)
        await search.aclose()
    assert found == [
        SearchHit("One", "http://a.test/1", "Aspirin and fever", date="2020-02-03"),
        SearchHit("Two", "http://a.test/3", "Fever", source="bing"),
    ]
    assert dict(site.seen[0].url.query) == {"q": "fever & aspirin?", "format": "json", "engines": "bing"}
    assert (search.host, search.name) == ("127.0.0.1", "searxng:127.0.0.1:bing")


async def test_searxng_without_engines_has_failed_and_without_hits_has_found_nothing() -> None:
    async with Website({"/search": told({"results": [], "unresponsive_engines": [["bing", "timeout"]]})}) as site:
        assert (await failing(Searxng(site.url).find("x"))).kind == "refused"
        site.pages = {"/search": told({"results": [], "unresponsive_engines": []})}
        assert await Searxng(site.url).find("x") == []


async def test_brave() -> None:
    row = {
        "title": "One",
        "url": "http://a.test/1",
        "description": "Fever",
        "extra_snippets": ["More"],
        "page_age": "2023-05-01T1",
    }
    async with Website({"/res/v1/web/search": told({"web": {"results": [row, {"title": "x"}]}})}) as site:
        search = Brave(site.url)
        assert await search.find("word " * 80) == [
            SearchHit("One", "http://a.test/1", "Fever\nMore", date="2023-05-01", source="brave")
        ]
        assert site.seen[0].headers["x-subscription-token"] == KEY
        assert KEY not in str(site.seen[0].url)
        assert len(site.seen[0].url.query["q"].split()) == 50
        site.pages = {"/res/v1/web/search": told({"type": "search"})}
        assert await search.find("x") == []
        await search.aclose()


async def test_brave_without_a_key_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BRAVE_API_KEY")
    with pytest.raises(UsageError, match="BRAVE_API_KEY"):
        Brave()


ARTICLES = b"""<?xml version="1.0"?><!DOCTYPE PubmedArticleSet SYSTEM "http://127.0.0.1:9/pubmed.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation><PMID>11</PMID><Article><Journal><JournalIssue><PubDate><Year>2019</Year><Month>Mar</Month>
<Day>4</Day></PubDate></JournalIssue><Title>J Fever</Title></Journal><ArticleTitle>On <i>aspirin</i></ArticleTitle>
<Abstract><AbstractText Label="AIM">To see.</AbstractText><AbstractText>It works.</AbstractText></Abstract></Article>
</MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>12</PMID><Article><ArticleTitle>No abstract</ArticleTitle></Article>
</MedlineCitation>
</PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>13</PMID><Article><Journal><JournalIssue><PubDate><MedlineDate>2001 Spring
</MedlineDate></PubDate></JournalIssue></Journal><Abstract><AbstractText>Other.</AbstractText></Abstract></Article>
</MedlineCitation></PubmedArticle></PubmedArticleSet>"""


async def test_pubmed_gives_abstracts_in_order_of_relevance() -> None:
    numbers = told({"esearchresult": {"idlist": ["13", "12", "11"]}})
    async with Website({"/esearch.fcgi": numbers, "/efetch.fcgi": Answer(ARTICLES)}) as site:
        search = Pubmed(site.url)
        found = await search.find("aspirin fever")
        assert [one.url for one in found] == [
            "https://pubmed.ncbi.nlm.nih.gov/13/",
            "https://pubmed.ncbi.nlm.nih.gov/11/",
        ]
        assert [one.date for one in found] == ["2001", "2019-03-04"]
        assert (found[1].title, found[1].text, found[1].source) == ("On aspirin", "AIM: To see.\nIt works.", "J Fever")
        assert site.seen[1].url.query["id"] == "13,12,11"
        site.pages = {"/esearch.fcgi": told({"esearchresult": {"idlist": []}})}
        assert await search.find("zebra") == []
        site.pages = {"/esearch.fcgi": numbers, "/efetch.fcgi": Answer(b"<html>busy</html>")}
        error = await failing(search.find("aspirin fever"))
        await search.aclose()
    assert error.kind == "malformed"
    assert KEY not in str(error)


async def test_duckduckgo_asks_in_a_thread_and_names_its_failures() -> None:
    rows = [{"title": "One", "href": "http://a.test", "body": " Fever  up "}, {"title": "Two", "href": "", "body": "x"}]
    assert await DuckDuckGo(lambda query, most: rows).find("x") == [
        SearchHit("One", "http://a.test", "Fever up", source="duckduckgo")
    ]

    over = threading.Event()

    def late(query: str, most: int) -> list[dict[str, str]]:
        over.wait(60)
        return []

    assert (await failing(DuckDuckGo(late, seconds=0.05).find("x"))).kind == "timeout"
    over.set()


async def test_the_library_of_duckduckgo_fails_as_a_search_does() -> None:
    """The suite blocks every way out, so the library's own call must come back as a typed error."""
    pytest.importorskip("ddgs")
    # Its client is no Python and is not seen by the suite's guard, so it is given a proxy that nobody serves.
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DDGS_PROXY", "http://127.0.0.1:9")
        error = await failing(DuckDuckGo().find("secret query"))
    assert error.kind in ("connection", "refused", "timeout")
    assert "secret" not in str(error)
