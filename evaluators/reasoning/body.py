"""The reasoning of a reply: its text without conclusions, answers and requests for examinations."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence

from wardround.evaluators.reasoning import conclusion
from wardround.evaluators.reasoning.marks import NUMBER, TAG, number
from wardround.scenarios.parsers import reply_text
from wardround.scenarios.spans import gives_reasons

_HEAD = re.compile(r"[^:\uff1a\n]*(?:[:\uff1a][*_ \t]*)?")
_BLANK = re.compile(r"\n[ \t]*\n\s*")
# conclusion, final diagnosis, diagnosis, answer; the headings that scenarios.reading knows are English
_CONCLUSION = re.compile(
    r"(?m)^[ \t]*(?:\#{1,6}[ \t]*)?[*_]{0,3}(?:\u6700\u7ec8)?"
    r"(?:\u7ed3\u8bba|\u8bca\u65ad\u7ed3\u8bba|\u8bca\u65ad|\u7b54\u6848)[*_]{0,3}[ \t]*(?:[:\uff1a]|$)"
)


def reasoning(text: str) -> str:
    """The reasoning without the sections that are none: conclusions, answers, requests for examinations."""
    sections = reply_text.sections(text)
    headed = [section for section in sections if section.name == "reasoning"]
    # lines that begin with 'Reasoning:' again and again are parts of steps
    begin = _behind(text, headed[0]) if headed and (len(headed) == 1 or _marked(text, headed[0])) else 0
    body = _unconcluded(text[begin:])
    # a plain 'Conclusion:' is seen as a heading only where no marked one is left
    body = _unconcluded(body)
    body = _before_chinese(body)
    return conclusion.without(body, _goes_on(body)).strip()


def _before_chinese(text: str) -> str:
    """`text` up to its last conclusion in Chinese, if steps stand before it, none behind, and it gives no reasons."""
    begin = max((found.start() for found in _CONCLUSION.finditer(text)), default=0)
    whole = not text[:begin].strip() or gives_reasons(text[begin:].partition("\n")[0])
    return text if whole or _goes_on(text)(begin) is not None else text[:begin]


def _unconcluded(text: str) -> str:
    """`text` up to its answer, or without one to its last conclusion, and without conclusions on the way or before."""
    found = [section for section in reply_text.sections(text) if section.name != "reasoning"]
    goes_on = _goes_on(text)
    kept, at, reasoned = [], 0, False
    for place, section in enumerate(found):
        if section.begin < at:
            continue
        kept.append(text[at : section.begin])
        going = goes_on(section.begin)
        last = section.name == "answer" or (going is None and place == len(found) - 1)
        # an answer that comes first has its reasons behind it
        reasoned = reasoned or bool(kept[-1].strip())
        if last and reasoned:
            return _pieces(kept)
        at = _concluded(text, section) if going is None else going
    return _pieces([*kept, text[at:]])


def _behind(text: str, section: reply_text.Section) -> int:
    """Where what a section holds begins: its heading ends with a colon or its line."""
    heading = _HEAD.match(text, section.begin)
    return heading.end() if heading else section.end


def _marked(text: str, section: reply_text.Section) -> bool:
    return text[section.begin : section.begin + 40].lstrip(" \t>").startswith(("#", "*", "_"))


def _concluded(text: str, section: reply_text.Section) -> int:
    """Where a conclusion on the way ends: one that stands in its heading's line with its paragraph."""
    begin = _behind(text, section)
    line = text.find("\n", begin, section.end)
    if not text[begin : section.end if line < 0 else line].strip():
        return section.end
    blank = _BLANK.search(text, begin, section.end)
    return blank.start() if blank else section.end


def _goes_on(text: str) -> Callable[[int], int | None]:
    """Tells where steps that began before a place go on behind it: at the next tag, or with the next number."""
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
