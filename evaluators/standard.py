"""All house scores of an episode in one call."""

from collections.abc import Sequence
from typing import ClassVar

from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.answer import Answer
from wardround.evaluators.closing import closing_scores
from wardround.evaluators.examinations import exam_scores, full_path
from wardround.evaluators.role_breaks import role_break_scores
from wardround.evaluators.usage import usage_scores
from wardround.scenarios.case import Case
from wardround.scenarios.terms.catalogue import Catalogue


class Standard:
    """Accuracy, the full path, examinations, closing, role breaks, usage. On a `Bench` its judges judge the answer.

    `prices` is a table of tests with the user's own points; without one the cost is as it was told in the episode.
    """

    name = "standard"
    VERSION: ClassVar[int] = 2

    def __init__(self, prices: Catalogue | None = None) -> None:
        self._prices = prices

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score] | Scored:
        """Accuracy is judged once; the full path follows from it. With judges there is an account of the verdict."""
        given = await Answer().score(case, trajectory, seat)
        accuracy = given.scores if isinstance(given, Scored) else given
        exams = exam_scores(case, trajectory, self._prices)
        beside = [*closing_scores(case, trajectory), *role_break_scores(case, trajectory)]
        scores = [*accuracy, *full_path(accuracy[0], exams), *exams, *beside, *usage_scores(trajectory)]
        return Scored(scores, given.account) if isinstance(given, Scored) else scores
