"""Paired differences of runs, and what they warn of."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from wardround.engine.errors import UsageError
from wardround.engine.records import Score
from wardround.evaluators.compare import Comparison, Difference, compare_runs
from wardround.evaluators.rows import EpisodeScores, RunScores

HEADER: dict[str, Any] = {
    "wardround": "1",
    "scenario": {"name": "workup", "goal": "diagnosis", "settings": {"max_turns": 5}},
    "seats": {"doctor": {"spec": "gold"}, "examiner": {"spec": "record", "options": {}}},
    "limits": {"tokens": None},
    "prompts": {"doctor/system": "aa", "workup/start": "bb"},
    "cases": {"index": "i1"},
    "tables": {},
}


def run(name: str, values: Mapping[str, tuple[float | None, ...]], **header: Any) -> RunScores:
    """A run with these accuracies, a tuple of repeats for each case."""
    rows = [
        EpisodeScores(
            episode=f"{case}@{repeat}",
            case=case,
            repeat=repeat,
            cause="completed",
            scores=(Score("diagnosis_accuracy", value, "" if value is not None else "provider/timeout"),),
        )
        for case, repeats in values.items()
        for repeat, value in enumerate(repeats)
    ]
    return RunScores(name=name, header=HEADER | header, episodes=rows)


def difference(
    first: Mapping[str, tuple[float | None, ...]], second: Mapping[str, tuple[float | None, ...]]
) -> Difference:
    """The one difference."""
    [found] = compare_runs([run("a", first), run("b", second)]).differences
    return found


def fields(first: RunScores, second: RunScores) -> list[str]:
    """The fields warned of."""
    return [warning.field for warning in compare_runs([first, second]).warnings]


def test_differences_are_paired_by_case() -> None:
    one = {str(i): (float(i < 5),) for i in range(10)}
    two = {str(i): (float(i < 8),) for i in range(10)}
    found = difference(one, two)
    assert (found.first_mean, found.second_mean) == (0.5, 0.8)
    assert found.difference == pytest.approx(0.3)
    assert found.test == "mcnemar"
    assert found.p == pytest.approx(0.25)
    # sd of seven 0 and three 1 is 0.4830; t(0.975, 9) = 2.2622; half = 0.3455
    assert found.ci95 == pytest.approx((-0.0455, 0.6455), abs=1e-4)
    assert found.ci95_method == "student_t"


def test_only_cases_with_a_value_in_both_count() -> None:
    found = difference({"a": (1.0,), "b": (None,), "c": (0.0,)}, {"a": (1.0,), "b": (1.0,), "d": (1.0,)})
    assert (found.cases, found.left_out) == (1, 3)
    assert (found.difference, found.ci95) == (0.0, None)


def test_nothing_in_both_is_no_difference() -> None:
    found = difference({"a": (None,)}, {"a": (1.0,)})
    assert (found.cases, found.difference, found.p, found.first_mean) == (0, None, None, None)


def test_repeats_are_averaged_and_the_bootstrap_draws_cases() -> None:
    found = difference(dict.fromkeys("abcd", (1.0, 0.0)), dict.fromkeys("abcd", (1.0, 1.0)))
    assert found.difference == 0.5
    assert (found.ci95, found.ci95_method) == ((0.5, 0.5), "bootstrap")
    assert (found.p, found.test) == (None, "")


def test_shares_are_tested_by_paired_t() -> None:
    found = difference({"a": (0.1,), "b": (0.2,), "c": (0.3,)}, {"a": (0.2,), "b": (0.4,), "c": (0.6,)})
    assert found.test == "paired_t"
    assert found.p == pytest.approx(0.0741799, abs=1e-6)


def test_each_run_is_compared_with_the_first() -> None:
    runs = [run(name, {"a": (1.0,)}) for name in "xyz"]
    assert [(d.first, d.second) for d in compare_runs(runs).differences] == [("x", "y"), ("x", "z")]


@pytest.mark.parametrize("names", [[], ["a"], ["a", "a"]])
def test_fewer_than_two_runs_are_an_error(names: list[str]) -> None:
    with pytest.raises(UsageError, match="two or more"):
        compare_runs([run(name, {"a": (1.0,)}) for name in names])


CASES = {"a": (1.0,), "b": (0.0,)}


def test_another_doctor_is_the_point_and_no_warning() -> None:
    other = {"doctor": {"spec": "silent"}, "examiner": {"spec": "record", "options": {}}}
    assert fields(run("a", CASES), run("b", CASES, seats=other, begun="later", seed=3)) == []


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ({"scenario": {"name": "oracle", "goal": "diagnosis", "settings": {"max_turns": 5}}}, "scenario.name"),
        (
            {"scenario": {"name": "workup", "goal": "diagnosis", "settings": {"max_turns": 9}}},
            "scenario.settings.max_turns",
        ),
        ({"seats": {"examiner": {"spec": "openai/gpt-4o", "options": {}}}}, "examiner.spec"),
        (
            {"seats": {"examiner": {"spec": "record", "options": {"policy": "normal-default"}}}},
            "examiner.options.policy",
        ),
        ({"limits": {"tokens": 100}}, "limits.tokens"),
        ({"prompts": {"doctor/system": "aa", "workup/start": "cc"}}, "prompts"),
        ({"cases": {"index": "i2"}}, "cases"),
        ({"tables": {"examiner": "t"}}, "tables.examiner"),
        ({"wardround": "2"}, "wardround"),
    ],
)
def test_each_other_difference_is_named(header: dict[str, Any], field: str) -> None:
    assert fields(run("a", CASES), run("b", CASES, **header)) == [field]


def test_a_patient_in_one_run_only_is_named() -> None:
    seats = HEADER["seats"] | {"patient": {"spec": "record"}}
    assert fields(run("a", CASES), run("b", CASES, seats=seats)) == ["patient"]


def test_another_judge_and_open_episodes_are_named() -> None:
    judged = RunScores(name="b", header=HEADER, episodes=run("b", CASES).episodes, scoring={"judge": "openai/gpt-4o"})
    left = EpisodeScores(episode="b@0", case="b", cause=None)
    unfinished = RunScores(name="a", header=HEADER, episodes=[*run("a", {"a": (1.0,)}).episodes, left])
    assert fields(unfinished, judged) == ["judge", "open"]


def test_a_judge_in_one_run_only_shows_in_its_scores() -> None:
    rows = run("b", CASES).episodes
    judged = [msgspec.structs.replace(row, scores=[*row.scores, Score("lexical_match", 1.0)]) for row in rows]
    assert fields(run("a", CASES), RunScores(name="b", header=HEADER, episodes=judged)) == ["judge"]


def test_a_warning_is_a_line() -> None:
    [warning] = compare_runs([run("a", CASES), run("b", CASES, wardround="2")]).warnings
    assert str(warning) == "a, b: wardround 1 and 2 played them"


def test_other_cases_are_counted() -> None:
    found: Comparison = compare_runs([run("a", CASES), run("b", {"b": (1.0,), "c": (1.0,), "d": (1.0,)})])
    [warning] = found.warnings
    assert warning.field == "cases"
    assert "1 in both, 1 only in a, 2 only in b" in warning.text


def test_a_comparison_is_json() -> None:
    found = compare_runs([run("a", CASES), run("b", CASES, limits={})]).to_json()
    assert found["differences"][0]["score"] == "diagnosis_accuracy"
