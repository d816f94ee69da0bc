"""One judged part of a reply as the page shows it: its steps, what was looked up, what was found of the reference."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wardround.engine.text import counted
from wardround.evaluators.measures import shown
from wardround.evaluators.reasoning.account import Account, PartAccount, StepAccount
from wardround.evaluators.reasoning.judged import Rules
from wardround.evaluators.reasons import phrase
from wardround.evaluators.rows import EpisodeScores
from wardround.evaluators.showing.fraction import fraction
from wardround.evaluators.showing.mark import SIGNS, State, Voice, state_of, torn, voices
from wardround.evaluators.showing.quotation import Quotation, quotation

_HOW = {
    "tags": "marked steps",
    "numbers": "numbered steps",
    "bullets": "bullets",
    "paragraphs": "paragraphs",
    "lines": "lines",
    "judge": "steps that a judge told apart",
}
_FIGURES = ("efficiency", "factuality", "unverifiable", "completeness", "completeness_without_answer")


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its number, its place in the page, what became of it, and why."""

    number: int
    anchor: str
    state: State
    account: StepAccount
    kinds: Sequence[Voice]
    verdicts: Sequence[Voice]
    divided: bool
    quotations: Sequence[Quotation]


@dataclass(frozen=True, slots=True)
class Shown:
    """One part of one reply. `counts` are its steps by state; `figures` are (label, value, remark)."""

    anchor: str
    heading: str
    account: PartAccount
    steps: Sequence[Step]
    counts: Sequence[tuple[State, int]]
    how: str
    figures: Sequence[tuple[str, str, str]]
    references: Sequence[Sequence[Voice]]
    found: str


def parts(account: Account, row: EpisodeScores, texts: Mapping[str, str], prefix: str) -> list[Shown]:
    """All parts; `prefix` keeps the anchors of several accounts apart."""
    last = max((part.turn for part in account.parts), default=0)
    return [
        _part(part, account, row, texts, f"{prefix}-{place}", several=last > 1)
        for place, part in enumerate(account.parts, 1)
    ]


def _part(
    part: PartAccount, account: Account, row: EpisodeScores, texts: Mapping[str, str], anchor: str, *, several: bool
) -> Shown:
    steps = [_step(place, step, account, texts, anchor) for place, step in enumerate(part.steps, 1)]
    counts = Counter(step.state for step in steps)
    kind = "The answer" if part.stage == "conclusion" else "Requests"
    turn = f" (turn {part.turn})" if several else ""
    return Shown(
        anchor=anchor,
        heading=f"{kind}{turn}, {part.part} part",
        account=part,
        steps=steps,
        counts=[(state, counts[state]) for state in SIGNS if counts[state]],
        how=f"{counted(len(steps), 'step')}, from {_HOW.get(part.how, part.how)}" if part.how else "",
        figures=_figures(part, row, account.rules),
        references=[voices(step.votes, account.judges) for step in part.reference or ()],
        found=_found(part),
    )


def _step(number: int, step: StepAccount, account: Account, texts: Mapping[str, str], anchor: str) -> Step:
    return Step(
        number=number,
        anchor=f"{anchor}-{number}",
        state=state_of(step),
        account=step,
        kinds=voices(step.kinds, account.judges),
        verdicts=voices(step.verdicts, account.judges),
        divided=torn(step.kinds) or torn(step.verdicts),
        quotations=[quotation(quoted, texts) for quoted in step.quoted],
    )


def _figures(part: PartAccount, row: EpisodeScores, rules: Rules) -> list[tuple[str, str, str]]:
    """The figures of this very part: none for one of several examination replies that are scored together."""
    scores = {score.name: score for score in row.scores}
    stages = ["", f"turn_{part.turn}_"] if part.stage == "conclusion" else [f"turn_{part.turn}_"]
    lead = "published_" if rules == "published" else ""
    found = []
    for figure in _FIGURES:
        names = [f"{stage}{lead}{figure}_{part.part}" for stage in stages]
        score = next((scores[name] for name in names if name in scores), None)
        if score is None:
            continue
        bounds = [scores.get(score.name.replace("factuality", f"factuality_{end}")) for end in ("low", "high")]
        ends = [shown(bound.name, bound.value) for bound in bounds if bound is not None and bound.value is not None]
        told = [fraction(part, figure, rules, score.value), phrase(score.reason)]
        if figure == "factuality" and rules == "default" and len(ends) == 2 and ends[0] != ends[1]:
            told.append(f"{ends[0]} to {ends[1]} with unverified steps")
        remark = ", ".join(filter(None, told))
        label = figure.replace("_", " ").capitalize()
        found.append((label, shown(score.name, score.value), remark))
    return found


def _found(part: PartAccount) -> str:
    """How much of the reference was found, for instance `3 of 5 steps`."""
    reference = part.reference or ()
    hits = sum(step.reasoning is True or step.answer is True for step in reference)
    return f"{hits} of {counted(len(reference), 'step')}" if reference else ""
