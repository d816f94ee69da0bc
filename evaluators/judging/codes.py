"""Words written in a code that nobody honest writes in: transfer encodings, numbers of letters, signals."""

import base64
import binascii
import re
import zlib
from collections.abc import Iterator

from wardround.engine.text import later

_BASE = later(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{16,8000}+={0,6}")
_HEX = later(r"(?<![0-9A-Za-z])(?:0x)?((?:[0-9A-Fa-f]{2}[\s:,]?){8,4000}+)")
_BITS = later(r"(?<!\d)(?:[01]{8}\s?){6,2000}+")
_NUMBERS = later(r"(?<!\d)(?:\d{2,3}[ ,]{1,2}){7,1000}+\d{2,3}")
_PACKED = b"\x1f\x8b\x08"
"""How gzip begins."""
_MOST = 100_000
"""Bytes that a packed text is unpacked to."""
_WIDE = "\u2e80"
"""From here on a sign is worth several letters."""

_BRAILLE = later("[\u2801-\u28ff][\u2800-\u28ff\\s]{4,}[\u2801-\u28ff]")
_DOT, _DASH = ".\u00b7\u2022", "\\-\u2212\u2013\u2014_"
_MORSE = later(rf"(?<![{_DOT}{_DASH}])(?:[{_DOT}{_DASH}]{{1,5}}[ /|\n]{{1,3}}){{7,400}}[{_DOT}{_DASH}]{{1,5}}")
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
_BEATS = later(rf"[{_DOT}{_DASH}] [{_DOT}{_DASH}]")
_SPELT = (
    *("alpha", "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo"),
    *("lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor"),
    *("whisky", "whiskey", "xray", "yankee", "zulu"),
)
_SPELLING = later(r"\b(?:(?:{0})[\s,.-]{{1,3}}){{3,200}}(?:{0})\b".format("|".join(_SPELT)))
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"  # itself no word
_FEW = 4
"""Different letters that signals spell at least."""


def written(text: str) -> bool:
    """Whether words are written in `text` in any of these codes."""
    for place in _BASE.finditer(text):
        if any(_tells(data) for data in _based(place[0])):
            return True
    for place in _HEX.finditer(text):
        if _tells(bytes.fromhex("".join(re.findall("[0-9A-Fa-f]{2}", place[1])))):
            return True
    for place in _BITS.finditer(text):
        if any(readable("".join(chr(int(bits, 2)) for bits in re.findall("[01]{8}", place[0])))):
            return True
    for place in _NUMBERS.finditer(text):
        codes = [int(code) for code in re.findall(r"\d+", place[0])]
        if all(32 <= code < 127 for code in codes) and any(readable("".join(map(chr, codes)))):
            return True
    return _BRAILLE.search(text) is not None or _signalled(text)


def readable(text: str) -> Iterator[str]:
    """The text if it is one: long enough to say something, mostly letters and spaces."""
    if len(text) < 8 and sum(char >= _WIDE for char in text) < 4:
        return
    if sum(char.isalpha() or char.isspace() for char in text) > 0.7 * len(text):
        yield text


def _based(word: str) -> Iterator[bytes]:
    """What it is in base 64 or base 32, where it is that."""
    body = word.rstrip("=").replace("-", "+").replace("_", "/")
    for decode, pad in ((base64.b64decode, 4), (base64.b32decode, 8)):
        try:
            yield decode(body + "=" * (-len(body) % pad))
        except (binascii.Error, ValueError):
            continue


def _tells(data: bytes) -> bool:
    """Whether the bytes are words, in any script, or a packed text."""
    if data.startswith(_PACKED):
        return True
    if len(data) > 2 and data[0] & 15 == 8 and int.from_bytes(data[:2], "big") % 31 == 0:  # how zlib begins
        try:
            data = zlib.decompressobj().decompress(data, _MOST)
        except zlib.error:
            return False
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return text.isprintable() and any(readable(text))


def _signalled(text: str) -> bool:
    """Whether letters are spelt in Morse signals or as on the radio."""
    for place in _MORSE.finditer(text) if _BEATS.search(text) else ():
        signs = re.sub(f"[{_DASH}]", "-", re.sub(f"[{_DOT}]", ".", place[0]))
        letters = [SIGNALS.get(sign, "") for sign in re.findall("[.-]+", signs)]
        if all(letters) and len(set(letters)) >= _FEW:
            return True
    low = text.lower()
    if sum(name in low for name in _SPELT) < _FEW:  # quicker than to look for a row of them
        return False
    for place in _SPELLING.finditer(low):
        if "".join(word[0] for word in re.findall(r"[^\W\d_]{3,}", place[0])) not in _ALPHABET:
            return True
    return False
