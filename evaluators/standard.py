"""All house scores of an episode in one call."""

from collections.abc import Sequence

from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.answer import Answer
from wardround.evaluators.examinations import exam_scores, full_path
from wardround.evaluators.usage import usage_scores
from wardround.scenarios.case import Case
from wardround.scenarios.terms.catalogue import Catalogue


class Standard:
    """Accuracy, the full path, examinations, usage. On a `Bench` its panel of judges judges the answer.

    `prices` is a table of tests with the user's own points; without one the cost is as it was told in the episode.
    """

    name = "standard"

    def __init__(self, prices: Catalogue | None = None) -> None:
        self._prices = prices

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score] | Scored:
        """Accuracy is judged once; the full path follows from it. With judges there is an account of the verdict."""
        given = await Answer().score(case, trajectory, seat)
        accuracy = given.scores if isinstance(given, Scored) else given
        exams = exam_scores(case, trajectory, self._prices)
        scores = [*accuracy, *full_path(accuracy[0], exams), *exams, *usage_scores(trajectory)]
        return Scored(scores, given.account) if isinstance(given, Scored) else scores
