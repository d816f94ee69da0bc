"""The names of common diseases in German, French, Spanish and Chinese, put into English."""

import re
from collections.abc import Iterator
from functools import cache

from wardround.engine.text import regex
from wardround.scenarios.terms.wording import table_rows

_HAN = regex(r"[\u3400-\u9fff]")
_WORD = regex(r"[^\W\d_][\w'’-]*")
_QUALIFIERS = {
    "acute": "akut akute akuter akutes aigu aiguë aigue agudo aguda 急性",
    "chronic": "chronisch chronische chronischer chronisches chronique crónico crónica cronico cronica 慢性",
    "left": "linksseitig linksseitige gauche izquierdo izquierda 左侧 左",
    "right": "rechtsseitig rechtsseitige droit droite derecho derecha 右侧 右",
    "bilateral": "beidseitig beidseitige bilatérale 双侧",
    "severe": "schwer schwere schwerer sévère 重症 重度",
}
"""Qualifiers that may stand beside a foreign name. In a text without such a name they stay as they are."""


def diseases_in_english(text: str) -> str:
    """`text` with the foreign names of `foreign_diseases.csv`, and qualifiers, put into English; any other as it is.

    >>> diseases_in_english("Akute Pankreatitis")
    'acute pancreatitis'
    >>> diseases_in_english("acute pancreatitis")
    'acute pancreatitis'
    """
    named = _replaced(text, _latin(), _han())
    if named == text:
        return text
    return re.sub(r"(?<=\S) {2,}", " ", _replaced(named, *_qualifiers())).strip()


Latin = dict[str, list[tuple[re.Pattern[str], str]]]
"""First word of a name in Latin letters, in small letters -> (pattern of the name, English name)."""
Han = tuple[re.Pattern[str], dict[str, str]]
"""(pattern of any Chinese name, the English name of each)."""


def _replaced(text: str, latin: Latin, han: Han) -> str:
    if _HAN.search(text):
        pattern, english = han
        text = pattern.sub(lambda match: f" {english[match[0]]} ", text)
    kept, start = [], 0
    for at, end, name in _matches(text, latin):
        kept += [text[start:at], name]
        start = end
    return "".join((*kept, text[start:])) if kept else text


def _matches(text: str, latin: Latin) -> Iterator[tuple[int, int, str]]:
    """(start, end, English name) of the names in a text, none overlapping; of those that begin together the longest."""
    reached = 0
    for word in _WORD.finditer(text):
        if word.start() < reached:
            continue
        for pattern, name in latin.get(word[0].lower(), ()):
            if match := pattern.match(text, word.start()):
                reached = match.end()
                yield word.start(), reached, name
                break


@cache
def _names() -> list[tuple[str, str]]:
    """(foreign name, English name), the longest first, without names that are spelled the same in English."""
    rows = [(name, row["english"]) for row in table_rows("foreign_diseases.csv") for name in row["names"].split("|")]
    return sorted(((name, english) for name, english in rows if name.lower() != english), key=lambda row: -len(row[0]))


@cache
def _latin() -> Latin:
    return _by_first_word([row for row in _names() if not _HAN.search(row[0])])


@cache
def _han() -> Han:
    return _one_pattern([row for row in _names() if _HAN.search(row[0])])


@cache
def _qualifiers() -> tuple[Latin, Han]:
    rows = [(word, english) for english, words in _QUALIFIERS.items() for word in words.split()]
    return _by_first_word([row for row in rows if not _HAN.search(row[0])]), _one_pattern(
        [row for row in rows if _HAN.search(row[0])]
    )


def _by_first_word(rows: list[tuple[str, str]]) -> Latin:
    latin: Latin = {}
    for name, english in rows:
        words = re.escape(name).replace(r"\ ", r"\s+").replace("'", "['’]")
        first = _WORD.match(name)
        assert first is not None, f"{name!r} begins with no letter"
        pattern = regex(rf"{words}(?![\w-])", re.IGNORECASE)
        latin.setdefault(first[0].lower(), []).append((pattern, english))
    return latin


def _one_pattern(rows: list[tuple[str, str]]) -> Han:
    return regex("|".join(re.escape(name) for name, _ in rows)), dict(rows)
