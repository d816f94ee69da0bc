"""The whole of one evaluation for a reader: each step with its votes, searches and quotations, each reference step."""

from typing import Literal

import msgspec

from wardround.evaluators.bench import Knowledge
from wardround.evaluators.judging.panel import Vote
from wardround.evaluators.measure import Part
from wardround.evaluators.reasoning.controls import Control
from wardround.evaluators.reasoning.judged import Rules


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

    `flags` are signs of text that speaks to the judge (judging/signs.py), in the step or in what was found for it
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
