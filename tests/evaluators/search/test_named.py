"""Searches by the word that names them, and their patience."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from wardround.engine.errors import UsageError
from wardround.evaluators.search.results import SearchError, SearchHit
from wardround.evaluators.search.stack import RetriedSearch, search_of


@pytest.mark.parametrize(
    ("spec", "name", "host"),
    [
        ("duckduckgo", "duckduckgo", "html.duckduckgo.com"),
        ("pubmed", "pubmed", "eutils.ncbi.nlm.nih.gov"),
        ("searxng:http://localhost:8888", "searxng:localhost", "localhost"),
        (" brave ", "brave", "api.search.brave.com"),
    ],
)
async def test_a_service(monkeypatch: pytest.MonkeyPatch, spec: str, name: str, host: str) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "x")
    search = await search_of(spec)
    assert (search.name, search.host) == (name, host)
    await search.aclose()


async def test_a_corpus_with_its_index_elsewhere(tmp_path: Path) -> None:
    source, cache = anyio.Path(tmp_path / "a.txt"), tmp_path / "cache"
    await source.write_text("Gout is treated with colchicine.")
    search = await search_of(f"corpus:{source}", cache=cache)
    assert search.host == ""
    assert [one.title for one in await search.find("gout")] == ["a"]
    await search.aclose()
    assert [one.parent async for one in anyio.Path(cache).iterdir()] == [anyio.Path(cache)]


@pytest.mark.parametrize(
    "spec", ["", "corpus", "corpus:", "searxng", "google", "pubmed:x", "searxng:ftp://x", "corpus:/no/where"]
)
async def test_what_names_no_search(spec: str) -> None:
    with pytest.raises(UsageError):
        await search_of(spec)


class Failing:
    """Fails as told, then finds nothing; `most_at_once` is how many waited together."""

    name, host = "failing", "h"

    def __init__(self, *kinds: str) -> None:
        self.kinds, self.asked, self.now, self.most_at_once = list(kinds), 0, 0, 0

    async def find(self, query: str, *, most: int = 3) -> Sequence[SearchHit]:
        self.asked += 1
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        await anyio.sleep(0.002)
        self.now -= 1
        if self.kinds:
            raise SearchError(self.kinds.pop(0), "x")
        return []

    async def aclose(self) -> None:
        """Nothing to give back."""


@pytest.mark.parametrize(
    ("kinds", "end", "asked"),
    [
        ([], None, 1),
        (["timeout", "rate_limit"], None, 3),
        (["timeout", "connection", "rate_limit"], "rate_limit", 3),
        (["refused"], "refused", 1),
        (["timeout", "malformed"], "malformed", 2),
    ],
)
async def test_what_may_pass_is_tried_again(kinds: list[str], end: str | None, asked: int) -> None:
    search = Failing(*kinds)
    steady = RetriedSearch(search, pause=0.001)
    if end is None:
        assert await steady.find("x") == []
    else:
        with pytest.raises(SearchError) as caught:
            await steady.find("x")
        assert caught.value.kind == end
    assert search.asked == asked


async def test_only_so_many_at_a_time() -> None:
    search = Failing()
    steady = RetriedSearch(search, at_once=3)
    async with anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(steady.find, "x")
    assert (search.asked, search.most_at_once) == (20, 3)
