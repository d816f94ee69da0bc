"""A user's own names of diseases: CSV of synonyms, and MRCONSO.RRF of a UMLS release."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.scenarios.terms.concepts import Concept

DISEASES = frozenset(("T019", "T020", "T033", "T037", "T046", "T047", "T048", "T049", "T184", "T190", "T191"))
"""Semantic types of diseases, injuries and abnormalities; read from MRSTY.RRF where it lies beside MRCONSO.RRF."""
FIELDS = 18
"""Columns of a row of MRCONSO.RRF."""
_CLASSIFIED = {"ICD10CM": "icd10", "ICD9CM": "icd9", "OMIM": "omim", "ORPHANET": "rare"}


def read(path: Path) -> Iterator[Concept]:
    """The concepts of a file: RRF by its ending, else CSV. Raises UsageError that names file and row."""
    try:
        yield from umls(path) if path.suffix.lower() == ".rrf" else table(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error}); is the path right?") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; convert the file") from error


def table(path: Path) -> Iterator[Concept]:
    """CSV with the columns `concept`, `name` and, if you like, `icd10`: one name a row.

    `concept` is the id of a known concept or a name of the user's own; rows of one concept belong together.
    """
    rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
    rows.fieldnames = [(name or "").strip().lower() for name in rows.fieldnames or ()]
    missing = [name for name in ("concept", "name") if name not in rows.fieldnames]
    if missing:
        raise UsageError(f"{path}: column {', '.join(missing)} is missing; a list of synonyms has concept,name[,icd10]")
    found: dict[str, tuple[list[str], list[str]]] = {}
    for row in rows:
        concept, name = (row["concept"] or "").strip(), (row["name"] or "").strip()
        if not concept or not name:
            raise UsageError(f"{path}, row {rows.line_num}: concept and name must both be given")
        names, codes = found.setdefault(concept, ([], []))
        names.append(name)
        codes += [code.strip() for code in (row.get("icd10") or "").split("|") if code.strip()]
    for concept, (names, codes) in found.items():
        yield Concept(concept, names[0], tuple(dict.fromkeys(names[1:])), icd10=tuple(dict.fromkeys(codes)))


@dataclass
class _Atoms:
    """What the rows of one CUI say."""

    preferred: str = ""
    names: dict[str, None] = field(default_factory=dict)
    codes: dict[str, dict[str, None]] = field(default_factory=dict)
    told: bool = False


def umls(path: Path) -> Iterator[Concept]:
    """The diseases of an MRCONSO.RRF: English, not suppressed names by CUI, with their ICD, OMIM and ORPHA codes.

    A CUI is a disease if MRSTY.RRF beside it says so; without that file, if ICD, OMIM, Orphanet or a SNOMED name
    ending in '(disorder)' has it. The rows of a CUI lie together, so the file is read as a stream.
    """
    typed = _typed(path.with_name("MRSTY.RRF"))
    current, atoms = "", _Atoms()
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            cells = line.rstrip("\n").split("|")
            if len(cells) < FIELDS:
                raise UsageError(f"{path}, row {number}: has {len(cells)} columns; MRCONSO.RRF has {FIELDS}")
            if cells[0] != current:
                yield from _closed(current, atoms, typed)
                current, atoms = cells[0], _Atoms()
            _add(atoms, cells)
    yield from _closed(current, atoms, typed)


def _add(atoms: _Atoms, cells: Sequence[str]) -> None:
    language, status, form, preferred = cells[1], cells[2], cells[4], cells[6]
    source, code, name, suppressed = cells[11], cells[13], cells[14], cells[16]
    if source in _CLASSIFIED and code and code != "NOCODE":
        number = code.removeprefix("ORPHA").lstrip(":") if source == "ORPHANET" else code
        atoms.codes.setdefault(_CLASSIFIED[source], {})[number] = None
        atoms.told = True
    if language != "ENG" or suppressed in ("O", "Y", "E"):
        return
    atoms.told = atoms.told or (source.startswith("SNOMEDCT") and name.endswith("(disorder)"))
    bare = name.removesuffix("(disorder)").strip()
    atoms.names[bare] = None
    if status == "P" and form == "PF" and (preferred == "Y" or not atoms.preferred):
        atoms.preferred = bare


def _closed(cui: str, atoms: _Atoms, typed: frozenset[str] | None) -> Iterator[Concept]:
    if not atoms.names or not (atoms.told if typed is None else cui in typed):
        return
    name = atoms.preferred or next(iter(atoms.names))
    codes = {field_: tuple(values) for field_, values in atoms.codes.items()}
    yield Concept(f"UMLS:{cui}", name, tuple(other for other in atoms.names if other != name), **codes)


def _typed(path: Path) -> frozenset[str] | None:
    if not path.is_file():
        return None
    with path.open(encoding="utf-8") as stream:
        return frozenset(cells[0] for line in stream if len(cells := line.split("|")) > 1 and cells[1] in DISEASES)
