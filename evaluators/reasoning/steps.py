"""Splits one part of a reply into the steps of its reasoning."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import msgspec

from wardround.evaluators.measure import Part
from wardround.evaluators.reasoning import conclusion
from wardround.evaluators.reasoning.body import reasoning
from wardround.evaluators.reasoning.judged import PUBLISHED_STEPS, Rules
from wardround.evaluators.reasoning.marks import NUMBER, TAG, lined, number
from wardround.scenarios import spans
from wardround.scenarios.parsers import published, reply_text
from wardround.scenarios.published.tables import Absent

MANY = 200
"""Steps of a part that are judged; what is beyond is counted, not judged."""

How = Literal["tags", "numbers", "bullets", "paragraphs", "lines", "judge", ""]

_CLOSED = re.compile(r"(?i)</step\s{0,9}\d{0,4}>")
_BULLET = re.compile(r"(?m)^(?P<indent>[ \t]*)(?:[-+*\u2022\u00b7](?=[ \t])|[\u2022\u25cf\u25aa])[ \t]*")
_HEADING = re.compile(
    r"^(?:\#{1,6}[ \t][^\n]*|[*_]{2,3}[^*\n]{1,120}[*_]{2,3}:?|[*_]{0,3}[^\n|]{1,200}[:\uff1a][*_]{0,3})$"
)
_BLANK = re.compile(r"\n[ \t]*\n\s*")
_RULE = re.compile(r"(?m)^[ \t]*(?:```\w*|[-*_]{3,})[ \t]*$")


class Split(msgspec.Struct, frozen=True):
    """The steps of a part, and `how` they were told apart.

    Without steps `reason` says why: `empty_reply`, `no_thinking` (the model has no such part), `no_reasoning` (nothing
    but an answer). With more than 200 it is `too_many_steps`: the first 200 are kept and `left_out` counts the rest.
    """

    steps: tuple[str, ...]
    how: How = ""
    reason: str = ""
    left_out: int = 0


class Played(msgspec.Struct, frozen=True):
    """Where a reply was given: in which scenario, whether it was `asking` for something, and the episode's answer."""

    scenario: str = ""
    asking: bool = False
    answer: str = ""


ANYWHERE = Played()


def split(
    text: str, part: Part = "formal", rules: Rules = "default", played: Played = ANYWHERE, most: int | None = MANY
) -> Split:
    """The steps of `text`, the formal or the thinking part of a reply.

    By `<step n>`; else by numbers or bullets, if they order the whole text; else by paragraphs; else by lines. A
    heading, or a line that only leads in, belongs to what follows, a table or a list to its lead-in. The prediction's
    conclusion, its answer, its requests and the protocol of its game are no steps. `published` splits as the published
    code does and keeps ten, others `most` (None: all).
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if part == "formal":
        text = reply_text.answer_part(text)
    if not text.strip():
        return Split((), reason="empty_reply" if part == "formal" else "no_thinking")
    if rules == "published":
        return _published(text, part, played)
    how, kept = _formal(text, played) if part == "formal" else _cleaned(lined(text))
    if not kept:
        return Split((), reason="no_reasoning")
    over = max(0, len(kept) - most) if most is not None else 0
    return Split(tuple(kept[:most]), how, "too_many_steps" if over else "", over)


def _formal(text: str, played: Played) -> tuple[How, list[str]]:
    """The steps of the formal part: what is neither protocol nor conclusion."""
    said = spans.unscripted(text, played.scenario, asking=played.asking)
    how, found = _cleaned(conclusion.unconcluded(_RULE.sub("", reasoning(lined(said))).strip()))
    kept = conclusion.steps(found, played.answer)
    return how, [] if conclusion.asks_only("\n".join(kept)) else kept


def _cleaned(body: str) -> tuple[How, list[str]]:
    how, found = _told_apart(_RULE.sub("", body).strip())
    return how, [step for step in (_CLOSED.sub("", one).strip() for one in found) if any(map(str.isalnum, step))]


def _published(text: str, part: Part, played: Played) -> Split:
    """As the published code splits behind its heading; without that it finds nothing, which is not imitated."""
    try:
        if part == "formal":
            found = published.reasoning_steps(text)
            return Split(tuple(found), "tags" if published.STEP.search(text) else "paragraphs")
    except Absent as absent:
        if absent.reason != "no_heading" or not _formal(text, played)[1]:
            return Split((), reason="no_reasoning")
        text = spans.unscripted(text, played.scenario, asking=played.asking)
    kept = reply_text.steps(text, published=True)[:PUBLISHED_STEPS]
    how: How = "tags" if TAG.search(text) else "paragraphs"
    return Split(tuple(kept), how) if kept else Split((), reason="no_reasoning")


def _told_apart(body: str) -> tuple[How, Sequence[str]]:
    if tags := list(TAG.finditer(body)):
        return "tags", _between(body, tags)
    for how, marks in (("numbers", _numbers(body)), ("bullets", _bullets(body))):
        lead = body[: marks[0].start()].strip() if len(marks) > 1 else body
        if len(marks) > 1 and _orders(body, marks, lead):
            first = [] if not lead or _HEADING.match(lead.rpartition("\n")[2].strip()) else [lead]
            return ("numbers" if how == "numbers" else "bullets"), [*first, *_between(body, marks)]
    blocks = _joined([block for block in _BLANK.split(body) if block.strip()])
    if len(blocks) > 1:
        return "paragraphs", blocks
    return "lines", _joined(_rows(body))


def _orders(body: str, marks: Sequence[re.Match[str]], lead: str) -> bool:
    """Whether a list orders the whole text: one paragraph leads in at most, and none but the last item goes on."""
    if len(_BLANK.findall(lead)) > 1:
        return False
    last = body[marks[-1].end() :]
    return len(_BLANK.findall(last.strip())) <= 1 or all(
        _BLANK.search(one.strip()) for one in _between(body, marks)[:-1]
    )


def _numbers(body: str) -> list[re.Match[str]]:
    """The numbers of the outermost list, if they count up by one."""
    marks = _outermost(list(NUMBER.finditer(body)))
    return marks if all(number(b) == number(a) + 1 for a, b in pairwise(marks)) else []


def _bullets(body: str) -> list[re.Match[str]]:
    return _outermost(list(_BULLET.finditer(body)))


def _outermost(marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    least = min((len(mark["indent"].expandtabs(4)) for mark in marks), default=0)
    return [mark for mark in marks if len(mark["indent"].expandtabs(4)) == least]


def _between(body: str, marks: Sequence[re.Match[str]]) -> list[str]:
    ends = [mark.start() for mark in marks[1:]] + [len(body)]
    return [_whole(body[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]


def _whole(step: str) -> str:
    """Without the end of an emphasis that began before the mark: '**Step 2: Examine**'."""
    first, _, rest = step.partition("**")
    return first + rest if step.count("**") % 2 and "\n" not in first else step


def _rows(body: str) -> list[str]:
    """The lines, those of a table together."""
    rows: list[list[str]] = []
    for line in body.split("\n"):
        if rows and line.lstrip().startswith("|") and rows[-1][0].lstrip().startswith("|"):
            rows[-1].append(line)
        elif line.strip():
            rows.append([line])
    return ["\n".join(row) for row in rows]


def _joined(blocks: Sequence[str]) -> list[str]:
    """Each block with the headings and lead-ins before it, a lead-in with its whole list."""
    joined: list[list[str]] = []
    before: list[str] = []
    listing = False
    for block in map(str.strip, blocks):
        item = _item(block)
        if listing and item:
            joined[-1].append(block)
            continue
        leads = _HEADING.match(block.rpartition("\n")[2]) is not None
        listing = item and bool(before)
        before.append(block)
        if not leads or listing:
            joined.append(before)
            before = []
    if before:
        # headings that nothing follows belong to what came before
        joined[-1:] = [[*(joined[-1] if joined else []), *before]]
    return ["\n".join(block) for block in joined]


def _item(block: str) -> bool:
    return bool(_BULLET.match(block) or NUMBER.match(block))
