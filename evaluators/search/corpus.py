"""Searches an offline corpus on this machine by its full-text index: SQLite's FTS5, ranked by BM25.

An index is one SQLite file, named by the digest of the texts that it covers. `Corpus` searches a user's texts,
`Bundled` those of this package.
"""

import os
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from importlib.resources import files as package_files
from itertools import pairwise
from pathlib import Path
from queue import Empty, LifoQueue
from tempfile import mkstemp

import anyio
import anyio.to_thread
import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.logs import log
from wardround.evaluators.search.contract import MOST, Opening, Search, Source
from wardround.evaluators.search.documents import Fields, Passage, files, passages, unreadable_files
from wardround.evaluators.search.results import SearchError, SearchHit

FORMAT = 1
"""Version of the format: increased whenever an older index would give other results."""
_TITLE = 4.0
"""Weight of a word in the title relative to one in the text."""
_RARE = 0.05
"""Largest share of the passages in which a rare word occurs."""
_READ = 4000
"""Number of characters of a query that are read."""
_WORDS = 48
"""Most words of a query that are looked up: the first ones."""
_COUNTED = 20_000
"""Number of words whose passage counts are cached, the most recently used."""
_SCHEMA = """
CREATE TABLE passage (
  id INTEGER PRIMARY KEY, document INTEGER, title TEXT, url TEXT, text TEXT, start INTEGER, stop INTEGER, date TEXT,
  source TEXT
);
CREATE VIRTUAL TABLE word USING fts5(title, text, content='', tokenize="porter unicode61 remove_diacritics 2");
"""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a about an and any are as at be been but by can could did do does for from had has have how i if in into "
        "is it its may me might my no not of on or our should so some such than that the their them then there "
        "these they this those to too was we were what when where which who why will with would you your ",
    )
)
"""Words that occur in nearly every passage: they distinguish none, and would make each query read the whole index."""


def write_index(path: Path, passages: Iterable[Passage]) -> int:
    """Write an index and return the number of its passages. The file appears whole or not at all."""
    handle, name = mkstemp(prefix=f"{path.name}.", suffix=".part", dir=path.parent)
    os.close(handle)
    try:
        count = _fill(name, passages)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
    return count


def _fill(name: str, passages: Iterable[Passage]) -> int:
    connection = sqlite3.connect(name, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(_SCHEMA)
        connection.execute("BEGIN")
        count = 0
        for count, one in enumerate(passages, 1):
            connection.execute("INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (count, *one))
            connection.execute(
                "INSERT INTO word (rowid, title, text) VALUES (?, ?, ?)",
                (count, _space_out(one.title), _space_out(one.text)),
            )
        connection.execute("COMMIT")
        connection.execute("INSERT INTO word (word) VALUES ('optimize')")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        return count
    finally:
        connection.close()


class Index:
    """An index that is open for reading, by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        self._holding = lru_cache(_COUNTED)(partial(_holding, self._connection))

    @cached_property
    def _size(self) -> int:
        return len(self)

    def usable(self) -> bool:
        """Whether this version wrote the index, and wrote it completely."""
        try:
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            self._connection.execute("SELECT rowid FROM word WHERE word MATCH 'a' LIMIT 1").fetchall()
        except sqlite3.DatabaseError:
            return False
        return bool(version == FORMAT)

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM passage").fetchone()[0])

    def find(self, query: str, most: int) -> list[SearchHit]:
        """Return the best passages, one per document; a passage may lack some words. Ties keep the source's order."""
        words = match_expression(query)
        if not words or most < 1:
            return []
        best_of: dict[int, SearchHit] = {}
        rows = self._connection.execute(
            "SELECT p.document, p.title, p.url, p.text, p.start, p.stop, p.date, p.source FROM "
            "(SELECT rowid AS id, bm25(word, ?, 1) AS score FROM word WHERE word MATCH ? ORDER BY score, id LIMIT ?) "
            "AS best JOIN passage AS p ON p.id = best.id ORDER BY score, best.id",
            (_TITLE, self._narrow_expression(words), 8 * most),
        )
        for document, *row in rows:
            if document not in best_of:
                best_of[document] = SearchHit(*row)
        return list(best_of.values())[:most]

    def _narrow_expression(self, words: Sequence[str]) -> str:
        """Return an FTS5 expression that ranks by all words, but only passages with a rare one, if there is any.

        Most of a query's time goes into ranking passages that share only common words with it. BM25 adds up every
        occurrence in the expression. So the common words occur twice there as well, which keeps the order that a
        search without the filter has.
        """
        rare = [word for word in words if 0 < self._holding(word) <= _RARE * self._size]
        common = [word for word in words if word not in rare]
        if not rare or not common:
            return " OR ".join(words)
        return f"({' OR '.join(rare)}) AND ({' OR '.join(rare + common + common)})"

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _holding(connection: sqlite3.Connection, word: str) -> int:
    """Count the passages that contain a word."""
    return int(connection.execute("SELECT count(*) FROM word WHERE word MATCH ?", (word,)).fetchone()[0])


def match_expression(query: str) -> Sequence[str]:
    """Return the distinct words of a query for FTS5, quoted, so that none acts as an operator.

    Words of scripts without spaces are looked up by pairs of characters.
    """
    words: dict[str, None] = {}
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", query[:_READ]).lower()):
        word = match[0]
        if _CJK.search(word):
            parts = _space_out(word).split()
            pairs = [f"{one} {two}" for one, two in pairwise(parts)] or parts
            words.update(dict.fromkeys(pairs))
        elif word not in _COMMON:
            words[word] = None
    return [f'"{word}"' for word in list(words)[:_WORDS]]


def _space_out(text: str) -> str:
    """Return `text` with white space around each character of a script without spaces."""
    return _CJK.sub(r" \g<0> ", unicodedata.normalize("NFKC", text)) if _CJK.search(text) else text


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
        folder. Raises UsageError if a file cannot be read, if all texts are empty, for a `size` under 200, and if there
        is no place for the index.
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

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the best passages by BM25, at most one per document; raises SearchError if the index is corrupt."""
        return await anyio.to_thread.run_sync(self.look_up, query, most, limiter=self._limiter)

    def look_up(self, query: str, most: int = MOST) -> list[SearchHit]:
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

    async def find(self, query: str, *, most: int = MOST) -> Sequence[SearchHit]:
        """Return the best passages, at most one per text; raises SearchError if the index is corrupt."""
        results = await self._corpus.find(query, most=most)
        return [msgspec.structs.replace(one, title=self._titles[one.url], source=SOURCE) for one in results]

    async def aclose(self) -> None:
        """Close the index."""
        await self._corpus.aclose()


def folder() -> Path:
    """Return the folder of the texts: one per file, each with its title in the first line."""
    return Path(str(package_files("wardround.evaluators.search") / "data" / "bundled"))
