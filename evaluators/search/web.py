"""HTTP for searches and pages: GET requests to public addresses, within limits.

`Web` resolves a host, checks the address, and connects to just that address. So no page leads to this machine or to its
network.
"""

import ipaddress
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import anyio
import msgspec
from yarl import URL

from wardround.engine.models.hosts import normal_host
from wardround.engine.text import count_noun
from wardround.evaluators.search.contract import Domains
from wardround.evaluators.search.results import SearchError

if TYPE_CHECKING:
    import httpcore

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Looks up the addresses of a host."""


class PrivateAddress(Exception):
    """A host whose address belongs to this machine or a private network."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host, as the system resolves it; raises OSError."""
    try:
        return [ipaddress.ip_address(host).compressed]
    except ValueError:
        pass
    entries = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def is_public(address: str) -> bool:
    """Whether `address` belongs to the public network: not loopback, private, link-local, reserved or multicast.

    An IPv6 address that contains an IPv4 one (mapped, 6to4, Teredo, NAT64) is public if that one is.
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
"""Blocks that IANA reserves for special purposes and that older versions of Python do not know."""
_OPEN = frozenset(map(ipaddress.ip_address, ("192.0.0.9", "192.0.0.10")))
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def _public_network(local: Sequence[str], look_up: Resolve) -> "httpcore.AsyncNetworkBackend":
    """A network that resolves a host, refuses it if any address is not public, and connects to the checked address.

    So a name that resolves differently the second time gains nothing. The hosts in `local` may have any address.
    """
    import httpcore  # noqa: PLC0415 imported here, so that only a reader of pages waits for it

    known = frozenset(normal_host(one) for one in local)

    class PublicNetwork(httpcore.AsyncNetworkBackend):
        """Connects to nothing but checked addresses."""

        def __init__(self) -> None:
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
                addresses = await look_up(host, port)
            except (OSError, UnicodeError) as error:
                raise httpcore.ConnectError("the host cannot be looked up") from error
            if host not in known and not all(is_public(address) for address in addresses):
                raise PrivateAddress(host)
            failed: httpcore.ConnectError | httpcore.ConnectTimeout = httpcore.ConnectError("the host has no address")
            for address in addresses:
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
            """Raise PrivateAddress: no page is behind a socket of this machine."""
            raise PrivateAddress(path)

        async def sleep(self, seconds: float) -> None:
            """Wait."""
            await self._backend.sleep(seconds)

    return PublicNetwork()


AGENT = "wardround/0.1 (evidence reader)"


class PageLimits(msgspec.Struct, frozen=True):
    """Limits of a request: `size` in bytes, also after decompression, `seconds` for all hops, number of `redirects`."""

    size: int = 5_000_000
    seconds: float = 20.0
    redirects: int = 5


class WebReply(msgspec.Struct, frozen=True):
    """A reply: the address that sent it, its headers in lower case, and its decompressed body."""

    url: URL
    status: int
    headers: Mapping[str, str]
    body: bytes


class Web:
    """A client without cookies, cache, scripts, a proxy from the environment, or the user's credentials.

    At each hop it refuses a host with any private address, except those in `local`. It follows redirects only if `get`
    receives the wanted domains, and never from https to http.
    """

    def __init__(
        self, limits: PageLimits | None = None, *, local: Sequence[str] = (), look_up: Resolve = resolve
    ) -> None:
        import httpcore  # noqa: PLC0415 see above

        self.limits = limits or PageLimits()
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=64,
            max_keepalive_connections=16,
            keepalive_expiry=15.0,
            network_backend=_public_network(local, look_up),
        )

    async def get(
        self, url: URL, headers: Mapping[str, str] | None = None, *, domains: Domains | None = None
    ) -> WebReply:
        """Return the last reply, whatever its status; raises SearchError. Without `domains` no redirect is followed."""
        sent = {"User-Agent": AGENT, "Accept-Encoding": "identity", **(headers or {})}
        where, hops = checked_address(url), 0
        seen = {str(where)}
        try:
            with anyio.fail_after(self.limits.seconds):
                while True:
                    if domains is not None and not domains.wanted(where.raw_host or ""):
                        raise SearchError("denied", f"{safe_address(where)}: evidence from this domain is not wanted")
                    got = await self._one(where, sent)
                    if (
                        domains is None
                        or not (target := got.headers.get("location"))
                        or got.status not in (301, 302, 303, 307, 308)
                    ):
                        return got
                    where, hops = _next(where, target), hops + 1
                    if str(where) in seen or hops > self.limits.redirects:
                        times = f"more than {count_noun(self.limits.redirects, 'time')}"
                        raise SearchError(
                            "redirects",
                            f"{safe_address(url)}: redirected {'in a circle' if str(where) in seen else times}",
                        )
                    seen.add(str(where))
        except TimeoutError:
            raise SearchError(
                "timeout", f"{safe_address(where)}: no whole reply within {self.limits.seconds:g} s"
            ) from None

    async def _one(self, url: URL, headers: Mapping[str, str]) -> WebReply:
        """Make one request and follow no redirect; raises SearchError."""
        import httpcore  # noqa: PLC0415 see above

        wait = dict.fromkeys(("connect", "read", "write", "pool"), self.limits.seconds)
        try:
            async with self._pool.stream(
                "GET", _target(url), headers=[("Host", _authority(url)), *headers.items()], extensions={"timeout": wait}
            ) as reply:
                fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in reply.headers}
                body = b"" if 300 <= reply.status < 400 else await self._body(url, fields, reply.aiter_stream())
                return WebReply(url, reply.status, fields, body)
        except PrivateAddress:
            raise SearchError(
                "private", f"{safe_address(url)}: the address is this machine's or a private network's"
            ) from None
        except httpcore.TimeoutException:
            raise SearchError("timeout", f"{safe_address(url)}: no reply within {self.limits.seconds:g} s") from None
        except httpcore.NetworkError as error:
            raise SearchError("connection", f"{safe_address(url)}: {type(error).__name__}: {error}"[:300]) from None
        except (httpcore.ProtocolError, httpcore.UnsupportedProtocol, UnicodeError) as error:
            raise SearchError(
                "malformed", f"{safe_address(url)}: no HTTP that can be read ({type(error).__name__})"
            ) from None

    async def _body(self, url: URL, headers: Mapping[str, str], parts: AsyncIterator[bytes]) -> bytes:
        """Return the body. One above the limit is an error, not cut: half a text may say the opposite."""
        too_large = SearchError("too_large", f"{safe_address(url)}: longer than {self.limits.size:,} bytes")
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self.limits.size:
            raise too_large
        coding = headers.get("content-encoding", "identity").strip().lower() or "identity"
        if coding not in ("identity", "gzip", "x-gzip", "deflate"):
            raise SearchError(
                "unsupported", f"{safe_address(url)}: compressed as {coding[:20]!r}, which was not asked for"
            )
        inflate = None if coding == "identity" else zlib.decompressobj(47 if "gzip" in coding else 15)
        whole = bytearray()
        async for part in parts:
            try:
                whole += part if inflate is None else inflate.decompress(part, self.limits.size + 1 - len(whole))
            except zlib.error:
                raise SearchError("malformed", f"{safe_address(url)}: its compression is broken") from None
            if len(whole) > self.limits.size:
                raise too_large
        if inflate is not None and whole and not inflate.eof:
            raise SearchError("malformed", f"{safe_address(url)}: its compression breaks off")
        return bytes(whole)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


def checked_address(url: str | URL) -> URL:
    """Return a checked http(s) address without credentials and fragment; raises SearchError."""
    try:
        parsed = URL(url) if isinstance(url, str) else url
        whole = parsed.scheme in ("http", "https") and bool(parsed.raw_host)
    except (ValueError, TypeError):
        whole = False
    if not whole:
        raise SearchError("unsupported", "no address of a page: it must begin with http:// or https:// and name a host")
    if parsed.raw_user is not None or parsed.raw_password is not None:
        raise SearchError(
            "unsupported", f"{safe_address(parsed)}: an address with a user name or a password is not followed"
        )
    return parsed.with_fragment(None)


def safe_address(url: URL) -> str:
    """Return the address for a message: without credentials and query, which may hold a key or a case's words."""
    try:
        return str(url.with_user(None).with_query(None).with_fragment(None))[:200]
    except ValueError:
        return "an address"


def refused(url: URL, status: int, advice: str = "") -> SearchError:
    """Create the error for a reply with any status but 200; `advice` says more of a refusal."""
    where = f"{safe_address(url)}: HTTP {status}"
    if status == 429:
        return SearchError("rate_limit", f"{where}: too many requests", status=status)
    if status in (408, 504):
        return SearchError("timeout", f"{where}: the server gave up waiting", status=status)
    return SearchError("refused", f"{where}: {advice}" if advice else where, status=status)


def _next(here: URL, target: str) -> URL:
    try:
        there = checked_address(here.join(URL(target)))
    except ValueError:
        raise SearchError("malformed", f"{safe_address(here)}: redirected to what is no address") from None
    if here.scheme == "https" and there.scheme == "http":
        raise SearchError("redirects", f"{safe_address(here)}: redirected from https to http")
    return there


def _target(url: URL) -> "httpcore.URL":
    import httpcore  # noqa: PLC0415 see above

    return httpcore.URL(
        scheme=url.scheme.encode(),
        host=(url.raw_host or "").encode("ascii"),
        port=url.explicit_port,
        target=url.raw_path_qs.encode("ascii"),
    )


def _authority(url: URL) -> str:
    host = url.raw_host or ""
    host = f"[{host}]" if ":" in host else host
    return host if url.is_default_port() or url.explicit_port is None else f"{host}:{url.explicit_port}"
