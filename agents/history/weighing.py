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
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from wardround.agents.history import vocabulary
from wardround.agents.history.aims import aim_figures, aims_of
from wardround.agents.history.facts import COMPLAINT, TIME, Fact, distinct_facts
from wardround.agents.history.question_kinds import ATTRIBUTES, HistoryQuestion
from wardround.agents.history.recall import UNKNOWN, UNNOTICED, Memory, Recollection, sites_agree
from wardround.agents.history.vocabulary import history_rows, is_about
from wardround.agents.history.word_vectors import likeness_figures

_DETAILS = {name: TIME if name == "onset" else pattern for name, _, pattern in ATTRIBUTES}
_BACKGROUND = re.compile(r"demograph|past|social|family|allerg|medication|surg", re.IGNORECASE)
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
_SILENT = frozenset(("unknown", "unnoticed", "family"))

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
    silence, rows = describe(memory, question, earlier, proposed)
    quiet, scores = worths(silence, rows, allowed(memory, question, proposed), weights)
    best, decision = decision_figures(silence, rows, quiet, scores)
    if worth(decision, "answer", weights) <= 0.0:
        return proposed if proposed.kind in _SILENT else _silent(question)
    fact = memory.facts[best]
    if fact in proposed.facts and (proposed.kind == "no" or len(proposed.facts) > 1):
        return proposed
    chosen = proposed if fact in proposed.facts else Recollection("facts", (fact,))
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    near = [memory.facts[place] for place in order[1:2] if scores[place] > max(quiet, scores[best] - _NEAR)]
    return replace(chosen, facts=tuple(distinct_facts([fact, *near])))


def _leans(question: HistoryQuestion, earlier: Sequence[HistoryQuestion]) -> bool:
    """Whether it asks a detail of what was asked before ('Do you cough?' 'Since when?'): the rules know that."""
    return question.bare and bool(question.details) and bool(earlier) and bool(earlier[0].findings)


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
    return [fact in proposed.facts or (fact.section != COMPLAINT and (kin or not fact.family)) for fact in memory.facts]


def _silent(question: HistoryQuestion) -> Recollection:
    return UNNOTICED if question.yes_no and question.findings and not question.topics else UNKNOWN


def describe(
    memory: Memory, question: HistoryQuestion, earlier: Sequence[HistoryQuestion], proposed: Recollection
) -> tuple[Figures, list[Figures]]:
    """The figures of silence, and of each fact of the memory."""
    asked = vocabulary.units(question.text)
    known = frozenset(name for fact in memory.main for name in vocabulary.all_meanings(fact.text))
    story = [
        vocabulary.all_meanings(fact.text)
        | {f"@{topic.name}" for topic in question.topics if is_about(topic, fact.section, fact.text)}
        for fact in memory.facts
    ]
    context = vocabulary.all_meanings(earlier[0].text) if earlier and question.bare else frozenset[str]()
    rare = {name: _rarity(name, story) for unit in asked for name in unit.meanings}
    rows: list[Figures] = []
    for fact, means in zip(memory.facts, story, strict=True):
        figures: dict[str, float] = {}
        figures |= _cover(asked, means, known, rare)
        pieces = [vocabulary.all_meanings(item.text) for item in fact.items]
        figures["clause"] = max((_share(asked, piece) for piece in pieces), default=0.0)
        figures["context"] = len(context & means) / (len(context) or 1)
        figures |= _kinds(memory, question, fact)
        figures |= _proposals(figures, question, proposed, fact)
        rows.append(figures)
    top = max((row["cover"] for row in rows), default=0.0)
    for row in rows:
        assert isinstance(row, dict)
        row["best cover"] = float(row["cover"] >= top > 0)
    weight = sum(unit.weight for unit in asked)
    unmet, aimed = aim_figures(question.text, memory.facts)
    unlike, alike = likeness_figures(question.text, memory.facts)
    unlike |= unmet
    alike = [row | more for row, more in zip(alike, aimed, strict=True)]
    if proposed.kind in _SILENT:
        unlike |= {f"{name}, rules silent": figure for name, figure in unlike.items()}
        alike = [row | {f"{name}, rules silent": figure for name, figure in row.items()} for row in alike]
    return {
        **unlike,
        "none": 1.0,
        "none, rules silent": float(proposed.kind in _SILENT),
        "none, rules yes or no": float(proposed.kind in ("yes", "no")),
        "none, detail": float(bool(question.details)),
        "none, yes or no": float(question.yes_no),
        "none, words": min(weight, 5.0) / 5.0,
        "none, topic": float(bool(question.topics)),
    }, [{**row, **more} for row, more in zip(rows, alike, strict=True)]


def _proposals(figures: Figures, question: HistoryQuestion, proposed: Recollection, fact: Fact) -> dict[str, float]:
    """Whether the rules proposed a sentence, and what they were when they did, or when they were silent."""
    place = proposed.facts.index(fact) if fact in proposed.facts else -1
    first, silent = float(place == 0), float(proposed.kind in _SILENT)
    of_first = {
        "covered": figures["cover"],
        "expected missing": figures["expected missing"],
        "section": figures["topic's section"],
        "missing": figures["missing"],
        "new missing": figures["new missing"],
        "yes or no": float(proposed.kind in ("yes", "no")),
        "topic": float(bool(question.topics)),
        "detail": float(bool(question.details)),
        "finding": float(bool(question.findings)),
    }
    return {
        "rules first": first,
        "rules later": float(place > 0),
        **{f"rules first, {name}": figure * first for name, figure in of_first.items()},
        **{f"{name}, rules silent": figures[name] * silent for name in ("cover", "all covered", "missing", "rarity")},
    }


def _cover(
    asked: Sequence[vocabulary.Unit], means: frozenset[str], known: frozenset[str], rare: Mapping[str, float]
) -> dict[str, float]:
    """How much of the question a sentence covers; what is new in it (beside the complaint) counts for itself."""
    new = [unit for unit in asked if not unit.meanings & known]
    hits = [unit for unit in asked if unit.meanings & means]
    return {
        "cover": _share(asked, means),
        "all covered": float(bool(asked) and len(hits) == len(asked)),
        "all covered, words": min(sum(unit.weight for unit in hits), 4.0) / 4.0 if len(hits) == len(asked) else 0.0,
        "words covered": min(sum(unit.weight for unit in hits), 4.0) / 4.0,
        "new covered": _share(new, means),
        "new missing": min(2.0, sum(unit.weight for unit in new if not unit.meanings & means)) / 2.0,
        "missing": min(3.0, sum(unit.weight for unit in asked if not unit.meanings & means)) / 2.0,
        "same words": sum(unit.weight for unit in hits if any(name[0] == "=" for name in unit.meanings & means)) / 3.0,
        "rare cover": sum(
            unit.weight * max((rare[name] for name in unit.meanings & means), default=0.0) for unit in hits
        )
        / (sum(unit.weight for unit in asked) or 1.0),
        "narrow cover": sum(unit.weight * _narrowness(unit, means) for unit in hits)
        / (sum(unit.weight for unit in asked) or 1.0),
        "rarity": max((rare[name] for unit in hits for name in unit.meanings & means), default=0.0),
    }


def _share(asked: Sequence[vocabulary.Unit], means: frozenset[str]) -> float:
    total = sum(unit.weight for unit in asked)
    return sum(unit.weight for unit in asked if unit.meanings & means) / total if total else 0.0


def _narrowness(unit: vocabulary.Unit, means: frozenset[str]) -> float:
    """How near the narrowest shared meaning of a word is to the narrowest that it has; the same word is the nearest."""
    shared = unit.meanings & means
    if any(name[0] == "=" for name in shared):
        return 1.0
    narrow = max((vocabulary.narrowness(name) for name in unit.meanings if name[0] != "="), default=1.0)
    return max((vocabulary.narrowness(name) for name in shared), default=0.0) / narrow


def _rarity(name: str, story: Sequence[frozenset[str]]) -> float:
    """How few sentences of the story hold a meaning, from 0 (all) to 1 (one)."""
    holding = sum(name in means for means in story)
    return 0.0 if not holding or len(story) < 2 else 1.0 - math.log(holding) / math.log(len(story))


def _kinds(memory: Memory, question: HistoryQuestion, fact: Fact) -> dict[str, float]:
    """Whether a sentence is of the kind asked: detail, topic, relatives, site, polarity, time."""
    tells = _telling(fact.section, fact.text)
    expected = [tells.expected[place] for place in _expects(question.text)]
    hits = [_tells(name, fact, question) for name in question.details]
    kin = _KIN.search(question.text) is not None
    related = fact.family or (kin and tells.kin)
    present = not tells.background and not fact.family
    bare = all(unit.weight < 1.0 for unit in vocabulary.units(question.text))
    sited = bool(question.sites and fact.sites)
    agree = sited and sites_agree(question.sites, fact.sites)
    past = tells.background
    topic = next(iter(question.topics), None)
    own = topic is not None and topic.in_text.search(fact.text) is not None
    return {
        "detail": float(bool(hits) and hits[0]),
        "detail missing": float(bool(hits) and not any(hits)),
        "detail of 'it'": float(bool(hits) and hits[0] and bare and present and not fact.denied),
        "detail in main": float(bool(hits) and hits[0] and fact in memory.main),
        "expected": float(any(expected)),
        "expected missing": float(sum(not met for met in expected)),
        "open, denied": float(not question.yes_no and fact.denied),
        "relatives": float(kin and related),
        "relatives not asked": float(fact.family and not kin),
        "relatives not told": float(kin and not related),
        "topic": float(own),
        "topic's section": float(topic is not None and any(name in fact.section.lower() for name in topic.sections)),
        "site": float(agree),
        "other site": float(sited and not agree),
        "finding": float(bool(question.findings & fact.findings)),
        "main": float(fact in memory.main),
        "complaint": float(fact.section == COMPLAINT),
        "background": float(past),
        "background, topic": float(past and topic is not None),
        "length": min(len(fact.text), 300) / 300,
        "place": fact.place / max(1, len(memory.facts)),
    }


def _tells(detail: str, fact: Fact, question: HistoryQuestion) -> bool:
    """Whether a sentence tells this kind of detail; a place of the body only if it names one."""
    if detail == "place" and not question.topics:
        return bool(fact.sites) or _PLACES.search(fact.text) is not None
    return detail in _telling(fact.section, fact.text).details


@dataclass(frozen=True, slots=True)
class _Telling:
    """What a sentence tells whatever is asked: kinds of detail, expected words, relatives, and from the background."""

    details: frozenset[str]
    expected: tuple[bool, ...]
    kin: bool
    background: bool


@lru_cache(maxsize=8192)
def _telling(section: str, text: str) -> _Telling:
    return _Telling(
        frozenset(name for name, pattern in _DETAILS.items() if pattern.search(text) is not None),
        tuple(answer.search(text) is not None for _, answer in _expected()),
        _KIN.search(text) is not None,
        _BACKGROUND.search(section) is not None,
    )


@lru_cache(maxsize=8192)
def _expects(question: str) -> tuple[int, ...]:
    """Which rows of the expected words a question calls for."""
    return tuple(place for place, (ask, _) in enumerate(_expected()) if ask.search(question) is not None)


def worth(figures: Figures, sort: str, weights: Weights) -> float:
    """What the figures are worth together: as silence ('none'), as a sentence ('fact'), or as an answer ('answer')."""
    return sum(weights.get((sort, name), 0.0) * figure for name, figure in figures.items())


@cache
def _expected() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """What words of a question let one expect in the sentence that answers it (`expected.csv`)."""
    return tuple(
        (re.compile(row["asked"], re.I), re.compile(row["told"], re.I)) for row in history_rows("expected.csv")
    )


@cache
def fitted_weights() -> Weights:
    """The weights of the table."""
    return {(row["of"], row["figure"]): float(row["weight"]) for row in history_rows("weights.csv")}
