"""In every bundled and shared case: each text that a doctor sees is one that is open or was ordered."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from game import PROMPTS, Game
from planting import fields, plant

from wardround.engine.records import Action
from wardround.scenarios.case import Case, case_results
from wardround.scenarios.encounters.consultation import Consultation
from wardround.scenarios.encounters.staged import FreeTurn, OneTurn, Oracle, Treatment
from wardround.scenarios.encounters.workup import Workup
from wardround.scenarios.loaders.load import bundled, load

TESTS = {"labs", "microbiology", "imaging", "investigations"}
REPORT = {"opening", "history", "examination"}
TOLD: dict[Any, set[str]] = {
    Workup: {"opening"},
    OneTurn: REPORT,
    FreeTurn: REPORT,
    Oracle: {*REPORT, *TESTS, "ancillary"},
    Treatment: {*REPORT, *TESTS, "ancillary", "truth.diagnosis"},
    Consultation: {"complaint", "opening"},
}


def trace(case: Case) -> None:
    """Play `case` under every scenario that can play it, with an order of one result, and trace all that is seen."""
    planted = plant(case)
    for kind, told in TOLD.items():
        scenario = kind(kind.Settings(), PROMPTS)
        if scenario.lacks(planted):
            continue
        played = Game(scenario, planted)
        seen = fields(played.view().brief)
        assert {part if part.startswith("truth") else part.split(".")[0] for part in seen} <= told, (kind.name, seen)
        if kind is Consultation and planted.complaint:
            assert seen == {"complaint"}
        ordered = next(iter(case_results(planted)), None)
        if ordered and "order" in played.view().verbs:
            played.play([Action("order", args={"kind": "any", "items": [ordered.name]})])
            name, _, index = ordered.ref.partition("[")
            extra = fields("".join(said.text for said in played.view().heard)) - seen
            same = {
                item.ref.replace("[", ".").strip("]") for item in case_results(planted) if item.name == ordered.name
            }
            assert {".".join(part.split(".")[:2]) for part in extra} <= same | {f"{name}.{index.strip(']')}"}
        for seat in scenario.seats[1:]:
            closed = {part for part in fields(str(played.view(seat))) if part.split(".")[0] in CLOSED}
            assert not closed, (kind.name, seat, closed)


CLOSED = {"id", "truth", "group", "category", "provenance"}


def trace_all(cases: Iterable[Case]) -> int:
    number = 0
    for case in cases:
        trace(case)
        number += 1
    return number


@pytest.mark.long
@pytest.mark.parametrize("path", bundled(), ids=lambda path: path.stem)
def test_no_leak_in_bundled_cases(path: Path) -> None:
    least = {"admissions": 15, "reports": 16, "stations": 10}
    assert trace_all(load(path)) >= least[path.stem]


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("agentclinic/agentclinic_medqa.jsonl", 25),
        ("medrbench/diagnosis_cases.json", 25),
        ("medrbench/treatment_cases.json", 25),
        pytest.param("agentclinic/agentclinic_medqa.jsonl", 107, marks=pytest.mark.long),
        pytest.param("medrbench/diagnosis_cases.json", 100, marks=pytest.mark.long),
        pytest.param("medrbench/treatment_cases.json", 50, marks=pytest.mark.long),
    ],
)
def test_no_leak_in_shared_cases(shared: Path, name: str, cases: int) -> None:
    assert trace_all(islice(load(shared / "data" / name), cases)) == cases
