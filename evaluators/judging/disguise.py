"""A text as a reader takes it in: without tricks of spelling, and what is written in it in code."""

import base64
import binascii
import codecs
import html
import re
import unicodedata
import urllib.parse
from collections.abc import Iterator

from wardround.evaluators.judging.fence import seen

# fmt: off
WORDS = (
    "ignore", "disregard", "previous", "instruction", "judge", "grader", "evaluator", "verdict", "correct", "answer",
    "grade", "score", "mark", "step", "rules", "reply", "output", "return", "system", "must", "classify", "reasoning",
    "rubric", "full", "marks",
)
# fmt: on
"""What a text in code is looked through for."""

_LATIN = dict(
    zip(
        "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d"
        "\u04bb\u03bf\u03b9\u03ba\u03bd\u03c1\u03c5\u03c7\u0261\u0131\u1d00\u0299\u1d04\u1d05\u1d07\u0262\u029c\u026a"
        "\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22\u0251\u03b1",
        "abekmhopctyxijsdqwhoikvpuxgiabcdeghijklmnoprstuvwyzaa",
        strict=True,
    )
)
"""Letters that look like a small Latin one."""
_FOLD = str.maketrans(_LATIN)
_LEET = str.maketrans("013456789@$|!", "oieasgtbgasil")
_MARKS = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]+")
_QUOTES = str.maketrans(
    "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u00ab\u00bb\u2010\u2011\u2012\u2013\u2014_", '\'\'\'\'"""""----- '
)
_SPACE = re.compile(r" [^\S\n]+|[^\S\n ][^\S\n]*")  # not each single space, which nearly all are
_LINES = re.compile(r" ?\n\s*")
_LETTERS = re.compile(r"(?<![^\W_])(?:[^\W_][\W_]{1,3}){5,400}[^\W_](?![^\W_])")
_MIXED = re.compile(r"(?<![\w@$])(?=[a-z@$!|]{0,30}[0-9@$!|])(?=[0-9@$!|]{0,30}[a-z])[a-z0-9@$!|]{3,30}(?!\w)")
_LONG = re.compile(r"[a-z]{18,400}")
_BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{16,8000}+={0,6}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9A-Fa-f]{2}[\s:,]?){8,4000}+)")
_ESCAPED = re.compile(r"(?:\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}){4,4000}+")
_PERCENT = re.compile(
    r"(?:%[0-9A-Fa-f]{2}|\+[A-Za-z])[^\s<>\"']{0,1000}(?:%[0-9A-Fa-f]{2}|\+[A-Za-z])[^\s<>\"']{0,1000}"
)
_BITS = re.compile(r"(?<!\d)(?:[01]{8}\s?){6,2000}+")
_NUMBERS = re.compile(r"(?<!\d)(?:\d{2,3}[ ,]{1,2}){7,1000}+\d{2,3}")


def plain(text: str) -> str:
    """Small letters without accents, invisible characters and typographic variants; line feeds are kept."""
    text = seen(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = unicodedata.normalize("NFC", _MARKS.sub("", text))
        text = text.translate(_QUOTES)
    text = text.lower().replace("_", " ").replace("n't", " not")
    return _LINES.sub("\n", _SPACE.sub(" ", text))


def folded(text: str) -> str:
    """A plain text with the letters that look like Latin ones as these."""
    return text if text.isascii() else text.translate(_FOLD)


def disguised(text: str) -> bool:
    """Whether a plain text hides words of judging in single letters, or in one long word."""
    for run in _LETTERS.findall(text):
        if _telling(re.sub(r"[\W_]+", "", run), 1):
            return True
    return any(_telling(word, 2) for word in dict.fromkeys(_LONG.findall(text)))


def coded(text: str, smooth: str) -> Iterator[str]:
    """What `text`, whose plain form is `smooth`, may say once escapes and shifted or replaced letters are undone."""
    if "\\" in text:
        for place in _ESCAPED.finditer(text):
            yield from _readable(re.sub(r"\\[ux]([0-9a-fA-F]+)", lambda match: chr(int(match[1], 16)), place[0]))
    if "&#" in text or "&lt" in text:
        yield html.unescape(text)
    if "%" in text or "+" in text:
        for place in _PERCENT.finditer(text):
            yield from _readable(urllib.parse.unquote_plus(text[max(0, place.start() - 40) : place.end()]))
    if sum(_ROT13[word] in smooth for word in WORDS) > 1:
        yield codecs.encode(smooth, "rot13")
    if sum(word[::-1] in smooth for word in WORDS) > 1:
        yield smooth[::-1]
    leet = {place[0].translate(_LEET) for place in _MIXED.finditer(smooth)}
    if sum(any(word.startswith(name) for word in leet) for name in WORDS) > 1:
        yield _MIXED.sub(lambda match: match[0].translate(_LEET), smooth)


def written(text: str) -> bool:
    """Whether words are written in `text` in base 64 or 32, or as the numbers of their letters: nobody honest does."""
    for place in _BASE64.finditer(text):
        if any(_readable(_base(place[0]))):
            return True
    for place in _HEX.finditer(text):
        if any(_readable(_hex(place[1]))):
            return True
    for place in _BITS.finditer(text):
        if any(_readable("".join(chr(int(bits, 2)) for bits in re.findall("[01]{8}", place[0])))):
            return True
    for place in _NUMBERS.finditer(text):
        codes = [int(code) for code in re.findall(r"\d+", place[0])]
        if all(32 <= code < 127 for code in codes) and any(_readable("".join(map(chr, codes)))):
            return True
    return False


_ROT13 = {word: codecs.encode(word, "rot13") for word in WORDS}


def _telling(letters: str, least: int) -> bool:
    letters = letters.translate(_LEET)
    return sum(len(word) > 4 and word in letters for word in (*WORDS, "markthis", "sayright")) >= least


def _base(word: str) -> str:
    """Of base 64 or base 32; "" if it is none."""
    body = word.rstrip("=").replace("-", "+").replace("_", "/")
    for decode, pad in ((base64.b64decode, 4), (base64.b32decode, 8)):
        try:
            found = decode(body + "=" * (-len(body) % pad)).decode()
        except (binascii.Error, ValueError):
            continue
        if found.isprintable():
            return found
    return ""


def _hex(digits: str) -> str:
    try:
        return bytes.fromhex(re.sub(r"[\s:,]", "", digits)).decode()
    except ValueError:
        return ""


def _readable(text: str) -> Iterator[str]:
    """The text if it is one: printable, mostly letters and spaces."""
    if len(text) >= 8 and sum(char.isalpha() or char.isspace() for char in text) > 0.7 * len(text):
        yield text
