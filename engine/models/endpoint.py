"""One endpoint: its address, its key, its timeouts, and the connections kept open to it."""

import asyncio
import errno
from collections.abc import Mapping

import aiohttp
import msgspec
from multidict import CIMultiDict, istr
from yarl import URL

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.hosts import address, host_of, joined, shown

KEEP_ALIVE = 30.0
"""Seconds an idle connection is kept."""


class Timeouts(msgspec.Struct, frozen=True):
    """Seconds. A reply that is not streamed sends its first byte when the model has finished, so that one is long."""

    connect: float = 30.0
    first_byte: float = 600.0
    total: float = 900.0


class Endpoint:
    """An address with the connections to it; made without touching the network, opened by the first call.

    The number of connections has no cap of its own unless `connections` says so: as many are open as calls are in
    flight, which the batch caps. Proxies of the environment are not used (`trust_env` of aiohttp is off) and redirects
    not followed: both would carry a case to another host than the one named.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: str = "",
        timeouts: Timeouts | None = None,
        headers: Mapping[str, str] | None = None,
        connections: int = 0,
    ) -> None:
        self.timeouts = timeouts or Timeouts()
        self.url = address(base_url)
        self.host = host_of(self.url)
        self.address = shown(self.url)
        self.key = key.strip()
        if not (self.key.isascii() and self.key.isprintable()):
            raise UsageError(f"the key for {self.host} holds characters that no key can have: check how it was set")
        sent = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "wardround"}
        sent.update(headers or {})
        if self.key:
            sent["Authorization"] = f"Bearer {self.key}"
        self._headers = CIMultiDict({istr(name): value for name, value in sent.items()})
        self._connections = connections
        self._session: aiohttp.ClientSession | None = None

    def path(self, path: str) -> URL:
        """The address of a call, such as `chat/completions`."""
        return joined(self.url, path)

    async def post(self, url: URL, body: bytes, where: str) -> tuple[int, Mapping[str, str], bytes]:
        """(status, headers, body) of the reply; raises ProviderError timeout or connection."""
        session = self._session
        if session is None:
            session = self._session = self._open()
        try:
            async with session.post(url, data=body, allow_redirects=False) as response:
                return response.status, response.headers, await response.read()
        except TimeoutError as error:
            raise self._late(error, where) from None
        except (aiohttp.ClientError, OSError) as error:
            raise _broken(error, where) from None

    async def aclose(self) -> None:
        """Close the connections; a later call opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
            await asyncio.sleep(0)  # aiohttp closes its sockets one turn of the loop later

    def _open(self) -> aiohttp.ClientSession:
        times = self.timeouts
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, keepalive_timeout=KEEP_ALIVE, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(
                total=times.total, sock_connect=times.connect, sock_read=times.first_byte, ceil_threshold=5
            ),
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )

    def _late(self, error: TimeoutError, where: str) -> ProviderError:
        times = self.timeouts
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            what = f"no connection within {times.connect:g} s"
        elif isinstance(error, aiohttp.SocketTimeoutError):
            what = f"no byte for {times.first_byte:g} s"
        else:
            what = f"no whole reply within {times.total:g} s"
        return ProviderError("timeout", f"{where}: {what}")


def _broken(error: Exception, where: str) -> ProviderError:
    """What went wrong with a connection, without the library's text: it may quote headers."""
    number = getattr(error, "errno", None)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        what = "the host's name is not known (DNS)"
    elif number == errno.EMFILE:
        what = "too many open files: run fewer episodes at once, or raise the limit with `ulimit -n`"
    elif isinstance(error, aiohttp.ClientSSLError):
        what = "no secure connection (TLS): check the certificate, or whether the endpoint speaks plain http"
    elif number == errno.ECONNREFUSED:
        what = "the connection was refused: nothing listens there"
    elif isinstance(error, aiohttp.ClientConnectorError):
        what = f"no connection ({error.strerror or 'unreachable'})"
    elif isinstance(error, aiohttp.ClientPayloadError):
        what = "the reply broke off in the middle"
    elif isinstance(error, aiohttp.ClientResponseError):
        what = "what came back is no HTTP"
    else:
        what = "the connection was cut"
    return ProviderError("connection", f"{where}: {what}")
