"""Clinical wording made comparable: one spelling, one number, no marks, so that equal words are equal strings."""

import re
import unicodedata
from functools import lru_cache

_MARKS = re.compile(r"[*_`#~|\"<>\[\]{}\\]+")
_POSSESSIVE = re.compile(r"(?<=\w)'s?\b(?!\w)")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "`": "'"})
_GREEK = str.maketrans(
    {"α": " alpha ", "β": " beta ", "γ": " gamma ", "δ": " delta ", "κ": " kappa ", "λ": " lambda ", "µ": "u", "μ": "u"}
)
_WORD = re.compile(r"\d+(?:\.\d+)?[a-z]*|[^\W\d_]+\d*[a-z]*", re.IGNORECASE)
# British to American; applied to both sides of every comparison, so a word that is neither is changed alike on both.
_SPELLINGS = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"ae|oe", "e"),
        (r"(?<=\w{3})our(?=s?$)", "or"),  # not 'four' and 'hour'
        (r"^(tum|col|od|hum|vap|lab|behavi)our", r"\1or"),
        (r"(?<=[a-z]{2})is(?=(e|ed|es|ing|ation|ations)$)", "iz"),
        (r"leuc", "leuk"),
        (r"sulph", "sulf"),
        (r"^(cent|fib|lit|met)re$", r"\1er"),
        (r"gramme", "gram"),
    )
)


def plain(text: str) -> str:
    """`text` in lower case without markdown, curly quotes, accents, possessives and doubled blanks."""
    if text.isascii():  # nothing to compose and no accent to take off
        text = text.replace("`", "'").lower()
    else:
        text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).translate(_APOSTROPHES))
        text = "".join(mark for mark in text if not unicodedata.combining(mark)).casefold()
        text = text.translate(_GREEK)  # last: an accent or a capital may hide one
    text = _POSSESSIVE.sub("", _MARKS.sub(" ", text))
    return " ".join(text.split())


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """The words of `text` in one spelling and the singular: 'Haemorrhoids' and 'hemorrhoid' give the same."""
    return tuple(stem(word) for word in _WORD.findall(plain(text)))


def words_of(text: str) -> frozenset[str]:
    """The words of a written list in their comparable form."""
    return frozenset(tokens(text))


def key(text: str) -> str:
    """`text` as one comparable string: its tokens with a blank between them."""
    return " ".join(tokens(text))


@lru_cache(maxsize=32768)
def stem(word: str) -> str:
    """One spelling and number of a word in lower case; a stem is for comparing, not for reading."""
    if len(word) <= 3 or word[0].isdigit():
        return word
    for pattern, replacement in _SPELLINGS:
        word = pattern.sub(replacement, word)
    return _singular(word)


def _singular(word: str) -> str:
    """'metastases' and 'metastasis' meet in 'metastas', 'diseases' and 'disease' in 'diseas'."""
    if word.endswith("ies") and len(word) > 5:
        return word[:-3] + "y"
    if re.search(r"(s|x|z|ch|sh)es$", word) or word.endswith("sis"):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word
