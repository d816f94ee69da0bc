"""The Reasoning Evaluator (MedR-Bench, section 4.3): version 1 judges each reply by itself, version 3 all as one.

For each episode it collects the doctor's replies, splits each part into steps, has the steps judged and the reference
looked for (`part`), and computes the scores (`reasoning_record`). New evaluations use `EncounterReasoning`.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.once import together
from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import Goal, JudgeContext, Knowledge, answers, goal_of, unscored
from wardround.evaluators.injection.detect import signs
from wardround.evaluators.judges.question import left_out
from wardround.evaluators.measures import Part
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.reasoning.controls import ask_controls
from wardround.evaluators.reasoning.doctor_replies import DoctorReply, can_ask, replies, scenario_name
from wardround.evaluators.reasoning.evidence import Library
from wardround.evaluators.reasoning.part import ReasoningJudge, SplitPart
from wardround.evaluators.reasoning.reasoning_record import (
    Account,
    OverquotedPassage,
    PartAccount,
    ReferenceAccount,
    WholeAccount,
    combined_part,
    opinion_scores,
    pooled,
    scores,
    turning_scores,
)
from wardround.evaluators.reasoning.step_questions import ABSENT, MOST_STEPS, Rules, read_reference
from wardround.evaluators.reasoning.steps import MANY
from wardround.evaluators.search.contract import Search
from wardround.evaluators.search.stack import LeakGuard
from wardround.scenarios import case as disclosure
from wardround.scenarios.case import Case, Truth

PARTS: tuple[Part, ...] = ("formal", "thinking")
BY_TURN = ("free-turn",)
"""Scenarios whose turns have their own columns."""
GOALS: Mapping[str, str] = {
    "diagnosis": "to find the diagnosis",
    "treatment": "to choose the treatment",
    "examination": "to find out what must be asked and examined to reach the diagnosis",
}


class Reasoning:
    """Version 1: efficiency, factuality and completeness (equations 4 to 6) of each reply's formal and thinking part.

    Stored evaluations were made by this version, and the published rules build on it; new evaluations use
    `EncounterReasoning`.

    Scores named as in `scores` cover the reply with the answer. The prefix `examination_` covers all replies
    before it together, and `turn_N_` each reply of a free-turn episode. Two more scores are `hostile_texts`, the number
    of texts that address the judge, and, if the panel takes more than one vote, `reasoning_agreement`, the share of
    questions on which all votes agree (`no_votes`: nothing was asked, or all votes failed). Needs a `JudgeContext`
    with a search.
    """

    name = "reasoning"
    VERSION: ClassVar[int] = 1
    rules: ClassVar[Rules] = "default"
    judged: ClassVar[bool] = True
    SEARCH: ClassVar[str] = "bundled"

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Scored:
        """Return all scores of one episode with their account."""
        if not isinstance(seat, JudgeContext) or seat.search is None:
            raise UsageError(f"the evaluator {self.name} needs judges and a search: --judge SPEC --search SPEC")
        reason = unscored(trajectory.ending)
        turns = [] if reason else replies(case, trajectory)
        if not turns:
            return Scored(self._none(trajectory, seat, reason or "no_replies"))
        goal, stated = goal_of(case, trajectory), answers(trajectory.ending)
        library = _library(seat, seat.search, case.truth, turns)
        judging = ReasoningJudge(seat.panel, self.rules, GOALS[goal], library, stated.get(goal, ""))
        reference, unreferenced = await self._reference(seat, case.truth, goal)
        works = [
            partial(_for_stage(judging, reply).judge_part, reply, part, *_comparable(reply, reference, unreferenced))
            for reply in turns
            for part in PARTS
        ]
        parts = await together(works)
        account = Account(
            self.rules,
            seat.panel.specs,
            seat.search.name,
            seat.panel.floor,
            tuple(parts),
            case_signs(case, turns[-1].known),
            left_out(reference_text(case.truth, goal, self.rules)),
        )
        return Scored([*self._figures(parts, trajectory), *hostile_texts(account), *panel_agreement(judging)], account)

    async def _reference(self, context: JudgeContext, truth: Truth, goal: Goal) -> tuple[Sequence[str], str]:
        """Return the reference's steps and why there are none; for the published code a bare answer is a reference."""
        text = reference_text(truth, goal, self.rules)
        if not text:
            return (), "no_reference"
        most = MOST_STEPS if self.rules == "default" else None
        answer = await context.panel.first(
            step_questions.split_reference(text), lambda reply: read_reference(reply, most)
        )
        return (answer.value, "") if answer.value is not None else ((), answer.reason)

    def _figures(self, parts: Sequence[PartAccount], trajectory: Trajectory) -> list[Score]:
        by_turn = scenario_name(trajectory) in BY_TURN
        figures: list[Score] = []
        for name in PARTS:
            mine = [part for part in parts if part.part == name]
            figures += self._scores(mine[-1], "", mine[-1:], mine[-1].unreferenced)
            if mine[:-1]:
                figures += self._scores(pooled(mine[:-1]), "examination_", mine[:-1], "no_reference")
            elif can_ask(trajectory):
                figures += self._without(name, "examination_", "nothing_asked")
            for part in mine if by_turn else ():
                figures += self._scores(part, f"turn_{part.turn}_", [part], part.unreferenced)
        return figures

    def _scores(self, reply: PartAccount, prefix: str, parts: Sequence[PartAccount], unreferenced: str) -> list[Score]:
        evidence = tuple(part.seq for part in parts)
        made = []
        for score in scores(reply, self.rules):
            # a reference that the judge could not split into steps is a failure, not a missing reference
            failed = score.reason == "no_reference" and unreferenced.startswith("judge")
            reason = unreferenced if failed else score.reason
            made.append(Score(prefix + score.name, score.value, reason, evidence))
        return made

    def _without(self, part: Part, prefix: str, reason: str) -> list[Score]:
        """Return the scores of a part or reply that does not exist: None with this reason."""
        names = [score.name for score in scores(combined_part(part, reason=reason), self.rules)]
        return [Score(prefix + name, None, reason) for name in names]

    def _none(self, trajectory: Trajectory, context: JudgeContext, reason: str) -> list[Score]:
        """Return the scores of an episode that cannot be judged: the usual names, without those of single turns."""
        prefixes = ["", "examination_"] if can_ask(trajectory) else [""]
        figures = [score for part in PARTS for prefix in prefixes for score in self._without(part, prefix, reason)]
        beside = ["hostile_texts", *(["reasoning_agreement"] if context.panel.several else [])]
        return figures + [Score(name, None, reason) for name in beside]


class PublishedReasoning(Reasoning):
    """The same evaluator by the rules of the published code: scores `published_*` (reasoning_record.py).

    ::

        wardround score RUN --evaluators reasoning,reasoning-published --judge openai/gpt-4o --search pubmed
    """

    name = "reasoning-published"
    VERSION: ClassVar[int] = 1
    rules = "published"


def _comparable(reply: DoctorReply, reference: Sequence[str], unreferenced: str) -> tuple[Sequence[str], str]:
    """Return the reference and why there is none; reasons for a request are in no reference."""
    return ((), "no_reference") if reply.stage == "examination" else (reference, unreferenced)


def reference_text(truth: Truth, goal: Goal, rules: Rules) -> str:
    """Return the reference reasoning with the final answer; "" if there is none."""
    final = truth.diagnosis if goal == "diagnosis" else truth.treatment
    parts = [part.strip() for part in (truth.differential, truth.reasoning) if part.strip()]
    if not parts and (rules == "default" or not final.strip()):
        return ""
    return "\n".join([*parts, f"The final {goal}: {final.strip()}"])


def case_signs(case: Case, known: str) -> tuple[str, ...]:
    """Return the signs of text that addresses the judge: in the `known` case, in the whole case, in its reference.

    Judges see the reference whatever the doctor read, so its signs are marked as `reference:SIGN`.
    """
    truth = case.truth
    record = (known, case.opening, case.complaint, disclosure.full_report(case), *case.history.values())
    reference = (truth.reasoning, truth.differential, truth.treatment, truth.diagnosis, *truth.synonyms)
    hits = [sign for text in dict.fromkeys(record) for sign in signs(text, "case")]
    hits += [f"reference:{sign}" for text in dict.fromkeys(reference) for sign in signs(text, "reference")]
    return tuple(dict.fromkeys(hits))


def hostile_texts(account: Account) -> list[Score]:
    """Count the texts of an episode that address the judge: parts of replies, and the case."""
    flagged = sum(bool(part.flags) or any(step.flags for step in part.steps) for part in account.parts)
    return [Score("hostile_texts", float(flagged + bool(account.flags)))]


def panel_agreement(judging: ReasoningJudge) -> list[Score]:
    """Return the share of questions on which all votes agree, if a panel takes more than one vote."""
    votes = judging.steady
    if not judging.panel.several:
        return []
    if not votes:
        return [Score("reasoning_agreement", None, "no_votes")]
    return [Score("reasoning_agreement", sum(votes) / len(votes))]


def draw_steps(counts: Sequence[int], seed: int, most: int = MANY) -> list[list[int]]:
    """Draw the steps to judge from turns with so many steps each; returns the places of the steps for each turn.

    Up to `most` steps, all are judged. With more, the last turn stays whole and the rest is drawn from the earlier
    turns, each step with the same chance. If the last turn alone has more than `most`, all steps to judge are drawn
    from it.
    """
    if sum(counts) <= most:
        return [list(range(count)) for count in counts]
    draw = random.Random(seed)
    last = counts[-1]
    if last >= most:
        return [[] for _ in counts[:-1]] + [sorted(draw.sample(range(last), most))]
    steps = [(turn, place) for turn, count in enumerate(counts[:-1]) for place in range(count)]
    kept: list[list[int]] = [[] for _ in counts]
    for turn, place in sorted(draw.sample(steps, most - last)):
        kept[turn].append(place)
    kept[-1] = list(range(last))
    return kept


OFTEN_QUOTED = 4
"""The fewest steps that quote a passage which is named as overquoted."""
ALONE_SHARE = 1 / 4
"""A passage is named if it is quoted by at least this share of the steps that quote anything."""
FEW_SHARE = 1 / 10
"""Passages that at least this share quotes are also named if together they serve more than half of those steps."""


class EncounterReasoning(Reasoning):
    """Version 3: the reasoning of all turns is judged as one; version 2 named fewer overquoted passages.

    ::

        wardround score RUN --evaluators reasoning --judge openai/gpt-4o --search pubmed

    Each step is judged by what the doctor knew at that turn. A step that relies on a finding not yet reported is
    `unseen`: it counts, but not as effective. A verdict needs a quotation that bears on the step (evidence.py).

    Scores named as in version 1 cover the reply with the answer. The prefix `examination_` covers the replies before
    it, `turn_N_` each turn of a scenario in which the doctor can ask somebody, and `whole_` all turns together. Only
    `whole_` has `whole_unseen_PART`, the share of unseen steps, and `whole_repetition_PART`, the share of the steps
    from the second turn on that repeat a step of an earlier turn. Where judges may use their own knowledge,
    `opinion_factuality_PART` gives the factuality by that knowledge.
    """

    VERSION: ClassVar[int] = 3
    KNOWLEDGE: ClassVar[bool] = True
    """The judges may use their own knowledge if the user allows it."""

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Scored:
        """Return all scores of one episode with their account; the first of an evaluation also asks the controls."""
        if not isinstance(seat, JudgeContext) or (seat.search is None and seat.knowledge != "judge"):
            raise UsageError(f"the evaluator {self.name} needs judges and a search: --judge SPEC --search SPEC")
        controls = () if seat.controls is None else await ask_controls(seat.panel, seat.controls, seat.knowledge)
        reason = unscored(trajectory.ending)
        turns = [] if reason else replies(case, trajectory, as_seen=True)
        account = Account(
            self.rules,
            seat.panel.specs,
            seat.search.name if seat.search else "",
            seat.panel.floor,
            knowledge=seat.knowledge,
            controls=controls,
        )
        if not turns:
            return Scored(self._none(trajectory, seat, reason or "no_replies"), account if controls else None)
        goal, stated = goal_of(case, trajectory), answers(trajectory.ending)
        search = None if seat.knowledge == "judge" else seat.search
        library = None if search is None else _library(seat, search, case.truth, turns)
        judging = ReasoningJudge(
            seat.panel, self.rules, GOALS[goal], library, stated.get(goal, ""), whole=True, knowledge=seat.knowledge
        )
        reference, unreferenced = await self._reference(seat, case.truth, goal)
        split_parts = await together(
            [partial(_for_stage(judging, reply).split_reply, reply, part) for reply in turns for part in PARTS]
        )
        chosen = [
            one for part in PARTS for one in _choose_steps([one for one in split_parts if one.part == part], seat.seed)
        ]
        ordered = sorted(chosen, key=lambda one: (one.reply.turn, PARTS.index(one.part)))
        works = [
            partial(_for_stage(judging, one.reply).judge_split, one, *_comparable(one.reply, reference, unreferenced))
            for one in ordered
        ]
        parts = await together(works)
        whole = [await _judge_whole(judging, chosen, parts, part, reference, unreferenced) for part in PARTS]
        account = msgspec.structs.replace(
            account,
            parts=tuple(parts),
            flags=case_signs(case, turns[-1].known),
            unseen=left_out(reference_text(case.truth, goal, self.rules)),
            whole=tuple(whole),
            overquoted=_overquoted_passages(parts),
        )
        figures = self._turn_scores(parts, whole, seat.knowledge, several=can_ask(trajectory))
        return Scored([*figures, *hostile_texts(account), *panel_agreement(judging)], account)

    def _turn_scores(
        self, parts: Sequence[PartAccount], whole: Sequence[WholeAccount], knowledge: Knowledge, *, several: bool
    ) -> list[Score]:
        """Return the scores of every stage: the answering reply, the replies before it, each turn, and all turns."""
        figures: list[Score] = []
        for one in whole:
            name = one.part
            mine = [part for part in parts if part.part == name]
            before = mine[:-1]
            nothing = combined_part(name, reason="nothing_asked")
            staged = [("", mine[-1], mine[-1:], mine[-1].unreferenced)]
            if before or several:
                staged.append(("examination_", pooled(before) if before else nothing, before, "no_reference"))
            for part in mine if several else ():
                staged.append((f"turn_{part.turn}_", part, [part], part.unreferenced))
            steps = tuple(step for part in mine for step in part.steps)
            # steps that were not drawn do not count as failures
            all_of_it = combined_part(name, steps, "" if steps else pooled(mine).reason, one.reference)
            staged.append(("whole_", all_of_it, mine, one.unreferenced))
            for prefix, reply, of, unreferenced in staged:
                figures += self._scores(reply, prefix, of, unreferenced)
                figures += opinion_scores(reply, prefix) if knowledge != "search" else []
            figures += turning_scores(all_of_it, [part for part in mine if part.turn > 1], tuple(p.seq for p in mine))
        counts = {f"whole_steps_{one.part}": one.steps for one in whole}
        return [
            msgspec.structs.replace(score, value=float(counts[score.name]))
            if score.value is not None and score.name in counts
            else score
            for score in figures
        ]

    def _none(self, trajectory: Trajectory, context: JudgeContext, reason: str) -> list[Score]:
        """Return the scores of an episode that cannot be judged: the usual names, without those of single turns."""
        figures: list[Score] = []
        for part in PARTS:
            nothing = combined_part(part, reason=reason)
            for stage in ["", "examination_", "whole_"] if can_ask(trajectory) else ["", "whole_"]:
                figures += self._without(part, stage, reason)
                figures += opinion_scores(nothing, stage) if context.knowledge != "search" else []
            figures += turning_scores(nothing, (), ())
        beside = ["hostile_texts", *(["reasoning_agreement"] if context.panel.several else [])]
        return figures + [Score(name, None, reason) for name in beside]


def _library(context: JudgeContext, search: Search, truth: Truth, turns: Sequence[DoctorReply]) -> Library:
    """Return the library of `search`, which hides the truth until the doctor names it."""
    known = "\n".join([turns[-1].known, *(f"{reply.text}\n{reply.thinking}" for reply in turns)])
    return Library(LeakGuard(search, truth, known), context.reader, context.signed)


def _for_stage(judging: ReasoningJudge, reply: DoctorReply) -> ReasoningJudge:
    return replace(judging, goal=GOALS["examination"]) if reply.stage == "examination" else judging


def _choose_steps(mine: Sequence[SplitPart], seed: int) -> list[SplitPart]:
    """Give one part of each reply the steps of earlier turns and the places of the steps to judge."""
    places = draw_steps([len(one.split.steps) for one in mine], seed)
    before: list[tuple[int, str]] = []
    placed = []
    for one, chosen in zip(mine, places, strict=True):
        split = one.split
        if over := len(split.steps) - len(chosen):
            split = msgspec.structs.replace(split, left_out=over, reason=split.reason if chosen else "too_many_steps")
        placed.append(msgspec.structs.replace(one, split=split, before=tuple(before), places=chosen))
        before += [(one.reply.turn, step) for step in split.steps]
    return placed


async def _judge_whole(
    judging: ReasoningJudge,
    chosen: Sequence[SplitPart],
    parts: Sequence[PartAccount],
    part: Part,
    reference: Sequence[str],
    unreferenced: str,
) -> WholeAccount:
    """Judge one part of all turns together: reference steps that the answering turn lacks are sought in all turns."""
    mine = [one for one in chosen if one.part == part]
    steps = [step for one in mine for step in one.split.steps]
    judged = sum(len(one.chosen) for one in mine)
    whole = WholeAccount(part, len(steps), judged, unreferenced=unreferenced)
    last = next(one for one in reversed(parts) if one.part == part)
    if unreferenced:
        return whole
    if not steps and last.reason in ABSENT:
        return msgspec.structs.replace(whole, unreferenced=last.reason)
    if last.reference is not None and len(steps) == len(mine[-1].split.steps):
        return msgspec.structs.replace(whole, reference=last.reference)
    behind = {place: one for place, one in enumerate(last.reference or ()) if one.reasoning}
    missing = [place for place in range(len(reference)) if place not in behind]
    sought = await judging.find_reference(steps, reference, missing)
    by_place: dict[int, ReferenceAccount] = behind | dict(zip(missing, sought, strict=True))
    return msgspec.structs.replace(whole, reference=tuple(by_place[place] for place in range(len(reference))))


def _overquoted_passages(parts: Sequence[PartAccount]) -> tuple[OverquotedPassage, ...]:
    """Return the passages that were quoted for many steps, whether or not a verdict rests on the quotations."""
    steps = [{quoted.digest for quoted in (*step.quoted, *step.beside)} for part in parts for step in part.steps]
    quoting = [digests for digests in steps if digests]
    counts = Counter(digest for digests in quoting for digest in sorted(digests))
    few = {digest for digest, count in counts.items() if count >= max(OFTEN_QUOTED, FEW_SHARE * len(quoting))}
    most = 2 * sum(not few.isdisjoint(digests) for digests in quoting) > len(quoting)
    return tuple(
        OverquotedPassage(digest, count, len(quoting))
        for digest, count in sorted(counts.items())
        if digest in few and (most or count >= ALONE_SHARE * len(quoting))
    )
