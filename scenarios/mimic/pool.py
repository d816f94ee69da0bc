"""The diseases a build looks for: the project's own list, a list the user made, or whatever was coded first."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.scenarios.terms.wording import key

ALL = "all"
COLUMNS = ("name", "synonyms", "icd10", "icd9")
"""Columns of a pool file; several values in one cell stand between bars. Others, such as a count, are passed over."""

_HEADS = frozenset({"name", "disease"})


@dataclass(frozen=True, slots=True)
class Disease:
    """One disease: its names, and the families (prefixes, without the dot) of its ICD-10-CM and ICD-9-CM codes."""

    name: str
    synonyms: tuple[str, ...] = ()
    icd10: tuple[str, ...] = ()
    icd9: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All its names, its own first."""
        return (self.name, *self.synonyms)


@dataclass(frozen=True, slots=True)
class Pool:
    """The diseases, and where they come from. `lifted`: no pool at all, each admission's first code is its label."""

    source: str
    diseases: tuple[Disease, ...] = ()
    lifted: bool = False


def pool(given: str | None) -> Pool:
    """The pool of `--pool`: None for the project's own, 'all' for none, else the path of a list.

    Raises UsageError where the file cannot be read, holds nothing, or names a disease twice.
    """
    if given is None:
        return own()
    if given == ALL:
        return Pool("every first-listed code", lifted=True)
    return read(Path(given))


def own() -> Pool:
    """The project's own list of diseases."""
    text = files("wardround.scenarios").joinpath("data", "pool.csv").read_text(encoding="utf-8")
    return Pool("Wardround's own list", tuple(_disease(row) for row in csv.DictReader(io.StringIO(text))))


def read(path: Path) -> Pool:
    """A list of diseases: CSV with a column `name` (or `disease`), or plain text with one a line.

    What a row leaves out is taken from the project's own list where that knows the name.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be opened ({error.strerror or error}); is the path right?") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; convert the file") from error
    known = {key(name): disease for disease in own().diseases for name in disease.names}
    found: dict[str, Disease] = {}
    for line, row in _rows(text):
        disease = _disease(row)
        if not disease.name:
            continue
        if key(disease.name) in found:
            raise UsageError(f"{path}, line {line}: {disease.name!r} is listed twice")
        found[key(disease.name)] = _completed(disease, known.get(key(disease.name)))
    if not found:
        raise UsageError(f"{path}: names no disease; write one a line, or CSV with the column name")
    return Pool(str(path), tuple(found.values()))


def _rows(text: str) -> Iterable[tuple[int, Mapping[str, str]]]:
    head = next(csv.reader(text.splitlines()[:1]), [])
    names = [name.strip().lower() for name in head]
    if not _HEADS & set(names):
        return [(n, {"name": line.strip()}) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    reader = csv.DictReader(io.StringIO(text), fieldnames=names)
    return [(reader.line_num, {name: value for name, value in row.items() if name}) for row in reader][1:]


def _disease(row: Mapping[str, str | None]) -> Disease:
    name = (row.get("name") or row.get("disease") or "").strip()
    synonyms, ten, nine = (_parts(row.get(column)) for column in COLUMNS[1:])
    return Disease(name, synonyms, tuple(map(plain, ten)), tuple(map(plain, nine)))


def _completed(disease: Disease, known: Disease | None) -> Disease:
    if known is None:
        return disease
    names = dict.fromkeys((*disease.synonyms, *known.names))
    synonyms = tuple(name for name in names if key(name) != key(disease.name))
    if disease.icd10 or disease.icd9:
        return Disease(disease.name, synonyms, disease.icd10, disease.icd9 or known.icd9)
    return Disease(disease.name, synonyms, known.icd10, known.icd9)


def _parts(cell: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (cell or "").split("|") if part.strip())


def plain(code: str) -> str:
    """A code as MIMIC writes it: capitals, no dot."""
    return code.strip().upper().replace(".", "")
