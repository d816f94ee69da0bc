"""Searches an offline corpus on this machine, such as the one bundled with the package."""

import os
import sqlite3
from collections.abc import Sequence
from hashlib import blake2b
from importlib.resources import files as package_files
from pathlib import Path
from queue import Empty, LifoQueue

import anyio
import anyio.to_thread
import msgspec
import structlog

from wardround.engine.errors import UsageError
from wardround.evaluators.search.contract import MOST, Opening, Search, Source
from wardround.evaluators.search.index import FORMAT, Fields, Index, files, passages, unreadable_files, write_index
from wardround.evaluators.search.results import Found, SearchError

log = structlog.get_logger("wardround")

SIZE = 1000
"""Longest passage, in characters (docs/evidence.md reports the results for other sizes)."""
_OPEN = 4
"""Number of connections kept for concurrent queries."""


class Corpus(Source):
    """A search in an index that is built once.

    ::

        wardround score RUN --evaluators reasoning --judge SPEC --search corpus:texts.jsonl

    Its name contains the digest of the content, so a changed corpus is another search. No query leaves the process.
    """

    FORM = "corpus:PATH"

    host = ""

    def __init__(self, source: Path, index: Path) -> None:
        self.path, self.name = index, f"corpus:{source.name}@{index.stem.rsplit('.', 1)[-1]}"
        self._idle: LifoQueue[Index] = LifoQueue()
        first = Index(index)
        self.passages = len(first)
        self._idle.put(first)
        self._limiter = anyio.CapacityLimiter(_OPEN)

    @classmethod
    async def opened_at(cls, place: str, means: Opening) -> Search:
        """Open the corpus of a file or a folder."""
        if not place:
            raise UsageError("corpus: name a file of JSON lines or a folder of texts, for instance corpus:texts.jsonl")
        if not await (await anyio.Path(place).expanduser()).exists():
            raise UsageError(
                f"corpus:{place}: there is no such file or folder; what an evaluation quoted from one that is gone is "
                "recorded:corpus:NAME@HASH, as a report of that run names it"
            )
        return await cls.open(Path(place), cache=means.cache)

    @classmethod
    async def open(
        cls, source: Path, *, cache: Path | None = None, fields: Fields | None = None, size: int = SIZE
    ) -> "Corpus":
        """Open the corpus of `source` and build its index if there is none.

        The index is stored in `cache`, else beside the source, else (if that folder is read-only) in the user's cache
        folder. Raises UsageError if a file cannot be read.
        """
        return await anyio.to_thread.run_sync(cls.opened, source, cache, fields or Fields(), size)

    @classmethod
    def opened(cls, source: Path, cache: Path | None, fields: Fields, size: int) -> "Corpus":
        """Do the same as `open` without an event loop."""
        if size < 200:
            raise UsageError(f"a passage of {size} characters is too short: take at least 200")
        source = source.expanduser().resolve()
        name = f".{source.name}.{_digest(source, fields, size)}.fts"
        places = [cache] if cache else [source if source.is_dir() else source.parent, _users()]
        for folder in places:
            if _whole(folder / name):
                return cls(source, folder / name)
        path = _writable(places) / name
        if not write_index(path, passages(source, fields, size)):
            path.unlink()
            raise UsageError(f"{source}: all its texts are empty")
        for suffix, count in sorted(unreadable_files(source).items()):
            log.warning("files of the corpus are not read", corpus=source.name, kind=suffix, count=count)
        return cls(source, path)

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """Return the best passages by BM25, at most one per document; raises SearchError if the index is corrupt."""
        return await anyio.to_thread.run_sync(self.look_up, query, most, limiter=self._limiter)

    def look_up(self, query: str, most: int = MOST) -> list[Found]:
        """Do the same as `find` without an event loop."""
        try:
            index = self._idle.get_nowait()
        except Empty:
            index = Index(self.path)
        try:
            return index.find(query, most)
        except sqlite3.DatabaseError as error:
            raise SearchError("malformed", f"{self.name}: its index cannot be read: {error}") from error
        finally:
            self._idle.put(index)

    async def aclose(self) -> None:
        """Close the index."""
        self.close()

    def close(self) -> None:
        """Do the same as `aclose` without an event loop."""
        while not self._idle.empty():
            self._idle.get().close()


def _digest(source: Path, fields: Fields, size: int) -> str:
    """Return the digest of an index: of the files' content and of all settings that it depends on."""
    hashed = blake2b(msgspec.json.encode([FORMAT, size, fields]), digest_size=8)
    for path in files(source):
        name = path.relative_to(source).as_posix() if source.is_dir() else path.name
        with path.open("rb") as opened:
            hashed.update(b"%b\0%d\0" % (name.encode("utf-8", "surrogateescape"), os.fstat(opened.fileno()).st_size))
            while part := opened.read(2**20):
                hashed.update(part)
    return hashed.hexdigest()


def _whole(path: Path) -> bool:
    if not path.is_file():
        return False
    index = Index(path)
    try:
        return index.usable()
    finally:
        index.close()


def _writable(places: Sequence[Path]) -> Path:
    """Return the first writable folder, creating it if necessary; raises UsageError if there is none."""
    for folder in places:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise UsageError(f"no place for the index of the corpus: {', '.join(map(str, places))} cannot be written")


def _users() -> Path:
    """Return the user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wardround" / "evidence"


SOURCE = "Wardround's own demonstration texts, not for the care of patients"
"""The source of every passage: a verdict that rests on one must not seem to rest on a publisher.

The texts themselves do not contain this, since a sentence in every passage could be quoted for any verdict.
"""


class Bundled(Source):
    """The bundled texts as a corpus: each passage has its text's title, its file's name as url, and SOURCE.

    ::

        wardround score RUN --evaluators reasoning --judge lexical --search bundled

    The name is `bundled@` and the hash of the content, as for any corpus.
    """

    FORM = "bundled"

    host = ""

    def __init__(self, corpus: Corpus, titles: dict[str, str]) -> None:
        self.name = corpus.name.removeprefix("corpus:")
        self.documents, self.passages = len(titles), corpus.passages
        self._corpus, self._titles = corpus, titles

    @classmethod
    async def opened_at(cls, place: str, means: Opening) -> Search:
        """Open the bundled texts; raises UsageError if the user names anything else."""
        if place:
            raise UsageError("the search bundled takes nothing after its name: write bundled")
        return await anyio.to_thread.run_sync(cls.opened, means.cache)

    @classmethod
    def opened(cls, cache: Path | None = None) -> "Bundled":
        """Open the corpus and build its index if there is none, in `cache` or else in the user's cache folder.

        Raises UsageError if the texts are not installed or no index can be written.
        """
        source = folder()
        titles = {
            path.name: path.read_text(encoding="utf-8").partition("\n")[0] for path in sorted(source.glob("*.md"))
        }
        if not titles:
            raise UsageError("the bundled texts are missing beside the package; install wardround again")
        corpus = Corpus.opened(source, cache or _users(), Fields(), SIZE)
        return cls(corpus, {name: title.lstrip("# ").strip() for name, title in titles.items()})

    async def find(self, query: str, *, most: int = MOST) -> Sequence[Found]:
        """Return the best passages, at most one per text; raises SearchError if the index is corrupt."""
        results = await self._corpus.find(query, most=most)
        return [msgspec.structs.replace(one, title=self._titles[one.url], source=SOURCE) for one in results]

    async def aclose(self) -> None:
        """Close the index."""
        await self._corpus.aclose()


def folder() -> Path:
    """Return the folder of the texts: one per file, each with its title in the first line."""
    return Path(str(package_files("wardround.evaluators.search") / "data" / "bundled"))
