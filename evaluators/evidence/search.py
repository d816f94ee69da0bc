"""The contract of a search."""

from collections.abc import Sequence
from typing import Protocol

from wardround.evaluators.evidence.found import Found

LIBRARY = "search"
"""The seat under which what judges look up is recorded and counted, apart from what they are asked."""
MOST = 3
"""Passages a query asks for: the top three, as in paper 002, section 4.3."""


class Search(Protocol):
    """A way to look something up.

    `name` says which search it is, with every setting that changes what it finds; `host` is where the query goes, ""
    if it leaves the process nowhere.
    """

    name: str
    host: str

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """At most `most` passages, best first; none where nothing was found. Raises SearchError."""
        ...

    async def aclose(self) -> None:
        """Give back connections."""
        ...
