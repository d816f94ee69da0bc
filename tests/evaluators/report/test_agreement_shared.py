"""The lexical verdict on the answers of real models against two judges; docs/scores.md prints these figures."""

import ast
import csv
import json
import re
from pathlib import Path

import pytest

from wardround.evaluators.report.agreement import Agreement, agreement
from wardround.scenarios.answers.diagnosis import compare, past_of
from wardround.scenarios.case import Case
from wardround.scenarios.encounters.staged import read_staged
from wardround.scenarios.loaders.load import load
from wardround.scenarios.parsers.moves import Conclusion

MODELS = ("deepseek-r1", "o3-mini", "qwen3-14b-thinking")
SEVERAL = Path(__file__).resolve().parents[2] / "data" / "several_answers.csv"
"""The answers that commit to no single diagnosis, by case and model: each of them was read before it was listed."""
PAGE = Path(__file__).resolve().parents[3] / "docs" / "scores.md"
DRIFT = 0.05
"""How far a figure may move before the page must be written anew."""


def verdicts(path: Path) -> dict[str, bool]:
    """A judge's verdicts by case."""
    marked = json.loads(path.read_text(encoding="utf-8"))
    return {case: str(held["accuracy"]) == "True" for case, held in marked.items()}


def replies(path: Path) -> dict[str, str]:
    """A model's replies by case."""
    found = {}
    for case, held in json.loads(path.read_text(encoding="utf-8")).items():
        results = held["results"]
        found[case] = (ast.literal_eval(results) if isinstance(results, str) else results)["content"] or ""
    return found


@pytest.fixture(scope="module")
def truths(shared: Path) -> dict[str, Case]:
    """The cases by id."""
    found = load(shared / "data" / "medrbench" / "diagnosis_cases.json")
    return {case.id: case for case in found if isinstance(case, Case)}


@pytest.fixture(scope="module")
def figures(shared: Path, truths: dict[str, Case]) -> dict[tuple[str, str], Agreement]:
    """Agreement by pair of markers, over the models."""
    folder = shared / "data" / "medrbench"
    pairs: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for model in MODELS:
        at = f"oracle_diagnosis__{model}__accuracy_judge_"
        gpt, gemma = (verdicts(folder / "results" / f"{at}{judge}.json") for judge in ("gpt", "gemma"))
        for case, reply in replies(folder / "results" / f"{at}gpt.json").items():
            pairs.setdefault(("Gemma", "GPT"), []).append((gemma[case], gpt[case]))
            move = read_staged(reply, last=True)
            if isinstance(move, Conclusion):
                lexical = compare(move.text, truths[case].truth, past_of(truths[case])).match
                pairs.setdefault(("lexical", "GPT"), []).append((lexical, gpt[case]))
                pairs.setdefault(("lexical", "Gemma"), []).append((lexical, gemma[case]))
    return {names: agreement(marked) for names, marked in pairs.items()}


@pytest.mark.shared
@pytest.mark.long
def test_the_page_prints_what_is_measured(figures: dict[tuple[str, str], Agreement]) -> None:
    rows = re.findall(
        r"^\| (\w+) against (\w+) \| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert {(ours, theirs) for ours, theirs, *_ in rows} == set(figures)
    for ours, theirs, n, *printed in rows:
        found = figures[ours, theirs]
        assert found.n == pytest.approx(int(n), abs=5)
        measured = [found.kappa, found.sensitivity, found.specificity]
        assert measured == pytest.approx([float(figure) for figure in printed], abs=DRIFT), (ours, theirs)


@pytest.mark.long
@pytest.mark.shared
def test_the_lexical_verdict_agrees_well_beyond_chance(figures: dict[tuple[str, str], Agreement]) -> None:
    for judge in ("GPT", "Gemma"):
        kappa = figures["lexical", judge].kappa
        assert kappa is not None
        assert kappa > 0.4


@pytest.mark.long
@pytest.mark.shared
def test_few_answers_are_several_and_each_of_them_is_known(shared: Path, truths: dict[str, Case]) -> None:
    found, count = set(), 0
    for model in MODELS:
        path = shared / "data" / "medrbench" / "results" / f"oracle_diagnosis__{model}__accuracy_judge_gpt.json"
        for case, reply in replies(path).items():
            move = read_staged(reply, last=True)
            if isinstance(move, Conclusion):
                count += 1
                if compare(move.text, truths[case].truth, past_of(truths[case])).reason == "several_answers":
                    found.add((case, model))
    with SEVERAL.open(encoding="utf-8") as file:
        known = {(row["case"], row["model"]) for row in csv.DictReader(file)}
    assert count == 574
    assert len(found) <= 0.06 * count
    assert found <= known, f"not read yet: {sorted(found - known)}"
