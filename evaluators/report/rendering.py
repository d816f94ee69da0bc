"""Renders pages: everything escaped, hidden characters made visible, marks that need no colour."""

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec
from markupsafe import Markup

from wardround.engine.records import Json
from wardround.evaluators.judges.panel import Vote
from wardround.evaluators.reasoning.reasoning_record import StepAccount

if TYPE_CHECKING:
    from jinja2 import Environment


_HIDDEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """`text` with control characters, signs that turn the direction of writing, and unseen letters as ‹U+202E›.

    A page that shows a quotation must not let it hide words from its reader, or write over those beside it.
    """
    return _HIDDEN.sub(_named, text)


def shortened(text: str, most: int) -> str:
    """The first `most` characters and how many follow."""
    return text if len(text) <= most else f"{text[:most].rstrip()} … ({len(text) - most:,} characters more)"


def _named(match: re.Match[str]) -> str:
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


TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


@cache
def environment() -> "Environment":
    """One whose every expression is escaped and made visible; made once, so that templates are compiled once."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415  # only who writes pages waits

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalised,
    )


def style(*names: str) -> Markup:
    """Our own style sheets, one after the other."""
    texts = [(TEMPLATES / name).read_text(encoding="utf-8") for name in names]
    return Markup("".join(texts))  # noqa: S704  # our own files


def _finalised(value: Json) -> Json:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_ODD = re.compile(r"[\s\\\x00-\x1f\x7f-\x9f<>\"^`{|}]")
_LONGEST = 2000


def link(url: str) -> str:
    """`url` if a reader may follow it, else "".

    Only http and https, to a host, without a user name (which makes one host look like another), and without
    characters that no address holds.
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
    """The host of an address that `link` lets through."""
    return urlsplit(url).hostname or ""
