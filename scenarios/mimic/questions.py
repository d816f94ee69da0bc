"""A disease pool made from a question set: which diseases it asks about, how often, with their ICD families."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.text import loads
from wardround.scenarios.mimic.naming import Naming
from wardround.scenarios.mimic.pool import COLUMNS, Disease, own, plain
from wardround.scenarios.terms.mentions import Mention
from wardround.scenarios.terms.wording import key


class Finder(Protocol):
    """The part of a linker (terms/mentions.py) that is used here."""

    def mentions(self, text: str) -> Sequence[Mention]:
        """The diseases that `text` names."""
        ...


@dataclass(frozen=True, slots=True)
class Recognised:
    """The diseases of a question set with the number of questions that name each, most frequent first."""

    questions: int
    diseases: tuple[tuple[Disease, int], ...]

    def json(self) -> Json:
        """The pool for machines."""
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


def recognised(paths: Sequence[Path], at_least: int = 1, linker: Finder | None = None) -> Recognised:
    """The diseases named in at least so many questions of the files. A question counts a disease once.

    `linker` finds them, and what may mean several is passed over; the plain one over the project's own list if None.
    Raises UsageError for a file that holds no questions.
    """
    finder: Finder = linker or Naming(own().diseases)
    counts: Counter[str] = Counter()
    diseases: dict[str, Disease] = {}
    questions = 0
    for path in paths:
        found = 0
        for text in texts(path):
            found += 1
            for concept in {hit.concept.id: hit.concept for hit in finder.mentions(text) if not hit.others}.values():
                counts[concept.id] += 1
                diseases.setdefault(
                    concept.id,
                    Disease(
                        concept.name,
                        _unlike(concept.name, (*concept.synonyms, *concept.abbreviations)),
                        tuple(map(plain, concept.icd10)),
                        tuple(map(plain, concept.icd9)),
                    ),
                )
        if not found:
            raise UsageError(f"{path}: holds no question; write JSON or JSONL with a question a record")
        questions += found
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], diseases[pair[0]].name.casefold()))
    return Recognised(questions, tuple((diseases[id_], number) for id_, number in ordered if number >= at_least))


def _unlike(name: str, synonyms: Sequence[str]) -> tuple[str, ...]:
    """The synonyms that are not the name or another one in another spelling."""
    found = {key(name): name}
    for synonym in synonyms:
        found.setdefault(key(synonym), synonym)
    return tuple(found.values())[1:]


def table(found: Recognised) -> str:
    """The pool as CSV, as `--pool` reads it; the last column is the number of questions."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow((*COLUMNS, "questions"))
    for disease, number in found.diseases:
        writer.writerow((disease.name, *map("|".join, (disease.synonyms, disease.icd10, disease.icd9)), number))
    return stream.getvalue()


def texts(path: Path) -> Iterator[str]:
    """The text of each question of a file: all that its record says in words, options and answer included."""
    try:
        whole = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be opened ({error.strerror or error}); is the path right?") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: byte {error.start} is not UTF-8; convert the file") from error
    for record in _records(path, whole):
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
