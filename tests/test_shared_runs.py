"""Whole runs over the real data beside the project: gold scores 1.0, silent 0.0, the baseline completes."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

import wardround
from wardround.evaluators.report.summary import Summary, summarise
from wardround.replay_run import replay_run
from wardround.runs.stored_run import Run
from wardround.scenarios.loaders.load import load
from wardround.testing.memory_store import MemoryStore

SETS = [
    ("agentclinic/agentclinic_medqa.jsonl", "consultation", 107),
    ("medrbench/diagnosis_cases.json", "one-turn", 479),
    ("medrbench/diagnosis_cases.json", "free-turn", 479),
    ("medrbench/diagnosis_cases.json", "oracle", 479),
    ("medrbench/diagnosis_cases.json", "workup", 479),
    ("medrbench/treatment_cases.json", "treatment", 50),
]
MODELS = {
    "oracle_diagnosis__gemini2-ft__replies_and_judged_steps.json": (160, 160),
    "oracle_diagnosis__qwq__replies_and_judged_steps.json": (160, 160),
    "oracle_diagnosis__deepseek-r1__replies_and_judged_steps.json": (160, 158),
    "oracle_diagnosis__o3-mini__accuracy_judge_gpt.json": (193, 193),
    "oracle_diagnosis__qwen3-14b-thinking__accuracy_judge_gpt.json": (193, 189),
}

SAMPLE = "oracle_diagnosis__deepseek-r1__replies_and_judged_steps.json"
"""The file whose replies play every fourth case in the default suite; make test-all plays all files and cases."""


async def played(path: Path, scenario: str, doctor: str) -> tuple[Run, Summary]:
    run = await wardround.run(path, scenario, seats={"doctor": doctor}, store=MemoryStore())
    return run, summarise((await wardround.score_run(run)).episodes)


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "scenario", "count"), SETS)
async def test_the_ends_of_every_scale(shared: Path, name: str, scenario: str, count: int) -> None:
    for doctor, value, cause in (("gold", 1.0, "completed"), ("silent", 0.0, "doctor")):
        run, summary = await played(shared / "data" / name, scenario, doctor)
        assert await run.endings() == {cause: count}
        for score in summary.scores:
            if score.name.endswith("_accuracy") or score.name in ("exam_recall", "full_path", "full_path_by_type"):
                assert score.mean == (value if score.scored else None), score.name
                assert set(score.reasons) <= {"nothing_recorded", "not_ordered_here"}, score.name
        assert any(score.name == f"{run.json['scenario']['goal']}_accuracy" for score in summary.scores)


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "scenario", "count"), [SETS[0], SETS[5]])
async def test_the_baseline_completes_and_replays(shared: Path, name: str, scenario: str, count: int) -> None:
    run, _ = await played(shared / "data" / name, scenario, "baseline")
    assert await run.endings() == {"completed": count}
    assert [outcome.error async for outcome in replay_run(run) if outcome.error] == []


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize("name", MODELS)
async def test_replies_of_real_models_play_the_doctor(shared: Path, name: str) -> None:
    count, completed = MODELS[name]
    await _played_by(shared, name, shared / "data/medrbench/diagnosis_cases.json", count, {"completed": completed})


@pytest.mark.long
@pytest.mark.shared
async def test_replies_of_a_real_model_play_the_doctor_of_a_sample(shared: Path, tmp_path: Path) -> None:
    """One of the replies is empty, which ends its episode early."""
    every = json.loads((shared / "data/medrbench/diagnosis_cases.json").read_text(encoding="utf-8"))
    sample = tmp_path / "sample.json"
    sample.write_text(json.dumps(dict(list(every.items())[2::4])), encoding="utf-8")
    await _played_by(shared, SAMPLE, sample, 40, {"completed": 39, "doctor": 1})


async def _played_by(shared: Path, name: str, cases: Path, count: int, wanted: Mapping[str, int]) -> None:
    results = shared / "data" / "medrbench" / "results" / name
    run, summary = await played(cases, "oracle", f"replies:{results}")
    endings = await run.endings()
    assert sum(endings.values()) == count
    assert endings.items() >= wanted.items()
    assert run.json["skipped"]["count"] == len(list(load(cases))) - count
    accuracy = summary.score("diagnosis_accuracy")
    assert accuracy is not None
    assert accuracy.mean is not None
    assert 0.5 < accuracy.mean < 0.9
