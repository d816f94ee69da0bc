"""A full-text index in one file: SQLite's FTS5 over passages, ranked by BM25."""

import os
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from pathlib import Path
from tempfile import mkstemp

from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.passages import Passage

FORMAT = 1
"""Raised whenever an index of an older kind would answer otherwise."""
_TITLE = 4.0
"""Weight of a word in the title beside one in the text."""
_RARE = 0.05
"""Share of the passages up to which a word is rare."""
_READ = 4000
"""Characters of a query that are read."""
_WORDS = 48
"""Words of a query that are looked up at most: the first ones."""
_COUNTED = 20_000
"""Words whose passages were counted that are kept at hand: those asked for last."""
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
"""Words in nearly every passage: they tell none from another and make each query read the whole index."""


def build(path: Path, passages: Iterable[Passage]) -> int:
    """Write an index; returns how many passages it holds. The file appears whole or not at all."""
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
    """An index that is open for reading, in one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        self._holding = lru_cache(_COUNTED)(partial(_holding, self._connection))

    @cached_property
    def _size(self) -> int:
        return len(self)

    def usable(self) -> bool:
        """Whether it was written whole, by this version."""
        try:
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            self._connection.execute("SELECT rowid FROM word WHERE word MATCH 'a' LIMIT 1").fetchall()
        except sqlite3.DatabaseError:
            return False
        return bool(version == FORMAT)

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM passage").fetchone()[0])

    def find(self, query: str, most: int) -> list[Found]:
        """The best passages, one a document; words of the query are alternatives. Equal ones come as in the source."""
        words = asked(query)
        if not words or most < 1:
            return []
        found: dict[int, Found] = {}
        rows = self._connection.execute(
            "SELECT p.document, p.title, p.url, p.text, p.start, p.stop, p.date, p.source FROM "
            "(SELECT rowid AS id, bm25(word, ?, 1) AS score FROM word WHERE word MATCH ? ORDER BY score, id LIMIT ?) "
            "AS best JOIN passage AS p ON p.id = best.id ORDER BY score, best.id",
            (_TITLE, self._narrowed(words), 8 * most),
        )
        for document, *row in rows:
            if document not in found:
                found[document] = Found(*row)
        return list(found.values())[:most]

    def _narrowed(self, words: Sequence[str]) -> str:
        """The words as an expression that ranks by all of them, but only passages with a rare one, if there is one.

        Most of the time of a query goes into ranking passages that share with it but a common word. As BM25 adds up
        all that is written, the common words stand there twice as well: the order stays as it is without the narrowing.
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
    """In how many passages a word is."""
    return int(connection.execute("SELECT count(*) FROM word WHERE word MATCH ?", (word,)).fetchone()[0])


def asked(query: str) -> Sequence[str]:
    """The words of a query as FTS5 takes them: quoted, so that nothing in it is an operator; each once.

    Scripts without spaces are looked up by pairs of characters.
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
    """`text` with white space around each character of a script that writes none."""
    return _CJK.sub(r" \g<0> ", unicodedata.normalize("NFKC", text)) if _CJK.search(text) else text
