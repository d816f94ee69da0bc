"""The pool of diseases from which cases are built: the project's own, a user's file, or one made from questions."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.logs import log
from wardround.engine.records import Json
from wardround.engine.text import file_text, loads, package_rows, table_rows_of
from wardround.scenarios.diseases.linker import Concept, Linker, Mention
from wardround.scenarios.diseases.ontologies import plain_code
from wardround.scenarios.mimic.note import Phrases
from wardround.scenarios.terms.wording import key

ALL = "all"
COLUMNS = ("name", "synonyms", "icd10", "icd9")
"""Columns of a pool file; bars separate several values in a cell. Other columns, such as a count, are ignored."""

_HEADS = frozenset({"name", "disease"})


@dataclass(frozen=True, slots=True)
class PoolDisease:
    """One disease with its names and the families (prefixes, without the dot) of its ICD-10-CM and ICD-9-CM codes."""

    name: str
    synonyms: tuple[str, ...] = ()
    icd10: tuple[str, ...] = ()
    icd9: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All its names, the main one first."""
        return (self.name, *self.synonyms)


@dataclass(frozen=True, slots=True)
class DiseasePool:
    """The diseases and their source. `takes_all`: there is no list; an admission's first-listed code is its disease."""

    source: str
    diseases: tuple[PoolDisease, ...] = ()
    takes_all: bool = False


def read_pool(choice: str | None) -> DiseasePool:
    """The pool of `--pool`: None for the project's own list, 'all' for no list (`takes_all`), else the path of a file.

    Raises UsageError if the file cannot be read, is empty, or names a disease twice.
    """
    if choice is None:
        return own()
    return DiseasePool("every first-listed code", takes_all=True) if choice == ALL else read_pool_file(Path(choice))


def own() -> DiseasePool:
    """The project's own list of diseases (`pool.csv`)."""
    rows = package_rows("wardround.scenarios", "data", "pool.csv")
    return DiseasePool("Wardround's own list", tuple(map(_disease, rows)))


def read_pool_file(path: Path) -> DiseasePool:
    """The pool of a file: CSV with a column `name` (or `disease`), or plain text with one disease per line.

    Cells that a row lacks come from the project's own list, if it has the name. Raises UsageError if a disease is
    listed twice, or none is listed.
    """
    known = {key(name): disease for disease in own().diseases for name in disease.names}
    listed: dict[str, PoolDisease] = {}
    for line, row in _rows(path, file_text(path)):
        disease = _disease(row)
        if wrong := _no_code(row):
            raise UsageError(f"{path}, line {line}, column {wrong[0]}: {wrong[1]!r} is no code or family of codes")
        if not disease.name:
            continue
        if key(disease.name) in listed:
            raise UsageError(f"{path}, line {line}: {disease.name!r} is listed twice")
        listed[key(disease.name)] = _completed(disease, known.get(key(disease.name)))
    if not listed:
        raise UsageError(f"{path}: names no disease; write one a line, or CSV with the column name")
    return DiseasePool(str(path), tuple(_own_names(disease, listed) for disease in listed.values()))


def _own_names(disease: PoolDisease, listed: Mapping[str, PoolDisease]) -> PoolDisease:
    """A disease without the synonyms that name another disease of the list; a warning tells of each."""
    others = [name for name in disease.synonyms if key(name) in listed and key(name) != key(disease.name)]
    for name in others:
        log.warning("a synonym is left out: it names another disease of the pool", disease=disease.name, synonym=name)
    return replace(disease, synonyms=tuple(name for name in disease.synonyms if name not in others))


_CODES = {"icd10": re.compile(r"[A-Z]\d(?:\w\w{0,4})?"), "icd9": re.compile(r"[EV]?\d{2,5}")}
"""Column -> the form of a code of ICD-10-CM or ICD-9-CM, or of its beginning."""


def _no_code(row: Mapping[str, str | None]) -> tuple[str, str] | None:
    """(column, code) of the first code of a row that has not the form of its column; None if all have it."""
    stated = [(column, code) for column in _CODES for code in _parts(row.get(column))]
    return next(((column, code) for column, code in stated if not _CODES[column].fullmatch(plain_code(code))), None)


def read_admissions(path: Path) -> frozenset[int]:
    """The admissions of a file: one number per line, or a table with a column `hadm_id`.

    Raises UsageError, which names the line, for anything else.
    """
    rows = list(table_rows_of(path, file_text(path)))
    head = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    column = head.index("hadm_id") if "hadm_id" in head else None
    wanted: set[int] = set()
    for line, row in rows if column is None else rows[1:]:
        said = ",".join(row) if column is None else "".join(row[column : column + 1])
        if not said.strip().isdecimal():
            raise UsageError(
                f"{path}, line {line}: {said.strip()!r} is no hadm_id; write one number a line, or a column hadm_id"
            )
        wanted.add(int(said))
    if not wanted:
        raise UsageError(f"{path}: names no admission; write one hadm_id a line")
    return frozenset(wanted)


def diseases_by_name(pool: DiseasePool, names: Sequence[str]) -> tuple[PoolDisease, ...]:
    """The diseases of a pool, each by any of its names; raises UsageError for a name that the pool does not have."""
    known = {key(name): disease for disease in reversed(pool.diseases) for name in disease.names}
    for name in names:
        if key(name) not in known:
            near = get_close_matches(
                name.lower(), [one.lower() for disease in pool.diseases for one in disease.names], 3
            )
            hint = f"; near it: {', '.join(near)}" if near else ""
            raise UsageError(f"--disease {name}: {pool.source} has no such disease{hint}")
    return tuple(known[key(name)] for name in names)


def _rows(path: Path, text: str) -> Iterable[tuple[int, Mapping[str, str]]]:
    cells = re.split("[,;\t]", text.partition("\n")[0])
    if not _HEADS & {cell.strip().strip('"').lower() for cell in cells}:
        return [(n, {"name": line.strip()}) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    (_, head), *rows = table_rows_of(path, text)
    names = [name.strip().lower() for name in head]
    return [(line, dict(zip(names, row, strict=False))) for line, row in rows]


def _disease(row: Mapping[str, str | None]) -> PoolDisease:
    name = (row.get("name") or row.get("disease") or "").strip()
    synonyms, ten, nine = (_parts(row.get(column)) for column in COLUMNS[1:])
    return PoolDisease(name, synonyms, tuple(map(plain_code, ten)), tuple(map(plain_code, nine)))


def _completed(disease: PoolDisease, known: PoolDisease | None) -> PoolDisease:
    if known is None:
        return disease
    names = dict.fromkeys((*disease.synonyms, *known.names))
    synonyms = tuple(name for name in names if key(name) != key(disease.name))
    if disease.icd10 or disease.icd9:
        return PoolDisease(disease.name, synonyms, disease.icd10, disease.icd9 or known.icd9)
    return PoolDisease(disease.name, synonyms, known.icd10, known.icd9)


def _parts(cell: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (cell or "").split("|") if part.strip())


class PoolLinker:
    """A linker (see `diseases/linker.py`) over the diseases of a pool, by their exact names; it has no `link`."""

    def __init__(self, diseases: Iterable[PoolDisease]) -> None:
        concepts = [
            (disease, Concept(f"POOL:{place}", disease.name, disease.synonyms, (), disease.icd10, disease.icd9))
            for place, disease in enumerate(diseases)
        ]
        self._phrases = Phrases((name, concept) for disease, concept in concepts for name in disease.names)

    def mentions(self, text: str) -> tuple[Mention, ...]:
        """The diseases that `text` names."""
        return tuple(
            Mention(
                text[hit.start : hit.end],
                hit.start,
                hit.end,
                hit.what,
                1.0,
                "abbreviation" if hit.short else "exact",
            )
            for hit in self._phrases.hits(text)
        )


_BACKGROUND = re.compile(
    r"(?i)\b(?:history (?:is |was )?(?:of|includes?|significant for|notable for|remarkable for)|known"
    r"|past medical history|diagnosed with|treated for|controlled|medications? for|suffers from|comorbid\w*"
    r"|risk factors?|mother|father|brother|sister|family)\b[^.?!\n]{0,80}$"
)
"""Words before a disease that belongs to a patient's history and is not the subject of the question."""


@dataclass(frozen=True, slots=True)
class RecognisedPool:
    """The diseases of a question set, each with the number of questions that name it.

    The most frequent come first, but comorbidities come after all others.
    """

    questions: int
    diseases: tuple[tuple[PoolDisease, int], ...]

    def json(self) -> Json:
        """The pool as JSON."""
        return {
            "questions": self.questions,
            "diseases": [
                {
                    "name": disease.name,
                    "questions": number,
                    "synonyms": list(disease.synonyms),
                    "icd10": list(disease.icd10),
                    "icd9": list(disease.icd9),
                }
                for disease, number in self.diseases
            ],
        }


def pool_from_questions(
    paths: Sequence[Path], at_least: int = 1, linker: Linker | PoolLinker | None = None
) -> RecognisedPool:
    """The diseases named in at least `at_least` questions of the files; each question counts a disease once.

    `linker` finds them; ambiguous mentions are skipped. Without a linker, the diseases of the project's own list are
    found by their exact names. Raises UsageError for a file without questions.
    """
    finder = linker or PoolLinker(own().diseases)
    counts: Counter[str] = Counter()
    background: Counter[str] = Counter()
    diseases: dict[str, PoolDisease] = {}
    questions = 0
    for path in paths:
        asked = 0
        for text in question_texts(path):
            asked += 1
            hits = [hit for hit in finder.mentions(text) if not hit.others]
            subject = {
                hit.concept.id for hit in hits if not _BACKGROUND.search(text, max(0, hit.start - 90), hit.start)
            }
            for concept in {hit.concept.id: hit.concept for hit in hits}.values():
                counts[concept.id] += 1
                background[concept.id] += concept.id not in subject
                diseases.setdefault(
                    concept.id,
                    PoolDisease(
                        concept.name,
                        _other_spellings(concept.name, (*concept.synonyms, *concept.abbreviations)),
                        tuple(map(plain_code, concept.icd10)),
                        tuple(map(plain_code, concept.icd9)),
                    ),
                )
        if not asked:
            raise UsageError(f"{path}: holds no question; write JSON or JSONL with a question a record")
        questions += asked

    def place(pair: tuple[str, int]) -> tuple[bool, int, str]:
        """The key of a disease in the order; a third of the questions on a comorbidity name it only as history."""
        id_, number = pair
        return background[id_] * 3 >= number, -number, diseases[id_].name.casefold()

    ordered = sorted(counts.items(), key=place)
    return RecognisedPool(questions, tuple((diseases[id_], number) for id_, number in ordered if number >= at_least))


def _other_spellings(name: str, synonyms: Sequence[str]) -> tuple[str, ...]:
    """The synonyms without those that only respell the name or another synonym."""
    spellings = {key(name): name}
    for synonym in synonyms:
        spellings.setdefault(key(synonym), synonym)
    return tuple(spellings.values())[1:]


def pool_table(pool: RecognisedPool) -> str:
    """The pool as CSV, in the format of `--pool`; the last column is the number of questions."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow((*COLUMNS, "questions"))
    for disease, number in pool.diseases:
        writer.writerow((disease.name, *map("|".join, (disease.synonyms, disease.icd10, disease.icd9)), number))
    return stream.getvalue()


def question_texts(path: Path) -> Iterator[str]:
    """The text of each question of a file: all words of its record, including options and answer."""
    for record in _records(path, file_text(path)):
        words = "\n".join(_words(record))
        if any(mark.isalpha() for mark in words):
            yield words


def _records(path: Path, whole: str) -> Iterator[Json]:
    try:
        loaded = loads(whole)
    except ValueError:
        loaded = None
    if isinstance(loaded, list):
        yield from loaded
        return
    if isinstance(loaded, dict) and len(whole.strip().splitlines()) > 1:
        lists = [value for value in loaded.values() if _of_records(value)]
        yield from lists[0] if len(lists) == 1 else loaded.values()
        return
    for number, line in enumerate(whole.splitlines(), 1):
        if line.strip():
            try:
                yield loads(line)
            except ValueError as error:
                raise UsageError(f"{path}, line {number}: is not JSON ({error})") from error


def _of_records(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, dict | list) for part in value)


def _words(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _words(part)
    elif isinstance(value, list):
        for part in value:
            yield from _words(part)
