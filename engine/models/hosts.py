"""Parses endpoint addresses: the host that receives the bytes, and whether it is this machine."""

import ipaddress
import re
import socket
from collections.abc import Sequence
from functools import cache

from yarl import URL

from wardround.engine.errors import UsageError

_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+)){0,3}")
"""The spellings of an IPv4 address."""
_ENDINGS = ("/chat/completions", "/responses")


def endpoint_url(base_url: str) -> URL:
    """`base_url` as a checked address, parsed by the same library that later connects to it.

    Raises UsageError for anything but http(s)://host[:port][/path]. A user name or password before the host is refused
    too, because it can hide which host is meant.
    """
    try:
        url = URL(base_url.strip())
        whole = url.scheme in ("http", "https") and bool(url.raw_host)
    except ValueError:
        whole = False
    if not whole or not (url.raw_host or "").isascii() or any(c.isspace() for c in url.raw_host or ""):
        raise UsageError(
            f"{_printable_part(base_url)} is not an address of an endpoint: write it like http://localhost:8000/v1"
        )
    if url.raw_user is not None or url.raw_password is not None:
        raise UsageError(
            f"the address of {host_of(url)} holds a user name or a password: leave it out and put the key into the "
            "environment variable"
        )
    if (host := host_of(url)) != (url.raw_host or "").lower():
        url = url.with_host(host)  # the host that is checked is the host that is connected to
    for ending in _ENDINGS:
        if url.raw_path.rstrip("/").endswith(ending):
            return url.with_path(url.raw_path.rstrip("/").removesuffix(ending), encoded=True, keep_query=True)
    return url


def host_of(url: URL) -> str:
    """The host in lower case, without port, brackets and trailing dot; IPv4 addresses in their standard spelling."""
    return _standard_form((url.raw_host or "").lower())


def _standard_form(host: str) -> str:
    """A host in its standard form: 127.1, 0x7f000001 and 2130706433 become 127.0.0.1, as they do on connecting."""
    bare = host.rstrip(".")
    if not _NUMERIC.fullmatch(bare):
        return bare
    try:
        return socket.inet_ntoa(socket.inet_aton(bare))
    except OSError:
        return bare


def addresses(base_url: str | Sequence[str] | None) -> tuple[str, ...]:
    """The addresses in `base_url`: one, several separated by commas, or a sequence; none if it is empty.

    Raises UsageError if an address occurs twice, because it would get a double share of the calls.
    """
    parts = base_url.split(",") if isinstance(base_url, str) else base_url or ()
    texts = tuple(text.strip() for text in parts if text.strip())
    if len({str(endpoint_url(text)).rstrip("/") for text in texts}) < len(texts):
        raise UsageError(
            "an address is given twice; give each once: "
            + ", ".join(printable_url(endpoint_url(text)) for text in texts)
        )
    return texts


def printable_url(url: URL) -> str:
    """The address in a form that messages may show, without user, password or query."""
    return str(url.with_user(None).with_query(None).with_fragment(None))


HIDDEN = "HIDDEN"
"""Replaces a secret in an address that is stored or shown."""
_OPEN = frozenset(("api-version", "api_version", "version"))
"""Query parameters that are not secret."""
_QUERY = re.compile(r"(?<=[?&;])([^=&;#\s]*)=([^&;#\s,'\"]*)")
_USER = re.compile(r"(?<=//)[^/?#\s,]*@")


def redact_address(text: str) -> str:
    """One or several addresses (separated by commas) in a form that may be stored, logged and shown.

    User and password are removed, and the values of query parameters are hidden unless they are known not to be secret.
    The text need not be a valid address: `--print-config` shows what the user wrote.
    """
    return _QUERY.sub(_hidden, _USER.sub("", text)) if "?" in text or "@" in text else text


def secrets_of(url: URL) -> tuple[str, ...]:
    """The secrets in an address's query, so that they can be masked in messages of others that repeat them."""
    return tuple(value for name, value in url.query.items() if value and name.lower() not in _OPEN)


def _hidden(match: re.Match[str]) -> str:
    name, value = match.groups()
    return match[0] if not value or name.lower() in _OPEN else f"{name}={HIDDEN}"


def join_path(url: URL, path: str) -> URL:
    """`url` with `path` appended; its query is kept."""
    return url.joinpath(*path.split("/")).with_query(url.query)


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine: 127.0.0.0/8, ::1, or `localhost` if it resolves only to these.

    Another name that resolves to loopback does not count, because somebody else decides what it resolves to, and may
    change it.
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
    """Whether this machine resolves `localhost` to loopback addresses only."""
    try:
        numeric = {str(entry[4][0]) for entry in socket.getaddrinfo("localhost", None)}
    except OSError:
        return False
    return bool(numeric) and all(is_loopback(one.partition("%")[0]) for one in numeric)


def normal_host(host: str) -> str:
    """A host as written by the user (`--allow-host`), in the form of `host_of`; raises UsageError for anything else."""
    bare = host.strip()
    plain = bare.removeprefix("[").removesuffix("]")
    try:
        return ipaddress.ip_address(plain).compressed
    except ValueError:
        pass
    if not bare or any(c in bare for c in "/:@?#\\*[]") or any(c.isspace() for c in bare):
        raise UsageError(f"{bare!r} is not a host: name it alone, without scheme, port, path or wildcard")
    try:
        return host_of(URL.build(scheme="http", host=bare))
    except ValueError as error:
        raise UsageError(f"{bare!r} is not a host: {error}") from error


def _printable_part(base_url: str) -> str:
    """The part of an unparsable address that a message may show: nothing before an @."""
    return repr(redact_address(base_url.rsplit("@", 1)[-1])[:200])
