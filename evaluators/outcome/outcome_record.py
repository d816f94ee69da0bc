"""How an outcome was judged, for a reader: votes, passages, plans and paired examinations."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, cast

import msgspec

from wardround.engine.records import Json, Score
from wardround.evaluators.evaluation import Goal
from wardround.evaluators.judges.panel import Answer, Judge, Panel, Reading, Sample, Vote, answered
from wardround.evaluators.judges.strict_reply import Unread, claimed, field, needed, payload, single, unread, word
from wardround.evaluators.outcome import questions
from wardround.evaluators.outcome.items import Item, Paired, Places, matched, precision_recall
from wardround.evaluators.reasoning.reasoning_record import Looked, Quoted

Basis = Literal["same", "included", "evidence", "none", "no plan", ""]
"""By which rule a plan is right or wrong (plan.PlanVerdict)."""


class OutcomeAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer as judged: `value` is 1.0, 0.0, or None with a `reason`; `published` the same under those rules.

    `votes` of a diagnosis are true and false, those of a treatment the words of plan.PlanVerdict, each after its
    quotations were looked for; `basis` is the rule behind most votes for the verdict. `judges` maps seat to SPEC,
    `floor`: a lexical judge is among them. `flags` are signs of text that speaks to the judge (injection/detect.py).
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


async def pair(panel: Panel, request: Item, recorded: Sequence[Item]) -> Paired:
    """Ask the panel which of the recorded items a request is. Each number is decided by itself."""
    question = questions.same_items(request.name, [item.name for item in recorded])
    given: dict[tuple[str, Sample], Answer[Places]] = {}

    async def ask(judge: Judge, sample: Sample) -> Answer[Places]:
        asked = question.swapped() if sample.swapped else question
        given[judge.seat, sample] = answer = await answered(judge, asked, numbers(len(recorded)), sample)
        return answer

    async def named(number: int, judge: Judge, sample: Sample) -> Answer[bool]:
        answer = given[judge.seat, sample]
        return Answer(None if answer.value is None else number in answer.value, answer.reason)

    votes = (await panel.each(ask, swappable=True)).votes
    said = {number for answer in given.values() for number in answer.value or ()}
    lost = any(answer.value is None for answer in given.values())
    same, undecided, reason = [], [], ""
    for number in range(1, len(recorded) + 1):
        if number not in said and not lost:
            continue
        ruling = await panel.each(partial(named, number), swappable=True)
        if ruling.value is None:
            undecided.append(number - 1)
            reason = reason or ruling.reason
        elif ruling.value:
            same.append(number - 1)
    return Paired(tuple(same), votes, tuple(undecided), reason)


def figures(found: Sequence[Paired], recorded: int) -> list[Score]:
    """`assessment_precision` and `assessment_recall`, one to one.

    Where the panel left pairs open they have a value only if it is the same whichever way those are decided; else None
    with the panel's reason.
    """
    sure = [(place, other) for place, one in enumerate(found) for other in one.same]
    unsure = [(place, other) for place, one in enumerate(found) for other in one.open]
    scores = precision_recall(len(found), recorded, sure)
    if matched(len(found), recorded, sure) == matched(len(found), recorded, [*sure, *unsure]):
        return scores
    reason = next(one.reason for one in found if one.reason)
    return [msgspec.structs.replace(score, value=None, reason=score.reason or reason) for score in scores]


def numbers(most: int) -> Reading[Places]:
    """Reads a reply {"same": [numbers]}: each from 1 to `most`, in order, once; `not_in_vocabulary` for another."""
    return partial(_numbers, most)


def _numbers(most: int, text: str) -> Places | Unread:
    held = needed(text)
    if isinstance(held, Unread):
        return held
    listed = held.value if isinstance(held.value, list) else field(held.value, ("same", "numbers"))
    if not isinstance(listed, list):
        return unread("no_field", text)
    if not all(isinstance(one, int) and not isinstance(one, bool) and 1 <= one <= most for one in listed):
        return unread("not_in_vocabulary", text)
    return tuple(sorted(set(listed)))


Said = Literal["correct", "wrong", "unverifiable"]
NO_PLAN: Basis = "no plan"
"""The basis of "wrong" for an answer that proposes no treatment at all."""

_SAID: Mapping[str, Said] = {
    "correct": "correct",
    "wrong": "wrong",
    "incorrect": "wrong",
    "unverifiable": "unverifiable",
}
_BASES: Mapping[str, tuple[Basis, ...]] = {
    "correct": ("same", "included", "evidence"),
    "wrong": ("evidence", "none", NO_PLAN, ""),
    "unverifiable": ("same", "included", "evidence", "none", ""),
}
_VERDICT = ("verdict", "judgment", "judgement", "accuracy")


class PlanVerdict(msgspec.Struct, frozen=True):
    """One judge's verdict by prompt 20's rules.

    `basis`: the plan means the `same` as the treatment given (rule 1), has it `included` (2), is another one that the
    passages speak for or against (`evidence`, 3), or rests on nothing (`none`, 4); the answer is no plan at all
    (`no plan`); "" if the reply does not say.
    `quotes` are (number of the passage, or 0; its words as the judge has them).
    """

    said: Said
    basis: Basis = ""
    quotes: tuple[tuple[int, str], ...] = ()


def reading(shown: int) -> Reading[PlanVerdict]:
    """Reads a reply {"verdict", "basis", "evidence": [{"passage", "quote"}]} of a judge that saw so many passages.

    A verdict of one word is read too, as prompt 20 itself asks for no more. In JSON "correct" must come with its basis
    (`no_field`), unless no passage was shown: then it can only be by the first two rules. A verdict that its basis
    contradicts is `not_in_vocabulary`.
    """
    return partial(_read, shown)


def _read(shown: int, text: str) -> PlanVerdict | Unread:
    held = payload(text)
    if isinstance(held, Unread):
        return held
    if held is None:
        said = word(text, _SAID, "wrong")
        return said if isinstance(said, Unread) else PlanVerdict(said)
    value = single(held.value)
    said, basis = claimed(held, text, _VERDICT, _SAID, "wrong"), field(value, ("basis", "rule"))
    if isinstance(said, Unread):
        return said
    named = "" if basis is None else basis.strip().casefold() if isinstance(basis, str) else "?"
    return _consistent(PlanVerdict(said, cast(Basis, named), _quotes(value)), shown, text)


def _consistent(verdict: PlanVerdict, shown: int, text: str) -> PlanVerdict | Unread:
    if verdict.said == "correct" and not verdict.basis:
        return unread("no_field", text) if shown else verdict
    return verdict if verdict.basis in _BASES[verdict.said] else unread("not_in_vocabulary", text)


def _quotes(value: Json) -> tuple[tuple[int, str], ...]:
    """What stands in the field as quotations; anything else in it is no evidence."""
    entries = field(value, ("evidence", "quotes"))
    found: list[tuple[int, str]] = []
    for entry in entries if isinstance(entries, list) else ():
        words, number = field(entry, ("quote", "text")), field(entry, ("passage",))
        if isinstance(words, str) and words.strip():
            found.append((_number(number), words))
    return tuple(found)


def _number(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
