"""FHIR R4 bundles as cases: the visit of the diagnosis, what was known before it, its results."""

import json
from pathlib import Path
from typing import Any

import pytest

from wardround.scenarios.case import Case
from wardround.scenarios.loaders.importing import import_file
from wardround.scenarios.loaders.load import load


def one(record: Any, tmp_path: Path) -> Case:
    path = tmp_path / "in.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    done = import_file(path, "fhir", out=tmp_path / "out.jsonl")
    assert (done.cases, done.problems) == (1, ())
    (case,) = load(tmp_path / "out.jsonl")
    return case


def _coded(text: str, code: str = "") -> dict[str, Any]:
    return {"coding": [{"display": text, "code": code or text}]}


def _life(*more: dict[str, Any]) -> dict[str, Any]:
    """A bundle of a life: a checkup in 2018, the visit of 2020 with its diagnosis, another in 2022."""
    visits: list[dict[str, Any]] = [
        {"resourceType": "Encounter", "id": f"v{year}", "period": {"start": f"{year}-03-01", "end": f"{year}-03-03"}}
        for year in (2018, 2020, 2022)
    ]
    visits[1] |= {"reasonCode": [_coded("Cough (finding)")], "diagnosis": [{"condition": {"reference": "urn:uuid:c"}}]}
    resources: list[dict[str, Any]] = [
        {"resourceType": "Patient", "id": "p", "gender": "male", "birthDate": "1950-01-01"},
        *visits,
        {"resourceType": "Condition", "id": "c", "code": _coded("Pneumonia (disorder)"), "onsetDateTime": "2020-03-01"},
        {"resourceType": "Condition", "id": "e", "code": _coded("Asthma (disorder)"), "onsetDateTime": "1990"},
        {
            "resourceType": "Condition",
            "id": "l",
            "code": _coded("Lung abscess (disorder)"),
            "onsetDateTime": "2022-03-01",
        },
        *more,
    ]
    return {"resourceType": "Bundle", "entry": [{"resource": one} for one in resources]}


def _lab(value: float, **more: Any) -> dict[str, Any]:
    return {
        "resourceType": "Observation",
        "code": _coded("CRP"),
        "valueQuantity": {"value": value, "unit": "mg/L"},
        **more,
    }


def test_a_bundle_of_a_life_gives_the_visit_of_its_diagnosis(tmp_path: Path) -> None:
    case = one(
        _life(
            _lab(3, effectiveDateTime="2018-03-01"),
            _lab(180, effectivePeriod={"start": "2020-03-02T08:00:00+01:00"}),
            _lab(9, encounter={"reference": "Encounter/v2020"}, effectiveDateTime="2020-03-20"),
            _lab(1, effectiveDateTime="2022-03-02"),
        ),
        tmp_path,
    )
    assert case.opening == "A 70-year-old man. Cough."
    assert case.truth.diagnosis == "Pneumonia"
    assert case.history == {"Symptoms": "Cough", "Other conditions": "Asthma"}
    assert [lab.value for lab in case.labs] == ["180", "9"]


def test_what_was_known_before_the_visit_is_history_and_its_treatment_is_not(tmp_path: Path) -> None:
    case = one(
        _life(
            {
                "resourceType": "MedicationRequest",
                "medicationReference": {"reference": "Medication/m"},
                "authoredOn": "2019-01-01",
            },
            {
                "resourceType": "MedicationRequest",
                "medicationCodeableConcept": _coded("Amoxicillin"),
                "authoredOn": "2020-03-01",
            },
            {"resourceType": "Medication", "id": "m", "code": _coded("Salbutamol (product)")},
            {
                "resourceType": "AllergyIntolerance",
                "code": _coded("Nuts"),
                "reaction": [{"manifestation": [_coded("Hives")]}],
            },
            {
                "resourceType": "FamilyMemberHistory",
                "relationship": _coded("Mother"),
                "condition": [{"code": _coded("Gout")}],
            },
            {
                "resourceType": "Observation",
                "category": [_coded("social-history")],
                "code": _coded("Smoking"),
                "valueCodeableConcept": _coded("Never smoker (finding)"),
                "effectiveDateTime": "2018-03-01",
            },
            {"resourceType": "Procedure", "code": _coded("Drainage for pneumonia"), "performedDateTime": "2019-01-01"},
            {
                "resourceType": "Procedure",
                "status": "not-done",
                "code": _coded("Biopsy"),
                "performedDateTime": "2019-01-01",
            },
        ),
        tmp_path,
    )
    assert case.history == {
        "Symptoms": "Cough",
        "Other conditions": "Asthma",
        "Medications": "Salbutamol",
        "Allergies": "Nuts (Hives)",
        "Family history": "Mother: Gout",
        "Social history": "Smoking: Never smoker",
    }


def test_an_undated_order_of_the_visit_is_no_drug_of_before(tmp_path: Path) -> None:
    order = {"resourceType": "MedicationRequest", "medicationCodeableConcept": _coded("Amoxicillin")}
    case = one(_life(order | {"encounter": {"reference": "Encounter/v2020"}}), tmp_path)
    assert "Medications" not in case.history
    assert one(_life(order), tmp_path).history["Medications"] == "Amoxicillin"


def test_a_condition_that_was_only_considered_is_no_diagnosis(tmp_path: Path) -> None:
    def ill(name: str, day: int, **more: Any) -> dict[str, Any]:
        return {
            "resourceType": "Condition",
            "id": name,
            "code": {"text": name},
            "recordedDate": f"2020-01-0{day}",
            **more,
        }

    considered = ill("Sepsis", 2, verificationStatus=_coded("", "differential"))
    patient = {"resourceType": "Patient", "id": "p", "gender": "male"}
    parts = (patient, ill("Gout", 1), considered, ill("Fever", 3))
    bundle = {"resourceType": "Bundle", "entry": [{"resource": part} for part in parts]}
    assert one(bundle, tmp_path).truth.diagnosis == "Gout"


def test_a_culture_names_its_organism_and_a_fluid_is_part_of_the_name(tmp_path: Path) -> None:
    case = one(
        _life(
            {
                "resourceType": "Observation",
                "code": _coded("Blood culture"),
                "valueCodeableConcept": _coded("Staphylococcus aureus"),
            },
            {
                "resourceType": "Observation",
                "code": _coded("Urine culture"),
                "valueCodeableConcept": _coded("No growth"),
            },
            {"resourceType": "Specimen", "id": "s", "type": _coded("Pleural fluid specimen (specimen)")},
            _lab(40, specimen={"reference": "Specimen/s"}),
            {"resourceType": "Observation", "status": "cancelled", "code": _coded("Sodium"), "valueInteger": 4},
            {
                "resourceType": "Observation",
                "code": _coded("Titre"),
                "valueRatio": {"numerator": {"value": 1}, "denominator": {"value": 128}},
            },
        ),
        tmp_path,
    )
    assert [(part.test, part.organism, part.comment) for part in case.microbiology] == [
        ("Blood culture", "Staphylococcus aureus", ""),
        ("Urine culture", "", "No growth"),
    ]
    assert [(lab.name, lab.value) for lab in case.labs] == [("CRP, Pleural fluid", "40"), ("Titre", "1:128")]


def test_a_bundle_of_several_patients_gives_a_case_for_each_and_names_the_others(tmp_path: Path) -> None:
    whose = {"subject": {"reference": "urn:uuid:1"}}
    bundle = {
        "resourceType": "Bundle",
        "entry": [
            {"fullUrl": "urn:uuid:1", "resource": {"resourceType": "Patient", "gender": "male"}},
            {"resource": {"resourceType": "Patient", "id": "2", "gender": "female"}},
            {"resource": {"resourceType": "Condition", "code": {"text": "Gout"}} | whose},
            {"resource": {"resourceType": "Observation", "code": {"text": "CRP"}, "valueInteger": 4} | whose},
        ],
    }
    path = tmp_path / "ward.json"
    path.write_text(json.dumps(bundle), encoding="utf-8")
    done = import_file(path, "fhir", out=tmp_path / "out.jsonl")
    assert done.cases == 1
    assert [problem.field for problem in done.problems] == ["entry[1]"]
    (case,) = load(tmp_path / "out.jsonl")
    assert (case.truth.diagnosis, [lab.value for lab in case.labs]) == ("Gout", ["4"])


SNOMED = "http://snomed.info/sct"


def _condition(text: str, *displays: str, system: str = SNOMED) -> dict[str, Any]:
    codings = [{"system": system, "code": str(number), "display": shown} for number, shown in enumerate(displays)]
    return {"resourceType": "Condition", "id": "c", "code": {"text": text, "coding": codings}, "recordedDate": "2020"}


@pytest.mark.parametrize(
    ("condition", "synonyms"),
    [
        (_condition("Acute MI", "Acute myocardial infarction (disorder)"), ("Acute myocardial infarction",)),
        (_condition("Pneumonia after surgery", "Pneumonia (disorder)"), ()),  # wider: to name it is not the diagnosis
        (_condition("Pneumonia", "Pneumonia caused by virus (disorder)"), ()),  # narrower
        (_condition("Miller Fisher syndrome", "Guillain-Barré syndrome", system="http://hl7.org/fhir/sid/icd-10"), ()),
        (_condition("Gout", "Gout (disorder)"), ()),
    ],
)
def test_the_names_of_codes_are_synonyms(tmp_path: Path, condition: Any, synonyms: tuple[str, ...]) -> None:
    patient = {"resourceType": "Patient", "id": "p", "gender": "male", "birthDate": "1950-01-01"}
    record = {"resourceType": "Bundle", "entry": [{"resource": one} for one in (patient, condition)]}
    assert one(record, tmp_path).truth.synonyms == synonyms


@pytest.mark.parametrize("called", [{"given": ["Eri"]}, {"family": None}, {"given": "Eri"}, {"text": "Eri"}])
def test_a_patient_without_a_family_name_is_not_called_none(tmp_path: Path, called: dict[str, Any]) -> None:
    people = {"resourceType": "Patient", "id": "p", "gender": "female", "name": [called]}
    report = {"resourceType": "DiagnosticReport", "code": {"text": "Chest X-ray"}, "conclusion": "None seen."}
    record = {"resourceType": "Bundle", "entry": [{"resource": one} for one in (people, _condition("Flu"), report)]}
    (tmp_path / "in.json").write_text(json.dumps(record), encoding="utf-8")
    assert not [one for one in import_file(tmp_path / "in.json").warnings if "the patient's name" in one.message]


@pytest.mark.parametrize("said", ["Frau MUSTER: infiltrate.", "Erika Muster has pneumonia.", "A pattern; infiltrate."])
def test_an_import_says_what_a_report_gives_away(tmp_path: Path, said: str) -> None:
    people = {
        "resourceType": "Patient",
        "id": "p",
        "gender": "female",
        "name": [{"family": "Muster", "given": ["Eri"]}],
    }
    report = {"resourceType": "DiagnosticReport", "code": {"text": "Chest X-ray"}, "conclusion": said}
    record = {
        "resourceType": "Bundle",
        "entry": [{"resource": one} for one in (people, _condition("Pneumonia"), report)],
    }
    path = tmp_path / "in.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    done = import_file(path, out=tmp_path / "out.jsonl")
    named = [warning.field for warning in done.warnings if "holds the patient's name" in warning.message]
    assert named == (["entry[2].resource"] if "uster" in said.lower() else [])
    assert all(word not in "".join(map(str, done.warnings)) for word in ("Muster", "MUSTER"))
    told = [f"{leak.field}: {leak.phrase}" for leak in done.leaks]
    assert told == (["imaging[0].report: Pneumonia"] if "pneumonia" in said else [])
    assert ("names the diagnosis in 1 case" in done.text()) is bool(told)
