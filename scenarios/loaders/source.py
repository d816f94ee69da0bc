"""The contract of loaders, the lines of a file, and its faults."""

import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import IO, ClassVar, Protocol

import msgspec
from pydantic import ValidationError

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.text import printable
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.oddities import Oddity, in_record, path_text
from wardround.scenarios.question_item import QuestionItem


class Problem(msgspec.Struct, frozen=True):
    """One fault of a file. `line` counts from 1; 0 means the whole file. `case` and `field` may be empty.

    With `warning` it is only an oddity: the case is still read and played.
    """

    path: str
    line: int
    field: str
    message: str
    case: str = ""
    warning: bool = False

    def __str__(self) -> str:
        where = [printable(self.path)]
        if self.line:
            where.append(f"line {self.line}")
        if self.case:
            where.append(f"case {printable(self.case)}")
        if self.field:
            where.append(f"field {printable(self.field)}")
        return f"{'warning: ' * self.warning}{', '.join(where)}: {self.message}"


def refused_rows(problems: Sequence[Problem]) -> list[tuple[str, str]]:
    """(case or line, first fault) of each row that has a fault; a file that is one list has many rows in a line."""
    groups = groupby(problems, key=lambda one: (one.path, one.line, one.case, _place(one.field)))
    firsts = [next(faults) for _, faults in groups]
    return [(one.case or f"line {one.line}", f"{one.field} {one.message}".strip()) for one in firsts]


def _place(field: str) -> str:
    """The row of a list that a field such as '[3].round' is of, '' for the field of a single record."""
    return field[: field.index("]") + 1] if field.startswith("[") and "]" in field else ""


FieldFault = tuple[str, str]
"""A field, such as 'labs[0].value', and what is wrong with it."""


class Refused(Exception):
    """Raised for a record that is not a case, with all its faults. `load` makes a Problem of each of them."""

    def __init__(self, faults: Iterable[FieldFault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(f"{field}: {message}" for field, message in self.faults))


_JSON_TYPES: Mapping[type, str] = {str: "a text", list: "a list", dict: "an object"}


def misfit(value: Json, kind: type, *, may_be_empty: bool = False) -> str:
    """Why a field's value is no `kind` (str, list or dict): it is missing, of another type, or empty; "" if it fits."""
    if value is None:
        return "is missing"
    if not isinstance(value, kind):
        return f"must be {_JSON_TYPES[kind]}, is {type(value).__name__}"
    if may_be_empty or (value.strip() if isinstance(value, str) else value):
        return ""
    return "must not be blank" if kind is str else "must not be empty"


def schema_faults(error: ValidationError) -> tuple[FieldFault, ...]:
    """All faults that a schema found in a record."""
    return tuple(
        _named(part["msg"])
        if part["type"] == "value_error" and not part["loc"]
        # a rule on the whole record names its field in its message
        else (path_text(part["loc"]), _message(part["type"], part["msg"]))
        for part in error.errors()
    )


_RULE = re.compile(r"(?P<field>[a-z_]+(?:\.[a-z_]+)*)(?::| (?=is |are |must |belong ))\s*(?P<message>.+)", re.DOTALL)


def _named(message: str) -> FieldFault:
    """The field with which a rule's message begins, and the rest; the field is "" if the message names none."""
    said = message.removeprefix("Value error, ")
    match = _RULE.fullmatch(said)
    return (match["field"], match["message"]) if match else ("", said)


def _message(kind: str, message: str) -> str:
    """What is wrong, in plain words, from the schema's kind of error and its message."""
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is no field of a case (docs/case.schema.json lists them)"
    if kind == "string_too_short":
        return "must not be empty"
    if kind in ("tuple_type", "list_type"):
        return "must be a list, in square brackets"
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        return "must be an object, in braces"
    said = message.removeprefix("Value error, ")
    return re.sub(r"^input should be\b", "must be", said[:1].lower() + said[1:])


_CUT = "unexpected end of hex escape"
_PEEK = 4096
"""Bytes at the beginning of a file that are looked at, to tell text from other files."""
WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
"""How files of UTF-16 and UTF-32 begin."""


Playable = Case | QuestionItem
"""An item that an episode plays: a case or a question."""


class Loader(Protocol):
    """A format of case files: the interface of an entry point of the group `wardround.loaders`.

    ::

        class Stations(Loader):
            TITLE = "Our stations, one JSON object a line"

            def knows(self, record: Json) -> float:
                return float(isinstance(record, dict) and "station" in record)

            def case(self, number: int, name: str, record: Json) -> Case: ...

    A class of your own derives from it, needs no arguments, and has TITLE, `knows` and `case`, or `cases` if a record
    holds several.

    - TITLE: a description of its files for messages, a name before a comma.
    - WHOLE: the file is one JSON object of records by id; otherwise a record a line, a JSON list of records, or records
      over several lines.
    - MARK: text in every file of the format, used to recognise a damaged one; "" for none.
    - SUFFIXES: suffixes of files that are not JSON, such as ".csv"; only `records` reads these.
    """

    TITLE: ClassVar[str]
    WHOLE: ClassVar[bool] = False
    MARK: ClassVar[str] = ""
    SUFFIXES: ClassVar[tuple[str, ...]] = ()

    def knows(self, record: Json) -> float:
        """The confidence from 0 to 1 that a record has this format; the format with the highest reads the file.

        A WHOLE format is asked about the file's object. 0 means another format.
        """
        ...

    def of_file(self, records: Iterable[Json]) -> "Loader":
        """The loader for one file: a format whose records cannot be read alone looks at all of them here."""
        return self

    def case(self, number: int, name: str, record: Json) -> Playable:
        """The case of record `number` (from 1), called `name` in the file ("" if records have no names).

        Raises Refused with all faults, or the ValidationError of the case's schema.
        """
        raise NotImplementedError(f"{type(self).__name__} has neither `case` nor `cases`")

    def cases(self, number: int, name: str, record: Json) -> "Iterable[Playable | Refused]":
        """All cases or questions of a record; raises as `case` does.

        If only some of the items are at fault, the Refused of each stands in its place.
        """
        return (self.case(number, name, record),)

    def odd(self, record: Json) -> Iterable[Oddity]:
        """The oddities of a record."""
        return in_record(record)

    def records(self, path: Path) -> Iterator[tuple[int, Mapping[str, Json]]]:
        """The records of a file with one of SUFFIXES, each with its line; raises UsageError."""
        raise UsageError(f"{path}: {self.TITLE} reads no such files")


class TextLine(msgspec.Struct, frozen=True):
    """One line, counted from 1, or a JSON value that begins on it; `ended` is False for a last line without a line end.

    `at` is the place of the value in a list, as "[3]".
    """

    number: int
    text: str
    ended: bool = True
    at: str = ""


def text_lines(path: Path) -> Iterator[TextLine | Problem]:
    """Stream the non-blank lines of `path` (plain or gzip); a line that is not UTF-8 comes as a Problem.

    Raises UsageError if the path is not a text file: missing, a folder, empty, binary, UTF-16. Removes a UTF-8 byte
    order mark.
    """
    with ExitStack() as stack:
        stream = _open(path, stack)
        seen = False
        for item in _decoded(path, stream):
            seen = True
            yield item
        if not seen:
            raise UsageError(f"{path}: holds nothing but blank lines; a case file has one case a line")


def _open(path: Path, stack: ExitStack) -> IO[bytes]:
    """The unpacked bytes of `path`; closing `stack` closes all that was opened."""
    if path.is_dir():
        inside = sorted(one.name for one in path.iterdir() if one.is_file() and not one.name.startswith("."))
        holds = (
            f"it holds {', '.join(inside[:5])}{' and others' if len(inside) > 5 else ''}" if inside else "it is empty"
        )
        raise UsageError(f"{path}: is a folder; name one file in it: {holds}")
    try:
        plain: io.BufferedReader = stack.enter_context(path.open("rb"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be opened ({error.strerror or error}); is the path right?") from error
    try:
        if plain.peek(2)[:2] == b"\x1f\x8b":
            plain = stack.enter_context(io.BufferedReader(gzip.GzipFile(fileobj=plain), _PEEK))
        head = plain.peek(_PEEK)[:_PEEK]
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path}: cannot be unpacked as gzip ({error}); was it copied whole?") from error
    _check_text(path, head)
    return plain


def _check_text(path: Path, head: bytes) -> None:
    """Raise UsageError if the first bytes of a file are not those of text in UTF-8."""
    if not head:
        raise UsageError(f"{path}: is empty; a case file has one case a line")
    if head.startswith(WIDE):
        raise UsageError(f"{path}: is UTF-16 or UTF-32 text; save it as UTF-8")
    if b"\0" in head:
        raise UsageError(f"{path}: is a binary file; a case file is UTF-8 text, one JSON object a line")


def _decoded(path: Path, stream: IO[bytes]) -> Iterator[TextLine | Problem]:
    number = 0
    while True:
        try:
            raw = stream.readline()
        except (OSError, EOFError, zlib.error) as error:
            yield Problem(str(path), number + 1, "", f"the gzip file breaks off here ({error}); was it copied whole?")
            return
        if not raw:
            return
        number += 1
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            yield Problem(
                str(path),
                number,
                "",
                f"byte 0x{raw[error.start]:02x} at column {error.start + 1} is not UTF-8; convert the file to UTF-8",
            )
            continue
        if text.strip():
            yield TextLine(number, text, text.endswith("\n"))


def plainly(error: Exception) -> str:
    """The parser's message, with its term for a cut surrogate pair explained."""
    half = "half of a surrogate pair or a broken \\u escape"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error).replace(_CUT, half)


_NOT_JSON = re.compile(r'"(?P<field>[^"\\]{1,80})"\s*:\s*\[?\s*(?P<value>-?(?:NaN|Infinity))\b')


def broken(error: ValueError | RecursionError, line: TextLine) -> str:
    """What is wrong with a line that is not JSON, and what to do about it."""
    said = plainly(error).replace(" at line 1 column ", " at column ").replace(" at line 2 column 0", " at its end")
    if nan := _NOT_JSON.search(line.text):
        return f"field {nan['field']}: {nan['value']} is no JSON; write null where a value is missing"
    if line.ended:
        return f"is not one JSON object ({said}); write one case a line"
    return f"the last line breaks off ({said}): was the file still being written? complete the line or take it out"
