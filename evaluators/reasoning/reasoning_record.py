"""The record of one evaluation of reasoning, and its scores: efficiency, factuality, completeness (MedR-Bench).

An `Account` keeps the steps of an episode as they were judged, with votes, searches and quotations. All scores are
computed from it alone.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from wardround.engine.records import Score
from wardround.evaluators.evaluation import Knowledge
from wardround.evaluators.judges.panel import Vote
from wardround.evaluators.measures import Part
from wardround.evaluators.reasoning.controls import Control
from wardround.evaluators.reasoning.step_questions import ABSENT, PUBLISHED_STEPS, Rules, StepClass, StepVerdict
from wardround.evaluators.search.results import SEARCHED


class EvidenceQuote(msgspec.Struct, frozen=True, omit_defaults=True):
    """A quotation that supports a verdict: characters `start` to `end` of the stored text `digest`, and its source.

    `how` and `likeness` are as in evidence.Place. `judge` is the seat that quoted.
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


class SearchRecord(msgspec.Struct, frozen=True, omit_defaults=True):
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

    A kind, or the verdict of a reasoning step, is None only if the judge failed; `reason` says how. Raises ValueError
    for a verdict on a step that is not reasoning, and for a missing kind or verdict without a reason.

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
    looked: tuple[SearchRecord, ...] = ()
    quoted: tuple[EvidenceQuote, ...] = ()
    flags: tuple[str, ...] = ()
    unseen: int = 0
    beside: tuple[EvidenceQuote, ...] = ()
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


class WholeAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One part of all replies together: how many of its `steps` were `judged`, and the reference steps in any turn."""

    part: Part
    steps: int
    judged: int
    reference: tuple[ReferenceAccount, ...] | None = None
    unreferenced: str = ""


class OverquotedPassage(msgspec.Struct, frozen=True):
    """A passage (its `digest`) that was quoted for so many `steps` `of` those with any quotation."""

    digest: str
    steps: int
    of: int


class Account(msgspec.Struct, frozen=True, omit_defaults=True):
    """The account of one judged episode. `judges` maps seats to SPECs, `search` names the search.

    `floor`: a lexical judge took part. `flags` are signs of text that addresses the judge in the case itself. `unseen`
    counts the characters of the reference that its judge was not shown.

    `whole` is the account of the encounter as one reasoning, if it was judged so. `knowledge` says what
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
    overquoted: tuple[OverquotedPassage, ...] = ()
    controls: tuple[Control, ...] = ()


def scores(reply: PartAccount, rules: Rules = "default") -> list[Score]:
    """Compute all scores of one part of a reply, always the same names in the same order.

    - `steps_PART`: the number of steps.
    - `efficiency_PART`: the share of steps that are reasoning (equation 4).
    - `factuality_PART`: of the reasoning steps that are correct or wrong, the share of correct ones (equation 5).
    - `unverifiable_PART`: the share of reasoning steps that the searches did not settle.
    - `completeness_PART`: the share of reference steps that the reply has (equation 6); with `_without_answer`, of
      those before the final answer.
    - `_low` and `_high`: efficiency and factuality if each open step counted against the doctor, or for it.

    `default`: an undefined score is None with its reason, and so is one that a failed judge left open. `published`: the
    values of the published code, in scores `published_*`. It gives 0 where a score is undefined, and counts a step as
    wrong if the searches did not settle it. A failed judge or search gives None there too: the published code stops, or
    hands the error's text to the judge, but a failure is never a score. A part that does not exist (`no_thinking`,
    `no_words`) is None under both rule sets.
    """
    return _published(reply) if rules == "published" else _default(reply)


class StepCounts(msgspec.Struct, frozen=True):
    """The number of steps by class and verdict.

    `unclassified` steps have no class. Of the `reasoning` steps, `correct`, `wrong` and `unverifiable` count those with
    that verdict; the rest have none.
    """

    steps: int
    unclassified: int
    reasoning: int
    correct: int
    wrong: int
    unverifiable: int


def count(steps: Sequence[StepAccount], left_out: int = 0) -> StepCounts:
    """Count each class and verdict; steps that were `left_out` have none."""
    effective = [step for step in steps if step.kind == StepClass.REASONING]
    return StepCounts(
        steps=len(steps) + left_out,
        unclassified=sum(step.kind is None for step in steps) + left_out,
        reasoning=len(effective),
        correct=sum(step.verdict == StepVerdict.CORRECT for step in effective),
        wrong=sum(step.verdict == StepVerdict.WRONG for step in effective),
        unverifiable=sum(step.verdict == StepVerdict.UNVERIFIABLE for step in effective),
    )


def _default(reply: PartAccount) -> list[Score]:
    """Compute the scores of the default rules; a step that a failed judge left open makes a score None."""
    part, counts = reply.part, count(reply.steps, reply.left_out)
    # the first failure of a judge is the reason; a missing class leaves the verdicts open too
    unclassed = next((step.reason for step in reply.steps if step.kind is None), "")
    unclassed = unclassed or ("too_many_steps" if reply.left_out else "")
    failed = unclassed or next((step.reason for step in reply.steps if _failed(step)), "")
    some = counts.reasoning + counts.unclassified
    none = reply.reason if not counts.steps else "no_reasoning_step"
    settled = counts.correct + counts.wrong
    figures = [
        Score(f"steps_{part}", float(counts.steps)) if counts.steps else Score(f"steps_{part}", None, reply.reason),
        _share(f"efficiency_{part}", counts.reasoning, counts.steps, reply.reason, unclassed),
        _share(f"efficiency_low_{part}", counts.reasoning, counts.steps, reply.reason),
        _share(f"efficiency_high_{part}", some, counts.steps, reply.reason),
        _share(f"factuality_{part}", counts.correct, settled, "nothing_verified" if some else none, failed),
        _share(f"factuality_low_{part}", counts.correct, some, none),
        _share(f"factuality_high_{part}", some - counts.wrong, some, none),
        _share(f"unverifiable_{part}", counts.unverifiable, counts.reasoning, none, failed),
    ]
    return [*figures, *_completeness(reply)]


def _failed(step: StepAccount) -> bool:
    return step.kind == StepClass.REASONING and step.verdict is None


def _completeness(reply: PartAccount) -> list[Score]:
    reference, absent = reply.reference or (), _absent(reply)
    without = [step for step in reference if not step.final]
    return [
        _recall(f"completeness_{reply.part}", reference, "no_reference", absent),
        _recall(
            f"completeness_without_answer_{reply.part}",
            without,
            "only_the_answer" if reference else "no_reference",
            absent,
        ),
    ]


def _recall(name: str, reference: Sequence[ReferenceAccount], none: str, absent: str) -> Score:
    failed = absent or next((step.reason for step in reference if step.hit is None), "")
    return _share(name, sum(step.hit is True for step in reference), len(reference), none, failed)


def opinion_scores(reply: PartAccount, prefix: str = "") -> list[Score]:
    """`opinion_factuality_PART`: the share of correct steps where judges may use their own knowledge.

    A verdict by evidence counts first, the judges' opinion where there is none; steps that neither settles are left
    out. This score never replaces the factuality by evidence.
    """
    name = f"{prefix}opinion_factuality_{reply.part}"
    steps = [step for step in reply.steps if step.kind == StepClass.REASONING]
    verdicts = [
        step.verdict if step.verdict in (StepVerdict.CORRECT, StepVerdict.WRONG) else step.opinion for step in steps
    ]
    failed = next((step.reason for step in reply.steps if step.kind is None), "")
    correct, wrong = verdicts.count(StepVerdict.CORRECT), verdicts.count(StepVerdict.WRONG)
    none = reply.reason if not reply.steps else "nothing_verified" if steps else "no_reasoning_step"
    return [_share(name, correct, correct + wrong, none, failed)]


def turning_scores(reply: PartAccount, later: Sequence[PartAccount], evidence: tuple[int, ...]) -> list[Score]:
    """Return the scores that relate the turns of an encounter to each other.

    - `whole_unseen_PART`: the share of all steps that rely on a finding which the doctor did not know by then.
    - `whole_repetition_PART`: the share of the steps of the `later` turns, from the second on, that repeat a step of an
      earlier turn; None with `one_turn` if there is only one.
    """
    failed = next((step.reason for step in reply.steps if step.kind is None), "")
    unseen = sum(step.kind == StepClass.UNSEEN for step in reply.steps)
    steps = [step for part in later for step in part.steps]
    again = sum(step.repeats > 0 for step in steps)
    lost = next((step.reason for step in steps if step.kind is None), "")
    figures = [
        _share(f"whole_unseen_{reply.part}", unseen, len(reply.steps), reply.reason, failed),
        _share(f"whole_repetition_{reply.part}", again, len(steps), reply.reason or "one_turn", lost),
    ]
    return [msgspec.structs.replace(score, evidence=evidence) for score in figures]


def _published(reply: PartAccount) -> list[Score]:
    """Compute the three scores of the published code, from the first ten steps."""
    part, steps = reply.part, reply.steps[:PUBLISHED_STEPS]
    counts = count(steps)
    failed = next((step.reason for step in steps if step.kind is None or _failed(step)), "")
    # an unsettled step is wrong; a step that was not looked up because the search failed is unknown
    unsearched = next((step.reason for step in steps if step.reason.startswith(SEARCHED)), "")
    absent = _absent(reply)
    # the published evaluator looks only into the reasoning
    hits = [step.reasoning for step in reply.reference or ()]
    unknown = next((step.reason for step, hit in zip(reply.reference or (), hits, strict=True) if hit is None), "")
    if reply.reference is None:
        unknown = "no_reference"
    names = (f"published_{name}_{part}" for name in ("efficiency", "factuality", "completeness"))
    shares = (
        (counts.reasoning, counts.steps, failed or absent),
        (counts.correct, counts.reasoning, failed or unsearched or absent),
        (sum(hit is True for hit in hits), len(hits), absent or unknown),
    )
    return [
        Score(name, None, reason) if reason else Score(name, of / whole if whole else 0.0)
        for name, (of, whole, reason) in zip(names, shares, strict=True)
    ]


def _absent(reply: PartAccount) -> str:
    """Return the reason of all scores of a part that does not exist, "" if it exists."""
    return reply.reason if reply.reason in ABSENT else ""


def _share(name: str, of: int, whole: int, none: str, failed: str = "") -> Score:
    """Return `of` / `whole`; None with the reason `failed` of a judge, or with `none` if `whole` is 0."""
    if failed:
        return Score(name, None, failed)
    return Score(name, of / whole) if whole else Score(name, None, none)
