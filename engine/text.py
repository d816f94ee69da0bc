"""Text: read from outside, made safe to store and to show, and amounts in words."""

import codecs
import csv
import io
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import lru_cache, wraps
from importlib.resources import files
from pathlib import Path
from typing import TypeVar, cast

from wardround.engine.errors import UsageError, storable
from wardround.engine.records import Json

T = TypeVar("T")
LONGEST_CELL = 2**24
"""Most characters of a cell of a table."""


def file_text(path: Path, what: str = "") -> str:
    """The text of a file that a user names; `what` names the file's role in messages, such as an option.

    The file is UTF-8, or UTF-16 with its byte order mark, as PowerShell writes the output of a program. Raises
    UsageError if it is not readable.
    """
    where = f"{what} {path}".strip()
    try:
        content = path.read_bytes()  # once: it may be a pipe
        if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            with suppress(UnicodeDecodeError):
                return _decoded(content, "utf-16")
        return _decoded(content, "utf-8-sig")
    except OSError as error:
        raise UsageError(f"{where}: cannot be read ({error.strerror or error}); is the path right?") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{where}, line {content[: error.start].count(10) + 1}: byte 0x{content[error.start]:02x} is not UTF-8; "
            "save the file as UTF-8"
        ) from error


def _decoded(content: bytes, encoding: str) -> str:
    return io.TextIOWrapper(io.BytesIO(content), encoding=encoding).read()  # with \n at the end of every line


def toml_file(path: Path, what: str = "") -> dict[str, Json]:
    """The fields of a TOML file that a user names. Raises UsageError if it is not readable or not valid TOML."""
    try:
        return tomllib.loads(file_text(path, what))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{f'{what} {path}'.strip()}: is not TOML ({error})") from error


def column_rows(path: Path, what: str, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a CSV file that a user names, each by its columns in lower case, without spaces around a cell.

    `what` is as in `file_text`. Raises UsageError if the file is not readable or lacks one of `columns`.
    """
    reader = csv.DictReader(io.StringIO(file_text(path, what)))
    names = [(name or "").strip().lower() for name in reader.fieldnames or ()]
    if not set(columns) <= set(names):
        there = ", ".join(names) or "none"
        raise UsageError(f"{what} {path}: needs the columns {' and '.join(columns)}; it has {there}")
    reader.fieldnames = names
    return [{name: (row[name] or "").strip() for name in names} for row in reader]


HEADER_AGAIN = "the names of columns stand here again: are two tables in one file? what follows may be another one"
"""What is wrong with a row of a table that repeats its header."""


def table_rows_of(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of each row of a table, the header first and blank rows left out.

    The separator is the commonest of comma, tab and semicolon in the first line. Raises UsageError for a row that is
    damaged.
    """
    csv.field_size_limit(LONGEST_CELL)
    head, at = text.partition("\n")[0], 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",\t;", key=head.count), strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield at, row
            at = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{path}, line {reader.line_num}: {error}; is a quotation mark not closed?") from error


def package_rows(package: str, *names: str) -> list[dict[str, str]]:
    """The rows of a CSV table that lies in a package, each by its columns; `names` are folders and the file.

    Example: `package_rows("wardround.scenarios", "data", "pool.csv")`.
    """
    return list(csv.DictReader(io.StringIO(files(package).joinpath(*names).read_text(encoding="utf-8"))))


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that is compiled when it is first used.

    For patterns that take milliseconds to compile: a command that never uses them does not wait for them. A pattern
    that cannot be compiled raises re.error at its first use.
    """
    return cast("re.Pattern[str]", _Regex(pattern, flags))


SHORT = 200
"""The most characters of a text whose reading is kept."""


def kept_if_short(read: Callable[[str], T]) -> Callable[[str], T]:
    """`read`, whose results for short texts are kept: thousands of replies are "Answer: A".

    Results must be immutable.
    """
    kept = lru_cache(maxsize=1024)(read)

    @wraps(read)
    def reading(text: str) -> T:
        return kept(text) if len(text) <= SHORT else read(text)

    return reading


_METHODS = frozenset(
    ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn", "flags", "groups", "groupindex")
)


class _Regex:
    """Stands in for a compiled pattern; from its first use on it has that pattern's methods."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> object:
        if name not in _METHODS:
            raise AttributeError(f"a pattern has no attribute {name!r}")
        made = re.compile(self.pattern, self._flags)
        self.search, self.match, self.fullmatch, self.finditer = made.search, made.match, made.fullmatch, made.finditer
        self.findall, self.split, self.sub, self.subn = made.findall, made.split, made.sub, made.subn
        self.flags, self.groups, self.groupindex = made.flags, made.groups, made.groupindex
        return vars(self)[name]


def loads(text: str) -> Json:
    """Like `json.loads`, but with lone surrogates, which JSON allows and no store accepts, written as escapes."""
    value = json.loads(text)
    return escape_surrogates(value) if "\\u" in text else value


def read_json(where: Path | str, text: str, line: str = "") -> Json:
    """The JSON value of a text; raises UsageError with `where`, the line and the column.

    `line` names the place of a text that is one line of a file; without it the line is counted within the text.
    """
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        at = line or f"line {error.lineno}"
        raise UsageError(f"{where}, {at}: no valid JSON at column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}{f', {line}' if line else ''}: no valid JSON: {error}") from error


def escape_surrogates(value: Json) -> Json:
    """The value with every lone surrogate in its texts and keys written as an escape."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(name): escape_surrogates(part) for name, part in value.items()}
    return [escape_surrogates(part) for part in value] if isinstance(value, list) else value


def lone_surrogate(value: Json, where: str = "") -> str | None:
    """The place of the first text with a lone surrogate in a value ('seats.NAME.options.x'); None if there is none."""
    if isinstance(value, str):
        return where if storable(value) != value else None
    if isinstance(value, dict):
        parts = [(f"{where}.{storable(str(name))}".lstrip("."), part) for name, part in value.items()]
        parts += [(where or "a name", name) for name in value]
    elif isinstance(value, list | tuple):
        parts = [(f"{where}[{place}]", part) for place, part in enumerate(value)]
    else:
        return None
    return next((inner for place, part in parts if (inner := lone_surrogate(part, place)) is not None), None)


_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""Characters that control a terminal, change the reading order, or are invisible."""
_UNSEEN_IN_LINES = re.compile(_UNSEEN.pattern.replace(r"\x00-\x1f", r"\x00-\x08\x0b-\x1f"))


def printable(text: str, *, lines: bool = False) -> str:
    """The text in a form that is safe for a terminal: control characters are written as escapes, such as \\x1b.

    Line ends and tabs are escaped too, so that no text can pass for a line of the program; with `lines` they stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN_IN_LINES.sub(_escape, text.replace("\r\n", "\n")) if lines else _UNSEEN.sub(_escape, text)


def in_json(text: str) -> str:
    """A JSON text with control characters as JSON escapes: same value, safe for a terminal."""
    return _UNSEEN_IN_LINES.sub(_json_escape, text)


def csv_cell(value: str) -> str:
    """A text as a cell of a CSV file for spreadsheets: a text that would be read as a formula gets a ' in front.

    A text that is a number stays unchanged.
    """
    if not value.lstrip(" ").startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""The first characters of a cell that a spreadsheet may run as a formula."""


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


_MANY = {"is": "are", "was": "were", "has": "have", "criterion": "criteria"}


def in_number(number: int, word: str) -> str:
    """A noun or a verb in the form that goes with a number: `reply` or `replies`, `is` or `are`."""
    many = re.sub(r"(?<=[^aeiou])y$", "ie", word) + ("es" if word.endswith(("s", "x", "ch")) else "s")
    return word if number == 1 else _MANY.get(word, many)


def count_noun(number: int, noun: str) -> str:
    """A number with its noun: `1 episode`, `2 episodes`, `0 replies`."""
    return f"{number:,} {in_number(number, noun)}"


def split_outside_brackets(text: str, separators: re.Pattern[str], brackets: str = "()[]") -> list[str]:
    """Split `text` where `separators` matches and none of the pairs of `brackets` is open.

    >>> split_outside_brackets("a, b (c, d)", re.compile(r",\\s*"))
    ['a', 'b (c, d)']
    """
    depth, start, read, parts = 0, 0, 0, []
    bracketed = not frozenset(brackets).isdisjoint(text)
    for match in separators.finditer(text):
        if bracketed:
            for sign in text[read : match.start()]:
                depth = max(0, depth + (sign in brackets[::2]) - (sign in brackets[1::2]))
            read = match.start()
        if depth == 0 and match.start() >= start:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def duration_text(seconds: float) -> str:
    """A length of time for people: `90 s`, `12 min`, `3.4 h`."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def suggestion(name: str, there: Sequence[str]) -> str:
    """The end of a message that `name` is unknown: the most similar known name, and all known names."""
    near = get_close_matches(name.lower(), there, 1)
    return f"{f', did you mean {near[0]}?' if near else ';'} there are: {', '.join(there) or 'none'}"
