"""Searches and pages as calls of an episode: what the log holds, what is asked once, how failures come through."""

from collections.abc import Sequence

import anyio
import msgspec
import pytest
from bench import PlayedSearch
from reasoned import OTHER, PASSAGE, PlayedReader

from wardround.engine.errors import ProviderError, StoreError
from wardround.engine.protocols import Store
from wardround.engine.records import Completion, Json, Message
from wardround.evaluators.search.results import KEPT, KINDS, Ledger, Reader, SearchError, SearchHit
from wardround.evaluators.search.stack import (
    ConsultedReader,
    ConsultedSearch,
    RecordingReader,
    RecordingSearch,
    SearchModel,
)
from wardround.testing.memory_store import MemoryStore

URL = "https://a.test/page"


class Counting(MemoryStore):
    """A store that knows which texts it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def get(self, digest: str) -> bytes:
        self.asked.append(digest)
        return await super().get(digest)


class Heard:
    """A voice that passes on what is asked, and keeps it with the reply."""

    name = "heard"

    def __init__(self, model: SearchModel) -> None:
        self._model = model
        self.calls: list[tuple[str, str, dict[str, Json]]] = []
        self.replies: list[str] = []

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        self.calls.append((purpose, messages[-1].content, options))
        await anyio.lowlevel.checkpoint()
        reply = await self._model.complete(messages, purpose=purpose, **options)
        self.replies.append(reply.text)
        return reply


def consulted(
    *found: SearchHit | SearchError, reader: Reader | None = None, store: Store | None = None
) -> tuple[ConsultedSearch, ConsultedReader, Heard]:
    store = store or MemoryStore()
    ledger = Ledger(store)
    recording = RecordingReader(reader, ledger) if reader else None
    voice = Heard(SearchModel(RecordingSearch(PlayedSearch(*found), ledger), recording))
    return ConsultedSearch("played", voice, ledger), ConsultedReader("played", voice, ledger), voice


async def test_what_was_found_comes_back_and_the_log_holds_its_hashes() -> None:
    search, _, voice = consulted(PASSAGE, OTHER)
    assert await search.find("pain") == [PASSAGE, OTHER]
    assert await search.find("pain", most=1) == [PASSAGE]
    assert voice.calls == [("search", "pain", {}), ("search", "pain", {"most": 1})]
    entries = msgspec.json.decode(voice.replies[0])
    assert [entry["digest"] for entry in entries] == [PASSAGE.digest, OTHER.digest]
    assert PASSAGE.text not in voice.replies[0]
    assert await search.find("pain", most=0) == []


async def test_a_page_comes_back_whole() -> None:
    _, reader, voice = consulted(reader=PlayedReader({URL: "痛风 – «a page»"}))
    page = await reader.read(URL)
    assert (page.url, page.text, page.title) == (URL, "痛风 – «a page»", f"Page {URL}")
    assert voice.calls == [("page", URL, {})]


async def test_the_same_is_asked_once_also_at_the_same_moment() -> None:
    search, reader, voice = consulted(PASSAGE, reader=PlayedReader({URL: "A page."}))
    got: list[int] = []

    async def ask() -> None:
        got.append(len(await search.find("pain")) + len((await reader.read(URL)).text))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(ask)
    await ask()
    assert got == [8] * 5
    assert [purpose for purpose, *_ in voice.calls] == ["search", "page"]


@pytest.mark.parametrize("kind", KINDS)
async def test_failures_keep_their_kind_and_hold_for_all_who_ask(kind: str) -> None:
    error = SearchError(kind, "it did not work", status=500)
    search, reader, voice = consulted(error, reader=PlayedReader({URL: error}))
    for _ in range(2):
        for asking in (search.find("pain"), reader.read(URL)):
            with pytest.raises(SearchError, match="it did not work") as caught:
                await asking
            assert caught.value.kind == kind
    assert len(voice.calls) == 2


@pytest.mark.parametrize(
    ("kind", "status", "answered"),
    [
        ("refused", 404, True),
        ("refused", None, True),
        ("refused", 403, True),
        ("refused", 425, False),
        ("refused", 503, False),
        ("too_large", None, True),
        ("unsupported", 200, True),
        ("denied", None, True),
        ("redirects", None, True),
        ("private", None, True),
        ("empty", 200, True),
        ("malformed", 200, True),
        ("malformed", None, False),
        ("timeout", None, False),
        ("connection", None, False),
        ("rate_limit", 429, False),
        ("unrecorded", None, False),
    ],
)
async def test_that_a_page_can_never_be_read_is_an_answer_and_of_a_search_it_is_none(
    kind: str, status: int | None, answered: bool
) -> None:
    error = SearchError(kind, "why it failed", status=status)
    search, reader, voice = consulted(error, reader=PlayedReader({URL: error}))
    with pytest.raises(SearchError):
        await search.find("pain")
    assert voice.replies == []  # the call failed: a later scoring asks again
    with pytest.raises(SearchError, match="why it failed") as caught:
        await reader.read(URL)
    assert caught.value.kind == kind
    assert len(voice.replies) == answered


async def test_an_endpoint_s_own_kinds_are_a_refusal() -> None:
    class Broken(Heard):
        async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
            raise ProviderError("quota", "spent")

    store = MemoryStore()
    ledger = Ledger(store)
    voice = Broken(SearchModel(PlayedSearch(), None))
    with pytest.raises(SearchError, match="spent") as caught:
        await ConsultedSearch("played", voice, ledger).find("pain")
    assert caught.value.kind == "refused"


async def test_a_recorded_call_is_answered_from_the_store_alone() -> None:
    store = MemoryStore()
    search, _, voice = consulted(PASSAGE, store=store)
    await search.find("pain")

    class Taped(Heard):
        async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
            return Completion(voice.replies[0])

    again = ConsultedSearch("played", Taped(SearchModel(PlayedSearch(), None)), Ledger(store))
    assert await again.find("pain") == [PASSAGE]
    lost = MemoryStore()
    gone = ConsultedSearch("played", Taped(SearchModel(PlayedSearch(), None)), Ledger(lost))
    with pytest.raises(StoreError):
        await gone.find("pain")


@pytest.mark.long
async def test_a_ledger_keeps_the_texts_used_last_at_hand() -> None:
    store = Counting()
    texts = [letter * (KEPT // 4) for letter in "abcde"]
    digests = await store.put([text.encode() for text in texts])
    ledger = Ledger(store)
    for at in (0, 1, 2, 3, 0, 0, 4):  # one too many: the second goes
        assert await ledger.text(digests[at]) == texts[at]
    store.asked.clear()
    assert [(await ledger.text(digests[at]))[0] for at in (0, 2, 3, 4, 1)] == list("acdeb")
    assert store.asked == [digests[1]]
