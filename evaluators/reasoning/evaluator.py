"""The Reasoning Evaluator (paper 002, section 4.3): a separate agent that judges the reasoning of stored episodes."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

from wardround.engine.errors import UsageError
from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.bench import Bench
from wardround.evaluators.evidence.sealed import Sealed
from wardround.evaluators.judging.fence import left_out
from wardround.evaluators.judging.hostile import signs
from wardround.evaluators.measure import Part
from wardround.evaluators.reasoning import questions
from wardround.evaluators.reasoning.account import Account, PartAccount
from wardround.evaluators.reasoning.judged import JudgedReply, Rules
from wardround.evaluators.reasoning.library import Library
from wardround.evaluators.reasoning.part import Judging, judged_reply
from wardround.evaluators.reasoning.pooled import pooled
from wardround.evaluators.reasoning.reference import MOST, read_reference
from wardround.evaluators.reasoning.scores import scores
from wardround.evaluators.reasoning.turns import Reply, asks, replies, scenario
from wardround.evaluators.standing import Goal, answers, goal_of, unscored
from wardround.evaluators.together import together
from wardround.scenarios import case as disclosure
from wardround.scenarios.case import Case, Truth

PARTS: tuple[Part, ...] = ("formal", "thinking")
BY_TURN = ("free-turn",)
"""Scenarios whose turns have columns of their own."""
GOALS: Mapping[str, str] = {
    "diagnosis": "to find the diagnosis",
    "treatment": "to choose the treatment",
    "examination": "to find out what must be asked and examined to reach the diagnosis",
}


class Reasoning:
    """Version 1: efficiency, factuality and completeness (equations 4 to 6) of each reply's formal and thinking part.

    What evaluations that are stored were made by, and what the published rules build on; new ones are made by
    `EncounterReasoning`.

    Names as in `scores.scores` for the reply that holds the answer; with the prefix `examination_` for all replies
    before it together, and `turn_N_` for each reply of a free-turn episode. Beside them `hostile_texts`, the number of
    texts that speak to the judge, and `reasoning_agreement`, the share of questions in which all votes said the same,
    if the panel takes more than one (`no_votes`: nothing was asked of it, or all votes failed). Needs a `Bench`
    with a search.
    """

    name = "reasoning"
    VERSION: ClassVar[int] = 1
    rules: ClassVar[Rules] = "default"
    judged: ClassVar[bool] = True
    SEARCH: ClassVar[str] = "bundled"

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Scored:
        """All figures of one episode, with their account."""
        if not isinstance(seat, Bench) or seat.search is None:
            raise UsageError(f"the evaluator {self.name} needs judges and a search: --judge SPEC --search SPEC")
        reason = unscored(trajectory.ending)
        found = [] if reason else replies(case, trajectory)
        if not found:
            return Scored(self._none(trajectory, seat, reason or "no_replies"))
        goal, given = goal_of(case, trajectory), answers(trajectory.ending)
        known = "\n".join([found[-1].known, *(f"{reply.text}\n{reply.thinking}" for reply in found)])
        library = Library(Sealed(seat.search, case.truth, known), seat.reader, seat.signed)
        judging = Judging(seat.panel, self.rules, GOALS[goal], library, given.get(goal, ""))
        reference, unreferenced = await self._reference(seat, case.truth, goal)
        parts = await together(
            [_judged(judging, reply, part, reference, unreferenced) for reply in found for part in PARTS]
        )
        account = Account(
            self.rules,
            {judge.seat: judge.spec for judge in seat.panel.judges},
            seat.search.name,
            seat.panel.floor,
            tuple(parts),
            case_signs(case, found[-1].known),
            left_out(told(case.truth, goal, self.rules)),
        )
        return Scored([*self._figures(parts, trajectory), *hostile_texts(account), *agreement(judging)], account)

    async def _reference(self, bench: Bench, truth: Truth, goal: Goal) -> tuple[Sequence[str], str]:
        """The steps of the reference, or why there are none; to the published code an answer alone is a reference."""
        text = told(truth, goal, self.rules)
        if not text:
            return (), "no_reference"
        most = MOST if self.rules == "default" else None
        answer = await bench.panel.first(questions.reference(text), lambda reply: read_reference(reply, most))
        return (answer.value, "") if answer.value is not None else ((), answer.reason)

    def _figures(self, parts: Sequence[PartAccount], trajectory: Trajectory) -> list[Score]:
        by_turn = scenario(trajectory) in BY_TURN
        figures: list[Score] = []
        for name in PARTS:
            mine = [part for part in parts if part.part == name]
            before = [self._reply(part) for part in mine[:-1]]
            figures += self._scores(self._reply(mine[-1]), "", mine[-1:], mine[-1].unreferenced)
            if before:
                figures += self._scores(pooled(name, before), "examination_", mine[:-1], "no_reference")
            elif asks(trajectory):
                figures += self._without(name, "examination_", "nothing_asked")
            for part in mine if by_turn else ():
                figures += self._scores(self._reply(part), f"turn_{part.turn}_", [part], part.unreferenced)
        return figures

    def _reply(self, part: PartAccount) -> JudgedReply:
        return judged_reply(part, self.rules)

    def _scores(self, reply: JudgedReply, prefix: str, parts: Sequence[PartAccount], unreferenced: str) -> list[Score]:
        evidence = tuple(part.seq for part in parts)
        made = []
        for score in scores(reply, self.rules):
            # a reference that the judge could not bring into steps is a failure, not a case without one
            failed = score.reason == "no_reference" and unreferenced.startswith("judge")
            reason = unreferenced if failed else score.reason
            made.append(Score(prefix + score.name, score.value, reason, evidence))
        return made

    def _without(self, part: Part, prefix: str, reason: str) -> list[Score]:
        """The figures of what there is not."""
        names = [score.name for score in scores(JudgedReply(part, (), None, reason), self.rules)]
        return [Score(prefix + name, None, reason) for name in names]

    def _none(self, trajectory: Trajectory, bench: Bench, reason: str) -> list[Score]:
        """The same names as an episode of this scenario has that can be scored, but for those of its turns."""
        prefixes = ["", "examination_"] if asks(trajectory) else [""]
        figures = [score for part in PARTS for prefix in prefixes for score in self._without(part, prefix, reason)]
        beside = ["hostile_texts", *(["reasoning_agreement"] if bench.panel.several else [])]
        return figures + [Score(name, None, reason) for name in beside]


class PublishedReasoning(Reasoning):
    """The same by the rules of the published code: scores `published_*` (reasoning/scores.py)."""

    name = "reasoning-published"
    VERSION: ClassVar[int] = 1
    rules = "published"


def _judged(
    judging: Judging, reply: Reply, part: Part, reference: Sequence[str], unreferenced: str
) -> Callable[[], Awaitable[PartAccount]]:
    """One part to judge; the reasons to ask for something are in no reference."""
    if reply.stage == "examination":
        asking = replace(judging, goal=GOALS["examination"])
        return lambda: asking.part(reply, part, (), "no_reference")
    return lambda: judging.part(reply, part, reference, unreferenced)


def told(truth: Truth, goal: Goal, rules: Rules) -> str:
    """The reference reasoning with the final answer; "" if there is none."""
    final = truth.diagnosis if goal == "diagnosis" else truth.treatment
    told = [part.strip() for part in (truth.differential, truth.reasoning) if part.strip()]
    if not told and (rules == "default" or not final.strip()):
        return ""
    return "\n".join([*told, f"The final {goal}: {final.strip()}"])


_often = lru_cache(maxsize=1024)(signs)  # a case comes up in many episodes


def case_signs(case: Case, known: str) -> tuple[str, ...]:
    """The signs of text that speaks to the judge in the case as it was `known`, in all of it, and in its reference.

    The reference is shown to judges whatever the doctor heard, so its signs are told apart: `reference:SIGN`.
    """
    truth = case.truth
    record = (known, case.opening, case.complaint, disclosure.full(case), *case.history.values())
    reference = (truth.reasoning, truth.differential, truth.treatment, truth.diagnosis, *truth.synonyms)
    found = [sign for text in dict.fromkeys(record) for sign in _often(text, "case")]
    found += [f"reference:{sign}" for text in dict.fromkeys(reference) for sign in _often(text, "reference")]
    return tuple(dict.fromkeys(found))


def hostile_texts(account: Account) -> list[Score]:
    """How many texts of an episode speak to the judge: parts of replies, and the case."""
    flagged = sum(bool(part.flags) or any(step.flags for step in part.steps) for part in account.parts)
    return [Score("hostile_texts", float(flagged + bool(account.flags)))]


def agreement(judging: Judging) -> list[Score]:
    """The share of questions in which all votes said the same, where a panel takes more than one."""
    votes = judging.steady
    if not judging.panel.several:
        return []
    if not votes:
        return [Score("reasoning_agreement", None, "no_votes")]
    return [Score("reasoning_agreement", sum(votes) / len(votes))]
