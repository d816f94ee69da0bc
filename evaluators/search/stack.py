"""Opens the search that a name stands for, and wraps it: retries, records, replays, guards cases, hides the truth.

`search_of` opens a search, and each wrapper around it changes one thing. `Recorded` answers from a store alone.
`SearchModel` makes a search a model, so that its queries are calls in the episode's log; `ConsultedSearch` asks it.
"""

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TypeVar

import anyio
import msgspec

from wardround.engine.errors import EgressError, ProviderError, UsageError
from wardround.engine.models.hosts import host_of, is_loopback
from wardround.engine.models.wrappers import may_receive
from wardround.engine.once import Once
from wardround.engine.plugins import import_path, is_bundled, plugin_names
from wardround.engine.plugins import load_plugin as installed
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message, Usage
from wardround.engine.seat import Voice
from wardround.engine.text import suggestion
from wardround.evaluators.search.contract import MOST, Opening, Search, Source, WrappedSearch
from wardround.evaluators.search.results import (
    KINDS,
    Ledger,
    Page,
    Reader,
    RecordedRequest,
    SearchError,
    SearchHit,
    StoredPassage,
)
from wardround.evaluators.search.web import checked_address
from wardround.scenarios.answers.truth import opening_contains
from wardround.scenarios.case import Truth
from wardround.scenarios.terms.wording import key

SEARCHES = "wardround.searches"
"""The group of entry points for searches; each refers to a class that is a Source."""
_CLASS = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


async def search_of(spec: str, *, cache: Path | None = None, ledger: Ledger | None = None) -> Search:
    """Open the search that `spec` names; `cache` is the folder for an index, `ledger` the record of earlier results.

    Queries to services are retried; `GuardedSearch` decides whether a query may leave at all.
    Raises UsageError that lists the available searches.
    """
    kind, place = search_kind(spec)
    search = await kind.opened_at(place, Opening(cache, ledger))
    if not is_bundled(kind):
        search = ForeignSearch(search)
    return RetriedSearch(search, at_once=kind.AT_ONCE) if search.host else search


def search_kind(spec: str) -> tuple[type[Source], str]:
    """Return the kind of search that `spec` names, and the text after its colon; raises UsageError."""
    spec = spec.strip()
    name, _, place = spec.partition(":")
    if name in plugin_names(SEARCHES):
        return _require_search(installed(SEARCHES, name), name), place.strip()
    if _CLASS.fullmatch(spec) and find_spec(name.partition(".")[0]) is not None:
        return _require_search(import_path(spec), spec), ""
    raise UsageError(f"no search is called {spec[:60]!r}{suggestion(name[:60], _forms())}, or package.module:Class")


def _require_search(kind: type[Source], name: str) -> type[Source]:
    if not all(hasattr(kind, member) for member in ("opened_at", "find", "FORM", "AT_ONCE", "PAGES")):
        raise UsageError(f"{name!r} is no search: derive its class from wardround.evaluators.search.contract.Source")
    return kind


def _forms() -> list[str]:
    """Return the written form of each installed search, or its name if it cannot be loaded."""
    forms = []
    for name in plugin_names(SEARCHES):
        try:
            forms.append(_require_search(installed(SEARCHES, name), name).FORM or name)
        except UsageError:
            forms.append(name)
    return forms


class ForeignSearch(WrappedSearch):
    """A search of another package. Nothing shows where its queries go, so it is guarded as if they left.

    If it names no host, or this machine, the name of its package serves as the host that the user can allow.
    """

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        if not search.host or is_loopback(search.host):
            self.host = type(search).__module__.partition(".")[0]


TEMPORARY = ("timeout", "connection", "rate_limit")
"""Kinds of error that a retry may overcome."""


class RetriedSearch(WrappedSearch):
    """Runs at most `at_once` queries at a time, each up to `attempts` times; the pause (s) doubles between attempts."""

    def __init__(self, search: Search, *, attempts: int = 3, pause: float = 1.0, at_once: int = 4) -> None:
        super().__init__(search)
        self._attempts, self._pause = attempts, pause
        self._places = anyio.CapacityLimiter(at_once)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the search's results; raises the SearchError of the last attempt."""
        for attempt in range(1, self._attempts):
            try:
                return await self._once(query, most)
            except SearchError as error:
                if error.kind not in TEMPORARY:
                    raise
            await anyio.sleep(self._pause * 2 ** (attempt - 1))
        return await self._once(query, most)

    async def _once(self, query: str, most: int) -> Sequence[SearchHit]:
        async with self._places:
            return await self.search.find(query, most=most)


SEARCH, PAGE = "search", "page"
"""The purposes of the calls."""


class _Failure(msgspec.Struct):
    failure: tuple[str, str, int | None]


_decoded = msgspec.json.Decoder(tuple[StoredPassage, ...] | _Failure).decode
T = TypeVar("T", SearchHit, Page)


class SearchModel(Model):
    """A search, with a reader of pages if there is one, as a `Model` that answers with hashes of stored texts.

    Both must record their results. A SearchError becomes a ProviderError of the same kind. But that a page can never be
    read is an answer (`{"failure": [kind, message, status]}`), so that it is not asked for again.
    """

    host = ""

    def __init__(self, search: Search, reader: Reader | None) -> None:
        self.name, self._search, self._reader = search.name, search, reader

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """Return the hashes and places of the results as JSON; option `most`: the largest number of passages."""
        start = perf_counter()
        try:
            results: Sequence[SearchHit | Page]
            if purpose == PAGE and self._reader is not None:
                results = [await self._reader.read(messages[-1].content)]
            else:
                results = await self._search.find(messages[-1].content, most=int(options.get("most", MOST)))
            body = _encode_entries(results)
        except SearchError as error:
            if purpose != PAGE or not error.of_the_page:
                raise ProviderError(error.kind, str(error), status=error.status) from error
            body = msgspec.json.encode({"failure": (error.kind, str(error), error.status)}).decode()
        return Completion(body, model=self.name, usage=Usage(cost=0.0), latency=perf_counter() - start)


def _encode_entries(results: Sequence[SearchHit | Page]) -> str:
    entries = []
    for one in results:
        place = msgspec.to_builtins(one)
        del place["text"]
        entries.append(StoredPassage(one.digest, place))
    return msgspec.json.encode(entries).decode()


class _Voiced:
    """A client of a SearchModel, whose calls a voice makes and records."""

    def __init__(self, name: str, voice: Voice, ledger: Ledger) -> None:
        self.name, self._voice, self._ledger = name, voice, ledger
        self._once = Once[Completion](Exception, keep=True)

    async def _ask(self, what: str, purpose: str, kind: type[T], **options: Json) -> list[T]:
        """Return the results that the model's reply names; an equal question is asked once. Raises SearchError."""

        async def call() -> Completion:
            return await self._voice.complete([Message("user", what)], purpose=purpose, **options)

        try:
            reply = await self._once.ask((purpose, what, *options.values()), call)
        except ProviderError as error:
            raise SearchError(error.kind if error.kind in KINDS else "refused", str(error)) from error
        entries = _decoded(reply.text)
        if isinstance(entries, _Failure):
            kind_of, message, status = entries.failure
            raise SearchError(kind_of, message, status=status)
        return await self._ledger.results(entries, kind)

    async def aclose(self) -> None:
        """Do nothing: there are no connections to close."""


class ConsultedSearch(_Voiced):
    """The search behind a `SearchModel` model; `voice` records the calls."""

    host = ""

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the results; raises SearchError."""
        return await self._ask(query, SEARCH, SearchHit, **({} if most == MOST else {"most": most}))


class ConsultedReader(_Voiced):
    """The reader behind a `SearchModel` model."""

    async def read(self, url: str) -> Page:
        """Return the page; raises SearchError."""
        return (await self._ask(url, PAGE, Page))[0]


class GuardedSearch(WrappedSearch):
    """A search that, if `restricted`, refuses to send a query to a host that is not allowed.

    Raises UsageError if an entry of `allowed_hosts` is no host.
    """

    def __init__(self, search: Search, allowed_hosts: Sequence[str] = (), *, restricted: bool) -> None:
        super().__init__(search)
        self._open = may_receive(search.host, allowed_hosts) or not restricted

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the search's results; raises EgressError or SearchError."""
        if not self._open:
            raise EgressError.to_host("the case is", f"a query of the search {self.name}", self.host)
        return await self.search.find(query, most=most)


class GuardedReader:
    """A reader that, if `restricted`, refuses to read a page of a host that is not allowed.

    The choice of a page reveals something of the case. Redirects are followed, since they reveal no more.
    """

    def __init__(self, reader: Reader, allowed_hosts: Sequence[str] = (), *, restricted: bool) -> None:
        self.reader, self.name = reader, reader.name
        self._allowed, self._restricted = allowed_hosts, restricted
        may_receive("", allowed_hosts)

    async def read(self, url: str) -> Page:
        """Return the page; raises EgressError or SearchError."""
        host = host_of(checked_address(url))
        if self._restricted and not may_receive(host, self._allowed):
            raise EgressError.to_host("the case is", "the address of a page", host)
        return await self.reader.read(url)

    async def aclose(self) -> None:
        """Close the reader."""
        await self.reader.aclose()


class Recorded(Source):
    """The record of the search called `name`.

    ::

        wardround score RUN --evaluators reasoning --judge SPEC --search recorded:pubmed

    A recorded failure fails again, with its kind. A question without a record gives the SearchError `unrecorded`, and
    is not looked up elsewhere.
    """

    FORM = "recorded:SEARCH"

    host = ""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.name, self._ledger = name, ledger

    @classmethod
    async def opened_at(cls, place: str, means: Opening) -> Search:
        """Open the record of a search by its spec, or by its recorded name, which contains `@` and a hash."""
        if means.ledger is None:
            raise UsageError(
                f"recorded:{place[:60]} answers from a store, and there is none: name the store it was recorded in"
            )
        if "@" in place or " [" in place:
            return cls(place, means.ledger)
        if not place or place.startswith("recorded"):
            raise UsageError("recorded: name the search that was recorded, for instance recorded:bundled")
        kind, where = search_kind(place)
        if not where and vars(kind).get("name") == place:  # reading results needs no key and no file
            return cls(place, means.ledger)
        search = await search_of(place, cache=means.cache)
        await search.aclose()
        return cls(search.name, means.ledger)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the recorded results; raises SearchError."""
        return await self._ledger.results(await _recorded(self._ledger, self.name, query, most), SearchHit)


class RecordedReader:
    """The record of the reader called `name`; misses and failures as in Recorded."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.name, self._ledger = name, ledger

    async def read(self, url: str) -> Page:
        """Return the page as recorded; raises SearchError."""
        return (await self._ledger.results(await _recorded(self._ledger, self.name, url, 0), Page))[0]

    async def aclose(self) -> None:
        """Do nothing: there are no connections to close."""


async def _recorded(ledger: Ledger, name: str, what: str, most: int) -> Sequence[StoredPassage]:
    asked = await ledger.asked(name, what, most) or await ledger.asked(name, what, most, failed=True)
    if asked is None:
        raise SearchError("unrecorded", f"{name}: the record holds no such question")
    if asked.error is not None:
        raise SearchError(*asked.error)
    return asked.entries


class RecordingSearch(WrappedSearch):
    """A search that stores every answer in the ledger before it returns it."""

    def __init__(self, search: Search, ledger: Ledger) -> None:
        super().__init__(search)
        self._ledger, self._once = ledger, Once[Sequence[SearchHit]](SearchError)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the results, from the search or from its first record; raises SearchError."""
        return await self._once.ask(self._ledger.key(self.name, query, most), lambda: self._find(query, most))

    async def _find(self, query: str, most: int) -> Sequence[SearchHit]:
        question = RecordedRequest(query, self.name, self.host, "")
        return await self._ledger.recorded(question, most, SearchHit, lambda: self.search.find(query, most=most))


class RecordingReader:
    """A reader that stores every page in the ledger before it returns it."""

    def __init__(self, reader: Reader, ledger: Ledger) -> None:
        self.reader, self.name = reader, reader.name
        self._ledger, self._once = ledger, Once[Page](SearchError)

    async def read(self, url: str) -> Page:
        """Return the page, from the reader or from its first record; raises SearchError."""
        return await self._once.ask(self._ledger.key(self.name, url, 0), lambda: self._read(url))

    async def _read(self, url: str) -> Page:
        async def read() -> Sequence[Page]:
            return [await self.reader.read(url)]

        return (await self._ledger.recorded(RecordedRequest(url, self.name, "", ""), 0, Page, read))[0]

    async def aclose(self) -> None:
        """Close the reader."""
        await self.reader.aclose()


RUN = 5
"""Number of consecutive words of the true treatment that make a leak; all words if it has fewer."""


class Secret:
    """The parts of a truth that no query may reveal: those that are not `known`.

    `known` is text that queries may use anyway, such as the judged answer. If it names the diagnosis, by any of its
    names, no query can reveal that any more. It may be long and most queries reveal nothing, so it is searched only if
    a query might. A truth in other words, or in another order, is not detected.
    """

    def __init__(self, truth: Truth, known: str = "") -> None:
        self._truth, self._known = truth, known
        words = key(truth.treatment).split()
        long = min(RUN, len(words))
        self._runs = [" ".join(words[at : at + long]) for at in range(len(words) - long + 1)] if words else []

    def revealed_by(self, query: str) -> list[str]:
        """Return the names of the diagnosis that `query` reveals, and the treatment or a run of its words.

        A run is returned in the normal form used for comparison.
        """
        names, normal_query = opening_contains(self._truth, query), f" {key(query)} "
        if names and opening_contains(self._truth, self._known):
            names = []
        runs = [run for run in self._runs if f" {run} " in normal_query]
        free = f" {key(self._known)} " if runs else ""
        return names + [run for run in runs if f" {run} " not in free][:1]


class LeakGuard(WrappedSearch):
    """A search that refuses a query that reveals the truth, with the SearchError `leak`; `known` as in Secret."""

    def __init__(self, search: Search, truth: Truth, known: str = "") -> None:
        super().__init__(search)
        self._secret = Secret(truth, known)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the search's results; raises SearchError."""
        if self._secret.revealed_by(query):
            raise SearchError("leak", "the query holds words of the case's true answer: it was not sent")
        return await self.search.find(query, most=most)
