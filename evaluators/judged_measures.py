"""What the scores of a judged episode are called: families of names, for each part of a reply, stage and turn."""

import re
from collections.abc import Container, Iterator
from typing import get_args

from wardround.evaluators.measure import Measure, Part, Unit

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
_OPINION = ("opinion_factuality", "Factuality by evidence or the judge's own knowledge")
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
    yield Measure("published_treatment_accuracy", "Treatment accuracy, published rules", "share", False, True)
    yield Measure("published_assessment_precision", "Precision of examinations, published rules", "share")
    yield Measure("published_assessment_recall", "Recall of examinations, published rules", "share")


def _whole() -> Iterator[Measure]:
    """The figures of all turns as one reasoning: what a report shows first, in every scenario."""
    for part in get_args(Part):
        for name, label, unit, first in _FIGURES:
            yield Measure(
                f"whole_{name}_{part}", f"{label}, {_PARTS[part]}, all turns", unit, first and part == "formal"
            )
        yield Measure(f"whole_unseen_{part}", f"Steps on what was not told, {_PARTS[part]}", "share")
        yield Measure(f"whole_repetition_{part}", f"Steps that repeat an earlier turn, {_PARTS[part]}", "share")


def _opinions() -> Iterator[Measure]:
    """Factuality where judges may go by what they know: a name of its own, as no evidence stands behind it."""
    name, label = _OPINION
    for part in get_args(Part):
        yield Measure(f"{name}_{part}", f"{label}, {_PARTS[part]}", "share")


REASONING: tuple[Measure, ...] = tuple(_reasoning())
OPINIONS: tuple[Measure, ...] = tuple(_opinions())
WHOLE: tuple[Measure, ...] = (
    *_whole(),
    *(Measure(f"whole_{one.name}", f"{one.label}, all turns", one.unit) for one in OPINIONS),
)
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

_BASES = {measure.name: (place, measure) for place, measure in enumerate((*REASONING, *OPINIONS, *PUBLISHED))}
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


def superseded(name: str, taken: Container[str]) -> bool:
    """Whether the figure of the reply with the answer stands second to that of all turns, among the scores `taken`."""
    return f"whole_{name}" in taken


def untaken(name: str, taken: Container[str]) -> str:
    """Why an episode with the scores `taken` lacks the one of this name: it may have had fewer turns than another."""
    stage = staged(name)
    judged = any(f"{lead}efficiency_formal" in taken for lead in ("", "published_"))
    return NO_SUCH_TURN if stage and stage[0] and judged else "not_scored"


NO_SUCH_TURN = "no_such_turn"
"""Reason of a turn's figures in an episode that ended before it."""

UNDEFINED = frozenset(
    {
        *("no_reference", "only_the_answer", "no_reasoning_step", "no_thinking", "no_words", "nothing_asked"),
        *(NO_SUCH_TURN, "one_turn", "no_deciding_findings"),
    }
)
"""Reasons of judged figures that do not exist.

There was nothing to find (`no_reference`, `only_the_answer`), no step that claims anything (`no_reasoning_step`), no
such part (`no_thinking`; `no_words`: a typed action), no request (`nothing_asked`), no second turn (`one_turn`), no
finding named that decides the case (`no_deciding_findings`). `empty_reply` and `no_reasoning`
are not among them: the doctor had its chance. Neither is `nothing_verified`: the steps are there, and the bounds say
what they could be.
"""
