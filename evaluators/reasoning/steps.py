"""Splits one part of a reply into the steps of its reasoning.

`split` is the whole way. It cuts out what is no reasoning (`reasoning`, `conclusion`), brings the marks of steps to the
beginnings of lines (`marks_on_lines`), and splits at the first kind of mark that the text has (`_separate`).
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

import msgspec

from wardround.evaluators.measures import Part
from wardround.evaluators.reasoning import conclusion
from wardround.evaluators.reasoning.conclusion import gives_reasons
from wardround.evaluators.reasoning.step_questions import PUBLISHED_STEPS, Rules
from wardround.scenarios.parsers import published, reply_text
from wardround.scenarios.published.imaging_words import Absent

TAG = re.compile(r"(?im)^[ \t>*_#]*</?step\s{0,9}\d{0,4}\s{0,9}>[*_:]*")
# '1. ', '2) ', '(3) ', 'Step 4:', '**Step 5 - ', '### Step 6', and the Chinese '7、' '第八步：' '步骤9：' '（10）'
_DIGITS = r"(?:\d{1,4}|[\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341]{1,3})"
_STEP = r"(?:step|paso|\u00e9tape|etapa|schritt|passo)"
NUMBER = re.compile(
    rf"(?im)^(?P<indent>[ \t]*)(?:\#{{1,6}}[ \t]*)?[*_]{{0,3}}(?:"
    rf"{_STEP}[ \t]{{1,4}}(?P<a>\d{{1,4}})(?!\d)[*_]{{0,3}}[ \t]*(?:[:.)\uff1a\u2013\u2014-]+|(?=\s))"
    rf"|[(\uff08](?P<b>{_DIGITS})[)\uff09]|(?P<c>\d{{1,4}})(?:[.)](?=[ \t*_])|[\u3001\uff0e])"
    rf"|\u7b2c(?P<d>{_DIGITS})\u6b65[:\uff1a\uff0c\u3001]?|\u6b65\u9aa4[ \t]?(?P<e>{_DIGITS})[:\uff1a\uff0c\u3001.]?"
    rf"|(?P<f>[\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341]{{1,3}})\u3001"
    rf"|(?P<circled>[\u2460-\u2473]))[*_]{{0,3}}[ \t]*"
)
_CHINESE = {sign: place for place, sign in enumerate("\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341", 1)}
_NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WORDS = {name: place for place, name in enumerate(_NAMES, 1)}
# '<step 1>', '< Step-2 >', '<step three>', '<step 4: Fever>', '[Step 5]'
_SHAPES = re.compile(
    rf"(?i)(?P<open>[<\[\u3010])[ \t]{{0,3}}(?:{_STEP}|\u6b65\u9aa4)[ \t_-]{{0,3}}(?P<n>\d{{1,4}}|{'|'.join(_WORDS)})"
    r"[ \t]{0,3}(?:[:\uff1a.-][ \t]*(?P<title>[^<>\[\]\n]{0,120}))?[>\]\u3011]"
)
_INLINE = re.compile(rf"(?i)\b{_STEP}[ \t]{{1,3}}(?P<n>\d{{1,4}})[*_]{{0,3}}[ \t]?[:.\uff1a](?=\s)")
_CIRCLED = re.compile("(?P<n>[\u2460-\u2473])")
_PREFIX = re.compile(r"[ \t>*_#+\u2022-]*")
_ENDED = re.compile(r"[.!?;\u3002\uff1b][\"')\]*_]{0,3}[ \t]*[*_]{0,3}$")
_REACH = 60
_MOST = 1_000
"""Characters read before a mark, and the most marks inside lines that still count as a sequence."""


def number(mark: re.Match[str]) -> int:
    """Return the number that a mark of NUMBER stands for."""
    sign = next(group for group in mark.group("a", "b", "c", "d", "e", "f", "circled") if group)
    tens, ten, ones = sign.rpartition("\u5341")
    if not ten:
        return _mark_value(sign) or _CHINESE.get(sign[:1], 0)
    return 10 * (_CHINESE.get(tens, 1) if tens else 1) + (_CHINESE.get(ones, 0) if ones else 0)


def marks_on_lines(text: str) -> str:
    """Return `text` with each mark of a step at the beginning of a line, and all tags as `<step n>`.

    A mark inside a line opens a step only if it continues the count and no line begins with the same number; otherwise
    it merely mentions an earlier step. `Step n:` inside a line must follow a sentence. A title inside a tag is kept.
    """
    tags = [mark for mark, _ in _step_marks(text, list(_SHAPES.finditer(text)))]
    if len(tags) > 1 or any(mark["open"] == "<" and _begins_line(text, mark.start()) for mark in tags):
        return _rewrite_marks(text, tags)
    if TAG.search(text):
        return text
    for shape in (_INLINE, _CIRCLED):
        signs = [mark for mark in shape.finditer(text) if _may_open_step(text, mark)]
        marks = list(_step_marks(text, signs)) if len(signs) <= _MOST else []
        if len(marks) > 1 and marks[0][1] <= 1 and _begins_line(text, marks[0][0].start()):
            return _rewrite_marks(text, [mark for mark, _ in marks], tags=False)
    return text


def _may_open_step(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark that is not a tag may open a step at its place."""
    before = text[max(0, mark.start() - _REACH) : mark.start()]
    return mark.re is _CIRCLED or _begins_line(text, mark.start()) or _ENDED.search(before) is not None


def _begins_line(text: str, at: int) -> bool:
    """Whether a line begins at `at`, apart from marks of quotation, headings, lists or emphasis."""
    begin = text.rfind("\n", max(0, at - _REACH), at) + 1
    begin = begin or max(0, at - _REACH)
    return _PREFIX.fullmatch(text, begin, at) is not None


def _step_marks(text: str, marks: Sequence[re.Match[str]]) -> Iterator[tuple[re.Match[str], int]]:
    """Yield the marks that open a step, with their numbers."""
    begins = [_begins_line(text, mark.start()) for mark in marks]
    own = {_mark_value(mark["n"]) for mark, begin in zip(marks, begins, strict=True) if begin}
    last = 0
    for mark, begin in zip(marks, begins, strict=True):
        value = _mark_value(mark["n"])
        if begin or (value not in own and value == last + 1):
            last = value
            yield mark, value


def _mark_value(sign: str) -> int:
    if "\u2460" <= sign <= "\u2473":
        return ord(sign) - 0x245F
    return int(sign) if sign.isdecimal() else _WORDS.get(sign.lower(), 0)


def _rewrite_marks(text: str, marks: Sequence[re.Match[str]], *, tags: bool = True) -> str:
    """Return `text` with each mark on a new line, and with tags in their usual form."""
    kept, at = [], 0
    for mark in marks:
        before = text[at : mark.start()]
        line, prefix = before.rpartition("\n")[::2] if "\n" in before else ("", before)
        if not _PREFIX.fullmatch(prefix):
            before = before.rstrip("*_").rstrip(" \t") + "\n"
        elif any(sign in prefix for sign in "-+\u2022"):
            before = f"{line}\n" if "\n" in before else ""
        title = (mark.groupdict().get("title") or "").strip()
        shape = f"<step {_mark_value(mark['n'])}>" + (f" {title}:" if title else "") if tags else mark[0]
        kept += [before, shape]
        at = mark.end()
    return "".join([*kept, text[at:]])


_HEAD = re.compile(r"[^:\uff1a\n]*(?:[:\uff1a][*_ \t]*)?")
_BLANK = re.compile(r"\n[ \t]*\n\s*")
# conclusion, final diagnosis, diagnosis, answer; scenarios/parsers/reply_text.py knows only the English headings
_CONCLUSION = re.compile(
    r"(?m)^[ \t]*(?:\#{1,6}[ \t]*)?[*_]{0,3}(?:\u6700\u7ec8)?"
    r"(?:\u7ed3\u8bba|\u8bca\u65ad\u7ed3\u8bba|\u8bca\u65ad|\u7b54\u6848)[*_]{0,3}[ \t]*(?:[:\uff1a]|$)"
)


def reasoning(text: str) -> str:
    """Return the reasoning without other sections: conclusions, answers, requests for examinations."""
    sections = reply_text.reply_sections(text)
    headed = [section for section in sections if section.name == "reasoning"]
    # repeated lines that begin with 'Reasoning:' are parts of steps
    begin = (
        _content_start(text, headed[0]) if headed and (len(headed) == 1 or _has_heading_marks(text, headed[0])) else 0
    )
    body = _cut_conclusions(text[begin:])
    # a plain 'Conclusion:' is seen as a heading only once no marked heading is left
    body = _cut_conclusions(body)
    body = _cut_chinese_conclusion(body)
    return conclusion.without_conclusions(body, _next_step_finder(body)).strip()


def _cut_chinese_conclusion(text: str) -> str:
    """Return `text` up to its last Chinese conclusion, if steps stand only before it and it gives no reasons."""
    begin = max((match.start() for match in _CONCLUSION.finditer(text)), default=0)
    whole = not text[:begin].strip() or gives_reasons(text[begin:].partition("\n")[0])
    return text if whole or _next_step_finder(text)(begin) is not None else text[:begin]


def _cut_conclusions(text: str) -> str:
    """Return `text` up to its answer, or else to its last conclusion, without any conclusions in between."""
    sections = [section for section in reply_text.reply_sections(text) if section.name != "reasoning"]
    goes_on = _next_step_finder(text)
    kept, at, reasoned = [], 0, False
    for place, section in enumerate(sections):
        if section.begin < at:
            continue
        kept.append(text[at : section.begin])
        going = goes_on(section.begin)
        last = section.name == "answer" or (going is None and place == len(sections) - 1)
        # an answer that comes first has its reasons after it
        reasoned = reasoned or bool(kept[-1].strip())
        if last and reasoned:
            return _pieces(kept)
        at = _conclusion_end(text, section) if going is None else going
    return _pieces([*kept, text[at:]])


def _content_start(text: str, section: reply_text.ReplySection) -> int:
    """Return where the content of a section begins: after the colon of its heading or the heading's line."""
    heading = _HEAD.match(text, section.begin)
    return heading.end() if heading else section.end


def _has_heading_marks(text: str, section: reply_text.ReplySection) -> bool:
    return text[section.begin : section.begin + 40].lstrip(" \t>").startswith(("#", "*", "_"))


def _conclusion_end(text: str, section: reply_text.ReplySection) -> int:
    """Return where an intermediate conclusion ends: with its paragraph if it is on its heading's line."""
    begin = _content_start(text, section)
    line = text.find("\n", begin, section.end)
    if not text[begin : section.end if line < 0 else line].strip():
        return section.end
    blank = _BLANK.search(text, begin, section.end)
    return blank.start() if blank else section.end


def _next_step_finder(text: str) -> Callable[[int], int | None]:
    """Return a function that finds where steps continue after a place: at the next tag or the next number."""
    tags = [tag.start() for tag in TAG.finditer(text)]
    numbers = [] if tags else list(NUMBER.finditer(text))
    starts = tags or [number.start() for number in numbers]

    def place(begin: int) -> int | None:
        at = bisect_left(starts, begin)
        if at == len(starts):
            return None
        if tags:
            return tags[at]
        return starts[at] if at and number(numbers[at]) == number(numbers[at - 1]) + 1 else None

    return place


def _pieces(kept: Sequence[str]) -> str:
    return "\n\n".join(piece.strip() for piece in kept if piece.strip())


MANY = 200
"""Number of steps of a part that are judged; further ones are only counted."""

How = Literal["tags", "numbers", "bullets", "paragraphs", "lines", "judge", ""]

_CLOSED = re.compile(r"(?i)</step\s{0,9}\d{0,4}>")
_BULLET = re.compile(r"(?m)^(?P<indent>[ \t]*)(?:[-+*\u2022\u00b7](?=[ \t])|[\u2022\u25cf\u25aa])[ \t]*")
_HEADING = re.compile(
    r"^(?:\#{1,6}[ \t][^\n]*|[*_]{2,3}[^*\n]{1,120}[*_]{2,3}:?|[*_]{0,3}[^\n|]{1,200}[:\uff1a][*_]{0,3})$"
)
_RULE = re.compile(r"(?m)^[ \t]*(?:```\w*|[-*_]{3,})[ \t]*$")


class Split(msgspec.Struct, frozen=True):
    """The steps of a part, and `how` they were separated.

    Without steps, `reason` says why: `empty_reply`, `no_thinking` (the model has no such part) or `no_reasoning`
    (there is only an answer). Above 200 steps it is `too_many_steps`: the first 200 are kept and `left_out` counts the
    rest.
    """

    steps: tuple[str, ...]
    how: How = ""
    reason: str = ""
    left_out: int = 0


class ReplyContext(msgspec.Struct, frozen=True):
    """The context of a reply: its scenario, whether it was `asking` for something, and the episode's answer."""

    scenario: str = ""
    asking: bool = False
    answer: str = ""


ANYWHERE = ReplyContext()


def split(
    text: str, part: Part = "formal", rules: Rules = "default", played: ReplyContext = ANYWHERE, most: int | None = MANY
) -> Split:
    """Split `text`, the formal or the thinking part of a reply, into steps.

    The first of these that a text has separates its steps: `<step n>`; numbers or bullets, if they structure the whole
    text; paragraphs; lines. A heading or a lead-in belongs to what follows it, and a table or list to its lead-in. The
    conclusion, the answer, requests and the commands of the scenario's protocol are no steps. The `published` rules
    split as the published code does and keep ten steps, other rules keep `most` (None: all).
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if part == "formal":
        text = reply_text.answer_part(text)
    if not text.strip():
        return Split((), reason="empty_reply" if part == "formal" else "no_thinking")
    if rules == "published":
        return _published_split(text, part, played)
    how, kept = _formal_steps(text, played) if part == "formal" else _body_steps(marks_on_lines(text))
    if not kept:
        return Split((), reason="no_reasoning")
    over = max(0, len(kept) - most) if most is not None else 0
    return Split(tuple(kept[:most]), how, "too_many_steps" if over else "", over)


def _formal_steps(text: str, played: ReplyContext) -> tuple[How, list[str]]:
    """Return the steps of the formal part: everything that is neither protocol nor conclusion."""
    said = conclusion.without_protocol(text, played.scenario, asking=played.asking)
    how, pieces = _body_steps(
        conclusion.without_last_conclusion(_RULE.sub("", reasoning(marks_on_lines(said))).strip())
    )
    kept = conclusion.without_answer_steps(pieces, played.answer)
    return how, [] if conclusion.asks_only("\n".join(kept)) else kept


def _body_steps(body: str) -> tuple[How, list[str]]:
    how, pieces = _separate(_RULE.sub("", body).strip())
    return how, [step for step in (_CLOSED.sub("", one).strip() for one in pieces) if any(map(str.isalnum, step))]


def _published_split(text: str, part: Part, played: ReplyContext) -> Split:
    """Split after the heading as the published code does; without one that code finds nothing, which we do not copy."""
    try:
        if part == "formal":
            pieces = published.reasoning_steps(text)
            return Split(tuple(pieces), "tags" if published.STEP.search(text) else "paragraphs")
    except Absent as absent:
        if absent.reason != "no_heading" or not _formal_steps(text, played)[1]:
            return Split((), reason="no_reasoning")
        text = conclusion.without_protocol(text, played.scenario, asking=played.asking)
    kept = reply_text.reply_steps(text, published=True)[:PUBLISHED_STEPS]
    how: How = "tags" if TAG.search(text) else "paragraphs"
    return Split(tuple(kept), how) if kept else Split((), reason="no_reasoning")


def _separate(body: str) -> tuple[How, Sequence[str]]:
    """Return how the steps of a text are separated, and the steps."""
    if tags := list(TAG.finditer(body)):
        return "tags", _texts_between(body, tags)
    for how, marks in (("numbers", _numbers(body)), ("bullets", _outermost(list(_BULLET.finditer(body))))):
        lead = body[: marks[0].start()].strip() if len(marks) > 1 else body
        if len(marks) > 1 and _structures_body(body, marks, lead):
            first = [] if not lead or _HEADING.match(lead.rpartition("\n")[2].strip()) else [lead]
            return ("numbers" if how == "numbers" else "bullets"), [*first, *_texts_between(body, marks)]
    blocks = _join_lead_ins([block for block in _BLANK.split(body) if block.strip()])
    return ("paragraphs", blocks) if len(blocks) > 1 else ("lines", _join_lead_ins(_rows(body)))


def _structures_body(body: str, marks: Sequence[re.Match[str]], lead: str) -> bool:
    """Whether a list structures the whole text: one lead-in paragraph at most, and only the last item may continue."""
    if len(_BLANK.findall(lead)) > 1:
        return False
    last = body[marks[-1].end() :]
    return len(_BLANK.findall(last.strip())) <= 1 or all(
        _BLANK.search(one.strip()) for one in _texts_between(body, marks)[:-1]
    )


def _numbers(body: str) -> list[re.Match[str]]:
    """Return the numbers of the outermost list, if they count up by one."""
    marks = _outermost(list(NUMBER.finditer(body)))
    return marks if all(number(b) == number(a) + 1 for a, b in pairwise(marks)) else []


def _outermost(marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    least = min((len(mark["indent"].expandtabs(4)) for mark in marks), default=0)
    return [mark for mark in marks if len(mark["indent"].expandtabs(4)) == least]


def _texts_between(body: str, marks: Sequence[re.Match[str]]) -> list[str]:
    ends = [mark.start() for mark in marks[1:]] + [len(body)]
    return [_close_emphasis(body[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]


def _close_emphasis(step: str) -> str:
    """Remove the end of an emphasis that began before the mark: '**Step 2: Examine**'."""
    first, _, rest = step.partition("**")
    return first + rest if step.count("**") % 2 and "\n" not in first else step


def _rows(body: str) -> list[str]:
    """Return the lines; the lines of a table stay together."""
    rows: list[list[str]] = []
    for line in body.split("\n"):
        if rows and line.lstrip().startswith("|") and rows[-1][0].lstrip().startswith("|"):
            rows[-1].append(line)
        elif line.strip():
            rows.append([line])
    return ["\n".join(row) for row in rows]


def _join_lead_ins(blocks: Sequence[str]) -> list[str]:
    """Join each block with the headings and lead-ins before it, and a lead-in with its whole list."""
    joined: list[list[str]] = []
    before: list[str] = []
    listing = False
    for block in map(str.strip, blocks):
        item = bool(_BULLET.match(block) or NUMBER.match(block))
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
        # headings at the end belong to what came before
        joined[-1:] = [[*(joined[-1] if joined else []), *before]]
    return ["\n".join(block) for block in joined]
