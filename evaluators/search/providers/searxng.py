"""Search by a SearXNG server, over its JSON interface."""

from collections.abc import Sequence

from wardround.engine.errors import UsageError
from wardround.engine.models.hosts import endpoint_url, host_of, join_path
from wardround.evaluators.search.contract import MOST, Opening, Search, Source
from wardround.evaluators.search.providers import service
from wardround.evaluators.search.results import SearchError, SearchHit
from wardround.evaluators.search.web import PageLimits, Web


class Searxng(Source):
    """Uses the server at `base_url`, which may be this machine. It must allow `json` in search.formats.

    ::

        wardround score RUN --evaluators reasoning --judge SPEC --search searxng:http://localhost:8888

    Its `host` is the server; the engines behind it see the query too, which no guard can prevent.
    """

    FORM = "searxng:URL"
    PAGES = True

    def __init__(self, base_url: str, *, engines: Sequence[str] = (), limits: PageLimits | None = None) -> None:
        self._url, self._engines = endpoint_url(base_url), ",".join(engines)
        self.host = host_of(self._url)
        self.name = f"searxng:{self.host}" + (f":{self._engines}" if engines else "")
        self._web = Web(limits, local=[self.host])

    @classmethod
    async def opened_at(cls, place: str, means: Opening) -> Search:
        """Open the server at this address."""
        if not place:
            raise UsageError("searxng: name the server, for instance searxng:http://localhost:8888")
        return cls(place)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the first results with a snippet; raises SearchError, also if engines failed and no result came."""
        asked = {"q": query, "format": "json", **({"engines": self._engines} if self._engines else {})}
        url = join_path(self._url, "search").update_query(asked)
        advice = "it refused: does its settings.yml list json under search.formats?"
        read = service.json(await service.fetch(self._web, url, advice=advice))
        passages = [
            SearchHit(
                service.text(row, "title"),
                service.text(row, "url"),
                service.text(row, "content"),
                date=service.text(row, "publishedDate")[:10],
                source=service.text(row, "engine"),
            )
            for row in service.object_list(url, read.get("results"))
        ]
        passages = [one for one in passages if one.text and one.url]
        if not passages and read.get("unresponsive_engines"):
            raise SearchError("refused", f"{self.name}: no result, as the engines it asks did not answer")
        return passages[:most]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._web.aclose()
