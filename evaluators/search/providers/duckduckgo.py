"""Web search by DuckDuckGo, through the library ddgs."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import anyio
import anyio.to_thread

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.evaluators.search.contract import MOST, Source
from wardround.evaluators.search.results import SearchError, SearchHit

Ask = Callable[[str, int], Sequence[Mapping[str, Json]]]
"""Takes (query, number of results) and returns rows with title, href and body."""
_SECONDS = 20


class DuckDuckGo(Source):
    """Uses the library of the extra `search`, imported at the first query; raises UsageError without it.

    ::

        wardround score RUN --evaluators reasoning --judge SPEC --search duckduckgo

    It asks only DuckDuckGo: by default the library would ask other engines too. The library takes a proxy from
    DDGS_PROXY if that is set. `ask` replaces the library.
    """

    FORM = "duckduckgo"
    AT_ONCE = 1
    PAGES = True

    name, host = "duckduckgo", "html.duckduckgo.com"

    def __init__(self, ask: Ask | None = None, *, seconds: float = _SECONDS) -> None:
        self._ask, self._seconds = ask or _ask, seconds
        self._threads = anyio.CapacityLimiter(4)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the first results with a snippet; raises SearchError."""
        try:
            with anyio.fail_after(self._seconds):
                read = await anyio.to_thread.run_sync(
                    self._ask, query, most, limiter=self._threads, abandon_on_cancel=True
                )
        except TimeoutError:
            raise SearchError("timeout", f"{self.host}: no reply within {self._seconds:g} s") from None
        except ConnectionError:
            raise SearchError("connection", f"{self.host}: it could not be reached") from None
        passages = [
            SearchHit(_text(row, "title"), _text(row, "href"), _text(row, "body"), source=self.name) for row in read
        ]
        return [one for one in passages if one.text and one.url][:most]

    async def aclose(self) -> None:
        """Do nothing: there are no connections to close."""


def _ask(query: str, most: int) -> Sequence[Mapping[str, Json]]:
    """Run one query, in a thread because the library blocks. Its error messages may contain the query."""
    try:
        ddgs: Any = importlib.import_module("ddgs")  # an extra
        failures: Any = importlib.import_module("ddgs.exceptions")
    except ImportError:
        raise UsageError("the search by DuckDuckGo needs the library ddgs: install wardround[search]") from None
    try:
        searching = ddgs.DDGS(timeout=_SECONDS - 5)
        results: Sequence[Mapping[str, Json]] = searching.text(query, max_results=most, backend="duckduckgo")
        return results
    except failures.RatelimitException:
        raise SearchError("rate_limit", "DuckDuckGo: too many requests") from None
    except failures.TimeoutException:
        raise SearchError("timeout", "DuckDuckGo: no reply in time") from None
    except failures.DDGSException as error:
        if str(error) == "No results found.":  # it says the same when the site refused the query
            raise SearchError(
                "refused", "DuckDuckGo: no result, or turned away: the library does not say which"
            ) from None
        raise SearchError(
            "connection", f"DuckDuckGo: {type(error.args[0] if error.args else error).__name__}"
        ) from None


def _text(row: Mapping[str, Json], name: str) -> str:
    return " ".join(str(row.get(name) or "").split())
