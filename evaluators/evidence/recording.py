"""A search and a reader that record what they are asked and answer from the record what they were asked before."""

from collections.abc import Sequence

from wardround.engine.once import Once
from wardround.evaluators.evidence.failure import SearchError
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.ledger import Ledger
from wardround.evaluators.evidence.page import Page, Reader
from wardround.evaluators.evidence.search import MOST, Search


class Recording:
    """A search whose every answer is in the ledger before it is given."""

    def __init__(self, search: Search, ledger: Ledger) -> None:
        self.search, self.name, self.host = search, search.name, search.host
        self._ledger, self._once = ledger, Once[Sequence[Found]](SearchError)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """As the search finds it, now or the first time; raises SearchError."""
        return await self._once.ask(self._ledger.key(self.name, query, most), lambda: self._find(query, most))

    async def _find(self, query: str, most: int) -> Sequence[Found]:
        asked = await self._ledger.asked(self.name, query, most)
        if asked is None:
            try:
                found = await self.search.find(query, most=most)
            except SearchError as error:
                await self._ledger.keep_failure(self.name, self.host, query, most, error)
                raise
            return await self._ledger.keep_found(self.name, self.host, query, most, found)
        return await self._ledger.found(asked)

    async def aclose(self) -> None:
        """Close the search."""
        await self.search.aclose()


class RecordingReader:
    """A reader whose every page is in the ledger before it is given."""

    def __init__(self, reader: Reader, ledger: Ledger) -> None:
        self.reader, self.name = reader, reader.name
        self._ledger, self._once = ledger, Once[Page](SearchError)

    async def read(self, url: str) -> Page:
        """As the reader reads it, now or the first time; raises SearchError."""
        return await self._once.ask(self._ledger.key(self.name, url, 0), lambda: self._read(url))

    async def _read(self, url: str) -> Page:
        asked = await self._ledger.asked(self.name, url)
        if asked is None:
            try:
                page = await self.reader.read(url)
            except SearchError as error:
                await self._ledger.keep_failure(self.name, "", url, 0, error)
                raise
            return await self._ledger.keep_page(self.name, url, page)
        return await self._ledger.page(asked)

    async def aclose(self) -> None:
        """Close the reader."""
        await self.reader.aclose()
