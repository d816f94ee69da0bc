"""Rows that a table cannot be read from: where each is and what is wrong with it, and what to do then."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wardround.engine.errors import UsageError

OnBadRow = Literal["stop", "skip"]

_SAID = {
    "CAST": "is not of the column's type",
    "MISSING COLUMNS": "the row breaks off: columns are missing",
    "TOO MANY COLUMNS": "the row has more columns than the header",
    "UNQUOTED VALUE": "a quotation mark is not closed, or stands inside a value",
    "LINE SIZE OVER MAXIMUM": "the row is longer than 2 MB: is a quotation mark not closed?",
    "INVALID ENCODING": "bytes are not UTF-8",
    "INVALID STATE": "the quotation marks cannot be made sense of",
}


@dataclass(frozen=True, slots=True)
class BadRow:
    """One fault of a file. `row` counts from 1, the header being row 1; `column` may be empty.

    `latin`: the row was not lost, its bytes were read as Latin-1.
    """

    path: Path
    row: int
    column: str
    kind: str
    detail: str

    @property
    def latin(self) -> bool:
        """Whether the row only holds bytes that are not UTF-8."""
        return self.kind == "INVALID ENCODING"

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column else ""
        said = _SAID.get(self.kind, self.detail)
        return f"{self.path}, row {self.row}{column}: {said}" + (f" ({self.detail})" if self.kind == "CAST" else "")


def refuse(found: Sequence[BadRow], total: int) -> UsageError:
    """The error that stops a build at the faults of one file; the first five are told."""
    more = f"\n  and {total - 5} more" if total > 5 else ""
    rows = "\n".join(f"  {row}" for row in found[:5])
    return UsageError(
        f"{total} rows cannot be read as they stand; --on-bad-row skip goes on without them\n{rows}{more}"
    )
