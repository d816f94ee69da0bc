"""The address of a PostgreSQL store: read from a URL once, and shown without its password ever after."""

import re
from urllib.parse import parse_qs, unquote, urlsplit

from wardround.engine.errors import UsageError

SCHEMES = ("postgres", "postgresql")
_HOSTS = re.compile(r"((\[[0-9a-fA-F:.]+\]|[^\s:,@/\[\]]*)(:\d+)?(,|$))*")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class Address:
    """Where a store is: `dsn` for the driver, the `schema` its tables lie in, and as text only host and database.

    The URL's own parameter `schema` (default `wardround`) is taken out; all others (`sslmode`, ...) are the driver's.
    """

    def __init__(self, url: str) -> None:
        # No message may quote the URL or chain the parser's error: both hold the password.
        wrong = UsageError(
            "the store's URL cannot be read: write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special "
            "characters of the password percent-encoded (an @ is %40, a / is %2F), or give the password in PGPASSWORD"
        )
        try:
            parts = urlsplit(url)
            query = parse_qs(parts.query, strict_parsing=bool(parts.query))
        except ValueError:
            raise wrong from None
        hosts = parts.netloc.rpartition("@")[2]
        if (
            parts.scheme not in SCHEMES
            or not _HOSTS.fullmatch(hosts)
            or parts.netloc.count("@") > 1
            or "@" in parts.path + parts.query
            or parts.fragment
        ):
            raise wrong
        self.schema = query.get("schema", ["wardround"])[-1]
        if not _SCHEMA.fullmatch(self.schema):
            raise UsageError(f"the store's schema {self.schema!r} is no plain lower-case name")
        address, _, asked = url.partition("?")
        asked = "&".join(part for part in asked.split("&") if part and not part.startswith("schema="))
        self.dsn = f"{address}?{asked}" if asked else address
        asked_for = query.get("host", [""])[-1]
        hosts = hosts or ("" if asked_for.startswith("/") else asked_for)  # a folder is a socket of this machine
        named = f"?schema={self.schema}" if "schema" in query else ""
        self._shown = f"postgresql://{hosts}/{unquote(parts.path).lstrip('/')}{named}"

    def __str__(self) -> str:
        return self._shown

    def __repr__(self) -> str:
        return f"Address({self._shown!r})"
