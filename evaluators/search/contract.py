"""The protocol of a search, and the filter for the sites that evidence may come from."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from anyio.lowlevel import checkpoint
from yarl import URL

from wardround.engine.errors import UsageError
from wardround.engine.models.hosts import normal_host
from wardround.evaluators.search.results import Ledger, SearchHit

LIBRARY = "search"
"""The seat that records and counts the judges' searches, apart from their questions."""
MOST = 3
"""Number of passages that a query asks for: the top three, as in MedR-Bench, section 4.3."""


class Search(Protocol):
    """A way to look something up.

    `name` identifies the search with every setting that changes its results. `host` is where the query goes, "" if it
    stays within the process.
    """

    name: str
    host: str

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return at most `most` passages, best first; none if nothing matches. Raises SearchError."""

    async def aclose(self) -> None:
        """Close connections."""


@runtime_checkable
class SizedSearch(Protocol):
    """A search that knows how many documents it covers."""

    documents: int


class Opening(NamedTuple):
    """The means to open a search: the folder for an index, and the record of earlier results; None for none."""

    cache: Path | None = None
    ledger: Ledger | None = None


class Source(Search, Protocol):
    """A kind of search: what an entry point of the group `wardround.searches` refers to.

    ::

        search = Pubmed()
        passages = await search.find("giant cell arteritis temporal artery biopsy", most=3)
        await search.aclose()

    A class of your own derives from it and has `name`, `host` and `find`; one with connections has `aclose` too. A user
    selects it by the entry point's name, or by `package.module:Class`.

    FORM: how a user writes it, such as `pubmed` or `corpus:PATH`.
    AT_ONCE: concurrent queries to a search with a `host`; further ones wait, and failed ones are tried again.
    PAGES: whether its results are the beginnings of pages that are worth reading.
    """

    FORM: ClassVar[str] = ""
    AT_ONCE: ClassVar[int] = 4
    PAGES: ClassVar[bool] = False

    @classmethod
    async def opened_at(cls, place: str, means: Opening) -> Search:
        """Open the search at `place`, the user's text after the name and a colon; raises UsageError."""
        if place:
            raise UsageError(f"the search {cls.FORM} takes nothing after its name: write {cls.FORM}")
        return cls()

    async def aclose(self) -> None:
        """Close connections; a search without any inherits this."""
        await checkpoint()


class Domains:
    """An allow list and a deny list of domains; a domain covers its subdomains, and the deny list wins.

    With an empty allow list every domain that is not denied is wanted. Raises UsageError for an invalid domain.
    """

    def __init__(self, allow: Sequence[str] = (), deny: Sequence[str] = ()) -> None:
        self.allow = tuple(dict.fromkeys(normal_host(entry) for entry in allow))
        self.deny = tuple(dict.fromkeys(normal_host(entry) for entry in deny))
        if wrong := [entry for entry in self.allow if entry in self.deny]:
            raise UsageError(f"{wrong[0]} is both allowed and denied")

    def wanted(self, host: str) -> bool:
        """Whether evidence may come from `host`."""
        host = host.lower().rstrip(".")
        if any(_covers(entry, host) for entry in self.deny):
            return False
        return not self.allow or any(_covers(entry, host) for entry in self.allow)

    def __str__(self) -> str:
        return ",".join([*self.allow, *(f"-{entry}" for entry in self.deny)])


class WrappedSearch:
    """A search around another, whose name and host it keeps; a subclass changes what a query does."""

    def __init__(self, search: Search) -> None:
        self.search, self.name, self.host = search, search.name, search.host

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the search's results; raises SearchError."""
        return await self.search.find(query, most=most)

    async def aclose(self) -> None:
        """Close the search."""
        await self.search.aclose()


class FilteredSearch(WrappedSearch):
    """A search that keeps only passages from wanted domains, and those without a host (an offline corpus).

    It asks for three times as many passages as needed, so that the next ones may replace those left out.
    """

    def __init__(self, search: Search, domains: Domains) -> None:
        super().__init__(search)
        self.domains, self.name = domains, f"{search.name} [{domains}]"

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the passages from wanted domains; raises SearchError."""
        return [one for one in await self.search.find(query, most=3 * most) if self._stays(one.url)][:most]

    def _stays(self, url: str) -> bool:
        try:
            host = URL(url).raw_host
        except ValueError:
            return False
        return host is None or self.domains.wanted(host)


def _covers(domain: str, host: str) -> bool:
    return host == domain or host.endswith(f".{domain}")
