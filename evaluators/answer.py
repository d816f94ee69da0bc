"""Was the final answer right: lexically, or by a judge model when one is given."""

from collections.abc import Sequence

from wardround.engine.errors import LimitReached, ProviderError
from wardround.engine.records import Score
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.judge import judge
from wardround.evaluators.standing import Goal, answers, gave_nothing, goal_of, unscored
from wardround.scenarios.case import Case, Truth
from wardround.scenarios.terms import diagnosis, treatment


class Answer:
    """`diagnosis_accuracy` or `treatment_accuracy`: 1.0, 0.0, or None with its reason (architecture section 5).

    Paper 000 section 3.3 (the indicator of equation 2); paper 002 section 4.3. Without a model the match is lexical.
    With one the judge decides, and the lexical verdict stands beside it as `lexical_match`. A judge that cannot be
    read after one repair leaves None, `judge_unreadable`; one that cannot be reached None, `judge/KIND`.
    """

    name = "answer"

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score]:
        """One score, two with a judge."""
        goal = goal_of(case, trajectory)
        names = [f"{goal}_accuracy"] + (["lexical_match"] if seat and seat.model else [])
        evidence = _last_word(trajectory)
        ending = trajectory.ending
        if reason := unscored(ending):
            return [Score(name, None, reason) for name in names]
        reference = case.truth.diagnosis if goal == "diagnosis" else case.truth.treatment
        if not reference.strip():
            return [Score(name, None, "no_truth") for name in names]
        given = answers(ending).get(goal, "")
        if not given or gave_nothing(ending):
            return [Score(name, 0.0, "no_answer", evidence) for name in names]
        lexical = float(matches(given, case.truth, goal))
        if seat is None or seat.model is None:
            return [Score(names[0], lexical, "", evidence)]
        value, reason = await _judged(seat, goal, given, case.truth)
        return [Score(names[0], value, reason, evidence), Score(names[1], lexical, "", evidence)]


def matches(given: str, truth: Truth, goal: Goal) -> bool:
    """The lexical verdict. A treatment has no synonyms, so free text that says the same in other words is missed."""
    verdict = diagnosis.compare(given, truth) if goal == "diagnosis" else treatment.compare(given, truth)
    return verdict.match


async def _judged(seat: Seat, goal: Goal, given: str, truth: Truth) -> tuple[float | None, str]:
    try:
        verdict = await judge(seat, goal, given, truth)
    except ProviderError as error:
        return None, f"judge/{error.kind}"
    except LimitReached as error:
        return None, f"judge/{error.limit}"
    return (None, "judge_unreadable") if verdict is None else (float(verdict), "")


def _last_word(trajectory: Trajectory) -> tuple[int, ...]:
    """The number of the doctor's last action: the answer is in it."""
    said = [event.seq for event in trajectory.acted("doctor")]
    return (said[-1],) if said else ()
