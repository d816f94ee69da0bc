"""All house scores of an episode in one call."""

from collections.abc import Sequence

from wardround.engine.records import Score
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.answer import Answer
from wardround.evaluators.examinations import exam_scores, full_path
from wardround.evaluators.usage import usage_scores
from wardround.scenarios.case import Case


class Standard:
    """Accuracy, the full path, examinations, usage. With a model in its seat, the model judges the answer."""

    name = "standard"

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score]:
        """Accuracy is asked for once; the full path follows from it."""
        accuracy = await Answer().score(case, trajectory, seat)
        exams = exam_scores(case, trajectory)
        return [*accuracy, *full_path(accuracy[0], exams), *exams, *usage_scores(trajectory)]
