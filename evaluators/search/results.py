"""The results of a search: a passage, a page or a typed failure, and the ledger that records them in a store.

A search returns `SearchHit`s, a reader a `Page`, or they raise `SearchError`. `Ledger` stores each answer, and its
texts under their hashes, so that a quotation can be checked and a search replayed.
"""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol, TypeVar

import msgspec

from wardround.engine.errors import TextLost, WardroundError
from wardround.engine.events import digest_of
from wardround.engine.protocols import Store
from wardround.engine.records import Clock


class SearchHit(msgspec.Struct, frozen=True, omit_defaults=True):
    """A passage: its text and its source.

    `start` and `end` count characters in the document at `url`, of which `text` is a part; both are 0 if the provider
    returns a snippet without its position. `date` is what the source states (ISO, often only a year), `source` the
    collection or site.
    """

    title: str
    url: str
    text: str
    start: int = 0
    end: int = 0
    date: str = ""
    source: str = ""

    @property
    def digest(self) -> str:
        """The name under which a store keeps the text."""
        return digest_of(self.text)


Found = SearchHit
"""The name of `SearchHit` up to version 0.1, for searches that were written then."""


class Page(msgspec.Struct, frozen=True, omit_defaults=True):
    """The main text of a page.

    `url` is the requested address, `final` the one that answered, after redirects. `kind` is html, plain or pdf.
    `date` is what the page itself states, not a guess.
    """

    url: str
    final: str
    text: str
    title: str = ""
    date: str = ""
    kind: str = "html"

    @property
    def digest(self) -> str:
        """The name under which a store keeps the text."""
        return digest_of(self.text)


class Reader(Protocol):
    """A way to read the page at an address; `name` as for a search."""

    name: str

    async def read(self, url: str) -> Page:
        """Return the page; raises SearchError."""

    async def aclose(self) -> None:
        """Close connections."""


SEARCHED = "search/"
"""Prefix of the reason of a result that is missing because a search failed; its kind follows."""

KINDS = (
    "timeout",
    "connection",
    "refused",
    "rate_limit",
    "malformed",
    "too_large",
    "unsupported",
    "redirects",
    "private",
    "denied",
    "empty",
    "leak",
    "unrecorded",
)
"""The first five concern a search or a page, the next six a page: too long, of an unsupported type, redirected in a
circle or too often, at an address of a private network, of an unwanted domain, without text. A `leak` is a query that
gives the truth away; `unrecorded` is a question that the record lacks."""


_OF_THE_PAGE = ("too_large", "unsupported", "redirects", "private", "denied", "empty")
_MAY_PASS = (408, 423, 425, 429)
"""Statuses below 500 after which another request may succeed."""


class SearchError(WardroundError):
    """No evidence, and why: `kind` is one of KINDS, `status` the HTTP status if there was one.

    The message contains neither query nor key.
    """

    def __init__(self, kind: str, message: str, *, status: int | None = None) -> None:
        if kind not in KINDS:
            raise ValueError(f"no kind of search error: {kind}")
        super().__init__(message)
        self.kind = kind
        self.status = status

    def __reduce__(self) -> tuple[type["SearchError"], tuple[str, str], dict[str, int | None]]:
        """Support pickling: the process that reads PDFs sends this error."""
        return type(self), (self.kind, str(self)), {"status": self.status}

    @property
    def of_the_page(self) -> bool:
        """Whether the page itself is the cause: it does not exist, or cannot or may not be read.

        Another request would give the same result. Errors of transport may pass: `timeout`, `connection`,
        `rate_limit`, a server error (a status from 500 on), an incomplete reply (`malformed`, no status).
        """
        if self.kind == "refused":  # also a page that shows a refusal instead of its text
            return (self.status or 0) < 500 and self.status not in _MAY_PASS
        return self.kind in _OF_THE_PAGE or (self.kind == "malformed" and self.status == 200)


KEPT = 20_000_000
"""Number of characters of the most recently used texts that a ledger caches."""


class StoredPassage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text of a result, by its hash; `place` has the other fields of its SearchHit or Page."""

    digest: str
    place: dict[str, str | int]


class RecordedRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One search or one page: `what` is the query or the address, `at` the time of the request (UTC, ISO).

    `error` is (kind, message) of a SearchError.
    """

    what: str
    provider: str
    host: str
    at: str
    entries: tuple[StoredPassage, ...] = ()
    error: tuple[str, str] | None = None


T = TypeVar("T", SearchHit, Page)
Ask = Callable[[], Awaitable[Sequence[T]]]
"""Makes a search, or reads a page."""

_decode = msgspec.json.Decoder(RecordedRequest).decode


class Ledger:
    """Stores and returns records, in a store or in one part of it.

    An answer is final: within a `scope` (a run, say; "" is shared by all) the same question is asked once. A failure is
    recorded too, but the question is asked again; a replay returns the failure if no answer ever came.
    """

    def __init__(self, store: Store, *, scope: str = "", clock: Clock = time.time) -> None:
        self.store, self._scope, self._clock = store, scope, clock
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._characters = 0

    async def asked(self, provider: str, what: str, most: int = 0, *, failed: bool = False) -> RecordedRequest | None:
        """Return the record of a question, or of its failure; `most` is 0 for a page."""
        body = await self.store.recall(self.key(provider, what, most, failed=failed))
        return None if body is None else _decode(body)

    async def recorded(self, question: RecordedRequest, most: int, kind: type[T], ask: Ask[T]) -> Sequence[T]:
        """Return the recorded results of a question; without a record `ask`, and record the results or the failure.

        Texts are recorded first, so that a record never names a missing one. If another process was faster, its answer
        counts. Raises SearchError.
        """
        record = await self.asked(question.provider, question.what, most)
        if record is not None:
            return await self.results(record.entries, kind)
        question = msgspec.structs.replace(question, at=self._now())
        try:
            results = await ask()
        except SearchError as error:
            failure = msgspec.structs.replace(question, error=(error.kind, str(error)))
            key = self.key(question.provider, question.what, most, failed=True)
            await self.store.keep(key, msgspec.json.encode(failure))
            raise
        entries = await self._entries(results)
        record = await self._keep(msgspec.structs.replace(question, entries=entries), most)
        return results if record.entries == entries else await self.results(record.entries, kind)

    async def results(self, entries: Sequence[StoredPassage], kind: type[T]) -> list[T]:
        """Return the results of a record: passages or pages."""
        return [msgspec.convert({**one.place, "text": await self.text(one.digest)}, kind) for one in entries]

    async def text(self, digest: str) -> str:
        """Return a text by its hash; raises TextLost if the store lacks it or has other bytes under that name."""
        text = self._texts.get(digest)
        if text is None:
            body = await self.store.get(digest)
            if digest_of(body) != digest:
                raise TextLost(f"the text {digest} is not what it was when it was kept")
            text = body.decode("utf-8")
        self._at_hand(digest, text)
        return text

    def _at_hand(self, digest: str, text: str) -> None:
        if digest not in self._texts:
            self._texts[digest] = text
            self._characters += len(text)
        self._texts.move_to_end(digest)
        while self._characters > KEPT:
            self._characters -= len(self._texts.popitem(last=False)[1])

    def key(self, provider: str, what: str, most: int, *, failed: bool = False) -> str:
        """Return the name of a record in the store's call cache."""
        return digest_of(msgspec.json.encode(["evidence", 1, self._scope, provider, what, most, failed]))

    async def _entries(self, texts: Sequence[SearchHit | Page]) -> tuple[StoredPassage, ...]:
        """Put texts into the store, and return their hashes and places."""
        bodies = [one.text.encode("utf-8") for one in texts]
        digests = [digest_of(body) for body in bodies]
        # what is at hand was read from the store or put into it
        if new := [body for digest, body in zip(digests, bodies, strict=True) if digest not in self._texts]:
            await self.store.put(new)
        places: list[dict[str, str | int]] = [msgspec.to_builtins(one) for one in texts]
        for digest, place, one in zip(digests, places, texts, strict=True):
            del place["text"]
            self._at_hand(digest, one.text)
        return tuple(StoredPassage(digest, place) for digest, place in zip(digests, places, strict=True))

    async def _keep(self, asked: RecordedRequest, most: int) -> RecordedRequest:
        key = self.key(asked.provider, asked.what, most)
        await self.store.keep(key, msgspec.json.encode(asked))
        first = await self.store.recall(key)
        return asked if first is None else _decode(first)

    def _now(self) -> str:
        return datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds")
