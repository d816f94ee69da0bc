"""The whole of one evaluation for a reader: steps, votes, searches, quotations and controls."""

import json
import random
from collections.abc import Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Literal

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.evaluation import Knowledge
from wardround.evaluators.judges.panel import Answer, Judge, Panel, Reading, Sample, Vote, answered, together
from wardround.evaluators.judges.question import Question
from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.measures import Part
from wardround.evaluators.reasoning import questions
from wardround.evaluators.reasoning.judged_reply import Rules, Verdict
from wardround.evaluators.reasoning.questions import read_judgment, read_opinion
from wardround.evaluators.search.quotes import cite
from wardround.evaluators.search.results import Found, Page

Kind = Literal["supported", "reversed", "foreign"]
HALF = 10
"""Controls that a judge should accept, and as many that it should not."""
FIT = 0.5
"""Youden's index below which a judge is unfit: it accepts nearly as much of what is false as of what is true."""

LEAST = HALF // 2
"""Controls of either kind to which there must be a reply before a judge is called fit or unfit."""
_UNREACHED = "judge/"
"""How the reasons of controls begin for which there was no reply at all."""


class Control(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one judge (its seat) `said` of one control, None with a `reason` where it could not be asked or read.

    `name` is the one in data/controls.jsonl. A fair judge says `correct` of a `supported` control, and of a `reversed`
    or a `foreign` one anything else.
    """

    name: str
    kind: Kind
    judge: str
    said: str | None
    reason: str = ""


class Fitness(msgspec.Struct, frozen=True):
    """One judge by its controls: `accepted` of so many `supported`, `rejected` of so many `unsupported`.

    `youden` is sensitivity plus specificity less 1: 1 for a judge that is always right, 0 for one that says the same of
    everything. What could not be read is no acceptance and no rejection. `fit` if it is 0.5 at least.
    Controls for which the judge could not be reached, `unreached` of them, say nothing of it: with fewer than five left
    of either kind `youden` and `fit` are None, not known.
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
    """One control as it is asked."""

    name: str
    kind: Kind
    claim: str
    passage: str


@cache
def claims() -> tuple[Claim, ...]:
    """The claims and passages that were written for this."""
    text = files("wardround.evaluators.reasoning").joinpath("data", "controls.jsonl").read_text(encoding="utf-8")
    return tuple(msgspec.convert(json.loads(line), Claim) for line in text.splitlines())


def posed(seed: int, knowledge: Knowledge) -> tuple[Posed, ...]:
    """The 20 controls of an evaluation, in an order drawn by its seed.

    10 are supported by their passage. Of the others five have their direction reversed, and five the passage of another
    claim; where a judge goes by its own knowledge there are no passages, and all ten are reversed.
    """
    draw = random.Random(seed)
    chosen = draw.sample(claims(), 2 * HALF)
    turned = HALF if knowledge == "judge" else HALF // 2
    found = [Posed(one.name, "supported", one.claim, one.passage) for one in chosen[:HALF]]
    found += [Posed(one.name, "reversed", one.reversed, one.passage) for one in chosen[HALF : HALF + turned]]
    others = chosen[HALF + turned :]
    shifted = [*others[1:], *others[:1]]
    found += [Posed(one.name, "foreign", one.claim, other.passage) for one, other in zip(others, shifted, strict=True)]
    draw.shuffle(found)
    return tuple(found)


async def controlled(panel: Panel, seed: int, knowledge: Knowledge) -> tuple[Control, ...]:
    """What each judge of the panel says of each control: they are questions like all others, and nobody can tell."""
    asked = [(judge, one) for judge in panel.judges for one in posed(seed, knowledge)]
    return tuple(await together([partial(_said, judge, one, knowledge) for judge, one in asked]))


async def _said(judge: Judge, one: Posed, knowledge: Knowledge) -> Control:
    question: Question
    read: Reading[str]
    if knowledge == "judge":
        question, read = questions.opinion(questions.NOTHING, one.claim), _opinion
    else:
        question, read = questions.bearing(questions.NOTHING, [one.passage], one.claim, [one.claim]), _judgment
    answer: Answer[str] = await answered(judge, question, read, Sample())
    return Control(one.name, one.kind, judge.seat, answer.value, answer.reason)


def _judgment(text: str) -> str | Unread:
    read = read_judgment(text)
    return read if isinstance(read, Unread) else str(read.verdict or Verdict.UNVERIFIABLE)


def _opinion(text: str) -> str | Unread:
    read = read_opinion(text)
    return read if isinstance(read, Unread) else str(read)


def fitness(controls: Sequence[Control]) -> list[Fitness]:
    """How fit each judge is, in the panel's order."""
    found = []
    for judge in dict.fromkeys(one.judge for one in controls):
        mine = [one for one in controls if one.judge == judge]
        reached = [one for one in mine if one.said is not None or not one.reason.startswith(_UNREACHED)]
        supported = [one for one in reached if one.kind == "supported"]
        others = [one for one in reached if one.kind != "supported"]
        accepted = sum(one.said == Verdict.CORRECT for one in supported)
        rejected = sum(one.said not in (None, Verdict.CORRECT) for one in others)
        known = min(len(supported), len(others)) >= LEAST
        youden = accepted / len(supported) + rejected / len(others) - 1 if known else None
        fit = None if youden is None else youden >= FIT
        gone = len(mine) - len(reached)
        found.append(Fitness(judge, len(supported), accepted, len(others), rejected, youden, fit, gone))
    return found


class Quoted(msgspec.Struct, frozen=True, omit_defaults=True):
    """Words a verdict rests on: characters `start` to `end` of the stored text `digest`, and where that text is from.

    `how` and `likeness` as in evidence.Citation. `judge` is the seat that quoted them.
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
    """One search for a step: what `judge` asked for, the digests of the texts it was then shown, or the `failure`.

    `pages` names pages that could not be read: (address, kind of error).
    """

    judge: str
    query: str
    texts: tuple[str, ...] = ()
    failure: str = ""
    pages: tuple[tuple[str, str], ...] = ()


class StepAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step as judged: `kind` and `verdict` as in JudgedStep, by the votes in `kinds` and `verdicts`.

    `flags` are signs of text that speaks to the judge (injection/english_phrases.py), in the step or in what was found
    for it
    (`page:SIGN`), and `noticed_by_judge` where a judge says so itself. `unseen` counts the characters of the case
    and of the earlier steps that were left out of what the judges were shown.

    `beside` are quotations that stand where they are said to and do not bear on the step: they found nothing. `repeats`
    is the earlier turn that the step repeats. `opinion`, by the votes in `opinions`, is what the judges hold of the
    step by their own knowledge, where they were asked for it; None then has its `unheld` reason.
    """

    text: str
    kind: str | None
    verdict: str | None = None
    reason: str = ""
    kinds: tuple[Vote, ...] = ()
    verdicts: tuple[Vote, ...] = ()
    looked: tuple[Looked, ...] = ()
    quoted: tuple[Quoted, ...] = ()
    flags: tuple[str, ...] = ()
    unseen: int = 0
    beside: tuple[Quoted, ...] = ()
    repeats: int = 0
    opinion: str | None = None
    opinions: tuple[Vote, ...] = ()
    unheld: str = ""


class ReferenceAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One reference step: whether it was found in either place; None if the judge failed, then with a `reason`.

    Long reasoning is looked through in so many `windows`; the `votes` are those on each of them, then on the answer.
    """

    text: str
    reasoning: bool | None = None
    answer: bool | None = None
    final: bool = False
    reason: str = ""
    votes: tuple[Vote, ...] = ()
    windows: int = 1


class PartAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One part of one reply: the doctor's action of event `seq`, its turn (1 is the first).

    `stage` is `conclusion` for the reply that holds the answer, `examination` for those before it. `how`, `reason` and
    `left_out` as in Split. `reference` is None where there is none to compare with, which `unreferenced` explains.
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


class WholeAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One part of all replies together: `judged` of its `steps` were, and the reference as found in any turn."""

    part: Part
    steps: int
    judged: int
    reference: tuple[ReferenceAccount, ...] | None = None
    unreferenced: str = ""


class Overquoted(msgspec.Struct, frozen=True):
    """A passage (its `digest`) that was quoted for so many `steps` `of` those for which anything was quoted."""

    digest: str
    steps: int
    of: int


class Account(msgspec.Struct, frozen=True, omit_defaults=True):
    """One episode as judged. `judges` maps seat to SPEC, `search` is the search's name; `floor`: by a lexical judge.

    `flags` are signs of text that speaks to the judge in the case itself. `unseen` counts the characters of the
    reference that were left out of what its judge was shown.

    `whole` tells of the encounter as one reasoning, where it was judged as one (version 2). `knowledge` is what could
    found a verdict, `overquoted` are passages quoted for many steps, `controls` what the judges said of the controls.
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
    """Where `words` stand: in the source with the `number` that is named (1 is the first), else in any; or None.

    None also where a source is named that there is not: such words are nobody's. 0, or no number, names none.
    """
    numbered = isinstance(number, int) and not isinstance(number, bool) and number != 0
    if numbered and not 0 < number <= len(sources):
        return None
    named = [sources[number - 1]] if numbered else []
    for source in (*named, *sources):
        if place := cite(source, words):
            where = (source.title, source.url, source.date, source.source if isinstance(source, Found) else "")
            return Quoted(place.digest, place.start, place.end, *where, place.how, place.likeness, seat)
    return None
