"""Real tables and published vectors, read where they lie: the open demo, and the records the published code builds."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import wardround
from wardround.builds import build_mimic
from wardround.evaluators.report.summary import summarise
from wardround.scenarios.case import Case, case_results
from wardround.scenarios.diseases.lexical_linker import linker
from wardround.scenarios.loaders.census import census
from wardround.scenarios.loaders.load import load
from wardround.scenarios.mimic.build_account import MimicAccount
from wardround.scenarios.mimic.mimic_files import MimicOptions
from wardround.scenarios.mimic.pool import pool_from_questions
from wardround.scenarios.orders.axes import specimen
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.examiner_lookup import answer
from wardround.testing.memory_store import MemoryStore

pytestmark = [pytest.mark.shared, pytest.mark.records]


def demo(shared: Path, out: Path, **options: Any) -> MimicAccount:
    root = shared / "data" / "mimic-iv-demo"
    tables = {
        "labevents": str(root / "hosp" / "labevents_from_meds.csv.gz"),
        "d_icd_diagnoses": "hosp/d_icd_diagnoses_used.csv",
    }
    return build_mimic(MimicOptions(mimic=root, tables=tables, **options), out)


@pytest.fixture(scope="module")
def cases(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demo") / "cases.jsonl"
    demo(shared, out, pool="all", min_per_disease=1)
    return out


def test_the_open_demo_gives_laboratory_and_microbiology_cases(cases: Path) -> None:
    found = list(load(cases))
    assert len(found) >= 171  # those with results of their own number; results attached by time add some
    assert all(case.labs and case.microbiology and not case.imaging for case in found)
    assert {case.opening_source for case in found} == {"structured"}
    assert {case.data_class for case in found} == {"restricted"}
    checked = census(cases)
    assert (checked.problems, checked.leaks, checked.lacks["workup"]) == ((), (), {})


def test_without_results_attached_by_time_they_are_those_with_a_number(shared: Path, tmp_path: Path) -> None:
    flow = demo(shared, tmp_path / "cases.jsonl", pool="all", min_per_disease=1, without=("nearby", "cancelled"))
    assert flow.cases == 170  # of 171 with all three: one has a first-listed code without a title


def test_with_the_default_rules_the_demo_gives_nothing_and_the_flow_says_why(shared: Path, tmp_path: Path) -> None:
    flow = demo(shared, tmp_path / "cases.jsonl")
    assert flow.cases == 0
    assert "no case was built: rule size" in flow.text()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.timeout(600)
async def test_gold_is_right_on_every_case_and_baseline_plays_them(cases: Path) -> None:
    for doctor in ("gold", "baseline"):
        seats = {"doctor": doctor}
        run = await wardround.run(cases, "workup", seats=seats, store=MemoryStore(), limit=40, seed=1)
        assert await run.endings() == {"completed": 40}
        summary = summarise((await wardround.score_run(run)).episodes)
        means = {score.name: score.mean for score in summary.scores}
        assert (means["diagnosis_accuracy"] == means["exam_recall"] == 1.0) is (doctor == "gold")


def _tables(shared: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    (vector,) = json.loads((shared / "vectors" / "mimic_extract_info_general.json").read_text())
    return vector["input"], vector["expected"]


def _written(root: Path, tables: dict[str, list[dict[str, Any]]]) -> None:
    folders = {"discharge": "note", "radiology": "note", "radiology_detail": "note"}
    for name, rows in tables.items():
        path = root / folders.get(name, "hosp") / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def _records(tmp_path: Path, shared: Path) -> tuple[dict[int, Case], dict[str, Any]]:
    given, expected = _tables(shared)
    tables = dict(given["tables"])
    coded = tables.pop("diagnoses(joined long_title)")
    tables.pop("procedures(joined long_title)")
    items = {row["itemid"] for row in tables["labevents"]}
    tables |= {
        "diagnoses_icd": [{key: row[key] for key in row if key != "long_title"} for row in coded],
        "d_icd_diagnoses": [{key: row[key] for key in ("icd_code", "icd_version", "long_title")} for row in coded],
        "d_labitems": [{"itemid": item, "label": f"item {item}"} for item in sorted(items)],
        "patients": [
            {"subject_id": row["subject_id"], "gender": "F", "anchor_age": 30, "anchor_year": 2150}
            for row in tables["admissions"]
        ],
    }
    _written(tmp_path / "mimic", tables)
    (tmp_path / "pool.txt").write_text(given["disease"])
    options = MimicOptions(
        mimic=tmp_path / "mimic",
        rules="published",
        pool=str(tmp_path / "pool.txt"),
        min_per_disease=1,
        lookup=shared / "data" / "multicogeval" / "mimic-iv",
    )
    build_mimic(options, tmp_path / "cases.jsonl")
    return {int(case.id.removeprefix("mimic-")): case for case in load(tmp_path / "cases.jsonl")}, expected


def test_published_rules_build_the_records_of_the_published_code(shared: Path, tmp_path: Path) -> None:
    built, expected = _records(tmp_path, shared)
    wanted = {int(hadm): record for hadm, record in expected["hadm_info"].items() if record["Patient History"]}
    assert set(built) == set(wanted)
    for hadm, record in wanted.items():
        case = built[hadm]
        assert case.history["History of Present Illness"] == record["Patient History"].strip()
        assert "".join(part.text for part in case.examination) == record["Physical Examination"].strip()
        labs = {str(lab.item_id): f"{lab.value} {lab.unit}".strip() for lab in case.labs}
        assert labs == record["Laboratory Tests"]
        cultures = {str(one.item_id): one.organism or one.comment for one in case.microbiology}
        assert cultures == record["Microbiology"]
        studies = [(one.report, one.modality, one.region, one.exam) for one in case.imaging]
        told = [(one["Report"], one["Modality"], one["Region"], one["Exam Name"]) for one in record["Radiology"]]
        assert sorted(studies) == sorted(told)


def test_a_question_set_gives_a_pool(shared: Path) -> None:
    questions = shared / "data" / "multicogeval" / "medqa" / "MCQ.test.json"
    for finder in (linker(), None):
        found = pool_from_questions([questions], linker=finder)
        assert found.questions == 397
        assert len(found.diseases) > 90
        coded = [disease for disease, _ in found.diseases if disease.icd10]
        assert len(coded) > 0.9 * len(found.diseases)
        counts = {disease.name: number for disease, number in found.diseases}
        assert counts["Asthma"] > 10


def test_no_demo_case_answers_an_order_with_another_fluid(shared: Path, cases: Path) -> None:
    """Every laboratory test of the table, ordered in blood and in four fluids, on every case of the demo."""
    with (shared / "data/mimic-iv-demo/hosp/d_labitems.csv").open(encoding="utf-8") as file:
        fluids = {row["itemid"]: row["fluid"].strip().casefold() for row in csv.DictReader(file)}
    meant = {"serum": "blood", "urine": "urine", "CSF": "cerebrospinal fluid", "pleural fluid": "pleural"}
    tests = [test.name for test in catalogue().tests.values() if test.kind == "lab" and not specimen(test.name)]
    wrong, right = [], 0
    for case in load(cases):
        assert isinstance(case, Case)
        record = case_results(case)
        coded = {item.ref: fluids[item.code] for item in record if item.kind == "lab"}
        chart = read_chart(record)
        present = {entry.test.test for entry in chart.entries if entry.test is not None}
        for test in tests:
            if test not in present:
                continue
            for said, fluid in meant.items():
                given = [ref for line in answer(chart, [f"{said} {test}"]) for ref in line.refs if ref in coded]
                wrong += [(case.id, said, test, ref) for ref in given if coded[ref] != fluid]
                right += sum(coded[ref] == fluid for ref in given)
    assert right > 1000
    assert not wrong, f"{len({case for case, *_ in wrong})} cases, first {wrong[:10]}"
