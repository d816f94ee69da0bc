"""How like a question each sentence of a story is: by the vectors of their words, and by what the question is after."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from wardround.agents.history import meaning
from wardround.agents.history.aims import VIEWS, Aims, aims_met, aims_of
from wardround.agents.history.facts import Fact
from wardround.agents.history.word_vectors import alignment, likeness

_AGAINST_BEST = ("like", "like clause", "aligned", *(f"aim alone by {view}" for view, *_ in VIEWS))
"""Figures that count by how far a sentence is behind the best one of the story."""


def likeness_figures(
    question: str, facts: Sequence[Fact], *, silent: bool
) -> tuple[Mapping[str, float], list[dict[str, float]]]:
    """The figures of silence, and of each fact; `silent` says whether the rules found nothing, where more is needed."""
    asked = meaning.units(question)
    words, weights = [unit.text for unit in asked], [unit.weight for unit in asked]
    silence: dict[str, float] = {}
    rows: list[dict[str, float]] = []
    for fact in facts:
        aligned, best_word = alignment(words, weights, fact.text)
        like = {"like": likeness(question, fact.text), "like clause": _like_clause(question, fact)}
        rows.append({**like, "aligned": aligned, "aligned word": best_word})
    tells = [aims_met(fact.section, fact.text) for fact in facts]
    for (view, *_), aims in zip(VIEWS, aims_of(question), strict=True):
        unmet, met = _aimed(view, aims, tells)
        silence |= unmet
        rows = [{**row, **more} for row, more in zip(rows, met, strict=True)]
    for name in _AGAINST_BEST:
        values = [row[name] for row in rows]
        best, mean = max(values), sum(values) / len(values)
        silence[f"none, {name}"] = best
        for row in rows:
            row[f"{name}, behind"] = row[name] - best
            row[f"{name}, above mean"] = row[name] - mean
            row[f"{name}, best"] = float(row[name] >= best)
    if silent:
        silence |= {f"{name}, rules silent": value for name, value in silence.items()}
        rows = [row | {f"{name}, rules silent": value for name, value in row.items()} for row in rows]
    return silence, rows


def _aimed(view: str, aims: Aims, tells: Sequence[tuple[bool, ...]]) -> tuple[dict[str, float], list[dict[str, float]]]:
    """Whether a sentence tells what the question is after; what few sentences tell counts more."""
    holding = [sum(one[place] for one in tells) for place in range(len(aims.shares))]
    top = max(range(len(aims.shares)), key=lambda place: (aims.shares[place], -place))
    rows: list[dict[str, float]] = []
    for own in tells:
        met = [(share, holding[place]) for place, share in enumerate(aims.shares) if share and own[place]]
        rows.append(
            {
                f"aim by {view}": sum(share for share, _ in met),
                f"aim alone by {view}": sum(share / math.sqrt(count) for share, count in met),
                f"first aim by {view}": aims.shares[top] if own[top] else 0.0,
            }
        )
    return {
        f"none, aims untold by {view}": sum(share for at, share in enumerate(aims.shares) if not holding[at]),
        f"none, nearest example by {view}": aims.nearest,
        f"none, sure of aim by {view}": aims.shares[top],
    }, rows


@lru_cache(maxsize=32768)
def _like_clause(question: str, fact: Fact) -> float:
    """How like the question the most alike clause of a fact is."""
    clauses = [item.text for item in fact.items if len(item.text) > 2] or [fact.text]
    return max(likeness(question, clause) for clause in clauses)
