"""The contract of a search, and the sites that evidence may come from."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from yarl import URL

from wardround.engine.errors import UsageError
from wardround.engine.models.hosts import normal
from wardround.evaluators.search.ledger import Ledger
from wardround.evaluators.search.results import Found

LIBRARY = "search"
"""The seat under which what judges look up is recorded and counted, apart from what they are asked."""
MOST = 3
"""Passages a query asks for: the top three, as in paper 002, section 4.3."""


class Search(Protocol):
    """A way to look something up.

    `name` says which search it is, with every setting that changes what it finds; `host` is where the query goes, ""
    if it leaves the process nowhere.
    """

    name: str
    host: str

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """At most `most` passages, best first; none where nothing was found. Raises SearchError."""
        ...

    async def aclose(self) -> None:
        """Give back connections."""
        ...


@runtime_checkable
class Documented(Protocol):
    """A search that knows how many documents it looks in."""

    documents: int


class Opening(NamedTuple):
    """What a search is opened with: the folder for an index, and the record of what was found before; None for none."""

    cache: Path | None = None
    ledger: Ledger | None = None


class Source(Search, Protocol):
    """A kind of search: what an entry point of the group `wardround.searches` stands for.

    A class of your own derives from it, has `name`, `host`, `find` and `aclose`, and is opened by what a user writes
    for it: the entry point's name, or `package.module:Class`.

    FORM: how it is written, such as `pubmed` or `corpus:PATH`.
    AT_ONCE: queries that it takes at a time; the others wait. Of a search with a `host`, which is tried again too.
    PAGES: whether what it finds are the beginnings of pages that are worth reading.
    """

    FORM: ClassVar[str] = ""
    AT_ONCE: ClassVar[int] = 4
    PAGES: ClassVar[bool] = False

    @classmethod
    async def opened_at(cls, place: str, means: Opening) -> Search:
        """The search at `place`, which is what the user wrote after the name and a colon; raises UsageError."""
        del means
        if place:
            raise UsageError(f"the search {cls.FORM} takes nothing after its name: write {cls.FORM}")
        return cls()


class Domains:
    """An allow list and a deny list of domains; a domain covers its subdomains, and the deny list wins.

    With an empty allow list every domain is wanted that is not denied. Raises UsageError for what is no domain.
    """

    def __init__(self, allow: Sequence[str] = (), deny: Sequence[str] = ()) -> None:
        self.allow = tuple(dict.fromkeys(normal(entry) for entry in allow))
        self.deny = tuple(dict.fromkeys(normal(entry) for entry in deny))
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


class Filtered:
    """A search whose passages come from wanted domains only; passages without a host (an offline corpus) stay.

    It asks for three times as many as are wanted, so that those left out may be replaced by the next ones.
    """

    def __init__(self, search: Search, domains: Domains) -> None:
        self.search, self.domains = search, domains
        self.name, self.host = f"{search.name} [{domains}]", search.host

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """The passages of wanted domains; raises SearchError."""
        found = await self.search.find(query, most=3 * most)
        return [one for one in found if self._stays(one.url)][:most]

    def _stays(self, url: str) -> bool:
        try:
            host = URL(url).raw_host
        except ValueError:
            return False
        return host is None or self.domains.wanted(host)

    async def aclose(self) -> None:
        """Close the search."""
        await self.search.aclose()


def _covers(domain: str, host: str) -> bool:
    return host == domain or host.endswith(f".{domain}")
