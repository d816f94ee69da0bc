"""Judges whether the doctor requested the right examinations: a panel compares requests and record item by item.

`Assessment` has requests and recorded tests split into items and pairs them one to one. `PublishedAssessment` looks for
each item in the text of the other side, as the published code does.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, TypeVar

import msgspec

from wardround.engine.once import together
from wardround.engine.records import Action, Json, Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import JudgeContext, require_judges, unscored
from wardround.evaluators.injection.detect import signs
from wardround.evaluators.judges.panel import Panel, PanelAnswer, Reading
from wardround.evaluators.judges.question import Origin, left_out
from wardround.evaluators.ordered_tests import TESTS, orders_here
from wardround.evaluators.outcome import outcome_questions, outcome_record
from wardround.evaluators.outcome.items import (
    AssessmentAccount,
    PairedItem,
    SoughtItem,
    TextItem,
    published_items,
    published_precision_recall,
    some_items,
)
from wardround.evaluators.reasoning.step_questions import Rules, read_presence
from wardround.scenarios.case import Case, case_results, split_report, withheld
from wardround.scenarios.parsers import reply_text
from wardround.scenarios.parsers.moves import ANSWERING, answers_of, tells_a_story


class Side(msgspec.Struct, frozen=True):
    """Examinations as a `text`, and as `items` if the record lists them singly, so that no judge must split the text.

    `origin` says whose words they are, `evidence` in which events (the doctor's actions) they occur.
    """

    text: str
    origin: Origin
    items: tuple[TextItem, ...] | None = None
    evidence: tuple[int, ...] = ()


def asked_items(trajectory: Trajectory) -> Side:
    """Collect all orders and requests of an episode in the doctor's words, one after another.

    An order is an action that the examiner answers, or the patient if tests are asked of the patient. In a reply with
    sections, the section `Additional Information Required` counts (as in the published code of MedR-Bench); otherwise
    the items of a typed action, else the requests that the answer repeats, else the whole reply. Physical examination
    does not count (MultiCogEval).
    """
    examined = "examiner" in trajectory.header.get("seats", ())
    by_event: dict[int, str] = {}
    doctor: tuple[int, Action] | None = None
    for event in trajectory.acted():
        if event.seat not in ANSWERING:
            doctor = (event.seq, event.action)
        elif doctor is not None and _answers_an_order(event.seat, event.action, examined=examined):
            words = _words(doctor[1], answers_of(event.action))
            if words:
                by_event[doctor[0]] = words
    return Side("\n".join(by_event.values()), "reply", evidence=tuple(by_event))


def recorded_items(case: Case) -> Side:
    """Return the recorded tests: the report's own text, or else the names in the tables, each once."""
    text = withheld(case)
    if case.ancillary.strip() or split_report(case.opening)[1]:
        return Side(text, "reference")
    named: dict[tuple[str, str], TextItem] = {}
    for row in case_results(case):
        if row.kind in TESTS:
            name = " ".join(row.name.split())
            named.setdefault((row.kind, name.casefold()), TextItem(row.kind, name))
    return Side(text, "reference", tuple(named.values()))


def _answers_an_order(seat: str, action: Action, *, examined: bool) -> bool:
    if action.verb != "answer" or tells_a_story(seat, action, examined=examined):
        return False
    return {answer.get("kind") for answer in answers_of(action)} != {"examination"}


def _words(action: Action, replies: list[Mapping[str, Json]]) -> str:
    """Return an order in the doctor's own words."""
    said = reply_text.answer_part(action.text)
    wanted = [part.text for part in reply_text.reply_sections(said) if part.name == "information"]
    if action.verb == "reply" and wanted and wanted[-1].strip():
        return wanted[-1].strip()
    listed = action.args.get("items")
    if isinstance(listed, list | tuple) and listed:
        return "\n".join(f"- {item}" for item in listed if isinstance(item, str) and item.strip())
    named = [str(answer.get("asked") or "").strip() for answer in replies]
    return "\n".join(f"- {name}" for name in dict.fromkeys(named) if name) if any(named) else said.strip()


ItemT = TypeVar("ItemT", bound=TextItem | None)


class Assessment:
    """`assessment_precision` and `assessment_recall` (MedR-Bench, section 4.3), by one-to-one pairs.

    ::

        wardround score RUN --evaluators assessment --judge openai/gpt-4o --judge openai/o3

    Requests and recorded tests are split into items (prompt 21). The panel says which recorded items each request
    means. The largest set of pairs with each item in one pair counts: a broad request hits one reference item. An
    undefined score is None: `nothing_asked`, `no_reference`, `not_ordered_here` (a scenario without orders), or the
    cause that ended the episode. A panel that failed, or that is divided on a decisive item, gives None with its
    reason.
    """

    name = "assessment"
    VERSION: ClassVar[int] = 5
    judged: ClassVar[bool] = True

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score] | Scored:
        """Return two scores and their account; raises UsageError without judges."""
        context = require_judges(seat, self.name)
        if reason := _why_undefined(trajectory):
            return [Score(f"assessment_{figure}", None, reason) for figure in ("precision", "recall")]
        asked, recorded = asked_items(trajectory), recorded_items(case)
        panel, account = context.panel, _account("default", context, asked, recorded)
        wanted, had = await _split(panel, asked, recorded, _side_reader)
        if wanted.value is None or had.value is None:
            account = msgspec.structs.replace(account, reason=wanted.reason or had.reason)
            scores = [Score(f"assessment_{figure}", None, account.reason) for figure in ("precision", "recall")]
            return _scored(scores, asked, account)
        work = [partial(outcome_record.pair, panel, item, had.value) for item in wanted.value] if had.value else []
        pairs = tuple(await together(work)) or tuple(PairedItem((), ()) for _ in wanted.value)
        account = msgspec.structs.replace(account, asked=wanted.value, recorded=had.value, pairs=pairs)
        return _scored(outcome_record.figures(pairs, len(had.value)), asked, account)


class PublishedAssessment:
    """`published_assessment_precision` and `published_assessment_recall`: what the published code intends to compute.

    ::

        wardround score RUN --evaluators assessment,assessment-published --judge openai/gpt-4o

    Each item of one side is sought in the other side's text, and several items may stand in the same words. Items
    are neither split nor merged; without items the scores are 0. The published code accepts a judge's third reply as
    it is, or else "no"; here a panel that failed gives None with its reason.
    """

    name = "assessment-published"
    VERSION: ClassVar[int] = 1
    judged: ClassVar[bool] = True

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score] | Scored:
        """Return two scores and their account; raises UsageError without judges."""
        context = require_judges(seat, self.name)
        names = [f"published_assessment_{figure}" for figure in ("precision", "recall")]
        if reason := _why_undefined(trajectory):
            return [Score(name, None, reason) for name in names]
        asked, recorded = asked_items(trajectory), recorded_items(case)
        panel, account = context.panel, _account("published", context, asked, recorded)
        wanted, had = await _split(panel, asked, recorded, lambda side: published_items)
        if wanted.value is None or had.value is None:
            account = msgspec.structs.replace(account, reason=wanted.reason or had.reason)
            return _scored([Score(name, None, account.reason) for name in names], asked, account)
        if wanted.value == (None,):
            # one entry without a type: the published code gives up on the case with 0 and 0
            return _scored([Score(name, 0.0) for name in names], asked, account)
        work = [partial(_seek, panel, item, recorded.text, asked=True) for item in wanted.value]
        work += [partial(_seek, panel, item, asked.text, asked=False) for item in had.value]
        sought = await together(work)
        hits, recorded_hits = sought[: len(wanted.value)], sought[len(wanted.value) :]
        account = msgspec.structs.replace(account, asked_sought=tuple(hits), recorded_sought=tuple(recorded_hits))
        return _scored(_published(hits, recorded_hits), asked, account)


def _why_undefined(trajectory: Trajectory) -> str:
    return unscored(trajectory.ending) if orders_here(trajectory) else "not_ordered_here"


def _side_reader(side: Side) -> Reading[tuple[TextItem, ...]] | None:
    """Return the reader of a side's list; None if the text itself says that the list is empty."""
    return (
        None if reply_text.requests_nothing(side.text) else some_items(side.text, recorded=side.origin == "reference")
    )


async def _split(
    panel: Panel, asked: Side, recorded: Side, reading: Callable[[Side], Reading[tuple[ItemT, ...]] | None]
) -> list[PanelAnswer[tuple[ItemT, ...]]]:
    """Return the items of both sides; None for a side that no judge could split."""

    async def items(side: Side) -> PanelAnswer[tuple[ItemT, ...]]:
        if side.items is not None:
            return PanelAnswer(side.items)  # type: ignore[arg-type]  # each reader returns items
        read = reading(side)
        if read is None or not side.text.strip():
            return PanelAnswer(())
        return await panel.first(outcome_questions.examination_items(side.text, side.origin), read)

    return await together([partial(items, side) for side in (asked, recorded)])


async def _seek(panel: Panel, item: TextItem | None, text: str, *, asked: bool) -> SoughtItem:
    """Ask whether `text` has the item; an entry without a type or an empty text needs no question."""
    if item is None or not text.strip():
        return SoughtItem(item, False)
    question = outcome_questions.item_in_text(item.name, text, asked=asked)
    ruling = await panel.ask(question, read_presence, swappable=True)
    return SoughtItem(item, ruling.value, ruling.votes, ruling.reason)


def _published(asked: Sequence[SoughtItem], recorded: Sequence[SoughtItem]) -> list[Score]:
    scores = published_precision_recall(*([bool(one.present) for one in side] for side in (asked, recorded)))
    failed = [next((one.reason for one in side if one.present is None), "") for side in (asked, recorded)]
    return [Score(score.name, None, why) if why else score for score, why in zip(scores, failed, strict=True)]


def _account(rules: Rules, context: JudgeContext, asked: Side, recorded: Side) -> AssessmentAccount:
    flags = (sign for side in (asked, recorded) for sign in signs(side.text, side.origin))
    return AssessmentAccount(
        rules=rules,
        judges=context.panel.specs,
        floor=context.panel.floor,
        left_out=sum(left_out(side.text, outcome_questions.LISTED) for side in (asked, recorded)),
        flags=tuple(dict.fromkeys(flags)),
    )


def _scored(scores: Sequence[Score], asked: Side, account: AssessmentAccount) -> Scored:
    scores = [msgspec.structs.replace(score, evidence=asked.evidence) for score in scores]
    return Scored(scores, {"assessment": msgspec.to_builtins(account)})
