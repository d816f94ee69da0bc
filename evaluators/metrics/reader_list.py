"""Scores a reader's diagnoses as a list, where any hit counts (MultiCogEval, appendix F); never used by default."""

from collections.abc import Sequence
from typing import ClassVar

from wardround.engine.records import Score
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import answer_to_score
from wardround.scenarios.answers.commitment import read_answer
from wardround.scenarios.answers.diagnosis import compare, rank_in_list
from wardround.scenarios.case import Case


class ReaderList:
    """`diagnosis_reader_list`: 1.0 if any diagnosis that the answer lists is the truth (MultiCogEval, appendix F).

    ::

        wardround score RUN --evaluators reader-list

    It rewards lists: an answer that names everything is right. Use it only to compare a model with that paper's human
    readers; `answers_given` is reported with it. Diagnoses that the answer denies do not count.
    """

    name = "reader-list"
    VERSION: ClassVar[int] = 6

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score]:
        """Return two scores; none for an answer that is a treatment."""
        names = ("diagnosis_reader_list", "answers_given")
        answer, value, reason = answer_to_score(case, trajectory, "diagnosis")
        if reason:
            return [Score(name, value, reason) for name in names]
        hit, count = listed_anywhere(answer, case)
        return [Score(names[0], float(hit)), Score(names[1], float(count))]


def listed_anywhere(answer: str, case: Case) -> tuple[bool, int]:
    """Return whether any diagnosis of the answer is the truth, and how many it names."""
    rank, count = rank_in_list(answer, case.truth)
    read = read_answer(answer)
    named = [*read.undecided, *(item.text for item in read.asserted)]
    return rank is not None or any(compare(name, case.truth).match for name in named), max(count, len(named))
