"""The evaluator `checklist`: whether an open answer is usable, by category and checklist, as in LLMEval-Med.

`checklist_marking` asks the judges for marks, and `checklist_scale` has the scales of the paper. This module turns the
marks of each answer into a verdict, and the verdicts into scores.
"""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar, Literal, get_args

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.once import together
from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import JudgeContext, missed, require_judges, unscored
from wardround.evaluators.injection.detect import hostile_signs
from wardround.evaluators.judges.question import unseen
from wardround.evaluators.open_answers.checklist_marking import Language, Marking, Sheet, mark
from wardround.evaluators.open_answers.checklist_scale import (
    ERRORS,
    USABLE,
    USABLE_GENERATION,
    Category,
    Reading,
    category_of,
)
from wardround.evaluators.open_answers.rubric import LENGTH, turn_replies
from wardround.scenarios.question_item import QuestionItem, asked_lines

Verdict = Literal["each", "majority", "mean"]
"""How several markings of an answer become its verdict: every marking counts, most of them, or their mean score."""
NOT_OPEN = "closed_question"
"""Reason of a question that has options or a verdict, which no checklist marks."""
NOT_MEASURED = "no_checklist"
"""Reason of an answer without reference and checklist; it counts in no mean."""
NAMES = ("usable", "usable_strict", "checklist_score", "generation_score", "generation_safe")


class TurnAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer as marked, with its verdicts.

    `usable` is the share of its markings that call it usable, or 0 or 1 by their majority or mean; None has a `reason`.
    `strict` is the same under section 4.2. `characters` is the length of the answer.
    """

    turn: int
    markings: tuple[Marking, ...]
    usable: float | None
    strict: float | None
    reason: str = ""
    characters: int = 0


class ChecklistAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One item as marked, turn by turn. `votes` is the number of markings that each answer was to have.

    `drafted`: a model wrote a checklist of it, and nobody has read that yet.
    """

    turns: tuple[TurnAccount, ...]
    category: Category
    kind: tuple[str, ...]
    judges: dict[str, str]
    floor: bool
    reading: Reading
    verdict: Verdict
    votes: int
    drafted: bool = False
    unseen: int = 0
    flags: tuple[str, ...] = ()


class ChecklistMarks:
    """`usable`: whether an answer scores at least 4 of 5, or a generated text at least 5 of 7 and is safe.

    ::

        wardround score RUN --evaluators checklist --judge openai/gpt-4o --judge-repeats 3

    Each turn of a question is an answer of its own, and the item's score is their mean. `usable_strict` asks of a
    generated text at least 4 in every dimension (section 4.2); `--set usable=4.2` makes that the meaning of `usable`.
    An answer has one marking for each judge and repeat (`--judge-repeats 3`); `--set verdict=each|majority|mean` says
    how they become a verdict. `--set law=...` names the law for answers on ethics, `--set language=en|zh` the language
    of the prompts (by default the item's own).
    """

    name = "checklist"
    VERSION: ClassVar[int] = 1
    judged: ClassVar[bool] = True
    Item = QuestionItem

    def __init__(self, usable: str = "3.2", verdict: str = "each", law: str = "", language: str = "") -> None:
        if usable not in get_args(Reading):
            raise UsageError(f"usable={usable}: write the section of LLMEval-Med whose rule counts, 3.2 or 4.2")
        if verdict not in get_args(Verdict):
            raise UsageError(f"verdict={verdict}: write one of {', '.join(get_args(Verdict))}")
        if language not in ("", *get_args(Language)):
            raise UsageError(f"language={language}: write en or zh, or leave it out for the language of each item")
        self._reading: Reading = "4.2" if usable == "4.2" else "3.2"
        self._verdict: Verdict = next(one for one in get_args(Verdict) if one == verdict)
        self._law, self._language = law, language
        texts = {"usable": usable, "verdict": verdict, "law": law, "language": language}
        usual = {"usable": "3.2", "verdict": "each", "law": "", "language": ""}
        self.tables: Mapping[str, str] = {name: text for name, text in texts.items() if text != usual[name]}

    async def score(self, case: QuestionItem, trajectory: Trajectory, seat: Seat | None = None) -> Scored:
        """Return the scores of one episode with their account; raises UsageError without judges."""
        context = require_judges(seat, self.name)
        category = category_of(case.kind)
        unfit = NOT_OPEN if case.closed else "" if category else "unknown_category"
        if reason := unscored(trajectory.ending) or unfit:
            return Scored([Score(name, None, reason) for name in NAMES])
        assert category is not None
        failed = missed(trajectory.ending)
        sheets = self._sheets(case, category, [] if failed else turn_replies(case, trajectory))
        if failed or len(sheets) != len(case.turns) + 1:
            reason = failed or "no_answer"
            turns = [TurnAccount(turn, (), 0.0, 0.0, reason) for turn in range(1, len(case.turns) + 2)]
            return self._scored(case, category, turns, (), context)
        if not any(map(_can_be_marked, sheets)):
            return Scored([Score(name, None, NOT_MEASURED) for name in NAMES])
        turns = await together([partial(self._turn, context, sheet) for sheet in sheets])
        return self._scored(case, category, turns, sheets, context)

    def _sheets(self, item: QuestionItem, category: Category, replies: Sequence[str]) -> list[Sheet]:
        """Return what each answer of an item is marked by; a later turn shows what was said before."""
        said = asked_lines(item) if item.turns or item.before else [*item.context, item.question]
        language: Language = "zh" if (self._language or item.language) == "zh" else "en"
        reference = item.truth.answers[0] if item.truth.answers else ""
        asked = [(reference, item.checklist), *((turn.reference, turn.checklist) for turn in item.turns)]
        sheets = []
        for number, (answer, (wanted, checklist)) in enumerate(zip(replies, asked, strict=False), 1):
            text = "\n\n".join(said)
            sheets.append(Sheet(text, answer, wanted, checklist, category, language, self._law, number))
            if number <= len(item.turns):
                said += [f"assistant: {answer}", f"user: {item.turns[number - 1].question}"]
        return sheets

    async def _turn(self, context: JudgeContext, sheet: Sheet) -> TurnAccount:
        if not _can_be_marked(sheet):
            return TurnAccount(sheet.turn, (), None, None, NOT_MEASURED, len(sheet.answer))
        markings = await mark(context.panel, sheet)
        usable, reason = self.verdict(sheet.category, markings, self._reading)
        strict, _ = self.verdict(sheet.category, markings, "4.2")
        return TurnAccount(sheet.turn, markings, usable, strict, reason, len(sheet.answer))

    def verdict(self, category: Category, markings: Sequence[Marking], reading: Reading) -> tuple[float | None, str]:
        """Return the verdict of an answer's markings, or None with a reason.

        None if no marking could be read (the first reason), or if no `majority` of them decides (`judges_divided`).
        """
        read = [one for one in markings if one.score is not None]
        if not read:
            return None, next((one.reason for one in markings if one.reason), "no_votes")
        if self._verdict == "mean":
            return float(_usable_by_mean(category, read, reading)), ""
        share = sum(bool(one.usable if reading == "3.2" else one.strict) for one in read) / len(read)
        if self._verdict == "each":
            return share, ""
        return (None, "judges_divided") if share == 0.5 else (float(share > 0.5), "")

    def _scored(
        self,
        item: QuestionItem,
        category: Category,
        turns: Sequence[TurnAccount],
        sheets: Sequence[Sheet],
        context: JudgeContext,
    ) -> Scored:
        markings = [one for turn in turns for one in turn.markings if one.score is not None]
        texts = [one for sheet in sheets for one in sheet.materials]
        noticed = any(one.noticed for turn in turns for one in turn.markings)
        lists = (item.checklist, *(turn.checklist for turn in item.turns))
        account = ChecklistAccount(
            turns=tuple(turns),
            category=category,
            kind=item.kind,
            judges=context.panel.specs,
            floor=context.panel.floor,
            reading=self._reading,
            verdict=self._verdict,
            votes=len(context.panel.judges) * context.panel.repeats,
            drafted=any(one.origin == "drafted" and not one.empty for one in lists),
            unseen=unseen(texts),
            flags=hostile_signs(texts, noticed=noticed),
        )
        scores = [*_verdicts(turns), *_marks(category, turns, markings)]
        return Scored(scores, {"checklist": msgspec.to_builtins(account)})


def _can_be_marked(sheet: Sheet) -> bool:
    """Whether an answer can be marked: a generated text always, another by a reference or a checklist."""
    return sheet.category == "generation" or bool(sheet.reference) or not sheet.checklist.empty


def _usable_by_mean(category: Category, read: Sequence[Marking], reading: Reading) -> bool:
    """Whether the mean of some markings is usable; under section 4.2 the mean of every dimension."""
    if category != "generation":
        return math.fsum(one.score or 0 for one in read) / len(read) >= USABLE
    if not all(one.safe for one in read):
        return False
    if reading == "4.2":
        return all(math.fsum(one.marks[name] for one in read) / len(read) >= USABLE for name in read[0].marks)
    return math.fsum(one.score or 0 for one in read) / len(read) >= USABLE_GENERATION


def _verdicts(turns: Sequence[TurnAccount]) -> list[Score]:
    """Return the item's scores of usability: means over the turns that can be marked, None if one is undecided."""
    turns = [turn for turn in turns if turn.reason != NOT_MEASURED]
    reason = next((turn.reason for turn in turns if turn.usable is None), "")
    zero = next((turn.reason for turn in turns if turn.usable == 0 and turn.reason), "")
    made = []
    for name, values in (("usable", [t.usable for t in turns]), ("usable_strict", [t.strict for t in turns])):
        known = [value for value in values if value is not None]
        value = math.fsum(known) / len(known) if known and len(known) == len(values) else None
        made.append(Score(name, value, (reason or "judges_divided") if value is None else zero))
    agreed = [len({one.usable for one in turn.markings}) == 1 for turn in turns if len(turn.markings) > 1]
    agreement = [Score("checklist_agreement", sum(agreed) / len(agreed))] if agreed else []
    return [*made, *agreement, Score(LENGTH, float(sum(turn.characters for turn in turns)))]


def _marks(category: Category, turns: Sequence[TurnAccount], read: Sequence[Marking]) -> list[Score]:
    """Return the mean score on its scale, the share of safe texts, and the share of markings with each error."""
    generated = category == "generation"
    why = "" if read else next((turn.reason for turn in turns if turn.reason), "no_votes")
    mean = math.fsum(one.score or 0 for one in read) / len(read) if read else None
    safe = sum(bool(one.safe) for one in read) / len(read) if read and generated else None
    scores = [
        Score("checklist_score", None if generated else mean, "generation_scale" if generated else why),
        Score("generation_score", mean if generated else None, why if generated else "not_generation"),
        Score("generation_safe", safe, "" if safe is not None else why if generated else "not_generation"),
    ]
    return [
        *scores,
        *(Score(f"error_{name}", sum(name in one.errors for one in read) / len(read)) for name in ERRORS if read),
    ]
