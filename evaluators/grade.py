"""How near a wrong diagnosis was: a kind of the true disease, a wider one, one beside it, or another."""

from collections.abc import Sequence
from functools import cached_property

from wardround.engine.records import Score
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.standing import answers, gave_nothing, goal_of, unscored
from wardround.scenarios.case import Case
from wardround.scenarios.terms.grading import graded
from wardround.scenarios.terms.graph import Graph, graph
from wardround.scenarios.terms.lexical import linker
from wardround.scenarios.terms.mentions import Linker


class Grade:
    """`diagnosis_grade`: 1 the same disease, 0.75 a kind of it, 0.5 a wider one, 0.25 beside it, 0 another.

    The reason says which. Relations are those of ICD-10-CM's tree (scenarios/terms/graph.py). None where the truth is
    no disease that the linker knows (`truth_unknown`), where the answer is a treatment (`no_diagnosis`), and where
    accuracy is None. It stands beside the accuracy and not in its place: of several diagnoses the nearest counts, so an
    answer that lists many gains by it. The tables are loaded when the first episode is graded, which takes seconds.
    """

    name = "grade"

    @cached_property
    def _knowledge(self) -> tuple[Linker, Graph]:
        return linker(), graph()

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score]:
        """One score."""
        del seat
        ending = trajectory.ending
        if reason := unscored(ending):
            return [Score("diagnosis_grade", None, reason)]
        if goal_of(case, trajectory) != "diagnosis":
            return [Score("diagnosis_grade", None, "no_diagnosis")]
        if not case.truth.diagnosis.strip():
            return [Score("diagnosis_grade", None, "no_truth")]
        given = answers(ending).get("diagnosis", "")
        if not given or gave_nothing(ending):
            return [Score("diagnosis_grade", 0.0, "no_answer")]
        grade = graded(given, case.truth, *self._knowledge)
        evidence = [event.seq for event in trajectory.acted("doctor")][-1:]
        return [Score("diagnosis_grade", grade.worth, grade.relation or "truth_unknown", tuple(evidence))]
