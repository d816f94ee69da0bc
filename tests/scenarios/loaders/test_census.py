"""The census counts cases, finds every problem, and names what gives the truth away or is missing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from wardround.engine.errors import UsageError
from wardround.engine.plugins import _installed as cached_points
from wardround.scenarios.case import Case, Category, Finding, Provenance, Truth
from wardround.scenarios.loaders import load
from wardround.scenarios.loaders.census import census, lack, named_truths

ASTHMA = Case(
    id="a",
    opening="Wheeze since childhood.",
    history={"History": "Wheeze."},
    examination=(Finding(section="Chest", text="Wheeze"),),
    truth=Truth(diagnosis="Asthma", synonyms=("Bronchial asthma",)),
    group="Asthma",
    category=Category(body_systems=("Lungs", "Immune"), disorders=("Allergy",), rare=False),
    provenance=Provenance.model_validate({"source": "test", "dated": "2023-05-06"}),
    data_class="public",
)
PLAN = Case(
    id="b",
    opening="A fracture.",
    truth=Truth(treatment="Cast"),
    provenance=Provenance(source="test"),
    data_class="restricted",
)


def changed(case: Case, **values: object) -> Case:
    return case.model_copy(update=values)


def test_a_file_is_counted(tmp_path: Path) -> None:
    leaky = changed(ASTHMA, id="c", opening="Known bronchial ASTHMA.")
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join([*map(load.case_line, (ASTHMA, PLAN, leaky)), '{"id": "d"}', "{"]))
    found = census(path)
    assert found.cases == 3
    assert found.counts["group"] == {"Asthma": 2, "(none)": 1}
    assert found.counts["body system"] == {"Lungs": 2, "Immune": 2, "(none)": 1}
    assert found.counts["rare"] == {"no": 2, "not known": 1}
    assert found.counts["year"] == {"2023": 2, "(no date)": 1}
    assert found.counts["data class"] == {"public": 2, "restricted": 1}
    assert [(p.line, p.field) for p in found.problems] == [
        (4, "opening"),
        (4, "truth"),
        (4, "provenance"),
        (4, "data_class"),
        (5, ""),
    ]
    assert found.leaks == (("c", "opening", "Asthma"),)
    assert set(found.lacks["workup"]) == {"b"}
    assert set(found.lacks["treatment"]) == {"a", "c"}
    assert json.loads(json.dumps(found.json()))["playable"]["consultation"] == 2
    text = found.text()
    for said in (
        "3 cases, 5 problems",
        "Asthma 2",
        "treatment: 1 of 3 (2 cannot: it has no treatment (truth.treatment is empty))",
        "c, field opening: 'Asthma'",
        "line 5",
    ):
        assert said in text


def test_a_file_that_cannot_be_read_is_one_problem(tmp_path: Path) -> None:
    (path := tmp_path / "x").write_text("")
    found = census(path)
    assert (found.cases, len(found.problems)) == (0, 1)
    assert "is empty" in found.text()


@pytest.mark.parametrize(
    ("opening", "phrase"),
    [
        ("He has asthma.", "Asthma"),
        ("An asthmatic man.", ""),
        ("Bronchial-asthma?", "Asthma"),
        ("Old MS lesions", "MS"),
        ("his symptoms (ms) and systems", ""),
    ],
)
def test_whole_phrases_only(opening: str, phrase: str) -> None:
    case = changed(ASTHMA, opening=opening, truth=Truth(diagnosis="Asthma", synonyms=("MS",)))
    assert named_truths(case) == ((("a", "opening", phrase),) if phrase else ())


def test_what_a_case_lacks_is_the_scenarios_own_word() -> None:
    assert lack(ASTHMA, "workup") == lack(ASTHMA, "consultation") == lack(ASTHMA, "free-turn") == ""
    unknown = changed(ASTHMA, truth=Truth(treatment="Inhaled steroid."))
    assert "truth.diagnosis" in lack(unknown, "workup")
    assert "truth.treatment" in lack(ASTHMA, "treatment")
    assert lack(unknown, "treatment") == ""
    with pytest.raises(UsageError, match="workup"):
        lack(ASTHMA, "nonsense")


@pytest.fixture
def own_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package with a scenario of its own."""
    (tmp_path / "own_rules.py").write_text(
        "from wardround.scenarios.encounters.staged import Oracle\n\n\nclass Brief(Oracle):\n    name = 'brief'\n"
    )
    folder = tmp_path / "own_rules-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: own-rules\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[wardround.scenarios]\nbrief = own_rules:Brief\n")
    monkeypatch.syspath_prepend(tmp_path)
    cached_points.cache_clear()
    yield
    cached_points.cache_clear()


@pytest.mark.usefixtures("own_scenario")
def test_a_scenario_of_another_package_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(map(load.case_line, (ASTHMA, PLAN))))
    found = census(path)
    assert dict(found.lacks["brief"]) == {"b": "it has no diagnosis (truth.diagnosis is empty)"}
    assert "  brief: 1 of 2" in found.text()


@pytest.mark.long
@pytest.mark.shared
def test_shared_census(shared: Path) -> None:
    found = census(shared / "data/medrbench/diagnosis_cases.json")
    assert (found.cases, found.problems) == (479, ())
    assert found.counts["disorder"]["Cancers"] == 149
    assert {case for case, _, _ in found.leaks} >= {"PMC11609380", "PMC11456410"}
    assert found.lacks["oracle"] == {}
