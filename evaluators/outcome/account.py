"""How an outcome was judged, for a reader: the votes, what was looked up, and the words the verdict rests on."""

from typing import Literal

import msgspec

from wardround.evaluators.judging.panel import Vote
from wardround.evaluators.reasoning.account import Looked, Quoted
from wardround.evaluators.standing import Goal

Basis = Literal["same", "included", "evidence", "none", "no plan", ""]
"""By which rule a plan is right or wrong (plan.PlanVerdict)."""


class OutcomeAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer as judged: `value` is 1.0, 0.0, or None with a `reason`; `published` the same under those rules.

    `votes` of a diagnosis are true and false, those of a treatment the words of plan.PlanVerdict, each after its
    quotations were looked for; `basis` is the rule behind most votes for the verdict. `judges` maps seat to SPEC,
    `floor`: a lexical judge is among them. `flags` are signs of text that speaks to the judge (judging/hostile.py).
    Of a ranked list this is the account of the first `entry`, and `further` are those of the others that were judged.
    """

    goal: Goal
    value: float | None
    votes: tuple[Vote, ...]
    judges: dict[str, str]
    floor: bool
    reason: str = ""
    published: float | None = None
    published_reason: str = ""
    basis: Basis = ""
    quoted: tuple[Quoted, ...] = ()
    looked: tuple[Looked, ...] = ()
    flags: tuple[str, ...] = ()
    entry: str = ""
    further: tuple["OutcomeAccount", ...] = ()
