"""Accuracy and demonstrations of MultiCogEval's question tasks as its code computes them, to compare ours with."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from wardround.scenarios.published.imaging_words import Absent

Task = Literal["MCQ", "SV", "MR", "AE"]
"""Choice, statement validation, multi-step rectification and answer existence."""


def demonstration(task: Task, row: Sequence[Any], side: int) -> tuple[str, str]:
    """The question of a row that is shown as an example, and its answer in words.

    Existence takes only "T" for yes, so that the 1 of MedQA's rows becomes no.
    """
    if task == "MCQ":
        return row[1], row[2]
    question, answer = row[1 + side], row[3 + side]
    if task == "SV":
        return question, "true" if answer == "T" else "false"
    if task == "AE":
        return question, "yes" if answer == "T" else "no"
    return question, "correct" if answer[0] == "T" else f"incorrect, the correct answer is {answer[1]}"


class Accuracy(NamedTuple):
    """Accuracy of each repeat, their mean and its standard error, as they are and normalised by chance (equation 4).

    The standard errors are None below two repeats.
    """

    repeats: tuple[float, ...]
    mean: float
    error: float | None
    normalised: float
    normalised_error: float | None


def chance_accuracy(task: Task, options: int) -> float:
    """The accuracy of guessing: one over the options for choice and rectification, else a half."""
    return 1 / options if task in ("MCQ", "MR") else 0.5


def rectified(right: bool, corrected: bool, options: int) -> float:
    """The accuracy of a rectification item: its side with the right answer weighs 1/options, the other one the rest."""
    weight = 1 / options
    return weight * float(right) + (1 - weight) * float(corrected)


def accuracy(repeats: Iterable[Sequence[float]], by_chance: float) -> Accuracy:
    """Accuracy of repeats, each with a value for every item; raises Absent without an item."""
    means = []
    for values in repeats:
        if not values:
            raise Absent("no_items", "no item was answered; the published code divides by zero")
        means.append(math.fsum(values) / len(values))
    if not means:
        raise Absent("no_repeats", "there is no repeat")
    mean, error = math.fsum(means) / len(means), _standard_error(means)
    scale = 1 - by_chance
    return Accuracy(tuple(means), mean, error, (mean - by_chance) / scale, None if error is None else error / scale)


def _standard_error(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
