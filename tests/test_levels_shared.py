"""Levels on the shared question sets: the bounds of every closed set, and printed tables that follow from others."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.closed_sets import CLOSED, measured, only, row
from wardround import run, score_run
from wardround.evaluators.levels.level_attacks import FIRST, leak_of, level_leaks
from wardround.evaluators.levels.level_figures import LevelRow, level_report
from wardround.evaluators.report.model_facts import known_models
from wardround.runs.stored_run import Run
from wardround.scoring.level_rows import level_rows
from wardround.testing.memory_store import MemoryStore

RECORD = Path(__file__).resolve().parent.parent / "docs" / "records" / "closed_sets.md"


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize("name", CLOSED)
async def test_gold_is_1_and_who_knows_nothing_is_0_once_options_are_permuted(shared: Path, name: str) -> None:
    found = await measured(shared / "data" / name)
    figures = found.figures
    assert figures["gold"].mean == pytest.approx(1.0)
    assert figures["silent"].accuracy == 0.0
    for column in ("random", "always A, permuted"):
        lucky = figures[column]
        assert lucky.ci95 is None or lucky.ci95[0] <= 0 <= lucky.ci95[1], column
        assert lucky.mean == pytest.approx(0, abs=0.12)
    assert row(found) in RECORD.read_text(encoding="utf-8").splitlines(), "the page has these figures"


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize("name", [one for one in CLOSED if one.endswith("MCQ.test.json")])
async def test_the_replies_of_a_scripted_model_are_scored_as_they_were_meant(shared: Path, name: str) -> None:
    """The scripted model takes the longest option: how often that is right follows from the file alone."""
    rows = json.loads((shared / "data" / name).read_text(encoding="utf-8"))
    right = [longest_is_right(one) for one in rows]
    found = (await measured(shared / "data" / name, ("leak: longest option",))).figures["leak: longest option"]
    assert found.items == len(right)
    assert found.accuracy == pytest.approx(sum(right) / len(right))


@pytest.mark.shared
@pytest.mark.long
async def test_what_always_a_gains_is_the_leak_of_a_set(shared: Path) -> None:
    path = shared / "data" / "mediq" / "all_craft_md.jsonl"
    store = MemoryStore()
    scores = await score_run(await run(path, "questions", doctor="always-first", store=store, name="r"))
    rows, _ = await level_rows([(await Run.open(store, "r"), scores)])
    leak = leak_of(scores.header)
    assert leak == FIRST
    assert [one.figure.mean for one in level_leaks(rows, {"r": leak})] == [only(rows).mean]


def longest_is_right(published: tuple[int, str, str]) -> bool:
    """Whether the longest option of a published row is the right one."""
    _, text, right = published
    options = [
        option.strip(' \n"').split(": ", 1) for option in re.split(r"\t(?=[A-Z]: )", text.split("Options: ", 1)[1])
    ]
    return max(options, key=lambda option: len(option[1]))[0] == right


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
