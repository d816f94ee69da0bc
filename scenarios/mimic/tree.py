"""A folder of MIMIC-IV files: which table is which file, what is missing, and which release it seems to be."""

import csv
import gzip
import hashlib
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.scenarios.mimic.tables import TABLES, Table

NONE = "none"
"""`--table NAME=none` says that a table that must be there is not, on purpose."""

_RELEASE = re.compile(r"mimic-?_?iv\D{0,40}?v?(?<!\d)([0-9]\.[0-9](?:\.[0-9])?)(?!\d)", re.IGNORECASE)
_TOLD = ("CHANGELOG.txt", "README.txt", "README.md", "SHA256SUMS.txt")


@dataclass(frozen=True, slots=True)
class File:
    """One table's file; `columns` are those of its header, in order."""

    table: Table
    path: Path
    columns: tuple[str, ...]

    def has(self, column: str) -> bool:
        """Whether the file has the column."""
        return column in self.columns

    def sha256(self) -> str:
        """Checksum of the file as it lies on the disk."""
        with self.path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of one copy of MIMIC-IV. `missing` maps an absent table to what the build goes without."""

    root: Path
    version: str
    files: Mapping[str, File]
    missing: Mapping[str, str]

    def has(self, name: str) -> bool:
        """Whether the table is there."""
        return name in self.files


def tree(root: Path, named: Mapping[str, str], version: str = "") -> Tree:
    """The tables below `root`, with `named` for those that are called otherwise (a path, or 'none').

    Raises UsageError with everything that is wrong at once: a folder of another data set or release, tables and
    columns that are needed and absent.
    """
    unknown = [name for name in named if name not in TABLES]
    if unknown:
        raise UsageError(f"--table {unknown[0]}=...: there is no such table; a build reads: {', '.join(TABLES)}")
    if not root.is_dir():
        raise UsageError(f"{root}: is no folder; --mimic names the folder of your own copy of MIMIC-IV")
    _refuse_other(root)
    files, missing, wrong = {}, {}, []
    for table in TABLES.values():
        path = _found(root, table, named.get(table.name, ""))
        if path is None:
            if not table.lost and named.get(table.name) != NONE:
                wrong.append(f"table {table.name} is missing ({_expected(root, table)}); --table {table.name}=PATH")
            missing[table.name] = table.lost or "left out by --table"
            continue
        columns = header(path)
        absent = [column for column in table.needed if column not in columns]
        if absent:
            wrong.append(f"{path}: column {', '.join(absent)} is missing; its header has: {', '.join(columns)}")
        files[table.name] = File(table, path, columns)
    if "labevents" in files and not (files["labevents"].has("value") or files["labevents"].has("valuenum")):
        wrong.append(f"{files['labevents'].path}: column value is missing, and so is valuenum")
    if wrong:
        raise UsageError("\n".join((f"{root} cannot be built from:", *(f"  {line}" for line in wrong))))
    return Tree(root, _release(root, version), files, missing)


def header(path: Path) -> tuple[str, ...]:
    """The column names of a CSV file, plain or gzip, in lower case."""
    try:
        with path.open("rb") as probe:
            packed = probe.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            line = stream.readline(1 << 16).decode("latin-1")
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path}: cannot be read ({error}); was it copied whole?") from error
    line = line.removeprefix("\xef\xbb\xbf").strip()
    if not line:
        raise UsageError(f"{path}: is empty; a table starts with its column names")
    if "\0" in line:
        raise UsageError(f"{path}: is a binary file; tables are CSV, plain or gzip")
    return tuple(name.strip().lower() for name in next(csv.reader([line])))


def _found(root: Path, table: Table, named: str) -> Path | None:
    if named == NONE:
        return None
    if named:
        path = Path(named)
        for choice in (path, root / path):
            if choice.is_file():
                return choice
        raise UsageError(f"--table {table.name}={named}: there is no such file")
    around = (root.parent / table.folder,) if root.name in ("hosp", "note") else ()
    folders = (root / table.folder, root, *around, *_beside(root, table.folder))
    places = (folder / f"{table.name}{ending}" for folder in folders for ending in (".csv.gz", ".csv"))
    return next((path for path in places if path.is_file()), None)


def _beside(root: Path, folder: str) -> tuple[Path, ...]:
    """The note module is a download of its own: 'mimic-iv-note/2.2/note' or the like inside the folder."""
    return tuple(sorted(root.glob(f"*/{folder}"))) + tuple(sorted(root.glob(f"*/*/{folder}")))


def _expected(root: Path, table: Table) -> str:
    return f"looked for {root / table.folder / (table.name + '.csv')} or .csv.gz"


def _refuse_other(root: Path) -> None:
    names = {path.name for path in root.iterdir()}
    if {"ADMISSIONS.csv", "ADMISSIONS.csv.gz"} & names or {"D_ICD_DIAGNOSES.csv", "D_ICD_DIAGNOSES.csv.gz"} & names:
        raise UsageError(f"{root}: this is MIMIC-III; a build reads MIMIC-IV 2.x or 3.x")
    if "core" in names and (root / "core").is_dir():
        raise UsageError(f"{root}: this is MIMIC-IV 1.x or older (it has a folder core); a build reads 2.x or 3.x")


def _release(root: Path, said: str) -> str:
    """The release: as said, else as the folder's name or its own texts tell, else '' (not known)."""
    if said:
        _refuse_release(root, said)
        return said
    told = next((match[1] for part in reversed(root.resolve().parts) if (match := _RELEASE.search(part))), "")
    parts = root.resolve().parts
    if not told and len(parts) > 1 and re.search(r"mimic-?_?iv", parts[-2], re.IGNORECASE):
        told = parts[-1] if re.fullmatch(r"\d\.\d(\.\d)?", parts[-1]) else ""
    for name in _TOLD:
        path = root / name
        if not told and path.is_file():
            match = _RELEASE.search(path.read_text(encoding="latin-1")[:20_000])
            told = match[1] if match else ""
    _refuse_release(root, told)
    return told


def _refuse_release(root: Path, release: str) -> None:
    if release and release[0] not in "23":
        raise UsageError(f"{root}: this is MIMIC-IV {release}; a build reads 2.x or 3.x")
