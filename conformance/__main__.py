"""`python -m conformance DIR [--tables DIR]`: every vector file of a folder that has an adapter; last line `N of M`."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conformance.adapters import ADAPTERS, Adapter
from conformance.compare import agrees
from conformance.tables import Tables, load
from conformance.vector import Vector, vectors
from wardround.engine.errors import UsageError
from wardround.scenarios.published.imaging_words import Absent

TABLES = Path("data/multicogeval/mimic-iv")
_SHORT = 160


@dataclass
class Result:
    """The counts of one file: rows that count, inputs that broke the published code, and rows for reference only.

    `crashed` are the defects at which our code raised too; `references_agreed` the rows for reference that agree.
    """

    counted: int = 0
    agreed: int = 0
    defects: int = 0
    crashed: int = 0
    references: int = 0
    references_agreed: int = 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the files and exit 0 only if all rows that count agree. Raises SystemExit."""
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder of vector files (JSON)")
    parser.add_argument("--tables", type=Path, help=f"the look-up tables; else {TABLES} beside the folder or ../shared")
    options = parser.parse_args(arguments)
    try:
        tables = load(_tables(options.folder, options.tables))
        agreed, counted = run(options.folder, tables)
    except UsageError as error:
        sys.exit(str(error))
    print(f"{agreed} of {counted}")
    sys.exit(0 if counted and agreed == counted else 1)


def _tables(folder: Path, named: Path | None) -> Path:
    """The folder of tables: the one named, else beside the vectors, else beside this checkout."""
    if named is not None:
        return named
    beside = folder.resolve().parent / TABLES
    return beside if beside.is_dir() else Path(__file__).resolve().parents[2] / "shared" / TABLES


def run(folder: Path, tables: Tables) -> tuple[int, int]:
    """(rows that agree, rows that count) of a folder; prints a line for each file. Raises UsageError."""
    if not folder.is_dir():
        raise UsageError(f"{folder}: is no folder")
    agreed = counted = 0
    for path in sorted(folder.iterdir()):
        adapter = ADAPTERS.get(path.stem)
        if path.suffix != ".json" or path.is_dir():
            print(f"{path.name}: not a vector file")
        elif adapter is None:
            print(f"{path.name}: no adapter, not counted")
        else:
            result = _file(path, adapter, tables)
            agreed, counted = agreed + result.agreed, counted + result.counted
    return agreed, counted


def _file(path: Path, adapter: Adapter, tables: Tables) -> Result:
    result, lines = Result(), []
    try:
        rows = vectors(path)
    except ValueError as error:
        print(f"{path.stem}: unreadable: {error}")
        return Result(counted=1)
    for row in rows:
        lines += list(_row(row, adapter, tables, result))
    defects = f"; defects handled: {result.defects - result.crashed} of {result.defects}" if result.defects else ""
    references = (
        f"; for reference, {result.references_agreed} of {result.references} agree" if result.references else ""
    )
    print(f"{path.stem}: {result.agreed}/{result.counted}{defects}{references}")
    print("".join(f"  {line}\n" for line in lines), end="")
    return result


def _row(row: Vector, adapter: Adapter, tables: Tables, result: Result) -> Iterator[str]:
    """Count one row; yields a line about it if it does not agree."""
    value, crashed = _value(row, adapter, tables)
    if row.counts:
        recorded = _recorded(row, adapter)
        good = not crashed and agrees(value, recorded)
        result.counted += 1
        result.agreed += good
        if not good:
            yield f"row {row.number}: ours {_cut(value)} | recorded {_cut(recorded.expected)}"
    elif row.expect == "defect":
        result.defects += 1
        result.crashed += crashed
        if crashed:
            yield f"row {row.number} (defect): {_cut(value)}"
    elif row.expect == "reference":
        result.references += 1
        result.references_agreed += not crashed and agrees(value, replace(_recorded(row, adapter), expect="equal"))
    else:
        yield f"row {row.number}: unknown mark {row.expect!r}, not counted"


def _value(row: Vector, adapter: Adapter, tables: Tables) -> tuple[Any, bool]:
    """Our value or its typed reason, and whether our code raised an untyped error."""
    try:
        return adapter.ours(row, tables), False
    except Absent as absent:
        return f"{absent.reason}: {absent}", False
    except (LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
        return f"{type(error).__name__}: {error}", True


def _recorded(row: Vector, adapter: Adapter) -> Vector:
    if adapter.theirs is None:
        return row
    expected, *others = (adapter.theirs(one, row) for one in (row.expected, *row.alternatives))
    return replace(row, expected=expected, alternatives=tuple(others))


def _cut(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}..."


if __name__ == "__main__":
    main()
