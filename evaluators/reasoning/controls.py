"""Whether a judge can judge: claims of which it is known beforehand what a fair judge says of them."""

import json
import random
from collections.abc import Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Literal

import msgspec

from wardround.evaluators.bench import Knowledge
from wardround.evaluators.judging.judge import Answer, Judge, Reading, Sample, answered
from wardround.evaluators.judging.panel import Panel
from wardround.evaluators.judging.question import Question
from wardround.evaluators.judging.unread import Unread
from wardround.evaluators.reasoning import questions
from wardround.evaluators.reasoning.judged import Verdict
from wardround.evaluators.reasoning.verdicts import read_judgment, read_opinion
from wardround.evaluators.together import together

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
