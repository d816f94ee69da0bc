"""What the scores of a judged episode are called: families of names, for each part of a reply, stage and turn."""

import re
from collections.abc import Container, Iterator
from typing import get_args

from wardround.evaluators.measure import Measure, Unit
from wardround.evaluators.reasoning.judged import Part

_PARTS = {"formal": "formal part", "thinking": "thinking part"}
_FIGURES: tuple[tuple[str, str, Unit, bool], ...] = (
    ("efficiency", "Efficiency", "share", True),
    ("factuality", "Factuality", "share", True),
    ("unverifiable", "Unverifiable steps", "share", True),
    ("completeness", "Completeness", "share", True),
    ("completeness_without_answer", "Completeness without the answer", "share", False),
    ("efficiency_low", "Efficiency, at least", "share", False),
    ("efficiency_high", "Efficiency, at most", "share", False),
    ("factuality_low", "Factuality, unverified as wrong", "share", False),
    ("factuality_high", "Factuality, unverified as correct", "share", False),
    ("steps", "Steps", "count", False),
)
_PUBLISHED = ("efficiency", "factuality", "completeness")


def _reasoning() -> Iterator[Measure]:
    """The figures of the reply that holds the answer; those of the formal part come first in a report."""
    for part in get_args(Part):
        for name, label, unit, first in _FIGURES:
            yield Measure(f"{name}_{part}", f"{label}, {_PARTS[part]}", unit, first and part == "formal")


def _published() -> Iterator[Measure]:
    """What the published code computes: names of their own, so that nobody compares them with the others."""
    labels = {name: label for name, label, _, _ in _FIGURES}
    for part in get_args(Part):
        for name in _PUBLISHED:
            label = f"{labels[name]}, {_PARTS[part]}, published rules"
            yield Measure(f"published_{name}_{part}", label, "share")
    yield Measure("published_treatment_accuracy", "Treatment accuracy, published rules", "share")
    yield Measure("published_assessment_precision", "Precision of examinations, published rules", "share")
    yield Measure("published_assessment_recall", "Recall of examinations, published rules", "share")


REASONING: tuple[Measure, ...] = tuple(_reasoning())
ASSESSMENT: tuple[Measure, ...] = (
    Measure("assessment_precision", "Precision of examinations, judged", "share", True),
    Measure("assessment_recall", "Recall of examinations, judged", "share", True),
)
JUDGES: tuple[Measure, ...] = (
    Measure("judge_agreement", "Votes on the outcome that agree", "share"),
    Measure("reasoning_agreement", "Questions on the reasoning with one voice", "share"),
    Measure("hostile_texts", "Texts that speak to the judge", "count"),
)
PUBLISHED: tuple[Measure, ...] = tuple(_published())

_BASES = {measure.name: (place, measure) for place, measure in enumerate((*REASONING, *PUBLISHED))}
_STAGE = re.compile(r"(?:examination|turn_([1-9]\d{0,4}))_(\w+)")


def staged(name: str) -> tuple[int, int, Measure] | None:
    """A figure of replies before the answer: (0 for `examination_`, N for `turn_N_`; place in its family; measure).

    `examination_` figures are over all such replies of an episode, `turn_N_` figures over one of the free turns. None
    for any other name.
    """
    found = _STAGE.fullmatch(name)
    if found is None or found[2] not in _BASES:
        return None
    turn, (place, base) = int(found[1] or 0), _BASES[found[2]]
    of = f"Turn {turn}" if turn else "Examination requests"
    return turn, place, Measure(name, f"{of}: {base.label[0].lower()}{base.label[1:]}", base.unit)


def untaken(name: str, taken: Container[str]) -> str:
    """Why an episode with the scores `taken` lacks the one of this name: it may have had fewer turns than another."""
    stage = staged(name)
    judged = any(f"{lead}efficiency_formal" in taken for lead in ("", "published_"))
    return NO_SUCH_TURN if stage and stage[0] and judged else "not_scored"


NO_SUCH_TURN = "no_such_turn"
"""Reason of a turn's figures in an episode that ended before it."""

UNDEFINED = frozenset(
    {"no_reference", "only_the_answer", "no_reasoning_step", "no_thinking", "no_words", "nothing_asked", NO_SUCH_TURN}
)
"""Reasons of judged figures that do not exist.

There was nothing to find (`no_reference`, `only_the_answer`), no step that claims anything (`no_reasoning_step`), no
such part (`no_thinking`; `no_words`: a typed action), no request (`nothing_asked`). `empty_reply` and `no_reasoning`
are not among them: the doctor had its chance. Neither is `nothing_verified`: the steps are there, and the bounds say
what they could be.
"""
