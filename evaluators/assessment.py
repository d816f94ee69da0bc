"""Were the right examinations asked for: a panel turns requests and record into items and compares them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, TypeVar

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.bench import Bench
from wardround.evaluators.judging.fence import left_out
from wardround.evaluators.judging.hostile import signs
from wardround.evaluators.judging.judge import Answer, Reading
from wardround.evaluators.judging.panel import Panel
from wardround.evaluators.outcome import pairing, questions, sides
from wardround.evaluators.outcome.assessed import AssessmentAccount, Item, Paired, Sought
from wardround.evaluators.outcome.sides import Side
from wardround.evaluators.reasoning.items import published_items, published_precision_recall, some_items
from wardround.evaluators.reasoning.judged import Rules
from wardround.evaluators.reasoning.verdicts import read_found
from wardround.evaluators.requests import orders_here
from wardround.evaluators.standing import unscored
from wardround.evaluators.together import together
from wardround.scenarios.case import Case
from wardround.scenarios.parsers import lists

ItemT = TypeVar("ItemT", bound=Item | None)


class Assessment:
    """`assessment_precision` and `assessment_recall` (paper 002, section 4.3), one to one.

    What was asked for and what the record holds become items (prompt 21); the panel says which items asked for are
    which recorded ones, and as many pairs count as there can be with each item in one pair: a broad request hits one
    reference. Not defined is None: `nothing_asked`, `no_reference`, `not_ordered_here` (a scenario without orders), or
    the cause that ended the episode. A panel that failed, or is divided on what matters, leaves None with its reason.
    """

    name = "assessment"
    VERSION: ClassVar[int] = 2
    judged: ClassVar[bool] = True

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score] | Scored:
        """Two scores and their account; raises UsageError without judges."""
        bench = _bench(seat, self.name)
        if reason := _undefined(trajectory):
            return [Score(f"assessment_{figure}", None, reason) for figure in ("precision", "recall")]
        asked, recorded = sides.asked(trajectory), sides.recorded(case)
        panel, account = bench.panel, _account("default", bench, asked, recorded)
        wanted, had = await _split(panel, asked, recorded, _reading)
        if wanted.value is None or had.value is None:
            account = msgspec.structs.replace(account, reason=wanted.reason or had.reason)
            scores = [Score(f"assessment_{figure}", None, account.reason) for figure in ("precision", "recall")]
            return _scored(scores, asked, account)
        work = [partial(pairing.pair, panel, item, had.value) for item in wanted.value] if had.value else []
        pairs = tuple(await together(work)) or tuple(Paired((), ()) for _ in wanted.value)
        account = msgspec.structs.replace(account, asked=wanted.value, recorded=had.value, pairs=pairs)
        return _scored(pairing.figures(pairs, len(had.value)), asked, account)


class PublishedAssessment:
    """`published_assessment_precision` and `published_assessment_recall`: what the published code means to compute.

    Each item of one side is looked for in the other side's text, and any number may be found in the same words. Items
    are neither split nor merged; 0 without items. The published code takes what a judge says in the third attempt, or
    else "no", for its word: here a panel that failed leaves None with its reason.
    """

    name = "assessment-published"
    VERSION: ClassVar[int] = 1
    judged: ClassVar[bool] = True

    async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score] | Scored:
        """Two scores and their account; raises UsageError without judges."""
        bench = _bench(seat, self.name)
        names = [f"published_assessment_{figure}" for figure in ("precision", "recall")]
        if reason := _undefined(trajectory):
            return [Score(name, None, reason) for name in names]
        asked, recorded = sides.asked(trajectory), sides.recorded(case)
        panel, account = bench.panel, _account("published", bench, asked, recorded)
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
        hits, found = sought[: len(wanted.value)], sought[len(wanted.value) :]
        account = msgspec.structs.replace(account, asked_sought=tuple(hits), recorded_sought=tuple(found))
        return _scored(_published(hits, found), asked, account)


def _bench(seat: Seat | None, name: str) -> Bench:
    if not isinstance(seat, Bench):
        raise UsageError(
            f"the evaluator {name} needs a judge: name one with --judge, for instance --judge openai/gpt-4o"
        )
    return seat


def _undefined(trajectory: Trajectory) -> str:
    return unscored(trajectory.ending) if orders_here(trajectory) else "not_ordered_here"


def _reading(side: Side) -> Reading[tuple[Item, ...]] | None:
    """How a side's list is read; None where the text itself says that there is none."""
    return None if lists.nothing(side.text) else some_items(side.text, recorded=side.origin == "reference")


async def _split(
    panel: Panel, asked: Side, recorded: Side, reading: Callable[[Side], Reading[tuple[ItemT, ...]] | None]
) -> list[Answer[tuple[ItemT, ...]]]:
    """The items of both sides; None where no judge could tell them apart."""

    async def items(side: Side) -> Answer[tuple[ItemT, ...]]:
        if side.items is not None:
            return Answer(side.items)  # type: ignore[arg-type]  # each reading gives items
        read = reading(side)
        if read is None or not side.text.strip():
            return Answer(())
        return await panel.first(questions.items(side.text, side.origin), read)

    return await together([partial(items, side) for side in (asked, recorded)])


async def _seek(panel: Panel, item: Item | None, text: str, *, asked: bool) -> Sought:
    """Whether `text` has the item; nobody is asked about an entry without a type, or about an empty text."""
    if item is None or not text.strip():
        return Sought(item, False)
    question = questions.item_found(item.name, text, asked=asked)
    ruling = await panel.ask(question, read_found, swappable=True)
    return Sought(item, ruling.value, ruling.votes, ruling.reason)


def _published(asked: Sequence[Sought], recorded: Sequence[Sought]) -> list[Score]:
    scores = published_precision_recall(*([bool(one.found) for one in side] for side in (asked, recorded)))
    failed = [next((one.reason for one in side if one.found is None), "") for side in (asked, recorded)]
    return [Score(score.name, None, why) if why else score for score, why in zip(scores, failed, strict=True)]


def _account(rules: Rules, bench: Bench, asked: Side, recorded: Side) -> AssessmentAccount:
    flags = (sign for side in (asked, recorded) for sign in signs(side.text, side.origin))
    return AssessmentAccount(
        rules=rules,
        judges={judge.seat: judge.spec for judge in bench.panel.judges},
        floor=bench.panel.floor,
        left_out=sum(left_out(side.text, questions.LISTED) for side in (asked, recorded)),
        flags=tuple(dict.fromkeys(flags)),
    )


def _scored(scores: Sequence[Score], asked: Side, account: AssessmentAccount) -> Scored:
    scores = [msgspec.structs.replace(score, evidence=asked.evidence) for score in scores]
    return Scored(scores, {"assessment": msgspec.to_builtins(account)})
