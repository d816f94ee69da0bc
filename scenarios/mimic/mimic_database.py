"""The working database of a build: it loads the rows that the build needs into a file and reads them in slices.

DuckDB reads, joins and sorts in a fixed amount of memory, whatever the size of the tables, and reports unreadable rows.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from wardround.engine.errors import UsageError
from wardround.engine.text import count_noun
from wardround.scenarios.diseases.ontologies import plain_code
from wardround.scenarios.mimic.mimic_files import BadRow, File, MimicCopy, OnBadRow, refuse
from wardround.scenarios.mimic.record_items import CULTURE_COLUMNS, LAB_COLUMNS, LabItem, Row

MEMORY = "256MB"
"""Memory limit of DuckDB; the build itself needs about 200 MB more."""

_ROW = 2 * 1024 * 1024
_BUFFER = 4 * _ROW
"""Bytes that DuckDB reads at once. It is the least that rows of `_ROW` bytes allow; the default would be 32 MB."""
_SORTED, _ROWS_SORTED = 32 * 2**20, 2_000_000
"""Characters of text, and rows, that are sorted at once."""
_MOST_REJECTS = 100_000
_BATCH = 5_000


@dataclass(eq=False)
class WorkDatabase:
    """The database of a build, in `folder`; used as a context manager.

    `bad` maps a table to its faults (the first 100,000), and `latin` has the tables with text that was read as Latin-1.
    `resumed` names the steps that an interrupted build in the same folder had finished. Raises UsageError if another
    build uses the folder.
    """

    folder: Path
    on_bad: OnBadRow = "stop"
    memory: str = MEMORY
    bad: dict[str, list[BadRow]] = field(default_factory=dict)
    latin: set[str] = field(default_factory=set)
    resumed: list[str] = field(default_factory=list)

    def __enter__(self) -> Self:
        import duckdb  # noqa: PLC0415 heavy, and only a build needs it

        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": self.memory,
            "threads": 2,
            "temp_directory": str(self.folder / "overflow"),
            "autoinstall_known_extensions": "false",
            "preserve_insertion_order": "false",
        }
        self._error: type[Exception] = duckdb.Error
        try:
            self._db = duckdb.connect(str(self.folder / "spill.duckdb"), config=config)
        except duckdb.IOException as error:
            raise UsageError(
                f"{self.folder}: another build of the same file is under way, or this: {_first_line(error)}"
            ) from error
        self._db.execute("set enable_progress_bar=false")
        # DuckDB takes a file of long rows for a small table and would hash it whole; here the smaller side is second.
        self._db.execute("set disabled_optimizers='join_order,build_side_probe_side'")
        self._db.execute("create table if not exists finished (step varchar, faults varchar, latin varchar)")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._db.close()

    def once(self, step: str, work: Callable[[], None]) -> None:
        """Do a step of the build, unless an interrupted build in this folder has finished it already."""
        rows = self._db.execute("select faults, latin from finished where step = ?", [step]).fetchall()
        if rows:
            faults, latin = rows[0]
            self.bad |= {
                name: [BadRow(Path(path), *rest) for path, *rest in parts] for name, parts in json.loads(faults).items()
            }
            self.latin |= set(json.loads(latin))
            self.resumed.append(step.replace(MORE, " (second reading)"))
            return
        before = set(self.bad)
        work()
        new = {
            name: [[str(row.path), *astuple(row)[1:]] for row in self.bad[name]]
            for name in self.bad
            if name not in before
        }
        self._db.execute(
            "insert into finished values (?, ?, ?)", [step, json.dumps(new), json.dumps(sorted(self.latin))]
        )

    def read(self, into: str, file: File, select: Sequence[str], rest: str = "") -> None:
        """Create table `into` from `file`: `select` are SQL expressions over its columns, `rest` joins and filters.

        The SQL refers to the file as `t`; an optional column that it lacks is NULL. Raises UsageError with file, row
        and column if rows cannot be read and the build should stop.
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
        spec = ", ".join(f"{_sql_text(name)}: {_sql_text(kind)}" for name, kind in columns.items())
        # Use the first copy of a doubled column; DuckDB itself would refuse the file.
        source = (
            f"read_csv({_sql_text(str(file.path))}, delim=',', quote='\"', escape='\"', header=true, "
            f"auto_detect=false, columns={{{spec}}}, nullstr='', allow_quoted_nulls=true, max_line_size={_ROW}, "
            f"buffer_size={_BUFFER}, "
            f"store_rejects=true, rejects_limit={_MOST_REJECTS}, compression='{'gzip' if file.packed else 'none'}', "
            f"encoding='{'latin-1' if latin else 'utf-8'}')"
        )
        columns_read = ", ".join(["*", *absent])
        try:
            self._db.execute(
                f"create or replace table {into} as select {', '.join(select)} "  # noqa: S608 - our own names
                f"from (select {columns_read} from {source}) t {rest}"
            )
        except self._error as error:
            said = _first_line(error).removesuffix(f": {file.path}")
            whole = "; was it copied whole?" if file.packed else ""
            raise UsageError(f"{file.path}: cannot be read: {said}{whole}") from error

    def _rejected(self, file: File) -> list[BadRow]:
        """The rows that DuckDB rejected in the last read, each once, in the order of the file."""
        rows = self._db.execute(
            "select line, column_name, error_type, error_message, csv_line from reject_errors order by line, column_idx"
        ).fetchall()
        self._db.execute("drop table reject_errors; drop table reject_scans")
        rejected: dict[int, BadRow] = {}
        for line, column, kind, message, text in rows:
            if line not in rejected or rejected[line].latin:
                name = _column(file, kind, text) if kind == "MISSING COLUMNS" else column or ""
                rejected[line] = BadRow(file.path, line, name, str(kind), _value(message))
        return list(rejected.values())

    def put(self, into: str, columns: Mapping[str, Sequence[object]]) -> None:
        """Append rows from Python to `into`, column by column; creates the table if it does not exist."""
        arrays = {name: np.array(list(values)) for name, values in columns.items()}
        if not arrays or not len(next(iter(arrays.values()))):
            return
        have = self.one(f"select count(*) from duckdb_tables() where table_name = '{into}'")  # noqa: S608 - our own names
        head = f"insert into {into}" if have else f"create table {into} as"
        self._db.register("batch", arrays)
        self._db.execute(f"{head} select * from batch")  # noqa: S608 - our own names
        self._db.unregister("batch")

    def run(self, sql: str) -> None:
        """Execute a statement."""
        self._db.execute(sql)

    def rows(self, sql: str, *, of: str = "") -> Iterator[Row]:
        """Stream the rows of a query; `of` is the table whose text may have been read as Latin-1."""
        cursor = self._db.cursor()
        try:
            cursor.execute(sql)
            while batch := cursor.fetchmany(_BATCH):
                yield from map(_repair_row, batch) if of in self.latin else batch
        finally:
            cursor.close()

    def count(self, table: str) -> int:
        """The number of rows of a table."""
        return self.one(f"select count(*) from {table}")  # noqa: S608 - our own names

    def one(self, sql: str) -> int:
        """The single number of a query; 0 for false and for no row."""
        return next((int(row[0]) for row in self.rows(sql)), 0)


def _repair_row(row: Row) -> Row:
    """Repair a row that was read as Latin-1: text that is really UTF-8 is decoded, other text stays as it is."""
    return tuple(_text(cell) if isinstance(cell, str) and not cell.isascii() else cell for cell in row)


def _text(cell: str) -> str:
    try:
        return cell.encode("latin-1").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return cell


def _sql_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _column(file: File, kind: str, text: str | None) -> str:
    """The first column that a short row lacks."""
    have = len(next(csv.reader([text]), [])) if text else 0
    return file.columns[have] if 0 < have < len(file.columns) else ""


def _value(message: str | None) -> str:
    match = re.search(r'convert string (".*?") to', message or "", re.DOTALL)
    return match[1][:80] if match else ""


_NEAR = "t.hadm_id = w.hadm_id or (t.hadm_id is null and t.charttime between w.opened and w.closed)"
_JOIN = f"join windows w on t.subject_id = w.subject_id where ({_NEAR})"
_ASSIGNED_BY_TIME = "t.hadm_id is null as near"
_CODE = "upper(replace(trim(icd_code), '.', ''))"


_STRAYS = (
    ("admissions", "a hadm_id stands in several rows", "select hadm_id from admissions group by 1 having count(*) > 1"),
    ("patients", "the patient has no row", "select hadm_id from admissions anti join patients using (subject_id)"),
    (
        "diagnoses_icd",
        "the table admissions has no row",
        "select distinct hadm_id from raw_codes anti join people using (hadm_id)",
    ),
)
"""(table, what is wrong, query) for the kinds of admissions whose rows do not fit together."""


def load_admissions(db: WorkDatabase, tree: MimicCopy) -> None:
    """Create tables `people` (one admission per row), `codes`, and `strays`: what is told of rows that do not fit."""
    columns = ("subject_id", "hadm_id", "admittime", "dischtime", "edregtime", "admission_type", "admission_location")
    db.read("admissions", tree.files["admissions"], columns, "where hadm_id is not null")
    person = ("subject_id", "gender", "anchor_age", "anchor_year", "anchor_year_group")
    db.read("patients", tree.files["patients"], person)
    if tree.has("services"):
        service = "arg_min(curr_service, transfertime) as service"
        db.read("services", tree.files["services"], ("hadm_id", service), "group by hadm_id")
    else:
        db.run("create or replace table services (hadm_id bigint, service varchar)")
    db.run(
        "create or replace table people as select a.hadm_id, any_value(a.subject_id) as subject_id, "
        "any_value(gender) as sex, any_value(anchor_age + year(admittime) - anchor_year) as age, "
        "any_value(admittime) as admitted, any_value(dischtime) as left_at, any_value(edregtime) as arrived, "
        "any_value(admission_type) as kind, any_value(admission_location) as origin, any_value(service) as service "
        "from admissions a left join patients using (subject_id) left join services s on s.hadm_id = a.hadm_id "
        "group by a.hadm_id order by a.hadm_id"
    )
    db.read("raw_codes", tree.files["diagnoses_icd"], ("hadm_id", "seq_num", f"{_CODE} as code", "icd_version"))
    db.run(
        "create or replace table codes as select distinct hadm_id, seq_num, code, icd_version from raw_codes "
        "semi join people using (hadm_id) where code is not null order by hadm_id, seq_num, code"
    )
    strays: list[str] = []
    for table, what, query in _STRAYS:
        if many := db.one(f"select count(*) from ({query})"):  # noqa: S608 - our own names
            first = ", ".join(str(hadm) for (hadm,) in db.rows(f"{query} order by hadm_id nulls last limit 5"))
            strays.append(f"{table}: {what}, of {count_noun(many, 'admission')}: {first}{' ...' if many > 5 else ''}")
    db.run("drop table raw_codes; drop table admissions; create or replace table strays (said varchar)")
    db.put("strays", {"said": strays})


def load_titles(db: WorkDatabase, tree: MimicCopy) -> dict[tuple[str, int], str]:
    """The titles of codes by (code, version); none if the copy lacks the table."""
    if not tree.has("d_icd_diagnoses"):
        return {}
    db.read("titles", tree.files["d_icd_diagnoses"], ("icd_code", "icd_version", "long_title"))
    rows = db.rows("select * from titles order by all", of="titles")
    return {(plain_code(code), version): title.strip() for code, version, title in rows if code and title}


def load_items(db: WorkDatabase, tree: MimicCopy) -> dict[int, LabItem]:
    """The laboratory items by number; none if the copy lacks the table."""
    if not tree.has("d_labitems"):
        return {}
    db.read("items", tree.files["d_labitems"], ("itemid", "label", "fluid", "category"), "where label is not null")
    rows = db.rows("select * from items order by all", of="items")
    return {itemid: LabItem(label.strip(), fluid or "", category or "") for itemid, label, fluid, category in rows}


def load_notes(db: WorkDatabase, tree: MimicCopy, *, published: bool) -> None:
    """Create table `notes` with the discharge notes of each admission in `candidates`, the one that counts first.

    The summary with the highest number in the series comes first; addenda come last. Published rules keep only one
    note, the last by its id as text.
    """
    chosen = f"semi join candidates c on c.hadm_id = t.hadm_id where {_no_note_of('RR', 'AR')}"
    if published:
        select = ("hadm_id", "false as addendum", "0 as number", "max_by(text, coalesce(note_id, '')) as text")
        chosen += " group by hadm_id"
    else:
        number = "coalesce(note_seq, try_cast(regexp_extract(note_id, '([0-9]+)$', 1) as bigint), 0) as number"
        select = ("hadm_id", "coalesce(note_type, '') = 'AD' as addendum", number, "text")
    db.read("raw_notes", tree.files["discharge"], select, chosen)
    _sort_table(db, "notes", "raw_notes", _ORDER["notes"])


def _no_note_of(*kinds: str) -> str:
    """The SQL condition that a row is no note of the `kinds`, because one file may hold both tables of notes."""
    return f"coalesce(t.note_type, '') not in ({', '.join(map(_sql_text, kinds))})"


MORE = "_more"
"""The ending of the names of tables that a second reading of the results makes."""


def load_results(db: WorkDatabase, tree: MimicCopy, more: str = "", *, published: bool) -> None:
    """Create the tables `labs`, `cultures` and `reports` for the admissions in `kept`; `more` is added to their names.

    A row without an admission belongs to the admission that its patient had at that time. An admission lasts from a day
    before arrival (but not before the previous discharge) to discharge; under published rules, from a day before the
    first transfer to the last transfer.
    """
    _set_windows(db, tree, published=published)
    lab = ("w.hadm_id", *(f"t.{name}" for name in LAB_COLUMNS), _ASSIGNED_BY_TIME, "t.labevent_id")
    db.once(f"labs{more}", lambda: _load_result(db, tree, f"labs{more}", "labevents", lab, _ORDER["labs"]))
    when = "coalesce(t.charttime, t.chartdate) as charttime"
    named = (when if name == "charttime" else f"t.{name}" for name in CULTURE_COLUMNS)
    culture = ("w.hadm_id", *named, _ASSIGNED_BY_TIME, "t.microevent_id")
    grown = f"cultures{more}"
    db.once(grown, lambda: _load_result(db, tree, grown, "microbiologyevents", culture, _ORDER["cultures"]))
    db.once(f"reports{more}", lambda: _load_reports(db, tree, f"reports{more}"))


def _load_reports(db: WorkDatabase, tree: MimicCopy, into: str) -> None:
    report = ("w.hadm_id", "t.note_id", "t.text", "t.charttime", _ASSIGNED_BY_TIME)
    _load_unsorted(db, tree, "readings", "radiology", report, f" and {_no_note_of('DS', 'AD')}")
    _load_exams(db, tree)
    db.run(
        "create or replace table raw_reports as "
        "select r.hadm_id, r.note_id, coalesce(own.exam, over.exam, '') as exam, r.text, r.charttime, r.near "
        "from readings r left join exams own using (note_id) "
        "left join parents p using (note_id) left join exams over on over.note_id = p.parent; drop table readings"
    )
    db.latin |= {"raw_reports"} if "readings" in db.latin else set()
    _sort_table(db, into, "raw_reports", _ORDER["reports"])


def _set_windows(db: WorkDatabase, tree: MimicCopy, *, published: bool) -> None:
    if published and tree.has("transfers"):
        db.read("moves", tree.files["transfers"], ("hadm_id", "intime"), "where hadm_id is not null")
        times = (
            "select hadm_id, min(intime) - interval 1 day as opened, max(intime) as closed from moves group by hadm_id"
        )
    else:
        before = "coalesce(lag(left_at) over (partition by subject_id order by admitted), '0001-01-01')"
        arrival = "coalesce(least(arrived, admitted), admitted) - interval 1 day"
        times = f"select hadm_id, greatest({arrival}, {before}) as opened, left_at as closed from people"  # noqa: S608
    db.run(
        f"create or replace table windows as select k.hadm_id, p.subject_id, t.opened, t.closed from kept k "  # noqa: S608
        f"join people p using (hadm_id) left join ({times}) t using (hadm_id)"
    )


def _load_result(db: WorkDatabase, tree: MimicCopy, into: str, name: str, select: Sequence[str], order: str) -> None:
    _load_unsorted(db, tree, f"raw_{into}", name, select)
    _sort_table(db, into, f"raw_{into}", order)


def _load_unsorted(
    db: WorkDatabase, tree: MimicCopy, into: str, name: str, select: Sequence[str], more: str = ""
) -> None:
    """Create table `into` with a file's rows on the admissions in `windows` that meet the condition `more` as well."""
    if tree.has(name):
        db.read(into, tree.files[name], select, f"{_JOIN}{more}")
    else:
        columns = ", ".join(f"{part.split(' as ')[-1].split('.')[-1]} varchar" for part in select)
        db.run(f"create or replace table {into} ({columns.replace('hadm_id varchar', 'hadm_id bigint')})")


def _load_exams(db: WorkDatabase, tree: MimicCopy) -> None:
    """Create tables `exams` and `parents` of the reports in `readings`."""
    if not tree.has("radiology_detail"):
        db.run("create or replace table exams (note_id varchar, exam varchar)")
        db.run("create or replace table parents (note_id varchar, parent varchar)")
        return
    wanted = "where field_name in ('exam_name', 'parent_note_id') and coalesce(field_ordinal, 1) = 1"
    db.read("details", tree.files["radiology_detail"], ("note_id", "field_name", "field_value"), wanted)
    for into, column, value in (("exams", "exam_name", "exam"), ("parents", "parent_note_id", "parent")):
        db.run(
            f"create or replace table {into} as select note_id, min(field_value) as {value} from details "  # noqa: S608
            f"where field_name = '{column}' group by note_id"
        )


def _sort_table(db: WorkDatabase, into: str, raw: str, order: str) -> None:
    """Make the sorted table `into` of table `raw`, so that a slice of admissions can be read without the rest.

    It is sorted in parts of about `_SORTED` characters of text or `_ROWS_SORTED` rows, since DuckDB sorts long rows in
    memory and needs more besides them as the table grows.
    """
    written = db.one(f"select count(*) from duckdb_columns() where table_name = '{raw}' and column_name = 'text'")  # noqa: S608
    size = db.one(f"select coalesce(sum(length(text)), 0) from {raw}") if written else 0  # noqa: S608
    most = max(size // _SORTED, db.count(raw) // _ROWS_SORTED) + 1
    parts = db.rows(
        f"select min(hadm_id), max(hadm_id) from (select hadm_id, ntile({most}) over (order by hadm_id) "  # noqa: S608
        f"as part from (select distinct hadm_id from {raw})) group by part order by 1"
    )
    db.run(f"create or replace table {into} as select * from {raw} limit 0")  # noqa: S608
    db.run("set preserve_insertion_order=true")
    for first, last in list(parts):
        db.run(f"insert into {into} select * from {raw} where hadm_id between {first} and {last} order by {order}")  # noqa: S608
    db.run(f"drop table {raw}; set preserve_insertion_order=false")
    db.latin |= {into} if raw in db.latin else set()


def slices(db: WorkDatabase, table: str, size: int) -> Iterator[tuple[int, int]]:
    """(first, last) admission of each slice of `size` admissions in `table`, in ascending order."""
    rows = db.rows(
        f"select min(hadm_id), max(hadm_id) from (select hadm_id, (row_number() over (order by hadm_id) - 1) // {size} "  # noqa: S608
        f"as part from {table}) group by part order by 1"
    )
    yield from rows


def rows_by_admission(
    db: WorkDatabase, columns: Sequence[str], table: str, part: tuple[int, int], among: str = "", more: str = ""
) -> dict[int, list[Row]]:
    """The rows of `table` by admission, for the slice `part`.

    `among` names a table to whose admissions the rows are restricted. `more` is as in `load_results`.
    """
    semi = f"semi join {among} using (hadm_id)" if among else ""
    order = f"order by {_ORDER[table]}" if table in _ORDER else ""
    rows = db.rows(
        f"select hadm_id, {', '.join(columns)} from {table}{more} {semi} "  # noqa: S608
        f"where hadm_id between {part[0]} and {part[1]} {order}",
        of=table + more,
    )
    return {hadm: [row[1:] for row in group] for hadm, group in groupby(rows, key=lambda row: row[0])}


_ORDER = {
    "codes": "hadm_id, seq_num, code",
    "labs": "hadm_id, charttime, itemid, labevent_id, value, valuenum",
    "cultures": "hadm_id, charttime, test_itemid, spec_itemid, microevent_id, org_name, comments, ab_name",
    "reports": "hadm_id, charttime, note_id",
    "notes": "hadm_id, addendum, number desc, text",
}
