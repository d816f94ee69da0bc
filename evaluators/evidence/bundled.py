"""The bundled corpus: short medical texts written for this project, for demonstration and tests without network."""

import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import anyio.to_thread
import msgspec

from wardround.engine.errors import UsageError
from wardround.evaluators.evidence.corpus import SIZE, Corpus
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.passages import Fields
from wardround.evaluators.evidence.search import MOST, Opening, Search, Source

SOURCE = "Wardround's own demonstration texts, not for the care of patients"
"""The source of every passage: a verdict that rests on one must not look as if a publisher stood behind it.

The texts themselves do not say so: what stands in every passage could be quoted for any verdict.
"""


class Bundled(Source):
    """The texts as a corpus whose passages are told with the title of their text, the file's name as url, and SOURCE.

    The name is `bundled@` and the hash of the content, as a corpus is named.
    """

    FORM = "bundled"

    host = ""

    def __init__(self, corpus: Corpus, titles: dict[str, str]) -> None:
        self.name = corpus.name.removeprefix("corpus:")
        self.documents, self.passages = len(titles), corpus.passages
        self._corpus, self._titles = corpus, titles

    @classmethod
    async def opened_at(cls, place: str, means: Opening) -> Search:
        """The bundled texts; nothing else is to be named."""
        if place:
            raise UsageError("the search bundled takes nothing after its name: write bundled")
        return await cls.open(means.cache)

    @classmethod
    async def open(cls, cache: Path | None = None) -> "Bundled":
        """The corpus; its index lies in `cache`, else in the user's cache folder, and is built where there is none.

        Raises UsageError where the texts were not installed or no index can be written.
        """
        return await anyio.to_thread.run_sync(cls.opened, cache)

    @classmethod
    def opened(cls, cache: Path | None = None) -> "Bundled":
        """As `open`, without an event loop."""
        source = folder()
        titles = {
            path.name: path.read_text(encoding="utf-8").partition("\n")[0] for path in sorted(source.glob("*.md"))
        }
        if not titles:
            raise UsageError("the bundled texts are missing beside the package; install wardround again")
        corpus = Corpus.opened(source, cache or _users(), Fields(), SIZE)
        return cls(corpus, {name: title.lstrip("# ").strip() for name, title in titles.items()})

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """The best passages, at most one of a text; raises SearchError if the index was spoilt."""
        found = await self._corpus.find(query, most=most)
        return [msgspec.structs.replace(one, title=self._titles[one.url], source=SOURCE) for one in found]

    async def aclose(self) -> None:
        """Close the index."""
        await self._corpus.aclose()


def folder() -> Path:
    """Where the texts lie: one a file, each with its title in the first line."""
    return Path(str(files("wardround.evaluators.evidence") / "data" / "bundled"))


def _users() -> Path:
    """The user's folder for what can be made again: the package's own may not be written to."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wardround" / "evidence"
