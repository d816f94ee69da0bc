"""What a search or a page gives: a passage, a page as it was read, or a typed failure."""

from typing import Protocol

import msgspec

from wardround.engine.errors import WardroundError
from wardround.engine.events import digest_of


class Found(msgspec.Struct, frozen=True, omit_defaults=True):
    """A passage: its words, and where they come from.

    `start` and `end` count characters in the document at `url`, of which `text` is a part; both are 0 where the
    provider gives a snippet without its place. `date` is what the source states (ISO, as far as it is given), `source`
    the collection or site.
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

    `url` is the address that was asked for, `final` the one that answered, after redirects. `kind` is html, plain or
    pdf. `date` is what the page itself states, not a guess.
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
    """A way to read the page at an address; `name` as of a search."""

    name: str

    async def read(self, url: str) -> Page:
        """The page; raises SearchError."""
        ...

    async def aclose(self) -> None:
        """Give back connections."""
        ...


SEARCHED = "search/"
"""Opens the reason of what a failed search left open; its kind follows."""

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
"""The first five befall a search or a page, the next six a page: too long, of a type that is not read, redirected in a
circle or too often, at an address of a private network, of a domain that is not wanted, without text. A `leak` is a
query that gives the truth away; `unrecorded` was never asked while the record was made."""


_OF_THE_PAGE = ("too_large", "unsupported", "redirects", "private", "denied", "empty")
_MAY_PASS = (408, 423, 425, 429)


class SearchError(WardroundError):
    """No evidence, and why: `kind` is one of KINDS, `status` the HTTP status where there was one.

    The message holds neither query nor key.
    """

    def __init__(self, kind: str, message: str, *, status: int | None = None) -> None:
        if kind not in KINDS:
            raise ValueError(f"no kind of search error: {kind}")
        super().__init__(message)
        self.kind = kind
        self.status = status

    def __reduce__(self) -> tuple[type["SearchError"], tuple[str, str], dict[str, int | None]]:
        """It crosses from the process that reads PDFs."""
        return type(self), (self.kind, str(self)), {"status": self.status}

    @property
    def of_the_page(self) -> bool:
        """Whether a page failed by its nature: it is not there, or is nothing that can or may be read.

        To ask for it again would say the same. What befell it on the way may not last: `timeout`, `connection`,
        `rate_limit`, a server's own trouble (a status from 500 on), a reply that broke off (`malformed`, no status).
        """
        if self.kind == "refused":  # also a page that shows a refusal in place of its text
            return (self.status or 0) < 500 and self.status not in _MAY_PASS
        return self.kind in _OF_THE_PAGE or (self.kind == "malformed" and self.status == 200)
