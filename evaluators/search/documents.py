"""The documents of an offline corpus: read from files of texts or JSON lines, and cut into passages."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json

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
