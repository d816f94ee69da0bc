"""The record of one evaluation of reasoning: steps, votes, searches, quotations and controls."""

import json
import random
from collections.abc import Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Literal

import msgspec

from wardround.engine.once import together
from wardround.engine.records import Json
from wardround.evaluators.evaluation import Knowledge
from wardround.evaluators.judges.panel import Judge, Panel, PanelAnswer, Reading, Sample, Vote, answered
from wardround.evaluators.judges.question import Question
from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.measures import Part
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.reasoning.step_questions import Rules, StepClass, StepVerdict, read_judgment, read_opinion
from wardround.evaluators.search.quotes import cite
from wardround.evaluators.search.results import Found, Page

Kind = Literal["supported", "reversed", "foreign"]
HALF = 10
"""Number of controls that a judge should accept, and of those that it should reject."""
FIT = 0.5
"""Youden's index below which a judge is unfit: it accepts false claims nearly as often as true ones."""

LEAST = HALF // 2
"""Replies to controls of each kind that are needed before a judge is called fit or unfit."""
_UNREACHED = "judge/"
"""Prefix of the reasons of controls to which there was no reply at all."""


class Control(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one judge (its seat) `said` of one control; None with a `reason` if it could not be asked or read.

    `name` is the one in data/controls.jsonl. An ideal judge calls a `supported` control `correct`, and a `reversed` or
    a `foreign` one anything else.
    """

    name: str
    kind: Kind
    judge: str
    said: str | None
    reason: str = ""


class Fitness(msgspec.Struct, frozen=True):
    """The fitness of one judge by its controls: `accepted` of the `supported` ones, `rejected` of the `unsupported`.

    `youden` is sensitivity plus specificity minus 1: 1 for a judge that is always right, 0 for one that always says
    the same. An unreadable reply is neither an acceptance nor a rejection. A judge is `fit` from 0.5 on. `unreached`
    controls got no reply and do not count; if fewer than five remain of either kind, `youden` and `fit` are None:
    unknown.
    """

    judge: str
    supported: int
    accepted: int
    unsupported: int
    rejected: int
    youden: float | None
    fit: bool | None
    unreached: int = 0


class Claim(msgspec.Struct, frozen=True):
    """A `passage`, a `claim` that it supports, and the same claim with its direction `reversed`."""

    name: str
    passage: str
    claim: str
    reversed: str


class Posed(msgspec.Struct, frozen=True):
    """One control as a judge sees it."""

    name: str
    kind: Kind
    claim: str
    passage: str


@cache
def claims() -> tuple[Claim, ...]:
    """Load the claims and passages that were written as controls."""
    text = files("wardround.evaluators.reasoning").joinpath("data", "controls.jsonl").read_text(encoding="utf-8")
    return tuple(msgspec.convert(json.loads(line), Claim) for line in text.splitlines())


def posed(seed: int, knowledge: Knowledge) -> tuple[Posed, ...]:
    """Return the 20 controls of an evaluation, in an order drawn by its seed.

    Ten are supported by their passage. Of the others, five have their direction reversed, and five have the passage of
    another claim. Where judges use their own knowledge there are no passages, and all ten are reversed.
    """
    draw = random.Random(seed)
    chosen = draw.sample(claims(), 2 * HALF)
    turned = HALF if knowledge == "judge" else HALF // 2
    controls = [Posed(one.name, "supported", one.claim, one.passage) for one in chosen[:HALF]]
    controls += [Posed(one.name, "reversed", one.reversed, one.passage) for one in chosen[HALF : HALF + turned]]
    others = chosen[HALF + turned :]
    shifted = [*others[1:], *others[:1]]
    pairs = zip(others, shifted, strict=True)
    controls += [Posed(one.name, "foreign", one.claim, other.passage) for one, other in pairs]
    draw.shuffle(controls)
    return tuple(controls)


async def controlled(panel: Panel, seed: int, knowledge: Knowledge) -> tuple[Control, ...]:
    """Ask each judge of the panel each control; judges cannot tell controls from other questions."""
    asked = [(judge, one) for judge in panel.judges for one in posed(seed, knowledge)]
    return tuple(await together([partial(_said, judge, one, knowledge) for judge, one in asked]))


async def _said(judge: Judge, one: Posed, knowledge: Knowledge) -> Control:
    question: Question
    read: Reading[str]
    if knowledge == "judge":
        question, read = step_questions.opinion(step_questions.NOTHING, one.claim), _opinion
    else:
        question, read = (
            step_questions.judgment_by_quotes(step_questions.NOTHING, [one.passage], one.claim, [one.claim]),
            _judgment,
        )
    answer: PanelAnswer[str] = await answered(judge, question, read, Sample())
    return Control(one.name, one.kind, judge.seat, answer.value, answer.reason)


def _judgment(text: str) -> str | Unread:
    read = read_judgment(text)
    return read if isinstance(read, Unread) else str(read.verdict or StepVerdict.UNVERIFIABLE)


def _opinion(text: str) -> str | Unread:
    read = read_opinion(text)
    return read if isinstance(read, Unread) else str(read)


def fitness(controls: Sequence[Control]) -> list[Fitness]:
    """Compute the fitness of each judge, in the panel's order."""
    results = []
    for judge in dict.fromkeys(one.judge for one in controls):
        mine = [one for one in controls if one.judge == judge]
        reached = [one for one in mine if one.said is not None or not one.reason.startswith(_UNREACHED)]
        supported = [one for one in reached if one.kind == "supported"]
        others = [one for one in reached if one.kind != "supported"]
        accepted = sum(one.said == StepVerdict.CORRECT for one in supported)
        rejected = sum(one.said not in (None, StepVerdict.CORRECT) for one in others)
        known = min(len(supported), len(others)) >= LEAST
        youden = accepted / len(supported) + rejected / len(others) - 1 if known else None
        fit = None if youden is None else youden >= FIT
        gone = len(mine) - len(reached)
        results.append(Fitness(judge, len(supported), accepted, len(others), rejected, youden, fit, gone))
    return results


class Quoted(msgspec.Struct, frozen=True, omit_defaults=True):
    """A quotation that supports a verdict: characters `start` to `end` of the stored text `digest`, and its source.

    `how` and `likeness` are as in quotes.Place. `judge` is the seat that quoted.
    """

    digest: str
    start: int
    end: int
    title: str = ""
    url: str = ""
    date: str = ""
    source: str = ""
    how: str = "exact"
    likeness: float = 100.0
    judge: str = ""


class Looked(msgspec.Struct, frozen=True, omit_defaults=True):
    """One search for a step: what `judge` asked for, the digests of the texts that it then saw, or the `failure`.

    `pages` lists the pages that could not be read: (address, kind of error).
    """

    judge: str
    query: str
    texts: tuple[str, ...] = ()
    failure: str = ""
    pages: tuple[tuple[str, str], ...] = ()


class StepAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One judged step: its `kind` and the `verdict` of a reasoning step, by the votes in `kinds` and `verdicts`.

    Either is None only if the judge failed; `reason` says how. Raises ValueError for a verdict on a step that is not
    reasoning, and for a gap without a reason.

    `flags` are signs of text that addresses the judge (injection/detect.py), in the step or in its evidence
    (`page:SIGN`), and `noticed_by_judge` if a judge reports one itself. `unseen` counts the characters of the case and
    of the earlier steps that the judges were not shown.

    `beside` are quotations that occur in their source but do not bear on the step: they support no verdict. `repeats`
    is the earlier turn that the step repeats. `opinion`, by the votes in `opinions`, is the verdict by the judges' own
    knowledge, where the user asked for it; if it is None, `unheld` gives the reason.
    """

    text: str
    kind: StepClass | None
    verdict: StepVerdict | None = None
    reason: str = ""
    kinds: tuple[Vote, ...] = ()
    verdicts: tuple[Vote, ...] = ()
    looked: tuple[Looked, ...] = ()
    quoted: tuple[Quoted, ...] = ()
    flags: tuple[str, ...] = ()
    unseen: int = 0
    beside: tuple[Quoted, ...] = ()
    repeats: int = 0
    opinion: StepVerdict | None = None
    opinions: tuple[Vote, ...] = ()
    unheld: str = ""

    def __post_init__(self) -> None:
        if self.kind != StepClass.REASONING and self.verdict is not None:
            raise ValueError(f"a verdict on a step that is {self.kind or 'unclassified'}: only reasoning has one")
        if not self.reason and (self.kind is None or (self.kind == StepClass.REASONING and self.verdict is None)):
            raise ValueError("a step without its class or verdict says why in `reason`")


class ReferenceAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reference step: whether either place has it; None with a `reason` if the judge failed.

    `final` marks the final answer, which prompt 14 counts as a step. Under the published rules it is not sought in the
    answer, which stays None. Long reasoning is searched in so many `windows`; the `votes` are those on each window,
    then on the answer.
    """

    text: str
    reasoning: bool | None = None
    answer: bool | None = None
    final: bool = False
    reason: str = ""
    votes: tuple[Vote, ...] = ()
    windows: int = 1

    def __post_init__(self) -> None:
        if self.reasoning is None and not self.reason:
            raise ValueError("a reference step that could not be judged says why in `reason`")

    @property
    def hit(self) -> bool | None:
        """Whether any place has the step; None if none has it and the judge failed somewhere."""
        return True if self.reasoning or self.answer else None if self.reason else False


class PartAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One part of one reply: the doctor's action of event `seq` in its turn (1 is the first).

    `stage` is `conclusion` for the reply with the answer, `examination` for those before it. `how`, `reason` and
    `left_out` are as in Split. `reference` is None if there is none to compare with; `unreferenced` says why. Raises
    ValueError for a part without steps that has no `reason`.
    """

    part: Part
    stage: Literal["conclusion", "examination"]
    turn: int
    seq: int
    steps: tuple[StepAccount, ...] = ()
    how: str = ""
    reason: str = ""
    left_out: int = 0
    reference: tuple[ReferenceAccount, ...] | None = None
    unreferenced: str = ""
    flags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.steps and not self.reason:
            raise ValueError("a part without steps says why in `reason`")


class WholeAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One part of all replies together: how many of its `steps` were `judged`, and the reference steps in any turn."""

    part: Part
    steps: int
    judged: int
    reference: tuple[ReferenceAccount, ...] | None = None
    unreferenced: str = ""


class Overquoted(msgspec.Struct, frozen=True):
    """A passage (its `digest`) that was quoted for so many `steps` `of` those with any quotation."""

    digest: str
    steps: int
    of: int


class Account(msgspec.Struct, frozen=True, omit_defaults=True):
    """The account of one judged episode. `judges` maps seats to SPECs, `search` names the search.

    `floor`: a lexical judge took part. `flags` are signs of text that addresses the judge in the case itself. `unseen`
    counts the characters of the reference that its judge was not shown.

    `whole` is the account of the encounter as one reasoning, if it was judged so (version 2). `knowledge` says what
    could support a verdict, `overquoted` are passages quoted for many steps, and `controls` the replies to the
    controls.
    """

    rules: Rules
    judges: dict[str, str]
    search: str
    floor: bool
    parts: tuple[PartAccount, ...] = ()
    flags: tuple[str, ...] = ()
    unseen: int = 0
    whole: tuple[WholeAccount, ...] = ()
    knowledge: Knowledge = "search"
    overquoted: tuple[Overquoted, ...] = ()
    controls: tuple[Control, ...] = ()


def quoted_in(sources: Sequence[Found | Page], number: Json, words: str, seat: str) -> Quoted | None:
    """Locate `words` in the source with this `number` (1 is the first), or in any source without a number.

    Returns None if they do not occur, or if the number names a source that does not exist. 0, or a value that is no
    number, names no source.
    """
    numbered = isinstance(number, int) and not isinstance(number, bool) and number != 0
    if numbered and not 0 < number <= len(sources):
        return None
    named = [sources[number - 1]] if numbered else []
    for source in (*named, *sources):
        if place := cite(source, words):
            where = (source.title, source.url, source.date, source.source if isinstance(source, Found) else "")
            return Quoted(source.digest, place.start, place.end, *where, place.how, place.likeness, seat)
    return None
