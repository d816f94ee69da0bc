"""The sheet of clinicians (MultiCogEval, table 6, appendix F): share right and difficulty, by level and task."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Protocol

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.text import column_rows

PERSON = "human"
"""The doctor's name in runs that people played."""
HARDEST = 10
"""Difficulty is rated from 1 (easy) to 10 (hard)."""


class People(msgspec.Struct, frozen=True, kw_only=True):
    """What people answered at a level, in a task or (`task` all) in all of them: mean and median over people.

    `mean` and `median` are shares right, each person by a run of their own. `rated` counts the ratings of difficulty,
    of which `difficulty_mean` and `difficulty_median` are taken; None without ratings.
    """

    level: str
    task: str
    people: int
    mean: float
    median: float
    rated: int = 0
    difficulty_mean: float | None = None
    difficulty_median: float | None = None


class AnsweredRow(Protocol):
    """An answer with its place, and the difficulty that the person gave it."""

    @property
    def level(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def run(self) -> str: ...
    @property
    def value(self) -> float | None: ...
    @property
    def difficulty(self) -> float | None: ...


def clinician_sheet(rows: Sequence[AnsweredRow], levels: Sequence[str]) -> list[People]:
    """Return the sheet: a line for each level and task; a level with several tasks begins with a line for all."""
    sheet: list[People] = []
    for level in levels:
        there = [row for row in rows if row.level == level and row.value is not None]
        tasks = sorted({row.task for row in there})
        if len(tasks) > 1:
            sheet.append(_line(level, "all", there))
        sheet += [_line(level, task, [row for row in there if row.task == task]) for task in tasks]
    return sheet


def _line(level: str, task: str, rows: Iterable[AnsweredRow]) -> People:
    """Return a line of the sheet: the share right of each person (run), then mean and median over people."""
    values: dict[str, list[float]] = defaultdict(list)
    ratings: list[float] = []
    for row in rows:
        if row.value is not None:
            values[row.run].append(row.value)
        if row.difficulty is not None:
            ratings.append(row.difficulty)
    each = [math.fsum(some) / len(some) for some in values.values()]
    return People(
        level=level,
        task=task,
        people=len(each),
        mean=math.fsum(each) / len(each),
        median=median(each),
        rated=len(ratings),
        difficulty_mean=math.fsum(ratings) / len(ratings) if ratings else None,
        difficulty_median=median(ratings) if ratings else None,
    )


def difficulty_ratings(path: Path) -> Mapping[tuple[str, str], float]:
    """Read ratings of difficulty by run and item from a CSV file with the columns run, item and difficulty (1 to 10).

    Raises UsageError with row and field for a value that cannot be read, and for an item that a person rated twice.
    """
    ratings: dict[tuple[str, str], float] = {}
    for number, row in enumerate(column_rows(path, "--difficulty", ("run", "item", "difficulty")), 2):
        run, item, said = row["run"], row["item"], row["difficulty"]
        if not run or not item:
            raise UsageError(f"{path}, row {number}, {'item' if run else 'run'}: is missing")
        try:
            value = float(said)
        except ValueError:
            value = math.nan
        if not 1 <= value <= HARDEST:
            raise UsageError(f"{path}, row {number}, difficulty: is {said!r}; write a number from 1 to {HARDEST}")
        if (run, item) in ratings:
            raise UsageError(f"{path}, row {number}: {run} already rates {item}; give one rating for each item")
        ratings[run, item] = value
    return ratings
