"""Evidence that is recorded, and answered from the record without network."""

from collections.abc import Awaitable, Sequence
from pathlib import Path

import anyio
import pytest
from counted import Counted
from ticks import Ticks
from until import until
from website import Answer, Website

from wardround.engine.errors import StoreError
from wardround.engine.stores.sqlite import SqliteStore
from wardround.evaluators.reasoning.evidence import cite
from wardround.evaluators.search.pages import Pages
from wardround.evaluators.search.results import Ledger, RecordedRequest, SearchError, SearchHit
from wardround.evaluators.search.stack import Recorded, RecordedReader, RecordingReader, RecordingSearch
from wardround.evaluators.search.web import Web
from wardround.testing.memory_store import MemoryStore

FOUND = [
    SearchHit("Gout", "http://a.test/2", "Gout is treated with colchicine.", 10, 42, "2019", "NIH"),
    SearchHit("痛风", "", "秋水仙碱 – «治疗»"),
]


class Listed:
    """A search that goes through a list: what it finds, or the error in its place."""

    name, host = "listed", "search.test"

    def __init__(self, *answers: Sequence[SearchHit] | SearchError | None, wait: float = 0.0) -> None:
        self.answers, self.wait, self.queries = list(answers), wait, list[str]()

    async def find(self, query: str, *, most: int = 3) -> Sequence[SearchHit]:
        self.queries.append(query)
        await anyio.sleep(self.wait)
        answer = self.answers.pop(0)
        if answer is None:
            await anyio.sleep_forever()
        if isinstance(answer, SearchError):
            raise answer
        return (answer or [])[:most]

    async def aclose(self) -> None:
        """Nothing to give back."""


async def kind_of(asking: Awaitable[object]) -> str:
    """The kind of the error that it ends with."""
    with pytest.raises(SearchError) as caught:
        await asking
    return caught.value.kind


async def test_what_was_recorded_is_answered_again_without_the_search() -> None:
    store = MemoryStore()
    search = Listed(FOUND, [])
    recording = RecordingSearch(search, Ledger(store, clock=Ticks(0)))
    assert await recording.find("gout") == FOUND
    assert await recording.find("gout") == FOUND
    assert await recording.find("nothing") == []
    assert search.queries == ["gout", "nothing"]
    replayed = Recorded("listed", Ledger(store))
    assert await replayed.find("gout") == FOUND
    assert await replayed.find("nothing") == []
    assert await kind_of(replayed.find("Gout")) == "unrecorded"
    assert await kind_of(replayed.find("gout", most=2)) == "unrecorded"
    assert await kind_of(Recorded("other", Ledger(store)).find("gout")) == "unrecorded"
    assert replayed.host == ""
    asked = await Ledger(store).asked("listed", "gout", 3)
    assert asked is not None
    assert (asked.what, asked.provider, asked.host, asked.at) == (
        "gout",
        "listed",
        "search.test",
        "1970-01-01T00:00:00+00:00",
    )
    assert [entry.digest for entry in asked.entries] == [one.digest for one in FOUND]


async def test_a_failure_is_asked_again_but_replayed_where_no_answer_came() -> None:
    store = MemoryStore()
    busy, late = SearchError("rate_limit", "too many"), SearchError("timeout", "late")
    recording = RecordingSearch(Listed(busy, late, FOUND), Ledger(store))
    replayed = Recorded("listed", Ledger(store))
    assert await kind_of(recording.find("gout")) == "rate_limit"
    assert await kind_of(replayed.find("gout")) == "rate_limit"
    assert await kind_of(recording.find("gout")) == "timeout"
    assert await recording.find("gout") == FOUND
    assert await replayed.find("gout") == FOUND


async def test_scopes_are_kept_apart() -> None:
    store = MemoryStore()
    search = Listed(FOUND, FOUND[:1])
    assert len(await RecordingSearch(search, Ledger(store, scope="a")).find("gout")) == 2
    assert len(await RecordingSearch(search, Ledger(store, scope="b")).find("gout")) == 1
    assert len(await Recorded("listed", Ledger(store, scope="a")).find("gout")) == 2
    assert await kind_of(Recorded("listed", Ledger(store)).find("gout")) == "unrecorded"


async def test_the_same_question_is_asked_once_by_many_at_a_time() -> None:
    search = Listed(FOUND, SearchError("timeout", "late"), wait=0.02)
    recording = RecordingSearch(search, Ledger(MemoryStore()))
    came: list[int | str] = []

    async def ask(query: str) -> None:
        try:
            came.append(len(await recording.find(query)))
        except SearchError as error:
            came.append(error.kind)

    for query in ("gout", "fever"):
        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(ask, query)
    assert came == [2] * 20 + ["timeout"] * 20
    assert search.queries == ["gout", "fever"]


async def test_one_who_asked_and_was_cancelled_leaves_the_question_to_the_next() -> None:
    search = Listed(None, FOUND)
    recording = RecordingSearch(search, Ledger(MemoryStore()))

    first, found = anyio.CancelScope(), list[Sequence[SearchHit]]()

    async def ask() -> None:
        with first:
            await recording.find("gout")

    async def ask_next() -> None:
        found.append(await recording.find("gout"))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await until(lambda: search.queries == ["gout"])
        group.start_soon(ask_next)
        await anyio.lowlevel.checkpoint()
        first.cancel()
    assert found == [FOUND]
    assert search.queries == ["gout", "gout"]


async def test_pages_are_recorded_in_a_file_and_replayed_when_the_site_is_gone(tmp_path: Path) -> None:
    body = (
        "<html><head><title>T</title></head><body>" + "<p>Aspirin is not given to children.</p>" * 9 + "</body></html>"
    )
    store = SqliteStore(tmp_path / "runs.db")
    async with Website({"/a": Answer(body.encode()), "/b": Answer(b"", 404)}) as site:
        url = site.url
        reader = RecordingReader(Pages(Web(local=["127.0.0.1"])), Ledger(store))
        page = await reader.read(f"{url}/a")
        assert await reader.read(f"{url}/a") == page
        assert await kind_of(reader.read(f"{url}/b")) == "refused"
        assert len(site.seen) == 2
        await reader.aclose()
    await store.aclose()
    store = SqliteStore(tmp_path / "runs.db")
    replayed = RecordedReader("pages", Ledger(store))
    assert await replayed.read(f"{url}/a") == page
    assert await kind_of(replayed.read(f"{url}/b")) == "refused"
    assert await kind_of(replayed.read(f"{url}/c")) == "unrecorded"
    citation = cite(page, "is not given to  children")
    assert citation is not None
    text = await Ledger(store).text(page.digest)
    assert text[citation.start : citation.end] == "is not given to children"
    await store.aclose()


async def test_a_citation_gives_back_the_very_words() -> None:
    store = MemoryStore()
    ledger = Ledger(store)
    for found in await RecordingSearch(Listed(FOUND), ledger).find("gout"):
        assert await Ledger(store).text(found.digest) == found.text
    gout = cite(FOUND[0], "treated with Colchicine")
    assert gout is not None
    text = await ledger.text(FOUND[0].digest)
    assert (text[gout.start : gout.end], gout.how) == ("treated with colchicine", "spaced")
    assert cite(FOUND[0], "treated with penicillin") is None
    with pytest.raises(StoreError):
        await ledger.text("0" * 32)


async def test_a_passage_that_another_query_found_too_is_stored_once() -> None:
    store = Counted(MemoryStore())
    ledger = Ledger(store)

    async def found() -> list[SearchHit]:
        return [SearchHit("t", "", "the same passage")]

    for query in ("one", "another", "a third"):
        asked = RecordedRequest(query, "p", "", "")
        assert [one.text for one in await ledger.recorded(asked, 5, SearchHit, found)] == ["the same passage"]
    assert store.calls["put"] == 1
    record = await ledger.asked("p", "a third", 5)
    assert record is not None
    assert [one.text for one in await Ledger(store).results(record.entries, SearchHit)] == ["the same passage"]
