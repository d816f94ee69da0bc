"""Version 1 of the Reasoning Evaluator (paper 002, section 4.3), which judges reply by reply."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar

from wardround.engine.errors import UsageError
from wardround.engine.once import together
from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import Goal, JudgeContext, answers, goal_of, unscored
from wardround.evaluators.injection.detect import signs
from wardround.evaluators.judges.question import left_out
from wardround.evaluators.judges.strict_reply import LONGEST, Payload, Unread, Why, field, payload, unread_reply
from wardround.evaluators.measures import Part
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.reasoning.doctor_replies import DoctorReply, asks, replies, scenario
from wardround.evaluators.reasoning.evidence import Library
from wardround.evaluators.reasoning.part import Judging
from wardround.evaluators.reasoning.reasoning_record import Account, PartAccount, ReferenceAccount, StepAccount
from wardround.evaluators.reasoning.scores import scores
from wardround.evaluators.reasoning.step_questions import ABSENT, REFUSAL, Rules
from wardround.evaluators.search.stack import LeakGuard
from wardround.scenarios import case as disclosure
from wardround.scenarios.case import Case, Truth


def pooled(parts: Sequence[PartAccount]) -> PartAccount:
    """Join the steps of a part of several replies, without a reference; without any, keep the first real reason."""
    steps = tuple(step for one in parts for step in one.steps)
    reasons = sorted((one.reason for one in parts if one.reason), key=lambda reason: reason in ABSENT)
    reason = "" if steps else next(iter(reasons), "no_reasoning")
    return combined_part(parts[0].part, steps, reason, left_out=sum(one.left_out for one in parts))


def combined_part(
    part: Part,
    steps: tuple[StepAccount, ...] = (),
    reason: str = "",
    reference: tuple[ReferenceAccount, ...] | None = None,
    left_out: int = 0,
) -> PartAccount:
    """Return a part that belongs to no single reply, or that does not exist: only scores are computed from it."""
    return PartAccount(part, "examination", 0, 0, steps, reason=reason, left_out=left_out, reference=reference)


MOST = 10
"""Highest number of steps that prompt 14 allows."""

_STEP = re.compile(
    r"(?im)^[ \t>*_#-]*(?:<step\s{0,9}\d{1,4}\s{0,9}>|step[ \t]+\d{1,4}[*_]{0,3}[:.)]|\d{1,4}[.)][ \t])[*_:]*"
)
_CLOSED = re.compile(r"(?i)</step\s{0,9}\d{0,4}>")
_OPENS = re.compile(r'[{\[]\s*["{\[\]}]')
_BLANK = re.compile(r"\n[ \t]*\n")
# what a judge writes when its list ends
_BEHIND = re.compile(
    r"(?im)^[ \t]*(?:```|(?:i )?hope this|let me know|(?:please )?feel free|if you (?:have|need|want)|please note)"
)


def read_reference(text: str, most: int | None = MOST) -> tuple[str, ...] | Unread:
    """Read 1 to 10 steps, the last being the final answer (prompt 14), from JSON {"steps": ["...", ...]} or from text.

    In text, `<Step n>`, `Step n:` or a number at the beginning of a line opens a step. Text before the first step or
    after the list is no step. More than `most` steps are `too_many_steps`, since we cannot choose which would count.
    The published code takes any number (None).
    """
    if not text.strip() or len(text) > LONGEST:
        return unread_reply("too_long" if text.strip() else "empty", text)
    raw = _read(text)
    if isinstance(raw, Unread):
        return raw
    steps = tuple(" ".join(step.split()) for step in raw if any(map(str.isalnum, step)))
    if not steps:
        return unread_reply(_why(text), text)
    return unread_reply("too_many_steps", text) if most is not None and len(steps) > most else steps


def _read(text: str) -> list[str] | Unread:
    """Return the raw steps of a JSON value, or of a list in text if no JSON value comes before it."""
    marks, opening = list(_STEP.finditer(text)), _OPENS.search(text)
    listed = marks and not (opening and opening.start() < marks[0].start())
    parsed = None if listed else payload(text)
    if isinstance(parsed, Unread):
        return parsed
    if isinstance(parsed, Payload):
        steps = parsed.value if isinstance(parsed.value, list) else field(parsed.value, ("steps", "reasoning_steps"))
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
            return unread_reply("no_field", text)
        return [_CLOSED.sub("", _STEP.sub("", str(step))) for step in steps]
    ends = [mark.start() for mark in marks[1:]] + ([len(text)] if marks else [])
    pieces = [_CLOSED.sub("", text[mark.end() : end]).strip() for mark, end in zip(marks, ends, strict=True)]
    return [*pieces[:-1], _ended(pieces[-1], pieces[:-1])] if pieces else []


def _ended(last: str, others: Sequence[str]) -> str:
    """Return the last step without the text after the list; where all other steps are one paragraph, it is too."""
    behind = _BEHIND.search(last)
    last = last[: behind.start()] if behind else last
    return last if any(map(_BLANK.search, others)) else _BLANK.split(last, maxsplit=1)[0]


def _why(text: str) -> Why:
    """Return why a reply has no steps."""
    if REFUSAL.search(text):
        return "refusal"
    return "no_steps" if re.search("[a-zA-Z]", text) or not any(map(str.isalpha, text)) else "other_language"


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

    Scores named as in `scores.scores` cover the reply with the answer. The prefix `examination_` covers all replies
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
        known = "\n".join([turns[-1].known, *(f"{reply.text}\n{reply.thinking}" for reply in turns)])
        library = Library(LeakGuard(seat.search, case.truth, known), seat.reader, seat.signed)
        judging = Judging(seat.panel, self.rules, GOALS[goal], library, stated.get(goal, ""))
        reference, unreferenced = await self._reference(seat, case.truth, goal)
        parts = await together(
            [_judged(judging, reply, part, reference, unreferenced) for reply in turns for part in PARTS]
        )
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

    async def _reference(self, bench: JudgeContext, truth: Truth, goal: Goal) -> tuple[Sequence[str], str]:
        """Return the reference's steps and why there are none; for the published code a bare answer is a reference."""
        text = reference_text(truth, goal, self.rules)
        if not text:
            return (), "no_reference"
        most = MOST if self.rules == "default" else None
        answer = await bench.panel.first(
            step_questions.split_reference(text), lambda reply: read_reference(reply, most)
        )
        return (answer.value, "") if answer.value is not None else ((), answer.reason)

    def _figures(self, parts: Sequence[PartAccount], trajectory: Trajectory) -> list[Score]:
        by_turn = scenario(trajectory) in BY_TURN
        figures: list[Score] = []
        for name in PARTS:
            mine = [part for part in parts if part.part == name]
            figures += self._scores(mine[-1], "", mine[-1:], mine[-1].unreferenced)
            if mine[:-1]:
                figures += self._scores(pooled(mine[:-1]), "examination_", mine[:-1], "no_reference")
            elif asks(trajectory):
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

    def _none(self, trajectory: Trajectory, bench: JudgeContext, reason: str) -> list[Score]:
        """Return the scores of an episode that cannot be judged: the usual names, without those of single turns."""
        prefixes = ["", "examination_"] if asks(trajectory) else [""]
        figures = [score for part in PARTS for prefix in prefixes for score in self._without(part, prefix, reason)]
        beside = ["hostile_texts", *(["reasoning_agreement"] if bench.panel.several else [])]
        return figures + [Score(name, None, reason) for name in beside]


class PublishedReasoning(Reasoning):
    """The same evaluator by the rules of the published code: scores `published_*` (reasoning/scores.py).

    ::

        wardround score RUN --evaluators reasoning,reasoning-published --judge openai/gpt-4o --search pubmed
    """

    name = "reasoning-published"
    VERSION: ClassVar[int] = 1
    rules = "published"


def _judged(
    judging: Judging, reply: DoctorReply, part: Part, reference: Sequence[str], unreferenced: str
) -> Callable[[], Awaitable[PartAccount]]:
    """Return the work of judging one part. Reasons for a request are in no reference, so they are not compared."""
    if reply.stage == "examination":
        asking = replace(judging, goal=GOALS["examination"])
        return lambda: asking.part(reply, part, (), "no_reference")
    return lambda: judging.part(reply, part, reference, unreferenced)


def reference_text(truth: Truth, goal: Goal, rules: Rules) -> str:
    """Return the reference reasoning with the final answer; "" if there is none."""
    final = truth.diagnosis if goal == "diagnosis" else truth.treatment
    parts = [part.strip() for part in (truth.differential, truth.reasoning) if part.strip()]
    if not parts and (rules == "default" or not final.strip()):
        return ""
    return "\n".join([*parts, f"The final {goal}: {final.strip()}"])


_often = lru_cache(maxsize=1024)(signs)  # a case recurs in many episodes


def case_signs(case: Case, known: str) -> tuple[str, ...]:
    """Return the signs of text that addresses the judge: in the `known` case, in the whole case, in its reference.

    Judges see the reference whatever the doctor read, so its signs are marked as `reference:SIGN`.
    """
    truth = case.truth
    record = (known, case.opening, case.complaint, disclosure.full_report(case), *case.history.values())
    reference = (truth.reasoning, truth.differential, truth.treatment, truth.diagnosis, *truth.synonyms)
    hits = [sign for text in dict.fromkeys(record) for sign in _often(text, "case")]
    hits += [f"reference:{sign}" for text in dict.fromkeys(reference) for sign in _often(text, "reference")]
    return tuple(dict.fromkeys(hits))


def hostile_texts(account: Account) -> list[Score]:
    """Count the texts of an episode that address the judge: parts of replies, and the case."""
    flagged = sum(bool(part.flags) or any(step.flags for step in part.steps) for part in account.parts)
    return [Score("hostile_texts", float(flagged + bool(account.flags)))]


def panel_agreement(judging: Judging) -> list[Score]:
    """Return the share of questions on which all votes agree, if a panel takes more than one vote."""
    votes = judging.steady
    if not judging.panel.several:
        return []
    if not votes:
        return [Score("reasoning_agreement", None, "no_votes")]
    return [Score("reasoning_agreement", sum(votes) / len(votes))]
