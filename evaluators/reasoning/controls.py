"""Controls: claims whose answer is known, which judges are asked among the others; they show how fit a judge is."""

import json
import random
from collections.abc import Sequence
from functools import cache, partial
from importlib.resources import files
from typing import Literal

import msgspec

from wardround.engine.once import together
from wardround.evaluators.evaluation import Knowledge
from wardround.evaluators.judges.panel import Judge, Panel, PanelAnswer, Reading, Sample, ask_judge
from wardround.evaluators.judges.question import Question
from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.reasoning.step_questions import StepVerdict, read_judgment, read_opinion

Kind = Literal["supported", "reversed", "foreign"]
HALF = 10
"""Number of controls that a judge should accept, and of those that it should reject."""
FIT = 0.5
"""Youden's index below which a judge is unfit: it accepts false claims nearly as often as true ones."""

LEAST_REPLIES = HALF // 2
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


class ControlQuestion(msgspec.Struct, frozen=True):
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


def control_questions(seed: int, knowledge: Knowledge) -> tuple[ControlQuestion, ...]:
    """Return the 20 controls of an evaluation, in an order drawn by its seed.

    Ten are supported by their passage. Of the others, five have their direction reversed, and five have the passage of
    another claim. Where judges use their own knowledge there are no passages, and all ten are reversed.
    """
    draw = random.Random(seed)
    chosen = draw.sample(claims(), 2 * HALF)
    turned = HALF if knowledge == "judge" else HALF // 2
    controls = [ControlQuestion(one.name, "supported", one.claim, one.passage) for one in chosen[:HALF]]
    controls += [
        ControlQuestion(one.name, "reversed", one.reversed, one.passage) for one in chosen[HALF : HALF + turned]
    ]
    others = chosen[HALF + turned :]
    pairs = zip(others, [*others[1:], *others[:1]], strict=True)
    controls += [ControlQuestion(one.name, "foreign", one.claim, other.passage) for one, other in pairs]
    draw.shuffle(controls)
    return tuple(controls)


async def ask_controls(panel: Panel, seed: int, knowledge: Knowledge) -> tuple[Control, ...]:
    """Ask each judge of the panel each control; judges cannot tell controls from other questions."""
    asked = [(judge, one) for judge in panel.judges for one in control_questions(seed, knowledge)]
    return tuple(await together([partial(_ask_control, judge, one, knowledge) for judge, one in asked]))


async def _ask_control(judge: Judge, one: ControlQuestion, knowledge: Knowledge) -> Control:
    question: Question
    read: Reading[str]
    if knowledge == "judge":
        question, read = step_questions.opinion(step_questions.NOTHING, one.claim), _opinion
    else:
        question, read = (
            step_questions.judgment_by_quotes(step_questions.NOTHING, [one.passage], one.claim, [one.claim]),
            _judgment,
        )
    answer: PanelAnswer[str] = await ask_judge(judge, question, read, Sample())
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
        known = min(len(supported), len(others)) >= LEAST_REPLIES
        youden = accepted / len(supported) + rejected / len(others) - 1 if known else None
        fit = None if youden is None else youden >= FIT
        gone = len(mine) - len(reached)
        results.append(Fitness(judge, len(supported), accepted, len(others), rejected, youden, fit, gone))
    return results
