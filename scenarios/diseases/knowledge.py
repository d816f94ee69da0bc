"""All diseases that the linkers know: those of the project, the terminologies and a user's files, merged."""

import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from wardround.engine.errors import UsageError
from wardround.engine.logs import log
from wardround.engine.text import count_noun, file_text, table_rows_of
from wardround.scenarios.diseases import ontologies
from wardround.scenarios.diseases.disease import ordered_form
from wardround.scenarios.diseases.linker import Concept
from wardround.scenarios.diseases.ontologies import plain_code, within_families
from wardround.scenarios.terms.table_cache import building, cached_table
from wardround.scenarios.terms.wording import cells, key, table_rows, vocabulary

DISEASES = frozenset(("T019", "T020", "T033", "T037", "T046", "T047", "T048", "T049", "T184", "T190", "T191"))
"""UMLS semantic types of diseases, injuries and abnormalities; used if MRSTY.RRF is next to MRCONSO.RRF."""
FIELDS = 18
"""Number of columns in a row of MRCONSO.RRF."""
_CLASSIFIED = {"ICD10CM": "icd10", "ICD9CM": "icd9", "OMIM": "omim", "ORPHANET": "rare"}


def read_concepts(path: Path) -> Iterator[Concept]:
    """The concepts of a file: MRCONSO.RRF if it ends in '.rrf', else CSV.

    Raises UsageError, which names the file and the row, if it cannot be read.
    """
    try:
        yield from read_umls(path) if path.suffix.lower() == ".rrf" else read_synonyms(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error}); is the path right?") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; convert the file") from error


def read_synonyms(path: Path) -> Iterator[Concept]:
    """Read a CSV with the columns `concept`, `name` and optionally `icd10`, one name per row.

    `concept` is the id of a known concept, or an id of the user's own. Rows of the same concept are combined.
    """
    (_, head), *rows = [*table_rows_of(path, file_text(path))] or [(1, [""])]
    columns = [name.strip().lower() for name in head]
    if missing := [name for name in ("concept", "name") if name not in columns]:
        raise UsageError(f"{path}: column {', '.join(missing)} is missing; a list of synonyms has concept,name[,icd10]")
    concepts: dict[str, tuple[list[str], list[str]]] = {}
    for line, values in rows:
        row = dict(zip(columns, map(str.strip, values), strict=False))
        concept, name = row.get("concept", ""), row.get("name", "")
        if not concept or not name:
            raise UsageError(f"{path}, row {line}: concept and name must both be given")
        if (near := concepts.get(name)) and concept in near[0]:
            at = f"{path}, row {line}"
            log.warning("a row is left out: the two name each other in a loop", at=at, concept=concept, name=name)
            continue
        names, codes = concepts.setdefault(concept, ([], []))
        names.append(name)
        codes += cells(row.get("icd10", ""))
    for concept, (names, codes) in concepts.items():
        yield Concept(concept, names[0], tuple(dict.fromkeys(names[1:])), icd10=tuple(dict.fromkeys(codes)))


@dataclass
class _Atoms:
    """The data of all rows of one CUI."""

    preferred: str = ""
    names: dict[str, None] = field(default_factory=dict)
    codes: dict[str, dict[str, None]] = field(default_factory=dict)
    disease: bool = False


def read_umls(path: Path) -> Iterator[Concept]:
    """The diseases of an MRCONSO.RRF of UMLS: English names that are not suppressed, with ICD, OMIM and ORPHA codes.

    A CUI is a disease if MRSTY.RRF in the same folder gives it a type of `DISEASES`. Without that file, it is one if it
    has an ICD, OMIM or Orphanet code, or a SNOMED name that ends in '(disorder)'. The rows of a CUI are adjacent, so
    the file is streamed.
    """
    typed = _typed(path.with_name("MRSTY.RRF"))
    current, atoms = "", _Atoms()
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            cells = line.rstrip("\n").split("|")
            if len(cells) < FIELDS:
                raise UsageError(
                    f"{path}, row {number}: has {count_noun(len(cells), 'column')}; MRCONSO.RRF has {FIELDS}"
                )
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
        atoms.disease = True
    if language != "ENG" or suppressed in ("O", "Y", "E"):
        return
    atoms.disease = atoms.disease or (source.startswith("SNOMEDCT") and name.endswith("(disorder)"))
    bare = name.removesuffix("(disorder)").strip()
    atoms.names[bare] = None
    if status == "P" and form == "PF" and (preferred == "Y" or not atoms.preferred):
        atoms.preferred = bare


def _closed(cui: str, atoms: _Atoms, typed: frozenset[str] | None) -> Iterator[Concept]:
    if not atoms.names or not (atoms.disease if typed is None else cui in typed):
        return
    name = atoms.preferred or next(iter(atoms.names))
    codes = {field_: tuple(values) for field_, values in atoms.codes.items()}
    yield Concept(f"UMLS:{cui}", name, tuple(other for other in atoms.names if other != name), **codes)


def _typed(path: Path) -> frozenset[str] | None:
    if not path.is_file():
        return None
    with path.open(encoding="utf-8") as stream:
        return frozenset(cells[0] for line in stream if len(cells := line.split("|")) > 1 and cells[1] in DISEASES)


OWN, NAMED = range(2)
"""Ranks of concepts for a name that several share. OWN, for those of the project and the user, comes first."""
LISTED = "WR"
"""Stands in place of an ORPHA number for a disease that only the project's own list calls rare."""


class Knowledge(msgspec.Struct, frozen=True):
    """`concepts` in a fixed order, `ranks` with the rank of each (`OWN` or `NAMED`), and `broader`: id -> wider id."""

    concepts: tuple[Concept, ...]
    ranks: tuple[int, ...]
    broader: Mapping[str, str]


@cache
def knowledge(*own: Path) -> Knowledge:
    """The diseases of the project, ICD-10-CM, Orphanet and OMIM, and of the user's `own` files (CSV, MRCONSO.RRF).

    It takes three seconds to build them; without files of the user they are cached on disk. Raises UsageError for a
    file that cannot be read.
    """
    return _built(own) if own else cached_table("diseases", Knowledge, _built)


@building()
def _built(own: Sequence[Path] = ()) -> Knowledge:
    added = [concept for path in own for concept in read_concepts(path)]
    return assembled(conditions(), added, (ontologies.coded_diseases(), ontologies.orphanet(), ontologies.omim()))


def finding_knowledge() -> Knowledge:
    """The diseases of the project's own table and the findings of the Human Phenotype Ontology."""
    return cached_table("findings", Knowledge, lambda: assembled(conditions(), (), (ontologies.findings(),)))


def conditions() -> tuple[Sequence[Concept], Mapping[str, str]]:
    """(the diseases of the project's own table; id -> id of the wider disease, for those that have one)."""
    concepts, broader = [], {}
    for row in table_rows("conditions.csv"):
        names, short, ten, nine = (cells(row[column]) for column in ("synonyms", "abbreviations", "icd10", "icd9"))
        concepts.append(Concept(_own_id(row["name"]), row["name"], names, short, ten, nine))
        if row["broader"]:
            broader[_own_id(row["name"])] = _own_id(row["broader"])
    return concepts, broader


def _own_id(name: str) -> str:
    return "WR:" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def assembled(
    table: tuple[Sequence[Concept], Mapping[str, str]],
    users: Sequence[Concept],
    sources: Iterable[Iterable[Concept]],
) -> Knowledge:
    """Merge the project's table, the sources and the user's concepts into one Knowledge.

    Concepts become one disease if their main names are the same in comparable form, in any order of words, or if they
    have the same single ICD-10-CM code.
    """
    own, broader = table
    merged = [*own]
    ranks = [OWN] * len(merged)
    named = _first_named(merged) | {key(concept.name): place for place, concept in enumerate(merged)}
    ordered = {_order(name): place for name, place in reversed(named.items())}
    families = [concept.icd10 for concept in merged]
    coded = {codes[0]: place for place, codes in enumerate(families) if len(codes) == 1 and families.count(codes) == 1}
    for source in sources:
        for concept in source:
            name = key(concept.name)
            order = _order(name)
            place = named.get(name, ordered.get(order))
            if place is None and concept.id.startswith("ICD10CM:") and "#" not in concept.id:
                place = coded.get(concept.icd10[0])
            if place is None:
                ordered.setdefault(order, len(merged))
                named[name] = len(merged)
                merged.append(concept)
                ranks.append(NAMED)
            else:
                merged[place] = _joined(merged[place], concept, ranks[place])
    _give(merged, ranks, named, users)
    if own:
        first = _first_named(merged)
        added: dict[str, int] = {}
        _also(merged, ChainMap(added, named, first))
        _mark(merged, ranks, added | first)
    return Knowledge(tuple(merged), tuple(ranks), broader)


def _order(form: str) -> str:
    return ordered_form(form.split())


def _give(merged: list[Concept], ranks: list[int], named: dict[str, int], added: Sequence[Concept]) -> None:
    """Add each concept of the user to the one that it names by id, name or single ICD-10-CM code, else as a new one."""
    by_id = {concept.id: place for place, concept in enumerate(merged)}
    for concept in added:
        coded = by_id.get(f"ICD10CM:{concept.icd10[0]}") if len(concept.icd10) == 1 else None
        meant = (key(concept.id), *(key(name) for name in concept.names))
        place = by_id.get(concept.id, next((named[name] for name in meant if name in named), coded))
        if place is None:
            named[key(concept.name)] = by_id[concept.id] = len(merged)
            merged.append(concept)
            ranks.append(OWN)
        else:
            merged[place], ranks[place] = _joined(merged[place], concept, NAMED), OWN


def _first_named(concepts: Sequence[Concept]) -> dict[str, int]:
    """The place of the first concept with a name, by the name's comparable form."""
    return {key(name): place for place, concept in reversed(list(enumerate(concepts))) for name in concept.names}


def _also(merged: list[Concept], named: MutableMapping[str, int]) -> None:
    """Add the alternative names and abbreviations of the tables by which diagnoses are compared."""
    for name, others in vocabulary().synonyms.items():
        place = named.get(name)
        new = tuple(other for other in others if key(other) not in named)
        if place is not None:
            merged[place] = replace(merged[place], synonyms=tuple(dict.fromkeys((*merged[place].synonyms, *new))))
            named.update((key(other), place) for other in new)
    for short, name in vocabulary().abbreviations.items():
        place = named.get(key(name))
        if place is not None and short not in merged[place].abbreviations:
            merged[place] = replace(merged[place], abbreviations=(*merged[place].abbreviations, short))


def _mark(merged: list[Concept], ranks: list[int], named: Mapping[str, int]) -> None:
    """Mark the diseases of the project's own list as rare, since HPO annotates only a part of Orphanet's diseases."""
    listed = []
    for row in table_rows("rare.csv"):
        names = (row["name"], *cells(row["synonyms"]))
        place = named.get(key(names[0]))
        if place is None:
            merged.append(Concept(_own_id(names[0]), names[0]))
            ranks.append(OWN)
            place = len(merged) - 1
        concept = merged[place]
        listed.append(place)
        new = tuple(name for name in names[1:] if key(name) not in named)
        merged[place] = replace(concept, synonyms=(*concept.synonyms, *new), rare=concept.rare or (LISTED,))
        for name in names[1:]:
            other = named.get(key(name))
            if other is not None and not merged[other].rare:
                merged[other] = replace(merged[other], rare=(LISTED,))
    families = {plain_code(code) for place in listed for code in merged[place].icd10}
    for place, concept in enumerate(merged):
        # Diseases below a rare disease in the classification are rare too: pulmonary nocardiosis.
        if ranks[place] != OWN and not concept.rare and concept.icd10 and _within(concept.icd10, families):
            merged[place] = replace(concept, rare=(LISTED,))


def _within(codes: Sequence[str], families: Set[str]) -> bool:
    return all(any(plain_code(code)[:size] in families for size in range(3, len(code) + 1)) for code in codes)


def _joined(one: Concept, other: Concept, rank: int) -> Concept:
    """`one` with the names and codes of `other`; ICD-10 families that the project's table gives stay unchanged."""
    names = dict.fromkeys((*one.synonyms, *other.names))
    names.pop(one.name, None)
    keep = bool(one.icd10) and (rank == OWN or within_families(other.icd10, one.icd10))
    return replace(
        one,
        synonyms=tuple(names),
        abbreviations=tuple(dict.fromkeys((*one.abbreviations, *other.abbreviations))),
        icd10=one.icd10 if keep else tuple(dict.fromkeys((*one.icd10, *other.icd10))),
        icd9=one.icd9 or other.icd9,
        rare=tuple(dict.fromkeys((*one.rare, *other.rare))),
        omim=tuple(dict.fromkeys((*one.omim, *other.omim))),
    )
