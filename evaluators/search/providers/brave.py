"""Web search by Brave's API, with a key."""

import os
from collections.abc import Sequence

from yarl import URL

from wardround.engine.errors import UsageError
from wardround.evaluators.search.contract import MOST, Source
from wardround.evaluators.search.providers import service
from wardround.evaluators.search.results import SearchHit
from wardround.evaluators.search.web import PageLimits, Web

BASE = "https://api.search.brave.com"
_CHARACTERS, _WORDS, _RESULTS = 400, 50, 20
"""Limits of the API: characters and words of a query, and results."""


class Brave(Source):
    """Reads the key from the environment variable `key_env`, sends it in a header, and shows it nowhere.

    ::

        BRAVE_API_KEY=... wardround score RUN --evaluators reasoning --judge SPEC --search brave

    Raises UsageError if the variable is not set.
    """

    FORM = "brave"
    AT_ONCE = 1
    PAGES = True

    name = "brave"

    def __init__(
        self, base_url: str = BASE, *, key_env: str = "BRAVE_API_KEY", limits: PageLimits | None = None
    ) -> None:
        self._key, self._url = os.environ.get(key_env, "").strip(), URL(base_url)
        if not self._key or not self._key.isascii() or not self._key.isprintable():
            raise UsageError(f"the search by Brave needs a key: set the environment variable {key_env}")
        self.host = self._url.raw_host or ""
        self._advice = f"it refused: check the key in {key_env} and what it may still spend"
        self._web = Web(limits, local=[self.host] if base_url != BASE else [])

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the first results with their snippets; raises SearchError. Queries are cut to 50 words."""
        asked = {"q": _short(query), "count": str(min(most, _RESULTS)), "text_decorations": "false"}
        url = (self._url / "res/v1/web/search").with_query(asked)
        headers = {"X-Subscription-Token": self._key, "Accept": "application/json"}
        read = service.json(await service.fetch(self._web, url, headers, advice=self._advice))
        web = read.get("web")
        if web is None:  # the API's way to say that nothing matches
            return []
        results = service.object_list(url, web.get("results") if isinstance(web, dict) else None)
        passages = []
        for row in results:
            more = row.get("extra_snippets")
            parts = [service.text(row, "description"), *(part for part in more or () if isinstance(part, str))]
            passages.append(
                SearchHit(
                    service.text(row, "title"),
                    service.text(row, "url"),
                    "\n".join(part for part in parts if part),
                    date=service.text(row, "page_age")[:10],
                    source=self.name,
                )
            )
        return [one for one in passages if one.text and one.url][:most]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._web.aclose()


def _short(query: str) -> str:
    return " ".join(query.split()[:_WORDS])[:_CHARACTERS]
