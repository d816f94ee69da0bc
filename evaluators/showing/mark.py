"""How a step, a vote and a hit are marked: by a sign and a word, and by a colour that is never alone."""

from typing import Literal

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.judging.panel import Vote
from wardround.evaluators.reasoning.account import StepAccount

State = Literal["correct", "wrong", "unverifiable", "unknown", "citation", "repetition", "redundancy", "unseen"]
SIGNS: dict[State, str] = {
    "correct": "✓",
    "wrong": "✗",
    "unverifiable": "?",
    "unknown": "!",
    "citation": "“",
    "repetition": "=",
    "redundancy": "–",
    "unseen": "∅",
}
MEANINGS: dict[State, str] = {
    "correct": "reasoning, borne out by what was found",
    "wrong": "reasoning, contradicted by what was found",
    "unverifiable": "reasoning that the searches did not settle; neither right nor wrong",
    "unknown": "not judged: the judge failed",
    "citation": "restates the case",
    "repetition": "repeats an earlier step",
    "redundancy": "adds nothing that helps",
    "unseen": "relies on a finding that had not been told by then",
}


def state_of(step: StepAccount) -> State:
    """What became of a step; `unknown` if the judge failed to say."""
    word = step.verdict if step.kind == "reasoning" else step.kind
    return next((state for state in SIGNS if state == word), "unknown")


class Voice(msgspec.Struct, frozen=True):
    """One vote in words: who, what, why, and how it was asked."""

    who: str
    said: str
    reason: str
    asked: str


def voices(votes: tuple[Vote, ...], judges: dict[str, str]) -> list[Voice]:
    """The votes, each with the judge's SPEC."""
    return [
        Voice(
            who=f"{vote.judge} ({judges[vote.judge]})" if vote.judge in judges else vote.judge,
            said=said(vote.value),
            reason=vote.reason,
            asked=", ".join(
                [*(["other order"] if vote.swapped else []), *([f"ask {vote.repeat + 1}"] * (vote.repeat > 0))]
            ),
        )
        for vote in votes
    ]


def said(value: Json) -> str:
    """A vote's value in words."""
    if value is None:
        return "no verdict"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def torn(votes: tuple[Vote, ...]) -> bool:
    """Whether the votes differ."""
    return len({msgspec.json.encode(vote.value) for vote in votes}) > 1
