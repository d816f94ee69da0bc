"""The working database of a build: streams big CSV tables into a file on disk, keeping only the rows that matter.

DuckDB reads, joins and sorts within a fixed memory, whatever the size of the tables; rows it cannot read are named.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from wardround.engine.errors import UsageError
from wardround.scenarios.mimic.badrow import BadRow, OnBadRow, refuse
from wardround.scenarios.mimic.tree import File

MEMORY = "512MB"
"""What DuckDB may use; the build itself needs some 150 MB beside it."""

_ROW = 2 * 1024 * 1024
_MOST = 100_000
_BATCH = 5_000
Row = tuple[Any, ...]


@dataclass(eq=False)
class Spill:
    """Tables of the rows a build needs, in `folder`. `bad` maps a table to its faults (the first 100,000)."""

    folder: Path
    on_bad: OnBadRow = "stop"
    memory: str = MEMORY
    bad: dict[str, list[BadRow]] = field(default_factory=dict)
    latin: set[str] = field(default_factory=set)

    def __enter__(self) -> Self:
        import duckdb  # noqa: PLC0415 heavy, and only a build needs it

        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": self.memory,
            "temp_directory": str(self.folder / "overflow"),
            "autoinstall_known_extensions": "false",
            "preserve_insertion_order": "false",
        }
        self._error: type[Exception] = duckdb.Error
        self._db = duckdb.connect(str(self.folder / "spill.duckdb"), config=config)
        self._db.execute("set enable_progress_bar=false")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()

    def read(self, into: str, file: File, select: Sequence[str], rest: str = "") -> None:
        """Make table `into` from `file`: `select` are SQL expressions over its columns, `rest` joins and filters.

        The file goes by the name `t`; an optional column it has not is NULL. Raises UsageError with file, row and
        column where rows cannot be read and the build is to stop.
        """
        self._copy(into, file, select, rest, latin=False)
        bad = self._rejected(file)
        if bad and self.on_bad == "stop":
            raise refuse(bad, len(bad))
        if any(row.latin for row in bad):
            self.latin.add(into)
            self._copy(into, file, select, rest, latin=True)
            self._rejected(file)
        if bad:
            self.bad[file.table.name] = bad

    def _copy(self, into: str, file: File, select: Sequence[str], rest: str, *, latin: bool) -> None:
        columns = {name: file.table.kind(name) for name in file.columns}
        absent = [
            f"cast(null as {kind}) as {name}" for name, kind in file.table.more.items() if name not in file.columns
        ]
        spec = ", ".join(f"{_quoted(name)}: {_quoted(kind)}" for name, kind in columns.items())
        # The first copy of a doubled column counts; DuckDB itself would refuse the file.
        source = (
            f"read_csv({_quoted(str(file.path))}, delim=',', quote='\"', escape='\"', header=true, auto_detect=false, "
            f"columns={{{spec}}}, nullstr='', allow_quoted_nulls=true, max_line_size={_ROW}, store_rejects=true, "
            f"rejects_limit={_MOST}, encoding={_quoted('latin-1' if latin else 'utf-8')})"
        )
        told = ", ".join(["*", *absent])
        try:
            self._db.execute(
                f"create or replace table {into} as select {', '.join(select)} "  # noqa: S608 - our own names
                f"from (select {told} from {source}) t {rest}"
            )
        except self._error as error:
            raise UsageError(f"{file.path}: cannot be read: {_first(error)}") from error

    def _rejected(self, file: File) -> list[BadRow]:
        """What the last reading could not read, a row once, in the order of the file."""
        rows = self._db.execute(
            "select line, column_name, error_type, error_message, csv_line from reject_errors order by line, column_idx"
        ).fetchall()
        self._db.execute("drop table reject_errors; drop table reject_scans")
        found: dict[int, BadRow] = {}
        for line, column, kind, message, text in rows:
            if line not in found or found[line].latin:
                name = _column(file, kind, text) if kind == "MISSING COLUMNS" else column or ""
                found[line] = BadRow(file.path, line, name, str(kind), _value(message))
        return list(found.values())

    def put(self, into: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Append rows that Python made to `into`, column by column; the table is made if it is not there."""
        arrays = {name: np.array(list(values)) for name, values in columns.items()}
        if not arrays or not len(next(iter(arrays.values()))):
            return
        have = self.one(f"select count(*) from duckdb_tables() where table_name = '{into}'")  # noqa: S608 - our own names
        head = f"insert into {into}" if have else f"create table {into} as"
        self._db.register("given", arrays)
        self._db.execute(f"{head} select * from given")  # noqa: S608 - our own names
        self._db.unregister("given")

    def run(self, sql: str) -> None:
        """Carry out a statement."""
        self._db.execute(sql)

    def rows(self, sql: str, *, of: str = "") -> Iterator[Row]:
        """The rows of a query, streamed; `of` is the table whose text may have to be read as Latin-1."""
        cursor = self._db.cursor()
        try:
            cursor.execute(sql)
            while batch := cursor.fetchmany(_BATCH):
                yield from map(_mended, batch) if of in self.latin else batch
        finally:
            cursor.close()

    def count(self, table: str) -> int:
        """How many rows a table has."""
        return int(self.one(f"select count(*) from {table}"))  # noqa: S608 - our own names

    def one(self, sql: str) -> Any:
        """The only value of a query."""
        return next((row[0] for row in self.rows(sql)), None)


def _mended(row: Row) -> Row:
    """A row that was read as Latin-1: what is UTF-8 becomes so, what is not stays."""
    return tuple(_text(cell) if isinstance(cell, str) and not cell.isascii() else cell for cell in row)


def _text(cell: str) -> str:
    try:
        return cell.encode("latin-1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return cell


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _first(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _column(file: File, kind: str, text: str | None) -> str:
    """The first column that a short row lacks."""
    have = len(next(csv.reader([text]), [])) if text else 0
    return file.columns[have] if 0 < have < len(file.columns) else ""


def _value(message: str | None) -> str:
    match = re.search(r'convert string (".*?") to', message or "", re.DOTALL)
    return match[1][:80] if match else ""
