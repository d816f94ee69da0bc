"""Abbreviations that a text defines itself: 'lobular capillary hemangioma (LCH)'."""

import re
from collections.abc import Mapping

_DEFINED = re.compile(r"\(\s*([A-Z][A-Za-z0-9-]{1,8}?)s?\s*[),;]")
_WORD = re.compile(r"[^\W_]+")
_SPARE = 3
"""Words more than letters that the long form may have ('syndrome of inappropriate antidiuretic hormone')."""


def defined(text: str) -> Mapping[str, tuple[int, int]]:
    """Abbreviation to the place (start, end) of its long form in `text`; the first definition of each counts.

    The letters must be found in order in the words before the bracket, the first at the start of a word (as Schwartz
    and Hearst do, 2003).
    """
    found: dict[str, tuple[int, int]] = {}
    for match in _DEFINED.finditer(text):
        short = match[1]
        if short in found or sum(map(str.isupper, short)) < 2:
            continue
        words = list(_WORD.finditer(text[max(0, match.start() - 200) : match.start()]))
        offset = max(0, match.start() - 200)
        for first in words[-1 : -(len(short) + _SPARE) - 1 : -1]:
            long = text[offset + first.start() : match.start()].rstrip()
            if len(long) > len(short) and long[0].lower() == short[0].lower() and _holds(long, short):
                found[short] = (offset + first.start(), offset + first.start() + len(long))
                break
    return found


def _holds(long: str, short: str) -> bool:
    """Whether the letters of `short` stand in `long` in order, each at the start of a word or after the last one."""
    letters = [letter.lower() for letter in short if letter.isalnum()]
    starts = "".join(word[0].lower() for word in _WORD.findall(long))
    if _subsequence(letters, starts):
        return True
    # Two letters may come from one word ('TB' from tuberculosis), but not all of them from the middle of words.
    return len(_WORD.findall(long)) >= (len(letters) + 1) // 2 and _subsequence(letters, long.lower())


def _subsequence(letters: list[str], text: str) -> bool:
    place = -1
    for letter in letters:
        place = text.find(letter, place + 1)
        if place < 0:
            return False
    return True
