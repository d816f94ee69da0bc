"""Points from 1 to 5 for a diagnosis, by a panel: SDBench calls one with 4 or more right."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import answer_to_score, require_judges
from wardround.evaluators.injection.detect import hostile_signs
from wardround.evaluators.judges.panel import Ruling, Vote
from wardround.evaluators.judges.question import Question, reply_shape
from wardround.evaluators.judges.strict_reply import Unread, field, only_entry, required_json, unread_reply
from wardround.evaluators.outcome import outcome_questions
from wardround.scenarios.case import Case, Truth

RIGHT = 4
"""Fewest points of a diagnosis that SDBench calls right (arXiv 2506.22405)."""
POINTS = range(1, 6)
NAMES = ("diagnosis_points", "diagnosis_points_right")


class PointsAccount(msgspec.Struct, frozen=True):
    """The points of a diagnosis, the panel's votes, and signs that a text addressed a judge."""

    points: int | None
    reason: str
    votes: tuple[Vote, ...]
    judges: dict[str, str]
    flags: tuple[str, ...] = ()


def points_question(truth: Truth, answer: str) -> Question:
    """Ask how near an answer is to the reference's disease, from 1 to 5."""
    materials = outcome_questions.diagnosis(truth, answer).materials
    points = {"type": "integer", "enum": list(POINTS)}
    return Question("diagnosis_points", materials, shape=reply_shape(basis={"type": "string"}, points=points))


def read_points(text: str) -> int | Unread:
    """Read {"points": 4}: a whole number from 1 to 5."""
    parsed = required_json(text)
    if isinstance(parsed, Unread):
        return parsed
    points = field(only_entry(parsed.value), ("points", "score"))
    if points is None:
        return unread_reply("no_field", text)
    whole = isinstance(points, int) and not isinstance(points, bool) and points in POINTS
    return points if whole else unread_reply("not_in_vocabulary", text)


class DiagnosisPoints:
    """`diagnosis_points` (1 to 5, by the panel's majority) and `diagnosis_points_right` (1.0 from 4 points).

    ::

        wardround score RUN --evaluators standard,diagnosis-points --judge openai/gpt-4o

    They stand beside `diagnosis_accuracy`, which they do not change. A doctor that had its chance and gave no answer
    has 1 point. None with the reason of the accuracy for any other episode without an answer, and with the judge's
    reason if the panel could not be read or is divided.
    """

    name = "diagnosis-points"
    VERSION: ClassVar[int] = 6
    judged: ClassVar[bool] = True
    QUESTIONS: ClassVar[tuple[str, ...]] = ("diagnosis_points",)

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score] | Scored:
        """Return two scores and their account; raises UsageError without judges."""
        panel = require_judges(seat, self.name).panel
        answer, value, reason = answer_to_score(case, trajectory, "diagnosis")
        if reason:
            return [Score(NAMES[0], None if value is None else 1.0, reason), Score(NAMES[1], value, reason)]
        question = points_question(case.truth, answer)
        ruling: Ruling[int] = await panel.ask(question, read_points, swappable=True)
        account = PointsAccount(
            ruling.value,
            ruling.reason,
            ruling.votes,
            dict(panel.specs),
            hostile_signs(question.materials, noticed=ruling.noticed),
        )
        evidence = tuple(event.seq for event in trajectory.acted("doctor"))[-1:]
        points = ruling.value
        scores = [
            Score(NAMES[0], None if points is None else float(points), ruling.reason, evidence),
            Score(NAMES[1], None if points is None else float(points >= RIGHT), ruling.reason, evidence),
        ]
        return Scored(scores, {"diagnosis_points": msgspec.to_builtins(account)})
