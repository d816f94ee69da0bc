"""Renders pages: escapes everything, makes hidden characters visible, and puts states, votes and marks in words."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec
from markupsafe import Markup

from wardround.engine.records import Json
from wardround.engine.text import count_noun, regex
from wardround.evaluators.judges.panel import Vote
from wardround.evaluators.open_answers.rubric import CriterionAccount, RubricAccount
from wardround.evaluators.reasoning.reasoning_record import StepAccount
from wardround.evaluators.reasons import phrase

if TYPE_CHECKING:
    from jinja2 import Environment


_HIDDEN = regex(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """Show control characters, changes of writing direction and invisible characters in `text` as ‹U+202E›.

    A quotation in a page must not hide words from the reader, or overwrite the text beside it.
    """
    return _HIDDEN.sub(_escape_character, text)


def shortened(text: str, most: int) -> str:
    """Return the first `most` characters and the number of those that follow; a short rest is not cut off."""
    rest = len(text) - most
    return text if rest <= most // 10 else f"{text[:most].rstrip()} … ({count_noun(rest, 'character')} more)"


def _escape_character(match: re.Match[str]) -> str:
    return f"\u2039U+{ord(match[0]):04X}\u203a"


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
    """Return the state of a step; `unknown` if the judge failed."""
    word = step.verdict if step.kind == "reasoning" else step.kind
    return next((state for state in SIGNS if state == word), "unknown")


class Speaker(msgspec.Struct, frozen=True):
    """One vote in words: who, what, why, and how the question was asked."""

    who: str
    said: str
    reason: str
    asked: str


def voices(votes: tuple[Vote, ...], judges: dict[str, str]) -> list[Speaker]:
    """Return the votes, each with the judge's SPEC."""
    return [
        Speaker(
            who=f"{vote.judge} ({judges[vote.judge]})" if vote.judge in judges else vote.judge,
            said=vote_words(vote.value),
            reason=vote.reason,
            asked=", ".join(
                [*(["other order"] if vote.swapped else []), *([f"ask {vote.repeat + 1}"] * (vote.repeat > 0))]
            ),
        )
        for vote in votes
    ]


def vote_words(value: Json) -> str:
    """Put a vote's value in words."""
    if value is None:
        return "no verdict"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def torn(votes: tuple[Vote, ...]) -> bool:
    """Whether the votes differ."""
    return len({msgspec.json.encode(vote.value) for vote in votes}) > 1


class CriterionMark(msgspec.Struct, frozen=True):
    """One criterion: its mark in words, how it stands for the answer, who decided, and the `events` that show it."""

    number: int
    criterion: str
    points: float
    mark: str
    state: Literal["correct", "wrong", "unknown"]
    decided: str
    votes: Sequence[Speaker]
    events: Sequence[int]
    tags: Sequence[str]


def criterion_marks(account: RubricAccount) -> list[CriterionMark]:
    """The marks of a rubric in its order."""
    return [_mark(number, one, account) for number, one in enumerate(account.criteria, 1)]


def _mark(number: int, one: CriterionAccount, account: RubricAccount) -> CriterionMark:
    return CriterionMark(
        number=number,
        criterion=one.criterion,
        points=one.points,
        mark=_mark_words(one),
        state="unknown" if one.met is None else "correct" if (one.met >= 0.5) is (one.points > 0) else "wrong",
        decided=_DECIDED.get(one.by) or ("by the judge" if len(account.judges) < 2 else "by the judges"),
        votes=voices(one.votes, account.judges),
        events=one.events,
        tags=one.tags,
    )


_DECIDED = {"rule": "by rule", "nobody": "as there was no answer"}


def _mark_words(one: CriterionAccount) -> str:
    if one.met is None:
        return f"undecided ({phrase(one.reason)})" if one.reason else "undecided"
    if not isinstance(one.met, bool) and 0 < one.met < 1:
        return f"met by {one.met:.0%} of the judges"
    said = "met" if one.met else "not met"
    return f"{said}: unsafe, so the score is at most 0" if one.met and one.veto else said


TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


@cache
def environment() -> "Environment":
    """Return the Jinja environment, which escapes every expression; cached, so that templates are compiled once."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415  # only writing pages needs it

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalised,
    )


def style(*names: str) -> Markup:
    """Return our own style sheets, concatenated."""
    texts = [(TEMPLATES / name).read_text(encoding="utf-8") for name in names]
    return Markup("".join(texts))  # noqa: S704  # our own files


def _finalised(value: Json) -> Json:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_ODD = regex(r"[\s\\\x00-\x1f\x7f-\x9f<>\"^`{|}]")
_LONGEST = 2000


def safe_link(url: str) -> str:
    """Return `url` if it is safe for a reader to follow, else "".

    It must be http or https, with a host, without a user name (which makes one host look like another), and without
    characters that are invalid in an address.
    """
    if len(url) > _LONGEST or _ODD.search(url) or visible(url) != url:
        return ""
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.username is None and parts.port != 0
    except ValueError:
        return ""
    return url if known else ""


def host(url: str) -> str:
    """Return the host of an address that `safe_link` accepts."""
    return urlsplit(url).hostname or ""
