"""Was the final answer right: lexically, or by a panel of judges where there is one."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.bench import Bench
from wardround.evaluators.outcome.account import OutcomeAccount
from wardround.evaluators.outcome.judged import agreement, judged_diagnosis, judged_treatment
from wardround.evaluators.standing import Goal, answers, goal_of, missed, unscored
from wardround.scenarios.case import Case
from wardround.scenarios.terms import diagnosis, treatment
from wardround.scenarios.terms.commitment import entries

ALL_PARTS, PARTS_F1 = "diagnosis_all_parts", "diagnosis_parts_f1"


class Answer:
    """`diagnosis_accuracy` or `treatment_accuracy`: 1.0, 0.0, or None with its reason (architecture section 5).

    Paper 000 section 3.3 (the indicator of equation 2); paper 002 section 4.3. The answer is first read without the
    truth; one that commits to no single diagnosis, or to no plan, is 0.0: `several_answers`, `no_diagnosis_asserted`,
    `too_many_measures`, `no_treatment_asserted`. Without judges the match is lexical. On a `Bench` the panel decides on
    what the answer commits to, and beside it stand `lexical_match`, for a treatment `published_treatment_accuracy` (no
    evidence is wrong), and `judge_agreement` where more than one vote was asked for: 1.0 if they all say the same.
    Beside a diagnosis stand `diagnosis_all_parts` and `diagnosis_parts_f1`, by words; where the game asked for a list,
    `diagnosis_top_1` and on, by the same panel, and `answers_given`. A panel that reaches no verdict leaves None:
    `judge_unreadable/WHY`, `judge/KIND`, `judge_torn`, `judges_divided`; for a treatment also `unverifiable`,
    `uncited`, `search/KIND`. The account tells of votes, searches and quotations.
    """

    name = "answer"

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score] | Scored:
        """The scores; with judges also their account."""
        goal, ending = goal_of(case, trajectory), trajectory.ending
        bench = seat if isinstance(seat, Bench) else None
        names = _names(goal, judged=bench is not None)
        if reason := unscored(ending):
            return [Score(name, None, reason) for name in names]
        reference = case.truth.diagnosis if goal == "diagnosis" else case.truth.treatment
        if not reference.strip():
            return [Score(name, None, "no_truth") for name in names]
        given, evidence = answers(ending).get(goal, ""), _last_word(trajectory)
        if reason := missed(ending) or ("" if given else "no_answer"):
            return [Score(name, 0.0, reason, evidence) for name in names]
        if (wanted := asked_for(trajectory)) > 1 and goal == "diagnosis":
            return await _ranked(bench, case, given, wanted, evidence)
        verdict = compared(given, case, goal)
        if verdict.reason and not verdict.match:
            return [Score(name, 0.0, verdict.reason, evidence) for name in names]
        parts = _parts(verdict, evidence)
        if bench is None:
            return [Score(names[0], float(verdict.match), "", evidence), *parts]
        account = await _judged(bench, case, given, verdict)
        found = [*_scores(account, float(verdict.match), evidence), *parts]
        return Scored(found, {"outcome": msgspec.to_builtins(account)})


async def _ranked(
    bench: Bench | None, case: Case, given: str, wanted: int, evidence: Sequence[int]
) -> Sequence[Score] | Scored:
    """The scores of a game that asked for a ranked list: the accuracy is that of its first entry.

    `diagnosis_top_K`: 1.0 if one of the first K is right, by the panel where there is one, which is asked of one entry
    after the other until one is right; `answers_given`: how many entries the list has.
    """
    rank, count = diagnosis.listed(given, case.truth, wanted)
    length = Score("answers_given", float(count), "", evidence)
    if bench is None:
        hits = [Score("", float(rank is not None and rank <= place), "", evidence) for place in range(1, wanted + 1)]
        return [msgspec.structs.replace(hits[0], name="diagnosis_accuracy"), *_tops(hits), length]
    asked = await _each(bench, case, (entries(given) or (given,))[:wanted])
    verdicts = [Score("", one.value, one.reason, evidence) for one in asked]
    found = [*_scores(asked[0], float(rank == 1), evidence), *_tops(_running(verdicts, wanted)), length]
    account = msgspec.structs.replace(asked[0], further=tuple(asked[1:]))
    return Scored(found, {"outcome": msgspec.to_builtins(account)})


async def _each(bench: Bench, case: Case, listed: Sequence[str]) -> list[OutcomeAccount]:
    """The panel on the entries of a list in order, up to the first that is right.

    An entry that commits to no single diagnosis is wrong, and nobody is asked about it.
    """
    found: list[OutcomeAccount] = []
    for entry in listed:
        verdict = compared(entry, case, "diagnosis")
        if verdict.reason and not verdict.match:
            judges = {judge.seat: judge.spec for judge in bench.panel.judges}
            account = OutcomeAccount("diagnosis", 0.0, (), judges, bench.panel.floor, verdict.reason)
        else:
            account = await _judged(bench, case, entry, verdict)
        found.append(msgspec.structs.replace(account, entry=entry))
        if account.value:
            break
    return found


def _running(verdicts: Sequence[Score], wanted: int) -> list[Score]:
    """Of each place whether an entry up to it is right: the first verdict that says so, else the first that is open."""
    found: list[Score] = []
    for place in range(wanted):
        had = verdicts[: place + 1]
        right = (one for one in had if one.value)
        unknown = (one for one in had if one.value is None)
        reason = had[0].reason if len({one.reason for one in had}) == 1 else ""
        found.append(next(right, None) or next(unknown, None) or msgspec.structs.replace(had[0], reason=reason))
    return found


def _tops(hits: Sequence[Score]) -> list[Score]:
    return [msgspec.structs.replace(hit, name=f"diagnosis_top_{place}") for place, hit in enumerate(hits, 1)]


def asked_for(trajectory: Trajectory) -> int:
    """How many diagnoses the game asked for: its setting `answers`, 1 in games that have none."""
    scenario = trajectory.header.get("scenario")
    told = scenario.get("settings") if isinstance(scenario, dict) else None
    wanted = told.get("answers", 1) if isinstance(told, dict) else 1
    return wanted if isinstance(wanted, int) else 1


def compared(given: str, case: Case, goal: Goal) -> diagnosis.Verdict | treatment.PlanVerdict:
    """The lexical verdict on an answer. A treatment has no synonyms, so the same said in other words is missed."""
    if goal == "treatment":
        return treatment.compare(given, case.truth)
    return _compared(given, case.truth, diagnosis.past_of(case))


_compared = lru_cache(maxsize=4096)(diagnosis.compare)
"""The same answer to the same truth is read once: by the headline, by a second scoring, in the repeats of a case."""


async def _judged(
    bench: Bench, case: Case, given: str, verdict: diagnosis.Verdict | treatment.PlanVerdict
) -> OutcomeAccount:
    """What the panel says of an answer, as far as it commits to a diagnosis or gives and stops measures."""
    if isinstance(verdict, treatment.PlanVerdict):
        return await judged_treatment(bench, case, given, verdict.committed)
    return await judged_diagnosis(bench, case, given, verdict.committed)


def _parts(verdict: diagnosis.Verdict | treatment.PlanVerdict, evidence: Sequence[int]) -> list[Score]:
    """Whether every disease of the truth was asserted, and F1 over them."""
    if isinstance(verdict, treatment.PlanVerdict):
        return []
    return [Score(ALL_PARTS, float(verdict.all_parts), "", evidence), Score(PARTS_F1, verdict.f1, "", evidence)]


def _names(goal: Goal, *, judged: bool) -> list[str]:
    """Of the scores that every episode has."""
    names = [f"{goal}_accuracy"]
    if judged and goal == "treatment":
        names.append("published_treatment_accuracy")
    names += ["lexical_match"] * judged
    return [*names, ALL_PARTS, PARTS_F1] if goal == "diagnosis" else names


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
