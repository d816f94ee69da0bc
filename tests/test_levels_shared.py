"""Levels on the shared question sets: the bounds of every closed set, and printed tables that follow from others."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from wardround import run, score_run
from wardround.evaluators.report.level_attacks import FIRST, leak_of, level_leaks
from wardround.evaluators.report.level_figures import LevelFigure, LevelRow, level_report
from wardround.evaluators.report.model_facts import known_models
from wardround.runs.stored_run import Run
from wardround.scoring.level_rows import level_rows
from wardround.testing.memory_store import MemoryStore

CLOSED = [
    *(f"multicogeval/{name}/{task}.test.json" for name in ("medqa", "medmcqa") for task in ("MCQ", "SV", "MR", "AE")),
    "mediq/all_craft_md.jsonl",
    "pubmedqa/ori_pqal.json",
    "healthver/healthver_dev.csv",
]


async def played(path: Path, doctor: str, **rules: object) -> tuple[list[LevelRow], str]:
    """The rows of a run over a whole shared set, and what leak it is a test of."""
    store = MemoryStore()
    made = await run(path, "questions", doctor=doctor, store=store, set=rules, name="r", seed=7)
    scores = await score_run(made)
    rows, _ = await level_rows([(await Run.open(store, "r"), scores)])
    return rows, leak_of(scores.header)


def only(rows: Sequence[LevelRow]) -> LevelFigure:
    """The one figure of a set with one task."""
    found = level_report(rows, known_models()).models[0]
    return next(figure for figure in found.levels.values() if figure.items)


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize("name", CLOSED)
async def test_gold_is_1_and_who_knows_nothing_is_0_once_options_are_permuted(shared: Path, name: str) -> None:
    path = shared / "data" / name
    gold, _ = await played(path, "gold", permute=True)
    assert only(gold).mean == pytest.approx(1.0)
    silent, _ = await played(path, "silent")
    assert only(silent).accuracy == 0.0
    for doctor in ("random-answers", "always-first"):
        lucky = only((await played(path, doctor, permute=True))[0])
        assert lucky.ci95 is None or lucky.ci95[0] <= 0 <= lucky.ci95[1], doctor
        assert lucky.mean == pytest.approx(0, abs=0.12)
    first, leak = await played(path, "always-first")
    assert leak == FIRST
    assert [one.figure.mean for one in level_leaks(first, {"r": leak})] == [only(first).mean]


def printed(text: str, table: int, cells: int) -> dict[str, list[float]]:
    """Rows of a printed table by model: the means of its cells."""
    rows: dict[str, list[float]] = {}
    start = text.index("Model\tMedQA\tMedMCQA" if table == 2 else "Table 8. Full performance")
    for line in text[start:].splitlines():
        name, *found = line.split("\t")
        means = [re.match(r"[^\d-]*(-?\d+\.\d+)", cell.replace("−", "-")) for cell in found]
        if len(found) == cells and all(means[:-1]):
            rows.setdefault(name.rstrip("*"), [float(mean[1]) for mean in means if mean])
    return rows


@pytest.mark.shared
def test_the_middle_level_of_table_2_is_the_mean_of_the_tasks_of_table_8(shared: Path) -> None:
    text = (shared / "papers/000_multicogeval.txt").read_text(encoding="utf-8")
    levels, tasks = printed(text, 2, 5), printed(text, 8, 9)
    both = [name for name in levels if name in tasks and name not in ("GPT-4o", "GPT-40")]  # read by machine: 40
    assert len(both) == 29
    apart = [abs(_middle(tasks[name][2 + set_ : 8 : 2]) - levels[name][2 + set_]) for name in both for set_ in (0, 1)]
    assert max(apart) < 0.1, "the printed tables were rounded after they were averaged"
    assert sum(difference < 0.02 for difference in apart) == 50


def _middle(tasks: Sequence[float]) -> float:
    """The middle level in percent, as `wardround levels` takes it, of the printed figures of its three tasks."""
    rows = [
        LevelRow(model="m", run="r", level="middle", dataset="d", task=task, unit="u", repeat=1, value=value / 100)
        for task, value in zip(("SV", "AE", "MR"), tasks, strict=True)
    ]
    mean = level_report(rows, known_models()).models[0].levels["middle"].mean
    assert mean is not None
    return 100 * mean
