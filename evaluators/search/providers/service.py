"""Reads the replies of search services."""

from collections.abc import Mapping

import msgspec
from yarl import URL

from wardround.engine.records import Json
from wardround.evaluators.search.results import SearchError
from wardround.evaluators.search.web import Web, WebReply, refused, safe_address


async def fetch(web: Web, url: URL, headers: Mapping[str, str] | None = None, *, advice: str = "") -> WebReply:
    """Return a reply with status 200. No redirect is followed, so that a key reaches only its own service.

    The service's error text is not quoted, because it may repeat the key or the query. Raises SearchError.
    """
    got = await web.get(url, headers)
    if got.status == 200:
        return got
    if 300 <= got.status < 400:
        advice = "sent on to another address: give the final one"
    raise refused(url, got.status, advice or "the service refused")


def json(got: WebReply) -> dict[str, Json]:
    """Return the JSON object of a reply; raises SearchError."""
    try:
        read = msgspec.json.decode(got.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise malformed(got.url)
    return read


def object_list(url: URL, read: Json) -> list[dict[str, Json]]:
    """Return `read` as a list of objects; raises SearchError."""
    if not isinstance(read, list) or not all(isinstance(row, dict) for row in read):
        raise malformed(url)
    return read


def malformed(url: URL) -> SearchError:
    """Create the error for a reply that does not have the service's format."""
    return SearchError("malformed", f"{safe_address(url)}: the reply is not in the form of this service's results")


def text(row: Mapping[str, Json], name: str) -> str:
    """Return a field as one line of text, '' if it is missing or no text."""
    value = row.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""
