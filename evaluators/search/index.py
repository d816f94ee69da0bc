"""A full-text index over passages of documents: SQLite's FTS5, ranked by BM25."""

import gzip
import json
import os
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from tempfile import mkstemp
from typing import IO, NamedTuple

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.evaluators.search.results import Found

TEXTS, LINES = (".txt", ".md"), (".jsonl", ".jsonl.gz")
"""Suffixes of files that are one document each, and of those with one document per line."""


class Fields(msgspec.Struct, frozen=True):
    """Names of the fields of a line; for each, the first name that the line has is used.

    `text` may be a list of paragraphs.
    """

    text: Sequence[str] = ("text", "answer", "passage", "abstract", "content", "contents", "body")
    title: Sequence[str] = ("title", "focus", "name")
    url: Sequence[str] = ("url", "link", "id")
    date: Sequence[str] = ("date", "published", "year")
    source: Sequence[str] = ("source", "site", "collection")


class Passage(NamedTuple):
    """A passage: `text` is `document[start:end]`; `document` numbers the documents of a collection from 0."""

    document: int
    title: str
    url: str
    text: str
    start: int
    end: int
    date: str
    source: str


def files(source: Path) -> list[Path]:
    """Return the files of a collection in order of their paths; raises UsageError if there are none."""
    if source.is_file():
        paths = [source]
    else:
        inside = source.rglob("*") if source.is_dir() else ()
        paths = sorted(path for path in inside if path.is_file() and path.name.lower().endswith((*TEXTS, *LINES)))
    if not paths:
        raise UsageError(f"{source}: no text to search: give a file of JSON lines or a folder of .txt, .md or .jsonl")
    return paths


def unreadable_files(source: Path) -> Counter[str]:
    """Count by suffix the files of a folder that the index cannot read; hidden files do not count."""
    inside = source.rglob("*") if source.is_dir() else ()
    names = [path.name.lower() for path in inside if path.is_file() and not path.name.startswith(".")]
    return Counter(Path(name).suffix or name for name in names if not name.endswith((*TEXTS, *LINES)))


def passages(source: Path, fields: Fields, size: int) -> Iterator[Passage]:
    """Yield the passages of a collection, of at most `size` characters, cut between paragraphs or sentences.

    Raises UsageError with file and line if something cannot be read.
    """
    number = 0
    for path in files(source):
        name = path.relative_to(source).as_posix() if source.is_dir() else path.name
        for title, url, text, date, origin in _documents(path, name, fields):
            for start, end in cut_pieces(text, size):
                yield Passage(number, title, url, text[start:end], start, end, date, origin)
            number += 1


def cut_pieces(text: str, size: int) -> Iterable[tuple[int, int]]:
    """Yield (start, end) of pieces of `text`, none blank or longer than `size`; only white space is left out.

    A piece ends with a paragraph if one ends in its second half, else with a sentence, else with a word, else at
    `size`.
    """
    start = 0
    while True:
        while start < len(text) and text[start].isspace():
            start += 1
        if start == len(text):
            return
        end = _end(text, start, size)
        stop = end
        while text[stop - 1].isspace():
            stop -= 1
        yield start, stop
        start = end


_BREAKS = (re.compile(r"\n\s*"), re.compile(r"[.!?]\s+|[。！？]"), re.compile(r"\s+"))


def _end(text: str, start: int, size: int) -> int:
    if len(text) - start <= size:
        return len(text)
    half = start + size // 2
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, half, start + size)]
        if ends:
            return ends[-1]
    return start + size


def _documents(path: Path, name: str, fields: Fields) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield (title, url, text, date, source) of each document of a file."""
    try:
        if not path.name.lower().endswith(LINES):
            yield Path(name).stem, name, path.read_text(encoding="utf-8-sig"), "", ""
            return
        opener: Callable[..., IO[str]] = gzip.open if path.suffix.lower() == ".gz" else open
        with opener(path, "rt", encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _document(line, f"{name}:{number}", fields)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read as text in UTF-8: {error}") from error


def _document(line: str, place: str, fields: Fields) -> tuple[str, str, str, str, str]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{place}: no JSON: {error}") from error
    if not isinstance(row, dict):
        raise UsageError(f"{place}: a line must be a JSON object")
    if not any(name in row for name in fields.text):
        raise UsageError(f"{place}: none of the fields {', '.join(fields.text)}; it has {', '.join(list(row)[:20])}")
    title, url, date, origin = (_first(row, names) for names in (fields.title, fields.url, fields.date, fields.source))
    return title, url or place, _first(row, fields.text), date, origin


def _first(row: dict[str, Json], names: Sequence[str]) -> str:
    value = next((row[name] for name in names if name in row), "")
    if isinstance(value, list):
        value = "\n\n".join(part for part in value if isinstance(part, str))
    return "" if value is None else str(value).encode("utf-8", "replace").decode()


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
                "INSERT INTO word (rowid, title, text) VALUES (?, ?, ?)", (count, _apart(one.title), _apart(one.text))
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

    def find(self, query: str, most: int) -> list[Found]:
        """Return the best passages, one per document; a passage may lack some words. Ties keep the source's order."""
        words = match_expression(query)
        if not words or most < 1:
            return []
        best_of: dict[int, Found] = {}
        rows = self._connection.execute(
            "SELECT p.document, p.title, p.url, p.text, p.start, p.stop, p.date, p.source FROM "
            "(SELECT rowid AS id, bm25(word, ?, 1) AS score FROM word WHERE word MATCH ? ORDER BY score, id LIMIT ?) "
            "AS best JOIN passage AS p ON p.id = best.id ORDER BY score, best.id",
            (_TITLE, self._narrowed(words), 8 * most),
        )
        for document, *row in rows:
            if document not in best_of:
                best_of[document] = Found(*row)
        return list(best_of.values())[:most]

    def _narrowed(self, words: Sequence[str]) -> str:
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
            parts = _apart(word).split()
            pairs = [f"{one} {two}" for one, two in pairwise(parts)] or parts
            words.update(dict.fromkeys(pairs))
        elif word not in _COMMON:
            words[word] = None
    return [f'"{word}"' for word in list(words)[:_WORDS]]


def _apart(text: str) -> str:
    """Return `text` with white space around each character of a script without spaces."""
    return _CJK.sub(r" \g<0> ", unicodedata.normalize("NFKC", text)) if _CJK.search(text) else text
