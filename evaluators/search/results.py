"""The results of a search or of reading a page: a passage, a page, or a typed failure."""

from typing import Protocol

import msgspec

from wardround.engine.errors import WardroundError
from wardround.engine.events import digest_of


class Found(msgspec.Struct, frozen=True, omit_defaults=True):
    """A passage: its text and its source.

    `start` and `end` count characters in the document at `url`, of which `text` is a part; both are 0 if the provider
    returns a snippet without its position. `date` is what the source states (ISO, often only a year), `source` the
    collection or site.
    """

    title: str
    url: str
    text: str
    start: int = 0
    end: int = 0
    date: str = ""
    source: str = ""

    @property
    def digest(self) -> str:
        """The name under which a store keeps the text."""
        return digest_of(self.text)


class Page(msgspec.Struct, frozen=True, omit_defaults=True):
    """The main text of a page.

    `url` is the requested address, `final` the one that answered, after redirects. `kind` is html, plain or pdf.
    `date` is what the page itself states, not a guess.
    """

    url: str
    final: str
    text: str
    title: str = ""
    date: str = ""
    kind: str = "html"

    @property
    def digest(self) -> str:
        """The name under which a store keeps the text."""
        return digest_of(self.text)


class Reader(Protocol):
    """A way to read the page at an address; `name` as for a search."""

    name: str

    async def read(self, url: str) -> Page:
        """Return the page; raises SearchError."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


SEARCHED = "search/"
"""Prefix of the reason of a result that is missing because a search failed; its kind follows."""

KINDS = (
    "timeout",
    "connection",
    "refused",
    "rate_limit",
    "malformed",
    "too_large",
    "unsupported",
    "redirects",
    "private",
    "denied",
    "empty",
    "leak",
    "unrecorded",
)
"""The first five concern a search or a page, the next six a page: too long, of an unsupported type, redirected in a
circle or too often, at an address of a private network, of an unwanted domain, without text. A `leak` is a query that
gives the truth away; `unrecorded` is a question that the record lacks."""


_OF_THE_PAGE = ("too_large", "unsupported", "redirects", "private", "denied", "empty")
_MAY_PASS = (408, 423, 425, 429)


class SearchError(WardroundError):
    """No evidence, and why: `kind` is one of KINDS, `status` the HTTP status if there was one.

    The message contains neither query nor key.
    """

    def __init__(self, kind: str, message: str, *, status: int | None = None) -> None:
        if kind not in KINDS:
            raise ValueError(f"no kind of search error: {kind}")
        super().__init__(message)
        self.kind = kind
        self.status = status

    def __reduce__(self) -> tuple[type["SearchError"], tuple[str, str], dict[str, int | None]]:
        """Support pickling: the process that reads PDFs sends this error."""
        return type(self), (self.kind, str(self)), {"status": self.status}

    @property
    def of_the_page(self) -> bool:
        """Whether the page itself is the cause: it does not exist, or cannot or may not be read.

        Another request would give the same result. Errors of transport may pass: `timeout`, `connection`,
        `rate_limit`, a server error (a status from 500 on), an incomplete reply (`malformed`, no status).
        """
        if self.kind == "refused":  # also a page that shows a refusal instead of its text
            return (self.status or 0) < 500 and self.status not in _MAY_PASS
        return self.kind in _OF_THE_PAGE or (self.kind == "malformed" and self.status == 200)
