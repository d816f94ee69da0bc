"""The marks that open a step: tags, numbers, and how tags in other shapes and inside lines are brought into lines."""

import re
from collections.abc import Iterator, Sequence

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
"""Characters before a mark that are looked at, and marks inside lines that still are an order."""


def number(mark: re.Match[str]) -> int:
    """What a mark of NUMBER counts."""
    sign = next(held for held in mark.group("a", "b", "c", "d", "e", "f", "circled") if held)
    if mark["circled"]:
        return ord(sign) - 0x245F
    if sign.isdecimal():
        return int(sign)
    tens, found, ones = sign.rpartition("\u5341")
    if not found:
        return _CHINESE.get(sign[:1], 0)
    return 10 * (_CHINESE.get(tens, 1) if tens else 1) + (_CHINESE.get(ones, 0) if ones else 0)


def lined(text: str) -> str:
    """`text` with each mark of a step at the beginning of a line, tags in the one shape `<step n>`.

    A mark inside a line opens a step only where it counts on from the one before and no line begins with the same: a
    word about an earlier step is none. `Step n:` inside a line stands behind a sentence. A title in a tag is kept.
    """
    found = list(_SHAPES.finditer(text))
    tags = [mark for mark, _ in _counted(text, found)]
    if len(tags) > 1 or any(mark["open"] == "<" and _begins(text, mark.start()) for mark in tags):
        return _rewritten(text, tags)
    if TAG.search(text):
        return text
    for shape in (_INLINE, _CIRCLED):
        signs = [mark for mark in shape.finditer(text) if _may(text, mark)]
        marks = list(_counted(text, signs)) if len(signs) <= _MOST else []
        if len(marks) > 1 and marks[0][1] <= 1 and _begins(text, marks[0][0].start()):
            return _rewritten(text, [mark for mark, _ in marks], tags=False)
    return text


def _may(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark that is no tag may open a step where it stands."""
    before = text[max(0, mark.start() - _REACH) : mark.start()]
    return mark.re is _CIRCLED or _begins(text, mark.start()) or _ENDED.search(before) is not None


def _begins(text: str, at: int) -> bool:
    """Whether a line begins at `at`, but for the marks of a quotation, a heading, a list or an emphasis."""
    begin = text.rfind("\n", max(0, at - _REACH), at) + 1
    begin = begin or max(0, at - _REACH)
    return _PREFIX.fullmatch(text, begin, at) is not None


def _counted(text: str, marks: Sequence[re.Match[str]]) -> Iterator[tuple[re.Match[str], int]]:
    """The marks that open a step, and what they count."""
    begins = [_begins(text, mark.start()) for mark in marks]
    own = {_value(mark["n"]) for mark, begin in zip(marks, begins, strict=True) if begin}
    last = 0
    for mark, begin in zip(marks, begins, strict=True):
        value = _value(mark["n"])
        if begin or (value not in own and value == last + 1):
            last = value
            yield mark, value


def _value(sign: str) -> int:
    if "\u2460" <= sign <= "\u2473":
        return ord(sign) - 0x245F
    return int(sign) if sign.isdecimal() else _WORDS.get(sign.lower(), 0)


def _rewritten(text: str, marks: Sequence[re.Match[str]], *, tags: bool = True) -> str:
    """`text` with a line before each mark that has none, and with tags as tags are written."""
    kept, at = [], 0
    for mark in marks:
        before = text[at : mark.start()]
        line, prefix = before.rpartition("\n")[::2] if "\n" in before else ("", before)
        if not _PREFIX.fullmatch(prefix):
            before = before.rstrip("*_").rstrip(" \t") + "\n"
        elif any(sign in prefix for sign in "-+\u2022"):
            before = f"{line}\n" if "\n" in before else ""
        title = (mark.groupdict().get("title") or "").strip()
        shape = f"<step {_value(mark['n'])}>" + (f" {title}:" if title else "") if tags else mark[0]
        kept += [before, shape]
        at = mark.end()
    return "".join([*kept, text[at:]])
