"""Fit the weights by which the record patient chooses a sentence or silence (`agents/data/history/weights.csv`).

    python -m scripts.fit_patient [--data ../shared/data] [--out weights.csv]
    python -m scripts.fit_patient --left-out

A sentence is right if it has what the question of `tests/data/patient_questions.csv` expects, or if the rules' answer
with that sentence has it. The first weights are those of a conditional logit, by which a question chooses among the
sentences of its story and silence. The second are those of a logit, which decides whether the best sentence is right;
they are fitted on the choices that the first weights make for authors whose questions they were not fitted on. The
weight of a word is the share of right sentences that contain it; a choice is fitted with the shares of the other
authors' questions. `CAUTION` is set by hand: it says how sure an answer has to be, since a wrong answer is worse than
silence. `--left-out` measures each author's questions with weights fitted on the other authors' alone.
"""

import argparse
import csv
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]  # SciPy ships no types

from scripts.measure_patient import (
    QUOTED_AUTHORS,
    Asked,
    Quoted,
    holding,
    label,
    label_quoted,
    questions,
    quoted_questions,
    reply_to,
    shares,
    stories,
)
from wardround.agents.history import interview, question_kinds, speech
from wardround.agents.history.figures import (
    UNSEEN,
    Figures,
    Weights,
    asked_figure,
    asked_words,
    describe,
    kind_figures,
    lack_figures,
    word_strengths,
)
from wardround.agents.history.question_kinds import HistoryQuestion
from wardround.agents.history.recall import Memory
from wardround.agents.history.weighing import allowed, decision_figures, worths

WEIGHTS = Path("agents/data/history/weights.csv")
FOLDS: tuple[tuple[str, ...], ...] = (
    ("fresh", "blind", "battery", "guide"),
    ("blind2", "stranger", "blind3"),
    ("blind4", "blind5", "blind6"),
    ("blind7",),
    *((author,) for author in QUOTED_AUTHORS),
)
"""Authors that are left out together; `tune` and `check` served to tune the rules, so nothing is fitted on them."""
_COUNTS = {"fresh": 0.5, "blind": 1.0, "battery": 0.5, "guide": 1.0}
"""How much a question of an early part counts; every other question counts 2."""
CAUTION = 1.2
_CAUTIONS = (0.7, 1.0, CAUTION, 1.6)
"""The cautions that `--left-out` compares."""
_MEASURED = 3
"""The first fold that `--left-out` measures: the authors of the hard sets."""
_DOUBT = 4
"""How many questions the share of an unseen word weighs as much as."""
_LEAST = 6
"""How often a word has to be asked to enter the table."""
_RIDGE = 0.006
_DECISION_RIDGE = 0.03
_STEPS = 70
_SMALL = 0.0005
"""A smaller weight is not written."""
Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """One question: the figures of silence and of each sentence, and the places of the right ones (0 is silence)."""

    part: str
    question: str
    silence: Figures
    sentences: Sequence[Figures]
    may_answer: Sequence[bool]
    right: Sequence[int]
    strengths: Sequence[Sequence[tuple[str, float]]]
    """For each sentence, the words of the question and how surely the sentence contains each."""

    def weighed(self, shares: Weights) -> "Choice":
        """Return the choice with the figures of missing words computed from these shares."""
        rows = [
            {**row, **lack_figures(words, shares)} for row, words in zip(self.sentences, self.strengths, strict=True)
        ]
        return replace(
            self, sentences=rows, silence={**self.silence, "asked words": asked_figure(self.question, shares)}
        )


def choice_of(asked: Asked, story: tuple[Mapping[str, str], str]) -> Choice | None:
    """Return the choice that a question poses.

    There is none if it is several questions, if the rules answer it alone, or if no sentence is right.
    """
    memory, voice = interview.memory_of(tuple(story[0].items()), story[1])
    parts = question_kinds.split_questions(asked.question)
    if len(parts) > 1:
        return None
    proposed = memory.recall(question_kinds.parse_question(parts[0]), _before(asked.after), "")
    right: list[int] | None = None
    if asked.expects:
        apt = label(asked, " ".join(interview.say(proposed, voice))) == "apt"
        said = [speech.say_fact(fact, voice) for fact in memory.facts]
        right = [
            place
            for place, (fact, text) in enumerate(zip(memory.facts, said, strict=True))
            if re.search(asked.expects, text, re.IGNORECASE) or (apt and fact in proposed.facts)
        ]
    return _choice(asked.part, memory, parts[0], _before(asked.after), right)


def choices_of(asked: Quoted, story: tuple[Mapping[str, str], str]) -> Iterator[Choice]:
    """Yield the choices that a turn's questions pose; if the record does not answer the turn, only the last one's."""
    memory, _ = interview.memory_of(tuple(story[0].items()), story[1])
    parts = question_kinds.split_questions(asked.question)[: interview.MOST]
    holders = holding(asked, story, memory.facts)
    earlier = _before(asked.after)
    for place, part in enumerate(parts):
        right: list[int] | None = None
        if asked.answerable == "yes":
            own = (
                holders[place : place + 1]
                if len(holders) == len(parts)
                else holders
                if min(len(holders), len(parts)) == 1
                else []
            )
            right = sorted(frozenset().union(*own))
        if right is not None or place == len(parts) - 1:
            choice = _choice(asked.author, memory, part, earlier, right)
            if choice is not None:
                yield choice
        earlier = [question_kinds.parse_question(part), *earlier]


def _before(text: str) -> list[HistoryQuestion]:
    return [question_kinds.parse_question(part) for part in reversed(question_kinds.split_questions(text))]


def _choice(
    part: str, memory: Memory, text: str, earlier: Sequence[HistoryQuestion], right: Sequence[int] | None
) -> Choice | None:
    """Return the choice that one question poses; `right` are the facts that answer it, None if the record does not."""
    question = question_kinds.parse_question(text)
    proposed = memory.recall(question, earlier, "")
    if proposed.sure or right == [] or not memory.facts:
        return None
    silence, rows = describe(memory, question, proposed, earlier, {})
    marks = [0] if right is None else [place + 1 for place in right]
    strengths = [word_strengths(question.text, fact) for fact in memory.facts]
    return Choice(part, question.text, silence, rows, allowed(memory, question, proposed), marks, strengths)


def word_shares(choices: Sequence[Choice], *, least: int = 1) -> Weights:
    """Return the weight of each word asked at least `least` times: the share of right sentences that contain it."""
    asked, matched = Counter[str](), dict[str, float]()
    for one in choices:
        best: dict[str, float] = {}
        for place in one.right:
            for word, strength in one.strengths[place - 1] if place else ():
                best[word] = max(best.get(word, 0.0), strength)
        asked.update(best.keys())
        for word, strength in best.items():
            matched[word] = matched.get(word, 0.0) + strength
    of_words = {
        ("word", word): (matched[word] + UNSEEN * _DOUBT) / (count + _DOUBT)
        for word, count in asked.items()
        if count >= least
    }
    return {**of_words, **_answered(choices, least=max(least, 3))}


def _answered(choices: Sequence[Choice], *, least: int) -> Weights:
    """Return for each word by how much it raises the log odds that a record answers a question with it."""
    share = sum(one.right != [0] for one in choices) / max(1, len(choices))
    asked, answered = Counter[str](), Counter[str]()
    for one in choices:
        words = asked_words(one.question)
        asked.update(words)
        answered.update(words if one.right != [0] else ())
    return {
        ("asked", word): math.log((answered[word] + share * _DOUBT) / (count - answered[word] + (1 - share) * _DOUBT))
        - math.log(share / (1 - share))
        for word, count in asked.items()
        if count >= least
    }


class Tables:
    """The figures of each choice as a table: a row for silence and for each sentence, a column for each figure."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        single = kind_figures()
        names = sorted(
            {("none", name) for one in choices for name in one.silence}
            | {("fact", name) for one in choices for row in one.sentences for name in row if name not in single}
        )
        self.at = {name: place for place, name in enumerate(names)}
        self._of = {one: _table(one, self.at) for one in choices}

    def together(self, choices: Sequence[Choice]) -> Vector:
        """Return the tables of these choices, one under the other."""
        return np.vstack([self._of[one] for one in choices])


def fit(choices: Sequence[Choice]) -> Weights:
    """Return all weights: the first fitted on every choice, the second on the choices of authors left out in turn."""
    weighed = [
        one.weighed(shares)
        for parts in FOLDS
        for shares in [word_shares([one for one in choices if one.part not in parts])]
        for one in choices
        if one.part in parts
    ]
    tables = Tables(weighed)
    decided: list[tuple[Figures, bool, float]] = []
    for parts in FOLDS:
        of_others = [one for one in weighed if one.part not in parts]
        own = [one for one in weighed if one.part in parts]
        if own and of_others:
            weights = rank(of_others, tables)
            for one in own:
                quiet, scores = worths(one.silence, one.sentences, one.may_answer, weights)
                best, figures = decision_figures(one.silence, one.sentences, quiet, scores)
                decided.append((figures, best + 1 in one.right, _COUNTS.get(one.part, 2.0)))
    return {**rank(weighed, tables), **decide(decided), **word_shares(choices, least=_LEAST)}


def rank(choices: Sequence[Choice], tables: Tables) -> dict[tuple[str, str], float]:
    """Return the weight of each figure of silence ('none') and of sentences ('fact')."""
    at, table = tables.at, tables.together(choices)
    sizes = [len(one.sentences) + 1 for one in choices]
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    owner = np.repeat(np.arange(len(choices)), sizes)
    right = np.zeros(len(table))
    for start, one in zip(starts, choices, strict=True):
        right[start + np.array(one.right)] = 1.0
    counts = np.array([_COUNTS.get(one.part, 2.0) for one in choices])
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

    best = minimize(loss, np.zeros(len(at)), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}).x
    return {name: float(best[place]) for name, place in at.items()}


def _table(one: Choice, at: Mapping[tuple[str, str], int]) -> Vector:
    table = np.zeros((len(one.sentences) + 1, len(at)))
    for name, figure in one.silence.items():
        table[0, at["none", name]] = figure
    for place, row in enumerate(one.sentences, 1):
        for name, figure in row.items():
            if ("fact", name) in at:
                table[place, at["fact", name]] = figure
    return table


def decide(decided: Sequence[tuple[Figures, bool, float]]) -> dict[tuple[str, str], float]:
    """Return the weights that decide whether the best sentence is said ('answer')."""
    names = sorted({name for figures, _, _ in decided for name in figures} - {"constant"})
    table = np.array([[figures.get(name, 0.0) for name in names] for figures, _, _ in decided])
    answers = np.array([float(answer) for _, answer, _ in decided])
    counts = np.array([count for _, _, count in decided])
    counts = counts / counts.sum()
    mean, spread = table.mean(axis=0), np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0)
    table = np.hstack([np.ones((len(table), 1)), (table - mean) / spread])

    def loss(weights: Vector) -> tuple[float, Vector]:
        worth = table @ weights
        chance = 1.0 / (1.0 + np.exp(-worth))
        bare = np.concatenate(([0.0], weights[1:]))
        lost = np.logaddexp(0.0, worth) - answers * worth
        slope: Vector = table.T @ (counts * (chance - answers)) + _DECISION_RIDGE * bare
        return float(counts @ lost + 0.5 * _DECISION_RIDGE * bare @ bare), slope

    best = minimize(loss, np.zeros(len(names) + 1), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}).x
    scaled = best[1:] / spread
    constant = float(best[0] - scaled @ mean) - CAUTION
    return {("answer", "constant"): constant} | {
        ("answer", name): float(weight) for name, weight in zip(names, scaled, strict=True)
    }


def left_out(choices: Sequence[Choice], of_case: Mapping[str, tuple[Mapping[str, str], str]]) -> Iterator[str]:
    """Yield the shares of apt, wrong and honest answers of each author, with weights fitted on the other authors.

    The last lines are the shares over all authors, for several cautions.
    """
    totals: dict[float, Counter[str]] = {caution: Counter() for caution in _CAUTIONS}
    for parts in FOLDS[_MEASURED:]:
        weights = fit([one for one in choices if one.part not in parts])
        for part in parts:
            for caution, total in totals.items():
                careful = _with_caution(weights, caution)
                counts = Counter(
                    label(one, reply_to(one, of_case[one.case], careful).text) for one in questions(part)
                ) + Counter(
                    label_quoted(one, reply_to(one, of_case[one.case], careful), of_case[one.case])
                    for one in quoted_questions(part)
                )
                total.update(counts)
                yield f"{part}, caution {caution}: {shares(counts)}"
    for caution, total in totals.items():
        yield f"all, caution {caution}: {shares(total)}"


def _with_caution(weights: Weights, caution: float) -> Weights:
    constant = ("answer", "constant")
    return {**weights, constant: weights[constant] + CAUTION - caution}


def main(arguments: Sequence[str]) -> None:
    """Fit and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--left-out", action="store_true", help="measure each author's questions, and write nothing")
    options = parser.parse_args(arguments)
    of_case = stories(options.data)
    posed = [choice_of(asked, of_case[asked.case]) for fold in FOLDS for part in fold for asked in questions(part)]
    choices = [one for one in posed if one is not None]
    for author in QUOTED_AUTHORS:
        for quoted in quoted_questions(author):
            choices += choices_of(quoted, of_case[quoted.case])
    if options.left_out:
        for line in left_out(choices, of_case):
            print(line, flush=True)
        return
    weights = fit(choices)
    with options.out.open("w", newline="") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(("of", "figure", "weight"))
        table.writerows((*name, f"{weight:.3f}") for name, weight in sorted(weights.items()) if abs(weight) >= _SMALL)


if __name__ == "__main__":
    main(sys.argv[1:])
