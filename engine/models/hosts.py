"""Where bytes go: the address a user gives, the host behind it, and which hosts are this machine itself."""

import ipaddress
import re
import socket
from collections.abc import Sequence
from functools import cache

from yarl import URL

from wardround.engine.errors import UsageError

_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+)){0,3}")
"""How an IPv4 address may be spelt."""
_ENDINGS = ("/chat/completions", "/responses")


def address(base_url: str) -> URL:
    """`base_url` as a checked address, parsed by the same library that later connects to it.

    Raises UsageError for anything but http(s)://host[:port][/path]: a name or password before the host belongs in no
    address, and hides which host is meant.
    """
    try:
        url = URL(base_url.strip())
        whole = url.scheme in ("http", "https") and bool(url.raw_host)
    except ValueError:
        whole = False
    if not whole or not (url.raw_host or "").isascii() or any(c.isspace() for c in url.raw_host or ""):
        raise UsageError(f"{_shown(base_url)} is no address of an endpoint: write it like http://localhost:8000/v1")
    if url.raw_user is not None or url.raw_password is not None:
        raise UsageError(
            f"the address of {host_of(url)} holds a user name or a password: leave it out and put the key into the "
            "environment variable"
        )
    if (host := host_of(url)) != (url.raw_host or "").lower():
        url = url.with_host(host)  # what is judged is what is connected to
    for ending in _ENDINGS:
        if url.raw_path.rstrip("/").endswith(ending):
            return url.with_path(url.raw_path.rstrip("/").removesuffix(ending), encoded=True, keep_query=True)
    return url


def host_of(url: URL) -> str:
    """The host in lower case, without port, brackets and a trailing dot; an IPv4 address in any spelling as one."""
    return _plain((url.raw_host or "").lower())


def _plain(host: str) -> str:
    """A host in one form: 127.1, 0x7f000001 and 2130706433 are 127.0.0.1, as they are for whoever connects to them."""
    bare = host.rstrip(".")
    if not _NUMERIC.fullmatch(bare):
        return bare
    try:
        return socket.inet_ntoa(socket.inet_aton(bare))
    except OSError:
        return bare


def addresses(base_url: str | Sequence[str] | None) -> tuple[str, ...]:
    """The addresses in `base_url`: one, several separated by commas, or a sequence; none if it is empty.

    Raises UsageError if one comes twice: it would get twice its part.
    """
    given = base_url.split(",") if isinstance(base_url, str) else base_url or ()
    found = tuple(text.strip() for text in given if text.strip())
    same = {str(address(text)).rstrip("/"): text for text in found}
    if len(same) < len(found):
        raise UsageError(f"an address comes twice among {', '.join(shown(address(text)) for text in found)}")
    return found


def shown(url: URL) -> str:
    """The address as a message may show it: no user, password or query."""
    return str(url.with_user(None).with_query(None).with_fragment(None))


HIDDEN = "HIDDEN"
"""Stands for a secret where an address is stored or shown."""
_OPEN = frozenset(("api-version", "api_version", "version"))
"""Parameters of a query that are no secret."""
_QUERY = re.compile(r"(?<=[?&;])([^=&;#\s]*)=([^&;#\s,'\"]*)")
_USER = re.compile(r"(?<=//)[^/?#\s,]*@")


def redacted(text: str) -> str:
    """An address, or several with commas between them, as it may be stored, logged and shown.

    No user and no password; of a query the names of its parameters, their values only where they are no secret. It
    need be no address that can be read: `--print-config` shows what the user wrote.
    """
    return _QUERY.sub(_hidden, _USER.sub("", text)) if "?" in text or "@" in text else text


def secrets_of(url: URL) -> tuple[str, ...]:
    """What `redacted` hides of an address, for messages of others that may repeat it."""
    return tuple(value for name, value in url.query.items() if value and name.lower() not in _OPEN)


def _hidden(match: re.Match[str]) -> str:
    name, value = match.groups()
    return match[0] if not value or name.lower() in _OPEN else f"{name}={HIDDEN}"


def joined(url: URL, path: str) -> URL:
    """`url` with `path` added; its query is kept."""
    return url.joinpath(*path.split("/")).with_query(url.query)


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine: 127.0.0.0/8, ::1, or localhost where that leads to these and nowhere else.

    Another name that merely resolves to loopback is not: what it resolves to is another's choice, and may change.
    """
    if host == "localhost":
        return _localhost_is_here()
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.scope_id is not None:
            return False
        if ip.ipv4_mapped is not None:
            return ip.ipv4_mapped.is_loopback
    return ip.is_loopback


@cache
def _localhost_is_here() -> bool:
    """What this machine's own table says of the name; nothing is reached where it says nothing."""
    try:
        found = {str(entry[4][0]) for entry in socket.getaddrinfo("localhost", None)}
    except OSError:
        return False
    return bool(found) and all(is_loopback(one.partition("%")[0]) for one in found)


def normal(host: str) -> str:
    """A host as the user names it (`--allow-host`), in the form of `host_of`; raises UsageError if it is no host."""
    bare = host.strip()
    plain = bare.removeprefix("[").removesuffix("]")
    try:
        return ipaddress.ip_address(plain).compressed
    except ValueError:
        pass
    if not bare or any(c in bare for c in "/:@?#\\*[]") or any(c.isspace() for c in bare):
        raise UsageError(f"{bare!r} is no host: name it alone, without scheme, port, path or wildcard")
    try:
        return host_of(URL.build(scheme="http", host=bare))
    except ValueError as error:
        raise UsageError(f"{bare!r} is no host: {error}") from error


def _shown(base_url: str) -> str:
    """What a message may show of an address that cannot be parsed: nothing before an @."""
    return repr(redacted(base_url.rsplit("@", 1)[-1])[:200])
