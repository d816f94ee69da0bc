"""The default linker on other people's lists of names; docs/records/diseases.md prints these figures."""

import csv
import gzip
import io
import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks import rare_labels
from wardround.scenarios.diseases.lexical_linker import LexicalLinker, linker
from wardround.scenarios.diseases.linker import Concept, Mention
from wardround.scenarios.diseases.ontologies import covers, plain_code
from wardround.scenarios.mimic.codes import classification
from wardround.scenarios.reports.rare_diseases import rare
from wardround.scenarios.terms.wording import key

PAGE = Path(__file__).resolve().parents[3] / "docs" / "records" / "diseases.md"
DRIFT = 0.02
"""How far a figure may move before the page must be written anew."""


@pytest.fixture(scope="module")
def full() -> LexicalLinker:
    return linker()


def rarebench(full: LexicalLinker, shared: Path) -> tuple[int, int, int]:
    """Names of rare diseases: linked to one of the ORPHA or OMIM numbers that have them."""
    listed = json.loads((shared / "data/rarebench/disease_mapping.json").read_text(encoding="utf-8"))
    numbers: dict[str, set[str]] = defaultdict(set)
    for number, names in listed.items():
        for name in names.split("/"):
            numbers[name].add(number)
    ours = {number for concept in full.knowledge.concepts for number in numbered(concept)}
    rows = [(name, held) for name, held in sorted(numbers.items()) if held & ours and len(key(name)) > 3]
    found = [(full.link(name), held) for name, held in rows]
    return counted([one and bool(numbered(one.concept) & held) for one, held in found])


def numbered(concept: Concept) -> set[str]:
    """The numbers of a concept as RareBench writes them."""
    return {*(f"ORPHA:{one}" for one in concept.rare), *(f"OMIM:{one}" for one in concept.omim)}


def ontology(full: LexicalLinker, shared: Path) -> tuple[int, int, int]:
    """Labels of the Disease Ontology: linked to the same category of ICD-10-CM; a concept without a code is wrong."""
    text = gzip.decompress((shared / "data/vocab-disease-ontology/ICD10inDO.tsv.gz").read_bytes()).decode()
    found = [
        (full.link(row["label"]), plain_code(row["xrefs"].split(":")[1])[:3])
        for row in csv.DictReader(io.StringIO(text), delimiter="\t")
    ]
    return counted([one and any(plain_code(held)[:3] == code for held in one.concept.icd10) for one, code in found])


def pool(full: LexicalLinker, shared: Path) -> tuple[int, int, int]:
    """Disease names of a published pool: linked to a family that holds one of its ICD-10-CM titles."""
    icd = classification()
    codes = {key(icd.get_description(code)): code for code in reversed(icd.get_all_codes(False))}
    file = shared / "data/multicogeval/mimic-iv/new_disease_to_icd_names.json"
    listed = json.loads(file.read_text(encoding="utf-8"))
    rows = [(name, [codes[key(title)] for title in titles if key(title) in codes]) for name, titles in listed.items()]
    found = [(full.link(name), held) for name, held in rows if held]
    return counted(
        [one and any(covers(family, code) for family in one.concept.icd10 for code in held) for one, held in found]
    )


def counted(found: Sequence[Mention | bool | None]) -> tuple[int, int, int]:
    """(right, linked, all) of verdicts that are None where nothing was linked."""
    return sum(one is True for one in found), sum(one is not None for one in found), len(found)


def printed(title: str) -> list[float]:
    """The figures of a row of the page's tables."""
    match = re.search(rf"^\| {re.escape(title)} \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert match, f"no row {title!r} in {PAGE}"
    return [float(cell) for cell in match[1].split("|")]


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize(
    ("title", "count"),
    [("RareBench names", rarebench), ("Disease Ontology labels", ontology), ("MultiCogEval pool", pool)],
)
def test_names_of_other_lists(
    title: str, count: Callable[[LexicalLinker, Path], tuple[int, int, int]], full: LexicalLinker, shared: Path
) -> None:
    right, linked, total = count(full, shared)
    assert [total, right / total, right / linked] == pytest.approx(printed(title), rel=DRIFT, abs=DRIFT)


def flagged(full: LexicalLinker, shared: Path, fields: tuple[str, ...]) -> tuple[float, float, float, float]:
    """Precision and recall of 'a rare case', then of the single names, over the cases of MedR-Bench."""
    cases = json.loads((shared / "data/medrbench/diagnosis_cases.json").read_text(encoding="utf-8"))
    both = ours = theirs = same = named = wanted = 0
    for case in cases.values():
        found = rare(". ".join(str(case["generate_case"][field]) for field in fields), full)
        checked = {key(name) for name in case["checked_rare_disease"]}
        both, ours, theirs = both + bool(found and checked), ours + bool(found), theirs + bool(checked)
        forms = [{key(name) for name in concept.names} for concept in found]
        same, named = same + sum(bool(one & checked) for one in forms), named + len(forms)
        wanted += len(checked)
    assert len(cases) == 479
    return both / ours, both / theirs, same / named, same / wanted


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize(
    ("title", "fields"),
    [
        ("the diagnosis", ("diagnosis_results",)),
        ("diagnosis and its reasoning", ("diagnosis_results", "final_diagnosis")),
        ("these and the differential", ("diagnosis_results", "final_diagnosis", "differential_diagnosis")),
    ],
)
def test_rare_cases(title: str, fields: tuple[str, ...], full: LexicalLinker, shared: Path) -> None:
    assert list(flagged(full, shared, fields)) == pytest.approx(printed(title), abs=DRIFT)


@pytest.mark.long
@pytest.mark.shared
def test_the_ceiling_of_rare_names(shared: Path) -> None:
    """How many labels can be found by name in a case, and how many are."""
    cases = json.loads((shared / "data/medrbench/diagnosis_cases.json").read_text(encoding="utf-8"))
    counted_rows = rare_labels.shares(cases)
    assert counted_rows["labels"] == 391
    page = PAGE.read_text(encoding="utf-8")
    for row in rare_labels.ROWS:
        line = re.search(rf"^\| {re.escape(row)} \| \**([\d.]+)", page, re.MULTILINE)
        assert line, f"no row {row!r} in {PAGE}"
        assert counted_rows[row] == pytest.approx(float(line[1]), abs=DRIFT)
