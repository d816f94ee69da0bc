"""Selecting cases: by field, stratified and repeatable, in the order of the file."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from wardround.engine.errors import UsageError
from wardround.scenarios.case import Case, Category, Provenance, Truth
from wardround.scenarios.loaders.load import bundled, load_playable
from wardround.scenarios.loaders.select import FIELDS, patients, select_cases


def make(number: int, group: str, rare: bool | None = None, systems: tuple[str, ...] = ()) -> Case:
    return Case(
        id=f"c{number}",
        opening="x",
        truth=Truth(diagnosis=group),
        group=group,
        category=Category(rare=rare, body_systems=systems),
        provenance=Provenance.model_validate({"source": "test", "dated": f"202{number % 3}-01-01"}),
        data_class="restricted" if number % 2 else "public",
    )


CASES = (
    make(0, "Asthma", False, ("Lungs and Breathing", "Immune System")),
    make(1, "Asthma", None),
    make(2, "Gout", True, ("Joints",)),
    make(3, "Gout [acute]", True),
)


def ids(*conditions: str, cases: Sequence[Case] = CASES) -> str:
    return " ".join(case.id for case in select_cases(cases, conditions))


@pytest.mark.parametrize(
    ("conditions", "left"),
    [
        ((), "c0 c1 c2 c3"),
        (("group=asthma",), "c0 c1"),
        (("group=Gout*",), "c2 c3"),
        (("group=Gout [acute]",), "c3"),
        (("group!=Gout*",), "c0 c1"),
        (("group=Gout", "group=Asthma", "id!=c1"), "c0 c2"),
        (("group=Asthma", "data_class=public"), "c0"),
        (("rare=yes",), "c2 c3"),
        (("rare=true", "id=c3"), "c3"),
        (("rare=",), "c1"),
        (("rare!=yes",), "c0 c1"),
        (("body_system=Immune*",), "c0"),
        (("category.body_systems!=Immune*",), "c1 c2 c3"),
        (("year=2020",), "c0 c3"),
        (("id!=c0", "id!=c1"), "c2 c3"),
        (("source = test",), "c0 c1 c2 c3"),
    ],
)
def test_where(conditions: tuple[str, ...], left: str) -> None:
    assert ids(*conditions) == left


@pytest.mark.parametrize(("condition", "left"), [("form=choice", 40), ("level=middle", 20), ("language!=zh", 45)])
def test_questions_are_chosen_by_form_level_and_language(condition: str, left: int) -> None:
    items = [item for path in bundled("questions") for item in load_playable(path)]
    assert len(select_cases(items, [condition])) == left


def test_a_wrong_condition_names_the_fields() -> None:
    for text in ("colour=red", "group", "=x", "group>3"):
        with pytest.raises(UsageError, match="body_system, disorder, rare"):
            ids(text)
    with pytest.raises(UsageError, match="values of group: Asthma, Gout"):
        ids("group=Measles")
    assert set(FIELDS) >= {"id", "group", "rare", "data_class"}


@pytest.mark.parametrize("sample", [0.0, -0.1, 1.1, float("nan")])
def test_a_wrong_share(sample: float) -> None:
    with pytest.raises(UsageError, match="--sample"):
        select_cases(CASES, sample=sample)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_wrong_limit(limit: int) -> None:
    with pytest.raises(UsageError, match="--limit"):
        select_cases(CASES, limit=limit)


MANY = [make(i, f"g{i % 4 if i < 40 else 9}") for i in range(100)]


def test_a_sample_is_stratified_ordered_and_repeatable() -> None:
    found = select_cases(MANY, sample=0.1, seed=3)
    assert Counter(case.group for case in found) == {"g0": 1, "g1": 1, "g2": 1, "g3": 1, "g9": 6}
    assert found == sorted(found, key=MANY.index)
    assert found == select_cases(MANY, sample=0.1, seed=3)
    assert found != select_cases(MANY, sample=0.1, seed=4)
    assert {case.id for case in select_cases(MANY[::-1], sample=0.1, seed=3)} == {case.id for case in found}


def test_a_sample_of_single_cases_has_the_right_size() -> None:
    single = [make(i, f"g{i}") for i in range(30)]
    assert [len(select_cases(single, sample=share)) for share in (0.01, 0.1, 0.5, 1.0)] == [1, 3, 15, 30]


def test_limit_comes_last() -> None:
    assert [case.id for case in select_cases(MANY, ["group=g1"], limit=2)] == ["c1", "c5"]
    assert select_cases(MANY, limit=1000) == MANY
    assert select_cases([], ["group=x"]) == []


def test_faulty_questions_for_a_scenario_of_patients_are_called_questions(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    good = {
        "id": "q", "form": "statement", "question": "?", "truth": {"holds": True}, "provenance": {"source": "own"},
        "data_class": "public",
    }  # fmt: skip
    path.write_text(json.dumps({**good, "id": "bad", "form": "choice"}) + "\n" + json.dumps(good) + "\n")
    with pytest.raises(UsageError, match="it holds questions, not patients: play it with --scenario questions"):
        list(patients(lambda: load_playable(path), [path]))
    path.write_text(json.dumps({"id": "c", "opening": " "}) + "\n")
    with pytest.raises(UsageError, match=r"is missing|must not be blank"):
        list(patients(lambda: load_playable(path), [path]))
