"""Scores doctors that know all, guess or stay silent on closed question sets.

`python -m benchmarks.closed_sets [FILE ...]` prints a table of normalised accuracies; without files, of shared sets.
"""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio

from wardround import run, score_run
from wardround.engine.logs import configure
from wardround.engine.records import Message
from wardround.evaluators.levels.level_figures import LevelFigure, LevelRow, level_report
from wardround.evaluators.report.model_facts import known_models
from wardround.runs.stored_run import Run
from wardround.scoring.level_rows import level_rows
from wardround.testing.memory_store import MemoryStore

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
CLOSED = (
    *(f"multicogeval/{name}/{task}.test.json" for name in ("medqa", "medmcqa") for task in ("MCQ", "SV", "MR", "AE")),
    "mediq/all_craft_md.jsonl",
    "pubmedqa/ori_pqal.json",
    "healthver/healthver_dev.csv",
)
"""The closed question sets among the shared data."""
LONGEST = "scripted/benchmarks.closed_sets:longest"
COLUMNS: dict[str, tuple[str, bool]] = {
    "gold": ("gold", True),
    "random": ("random-answers", True),
    "always A, permuted": ("always-first", True),
    "silent": ("silent", False),
    "leak: always A": ("always-first", False),
    "leak: longest option": (LONGEST, False),
}
"""The doctor of each column, and whether the options are permuted for it."""
_OPTION = re.compile(r"^([A-Z]): (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class ClosedSet:
    """The figures of one set by column, each over all items of the set."""

    name: str
    figures: dict[str, LevelFigure]


def longest(messages: Sequence[Message], purpose: str) -> str:
    """A scripted model that takes the longest option, calls every statement true and finds the answer in every list."""
    del purpose
    asked = messages[-1].content
    options = dict(_OPTION.findall(asked))
    best = max(options, key=lambda letter: len(options[letter]), default="")
    if "A student answers" in asked:
        return f"The student overlooks something.\n\nAnswer: incorrect, the correct answer is {best}"
    if "among them" in asked:
        return "One of these fits.\n\n**Answer: Yes**"
    if "decide whether it is true" in asked:
        return "This is taught everywhere.\n\n**Answer:** True"
    return f"The most detailed option is usually right.\n\n**Answer: {best}. {options.get(best, '')}**"


async def measured(path: Path, columns: Sequence[str] = tuple(COLUMNS)) -> ClosedSet:
    """Play a whole set by the doctors of some columns."""
    name = path.parent.name + "/" + path.name.split(".")[0] if path.parent.name != path.stem else path.stem
    return ClosedSet(name, {column: await _figure(path, *COLUMNS[column]) for column in columns})


async def _figure(path: Path, doctor: str, permute: bool) -> LevelFigure:
    store = MemoryStore()
    made = await run(
        str(path), "questions", doctor=doctor, store=store, set={"permute": permute}, name="r", seed=7, preflight=False
    )
    scores = await score_run(made)
    rows, _ = await level_rows([(await Run.open(store, "r"), scores)])
    await store.aclose()
    return only(rows)


def only(rows: Sequence[LevelRow]) -> LevelFigure:
    """The only figure of a set that has one task."""
    model = level_report(rows, known_models()).models[0]
    return next(figure for figure in model.levels.values() if figure.items)


def table(sets: Sequence[ClosedSet]) -> str:
    """The normalised accuracies in per cent, as a Markdown table."""
    heads = ("set", "items", *COLUMNS)
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return "\n".join([*lines, *map(row, sets)])


def row(one: ClosedSet) -> str:
    """The row of one set in the table."""
    items = max(figure.items for figure in one.figures.values())
    cells = [one.name, f"{items:,}", *map(_cell, one.figures.values())]
    return f"| {' | '.join(cells)} |"


def _cell(figure: LevelFigure) -> str:
    if figure.mean is None:
        return figure.reason
    ends = "" if figure.ci95 is None else f" ({100 * figure.ci95[0]:.1f}, {100 * figure.ci95[1]:.1f})"
    wrong = ", 0 right" if figure.accuracy == 0 else ""
    return f"{100 * figure.mean:.1f}{ends}{wrong}".replace("-", "\u2212")


async def _main(paths: Sequence[Path]) -> None:
    print(table([]))
    for path in paths:
        print(row(await measured(path)), flush=True)


if __name__ == "__main__":
    configure("error")
    parser = argparse.ArgumentParser(prog="benchmarks.closed_sets", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=[DATA / name for name in CLOSED])
    anyio.run(_main, parser.parse_args().files)
