"""The record of how an outcome was judged: votes, passages, plans and paired examinations."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, cast

import msgspec

from wardround.engine.records import Json, Score
from wardround.evaluators.evaluation import Goal
from wardround.evaluators.judges.panel import Judge, Panel, PanelAnswer, Reading, Sample, Vote, ask_judge
from wardround.evaluators.judges.strict_reply import (
    Unread,
    claimed_value,
    entries_of,
    field,
    only_entry,
    payload,
    unread_reply,
    word,
)
from wardround.evaluators.outcome import outcome_questions
from wardround.evaluators.outcome.items import PairedItem, Places, TextItem, matching_size, precision_recall
from wardround.evaluators.reasoning.reasoning_record import EvidenceQuote, SearchRecord

Basis = Literal["same", "included", "evidence", "none", "no plan", ""]
"""The rule by which a plan is right or wrong (JudgedPlan)."""


class OutcomeAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One judged answer: `value` is 1.0, 0.0, or None with a `reason`; `published` is that of the published rules.

    The `votes` on a diagnosis are true and false. Those on a treatment are words of JudgedPlan, after the judge's
    quotations were located; `basis` is the rule behind most votes for the verdict. `judges` maps seats to SPECs;
    `floor`: a lexical judge took part. `flags` are signs of text that addresses the judge (injection/detect.py). For a
    ranked list this is the account of the first `entry`; `further` are those of the other entries that were judged.
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
    quoted: tuple[EvidenceQuote, ...] = ()
    looked: tuple[SearchRecord, ...] = ()
    flags: tuple[str, ...] = ()
    entry: str = ""
    further: tuple["OutcomeAccount", ...] = ()


async def pair(panel: Panel, request: TextItem, recorded: Sequence[TextItem]) -> PairedItem:
    """Ask the panel which recorded items a request means; it decides on each number by itself."""
    question = outcome_questions.same_items(request.name, [item.name for item in recorded])
    by_sample: dict[tuple[str, Sample], PanelAnswer[Places]] = {}

    async def ask(judge: Judge, sample: Sample) -> PanelAnswer[Places]:
        asked = question.swapped() if sample.swapped else question
        by_sample[judge.seat, sample] = answer = await ask_judge(judge, asked, number_reader(len(recorded)), sample)
        return answer

    async def named(number: int, judge: Judge, sample: Sample) -> PanelAnswer[bool]:
        answer = by_sample[judge.seat, sample]
        return PanelAnswer(None if answer.value is None else number in answer.value, answer.reason)

    votes = (await panel.each(ask, swappable=True)).votes
    said = {number for answer in by_sample.values() for number in answer.value or ()}
    lost = any(answer.value is None for answer in by_sample.values())
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
    return PairedItem(tuple(same), votes, tuple(undecided), reason)


def figures(pairs: Sequence[PairedItem], recorded: int) -> list[Score]:
    """Return `assessment_precision` and `assessment_recall`, one to one.

    If the panel left pairs open, a score has a value only if those pairs cannot change it; otherwise it is None with
    the panel's reason.
    """
    sure = [(place, other) for place, one in enumerate(pairs) for other in one.same]
    unsure = [(place, other) for place, one in enumerate(pairs) for other in one.open]
    scores = precision_recall(len(pairs), recorded, sure)
    if matching_size(len(pairs), recorded, sure) == matching_size(len(pairs), recorded, [*sure, *unsure]):
        return scores
    reason = next(one.reason for one in pairs if one.reason)
    return [msgspec.structs.replace(score, value=None, reason=score.reason or reason) for score in scores]


def number_reader(most: int) -> Reading[Places]:
    """Return a reader for {"same": [numbers]}: 1 to `most`, sorted, each once; `not_in_vocabulary` for any other."""
    return partial(_numbers, most)


def _numbers(most: int, text: str) -> Places | Unread:
    entries = entries_of(text, ("same", "numbers"))
    if isinstance(entries, Unread):
        return entries
    if not all(isinstance(one, int) and not isinstance(one, bool) and 1 <= one <= most for one in entries):
        return unread_reply("not_in_vocabulary", text)
    return tuple(sorted(set(entries)))


Said = Literal["correct", "wrong", "unverifiable"]
NO_PLAN: Basis = "no plan"
"""The basis of "wrong" for an answer that proposes no treatment."""

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


class JudgedPlan(msgspec.Struct, frozen=True):
    """One judge's verdict by the rules of MedR-Bench's prompt 20. Its `basis` is one of these:

    - `same`: the plan means the same as the reference treatment (rule 1).
    - `included`: the plan includes the reference treatment (rule 2).
    - `evidence`: it is another plan, which the passages support or oppose (rule 3).
    - `none`: it is another plan, of which the passages say nothing (rule 4).
    - `no plan`: the answer proposes no treatment.
    - "": the reply does not say.

    `quotes` are pairs: the number of the passage, or 0, and the judge's quotation.
    """

    said: Said
    basis: Basis = ""
    quotes: tuple[tuple[int, str], ...] = ()


def plan_reader(shown: int) -> Reading[JudgedPlan]:
    """Return a reader for the verdict on a plan by a judge that saw as many passages as `shown` says.

    The reply is {"verdict", "basis", "evidence": [{"passage", "quote"}]}. A verdict of one word is accepted too, since
    prompt 20 itself asks for no more. In JSON "correct" must come with its basis (`no_field`), unless no passage was
    shown: then only the first two rules can apply. A verdict that contradicts its basis is `not_in_vocabulary`.
    """
    return partial(_read, shown)


def _read(shown: int, text: str) -> JudgedPlan | Unread:
    parsed = payload(text)
    if isinstance(parsed, Unread):
        return parsed
    if parsed is None:
        said = word(text, _SAID, "wrong")
        return said if isinstance(said, Unread) else JudgedPlan(said)
    value = only_entry(parsed.value)
    said, basis = claimed_value(parsed, text, _VERDICT, _SAID, "wrong"), field(value, ("basis", "rule"))
    if isinstance(said, Unread):
        return said
    named = "" if basis is None else basis.strip().casefold() if isinstance(basis, str) else "?"
    return _consistent(JudgedPlan(said, cast(Basis, named), _quotes(value)), shown, text)


def _consistent(verdict: JudgedPlan, shown: int, text: str) -> JudgedPlan | Unread:
    if verdict.said == "correct" and not verdict.basis:
        return unread_reply("no_field", text) if shown else verdict
    return verdict if verdict.basis in _BASES[verdict.said] else unread_reply("not_in_vocabulary", text)


def _quotes(value: Json) -> tuple[tuple[int, str], ...]:
    """Return the quotations in a field; anything else in it is no evidence."""
    entries = field(value, ("evidence", "quotes"))
    quotes: list[tuple[int, str]] = []
    for entry in entries if isinstance(entries, list) else ():
        words, number = field(entry, ("quote", "text")), field(entry, ("passage",))
        if isinstance(words, str) and words.strip():
            quotes.append((_number(number), words))
    return tuple(quotes)


def _number(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
