"""The real replies of three models, judged by a model that plays the stored labels: the stored figures exactly."""

import json
from pathlib import Path
from typing import Any

import pytest
from bench import PlayedSearch
from labels import Labels

import wardround
from wardround.engine.models.scripted import Scripted
from wardround.evaluators.reasoning.evaluator import PublishedReasoning, Reasoning
from wardround.evaluators.report.score_rows import EpisodeScores
from wardround.evaluators.search.results import SearchHit
from wardround.runs.seats import SeatConfig
from wardround.scoring.judges import JudgeConfig, seats_of
from wardround.scoring.score import score_run
from wardround.testing.memory_store import MemoryStore

MODELS = ("deepseek-r1", "gemini2-ft", "qwq")
SAMPLE = "deepseek-r1"
"""The model of the default suite; the others are judged by make test-all."""
FEW = 12
PASSAGE = SearchHit("A text", "", "What is found is the same whatever is looked for.")


async def judged(shared: Path, model: str, few: int | None) -> tuple[dict[str, Any], dict[str, EpisodeScores]]:
    folder = shared / "data/medrbench"
    replies = folder / f"results/oracle_diagnosis__{model}__replies_and_judged_steps.json"
    rows = json.loads(replies.read_text(encoding="utf-8"))
    cases = json.loads((folder / "diagnosis_cases.json").read_text(encoding="utf-8"))
    path, doctor = folder / "diagnosis_cases.json", f"replies:{replies}"
    run = await wardround.run(path, "oracle", doctor=doctor, store=MemoryStore(), limit=few or 1000)
    court = JudgeConfig(
        seats_of([SeatConfig("openai/labels", model=Scripted(Labels(rows, cases)))]), search=PlayedSearch(PASSAGE)
    )
    scores = await score_run(run, [PublishedReasoning(), Reasoning()], judge=court)
    return rows, {row.case: row for row in scores.episodes}


def check(rows: dict[str, Any], found: dict[str, EpisodeScores]) -> None:
    for case, row in found.items():
        stored = rows[case]
        assert row.score("published_efficiency_formal").value == stored["efficiency"], case
        assert row.score("published_factuality_formal").value == stored["factulity"], case
        assert row.score("published_completeness_formal").value == stored["recall"], case


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize("model", [SAMPLE])
async def test_the_stored_figures_come_out_of_the_whole_path(shared: Path, model: str) -> None:
    rows, found = await judged(shared, model, FEW)
    check(rows, found)
    assert found, model


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("model", MODELS)
async def test_the_stored_figures_come_out_for_all_cases(shared: Path, model: str) -> None:
    rows, found = await judged(shared, model, None)
    assert set(found) == set(rows)
    check(rows, found)
