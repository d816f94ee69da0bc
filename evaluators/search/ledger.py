"""The record of searches and pages in a store: the query, its time, and the hashes of the texts returned."""

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from wardround.engine.errors import TextLost
from wardround.engine.events import digest_of
from wardround.engine.protocols import Store
from wardround.engine.records import Clock
from wardround.evaluators.search.results import Found, Page, SearchError

KEPT = 20_000_000
"""Number of characters of the most recently used texts that a ledger caches."""


class StoredPassage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text of a result, by its hash; `place` has the other fields of its Found or Page."""

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


T = TypeVar("T", Found, Page)
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
        parts = msgspec.json.encode(["evidence", 1, self._scope, provider, what, most, failed])
        return digest_of(parts)

    async def _entries(self, texts: Sequence[Found | Page]) -> tuple[StoredPassage, ...]:
        digests = await self.store.put([one.text.encode("utf-8") for one in texts])
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
