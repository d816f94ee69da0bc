"""Fit the weights by which the record patient chooses a sentence or silence (`agents/data/history/weights.csv`).

    python -m scripts.fit_patient [--data ../shared/data] [--out weights.csv]

A sentence is right if it holds what the question of `tests/data/patient_questions.csv` expects, or if the rules' answer
with it does. The weights are those of a conditional logit: each question chooses among the sentences of its story and
silence. Questions that rules were tuned on count less, since the rules answer them better than they will answer others.
The part `guide` is never used. `CAUTION` is a choice: how much a don't-know is preferred, since wrong is worse.
"""

import argparse
import csv
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scripts.measure_patient import Asked, label, questions, stories
from wardround.agents.history import interview, question_kinds, speech
from wardround.agents.history.weighing import Figures, describe

WEIGHTS = Path("agents/data/history/weights.csv")
PARTS = {"tune": 0.4, "check": 0.4, "fresh": 0.4, "blind": 2.0, "battery": 2.0}
"""How much a question of each part counts."""
CAUTION = 0.5
_RIDGE = 0.001
_STEPS = 600
_RATE = 0.1
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Choice:
    """One question: the figures of silence and of each sentence, which are right (0 is silence), and its weight."""

    silence: Figures
    sentences: Sequence[Figures]
    right: Sequence[int]
    weight: float


def choice_of(asked: Asked, story: tuple[Mapping[str, str], str], weight: float) -> Choice | None:
    """The choice that a question poses; None if the rules answer it without one, or no sentence is right."""
    memory, voice = interview.memory_of(tuple(story[0].items()), story[1])
    question = question_kinds.parse_question(question_kinds.split_questions(asked.question)[0])
    before = question_kinds.split_questions(asked.after)
    earlier = [question_kinds.parse_question(part) for part in reversed(before)]
    proposed = memory.recall(question, earlier, "")
    if proposed.sure:
        return None
    silence, rows = describe(memory, question, earlier, proposed)
    right = [0]
    if asked.expects:
        apt = label(asked, " ".join(interview.say(proposed, voice))) == "apt"
        said = [speech.say_fact(fact, voice) for fact in memory.facts]
        right = [
            place
            for place, (fact, text) in enumerate(zip(memory.facts, said, strict=True), 1)
            if re.search(asked.expects, text, re.IGNORECASE) or (apt and fact in proposed.facts)
        ]
    return Choice(silence, rows, right, weight) if right else None


def fit(choices: Sequence[Choice]) -> dict[tuple[str, str], float]:
    """The weight of each figure, of silence ('none') and of sentences ('fact')."""
    names = sorted(
        {("none", name) for one in choices for name in one.silence}
        | {("fact", name) for one in choices for row in one.sentences for name in row}
    )
    at = {name: place for place, name in enumerate(names)}
    tables = [_table(one, at) for one in choices]
    weights, mean, spread = np.zeros(len(at)), np.zeros(len(at)), np.zeros(len(at))
    total = sum(one.weight for one in choices)
    for step in range(1, _STEPS + 1):
        slope = _RIDGE * weights
        for table, one in zip(tables, choices, strict=True):
            slope = slope + one.weight / total * _slope(table, one.right, weights)
        mean, spread = 0.9 * mean + 0.1 * slope, 0.99 * spread + 0.01 * slope**2
        weights = weights - _RATE * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
    weights[at["none", "none"]] += CAUTION
    return {name: float(weights[place]) for name, place in at.items()}


def _table(one: Choice, at: Mapping[tuple[str, str], int]) -> Vector:
    table = np.zeros((len(one.sentences) + 1, len(at)))
    for name, figure in one.silence.items():
        table[0, at["none", name]] = figure
    for place, row in enumerate(one.sentences, 1):
        for name, figure in row.items():
            table[place, at["fact", name]] = figure
    return table


def _slope(table: Vector, right: Sequence[int], weights: Vector) -> Vector:
    """The slope of one question's loss: what the weights expect against what is right."""
    worth = table @ weights
    chance = np.exp(worth - worth.max())
    chance = chance / chance.sum()
    wanted = np.zeros_like(chance)
    wanted[list(right)] = chance[list(right)]
    slope: Vector = table.T @ (chance - wanted / max(float(wanted.sum()), 1e-12))
    return slope


def main(arguments: Sequence[str]) -> None:
    """Fit and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args(arguments)
    told = stories(options.data)
    posed = [choice_of(asked, told[asked.case], weight) for part, weight in PARTS.items() for asked in questions(part)]
    weights = fit([one for one in posed if one is not None])
    with options.out.open("w", newline="") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(("of", "figure", "weight"))
        table.writerows((*name, f"{weight:.3f}") for name, weight in sorted(weights.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
