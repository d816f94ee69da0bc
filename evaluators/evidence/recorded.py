"""A search and a reader that answer from a record alone: no network, no index."""

from collections.abc import Sequence

from wardround.engine.errors import UsageError
from wardround.evaluators.evidence.failure import SearchError
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.ledger import Asked, Ledger
from wardround.evaluators.evidence.named import kind_of, named
from wardround.evaluators.evidence.page import Page
from wardround.evaluators.evidence.search import MOST, Opening, Search, Source


class Recorded(Source):
    """The record of the search called `name`.

    A recorded failure fails again, with its kind; a question without a record is the SearchError `unrecorded`: no
    evidence is better than other evidence.
    """

    FORM = "recorded:SEARCH"

    host = ""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.name, self._ledger = name, ledger

    @classmethod
    async def opened_at(cls, place: str, means: Opening) -> Search:
        """The record of a search: by its spec, or by the name it was recorded under, which holds `@` and a hash."""
        if means.ledger is None:
            raise UsageError(
                f"recorded:{place[:60]} answers from a store, and none is given: name the store it was recorded in"
            )
        if "@" in place or " [" in place:
            return cls(place, means.ledger)
        if not place or place.startswith("recorded"):
            raise UsageError("recorded: name the search that was recorded, for instance recorded:bundled")
        kind, where = kind_of(place)
        if not where and vars(kind).get("name") == place:  # no key and no file is needed to read what was found
            return cls(place, means.ledger)
        search = await named(place, cache=means.cache)
        await search.aclose()
        return cls(search.name, means.ledger)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """What was found then; raises SearchError."""
        return await self._ledger.found(await _recorded(self._ledger, self.name, query, most))

    async def aclose(self) -> None:
        """Nothing to give back."""


class RecordedReader:
    """The record of the reader called `name`; misses and failures as in Recorded."""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.name, self._ledger = name, ledger

    async def read(self, url: str) -> Page:
        """The page as it was then; raises SearchError."""
        return await self._ledger.page(await _recorded(self._ledger, self.name, url, 0))

    async def aclose(self) -> None:
        """Nothing to give back."""


async def _recorded(ledger: Ledger, name: str, what: str, most: int) -> Asked:
    asked = await ledger.asked(name, what, most) or await ledger.asked(name, what, most, failed=True)
    if asked is None:
        raise SearchError("unrecorded", f"{name}: the record holds no such question")
    if asked.error is not None:
        raise SearchError(*asked.error)
    return asked
