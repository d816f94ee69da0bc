"""One endpoint: its address, its key, its timeouts, and the connections kept open to it."""

import errno
import socket
import ssl
from collections.abc import Mapping

import anyio
from yarl import URL

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.hosts import address, host_of, joined, secrets_of, shown
from wardround.engine.models.transport import BrokenOff, Late, Lines, NoHttp, Timeouts

KEEP_ALIVE = 30.0
"""Seconds an idle connection is kept."""


class Endpoint:
    """An address with the connections to it; made without touching the network, opened by the first call.

    As many connections are open as calls are in flight, which the batch caps. Proxies of the environment are not used
    and redirects not followed: both would carry a case to another host than the one named.
    """

    def __init__(self, base_url: str, *, key: str = "", timeouts: Timeouts | None = None) -> None:
        self.timeouts = timeouts or Timeouts()
        self.url = address(base_url)
        self.host = host_of(self.url)
        self.address = shown(self.url)
        self.key = key.strip()
        if not (self.key.isascii() and self.key.isprintable()):
            raise UsageError(f"the key for {self.host} holds characters that no key can have: check how it was set")
        self.secrets = (self.key, *secrets_of(self.url))
        sent = {
            "Host": self.url.host_port_subcomponent or self.host,
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            **({"Authorization": f"Bearer {self.key}"} if self.key else {}),
        }
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        self._heads: dict[URL, bytes] = {}
        self._lines = Lines(self.url, self.timeouts, KEEP_ALIVE)

    def path(self, path: str) -> URL:
        """The address of a call, such as `chat/completions`."""
        return joined(self.url, path)

    async def post(self, url: URL, body: bytes, where: str) -> tuple[int, Mapping[str, str], bytes]:
        """(status, headers with lower-case names, body) of the reply; raises ProviderError timeout or connection."""
        head = self._heads.get(url)
        if head is None:
            head = self._heads[url] = f"POST {url.raw_path_qs} HTTP/1.1\r\n{self._headers}".encode("ascii")
        try:
            return await self._lines.request(head, body)
        except Late as error:
            raise ProviderError("timeout", f"{where}: {error}") from None
        except OSError as error:
            unheard = isinstance(error, ConnectionRefusedError | socket.gaierror) or error.errno in _NOBODY
            raise ProviderError("connection", f"{where}: {_broken(error)}", unheard=unheard) from None

    async def alive(self, within: float) -> bool:
        """Whether anything answers `GET base/models` in so many seconds, and does not say that it is unwell (5xx)."""
        url = self.path("models")
        head = f"GET {url.raw_path_qs} HTTP/1.1\r\n{self._headers}".encode("ascii")
        with anyio.move_on_after(within):
            try:
                status, _, _ = await self._lines.request(head, b"")
            except OSError:
                return False
            return status < 500
        return False

    async def aclose(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._lines.aclose()


_NOBODY = (errno.EHOSTUNREACH, errno.ENETUNREACH)


def _broken(error: OSError) -> str:
    """What went wrong with a connection, in our words."""
    if isinstance(error, socket.gaierror):
        return "the host's name is not known (DNS)"
    if isinstance(error, ssl.SSLError):
        return "no secure connection (TLS): check the certificate, or whether the endpoint speaks plain http"
    if isinstance(error, NoHttp):
        return f"what came back is {error}"
    if error.errno == errno.EMFILE:
        return "too many open files: run fewer episodes at once, or raise the limit with `ulimit -n`"
    if isinstance(error, BrokenOff):
        return str(error)
    if isinstance(error, ConnectionRefusedError):
        return "the connection was refused: nothing listens there"
    return "the connection was cut" if isinstance(error, ConnectionError) else f"no connection ({error.strerror})"
