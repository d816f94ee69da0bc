"""The contract of a search, and of a kind of search that a user can name."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

from wardround.engine.errors import UsageError
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.ledger import Ledger

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


@runtime_checkable
class Documented(Protocol):
    """A search that knows how many documents it looks in."""

    documents: int


class Opening(NamedTuple):
    """What a search is opened with: the folder for an index, and the record of what was found before; None for none."""

    cache: Path | None = None
    ledger: Ledger | None = None


class Source(Search, Protocol):
    """A kind of search: what an entry point of the group `wardround.searches` stands for.

    A class of your own derives from it, has `name`, `host`, `find` and `aclose`, and is opened by what a user writes
    for it: the entry point's name, or `package.module:Class`.

    FORM: how it is written, such as `pubmed` or `corpus:PATH`.
    AT_ONCE: queries that it takes at a time; the others wait. Of a search with a `host`, which is tried again too.
    PAGES: whether what it finds are the beginnings of pages that are worth reading.
    """

    FORM: ClassVar[str] = ""
    AT_ONCE: ClassVar[int] = 4
    PAGES: ClassVar[bool] = False

    @classmethod
    async def opened_at(cls, place: str, means: Opening) -> Search:
        """The search at `place`, which is what the user wrote after the name and a colon; raises UsageError."""
        del means
        if place:
            raise UsageError(f"the search {cls.FORM} takes nothing after its name: write {cls.FORM}")
        return cls()
