"""Which requests are which recorded examinations: the panel's votes, number by number, and the figures they give."""

from collections.abc import Sequence
from functools import partial

import msgspec

from wardround.engine.records import Score
from wardround.evaluators.judging.judge import Answer, Judge, Reading, Sample, answered
from wardround.evaluators.judging.panel import Panel
from wardround.evaluators.judging.payload import field, needed
from wardround.evaluators.judging.unread import Unread, unread
from wardround.evaluators.outcome import questions
from wardround.evaluators.outcome.assessed import Item, Paired, Places
from wardround.evaluators.reasoning.items import matched, precision_recall


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
