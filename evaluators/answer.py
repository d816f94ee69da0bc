"""Was the final answer right: lexically, or by a panel of judges where there is one."""

from collections.abc import Sequence

import msgspec

from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.bench import Bench
from wardround.evaluators.outcome.account import OutcomeAccount
from wardround.evaluators.outcome.judged import agreement, judged_diagnosis, judged_treatment
from wardround.evaluators.standing import Goal, answers, gave_nothing, goal_of, unscored
from wardround.scenarios.case import Case, Truth
from wardround.scenarios.terms import diagnosis, treatment


class Answer:
    """`diagnosis_accuracy` or `treatment_accuracy`: 1.0, 0.0, or None with its reason (architecture section 5).

    Paper 000 section 3.3 (the indicator of equation 2); paper 002 section 4.3. Without judges the match is lexical.
    On a `Bench` the panel decides, and beside it stand `lexical_match`, for a treatment `published_treatment_accuracy`
    (no evidence is wrong), and `judge_agreement` where more than one vote was asked for: 1.0 if they all say the same.
    A panel that reaches no verdict leaves None: `judge_unreadable/WHY`, `judge/KIND`, `judge_torn`, `judges_divided`;
    for a treatment also `unverifiable`, `uncited`, `search/KIND`. The account tells of votes, searches and quotations.
    """

    name = "answer"

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score] | Scored:
        """One score; with judges two to four, and their account."""
        goal, ending = goal_of(case, trajectory), trajectory.ending
        bench = seat if isinstance(seat, Bench) else None
        names = _names(goal, judged=bench is not None)
        if reason := unscored(ending):
            return [Score(name, None, reason) for name in names]
        reference = case.truth.diagnosis if goal == "diagnosis" else case.truth.treatment
        if not reference.strip():
            return [Score(name, None, "no_truth") for name in names]
        given, evidence = answers(ending).get(goal, ""), _last_word(trajectory)
        if not given or gave_nothing(ending):
            return [Score(name, 0.0, "no_answer", evidence) for name in names]
        lexical = float(matches(given, case.truth, goal))
        if bench is None:
            return [Score(names[0], lexical, "", evidence)]
        work = judged_diagnosis if goal == "diagnosis" else judged_treatment
        account = await work(bench, case, given)
        return Scored(_scores(account, lexical, evidence), {"outcome": msgspec.to_builtins(account)})


def matches(given: str, truth: Truth, goal: Goal) -> bool:
    """The lexical verdict. A treatment has no synonyms, so free text that says the same in other words is missed."""
    verdict = diagnosis.compare(given, truth) if goal == "diagnosis" else treatment.compare(given, truth)
    return verdict.match


def _names(goal: Goal, *, judged: bool) -> list[str]:
    """Of the scores that every episode has."""
    names = [f"{goal}_accuracy"]
    if judged and goal == "treatment":
        names.append("published_treatment_accuracy")
    return [*names, "lexical_match"] if judged else names


def _scores(account: OutcomeAccount, lexical: float, evidence: Sequence[int]) -> list[Score]:
    found = [Score(f"{account.goal}_accuracy", account.value, account.reason, evidence)]
    if account.goal == "treatment":
        name = "published_treatment_accuracy"
        found.append(Score(name, account.published, account.published_reason, evidence))
    found.append(Score("lexical_match", lexical, "", evidence))
    if len(account.votes) > 1:
        agreed = agreement(account.votes)
        unread = next((vote.reason for vote in account.votes if vote.value is None), "")
        found.append(Score("judge_agreement", agreed, unread if agreed is None else "", evidence))
    return found


def _last_word(trajectory: Trajectory) -> tuple[int, ...]:
    """The number of the doctor's last action: the answer is in it."""
    said = [event.seq for event in trajectory.acted("doctor")]
    return (said[-1],) if said else ()
