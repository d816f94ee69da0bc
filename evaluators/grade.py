"""How near a wrong diagnosis was: a kind of the true disease, a wider one, one beside it, or another."""

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

from wardround.engine.records import Score
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.standing import answers, goal_of, missed, unscored
from wardround.scenarios.case import Case
from wardround.scenarios.terms.diagnosis import compare, past_of
from wardround.scenarios.terms.grading import graded
from wardround.scenarios.terms.graph import Graph, graph
from wardround.scenarios.terms.lexical_linker import linker
from wardround.scenarios.terms.linker import Linker


class Grade:
    """`diagnosis_grade`: 1 the same disease, 0.75 a kind of it, 0.5 a wider one, 0.25 beside it, 0 another.

    The reason says which. Relations are those of ICD-10-CM's tree (scenarios/terms/graph.py). None where the truth is
    no disease that the linker knows (`truth_unknown`), where the answer is a treatment (`no_diagnosis`), and where
    accuracy is None; 0.0 with the accuracy's reason where the answer commits to no single diagnosis. Graded is what the
    answer asserts first. The tables are loaded when the first episode is graded, which takes seconds.
    """

    name = "grade"
    VERSION: ClassVar[int] = 2

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
        if reason := missed(ending) or ("" if given else "no_answer"):
            return [Score("diagnosis_grade", 0.0, reason)]
        if reason := compare(given, case.truth, past_of(case)).reason:
            return [Score("diagnosis_grade", 0.0, reason)]
        grade = graded(given, case.truth, *self._knowledge)
        evidence = [event.seq for event in trajectory.acted("doctor")][-1:]
        return [Score("diagnosis_grade", grade.worth, grade.relation or "truth_unknown", tuple(evidence))]
