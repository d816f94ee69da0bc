"""Rules for written texts that need no model: a statement says its option, a distractor differs from every option."""

import re
from collections.abc import Sequence
from statistics import median

from rapidfuzz import fuzz

from wardround.scenarios.level_items.source_question import SPEAKS_OF_OTHERS, SourceQuestion

Broken = tuple[str, str]
"""(the rule that a text breaks, what the writer is told about it)."""

STATEMENT_RULES = (
    ("sentence", "the statement is one text of a sensible length, and no question"),
    ("letterless", "it names no option by its letter, and does not say whether it is true"),
    ("option_said", "it says what its option says, with the same numbers"),
    ("others_unsaid", "it says no other option"),
)
DISTRACTOR_RULES = (
    ("one_answer", "the distractor is one answer, and does not speak of the options"),
    ("new", "it differs from every option"),
    ("beside_right", "it neither holds the right answer nor is a part of it"),
    ("alike_in_length", "it is about as long as the options"),
)
CHECKED = ("checked", "the second model agrees: the statement is its option, the distractor is new and wrong")

_TOKEN = re.compile(r"\d+(?:[.,]\d+)?|[^\W\d_]+")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_LETTERED = re.compile(r"(?i)\b(?:option|choice|answer)s?\s*\(?[A-F1-9]\)?(?!\w)|选项\s*[A-F]")
_LABELLED = re.compile(
    r"(?i)\b(?:true|false)\s*[.:]?\s*$|^\s*(?:true|false)\b|\b(?:is|are)\s+(?:true|false|incorrect)\.?$"
)
_SAME, _SAID, _STEM = 90, 0.6, 5
_LONGEST = 3.0


def statement_fault(source: SourceQuestion, option: int, text: str) -> Broken | None:
    """The first rule that a statement of an option breaks; None if it keeps them all."""
    item = source.item
    stated = item.options[option]
    most = 2 * (len(item.question) + max(map(len, item.options))) + 100
    if text.rstrip(" \"'”」").endswith(("?", "？")) or not 4 < len(text) <= most:
        return "sentence", "write one statement that can be true or false, not a question and not an explanation"
    if _LETTERED.search(text) or _LABELLED.search(text):
        return "letterless", "name no option by its letter, and do not say whether the statement is true"
    if _missing_numbers(stated, text) or _share_said(stated, text) < _SAID:
        return "option_said", f"it does not say the given option, {stated!r}; use its own words"
    plain = _plain(text)
    for place, other in enumerate(item.options):
        unlike = _plain(other) not in _plain(stated) and _plain(other) not in _plain(item.question)
        if place != option and unlike and len(_plain(other)) > 2 and _holds(plain, _plain(other)):
            return "others_unsaid", f"it also says another option, {other!r}"
    return None


def distractor_fault(source: SourceQuestion, text: str) -> Broken | None:
    """The first rule that a new wrong option breaks; None if it keeps them all."""
    item = source.item
    if "\n" in text or SPEAKS_OF_OTHERS.search(text) or _LETTERED.search(text) or not _plain(text):
        return "one_answer", "write one answer on one line, which does not speak of the other options"
    for other in item.options:
        if _alike(text, other):
            return "new", f"it is the same as the option {other!r}"
    right, plain = _plain(item.options[source.right]), _plain(text)
    if _holds(plain, right) or _holds(right, plain):
        return "beside_right", "it holds the right answer, or a part of it"
    usual = median(map(len, item.options))
    if len(text) > _LONGEST * usual + 10 or len(text) * _LONGEST + 10 < usual:
        return "alike_in_length", f"the options have about {usual:.0f} characters, and it has {len(text)}"
    return None


def _plain(text: str) -> str:
    return " ".join(_TOKEN.findall(text.casefold()))


def _holds(text: str, part: str) -> bool:
    """Whether a text contains another as whole words; Chinese texts need no space between words."""
    return bool(part) and (part in text if _CHINESE.search(part) else f" {part} " in f" {text} ")


def _alike(text: str, other: str) -> bool:
    if sorted(_NUMBER.findall(text)) != sorted(_NUMBER.findall(other)):
        return False
    one, two = _plain(text), _plain(other)
    return max(fuzz.ratio(one, two), fuzz.token_sort_ratio(one, two)) >= _SAME


def _missing_numbers(option: str, text: str) -> bool:
    return not set(_NUMBER.findall(option)) <= set(_NUMBER.findall(text))


def _share_said(option: str, text: str) -> float:
    """The share of an option's words that a text has, in any form; each Chinese character counts as a word."""
    wanted = _words(option)
    there = {word[:_STEM] for word in _words(text)}
    return sum(word[:_STEM] in there for word in wanted) / len(wanted) if wanted else 1.0


def _words(text: str) -> Sequence[str]:
    words: list[str] = []
    for token in _TOKEN.findall(text.casefold()):
        words.extend(token if _CHINESE.search(token) else (token,))
    return words
