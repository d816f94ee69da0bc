"""On real cases: every label and synonym is its own answer, and one case's truth is rarely another's."""

from pathlib import Path

import pytest

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.load import load


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[Case]:
    names = ("agentclinic/agentclinic_medqa.jsonl", "medrbench/diagnosis_cases.json")
    found = [case for name in names for case in load(shared / "data" / name)]
    return [case for case in found if isinstance(case, Case)]


@pytest.mark.long
@pytest.mark.shared
def test_every_label_and_synonym_is_right(cases: list[Case]) -> None:
    assert len(cases) == 107 + 479
    for case in cases:
        for name in (case.truth.diagnosis, *case.truth.synonyms):
            assert compare(name, case.truth).match, (case.id, name)


@pytest.mark.long
@pytest.mark.shared
def test_one_cases_truth_is_rarely_anothers(cases: list[Case]) -> None:
    """0.12 % of all pairs match, most of them by right (a disease and its special form); 1 % would be a fault."""
    some = cases[::4]
    pairs = [(a, b) for a in some for b in some if a is not b and a.group != b.group]
    matched = sum(compare(a.truth.diagnosis, b.truth).match for a, b in pairs)
    assert matched / len(pairs) < 0.003
