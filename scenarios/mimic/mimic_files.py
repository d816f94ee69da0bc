"""Finds and checks the files of a user's copy of MIMIC-IV, and has the settings of a build."""

import csv
import gzip
import hashlib
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.engine.errors import UsageError
from wardround.engine.text import HEADER_AGAIN, count_noun

_TEXT = "VARCHAR"


@dataclass(frozen=True, slots=True)
class MimicTable:
    """One table of MIMIC-IV, in its `folder` ('hosp', 'note').

    `needed` maps the required columns to their SQL types, `more` the optional ones. `lost` says what a build loses
    without the table; a table with an empty `lost` is required.
    """

    name: str
    folder: str
    needed: Mapping[str, str]
    more: Mapping[str, str] = field(default_factory=dict)
    lost: str = ""

    def kind(self, column: str) -> str:
        """The SQL type of a column."""
        return self.needed.get(column) or self.more.get(column) or _TEXT


def _text(names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), _TEXT)


_KEYS = {"subject_id": "BIGINT", "hadm_id": "BIGINT"}

TABLES: Mapping[str, MimicTable] = {
    table.name: table
    for table in (
        MimicTable(
            "admissions",
            "hosp",
            {**_KEYS, "admittime": "TIMESTAMP", "dischtime": "TIMESTAMP"},
            {"edregtime": "TIMESTAMP", **_text("admission_type admission_location")},
        ),
        MimicTable(
            "patients",
            "hosp",
            {"subject_id": "BIGINT", "gender": _TEXT, "anchor_age": "INTEGER", "anchor_year": "INTEGER"},
            _text("anchor_year_group"),
        ),
        MimicTable(
            "diagnoses_icd",
            "hosp",
            {"hadm_id": "BIGINT", "seq_num": "INTEGER", "icd_code": _TEXT, "icd_version": "INTEGER"},
        ),
        MimicTable(
            "d_icd_diagnoses",
            "hosp",
            {"icd_code": _TEXT, "icd_version": "INTEGER", "long_title": _TEXT},
            lost="ICD-9 codes have no titles, those of ICD-10-CM come from the package",
        ),
        MimicTable("d_labitems", "hosp", {"itemid": "BIGINT", "label": _TEXT}, _text("fluid category")),
        MimicTable(
            "labevents",
            "hosp",
            {**_KEYS, "itemid": "BIGINT", "charttime": "TIMESTAMP"},
            {
                "labevent_id": "BIGINT",
                "ref_range_lower": "DOUBLE",
                "ref_range_upper": "DOUBLE",
                **_text("value valuenum valueuom flag comments"),
            },
        ),
        MimicTable(
            "microbiologyevents",
            "hosp",
            {**_KEYS, "charttime": "TIMESTAMP", "test_itemid": "BIGINT", "test_name": _TEXT, "org_name": _TEXT},
            {
                "microevent_id": "BIGINT",
                "chartdate": "TIMESTAMP",
                "spec_itemid": "BIGINT",
                "org_itemid": "BIGINT",
                **_text("spec_type_desc comments ab_name interpretation dilution_text"),
            },
        ),
        MimicTable(
            "services",
            "hosp",
            {"hadm_id": "BIGINT", "transfertime": "TIMESTAMP", "curr_service": _TEXT},
            lost="openings built from coded fields name no service",
        ),
        MimicTable(
            "transfers",
            "hosp",
            {"hadm_id": "BIGINT", "intime": "TIMESTAMP"},
            lost="the published time window of an admission falls back on its own times",
        ),
        MimicTable(
            "discharge",
            "note",
            {"hadm_id": "BIGINT", "text": _TEXT},
            {"note_seq": "BIGINT", **_text("note_id note_type")},
            lost="no history, no physical examination, no discharge diagnosis: the label is the first-listed code",
        ),
        MimicTable(
            "radiology",
            "note",
            {"note_id": _TEXT, **_KEYS, "charttime": "TIMESTAMP", "text": _TEXT},
            _text("note_type"),
            lost="no imaging",
        ),
        MimicTable(
            "radiology_detail",
            "note",
            {"note_id": _TEXT, "field_name": _TEXT, "field_value": _TEXT},
            {"field_ordinal": "INTEGER"},
            lost="studies are named by their reports' own headings",
        ),
    )
}
"""Every table that a build may read, by name."""

_COLUMNS = frozenset(name for table in TABLES.values() for name in (*table.needed, *table.more))
"""The names of all columns of all tables."""

OnBadRow = Literal["stop", "skip"]

_MESSAGES = {
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
    """One fault of a file. The header is row 1; `column` may be empty.

    If `latin` is true, the row was kept, with its bytes read as Latin-1.
    """

    path: Path
    row: int
    column: str
    kind: str
    detail: str

    @property
    def repeats_header(self) -> bool:
        """Whether the row repeats the header: the value that does not fit is the name of a column."""
        return self.kind == "CAST" and self.detail.strip('"').lower() in {self.column.lower(), *_COLUMNS}

    @property
    def latin(self) -> bool:
        """Whether the only fault is that bytes are not UTF-8."""
        return self.kind == "INVALID ENCODING"

    def __str__(self) -> str:
        column = f", column {self.column}" if self.column else ""
        said = HEADER_AGAIN if self.repeats_header else _MESSAGES.get(self.kind, self.detail)
        detail = f" ({self.detail})" if self.kind == "CAST" and not self.repeats_header else ""
        return f"{self.path}, row {self.row}{column}: {said}{detail}"


def repeated_headers_first(bad: Sequence[BadRow]) -> list[BadRow]:
    """The faults with repeated headers first, because these explain the faults of the rows behind them."""
    return sorted(bad, key=lambda row: not row.repeats_header)


def refuse(bad: Sequence[BadRow], total: int) -> UsageError:
    """The error that stops a build at the faults of one file; it lists the first five."""
    more = f"\n  and {total - 5} more" if total > 5 else ""
    rows = "\n".join(f"  {row}" for row in repeated_headers_first(bad)[:5])
    return UsageError(
        f"{count_noun(total, 'row')} cannot be read as written; --on-bad-row skip goes on without them\n{rows}{more}"
    )


NONE = "none"
"""`--table NAME=none` declares a table to be absent on purpose."""
_ALWAYS = ("admissions", "patients", "diagnoses_icd")
"""The tables without which there is no admission to build from."""
_GZIP = b"\x1f\x8b"
"""How a gzip file begins."""
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""How a file in UTF-16 begins."""

_RELEASE = re.compile(r"mimic-?_?iv\D{0,40}?v?(?<!\d)([0-9]\.[0-9](?:\.[0-9])?)(?!\d)", re.IGNORECASE)
_RELEASES = "a build reads MIMIC-IV 2.x or 3.x"
_RELEASE_FILES = ("CHANGELOG.txt", "README.txt", "README.md", "SHA256SUMS.txt")


def sha256_of(path: Path) -> str:
    """The checksum of a file as stored; raises UsageError for a damaged gzip file.

    DuckDB does not compare the checksum inside a gzip file, so it may read other values from a damaged one in silence.
    """
    with path.open("rb") as stream, path.open("rb") as again:
        packed = stream.peek(2)[:2] == _GZIP
        try:  # reading to the end compares the checksum inside
            hashlib.file_digest(gzip.GzipFile(fileobj=again) if packed else again, "sha1")
        except (OSError, EOFError, zlib.error) as error:
            raise UsageError(f"{path}: is damaged ({error}); was it copied whole?") from error
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class File:
    """The file of one table; `columns` are the names in its header, in order."""

    table: MimicTable
    path: Path
    columns: tuple[str, ...]

    def has(self, column: str) -> bool:
        """Whether the file has the column."""
        return column in self.columns

    @property
    def packed(self) -> bool:
        """Whether the file is gzip, whatever its name says."""
        with self.path.open("rb") as stream:
            return stream.read(2) == _GZIP


@dataclass(frozen=True, slots=True)
class MimicCopy:
    """The files of one copy of MIMIC-IV, by table. `missing` maps an absent table to what a build loses by that."""

    root: Path
    version: str
    files: Mapping[str, File]
    missing: Mapping[str, str]

    def has(self, name: str) -> bool:
        """Whether the table is present."""
        return name in self.files


def find_tables(root: Path, named: Mapping[str, str], version: str = "") -> MimicCopy:
    """Find the tables below `root`; `named` maps a table to a file of another name, or to 'none'.

    Raises UsageError for a folder of another data set or release, and one that lists all missing tables and columns.
    """
    if unknown := [name for name in named if name not in TABLES]:
        raise UsageError(f"--table {unknown[0]}=...: there is no such table; a build reads: {', '.join(TABLES)}")
    if needed := next((name for name in _ALWAYS if named.get(name) == NONE), ""):
        raise UsageError(f"--table {needed}={NONE}: there is no build without the tables {', '.join(_ALWAYS)}")
    if not root.is_dir():
        raise UsageError(f"{root}: is no folder; --mimic names the folder of your own copy of MIMIC-IV")
    _refuse_other(root)
    files, missing, wrong = {}, {}, []
    for table in TABLES.values():
        path = _file_of(root, table, named.get(table.name, ""))
        if path is None:
            if not table.lost and named.get(table.name) != NONE:
                place = root / table.folder / f"{table.name}.csv"
                without = "" if table.name in _ALWAYS else f", or --table {table.name}={NONE} to go without it"
                wrong.append(
                    f"table {table.name} is missing (looked for {place} or .csv.gz); --table {table.name}=PATH{without}"
                )
            missing[table.name] = table.lost or "left out by --table"
            continue
        columns = header(path)
        if "row_id" in columns:
            raise UsageError(f"{path}: is a table of MIMIC-III (it has a column row_id); {_RELEASES}")
        if fault := _header_fault(table, columns):
            wrong.append(f"{path}: {fault}")
        files[table.name] = File(table, path, columns)
    if wrong:
        raise UsageError("\n".join((f"{root} cannot be built from:", *(f"  {line}" for line in wrong))))
    return MimicCopy(root, _release(root, version), files, missing)


def _header_fault(table: MimicTable, columns: tuple[str, ...]) -> str:
    """Why the first row of a file cannot be the names of a table's columns; "" where it can.

    The message quotes the row only if it has one of the names; otherwise the row may be a patient's.
    """
    absent = [column for column in table.needed if column not in columns]
    if len(columns) == 1 and (mark := next((mark for mark in ";\t|" if mark in columns[0]), "")):
        return f"its cells stand apart by {mark!r}, and those of a table by commas; convert the file"
    if len(absent) == len(table.needed):
        return f"its first row names none of the columns {', '.join(absent)}: is the row of names missing?"
    if absent:
        return f"column {', '.join(absent)} is missing; its header has: {', '.join(columns)}"
    if table.name == "labevents" and not {"value", "valuenum"} & set(columns):
        return "column value is missing, and so is valuenum"
    return ""


def header(path: Path) -> tuple[str, ...]:
    """The column names of a CSV file, plain or gzip, in lower case."""
    try:
        with path.open("rb") as probe:
            packed = probe.read(2) == _GZIP
        with gzip.open(path, "rb") if packed else path.open("rb") as stream:
            raw = stream.readline(1 << 16)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path}: cannot be read ({error}); was it copied whole?") from error
    if raw.startswith(_WIDE):
        raise UsageError(f"{path}: is UTF-16 text; save it as UTF-8")
    line = raw.decode("latin-1").removeprefix("\xef\xbb\xbf").strip()
    if not line:
        raise UsageError(f"{path}: is empty; a table starts with its column names")
    if "\0" in line:
        raise UsageError(f"{path}: is a binary file, or UTF-16 text; tables are CSV in UTF-8, plain or gzip")
    return tuple(name.strip().lower() for name in next(csv.reader([line])))


def _file_of(root: Path, table: MimicTable, named: str) -> Path | None:
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
    """Folders of a separately downloaded module inside the folder, such as 'mimic-iv-note/2.2/note'."""
    return tuple(sorted(root.glob(f"*/{folder}"))) + tuple(sorted(root.glob(f"*/*/{folder}")))


def _refuse_other(root: Path) -> None:
    names = {path.name for path in root.iterdir()}
    if {"ADMISSIONS.csv", "ADMISSIONS.csv.gz"} & names or {"D_ICD_DIAGNOSES.csv", "D_ICD_DIAGNOSES.csv.gz"} & names:
        raise UsageError(f"{root}: this is MIMIC-III; {_RELEASES}")
    if "core" in names and (root / "core").is_dir():
        raise UsageError(f"{root}: this is MIMIC-IV 1.x or older (it has a folder core); {_RELEASES}")


def _release(root: Path, said: str) -> str:
    """The release: as the user states it, else from the folder's name, else from its texts, else '' (unknown)."""
    if said:
        stated = said.lower().removeprefix("v")
        if not re.fullmatch(r"\d\.\d(?:\.\d)?", stated):
            raise UsageError(f"--mimic-version {said}: is no release; write it as 3.1")
        _refuse_release(root, stated)
        return stated
    release = next((match[1] for part in reversed(root.resolve().parts) if (match := _RELEASE.search(part))), "")
    parts = root.resolve().parts
    if not release and len(parts) > 1 and re.search(r"mimic-?_?iv", parts[-2], re.IGNORECASE):
        release = parts[-1] if re.fullmatch(r"\d\.\d(\.\d)?", parts[-1]) else ""
    for name in _RELEASE_FILES:
        path = root / name
        if not release and path.is_file():
            match = _RELEASE.search(path.read_text(encoding="latin-1")[:20_000])
            release = match[1] if match else ""
    _refuse_release(root, release)
    return release


def _refuse_release(root: Path, release: str) -> None:
    if release and release[0] not in "23":
        raise UsageError(f"{root}: this is MIMIC-IV {release}; {_RELEASES}")


RuleSet = Literal["default", "published"]


class MimicOptions(BaseModel):
    """The settings of a build. `min_per_disease` None means the number of the rule set (`at_least`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mimic: Path
    tables: dict[str, str] = Field(default_factory=dict, description="Files that are called otherwise, by table.")
    version: str = Field(default="", description="The release, if the name of the folder does not contain it.")
    pool: str | None = Field(default=None, description="A file of diseases, 'all', or None for the project's own.")
    admissions: Path | None = Field(default=None, description="A file of hadm_ids; only these are built.")
    diseases: tuple[str, ...] = Field(default=(), description="Only cases of these diseases of the pool.")
    gem: Path | None = Field(default=None, description="A map from ICD-9-CM to ICD-10-CM.")
    lookup: Path | None = Field(default=None, description="The published look-up tables, for the published rules.")
    rules: RuleSet = "default"
    without: tuple[str, ...] = Field(default=(), description="Rules switched off.")
    series: bool = Field(default=True, description="Keep repeated results; False keeps the first of each test.")
    min_per_disease: int | None = Field(default=None, ge=1)
    per_disease: int = Field(default=100, ge=1)
    limit: int | None = Field(default=None, ge=1)
    seed: int = 0
    on_bad_row: OnBadRow = "stop"
    data_class: Literal["public", "restricted"] = "restricted"

    @property
    def at_least(self) -> int:
        """The fewest admissions of a disease: MultiCogEval's text says more than 10, its data have 10."""
        if self.admissions is not None and self.min_per_disease is None:
            return 1  # a user who names admissions wants them all
        return self.min_per_disease or (10 if self.rules == "published" else 11)
