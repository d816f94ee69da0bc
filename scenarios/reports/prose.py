"""The words of an article put in order: references taken out, sentences parted, English told from other languages."""

import re
from functools import lru_cache

_SPACE = re.compile(r"[ \t\r\f\v\u00a0\u2009\u202f]+")
_LINES = re.compile(r"\s*\n\s*\n\s*")
_CITED = re.compile(r"[ \t]*\[(?:\s*\d+[a-z]?\s*[,;\u2013\u2014-]?\s*)+\]|[ \t]*\[[\s,;\u2013\u2014-]*\]")
_VISUAL = (
    r"(?<!mitotic )\b(?i:(?:extended |supplementary |supporting |supplemental )*(?:fig(?:ure)?s?\b\.?|tables?|videos?)"
    r"|supplementary (?:data|files?|materials?|appendix))\s*(?:S?\d|[A-Z]\b|[IVX]+\b)"
)
IN_BRACKETS = re.compile(r"[ \t]*[(\[](?i:as )?(?i:see |shown in |cf\.? )?(?i:also )?" + _VISUAL + r"[^()\[\]]*[)\]]")
"""A figure or table named in brackets: it can go without hurting the sentence."""

VISUAL = re.compile(
    _VISUAL
    + r"|(?<!mitotic )\b(?i:figure)\b(?!\s*-?\s*of\b)|\b(?i:(?:shown|seen|see|given|listed|summari[sz]ed|presented)"
    r" in (?:the )?(?:images?|photographs?|pictures?|tables?|panels?)\b"
    r"|(?:image|photograph|picture|table) (?:above|below)\b)"
)
"""A figure, table or picture referred to."""

# A full stop that ends a sentence; many sources run the next sentence on without a space ('established.The patient').
_STOP = re.compile(r"(?<=[a-z0-9)\]%\u00b0\"'\u201d][.!?;])(?:\s+(?=[A-Z0-9(\"'\u201c])|(?=[A-Z][a-z]))")
_BULLET = re.compile(r"^\s*(?:[-*\u2022+]|\d{1,2}[.)])\s+")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH_TEXT = """the of and a an in to was were with is are for on that by at as from had has his her he she this 
which be not or after patient it no been who their"""
_ENGLISH = frozenset(_ENGLISH_TEXT.split())
ENGLISH_SHARE = 0.12
"""Least share of the commonest English words among the words of an English text; medical English has about 0.35."""


def tidy(text: str) -> str:
    """`text` without figures and citations in brackets, spaces single, paragraphs apart."""
    plain = _CITED.sub("", IN_BRACKETS.sub("", _SPACE.sub(" ", text)))
    return _LINES.sub("\n\n", plain).strip()


def plain(line: str) -> str:
    """A line without its bullet and its emphasis."""
    return _EMPHASIS.sub("", _BULLET.sub("", line)).strip()


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text, line by line, bullets and emphasis left out."""
    return tuple(part.strip() for line in text.splitlines() for part in _STOP.split(plain(line)) if part.strip())


def english(text: str) -> bool:
    """Whether a text reads as English, by the share of its commonest words; a text of fewer than 20 words passes."""
    words = [word.lower() for word in _WORD.findall(text[:20_000])]
    if len(words) < 20:
        return not words or text.isascii()
    return sum(word in _ENGLISH for word in words) >= ENGLISH_SHARE * len(words)


@lru_cache(maxsize=64)
def folded(text: str) -> str:
    """`text` as it is compared: small letters and digits, one space between words."""
    return re.sub(r"[^\w.%]+", " ", text.lower()).strip()
