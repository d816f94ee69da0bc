"""Recall and full path by type against the published scorer of MultiCogEval."""

import json
from pathlib import Path
from typing import Any

import pytest
from graded import answer, case, completed, order, trajectory

from wardround.engine.records import Score
from wardround.evaluators.metrics.examinations import exam_scores, full_path
from wardround.scenarios.case import Case, Lab, Study

DICTIONARY = {"CAROTID SERIES has empty region list", "MRA head asked and recorded"}
"""Rows that show gaps in the published table of studies: what a request means is not the scorer's matter here."""


def patient(record: dict[str, Any]) -> Case:
    """The record as a case."""
    return case(
        labs=tuple(Lab(name=key, item_id=int(key), value=value) for key, value in record["Laboratory Tests"].items()),
        microbiology=(),
        imaging=tuple(
            Study(exam=s["Exam Name"], modality=s["Modality"], region=s["Region"], report=s["Report"])
            for s in record["Radiology"]
        ),
        investigations=(),
    )


def answers(record: dict[str, Any], requests: dict[str, Any]) -> list[dict[str, Any]]:
    """What the record answers to the requests."""
    labs = [int(key) for key in record["Laboratory Tests"]]
    told = [
        answer("lab", str(item), *([f"labs[{labs.index(item)}]"] if item in labs else []))
        for item in requests["lab"] or ()
    ]
    for request in requests["image"] or ():
        refs = [
            f"imaging[{place}]"
            for place, study in enumerate(record["Radiology"])
            if study["Region"] in request["Region"] and study["Modality"] in request["Modality"]
        ]
        told.append(answer("imaging", request["Exam Name"], *refs))
    return told


@pytest.mark.shared
def test_recall_and_full_path_by_type_equal_the_published_ones(shared: Path) -> None:
    rows = json.loads((shared / "vectors" / "multicog_recall_fullpath.json").read_text(encoding="utf-8"))
    checked = 0
    for row in rows:
        given, expected = row["input"], row["expected"]
        if row["expect"] != "equal" or given["case"] in DICTIONARY:
            continue
        told = answers(given["record"], given["requests"])
        exams = exam_scores(patient(given["record"]), trajectory(*order(told), ending=completed()))
        found = {score.name: score.value for score in exams}
        found |= {
            s.name: s.value for s in full_path(Score("diagnosis_accuracy", expected["macro_acc_endpoint"]), exams)
        }
        for kind, name in (("lab", "lab_recall"), ("microbiology", "micro_recall"), ("imaging", "image_recall")):
            assert found[f"exam_recall_{kind}"] == pytest.approx(expected[name], abs=1e-9), given["case"]
        assert found["full_path_by_type"] == pytest.approx(expected["macro_acc_fullpath"], abs=1e-9), given["case"]
        checked += 1
    assert checked == 4
