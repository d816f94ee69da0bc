"""Opens the search that a user names: by an installed name with an argument, or by the user's own class."""

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import anyio

from wardround.engine.errors import UsageError
from wardround.engine.models.hosts import is_loopback
from wardround.engine.plugins import import_path, is_bundled, plugin_names, suggestion
from wardround.engine.plugins import load_plugin as installed
from wardround.evaluators.search.contract import MOST, Opening, Search, Source, WrappedSearch
from wardround.evaluators.search.results import Ledger, SearchError, SearchHit

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


PASSING = ("timeout", "connection", "rate_limit")
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
                if error.kind not in PASSING:
                    raise
            await anyio.sleep(self._pause * 2 ** (attempt - 1))
        return await self._once(query, most)

    async def _once(self, query: str, most: int) -> Sequence[SearchHit]:
        async with self._places:
            return await self.search.find(query, most=most)
