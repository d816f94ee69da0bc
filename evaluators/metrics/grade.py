"""Grades how near a diagnosis is to the true disease: the same, a kind of it, a wider one, a sibling, or another."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from wardround.engine.records import Score
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import answer_to_score
from wardround.scenarios.answers.diagnosis import compare, head_diseases, past_of
from wardround.scenarios.case import Case, Truth
from wardround.scenarios.diseases.graph import Graph, Relation, graph
from wardround.scenarios.diseases.lexical_linker import linker
from wardround.scenarios.diseases.linker import Linker, Mention

WORTH: Mapping[Relation, float] = {"same": 1.0, "child": 0.75, "parent": 0.5, "sibling": 0.25, "other": 0.0}
"""The score of each relation: a kind of the true disease says too much, a wider disease too little."""
_PARTLY = ("part", "head")


def relation_to_truth(answer: str, truth: Truth, linker: Linker, graph: Graph) -> Relation | None:
    """Return the relation of a stated diagnosis to the truth; None if the linker does not know the true disease.

    It is `same` if the word match (diagnosis.compare) calls the answer right. Otherwise the concepts decide of the
    disease that the answer commits to: the first one asserted, or its stated cause. An answer that names no disease, or
    leaves several open, is `other`.
    """
    verdict = compare(answer, truth)
    if verdict.match:
        return "same"
    meant = [mention for name in (truth.diagnosis, *truth.synonyms) if name and (mention := linker.link(name))]
    if not meant:
        return None
    said = [mention for text in head_diseases(verdict.read) if (mention := linker.link(text))]
    relations: list[Relation] = [_relation(one, other, graph) for one in said for other in meant]
    best: Relation = max(relations, key=lambda relation: WORTH[relation], default="other")
    return best


def _relation(said: Mention, meant: Mention, graph: Graph) -> Relation:
    relation = graph.relation(said.concept, meant.concept)
    if relation == "same":
        # A name that is known only in part says more than that part ('Klebsiella pneumonia').
        pair = (said.rule in _PARTLY, meant.rule in _PARTLY)
        by_part: Mapping[tuple[bool, bool], Relation] = {(True, False): "child", (False, True): "parent"}
        return by_part.get(pair, "sibling" if all(pair) else "same")
    return relation


class Grade:
    """`diagnosis_grade`: 1 the same disease, 0.75 a kind of it, 0.5 a wider one, 0.25 a sibling, 0 another.

    ::

        wardround score RUN --evaluators grade

    The reason names the relation. Relations are those of ICD-10-CM's tree (scenarios/diseases/graph.py). The score is
    None if the linker does not know the true disease (`truth_unknown`), if the answer is a treatment (`no_diagnosis`),
    and if the accuracy is None. It is 0.0 with the accuracy's reason if the answer commits to no single diagnosis. The
    disease that the answer asserts first is graded. The tables are loaded with the first graded episode, which takes
    seconds.
    """

    name = "grade"
    VERSION: ClassVar[int] = 7

    @cached_property
    def _knowledge(self) -> tuple[Linker, Graph]:
        return linker(), graph()

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score]:
        """Return one score."""
        answer, value, reason = answer_to_score(case, trajectory, "diagnosis")
        if reason:
            return [Score("diagnosis_grade", value, reason)]
        if reason := compare(answer, case.truth, past_of(case)).reason:
            return [Score("diagnosis_grade", 0.0, reason)]
        relation = relation_to_truth(answer, case.truth, *self._knowledge)
        evidence = [event.seq for event in trajectory.acted("doctor")][-1:]
        return [Score("diagnosis_grade", relation and WORTH[relation], relation or "truth_unknown", tuple(evidence))]
