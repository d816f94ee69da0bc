"""Which sites evidence may come from."""

from collections.abc import Sequence

from yarl import URL

from wardround.engine.errors import UsageError
from wardround.engine.models.hosts import normal
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.search import MOST, Search


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
