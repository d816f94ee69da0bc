"""Each sentence of a story weighed against a question: which one answers best, and whether it answers at all.

The rules of `recall` propose; this decides. A sentence is described by a few figures (how much of the question it
covers, whether it tells what the question is after, whether the rules proposed it). The first weights of
`data/history/weights.csv` say what each figure is worth and rank the sentences and silence. The second weights
(`answer`) decide between the best sentence and "I don't know". `scripts.fit_patient` fits both on questions with known
answers.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from wardround.agents.history import vocabulary
from wardround.agents.history.aims import aim_figures, aims_of
from wardround.agents.history.facts import COMPLAINT, TIME, Fact, distinct_facts
from wardround.agents.history.question_kinds import ATTRIBUTES, HistoryQuestion
from wardround.agents.history.recall import UNKNOWN, UNNOTICED, Memory, Recollection, sites_agree
from wardround.agents.history.vocabulary import history_rows, is_about

_DETAILS = {name: TIME if name == "onset" else pattern for name, _, pattern in ATTRIBUTES}
_PLACES = re.compile(
    r"\b(?:side|left|right|perianal|skull|axill\w*|buttock\w*|mucosa|generali[sz]ed|diffuse\w*|fold\w*)\b",
    re.IGNORECASE,
)
_KIN = re.compile(
    r"\b(?:famil|relat|mother|father|parent|brother|sister|uncle|aunt|grand|sibling|mum|dad|folks|cousin|son\b|daughter)",
    re.IGNORECASE,
)

_NEAR = 2.0
"""How near a second sentence has to come to be told too."""
_FAR = 8.0
SILENT = frozenset(("unknown", "unnoticed", "family"))
"""The kinds of recollection that hold no fact."""

Figures = Mapping[str, float]
Weights = Mapping[tuple[str, str], float]


def weigh(
    memory: Memory,
    question: HistoryQuestion,
    earlier: Sequence[HistoryQuestion],
    proposed: Recollection,
    weights: Weights | None = None,
) -> Recollection:
    """What the patient recalls: the proposal, a better sentence, or nothing."""
    if proposed.sure or not memory.facts or _leans(question, earlier) or not any(aims_of(question.text).shares):
        return proposed
    weights = fitted_weights() if weights is None else weights
    silence, rows = describe(memory, question, proposed)
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


def _leans(question: HistoryQuestion, earlier: Sequence[HistoryQuestion]) -> bool:
    """Whether it asks a detail of what was asked before ('Do you cough?' 'Since when?'): the rules know that."""
    if not (question.bare and question.details and earlier):
        return False
    return bool(earlier[0].findings) and not earlier[0].of_relatives


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
    """Which sentences may answer: the proposed ones, and of the others none of relatives unless asked about."""
    kin = _KIN.search(question.text) is not None
    return [fact in proposed.facts or kin or not fact.family for fact in memory.facts]


def _silent(question: HistoryQuestion) -> Recollection:
    return UNNOTICED if question.yes_no and question.findings and not question.topics else UNKNOWN


def describe(memory: Memory, question: HistoryQuestion, proposed: Recollection) -> tuple[Figures, list[Figures]]:
    """The figures of silence, and of each fact of the memory."""
    asked = vocabulary.units(question.text)
    known = frozenset(name for fact in memory.main for name in vocabulary.all_meanings(fact.text))
    rows: list[dict[str, float]] = []
    for fact in memory.facts:
        about = {f"@{topic.name}" for topic in question.topics if is_about(topic, fact.section, fact.text)}
        figures = _cover(asked, vocabulary.all_meanings(fact.text) | about, known)
        rows.append(figures | _kinds(memory, question, fact) | _rules(proposed, fact))
    top = max((row["cover"] for row in rows), default=0.0)
    rows = [row | {"best cover": float(row["cover"] >= top > 0)} for row in rows]
    unmet, aimed = aim_figures(question.text, memory.facts)
    rows = [row | _both(row, aim) for row, aim in zip(rows, aimed, strict=True)]
    unmet |= _nowhere(question, memory)
    if proposed.kind in SILENT:
        unmet |= {f"{name}, rules silent": figure for name, figure in unmet.items()}
        rows = [
            row
            | {f"{name}, rules silent": row[name] for name in ("cover", "all covered", "missing")}
            | {f"{name}, rules silent": figure for name, figure in aim.items()}
            for row, aim in zip(rows, aimed, strict=True)
        ]
    return {
        **unmet,
        "none": 1.0,
        "none, rules silent": float(proposed.kind in SILENT),
        "none, rules yes or no": float(proposed.kind in ("yes", "no")),
        "none, detail": float(bool(question.details)),
        "none, yes or no": float(question.yes_no),
        "none, words": min(sum(unit.weight for unit in asked), 5.0) / 5.0,
        "none, topic": float(bool(question.topics)),
        "none, of no kind asked": float(all(row["lacks the kind asked"] for row in rows)),
    }, [{**row, **aim} for row, aim in zip(rows, aimed, strict=True)]


def _both(row: Figures, aim: Figures) -> dict[str, float]:
    """Whether a sentence tells what the question is after and covers its words as well."""
    return {"aim and cover": aim["aim"] * row["cover"], "aim and new covered": aim["aim"] * row["new covered"]}


def _nowhere(question: HistoryQuestion, memory: Memory) -> dict[str, float]:
    """What of a question no sentence of the story tells: its symptoms, its topic."""
    findings = frozenset(name for fact in memory.facts for name in vocabulary.with_wider(fact.findings))
    lacks = float(bool(question.findings) and not question.findings & findings)
    topic = next(iter(question.topics), None)
    return {
        "finding told nowhere": lacks,
        "finding told nowhere, yes or no": lacks * question.yes_no,
        "topic told nowhere": float(
            topic is not None and not any(is_about(topic, fact.section, fact.text) for fact in memory.facts)
        ),
    }


def _rules(proposed: Recollection, fact: Fact) -> dict[str, float]:
    """Whether the rules proposed a sentence, first or later."""
    place = proposed.facts.index(fact) if fact in proposed.facts else -1
    return {"rules first": float(place == 0), "rules later": float(place > 0)}


def _cover(asked: Sequence[vocabulary.Unit], means: frozenset[str], known: frozenset[str]) -> dict[str, float]:
    """How much of the question a sentence covers; what is new in it (beside the complaint) counts for itself."""
    new = [unit for unit in asked if not unit.meanings & known]
    hits = [unit for unit in asked if unit.meanings & means]
    return {
        "cover": _share(asked, means),
        "all covered": float(bool(asked) and len(hits) == len(asked)),
        "new covered": _share(new, means),
        "new missing": min(2.0, sum(unit.weight for unit in new if not unit.meanings & means)) / 2.0,
        "missing": min(3.0, sum(unit.weight for unit in asked if not unit.meanings & means)) / 2.0,
    }


def _share(asked: Sequence[vocabulary.Unit], means: frozenset[str]) -> float:
    total = sum(unit.weight for unit in asked)
    return sum(unit.weight for unit in asked if unit.meanings & means) / total if total else 0.0


def _kinds(memory: Memory, question: HistoryQuestion, fact: Fact) -> dict[str, float]:
    """Whether a sentence is of the kind asked: detail, answer, topic, relatives, site, polarity."""
    hits = [_tells(name, fact, question) for name in question.details]
    kinds = [tells.search(fact.text) is not None for tells in _kinds_asked(question.text)]
    kin = _KIN.search(question.text) is not None
    related = fact.family or (kin and _KIN.search(fact.text) is not None)
    sited = bool(question.sites and fact.sites)
    agree = sited and sites_agree(question.sites, fact.sites)
    topic = next(iter(question.topics), None)
    own = topic is not None and topic.in_text.search(fact.text) is not None
    return {
        "detail": float(bool(hits) and hits[0]),
        "detail missing": float(bool(hits) and not any(hits)),
        "of the kind asked": float(any(kinds)),
        "lacks the kind asked": float(not all(kinds)),
        "open, denied": float(not question.yes_no and fact.denied),
        "relatives": float(kin and related),
        "relatives not asked": float(fact.family and not kin),
        "relatives not told": float(kin and not related),
        "topic": float(own),
        "topic's section": float(topic is not None and any(name in fact.section.lower() for name in topic.sections)),
        "site": float(agree),
        "other site": float(sited and not agree),
        "finding": float(bool(question.findings & fact.findings)),
        "finding missing": float(
            bool(question.findings) and not question.findings & vocabulary.with_wider(fact.findings)
        ),
        "finding affirmed": float(any(question.findings & item.findings and not item.denied for item in fact.items)),
        "finding denied": float(
            any(question.findings & vocabulary.with_wider(item.findings) and item.denied for item in fact.items)
        ),
        "topic missing": float(topic is not None and not is_about(topic, fact.section, fact.text)),
        "main": float(fact in memory.main),
        "complaint": float(fact.section == COMPLAINT),
    }


def _tells(detail: str, fact: Fact, question: HistoryQuestion) -> bool:
    """Whether a sentence tells this kind of detail; a place of the body only if it names one."""
    if detail == "place" and not question.topics:
        return bool(fact.sites) or _PLACES.search(fact.text) is not None
    return _DETAILS[detail].search(fact.text) is not None


@lru_cache(maxsize=8192)
def _kinds_asked(question: str) -> tuple[re.Pattern[str], ...]:
    """What a sentence has to tell that answers: a number for 'how many', a medicine for 'which tablets'."""
    return tuple(tells for asked, tells in _answer_kinds() if asked.search(question) is not None)


def worth(figures: Figures, sort: str, weights: Weights) -> float:
    """What the figures are worth together: as silence ('none'), as a sentence ('fact'), or as an answer ('answer')."""
    return sum(weights.get((sort, name), 0.0) * figure for name, figure in figures.items())


@cache
def _answer_kinds() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """Kinds of answer: what asks for one, and what a sentence that gives it holds (`answer_kinds.csv`)."""
    return tuple(
        (re.compile(row["asked"], re.IGNORECASE), re.compile(row["told"], re.IGNORECASE))
        for row in history_rows("answer_kinds.csv")
    )


@cache
def fitted_weights() -> Weights:
    """The weights of the table."""
    return {(row["of"], row["figure"]): float(row["weight"]) for row in history_rows("weights.csv")}
