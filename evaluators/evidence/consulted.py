"""Searches and pages as calls of an episode's log: recorded, resumed, replayed and counted like those of a model."""

from collections.abc import Sequence
from time import perf_counter
from typing import TypeVar

import msgspec

from wardround.engine.errors import ProviderError
from wardround.engine.once import Once
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message, Usage
from wardround.engine.seat import Voice
from wardround.evaluators.evidence.failure import KINDS, SearchError
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.ledger import Entry, Ledger
from wardround.evaluators.evidence.page import Page, Reader
from wardround.evaluators.evidence.search import MOST, Search

SEARCH, PAGE = "search", "page"
"""The purposes of the calls."""


class _Failure(msgspec.Struct):
    failure: tuple[str, str, int | None]


_told_back = msgspec.json.Decoder(tuple[Entry, ...] | _Failure).decode
T = TypeVar("T", Found, Page)


class Consulting(Model):
    """A search, and a reader of pages if there is one, as a `Model`: what it answers are hashes of texts in the store.

    They must be recording ones. A SearchError becomes a ProviderError of the same kind; but that a page can never be
    read is an answer (`{"failure": [kind, message, status]}`): nobody needs to ask for it again.
    """

    host = ""

    def __init__(self, search: Search, reader: Reader | None) -> None:
        self.name, self._search, self._reader = search.name, search, reader

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The hashes and places of what was found, as JSON; option `most`: passages at most."""
        start = perf_counter()
        try:
            found: Sequence[Found | Page]
            if purpose == PAGE and self._reader is not None:
                found = [await self._reader.read(messages[-1].content)]
            else:
                found = await self._search.find(messages[-1].content, most=int(options.get("most", MOST)))
            told = _told(found)
        except SearchError as error:
            if purpose != PAGE or not error.of_the_page:
                raise ProviderError(error.kind, str(error), status=error.status) from error
            told = msgspec.json.encode({"failure": (error.kind, str(error), error.status)}).decode()
        latency = perf_counter() - start
        return Completion(told, model=self.name, usage=Usage(cost=0.0), latency=latency)

    async def aclose(self) -> None:
        """The search and the reader are closed by whoever opened them."""


def _told(found: Sequence[Found | Page]) -> str:
    entries = []
    for one in found:
        place = msgspec.to_builtins(one)
        del place["text"]
        entries.append(Entry(one.digest, place))
    return msgspec.json.encode(entries).decode()


class _Voiced:
    def __init__(self, name: str, voice: Voice, ledger: Ledger) -> None:
        self.name, self._voice, self._ledger = name, voice, ledger
        self._once = Once[Completion](Exception, keep=True)

    async def _ask(self, what: str, purpose: str, kind: type[T], **options: Json) -> list[T]:
        async def call() -> Completion:
            return await self._voice.complete([Message("user", what)], purpose=purpose, **options)

        try:
            reply = await self._once.ask((purpose, what, *options.values()), call)
        except ProviderError as error:
            raise SearchError(error.kind if error.kind in KINDS else "refused", str(error)) from error
        entries = _told_back(reply.text)
        if isinstance(entries, _Failure):
            kind_of, message, status = entries.failure
            raise SearchError(kind_of, message, status=status)
        return [
            msgspec.convert({**entry.place, "text": await self._ledger.text(entry.digest)}, kind) for entry in entries
        ]

    async def aclose(self) -> None:
        """Nothing to give back."""


class ConsultedSearch(_Voiced):
    """The search behind a `Consulting` model; `voice` records the calls."""

    host = ""

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """What was found; raises SearchError."""
        return await self._ask(query, SEARCH, Found, **({} if most == MOST else {"most": most}))


class ConsultedReader(_Voiced):
    """The reader behind it."""

    async def read(self, url: str) -> Page:
        """The page; raises SearchError."""
        return (await self._ask(url, PAGE, Page))[0]
