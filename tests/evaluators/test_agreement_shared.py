"""The lexical verdict on the answers of real models against two judges; docs/scores.md prints these figures."""

import ast
import json
import re
from pathlib import Path

import pytest

from wardround.evaluators.agreement import Agreement, agreement
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.detect import load
from wardround.scenarios.moves import Conclusion
from wardround.scenarios.report import read
from wardround.scenarios.terms.diagnosis import compare

MODELS = ("deepseek-r1", "o3-mini", "qwen3-14b-thinking")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "scores.md"
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
def figures(shared: Path) -> dict[tuple[str, str], Agreement]:
    """Agreement by pair of markers, over the three models."""
    folder = shared / "data" / "medrbench"
    truths = {case.id: case for case in load(folder / "diagnosis_cases.json") if isinstance(case, Case)}
    pairs: dict[tuple[str, str], list[tuple[bool, bool]]] = {}
    for model in MODELS:
        at = f"oracle_diagnosis__{model}__accuracy_judge_"
        gpt, gemma = (verdicts(folder / "results" / f"{at}{judge}.json") for judge in ("gpt", "gemma"))
        for case, reply in replies(folder / "results" / f"{at}gpt.json").items():
            pairs.setdefault(("Gemma", "GPT"), []).append((gemma[case], gpt[case]))
            move = read(reply, last=True)
            if isinstance(move, Conclusion):
                lexical = compare(move.text, truths[case].truth).match
                pairs.setdefault(("lexical", "GPT"), []).append((lexical, gpt[case]))
                pairs.setdefault(("lexical", "Gemma"), []).append((lexical, gemma[case]))
    return {names: agreement(marked) for names, marked in pairs.items()}


@pytest.mark.shared
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


@pytest.mark.shared
def test_the_lexical_verdict_agrees_well_beyond_chance(figures: dict[tuple[str, str], Agreement]) -> None:
    for judge in ("GPT", "Gemma"):
        kappa = figures["lexical", judge].kappa
        assert kappa is not None
        assert kappa > 0.4
