"""Keeps a restricted case's words from every host the user did not name."""

from collections.abc import Sequence

from wardround.engine.errors import EgressError
from wardround.engine.models.hosts import host_of
from wardround.engine.models.wrappers import allowed
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.page import Page, Reader
from wardround.evaluators.evidence.search import MOST, Search
from wardround.evaluators.evidence.web import address


class Guarded:
    """A search that, if `restricted`, refuses before a query leaves for a host that is not allowed.

    Raises UsageError if an entry of `allowed_hosts` is no host.
    """

    def __init__(self, search: Search, allowed_hosts: Sequence[str] = (), *, restricted: bool) -> None:
        self.search, self.name, self.host = search, search.name, search.host
        self._open = allowed(search.host, allowed_hosts) or not restricted

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """What the search finds; raises EgressError or SearchError."""
        if not self._open:
            raise _egress("query", self.host)
        return await self.search.find(query, most=most)

    async def aclose(self) -> None:
        """Close the search."""
        await self.search.aclose()


class GuardedReader:
    """The same for pages: which page is read tells of the case. Redirects are followed, as they carry no more."""

    def __init__(self, reader: Reader, allowed_hosts: Sequence[str] = (), *, restricted: bool) -> None:
        self.reader, self.name = reader, reader.name
        self._allowed, self._restricted = allowed_hosts, restricted
        allowed("", allowed_hosts)

    async def read(self, url: str) -> Page:
        """The page; raises EgressError or SearchError."""
        host = host_of(address(url))
        if self._restricted and not allowed(host, self._allowed):
            raise _egress("page's address", host)
        return await self.reader.read(url)

    async def aclose(self) -> None:
        """Close the reader."""
        await self.reader.aclose()


def _egress(what: str, host: str) -> EgressError:
    return EgressError(
        f"a restricted case's {what} was about to be sent to {host}, which is neither this machine nor named: if your "
        f"agreement on the data permits it, add --allow-host {host}"
    )
