"""A search and a reader that answer from a record alone: no network, no index."""

from collections.abc import Sequence

from wardround.evaluators.evidence.failure import SearchError
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.ledger import Asked, Ledger
from wardround.evaluators.evidence.page import Page
from wardround.evaluators.evidence.search import MOST


class Recorded:
    """The record of the search called `name`.

    A recorded failure fails again, with its kind; a question without a record is the SearchError `unrecorded`: no
    evidence is better than other evidence.
    """

    host = ""

    def __init__(self, name: str, ledger: Ledger) -> None:
        self.name, self._ledger = name, ledger

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
