"""The marks of an answer as plain lines: cells, tags, gaps, brackets in brackets, and what is struck out."""

import re

_STRUCK = re.compile(
    r"~~[^~]{0,4000}~~|<(s|del|strike)>.{0,4000}?</\1>|<!--.{0,4000}?(?:-->|$)", re.DOTALL | re.IGNORECASE
)
_BREAK = re.compile(r"\s*\|\s*|(?<=\S)(?:\t| {3,})(?=\S)|(?<!\S)#(?=[A-Za-z])")
_ABOVE = re.compile(r"(?<=[A-Za-z)])\s+>{1,3}\s+(?=[A-Za-z])")


def unstruck(text: str) -> str:
    """`text` without what is struck out, and without comments."""
    return _STRUCK.sub(" ", text)


def plain_lines(text: str) -> str:
    """`text` unstruck; cells, tags and wide gaps end a line, brackets are one deep, and 'A > B' ranks."""
    return flat(_ABOVE.sub("; less likely ", _BREAK.sub("\n", unstruck(text))))


def flat(text: str) -> str:
    """`text` with brackets inside of brackets as commas."""
    if text.count("(") != text.count(")"):
        return text
    found, depth = [], 0
    for mark in text:
        depth += mark == "("
        found.append(mark if depth < 2 or mark not in "()" else ", " if mark == "(" else " ")
        depth -= mark == ")"
    return "".join(found)
