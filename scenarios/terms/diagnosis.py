"""Whether a stated diagnosis is the true one: a normalised lexical comparison (docs/matching.md)."""

import re
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.case import Truth
from wardround.scenarios.terms.disease import (
    Disease,
    conflict,
    coverage,
    disease,
    expanded,
    joined,
    named,
    names,
    others,
    rival,
    types,
    whole,
)
from wardround.scenarios.terms.statement import MOST, denies, statement
from wardround.scenarios.terms.vocabulary import roots, vocabulary
from wardround.scenarios.terms.wording import key, plain

ENOUGH = 0.66
"""Least weighted share of the words of a short name that one asserted sentence must hold."""

ENOUGH_LONG = 0.5
"""The same for a long name: a case report's label lists causes, sites and stages that no answer repeats in full."""

SHORT = 2.5
"""Total weight up to which a name is short: two words of its own and a site. All three were tuned on one half of the
judged answers (docs/matching.md) and leave room on purpose: they are round numbers."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Right or not, by which rule, and the weighted share of the truth's words that were said (0 to 1).

    Rules: exact (the name itself), words; and against: none (too few words), type (another type, grade or side),
    rival (another disease of that family), negated, undecided, empty.
    """

    match: bool
    rule: str
    score: float


def compare(answer: str, truth: Truth) -> Verdict:
    """Compare a stated diagnosis with the truth's label and synonyms.

    Truth plus complications is right; truth denied, or only among undecided alternatives, is not; another type
    (haemophilia B for A) is not. Pure and deterministic. A floor: free text that says the same in other words may be
    missed (agreement with model judges in docs/matching.md).
    """
    answer = answer[:MOST]
    if not key(answer):
        return Verdict(False, "empty", 0.0)
    labels = tuple(label for label in (truth.diagnosis, *truth.synonyms) if key(label))
    said = whole(answer.strip())
    if said in {whole(label) for label in labels}:
        return Verdict(True, "exact", 1.0)
    wanted = _wanted(labels)
    read = statement(answer, denials=not any(denies(label) for label in labels))
    best = _best(read.asserted, wanted)
    if best.match:
        return best
    for group in read.undecided:
        verdicts = [_best((part,), wanted) for part in group]
        if len(group) > 1 and all(verdict.match for verdict in verdicts):
            return verdicts[0]
        if any(verdict.match for verdict in verdicts):
            return Verdict(False, "undecided", max(verdict.score for verdict in verdicts))
    if best.rule not in _AGAINST and _best(read.denied, wanted).match:
        return Verdict(False, "negated", best.score)
    return best


_AGAINST = ("type", "rival")


@lru_cache(maxsize=1024)
def _wanted(labels: tuple[str, ...]) -> tuple[Disease, ...]:
    found: dict[str, None] = {}
    for label in labels:
        for name in names(label):
            # An abbreviation among the synonyms stands for the label, whatever else it may stand for elsewhere.
            found.update(dict.fromkeys((name, *(others(name) if not name.isupper() or label is labels[0] else ()))))
    return tuple(disease(name) for name in found)


def _best(segments: tuple[str, ...], wanted: tuple[Disease, ...]) -> Verdict:
    """The verdict on what the segments say: one by one, then, for an answer in several parts, together."""
    best = Verdict(False, "none", 0.0)
    together = [*segments, " with ".join(segments)] if len(segments) > 1 else list(segments)
    for segment in together:
        for name in wanted:
            verdict = _one(segment, name)
            if verdict.match:
                return verdict
            if (verdict.rule in _AGAINST, verdict.score) > (best.rule in _AGAINST, best.score):
                best = verdict
    return best


def _one(segment: str, name: Disease) -> Verdict:
    text = _unshifted(f"{segment} with {expanded(segment)}", name)
    words = roots(joined(text))
    score = coverage(name, frozenset(words), types(segment) | types(expanded(segment)))
    if not named(name, frozenset(words)) or score < (ENOUGH if sum(name.weights) <= SHORT else ENOUGH_LONG):
        return Verdict(False, "none", score)
    if conflict(name, f"{segment}; {expanded(segment)}"):
        return Verdict(False, "type", score)
    if rival(name, words):
        return Verdict(False, "rival", score)
    return Verdict(True, "exact" if name.form == whole(segment) else "words", score)


def _unshifted(text: str, name: Disease) -> str:
    """`text` without phrases in which the disease's name is part of another one's ('pulmonary hypertension')."""
    core = name.core
    for qualifier in vocabulary().shifts.get(core, ()):
        text = re.sub(
            rf"\b{re.escape(qualifier)}\w*\s+{re.escape(core)}\w*|\b{re.escape(core)}\w*\s+{re.escape(qualifier)}",
            " ",
            key(text),
        )
    return text


def opening_contains(truth: Truth, text: str) -> list[str]:
    """The names of the truth that `text` gives away, as whole words in any spelling; for `cases check`.

    Label and synonyms, each also without its brackets; abbreviations of two or three letters only in capitals, as
    'PE' is not 'pe'.
    """
    found = []
    words = f" {key(text)} "
    for label in (truth.diagnosis, *truth.synonyms):
        for name in dict.fromkeys((label, re.sub(r"\([^()]*\)", " ", label).strip())):
            short = len(plain(name)) <= 3
            if short and not re.search(rf"(?<!\w){re.escape(name.strip())}(?!\w)", text):
                continue
            if key(name) and f" {key(name)} " in words:
                found.append(" ".join(name.split()))
                break
    return list(dict.fromkeys(found))
