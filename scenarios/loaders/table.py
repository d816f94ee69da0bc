"""Loads CSV and TSV files, one case or choice question a row; columns of known names, or named by a map."""

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.text import HEADER_AGAIN, file_text, read_json, regex, suggestion, table_rows_of, toml_file
from wardround.scenarios.case import Case, Provenance
from wardround.scenarios.loaders.lettered_choices import lettered_choice
from wardround.scenarios.loaders.source import WIDE, Loader, Playable, Refused
from wardround.scenarios.loaders.vignettes import other_question, sentences_of, vignette_case
from wardround.scenarios.question_item import LETTERS, QuestionItem

FIELDS = (
    "id", "vignette", "opening", "complaint", "truth.diagnosis", "truth.treatment", "truth.reasoning", "source",
    "licence", "data_class", "question", "answer", "group", "source_group", "level", "language", "image",
)  # fmt: skip
"""What a map may name, besides `history.NAME`, `examination.NAME`, `investigation.NAME`, `option.LETTER`."""
_OF_QUESTIONS = ("group", "source_group", "level", "language")
_OPTION = "option."
_CELLS = "the row has another number of cells than the header"
_BROKEN = regex("[\udc80-\udcff]")
"""A byte that is not UTF-8, as `_text` reads it."""
_FORMAT, _FAULT = "", "?"
"""Keys of a row besides its fields: the name of its format, and what is wrong with it as a whole, or ''."""
_PREFIXES = ("history.", "examination.", "investigation.")
_FIELD_FORMS = (*FIELDS, *(f"{prefix}NAME" for prefix in _PREFIXES), f"{_OPTION}A")
_QUESTIONS = "choice questions"
HEALTHVER = "HealthVer"
_HEALTHVER_COLUMNS = {name: name for name in ("id", "evidence", "claim", "label", "question")}
_HEALTHVER_LABELS = ("Supports", "Refutes", "Neutral")
_HEALTHVER_OPTIONS = ("It supports the claim.", "It refutes the claim.", "It neither supports nor refutes the claim.")
KNOWN: Sequence[tuple[str, Mapping[str, str]]] = (
    ("CRAFT-MD", {"id": "case_id", "vignette": "case_vignette", "truth.diagnosis": "answer"}),
    ("CRAFT-MD", {"id": "case_id", "vignette": "case_desc", "truth.diagnosis": "answer_name"}),
    (HEALTHVER, _HEALTHVER_COLUMNS),
    ("cases", {"id": "id", "opening": "opening", "truth.diagnosis": "diagnosis"}),
)
"""The formats of known headers, each with its map; a file of other columns needs a map of its own."""
Pairs = Sequence[tuple[str, str]]
"""Columns with their fields, as `--map` names them."""


class Tables(Loader):
    """CSV and TSV, plain or gzip; `pairs` name the field of a case for each column, None for the known headers.

    ::

        wardround cases import stations.csv --map vignette=opening --map answer=truth.diagnosis --out cases.jsonl
    """

    TITLE = "CSV or TSV, one case a row (columns by --map)"
    SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")

    def __init__(self, pairs: Pairs | None = None) -> None:
        self._pairs = pairs
        self.mapped: Mapping[str, str] = {}
        """The columns of the file that was read last, by field, where pairs name them."""
        self.known = ""
        """The format of the file that was read last, where its header is a known one."""

    def knows(self, record: Json) -> float:
        """A JSON record is never a row of a table."""
        return 0.0

    def records(self, path: Path) -> Iterator[tuple[int, Mapping[str, Json]]]:
        """The rows of a file under the fields of a case, each with its line; raises UsageError for unknown columns."""
        text = _text(path)
        if not text.strip():
            raise UsageError(f"{path}: is empty; a table has a line of names and a line for each case")
        rows = table_rows_of(path, text)
        names = [name.strip() for name in next(rows, (1, []))[1]]
        if (fault := _row_fault((), names)) != _CELLS:
            raise UsageError(f"{path}, line 1: {fault}")
        columns, label = self._map(path, names)
        if twice := next((name for name in columns.values() if names.count(name) > 1), ""):
            raise UsageError(f"{path}, line 1: two columns are named {twice!r}; give each a name of its own")
        for at, row in rows:
            made: dict[str, Json] = {_FORMAT: label, _FAULT: _row_fault(names, row)}
            cells = dict(zip(names, row, strict=False))
            yield at, made | {field: cells.get(column, "").strip() for field, column in columns.items()}

    def _map(self, path: Path, names: list[str]) -> tuple[Mapping[str, str], str]:
        """(column by field, name of the format) for a header; raises UsageError for columns that are not there."""
        if self._pairs is not None:
            self.mapped = _by_field(self._pairs, names, f"{path}, line 1")
            return self.mapped, path.name
        for label, columns in KNOWN:
            if set(columns.values()) <= set(names):
                self.known = label
                return columns, label
        if {"question", "A", "B", "answer"} <= set(names):
            options = {f"{_OPTION}{letter}": letter for letter in LETTERS if letter in names}
            return {name: name for name in FIELDS if name in names} | options, _QUESTIONS
        raise UsageError(
            f"{path}, line 1: its columns are those of no known format ({', '.join(names[:12])}); name them by "
            "wardround cases import, patients by --map COLUMN=opening --map COLUMN=truth.diagnosis, questions by "
            "--map COLUMN=question --map COLUMN=option.A --map COLUMN=option.B --map COLUMN=answer"
        )

    def case(self, number: int, name: str, record: Json) -> Playable:
        """The case of a row, or its question in a table of questions; raises Refused with all faults."""
        fault = record[_FAULT]
        if fault and (fault != _CELLS or record[_FORMAT] == HEALTHVER or "question" in record):
            raise Refused([("", fault)])
        if record[_FORMAT] == HEALTHVER:
            return healthver_question(record)
        if "question" in record:
            return _choice(number, record)
        wrong = [("", fault)] if fault else []
        story = record.get("vignette") or record.get("opening") or ""
        if not story:
            wrong.append(("opening", "must not be blank: map `vignette` or `opening` to a column that is filled"))
        if not (record.get("truth.diagnosis") or record.get("truth.treatment")):
            wrong.append(("truth.diagnosis", "must not be blank"))
        if record.get("vignette") and (why := other_question(story)):
            wrong.append(("vignette", why))
        if record.get("data_class", "public") not in ("public", "restricted", ""):
            wrong.append(("data_class", f"{record['data_class']!r} is neither public nor restricted"))
        if wrong:
            raise Refused(wrong)
        case_id = record.get("id") or f"row-{number:04d}"
        where = Provenance(
            source=record.get("source") or record[_FORMAT], record=case_id, licence=record.get("licence", "")
        )
        case = vignette_case(
            case_id, sentences_of(story), record.get("truth.diagnosis", ""), where, record.get("complaint", "")
        )
        return _with_columns(case, record)


def _choice(number: int, record: Mapping[str, str]) -> QuestionItem:
    """The choice question of a row; a blank option at the end is none. Raises Refused with the field."""
    options = {field.removeprefix(_OPTION): text for field, text in record.items() if field.startswith(_OPTION)}
    while options and not list(options.values())[-1]:
        options.popitem()
    if blank := [letter for letter, text in options.items() if not text]:
        raise Refused([(f"{_OPTION}{blank[0]}", "is blank, and options come after it")])
    if not record["question"]:
        raise Refused([("question", "must not be blank")])
    if not (right := record.get("answer", "")):
        raise Refused([("answer", "must not be blank: write the letter of the right option, or its text")])
    asked = {"id": record.get("id") or number, "question": record["question"], "options": options, "answer": right}
    item = lettered_choice(number, asked)
    fields = {name: record[name] for name in _OF_QUESTIONS if record.get(name)}
    images = {"images": [record["image"]]} if record.get("image") else {}
    origin = {
        "source": record.get("source") or record[_FORMAT],
        "record": str(asked["id"]),
        "licence": record.get("licence", ""),
    }
    public = {"data_class": record.get("data_class") or ("public" if record[_FORMAT] == _QUESTIONS else "restricted")}
    return QuestionItem.model_validate(
        {**item.model_dump(exclude_defaults=True), **fields, **images, **public, "provenance": origin}
    )


def _with_columns(case: Case, record: Mapping[str, str]) -> Case:
    """`case` with its own columns for opening, history, examination and investigations."""
    changed: dict[str, Json] = {
        "data_class": record.get("data_class") or ("public" if record[_FORMAT] == "CRAFT-MD" else "restricted")
    }
    parts = {part: {field.removeprefix(part): text for field, text in record.items() if field.startswith(part) and text}
            for part in _PREFIXES}  # fmt: skip
    if record.get("opening"):
        changed |= {"opening": record["opening"], "history": {}, "examination": (), "investigations": ()}
    raw = case.model_dump(exclude_defaults=True) | changed
    raw["truth"] |= {
        part: record[f"truth.{part}"] for part in ("treatment", "reasoning") if record.get(f"truth.{part}")
    }
    if parts["history."]:
        raw["history"] = parts["history."]
    if parts["examination."]:
        raw["examination"] = [{"section": name, "text": text} for name, text in parts["examination."].items()]
    if parts["investigation."]:
        raw["investigations"] = [{"name": name, "text": text} for name, text in parts["investigation."].items()]
    return Case.model_validate(raw)


def read_map(values: tuple[str, ...]) -> Pairs | None:
    """The pairs of `--map`: COLUMN=FIELD any number of times, or one file of TOML or JSON; None without any.

    FIELD=COLUMN is taken too, wherever that is the only way to read a pair. Raises UsageError for a pair without a
    field.
    """
    if not values:
        return None
    path = Path(values[0])
    if len(values) == 1 and "=" not in values[0] and (path.suffix in (".json", ".toml") or path.exists()):
        read = read_json(path, file_text(path, "--map")) if path.suffix == ".json" else toml_file(path, "--map")
        if not isinstance(read, dict):
            raise UsageError(f"--map {path}: it is no object of columns and fields")
        pairs = [(str(left), str(right)) for left, right in read.items()]
    else:
        if bad := next((value for value in values if "=" not in value), ""):
            raise UsageError(
                f"--map {bad}: name the field that this column holds, as in --map {bad}=id, or write one file of such "
                f"pairs in TOML or JSON; fields: {', '.join(_FIELD_FORMS)}"
            )
        pairs = [(left, right) for left, _, right in (value.partition("=") for value in values)]
    for left, right in pairs:
        if not (_is_field(left) or _is_field(right)):
            raise UsageError(f"--map {left}={right}: there is no field {right!r}{suggestion(right, _FIELD_FORMS)}")
    return pairs


def _is_field(name: str) -> bool:
    return (
        name in FIELDS or name.startswith(_PREFIXES) or (name.startswith(_OPTION) and name[len(_OPTION) :] in LETTERS)
    )


def _by_field(pairs: Pairs, names: Sequence[str], where: str) -> Mapping[str, str]:
    """The columns by field, for a file with the columns `names`; raises UsageError for a column that is not there."""
    columns: dict[str, str] = {}
    for left, right in pairs:
        turned = not _is_field(right) or (_is_field(left) and left not in names and right in names)
        field, column = (left, right) if turned else (right, left)
        if column not in names:
            raise UsageError(f"{where}: --map names column {column!r}; the columns are: {', '.join(names)[:300]}")
        if field in columns:
            raise UsageError(f"{where}: --map names two columns for {field}: {columns[field]!r} and {column!r}")
        columns[field] = column
    return columns


def _text(path: Path) -> str:
    """The text of a table, unpacked; bytes that are not UTF-8 stay in it as halves of surrogate pairs."""
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(f"{path}: cannot be read ({error}); was it copied whole?") from error
    if raw.startswith(WIDE):
        raise UsageError(f"{path}: is UTF-16 or UTF-32 text; save it as UTF-8")
    return raw.decode("utf-8-sig", "surrogateescape")


def _row_fault(names: Sequence[str], row: Sequence[str]) -> str:
    """What is wrong with a row as a whole ('' if nothing): a byte that is no UTF-8, the header again, missing cells."""
    if broken := _BROKEN.search("\n".join(row)):
        return f"byte 0x{ord(broken[0]) - 0xDC00:02x} is not UTF-8; convert the row to UTF-8"
    if [cell.strip() for cell in row] == list(names):
        return HEADER_AGAIN
    return _CELLS if len(row) != len(names) else ""


def healthver_question(row: Mapping[str, str]) -> QuestionItem:
    """The choice of a row, with its evidence as context; items of one claim are of one source group.

    Raises Refused for another label, and for a row without claim or evidence.
    """
    wrong = [(name, "must not be blank") for name in ("id", "evidence", "claim") if not row.get(name)]
    if row.get("label") not in _HEALTHVER_LABELS:
        wrong.append(("label", f"{row.get('label')!r} is none of {', '.join(_HEALTHVER_LABELS)}"))
    if wrong:
        raise Refused(wrong)
    return QuestionItem.model_validate(
        {
            "id": f"healthver-{row['id']}",
            "form": "choice",
            "question": f"What does this evidence say about the following claim?\n\nClaim: {row['claim']}",
            "options": list(_HEALTHVER_OPTIONS),
            "context": [row["evidence"]],
            "truth": {"option": _HEALTHVER_LABELS.index(row["label"])},
            "source_group": row["claim"],
            "kind": ["claim verification"],
            "data_class": "public",
            "provenance": {"source": HEALTHVER, "record": row["id"]},
        }
    )
