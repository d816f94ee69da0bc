"""Fit the weights by which the record patient chooses a sentence or silence (`agents/data/history/weights.csv`).

    python -m scripts.fit_patient [--data ../shared/data] [--out weights.csv]

A sentence is right if it holds what the question of `tests/data/patient_questions.csv` expects, or if the rules' answer
with it does. The weights are those of a conditional logit: each question chooses among the sentences of its story and
silence. Questions that rules were tuned on count less, since the rules answer them better than they will answer others.
`CAUTION` is a choice: how much a don't-know is preferred, since wrong is worse.
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
from scipy.optimize import minimize  # type: ignore[import-untyped]  # SciPy ships no types

from scripts.measure_patient import Asked, label, questions, stories
from wardround.agents.history import interview, question_kinds, speech
from wardround.agents.history.weighing import Figures, describe

WEIGHTS = Path("agents/data/history/weights.csv")
PARTS = {
    "tune": 0.4,
    "check": 0.4,
    "fresh": 0.5,
    "blind": 1.0,
    "battery": 0.5,
    "guide": 1.0,
    "blind2": 2.0,
    "stranger": 2.0,
}
"""How much a question of each part counts."""
CAUTION = 1.0
_RIDGE = 0.006
_STEPS = 200
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
    table = np.vstack([_table(one, at) for one in choices])
    sizes = [len(one.sentences) + 1 for one in choices]
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    owner = np.repeat(np.arange(len(choices)), sizes)
    right = np.zeros(len(table))
    for start, one in zip(starts, choices, strict=True):
        right[start + np.array(one.right)] = 1.0
    counts = np.array([one.weight for one in choices])
    counts = counts / counts.sum()
    shrink = _RIDGE * np.square(np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0))

    def loss(weights: Vector) -> tuple[float, Vector]:
        worth = table @ weights
        chance = np.exp(worth - np.maximum.reduceat(worth, starts)[owner])
        total, wanted = np.add.reduceat(chance, starts), np.add.reduceat(chance * right, starts)
        wanted = np.maximum(wanted, 1e-12)
        off = chance / total[owner] - chance * right / wanted[owner]
        slope: Vector = table.T @ (off * counts[owner]) + shrink * weights
        return float((counts * np.log(total / wanted)).sum() + 0.5 * (shrink * weights**2).sum()), slope

    found = minimize(loss, np.zeros(len(at)), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    found.x[at["none", "none"]] += CAUTION
    return {name: float(found.x[place]) for name, place in at.items()}


def _table(one: Choice, at: Mapping[tuple[str, str], int]) -> Vector:
    table = np.zeros((len(one.sentences) + 1, len(at)))
    for name, figure in one.silence.items():
        table[0, at["none", name]] = figure
    for place, row in enumerate(one.sentences, 1):
        for name, figure in row.items():
            table[place, at["fact", name]] = figure
    return table


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
