"""Undoes the disguises of a text, tricks of spelling and encodings, so that it reads as a person sees it.

`smoothed` and `folded` undo tricks of spelling, `disguised` and `coded` look for words in other forms, and
`has_coded_words` for encodings. A cheap test on bytes comes before most patterns, because nearly all texts are honest.
"""

import base64
import binascii
import codecs
import html
import re
import string
import unicodedata
import urllib.parse
import zlib
from collections.abc import Collection, Iterator

from wardround.engine.text import regex
from wardround.evaluators.judges.question import seen

_WORD = regex(r"[^\W\d_]+")
_BASE = regex(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{16,8000}+={0,6}")
_HEX = regex(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9A-Fa-f]{2}[\s:,]?){8,4000}+)")
_BITS = regex(r"(?<!\d)(?:[01]{8}\s?){6,2000}+")
_NUMBERS = regex(r"(?<!\d)(?:\d{2,3}[ ,]{1,2}){7,1000}+\d{2,3}")
_LEAST_BITS, _LEAST_DIGITS = 48, 16
"""Fewest digits in a row of bits and in one of numbers: to count digits is far quicker than to search for a row."""
_CODED, _HEX_DIGITS, _LONGEST_WORD = b"x" * 16, b"x" * 16, b"x" * 18
"""Rows of one kind of character without which `_BASE`, `_HEX` and `_LONG` match nothing."""
_SINGLES = (b" x x ", b" x  x ", b" x   x ")
"""Two single letters in a row, without which `_LETTERS` matches nothing in ASCII."""
_PACKED = b"\x1f\x8b\x08"
"""The first bytes of gzip data."""
_MOST = 100_000
"""Most bytes to which a compressed text is unpacked."""
_WIDE = "\u2e80"
"""From this character on, a character counts for several letters."""

_BRAILLE = regex("[\u2801-\u28ff][\u2800-\u28ff\\s]{4,}[\u2801-\u28ff]")
_DOT, _DASH = ".\u00b7\u2022", "\\-\u2212\u2013\u2014_"
_MORSE = regex(rf"(?<![{_DOT}{_DASH}])(?:[{_DOT}{_DASH}]{{1,5}}[ /|\n]{{1,3}}){{7,400}}[{_DOT}{_DASH}]{{1,5}}")
SIGNALS = {
    ".-": "a",
    "-...": "b",
    "-.-.": "c",
    "-..": "d",
    ".": "e",
    "..-.": "f",
    "--.": "g",
    "....": "h",
    "..": "i",
    ".---": "j",
    "-.-": "k",
    ".-..": "l",
    "--": "m",
    "-.": "n",
    "---": "o",
    ".--.": "p",
    "--.-": "q",
    ".-.": "r",
    "...": "s",
    "-": "t",
    "..-": "u",
    "...-": "v",
    ".--": "w",
    "-..-": "x",
    "-.--": "y",
    "--..": "z",
}
_BEATS = regex(rf"[{_DOT}{_DASH}] [{_DOT}{_DASH}]")
_SPELT = (
    *("alpha", "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo"),
    *("lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor"),
    *("whisky", "whiskey", "xray", "yankee", "zulu"),
)
_NAMES = frozenset(_SPELT)
_SPELLING = regex(r"\b(?:(?:{0})[\s,.-]{{1,3}}){{3,200}}(?:{0})\b".format("|".join(_SPELT)))
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"  # not a word itself
_FEW = 4
"""Fewest different letters that signals must spell."""


def words_of(text: str) -> list[str]:
    """Return the words of a text, which consist of letters only, in their order."""
    return text.encode().translate(_NO_LETTERS).decode().split() if text.isascii() else _WORD.findall(text)


def _kinds(members: str, of: bytes = b"x", table: bytes = b" " * 256) -> bytes:
    """Return a `table` for `bytes.translate`, changed so that it replaces each of `members` by `of`.

    By default the table replaces all other bytes by a space.
    """
    codes = members.encode()
    return bytes(of[0] if code in codes else kept for code, kept in enumerate(table))


_SMALL, _DIGITS = string.ascii_lowercase, string.digits
_NO_LETTERS = bytes(code if chr(code) in string.ascii_letters else 32 for code in range(256))
_BASE_KINDS = _kinds(string.ascii_letters + _DIGITS + "+/_-")
_HEX_KINDS, _HEX_GAPS = _kinds(string.hexdigits), b" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f:,?"
_LONG_KINDS = _kinds(_SMALL)
_SINGLE_KINDS = _kinds(string.ascii_letters + _DIGITS)
_BEAT_KINDS = _kinds(".-_", table=b"o" * 32 + b" " + b"o" * 223)
_MIXED_KINDS = _kinds(_DIGITS + "@$!|", b"0", _kinds(_SMALL))

_MIXED_RUNS = bytes(code if code in (_SMALL + _DIGITS + "@$!|").encode() else 32 for code in range(256))


def _in_bytes(text: str) -> bytes:
    """Return one byte for each character, `?` if it is not ASCII: a test of bytes takes a tenth of a pattern's time."""
    return text.encode("ascii", "replace")


def _count(plain: bytes, members: bytes) -> int:
    return len(plain) - len(plain.translate(None, members))


def has_coded_words(text: str, words: Collection[str] | None = None) -> bool:
    """Whether `text` contains words in a code; `words` are those of the text in lower case, if known.

    The codes are base 64, base 32, hexadecimal digits, bits, numbers of characters, Braille, Morse and the radio
    alphabet. Compressed data count too, in base 64, base 32 or hexadecimal digits.
    """
    plain = _in_bytes(text)
    for place in _BASE.finditer(text) if _CODED in plain.translate(_BASE_KINDS) else ():
        if any(_tells(data) for data in _based(place[0])):
            return True
    for place in _HEX.finditer(text) if _HEX_DIGITS in plain.translate(_HEX_KINDS, _HEX_GAPS) else ():
        if _tells(bytes.fromhex("".join(re.findall("[0-9A-Fa-f]{2}", place[1])))):
            return True
    bits, digits = (_count(plain, b"01"), _count(plain, b"0123456789")) if text.isascii() else (len(text), len(text))
    for place in _BITS.finditer(text) if bits >= _LEAST_BITS else ():
        if any(readable("".join(chr(int(bits, 2)) for bits in re.findall("[01]{8}", place[0])))):
            return True
    for place in _NUMBERS.finditer(text) if digits >= _LEAST_DIGITS else ():
        codes = [int(code) for code in re.findall(r"\d+", place[0])]
        if all(32 <= code < 127 for code in codes) and any(readable("".join(map(chr, codes)))):
            return True
    if text.isascii():
        return _signalled(text, set(words_of(text.lower()) if words is None else words))
    return _BRAILLE.search(text) is not None or _signalled(text)


def readable(text: str) -> Iterator[str]:
    """Yield the text if it is readable: long enough to say something, mostly letters and spaces."""
    if len(text) < 8 and sum(char >= _WIDE for char in text) < 4:
        return
    if sum(char.isalpha() or char.isspace() for char in text) > 0.7 * len(text):
        yield text


def _based(word: str) -> Iterator[bytes]:
    """Yield the word decoded from base 64 and base 32, as far as it is valid."""
    body = word.rstrip("=").replace("-", "+").replace("_", "/")
    for decode, pad in ((base64.b64decode, 4), (base64.b32decode, 8)):
        try:
            yield decode(body + "=" * (-len(body) % pad))
        except (binascii.Error, ValueError):
            continue


def _tells(data: bytes) -> bool:
    """Whether the bytes are words, in any script, or compressed text."""
    if data.startswith(_PACKED):
        return True
    if len(data) > 2 and data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0:  # a zlib header
        try:
            data = zlib.decompressobj().decompress(data, _MOST)
        except zlib.error:
            return False
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return text.isprintable() and any(readable(text))


def _signalled(text: str, words: Collection[str] = _SPELT) -> bool:
    """Whether letters are spelt in Morse code or in a radio alphabet; a text without any of its `words` spells none."""
    beats = b"x x" in _in_bytes(text).translate(_BEAT_KINDS) if text.isascii() else _BEATS.search(text) is not None
    for place in _MORSE.finditer(text) if beats else ():
        signs = re.sub(f"[{_DASH}]", "-", re.sub(f"[{_DOT}]", ".", place[0]))
        letters = [SIGNALS.get(sign, "") for sign in re.findall("[.-]+", signs)]
        if all(letters) and len(set(letters)) >= _FEW:
            return True
    if _NAMES.isdisjoint(words):
        return False
    low = text.lower()
    if sum(name in low for name in _SPELT) < _FEW:  # quicker than searching for a row of them
        return False
    for place in _SPELLING.finditer(low):
        if "".join(word[0] for word in re.findall(r"[^\W\d_]{3,}", place[0])) not in _ALPHABET:
            return True
    return False


# fmt: off
WORDS = (
    "ignore", "disregard", "previous", "instruction", "judge", "grader", "evaluator", "verdict", "correct", "answer",
    "grade", "score", "mark", "step", "rules", "reply", "output", "return", "system", "must", "classify", "reasoning",
    "rubric", "full", "marks",
)
# fmt: on
"""Words that are sought in an encoded text."""

_LATIN = dict(
    zip(
        "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455\u0501\u051b\u051d"
        "\u04bb\u03bf\u03b9\u03ba\u03bd\u03c1\u03c5\u03c7\u0261\u0131\u1d00\u0299\u1d04\u1d05\u1d07\u0262\u029c\u026a"
        "\u1d0a\u1d0b\u029f\u1d0d\u0274\u1d0f\u1d18\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22\u0251\u03b1",
        "abekmhopctyxijsdqwhoikvpuxgiabcdeghijklmnoprstuvwyzaa",
        strict=True,
    )
)
"""Letters that look like a lower-case Latin letter."""
_SIMPLE = dict(
    zip(
        "請將視為從無須證實驗檢確認誤對錯斷評審閱給滿過獎員應該結論輸說這個題問標準參編註記錄條項規則關於單顯"
        "裡後來與經複雜馬當會還沒讓選擇種類級雙聲稱語機師輯責處離難頁據庫細節聽寫讀總權簡歷執導終異鑑訂覆議決",
        "请将视为从无须证实验检确认误对错断评审阅给满过奖员应该结论输说这个题问标准参编注记录条项规则关于单显"
        "里后来与经复杂马当会还没让选择种类级双声称语机师辑责处离难页据库细节听写读总权简历执导终异鉴订复议决",
        strict=True,
    )
)
"""Traditional characters of the sought words, and the simplified ones in which the words are listed."""
_FLAGS = {chr(0x1F1E6 + place): chr(ord("a") + place) for place in range(26)}
_FOLD = str.maketrans(_LATIN | _SIMPLE | _FLAGS)
_LEET = str.maketrans("013456789@$|!", "oieasgtbgasil")
_MARKS = regex("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]+")
_QUOTES = str.maketrans(
    "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u00ab\u00bb\u2010\u2011\u2012\u2013\u2014_", '\'\'\'\'"""""----- '
)
_SPACE = regex(r" [^\S\n]+|[^\S\n ][^\S\n]*")  # skips single spaces, which nearly all are
_SPACES = ("  ", "\t", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f")
_LINES = regex(r" ?\n\s*")
_LINE_ENDS = (" \n", "\n ", "\n\n")
_LETTERS = regex(r"(?<![^\W_])(?:[^\W_][\W_]{1,3}){5,400}[^\W_](?![^\W_])")
_MIXED = regex(r"(?<![\w@$])(?=[a-z@$!|]{0,30}[0-9@$!|])(?=[0-9@$!|]{0,30}[a-z])[a-z0-9@$!|]{3,30}(?!\w)")
_LONG = regex(r"[a-z]{18,400}")
_ESCAPED = regex(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8}))")
_INITIALS = regex(r"[.!?\n]\W{0,5}([a-z])")
_SHORT_LINES = regex(r"^(?:[^\W\d_]+(?: [^\W\d_]+)?[.,;:!]?\n){3,400}+[^\n]{1,40}$", re.MULTILINE)
"""A column of one or two words a line: a sentence written vertically."""
_PERCENT = regex(r"(?:%[0-9A-Fa-f]{2}|\+[A-Za-z])[^\s<>\"']{0,1000}(?:%[0-9A-Fa-f]{2}|\+[A-Za-z])[^\s<>\"']{0,1000}")


def plain_letters(text: str) -> str:
    """Return the text in lower case without accents, invisible characters and typographic variants; keep line feeds."""
    return smoothed(seen(text))


def smoothed(text: str) -> str:
    """Do the same as `plain_letters` for a text whose invisible characters are already removed."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = unicodedata.normalize("NFC", _MARKS.sub("", text))
        text = text.translate(_QUOTES)
    text = text.lower().replace("_", " ").replace("n't", " not")
    if not text.isascii() or any(space in text for space in _SPACES):
        text = _SPACE.sub(" ", text)
    return _LINES.sub("\n", text) if any(end in text for end in _LINE_ENDS) else text


def folded(text: str) -> str:
    """Return a plain text with Latin letters for lookalikes, and Chinese in simplified characters."""
    return text if text.isascii() else text.translate(_FOLD)


def disguised(text: str) -> bool:
    """Whether a plain text hides words of judging in single letters, in initials, or in one long word."""
    if _telling(text[:1] + "".join(_INITIALS.findall(text)), 1, 6):
        return True
    plain = _in_bytes(text)
    singles = plain.translate(_SINGLE_KINDS) if text.isascii() else _SINGLES[0]
    for run in _LETTERS.findall(text) if any(pair in singles for pair in _SINGLES) else ():
        if _telling(re.sub(r"[\W_]+", "", run), 1):
            return True
    if _LONGEST_WORD not in plain.translate(_LONG_KINDS):
        return False
    return any(_telling(word, 2) for word in dict.fromkeys(_LONG.findall(text)))


def coded(text: str, smooth: str) -> Iterator[str]:
    """Yield what `text`, with plain form `smooth`, may say after undoing escapes and shifted or replaced letters."""
    if "\\" in text and (unescaped := _ESCAPED.sub(_unescaped, text)) != text:
        yield seen(unescaped)
    for place in _SHORT_LINES.finditer(smooth):
        yield place[0].replace("\n", " ")
    if "&#" in text or "&lt" in text:
        yield html.unescape(text)
    if "%" in text or "+" in text:
        for place in _PERCENT.finditer(text):
            yield from readable(urllib.parse.unquote_plus(text[max(0, place.start() - 40) : place.end()]))
    if len([word for word in _ROT13 if word in smooth]) > 1:
        yield codecs.encode(smooth, "rot13")
    if len([word for word in _BACKWARDS if word in smooth]) > 1:
        yield smooth[::-1]
    leet = {place[0].translate(_LEET) for place in _MIXED.finditer(_mixed_runs(smooth))}
    if leet and sum(any(word.startswith(name) for word in leet) for name in WORDS) > 1:
        yield _MIXED.sub(lambda match: match[0].translate(_LEET), smooth)


def _mixed_runs(smooth: str) -> str:
    """Return only the parts of a plain text in which `_MIXED` can match: they are few, so the search is short."""
    plain = _in_bytes(smooth)
    kinds = plain.translate(_MIXED_KINDS)
    if b"x0" not in kinds and b"0x" not in kinds:
        return ""
    if not smooth.isascii():
        return smooth
    return b" ".join(run for run in plain.translate(_MIXED_RUNS).split() if not run.isalpha()).decode()


_ROT13, _BACKWARDS = [codecs.encode(word, "rot13") for word in WORDS], [word[::-1] for word in WORDS]


def _telling(letters: str, least: int, shortest: int = 5) -> bool:
    letters = letters.translate(_LEET)
    return len(letters) >= shortest and (
        sum(len(word) >= shortest and word in letters for word in (*WORDS, "markthis", "sayright")) >= least
    )


def _unescaped(place: re.Match[str]) -> str:
    number = int(next(filter(None, place.groups())), 16)
    return chr(number) if number <= 0x10FFFF else place[0]
