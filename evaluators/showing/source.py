"""Where a text is from, as a link that may be followed."""

import re
from urllib.parse import urlsplit

from wardround.evaluators.showing.visible import visible

_ODD = re.compile(r"[\s\\\x00-\x1f\x7f-\x9f<>\"^`{|}]")
_LONGEST = 2000


def link(url: str) -> str:
    """`url` if a reader may follow it, else "".

    Only http and https, to a host, without a user name (which makes one host look like another), and without
    characters that no address holds.
    """
    if len(url) > _LONGEST or _ODD.search(url) or visible(url) != url:
        return ""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.username is None and parts.port != 0
    except ValueError:
        return ""
    return url if known else ""


def host(url: str) -> str:
    """The host of an address that `link` lets through."""
    return urlsplit(url).hostname or ""
