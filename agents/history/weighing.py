"""Each sentence of a story weighed against a question: which one answers best, and whether it answers at all.

The rules of `recall` propose; this decides. A sentence is described by a few figures (how much of the question it
covers, whether it tells what the question is after, whether the rules proposed it). The first weights of
`data/history/weights.csv` say what each figure is worth and rank the sentences and silence. The second weights
(`answer`) decide between the best sentence and "I don't know". `scripts.fit_patient` fits both on questions with known
answers.
"""

import math
import re
from collections.abc import Sequence
from functools import cache

from msgspec.structs import replace

from wardround.agents.history.aims import aim_share
from wardround.agents.history.facts import COMPLAINT, Fact, distinct_facts, story_facts
from wardround.agents.history.figures import KIN, PLACE_ASKED, SILENT, Figures, Weights, describe, kind_figures
from wardround.agents.history.phrasing import nothing_in
from wardround.agents.history.question_kinds import RELATED, HistoryQuestion, parse_question
from wardround.agents.history.recall import UNKNOWN, UNNOTICED, Memory, Recollection
from wardround.agents.history.vocabulary import history_rows, with_wider

NEARLY = 1.0
"""How far short of an answer the nearest sentence may fall and still be told, with the remark that no more is known."""
_HARDLY_LESS = 0.5
"""How far short it may fall if it lacks something that was asked."""
_NEAR = 2.0
"""How far behind the best sentence a second one may be and still be told too."""
_LEAST_SHARE = 0.15
"""The least share of a question that is about illnesses of the family, for 'none' of the family to answer it."""
_LISTS = re.compile(r"\b(?:or|and)\b|,", re.IGNORECASE)
"""Joins the symptoms of a question that names several."""
_FAR = 8.0
"""The largest lead, over silence or over another sentence, that is counted."""


def weigh(
    memory: Memory,
    question: HistoryQuestion,
    earlier: Sequence[HistoryQuestion],
    proposed: Recollection,
    weights: Weights | None = None,
) -> Recollection:
    """What the patient recalls: the proposal, a better sentence, the nearest one if it may answer, or nothing."""
    if proposed.sure or not memory.facts:
        return proposed
    weights = fitted_weights() if weights is None else weights
    silence, rows = describe(memory, question, proposed, earlier, weights)
    quiet, scores = worths(silence, rows, allowed(memory, question, proposed), weights)
    best, decision = decision_figures(silence, rows, quiet, scores)
    sure = worth(decision, "answer", weights)
    fact = memory.facts[best]
    if sure <= 0.0:
        tells = sure > -_HARDLY_LESS or (sure > -NEARLY and not _misses(question, rows[best]))
        if tells and proposed.kind != "family":
            return (
                replace(proposed, nearest=True)
                if proposed.denied and fact in proposed.facts
                else Recollection("facts", (fact,), nearest=True)
            )
        return proposed if proposed.kind in SILENT and question.yes_no else _silent(question)
    if fact in proposed.facts and (proposed.kind == "no" or len(proposed.facts) > 1):
        return replace(proposed, nearest=_leaves_some(question, proposed.facts))
    chosen = proposed if fact in proposed.facts else Recollection("facts", (fact,))
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    near = [memory.facts[place] for place in order[1:2] if scores[place] > max(quiet, scores[best] - _NEAR)]
    # The doctor has read the complaint, and 'where is it?' asks for no denial.
    near = [other for other in near if other.section != COMPLAINT and (question.yes_no or not other.denied)]
    facts = tuple(distinct_facts([fact, *near]))
    return replace(chosen, facts=facts, nearest=_leaves_some(question, facts))


def _leaves_some(question: HistoryQuestion, facts: Sequence[Fact]) -> bool:
    """Whether the sentences tell of some of several symptoms that a question names, and not of all."""
    named = with_wider(name for fact in facts for name in fact.findings)
    known = question.findings & named
    return question.yes_no and bool(known) and known != question.findings and _LISTS.search(question.text) is not None


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
    return best, {
        "constant": 1.0,
        "before silence": max(first - quiet, -_FAR),
        "lead": lead if first > -math.inf else 0.0,
        "chance of silence": math.exp(quiet - top) / total,
        "silence": quiet,
        "sentences": math.log(len(scores) + 1),
        **{f"best, {name}": figure for name, figure in rows[best].items()},
        **{f"silence, {name}": figure for name, figure in silence.items()},
    }


def allowed(memory: Memory, question: HistoryQuestion, proposed: Recollection) -> list[bool]:
    """Which sentences may answer.

    Those that the rules propose may, and of the others those of relatives only if the question is about relatives. A
    denial never answers where something is. "None" of the family answers only a question about the family's illnesses.
    """
    kin, where = KIN.search(question.text) is not None, PLACE_ASKED.search(question.text) is not None
    kin_ill = kin and RELATED.search(question.text) is None
    kin_ill = kin_ill and aim_share("family illness", question.text) >= _LEAST_SHARE
    return [
        (fact in proposed.facts or kin or not fact.family)
        and not (where and fact.denied)
        and (kin_ill or not (fact.family and nothing_in("family", fact.text)))
        for fact in memory.facts
    ]


def _misses(question: HistoryQuestion, row: Figures) -> bool:
    """Whether a sentence is about another site, lacks the kind asked, or what a yes-or-no question names."""
    return any(
        row[name]
        for name in ("other site", "lacks the kind asked", "finding missing", "topic missing")
        if question.yes_no or not name.endswith("missing")
    )


def _silent(question: HistoryQuestion) -> Recollection:
    return UNNOTICED if question.yes_no and question.findings and not question.topics else UNKNOWN


def worth(figures: Figures, sort: str, weights: Weights) -> float:
    """What the figures are worth together: as silence ('none'), as a sentence ('fact'), or as an answer ('answer')."""
    return sum(weights.get((sort, name), 0.0) * figure for name, figure in figures.items())


@cache
def fitted_weights() -> Weights:
    """The weights of the table."""
    return checked_weights({(row["of"], row["figure"]): float(row["weight"]) for row in history_rows("weights.csv")})


def checked_weights(weights: Weights) -> Weights:
    """The weights; ValueError if one of them weighs a figure that nothing computes."""
    memory = Memory(story_facts({"History": "A cough."}))
    silence, rows = describe(memory, parse_question("Whereabouts?"), UNKNOWN, (), {})
    known = {"none": silence, "fact": rows[0], "answer": decision_figures(silence, rows, 0.0, [0.0])[1]}
    kinds = kind_figures() | {f"best, {name}" for name in kind_figures()}
    for sort, name in weights:
        if sort not in ("word", "asked") and name not in known.get(sort, {}) and name not in kinds:
            raise ValueError(f"weights.csv: no figure {name!r} of {sort!r}")
    return weights
