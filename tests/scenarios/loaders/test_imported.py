"""Formats of other projects: what becomes of a record, what is refused with its line and field, gold and silent."""

import gzip
import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from examples import first_ones

import wardround
from wardround.engine.errors import UsageError
from wardround.engine.plugins import load_plugin
from wardround.evaluators.report.summary import summarise
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.importing import import_file
from wardround.scenarios.loaders.load import LOADERS, load, problems, scan
from wardround.scenarios.loaders.source import Problem
from wardround.scenarios.loaders.vignettes import FactVignettes
from wardround.testing.memory_store import MemoryStore

NEJM: dict[str, Any] = {
    "image_url": "https://example.org/1",
    "question": "A 40-year-old man has had a rash for a week. On examination, red plaques were seen on the arms. "
    "A skin biopsy showed spongiosis. What is the diagnosis?",
    "patient_info": "For your role as a patient, here it is: - You are a 40-year-old man. - Your arms itch. Remember, "
    "you are not aware of the diagnosis.",
    "physical_exams": "Skin biopsy: spongiosis.",
    "answers": [{"text": "Psoriasis", "correct": False}, {"text": "Contact dermatitis", "correct": True}],
}
MEDIQ: dict[str, Any] = {
    "id": 7,
    "question": "Which of the following is the most likely diagnosis?",
    "context": ["A 30-year-old woman has a cough", "She denies fever", "On examination, crackles are heard."],
    "facts": ["1. The woman has a cough.", "2. The woman denies fever.", "3. On examination, crackles are heard."],
    "options": {"A": "Asthma", "B": "Pneumonia"},
    "answer": "Pneumonia",
    "answer_idx": "B",
}
REASONING: dict[str, Any] = {
    "pmcid": "PMC1",
    "case_prompt": "A 5-year-old girl had fever. Blood cultures were taken and grew nothing.",
    "diagnostic_reasoning": "1. Fever points to it.",
    "final_diagnosis": "Kawasaki disease",
    "publication_date": "2020-05-01",
}
PACKET: dict[str, Any] = {
    "id": "P1",
    "subject": {"sex": "FEMALE", "timeAtLastEncounter": {"age": {"iso8601duration": "P3Y"}}},
    "phenotypicFeatures": [
        {"type": {"id": "HP:1", "label": "Seizure"}},
        {"type": {"id": "HP:2", "label": "Microcephaly"}},
        {"type": {"id": "HP:3", "label": "Cleft palate"}, "excluded": True},
    ],
    "diseases": [{"term": {"id": "OMIM:1", "label": "Rett syndrome"}}],
}
BUNDLE: dict[str, Any] = {
    "resourceType": "Bundle",
    "entry": [
        {"resource": {"resourceType": "Patient", "id": "p", "gender": "female", "birthDate": "1960-05-01"}},
        {"resource": {"resourceType": "Condition", "id": "c0", "code": {"text": "Hypertension"},
                      "recordedDate": "2019-01-01"}},
        {"resource": {"resourceType": "Condition", "id": "c1", "recordedDate": "2020-06-01",
                      "code": {"coding": [{"system": "http://snomed.info/sct", "code": "233604007",
                                           "display": "Pneumonia (disorder)"}]}}},
        {"resource": {"resourceType": "Observation", "status": "final", "code": {"text": "Leukocytes"},
                      "valueQuantity": {"value": 15.5, "unit": "10*3/uL"},
                      "referenceRange": [{"low": {"value": 4}, "high": {"value": 11}}],
                      "interpretation": [{"coding": [{"code": "H"}]}], "effectiveDateTime": "2020-06-01T08:00:00Z"}},
        {"resource": {"resourceType": "Observation", "category": [{"coding": [{"code": "vital-signs"}]}],
                      "code": {"text": "Blood pressure"},
                      "component": [{"code": {"text": "Systolic"}, "valueQuantity": {"value": 120, "unit": "mmHg"}}]}},
        {"resource": {"resourceType": "DiagnosticReport", "code": {"text": "Chest X-ray"},
                      "conclusion": "Infiltrate."}},
        {"resource": {"resourceType": "ImagingStudy", "modality": [{"code": "CT"}], "description": "Chest CT"}},
    ],
}  # fmt: skip
RECORDS: dict[str, Any] = {
    "appendicitis": {
        "101": {
            "Patient History": "right lower quadrant pain",
            "Physical Examination": "tender",
            "Laboratory Tests": {"51301": "15.2 K/uL"},
            "Microbiology": {"90201": "NO GROWTH."},
            "Radiology": [{"Report": "FINDINGS: wide", "Modality": "CT", "Region": "Abdomen", "Exam Name": "CT ABD"}],
        }
    }
}
SETS: dict[str, Any] = {
    "nejm": NEJM, "mediq": MEDIQ, "medcasereasoning": REASONING, "phenopacket": PACKET, "fhir": BUNDLE,
    "multicogeval-records": RECORDS,
}  # fmt: skip


def one(record: Any, tmp_path: Path, source: str) -> Case:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(record), encoding="utf-8")
    done = import_file(path, source, out=tmp_path / "out.jsonl")
    assert (done.format, done.cases, done.problems) == (source, 1, ())
    (case,) = load(tmp_path / "out.jsonl")
    return case


def test_a_vignette_with_a_patients_sheet(tmp_path: Path) -> None:
    case = one(NEJM, tmp_path, "nejm")
    assert case.opening == "A 40-year-old man has had a rash for a week."
    assert case.history == {"Patient's account": "You are a 40-year-old man. Your arms itch."}
    assert case.examination[0].text == "On examination, red plaques were seen on the arms."
    assert [part.text for part in case.investigations] == [
        "Skin biopsy: spongiosis.",
        "A skin biopsy showed spongiosis.",
    ]
    assert case.truth.diagnosis == "Contact dermatitis"


@pytest.mark.parametrize(
    "said",
    [
        "The text supplied does not include specific instrument readings or test results.",
        "The information does not contain numbers. There are no instrument readings to report.",
    ],
)
def test_a_sheet_that_says_it_has_no_results_is_no_result(said: str, tmp_path: Path) -> None:
    case = one(NEJM | {"physical_exams": said}, tmp_path, "nejm")
    assert [part.text for part in case.investigations] == ["A skin biopsy showed spongiosis."]


def test_a_direction_that_goes_on_with_the_complaint_loses_only_its_beginning(tmp_path: Path) -> None:
    sheet = (
        "For your role as a patient, you are a man whose arms itch. **Habits**: You do not smoke. Remember, you act."
    )
    case = one(NEJM | {"patient_info": sheet}, tmp_path, "nejm")
    assert case.history == {"Patient's account": "You are a man whose arms itch. Habits: You do not smoke."}


def test_facts_become_a_history_without_what_was_examined(tmp_path: Path) -> None:
    case = one(MEDIQ, tmp_path, "mediq")
    assert case.history == {"Facts": "The woman has a cough.\nThe woman denies fever."}
    assert case.examination[0].text == "On examination, crackles are heard."
    assert case.complaint == "A 30-year-old woman."


def test_auto_prefers_questions_to_patients(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps(MEDIQ), encoding="utf-8")
    done = import_file(path)
    assert (done.format, done.cases, done.questions) == ("lettered-choice", 0, 1)


def test_a_report_with_its_reasoning(tmp_path: Path) -> None:
    case = one(REASONING, tmp_path, "medcasereasoning")
    assert (case.id, case.truth.reasoning, str(case.provenance.dated)) == (
        "mcr-PMC1",
        "1. Fever points to it.",
        "2020-05-01",
    )
    assert case.investigations[0].text == "Blood cultures were taken and grew nothing."


def test_a_phenopacket_tells_present_and_absent_findings(tmp_path: Path) -> None:
    case = one(PACKET, tmp_path, "phenopacket")
    assert case.opening == "A 3-year-old girl. Reported: Seizure."
    assert [(part.section, part.text) for part in case.examination] == [
        ("Microcephaly", "present"),
        ("Cleft palate", "absent"),
    ]
    assert (case.truth.diagnosis, case.truth.codes) == ("Rett syndrome", ("OMIM:1",))


def test_a_bundle_becomes_a_patient_with_results(tmp_path: Path) -> None:
    case = one(BUNDLE, tmp_path, "fhir")
    assert case.opening == "A 60-year-old woman."
    assert (case.truth.diagnosis, case.truth.codes) == ("Pneumonia", ("SNOMED:233604007",))
    assert case.history == {"Other conditions": "Hypertension"}
    lab = case.labs[0]
    assert (lab.name, lab.value, lab.unit, lab.low, lab.high, lab.flag) == (
        "Leukocytes",
        "15.5",
        "10*3/uL",
        4.0,
        11.0,
        "high",
    )
    assert [(part.section, part.text) for part in case.examination] == [("Systolic", "120 mmHg")]
    assert [(part.exam, part.report) for part in case.imaging] == [("Chest X-ray", "Infiltrate.")]


def test_an_import_without_a_case_does_not_ask_for_a_place_to_write_to(tmp_path: Path) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(BUNDLE | {"entry": BUNDLE["entry"][1:]}), encoding="utf-8")
    done = import_file(path, "fhir", out=tmp_path / "out.jsonl")
    assert done.text().endswith("nothing written: there is no case to write")
    assert "holds no Patient, only Condition, DiagnosticReport" in done.text()


def test_a_bundle_may_stand_on_many_lines(tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(BUNDLE, indent=2), encoding="utf-8")
    assert [case.truth.diagnosis for case in load(path)] == ["Pneumonia"]


def test_admissions_by_disease(tmp_path: Path) -> None:
    case = one(RECORDS, tmp_path, "multicogeval-records")
    assert (case.labs[0].item_id, case.labs[0].value, case.labs[0].unit) == (51301, "15.2", "K/uL")
    assert (case.microbiology[0].comment, case.imaging[0].modality) == ("NO GROWTH.", "CT")


@pytest.mark.parametrize(
    ("source", "change", "field"),
    [
        ("nejm", {"answers": []}, "answers"),
        ("nejm", {"question": "A woman has a fever. Which is the most appropriate treatment?"}, "question"),
        ("nejm", {"question": "A chest film was taken. What is the name of this imaging finding?"}, "question"),
        ("nejm", {"patient_info": ""}, "patient_info"),
        ("mediq", {"answer_idx": "Z"}, "answer_idx"),
        ("mediq", {"answer": "Asthma"}, "answer"),
        ("medcasereasoning", {"final_diagnosis": 3}, "final_diagnosis"),
        ("phenopacket", {"diseases": []}, "diseases"),
        ("fhir", {"entry": BUNDLE["entry"][:1]}, "entry[0]"),
        ("fhir", {"entry": []}, "entry"),
        ("multicogeval-records", {"appendicitis": {"101": {"Patient History": ""}}}, "101.Patient History"),
    ],
)
def test_a_fault_is_named_with_line_and_field_and_the_rest_goes_on(
    source: str, change: dict[str, Any], field: str, tmp_path: Path
) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    lines = (
        [SETS[source] | change, SETS[source]]
        if source != "multicogeval-records"
        else [{**change, "b": RECORDS["appendicitis"]}]
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    done = import_file(path, source, out=out)
    assert done.cases == 1
    assert [(problem.line, problem.field) for problem in done.problems] == [(1, field)]
    assert len(out.read_text().splitlines()) == 1


def test_a_table_by_its_map(tmp_path: Path) -> None:
    path, out = tmp_path / "ward.csv", tmp_path / "out.jsonl"
    path.write_text('no;story;dx;smokes\n1;"Cough; fever.";Pneumonia;no\n2;;Gout;yes\n', encoding="utf-8")
    columns = ("id=no", "opening=story", "truth.diagnosis=dx", "history.Smoking=smokes")
    done = import_file(path, columns=columns, out=out)
    assert [(problem.line, problem.field) for problem in done.problems] == [(3, "opening")]
    (case,) = load(out)
    assert (case.id, case.opening, case.history, case.data_class) == (
        "1",
        "Cough; fever.",
        {"Smoking": "no"},
        "restricted",
    )


def test_a_table_of_a_known_header_needs_no_map(tmp_path: Path) -> None:
    path = tmp_path / "craft.csv"
    path.write_text(
        ",case_vignette,answer,case_id\n0,A 20-year-old man has a mole.,Halo nevus,case_4\n", encoding="utf-8"
    )
    assert [(case.id, case.truth.diagnosis) for case in load(path)] == [("case_4", "Halo nevus")]


def test_a_vignette_that_asks_for_no_diagnosis_is_no_case(tmp_path: Path) -> None:
    path = tmp_path / "craft.tsv"
    rows = ("case_id\tcase_desc\tanswer_name", "1\tA man has a mole. What is the diagnosis?\tHalo nevus")
    path.write_text("\n".join((*rows, "2\tA man has gout. What is least likely?\tFever")) + "\n", encoding="utf-8")
    done = import_file(path, out=tmp_path / "out.jsonl")
    assert [(problem.line, problem.field) for problem in done.problems] == [(3, "vignette")]
    assert [case.opening for case in load(tmp_path / "out.jsonl")] == ["A man has a mole."]


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (b"a,b\n1,2\n", (), "its columns are those of no known format (a, b)"),
        (b"a,b\n1,2\n", ("opening=c",), "--map names column 'c'; the columns are: a, b"),
        (b"a,b\n1,2\n", ("opening=a", "b=truth.diagnose"), "no field 'truth.diagnose', did you mean truth.diagnosis?"),
        (b"a,b\n1,2\n", ("a",), "--map a: name the field that this column holds, as in --map a=id"),
        (b"a,b\n1,2\n", ("a.toml",), "--map a.toml: cannot be read"),
        (gzip.compress(b"a,b\n1,2\n" * 500, mtime=0)[:-9], ("opening=a", "truth.diagnosis=b"), "was it copied whole?"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(
    text: bytes, columns: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    with pytest.raises(UsageError) as caught:
        import_file(path, columns=columns, out=tmp_path / "out.jsonl")
    assert message in str(caught.value)
    assert not (tmp_path / "out.jsonl").exists()


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there are: csv, fhir"):
        import_file(tmp_path / "x", "nothing")


@pytest.mark.parametrize("source", first_ones(sorted(SETS), 3))
async def test_gold_is_right_and_silent_is_not(source: str, tmp_path: Path) -> None:
    one(SETS[source], tmp_path, source)
    for doctor, value in (("gold", 1.0), ("silent", 0.0)):
        run = await wardround.run(tmp_path / "out.jsonl", "consultation", seats={"doctor": doctor}, store=MemoryStore())
        summary = summarise((await wardround.score_run(run)).episodes)
        assert {score.name: score.mean for score in summary.scores}["diagnosis_accuracy"] == value


@pytest.mark.long
@pytest.mark.shared
def test_published_sets_are_read_where_they_lie(shared: Path) -> None:
    packets = shared / "data" / "phenopacket-store" / "sample_400.jsonl.gz"
    assert sum(isinstance(item, Case) for item in scan(packets)) == 400
    assert problems(packets) == ()
    facts = shared / "data" / "mediq" / "all_craft_md.jsonl"
    assert sum(isinstance(item, Case) for item in scan(facts, FactVignettes())) == 138


@pytest.mark.parametrize(
    ("source", "changed", "field"),
    [
        ("mediq", {"answer_idx": None}, "answer_idx"),
        ("mediq", {"options": ["A"]}, "options"),
        ("nejm", {"answers": None}, "answers"),
        ("nejm", {"physical_exams": ["none"]}, "physical_exams"),
        ("medcasereasoning", {"diagnostic_reasoning": ["1"]}, "diagnostic_reasoning"),
        ("phenopacket", {"phenotypicFeatures": "cough"}, "phenotypicFeatures"),
        ("phenopacket", {"subject": "a girl"}, "subject"),
    ],
)
def test_a_field_of_another_type_is_named(source: str, changed: dict[str, Any], field: str, tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    record = {name: value for name, value in (SETS[source] | changed).items() if value is not None}
    path.write_text(f"{json.dumps(SETS[source])}\n{json.dumps(record)}\n", encoding="utf-8")
    (problem,) = import_file(path, source).problems
    assert (problem.line, problem.field) == (2, field)


def test_a_resource_of_another_shape_is_named_and_the_case_stands(tmp_path: Path) -> None:
    entries = [*BUNDLE["entry"], {"resource": {"resourceType": "Observation", "valueQuantity": "7 mg"}}]
    path = tmp_path / "in.json"
    path.write_text(json.dumps(BUNDLE | {"entry": entries}), encoding="utf-8")
    done = import_file(path)
    assert done.cases == 1
    assert [problem.field for problem in done.problems] == [f"entry[{len(entries) - 1}].resource.valueQuantity"]


def test_the_same_case_twice_is_told(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(f"{json.dumps(NEJM)}\n" * 2, encoding="utf-8")
    said = [item for item in scan(path) if isinstance(item, Problem)]
    assert [(one.line, one.warning, one.message) for one in said] == [(2, True, "is word for word the case on line 1")]


def test_another_format_under_the_name_of_one_is_told(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(REASONING) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 1: is no record of MediQ vignettes JSONL"):
        import_file(path, "mediq")


def test_two_columns_of_the_name_that_is_mapped_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("story,dx,dx,x,x\nCough.,Flu,Gout,,\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 1: two columns are named 'dx'"):
        import_file(path, columns=("opening=story", "truth.diagnosis=dx"))
    assert import_file(path, columns=("opening=story", "truth.treatment=story")).cases == 1


NAMED = {
    **BUNDLE,
    "entry": [
        {"resource": {**BUNDLE["entry"][0]["resource"], "name": [{"family": "Muster", "given": ["Max"]}]}},
        *BUNDLE["entry"][1:],
    ],
}
SOLVED = {
    **PACKET,
    "interpretations": [{"diagnosis": {"disease": {"id": "OMIM:1", "label": "Dravet syndrome"}}}],
}
CHOICE = {
    "id": 1,
    "question": "Which?",
    "context": ["A man coughs.", "He has a fever."],
    "options": {"A": "Gout", "B": "Mumps"},
    "answer_idx": "B",
    "answer": "Mumps",
}
PARTED: dict[str, Any] = {**SETS, "fhir": NAMED, "phenopacket": SOLVED, "lettered-choice": CHOICE}
OTHERS: tuple[Any, ...] = (None, 7, True, "x", " ", [], [None], {}, {"a": 1})


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if at:
        yield at
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*at, name))


def changed(record: Any, at: tuple[Any, ...], other: Any) -> Any:
    whole = deepcopy(record)
    part = whole
    for name in at[:-1]:
        part = part[name]
    part[at[-1]] = other
    return whole


@pytest.mark.parametrize("source", sorted(PARTED))
def test_a_part_of_another_type_is_read_or_named_by_its_field(source: str, tmp_path: Path) -> None:
    record, path = PARTED[source], tmp_path / "in.jsonl"
    loader = load_plugin(LOADERS, source)()
    for at in places(record):
        for other in OTHERS:
            path.write_text(json.dumps(changed(record, at, other)) + "\n")
            try:
                items = list(scan(path, loader))
            except UsageError as error:
                assert "of no known format" in str(error) or "is no " in str(error)  # noqa: PT017 - many parts, one test
                continue
            faults = [item for item in items if isinstance(item, Problem)]
            assert items
            assert [(at, other, str(one)) for one in faults if not one.field or "Error: " in one.message] == []
