"""Whether an answer is right: the lexical comparison of diagnoses and plans, and passages that speak for a plan."""

import re
from collections.abc import Sequence

from wardround.engine.records import Json
from wardround.evaluators.lexical.content import sentences
from wardround.evaluators.lexical.judgment import settled
from wardround.evaluators.lexical.keywords import keywords
from wardround.evaluators.outcome.questions import ALSO
from wardround.scenarios.case import Truth
from wardround.scenarios.terms import diagnosis, treatment

PLAN, CASE = 6, 4
"""Words of a query from the plan, and from the case."""

_TREATING = re.compile(
    r"\b(?:treat\w*|therap\w*|recommend\w*|first[ -]line|manag\w*|prescri\w*|surg\w*|indicated|choice)\b", re.IGNORECASE
)


def diagnosis_right(reference: str, answer: str) -> bool:
    """Whether an answer names the disease: the lexical verdict of the scores (docs/matching.md)."""
    label, *others = re.split(rf"\n(?={re.escape(ALSO)})", reference)
    synonyms = tuple(other.removeprefix(ALSO).strip() for other in others)
    return diagnosis.compare(answer, Truth(diagnosis=label.strip(), synonyms=synonyms)).match


def plan_verdict(reference: str, passages: Sequence[str], answer: str) -> dict[str, Json]:
    """The verdict on a plan with its basis and evidence (paper 002, prompt 20).

    `same` if either plan names the key terms of the other, `included` if the answer names those of the reference;
    `evidence` if a sentence about treating says what the answer says, or its opposite; else unverifiable.
    """
    if treatment.compare(answer, Truth(treatment=reference)).match:
        same = treatment.compare(reference, Truth(treatment=answer)).match
        return {"verdict": "correct", "basis": "same" if same else "included", "evidence": []}
    about = ["\n".join(said for said in sentences(passage) if _TREATING.search(said)) for passage in passages]
    match = settled("", about, answer)
    if match is None:
        return {"verdict": "unverifiable", "basis": "none", "evidence": []}
    verdict = "correct" if match.agrees else "wrong"
    return {"verdict": verdict, "basis": "evidence", "evidence": [{"passage": match.passage, "quote": match.quote}]}


def plan_keywords(case: str, answer: str) -> str:
    """What to look up to judge a plan: its rarest words, then the case's."""
    asked = (keywords([answer], most=PLAN), keywords([case], most=CASE))
    return ", ".join(part for part in asked if part)
