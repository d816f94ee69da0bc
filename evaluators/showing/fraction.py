"""What a figure is a share of, for readers: `5 of 6` beside 0.833, counted from the account that the figure is of."""

from collections.abc import Mapping
from typing import get_args

from wardround.evaluators.measure import Part
from wardround.evaluators.reasoning.account import PartAccount, StepAccount
from wardround.evaluators.reasoning.judged import PUBLISHED_STEPS, Rules
from wardround.evaluators.rows import EpisodeScores


def fraction(part: PartAccount, figure: str, rules: Rules, value: float | None) -> str:
    """`N of M` of a figure of this part; "" unless it comes to `value`, as where the figure is of other replies too."""
    of, whole = _counts(part, rules).get(figure, (0, 0))
    return f"{of:,} of {whole:,}" if whole and value is not None and of / whole == value else ""


def fractions(parts: Mapping[Part, PartAccount], figure: str, row: EpisodeScores, lead: str, rules: Rules) -> list[str]:
    """Those of the formal and the thinking part of the answer that have one."""
    found = (
        fraction(parts[part], figure, rules, row.score(f"{lead}{figure}_{part}").value)
        for part in get_args(Part)
        if part in parts
    )
    return [one for one in found if one]


def _counts(part: PartAccount, rules: Rules) -> dict[str, tuple[int, int]]:
    published = rules == "published"
    steps = part.steps[:PUBLISHED_STEPS] if published else part.steps
    reasoning = [step for step in steps if step.kind == "reasoning"]
    correct, wrong = _said(reasoning, "correct"), _said(reasoning, "wrong")
    reference = part.reference or ()
    hits = [step.reasoning is True or (not published and step.answer is True) for step in reference]
    without = [hit for step, hit in zip(reference, hits, strict=True) if not step.final]
    return {
        "efficiency": (len(reasoning), len(steps) if published else len(steps) + part.left_out),
        "factuality": (correct, len(reasoning) if published else correct + wrong),
        "unverifiable": (_said(reasoning, "unverifiable"), len(reasoning)),
        "completeness": (sum(hits), len(hits)),
        "completeness_without_answer": (sum(without), len(without)),
    }


def _said(steps: list[StepAccount], verdict: str) -> int:
    return sum(step.verdict == verdict for step in steps)
