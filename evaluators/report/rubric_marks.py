"""The criteria of one judged rubric in words: met or not, by whom, and shown by which events."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wardround.evaluators.open_answers.rubric import CriterionAccount, RubricAccount
from wardround.evaluators.reasons import phrase
from wardround.evaluators.report.rendering import Speaker, voices


@dataclass(frozen=True, slots=True)
class CriterionMark:
    """One criterion: its mark in words, how it stands for the answer, who decided, and the `events` that show it."""

    number: int
    criterion: str
    points: float
    mark: str
    state: Literal["correct", "wrong", "unknown"]
    decided: str
    votes: Sequence[Speaker]
    events: Sequence[int]
    tags: Sequence[str]


def criterion_marks(account: RubricAccount) -> list[CriterionMark]:
    """The marks of a rubric in its order."""
    return [_mark(number, one, account) for number, one in enumerate(account.criteria, 1)]


def _mark(number: int, one: CriterionAccount, account: RubricAccount) -> CriterionMark:
    return CriterionMark(
        number=number,
        criterion=one.criterion,
        points=one.points,
        mark=_words(one),
        state="unknown" if one.met is None else "correct" if (one.met >= 0.5) is (one.points > 0) else "wrong",
        decided="by rule" if one.by == "rule" else "by the judge" if len(account.judges) < 2 else "by the judges",
        votes=voices(one.votes, account.judges),
        events=one.events,
        tags=one.tags,
    )


def _words(one: CriterionAccount) -> str:
    if one.met is None:
        return f"undecided ({phrase(one.reason)})" if one.reason else "undecided"
    if not isinstance(one.met, bool) and 0 < one.met < 1:
        return f"met by {one.met:.0%} of the judges"
    said = "met" if one.met else "not met"
    return f"{said}: unsafe, so the score is at most 0" if one.met and one.veto else said
