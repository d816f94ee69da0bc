"""Connections that are made only to addresses of the public network, checked where the connection is made."""

import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

import anyio
import httpcore

from wardround.engine.models.hosts import normal

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Looks up the addresses of a host."""


class PrivateAddress(Exception):
    """A host whose address is this machine's or a private network's."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, as the system resolves it; raises OSError."""
    try:
        return [ipaddress.ip_address(host).compressed]
    except ValueError:
        pass
    found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def is_public(address: str) -> bool:
    """Whether `address` belongs to the public network: not loopback, private, link-local, reserved or multicast.

    An IPv6 address that carries an IPv4 one (mapped, 6to4, Teredo, NAT64) is as public as that one.
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(ip.packed[-4:])
        if inner is not None:
            return is_public(str(inner))
    if any(ip in net for net in _SPECIAL if net.version == ip.version) and ip not in _OPEN:
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and not ip.is_unspecified


_SPECIAL = tuple(
    ipaddress.ip_network(net)
    for net in (
        "192.0.0.0/24",
        "192.88.99.0/24",
        "64:ff9b:1::/48",
        "100:0:0:1::/64",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
    )
)
"""Blocks that IANA's registries of special addresses keep from the public network, which older Pythons do not know."""
_OPEN = frozenset(map(ipaddress.ip_address, ("192.0.0.9", "192.0.0.10")))
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class Checked(httpcore.AsyncNetworkBackend):
    """Resolves a host, refuses it if any of its addresses is not public, and connects to the very address it checked.

    A name that resolves differently the second time therefore gains nothing. The hosts in `local` may have any address.
    """

    def __init__(self, local: Sequence[str], look_up: Resolve = resolve) -> None:
        self._local, self._look_up = frozenset(normal(one) for one in local), look_up
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (the library's contract)
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect; raises PrivateAddress, httpcore.ConnectError or httpcore.ConnectTimeout."""
        try:
            found = await self._look_up(host, port)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError("the host cannot be looked up") from error
        if host not in self._local and not all(is_public(address) for address in found):
            raise PrivateAddress(host)
        failed: httpcore.ConnectError | httpcore.ConnectTimeout = httpcore.ConnectError("the host has no address")
        for address in found:
            try:
                return await self._backend.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 (the library's contract)
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """No page lies behind a socket of this machine."""
        raise PrivateAddress(path)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._backend.sleep(seconds)
