"""OSCE stations: every leaf of the source is open, ordered or closed, under a name that can be asked for."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wardround.scenarios.case import Case, case_results
from wardround.scenarios.loaders import osce
from wardround.scenarios.loaders.values import not_done

STATION: dict[str, Any] = {
    "OSCE_Examination": {
        "Objective_for_Doctor": "Assess the OBJECTIVE.",
        "Patient_Actor": {
            "Demographics": "40-year-old",
            "History": "HISTORY",
            "Symptoms": {"Primary_Symptom": "PRIMARY", "Secondary_Symptoms": ["SECOND", "THIRD"]},
            "Current_Medications": ["Insulin"],
        },
        "Physical_Examination_Findings": {
            "Vital_Signs": {"Temperature": "Normal", "Within_Normal_Limits": True},
            "Skin": {"Findings": ["Plaques", "Edema"]},
            "Appearance": "Within normal limits",
        },
        "Test_Results": {
            "Complete_Blood_Count": {"WBC": "12,000/\u03bcL (elevated)", "Platelets": "Normal", "Hb": "Pending"},
            "Blood_Work": {"WBC": "9 /nL", "CK": "40 U/L (normal range: 30-200 U/L)"},
            "Urinalysis": {"WBC": "0-5 /HPF", "Bacterial_Culture": "Negative"},
            "Imaging": {"Chest_CT": {"Findings": "Mass.", "Comments": "Large."}, "Brain_MRI": {"Findings": "Normal"}},
            "Blood_Cultures": {"Findings": "No growth"},
            "Electrocardiogram": {"Findings": "Not performed"},
            "Skin_Biopsy": {"Histopathology": {"Findings": "Melanocytes"}},
            "X-ray_Knee": {"Optional": "May be done"},
        },
        "Correct_Diagnosis": "Progressive multifocal encephalopathy (PML)",
    }
}


def test_a_station_becomes_a_case() -> None:
    case = osce.osce_case(7, STATION)
    assert case.id == "osce-007"
    assert case.complaint == "Assess the OBJECTIVE."
    assert list(case.history) == ["Demographics", "History", "Symptoms", "Current medications"]
    assert case.history["Symptoms"] == "Primary symptom: PRIMARY; Secondary symptoms: SECOND, THIRD"
    assert (case.truth.diagnosis, case.truth.synonyms) == ("Progressive multifocal encephalopathy", ("PML",))
    assert {part.section: part.normal for part in case.examination} == {
        "Vital signs": None,
        "Skin": None,
        "Appearance": True,
    }
    labs = {lab.name: lab for lab in case.labs}
    assert list(labs) == ["WBC", "Platelets", "Blood Work: WBC".replace("Work", "work"), "CK", "Urinalysis: WBC"]
    assert (labs["WBC"].value, labs["WBC"].unit, labs["WBC"].flag) == ("12000", "/\u03bcL", "high")
    assert (labs["Platelets"].value, labs["Platelets"].flag) == ("Normal", "normal")
    assert (labs["CK"].low, labs["CK"].high) == (30.0, 200.0)
    assert [(study.exam, study.modality, study.region, study.report, study.normal) for study in case.imaging] == [
        ("Chest CT", "CT", "Chest", "Mass. Large.", None),
        ("Brain MRI", "MRI", "Head", "Normal", True),
    ]
    assert [(culture.test, culture.specimen, culture.comment) for culture in case.microbiology] == [
        ("Urinalysis: Bacterial culture", "Urinalysis", "Negative"),
        ("Blood cultures", "Blood", "No growth"),
    ]
    assert [(item.name, item.text) for item in case.investigations] == [("Skin biopsy", "Melanocytes")]


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from leaves(part)
    elif isinstance(value, str):
        yield value


def squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def stations(shared: Path) -> list[tuple[dict[str, Any], Case]]:
    text = (shared / "data/agentclinic/agentclinic_medqa.jsonl").read_text(encoding="utf-8")
    records = [json.loads(line) for line in text.splitlines()]
    return [(record["OSCE_Examination"], osce.osce_case(number, record)) for number, record in enumerate(records, 1)]


@pytest.mark.shared
def test_every_result_of_the_source_is_kept_under_a_unique_name(shared: Path) -> None:
    for source, case in stations(shared):
        record = case_results(case)
        names = [(item.kind, item.name.lower()) for item in record]
        assert len(set(names)) == len(names), case.id
        assert not [name for _, name in names if "_" in name]
        kept = squeezed(" ".join(item.text for item in record))
        for leaf in (*leaves(source["Test_Results"]), *leaves(source["Physical_Examination_Findings"])):
            body = squeezed(re.split(r" \((?:normal range|[a-z ]+)", leaf)[0])  # a flag or range has a field of its own
            assert body in kept or not_done(leaf) or "could be considered" in leaf or "Can be considered" in leaf, leaf


@pytest.mark.shared
def test_the_open_part_comes_from_the_actor_and_the_objective_alone(shared: Path) -> None:
    for source, case in stations(shared):
        allowed = squeezed(" ".join([source["Objective_for_Doctor"], *leaves(source["Patient_Actor"])]))
        for section, text in case.history.items():
            assert f"{section}: {text}" in case.opening
            for part in re.split(r"[;:,.]", text):
                plain = squeezed(part)
                assert plain in allowed or any(plain in squeezed(key) for key in _keys(source)), part
        assert case.complaint == source["Objective_for_Doctor"].strip()


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield key.replace("_", " ")
            yield re.sub(r"(?<= )\w", lambda match: match[0].lower(), key.replace("_", " "))
            yield from _keys(part)


@pytest.mark.shared
def test_one_disease_is_one_group(shared: Path) -> None:
    groups = [case.group for _, case in stations(shared)]
    twice = {name for name in groups if groups.count(name) > 1}
    assert {"Hirschsprung disease", "Benign paroxysmal positional vertigo", "Myasthenia gravis"} <= twice
    assert [case.truth.synonyms for _, case in stations(shared) if case.truth.synonyms] == [
        ("PML",),
        ("BPPV",),
        ("NRDS",),
        ("LCPD",),
    ]
