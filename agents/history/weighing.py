"""Each sentence of a story weighed against a question: which one answers best, and whether it answers at all.

The rules of `recall` propose; this decides. A sentence is described by a few figures (how much of the question it
covers, whether it tells what the question is after, whether the rules proposed it). The first weights of
`data/history/weights.csv` say what each figure is worth and rank the sentences and silence. The second weights
(`answer`) decide between the best sentence and "I don't know". `scripts.fit_patient` fits both on questions with known
answers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from wardround.agents.history.facts import COMPLAINT, distinct_facts
from wardround.agents.history.figures import KIN, SILENT, Figures, describe
from wardround.agents.history.question_kinds import HistoryQuestion
from wardround.agents.history.recall import UNKNOWN, UNNOTICED, Memory, Recollection
from wardround.agents.history.vocabulary import history_rows

_NEAR = 2.0
"""How near a second sentence has to come to be told too."""
_FAR = 8.0

_PAIRED = (
    "best, strength",
    "best, weakest word",
    "best, lacks the kind asked",
    "best, lacks the kind nearby",
    "best, lacks the place asked",
    "best, circumstance missing",
    "best, aim",
    "best, cover",
    "best, topic missing",
    "best, rules first",
    "lead",
    "chance of silence",
    "silence, none, yes or no",
    "silence, none, follows",
)
"""Figures of the decision that count together as well: much of the question is covered, but its number is not told."""

Weights = Mapping[tuple[str, str], float]


def weigh(
    memory: Memory,
    question: HistoryQuestion,
    earlier: Sequence[HistoryQuestion],
    proposed: Recollection,
    weights: Weights | None = None,
) -> Recollection:
    """What the patient recalls: the proposal, a better sentence, or nothing."""
    if proposed.sure or not memory.facts:
        return proposed
    weights = fitted_weights() if weights is None else weights
    silence, rows = describe(memory, question, proposed, earlier)
    quiet, scores = worths(silence, rows, allowed(memory, question, proposed), weights)
    best, decision = decision_figures(silence, rows, quiet, scores)
    if worth(decision, "answer", weights) <= 0.0:
        return proposed if proposed.kind in SILENT else _silent(question)
    fact = memory.facts[best]
    if fact in proposed.facts and (proposed.kind == "no" or len(proposed.facts) > 1):
        return proposed
    chosen = proposed if fact in proposed.facts else Recollection("facts", (fact,))
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    near = [memory.facts[place] for place in order[1:2] if scores[place] > max(quiet, scores[best] - _NEAR)]
    near = [other for other in near if other.section != COMPLAINT]  # the doctor has read it
    return replace(chosen, facts=tuple(distinct_facts([fact, *near])))


def worths(
    silence: Figures, rows: Sequence[Figures], may_answer: Sequence[bool], weights: Weights
) -> tuple[float, list[float]]:
    """What silence is worth, and each sentence; minus infinity for one that may not answer."""
    return worth(silence, "none", weights), [
        worth(row, "fact", weights) if may else -math.inf for row, may in zip(rows, may_answer, strict=True)
    ]


def decision_figures(
    silence: Figures, rows: Sequence[Figures], quiet: float, scores: Sequence[float]
) -> tuple[int, dict[str, float]]:
    """The place of the best sentence, and the figures by which it answers or not."""
    first, *others = sorted(scores, reverse=True)
    best = scores.index(first)
    top = max(first, quiet)
    total = math.exp(quiet - top) + sum(math.exp(score - top) for score in scores)
    lead = min(first - others[0], _FAR) if others else _FAR
    figures = {
        "constant": 1.0,
        "before silence": max(first - quiet, -_FAR),
        "lead": lead if first > -math.inf else 0.0,
        "chance of silence": math.exp(quiet - top) / total,
        "silence": quiet,
        "sentences": math.log(len(scores) + 1),
        **{f"best, {name}": figure for name, figure in rows[best].items()},
        **{f"silence, {name}": figure for name, figure in silence.items()},
    }
    pairs = {
        f"{one}; {other}": figures[one] * figures[other]
        for place, one in enumerate(_PAIRED)
        for other in _PAIRED[place + 1 :]
    }
    return best, figures | pairs


def allowed(memory: Memory, question: HistoryQuestion, proposed: Recollection) -> list[bool]:
    """Which sentences may answer: the proposed ones, and of the others none of relatives unless asked about."""
    kin = KIN.search(question.text) is not None
    return [fact in proposed.facts or kin or not fact.family for fact in memory.facts]


def _silent(question: HistoryQuestion) -> Recollection:
    return UNNOTICED if question.yes_no and question.findings and not question.topics else UNKNOWN


def worth(figures: Figures, sort: str, weights: Weights) -> float:
    """What the figures are worth together: as silence ('none'), as a sentence ('fact'), or as an answer ('answer')."""
    return sum(weights.get((sort, name), 0.0) * figure for name, figure in figures.items())


@cache
def fitted_weights() -> Weights:
    """The weights of the table."""
    return {(row["of"], row["figure"]): float(row["weight"]) for row in history_rows("weights.csv")}
