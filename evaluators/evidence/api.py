"""The reply of a search service, or the SearchError in its place."""

from collections.abc import Mapping

import msgspec
from yarl import URL

from wardround.engine.records import Json
from wardround.evaluators.evidence.failure import SearchError
from wardround.evaluators.evidence.web import Got, Web, shown


async def asked(web: Web, url: URL, headers: Mapping[str, str] | None = None, *, advice: str = "") -> Got:
    """A reply with status 200; no redirect is followed, so that a key goes to its own service only.

    What the service says of an error is not quoted: it may repeat the key or the query. Raises SearchError.
    """
    got = await web.get(url, headers)
    if got.status == 200:
        return got
    where = f"{shown(url)}: HTTP {got.status}"
    if got.status == 429:
        raise SearchError("rate_limit", f"{where}: too many requests", status=429)
    if got.status in (408, 504):
        raise SearchError("timeout", f"{where}: the service gave up waiting", status=got.status)
    if 300 <= got.status < 400:
        raise SearchError("refused", f"{where}: sent on to another address: give the final one", status=got.status)
    raise SearchError("refused", f"{where}: {advice or 'the service refused'}", status=got.status)


def json(got: Got) -> dict[str, Json]:
    """The JSON object of a reply; raises SearchError."""
    try:
        read = msgspec.json.decode(got.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise malformed(got.url)
    return read


def rows(url: URL, read: Json) -> list[dict[str, Json]]:
    """`read` as a list of objects; raises SearchError."""
    if not isinstance(read, list) or not all(isinstance(row, dict) for row in read):
        raise malformed(url)
    return read


def malformed(url: URL) -> SearchError:
    """The reply is not what the service promises."""
    return SearchError("malformed", f"{shown(url)}: the reply is not in the form of this service's results")


def text(row: Mapping[str, Json], name: str) -> str:
    """A field as one line of text, '' where it is missing or no text."""
    value = row.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""
