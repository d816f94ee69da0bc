"""A page as it was read, and the contract of a reader."""

from typing import Protocol

import msgspec

from wardround.engine.events import digest_of


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
