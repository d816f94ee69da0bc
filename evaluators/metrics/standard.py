"""The standard scores of an episode: accuracy, examinations, premature closing, role breaks, usage and dollars.

`Standard` joins the scores of all functions here. `AnswerScore` reads the final answer and compares it with the truth,
by a panel if there is one; the others need no judge.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import fsum
from typing import ClassVar

import msgspec

from wardround.engine.events import Acted, Called, effective
from wardround.engine.records import Json, Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import (
    Goal,
    JudgeContext,
    answer_to_score,
    answers,
    goal_of,
    missed,
    scenario_settings,
    unscored,
)
from wardround.evaluators.metrics.examinations import exam_scores, full_path
from wardround.evaluators.metrics.played_seats import invented_scores, misstated_scores, team_scores
from wardround.evaluators.ordered_tests import requests
from wardround.evaluators.outcome.answer_judge import judged_diagnosis, judged_treatment, vote_agreement
from wardround.evaluators.outcome.outcome_record import OutcomeAccount
from wardround.evaluators.reasoning.doctor_replies import can_ask, opening_text, replies
from wardround.scenarios.answers import diagnosis, treatment
from wardround.scenarios.answers.commitment import entries
from wardround.scenarios.case import Case, case_results, mentions_finding
from wardround.scenarios.orders.catalogue import Catalogue, catalogue
from wardround.scenarios.orders.tariff import dearest
from wardround.scenarios.parsers.moves import ANSWERING, RESULT_STATES, answers_of, texts_of
from wardround.scenarios.parsers.nonanswers import KINDS, Kind, Passages, breaks

SPENDING = (
    "case_cost_usd", "known_cost_usd", "most_cost_usd", "tests_cost_usd", "visits_cost_usd", "visits",
    "unpriced_orders",
)  # fmt: skip
UNPRICED = "unpriced_order"
"""Reason of a cost of which a part is not known."""


def spending_scores(trajectory: Trajectory) -> list[Score]:
    """Return the scores of SPENDING; none in a scenario without a bill.

    - `case_cost_usd`: dollars of visits and tests; None, reason `unpriced_order`, if the price of a test is not known.
    - `known_cost_usd`: the same without such tests, so that it can only be too low.
    - `most_cost_usd`: the same with each such test at the dearest price of the run's list, so that an order without a
      price hides no cost.
    - `tests_cost_usd`, `visits_cost_usd`: the known costs of tests and of visits.
    - `visits`: the number of visits.
    - `unpriced_orders`: the number of tests without a price.

    All are None with the cause of an episode that has no score, and with `no_bill` if a failure outside the rules ended
    the episode.
    """
    settings = scenario_settings(trajectory.header)
    if "visit_price" not in settings:
        return []
    ending = trajectory.ending
    bill = ending.facts.get("bill") if ending else None
    reason = unscored(ending) or ("" if isinstance(bill, Mapping) else "no_bill")
    if reason or not isinstance(bill, Mapping):
        return [Score(name, None, reason) for name in SPENDING]
    known = fsum((bill["tests_usd"], bill["visits_usd"]))
    unpriced = list(bill["unpriced"])
    return [
        Score("case_cost_usd", None if unpriced else known, UNPRICED if unpriced else ""),
        Score("known_cost_usd", known),
        Score("most_cost_usd", known + len(unpriced) * dearest(settings.get("prices") or {})),
        Score("tests_cost_usd", float(bill["tests_usd"])),
        Score("visits_cost_usd", float(bill["visits_usd"])),
        Score("visits", float(bill["visits"])),
        Score("unpriced_orders", float(len(unpriced))),
    ]


ALL_PARTS, PARTS_F1 = "diagnosis_all_parts", "diagnosis_parts_f1"


class AnswerScore:
    """`diagnosis_accuracy` or `treatment_accuracy`: 1.0, 0.0, or None with its reason (docs/scores.md).

    From MultiCogEval, section 3.3 (the indicator of equation 2), and MedR-Bench, section 4.3. The answer is first read
    without the truth. One that commits to no single diagnosis, or to no plan, scores 0.0: `several_answers`,
    `no_diagnosis_asserted`, `too_many_measures`, `no_treatment_asserted`. Without judges the match is lexical. With a
    `JudgeContext` the panel decides on what the answer commits to.

    Other scores stand beside it. A panel adds `lexical_match`, for a treatment `published_treatment_accuracy` (by which
    another plan than the reference is wrong without evidence), and, if more than one vote was asked for,
    `judge_agreement` (1.0 if all votes agree). A diagnosis has `diagnosis_all_parts` and `diagnosis_parts_f1`, by
    words. A game that asked for a list has `diagnosis_top_1` and so on, by the same panel, and `answers_given`.

    Without the panel's verdict a score is None: `judge_unreadable/WHY`, `judge/KIND`, `judge_torn`, `judges_divided`;
    for a treatment also `unverifiable`, `uncited`, `search/KIND`. The account records votes, searches and quotations.
    """

    name = "answer"

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score] | Scored:
        """Return the scores; with judges also their account."""
        goal = goal_of(case, trajectory)
        context = seat if isinstance(seat, JudgeContext) else None
        names = _names(goal, judged=context is not None)
        answer, value, reason = answer_to_score(case, trajectory, goal)
        evidence = _last_word(trajectory)
        if reason:
            return [Score(name, value, reason, () if value is None else evidence) for name in names]
        if (wanted := asked_for(trajectory)) > 1 and goal == "diagnosis":
            return await _score_ranked(context, case, answer, wanted, evidence)
        verdict = compare_answer(answer, case, goal)
        if verdict.reason and not verdict.match:
            return [Score(name, 0.0, verdict.reason, evidence) for name in names]
        parts = _parts(verdict, evidence)
        if context is None:
            return [Score(names[0], float(verdict.match), "", evidence), *parts]
        account = await _judged(context, case, answer, verdict)
        scores = [*_scores(account, float(verdict.match), evidence), *parts]
        return Scored(scores, {"outcome": msgspec.to_builtins(account)})


async def _score_ranked(
    context: JudgeContext | None, case: Case, answer: str, wanted: int, evidence: Sequence[int]
) -> Sequence[Score] | Scored:
    """Score a game that asked for a ranked list; the accuracy is that of the first entry.

    `diagnosis_top_K` is 1.0 if one of the first K is right. If there is a panel, it judges the entries in order until
    one is right. `answers_given` is the number of entries.
    """
    rank, count = diagnosis.rank_in_list(answer, case.truth, wanted)
    length = Score("answers_given", float(count), "", evidence)
    if context is None:
        hits = [Score("", float(rank is not None and rank <= place), "", evidence) for place in range(1, wanted + 1)]
        return [msgspec.structs.replace(hits[0], name="diagnosis_accuracy"), *_tops(hits), length]
    asked = await _each(context, case, (entries(answer) or (answer,))[:wanted])
    verdicts = [Score("", one.value, one.reason, evidence) for one in asked]
    scores = [*_scores(asked[0], float(rank == 1), evidence), *_tops(_first_right_so_far(verdicts, wanted)), length]
    return Scored(scores, {"outcome": msgspec.to_builtins(msgspec.structs.replace(asked[0], further=tuple(asked[1:])))})


async def _each(context: JudgeContext, case: Case, listed: Sequence[str]) -> list[OutcomeAccount]:
    """Let the panel judge the entries of a list in order, up to the first that is right.

    An entry that commits to no single diagnosis is wrong without asking the panel.
    """
    accounts: list[OutcomeAccount] = []
    for entry in listed:
        verdict = compare_answer(entry, case, "diagnosis")
        if verdict.reason and not verdict.match:
            account = OutcomeAccount("diagnosis", 0.0, (), context.panel.specs, context.panel.floor, verdict.reason)
        else:
            account = await _judged(context, case, entry, verdict)
        accounts.append(msgspec.structs.replace(account, entry=entry))
        if account.value:
            break
    return accounts


def _first_right_so_far(verdicts: Sequence[Score], wanted: int) -> list[Score]:
    """Return the top-K score of each place: the first right verdict up to it, else the first open one, else 0."""
    scores: list[Score] = []
    for place in range(wanted):
        had = verdicts[: place + 1]
        right = (one for one in had if one.value)
        unknown = (one for one in had if one.value is None)
        reason = had[0].reason if len({one.reason for one in had}) == 1 else ""
        scores.append(next(right, None) or next(unknown, None) or msgspec.structs.replace(had[0], reason=reason))
    return scores


def _tops(hits: Sequence[Score]) -> list[Score]:
    return [msgspec.structs.replace(hit, name=f"diagnosis_top_{place}") for place, hit in enumerate(hits, 1)]


def asked_for(trajectory: Trajectory) -> int:
    """Return how many diagnoses the game asked for: its setting `answers`, or 1."""
    wanted = scenario_settings(trajectory.header).get("answers", 1)
    return wanted if isinstance(wanted, int) else 1


def compare_answer(answer: str, case: Case, goal: Goal) -> diagnosis.Verdict | treatment.PlanVerdict:
    """Return the lexical verdict on an answer. Treatments have no synonyms, so a match in other words is missed."""
    if goal == "treatment":
        return treatment.compare_plan(answer, case.truth)
    return _compared(answer, case.truth, diagnosis.past_of(case))


_compared = lru_cache(maxsize=4096)(diagnosis.compare)
"""Caches the comparison, which accuracy, a second scoring and repeats of a case need for the same answer."""


async def _judged(
    context: JudgeContext, case: Case, answer: str, verdict: diagnosis.Verdict | treatment.PlanVerdict
) -> OutcomeAccount:
    """Let the panel judge what the answer commits to: a diagnosis, or measures that it gives and stops."""
    if isinstance(verdict, treatment.PlanVerdict):
        return await judged_treatment(context, case, answer, verdict.committed)
    return await judged_diagnosis(context, case, answer, verdict.committed)


def _parts(verdict: diagnosis.Verdict | treatment.PlanVerdict, evidence: Sequence[int]) -> list[Score]:
    """Score whether the answer asserts every disease of the truth, and F1 over them."""
    if isinstance(verdict, treatment.PlanVerdict):
        return []
    return [Score(ALL_PARTS, float(verdict.all_parts), "", evidence), Score(PARTS_F1, verdict.f1, "", evidence)]


def _names(goal: Goal, *, judged: bool) -> list[str]:
    """Return the names of the scores that every episode has."""
    names = [f"{goal}_accuracy"]
    if judged and goal == "treatment":
        names.append("published_treatment_accuracy")
    names += ["lexical_match"] * judged
    return [*names, ALL_PARTS, PARTS_F1] if goal == "diagnosis" else names


def _scores(account: OutcomeAccount, lexical: float, evidence: Sequence[int]) -> list[Score]:
    scores = [Score(f"{account.goal}_accuracy", account.value, account.reason, evidence)]
    if account.goal == "treatment":
        scores.append(Score("published_treatment_accuracy", account.published, account.published_reason, evidence))
    scores.append(Score("lexical_match", lexical, "", evidence))
    if len(account.votes) > 1:
        agreed = vote_agreement(account.votes)
        unread = next((vote.reason for vote in account.votes if vote.value is None), "")
        scores.append(Score("judge_agreement", agreed, unread if agreed is None else "", evidence))
    return scores


def _last_word(trajectory: Trajectory) -> tuple[int, ...]:
    """Return the event number of the doctor's last action, which contains the answer."""
    said = [event.seq for event in trajectory.acted("doctor")]
    return (said[-1],) if said else ()


CLOSING = ("premature_closing", "deciding_seen")


def closing_scores(case: Case, trajectory: Trajectory) -> list[Score]:
    """`premature_closing`: 1 if the answer came before all of the case's `truth.deciding` findings were seen, else 0.

    `deciding_seen` is the share of these findings that were seen. A finding was seen if its words occur in what the
    doctor read or heard before its answer, or in a field of the record that an answer cites. An examiner that repeats
    the words of an order because it has no result ("...: no test of this name is known") tells nothing. None with a
    reason: `no_deciding_findings` if the case names none, `not_ordered_here` if the doctor reads everything at once,
    `no_answer` if there is no answer, and the reason of an episode without scores.
    """
    reason = unscored(trajectory.ending)
    if not reason and not can_ask(trajectory):
        reason = "not_ordered_here"
    if not reason and not case.truth.deciding:
        reason = "no_deciding_findings"
    if not reason and (missed(trajectory.ending) or not answers(trajectory.ending)):
        reason = missed(trajectory.ending) or "no_answer"
    counted = [] if reason else replies(case, trajectory, as_seen=True)
    if reason or not counted:
        return [Score(name, None, reason or "no_replies") for name in CLOSING]
    seen = (opening_text(case, trajectory), *_texts_heard(trajectory, counted[-1].seq), *_cited_text(case, trajectory))
    share = sum(mentions_finding(finding, seen) for finding in case.truth.deciding) / len(case.truth.deciding)
    evidence = (counted[-1].seq,)
    return [Score("premature_closing", float(share < 1), "", evidence), Score("deciding_seen", share, "", evidence)]


def _texts_heard(trajectory: Trajectory, before: int) -> Iterator[str]:
    """Yield what the doctor was told before an event: of structured answers only those that hold a result."""
    for event in trajectory.acted():
        if event.seat not in ANSWERING or event.seq >= before:
            continue
        rows = answers_of(event.action)
        results = [row for row in rows if row.get("state") in RESULT_STATES]
        yield texts_of(results)
        if len(results) == len(rows):
            yield event.action.text


def _cited_text(case: Case, trajectory: Trajectory) -> list[str]:
    """Return the record's text where an answer cites it: a patient or an examiner may use other words."""
    refs = {ref for request in requests(trajectory) or () for ref in request.refs}
    return [item.text for item in case_results(case) if item.ref in refs]


SEATS = ("doctor", "patient", "examiner")


def role_break_scores(case: Case, trajectory: Trajectory) -> list[Score]:
    """`role_breaks_doctor`, `role_breaks_patient`, `role_breaks_examiner`: actions in which a seat broke its role.

    The seat wrote the words of another seat (`plays_other`), repeated its instructions (`recites`), spoke of itself as
    a model (`self_as_model`), or only filled in a placeholder (`template`): scenarios/parsers/nonanswers.py. The reason
    names the kinds, the evidence the actions. A seat that the scenario lacks has no score; in an open episode the
    score is None with the reason `open`.
    """
    seats = [seat for seat in SEATS if seat in trajectory.header.get("seats", ())]
    if trajectory.ending is None:
        return [Score(f"role_breaks_{seat}", None, "open") for seat in seats]
    met: Mapping[str, dict[int, list[Kind]]] = {seat: {} for seat in seats}
    for event, kinds in _role_breaks(case, trajectory):
        if event.seat in met:
            met[event.seat][event.seq] = kinds
    return [_score(seat, met[seat]) for seat in seats]


def _score(seat: str, met: Mapping[int, Sequence[Kind]]) -> Score:
    kinds = [kind for kind in KINDS if any(kind in event_kinds for event_kinds in met.values())]
    return Score(f"role_breaks_{seat}", float(len(met)), ", ".join(kinds), tuple(met))


def _role_breaks(case: Case, trajectory: Trajectory) -> Iterator[tuple[Acted, list[Kind]]]:
    """Yield the actions that break a role, with the kinds of break."""
    passages = Passages(_texts_of(case))
    sent: dict[str, Called] = {}
    drafts: dict[str, list[str]] = {}
    said: list[tuple[str, str]] = []
    for event in effective(trajectory.events):
        if isinstance(event, Called):
            sent[event.seat] = event
            if event.reply is not None:
                drafts.setdefault(event.seat, []).append(event.reply.text)
        elif isinstance(event, Acted):
            text = event.action.text
            others = [words for seat, words in said if seat != event.seat]
            if text.strip():
                call = sent.get(event.seat)
                heard = _instructions(trajectory, call, event, drafts.get(event.seat, [])[:-1]) if call else ()
                if kinds := breaks(text, event.seat, heard, passages, others):
                    yield event, kinds
            drafts.pop(event.seat, None)
            said.append((event.seat, text))


def _instructions(trajectory: Trajectory, call: Called, action: Acted, drafts: Sequence[str]) -> tuple[str, ...]:
    """Return what the model behind an action was told, without what roles of a team wrote before it in the same act.

    Nothing is returned for an answer in parts: the record gave its text, and no model wrote it.
    """
    if answers_of(action.action):
        return ()
    heard = [message.content for message in trajectory.messages(call) if message.role != "assistant"]
    for draft in filter(str.strip, drafts):
        heard = [text.replace(draft.strip(), "\n") for text in heard]
    return tuple(heard)


def _texts_of(case: Case) -> Iterator[str]:
    """Yield every text in a case; nothing is read before the first is asked for."""
    yield from _texts(case.model_dump(mode="json"))
    yield from (item.text for item in case_results(case))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts(part)


def usage_scores(trajectory: Trajectory) -> list[Score]:
    """`turns`, `calls`, `failed_calls`, `tokens`, `tokens_prompt`, `tokens_completion`, `cost_usd`, `model_seconds`,
    `episode_seconds`.

    `cost_usd` is None, reason `unknown_price`, if the price of any call is unknown. `model_seconds` is the sum of the
    latencies of all answered calls; `episode_seconds` runs from the first event to the last and includes pauses before
    a resume. An open episode has none of these scores, reason `open`.
    """
    used = trajectory.usage()
    calls = list(trajectory.called())
    values: dict[str, float | None] = {
        "turns": _turns(trajectory),
        "calls": len(calls),
        "failed_calls": sum(call.error is not None for call in calls),
        "tokens": used.prompt + used.completion,
        "tokens_prompt": used.prompt,
        "tokens_completion": used.completion,
        "cost_usd": used.cost,
        "model_seconds": sum(call.reply.latency for call in calls if call.reply),
        "episode_seconds": trajectory.events[-1].at - trajectory.events[0].at,
    }
    if trajectory.ending is None:
        return [Score(name, None, "open") for name in values]
    return [
        Score(name, None, "unknown_price") if value is None else Score(name, float(value))
        for name, value in values.items()
    ]


def _turns(trajectory: Trajectory) -> int:
    """Return the turns that the rules counted; if a failure outside them ended the episode, the doctor's actions."""
    ending = trajectory.ending
    counted = ending.facts.get("turns") if ending else None
    return counted if isinstance(counted, int) else sum(1 for _ in trajectory.acted("doctor"))


class Standard:
    """Accuracy, the full path, examinations, closing, role breaks, usage. With a `JudgeContext` judges decide.

    ::

        scores = await wardround.score_run(run, [Standard()])

    `prices` is a table of tests with the user's own points; without it the costs are those reported in the episode.
    """

    name = "standard"
    VERSION: ClassVar[int] = 12

    def __init__(self, prices: Catalogue | None = None) -> None:
        self._prices = prices

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score] | Scored:
        """Return all scores. The answer is judged once, for accuracy and full path; with judges there is an account."""
        judged = await AnswerScore().score(case, trajectory, seat)
        accuracy = judged.scores if isinstance(judged, Scored) else judged
        exams = exam_scores(case, trajectory, self._prices)
        beside = [*closing_scores(case, trajectory), *role_break_scores(case, trajectory)]
        beside += [*invented_scores(case, trajectory), *misstated_scores(trajectory), *team_scores(trajectory)]
        beside += spending_scores(trajectory)
        scores = [*accuracy, *full_path(accuracy[0], exams), *exams, *beside, *usage_scores(trajectory)]
        return Scored(scores, judged.account) if isinstance(judged, Scored) else scores


class Priced(Standard):
    """The standard scores with a user's points for tests.

    `points` is the text of a CSV table with the columns name and points; `where` names its file in error messages.
    `tables` holds that text by the name of the argument. Raises UsageError.
    """

    def __init__(self, points: str, where: str = "--points") -> None:
        super().__init__(catalogue().priced(points, where))
        self.tables: Mapping[str, str] = {"points": points}
