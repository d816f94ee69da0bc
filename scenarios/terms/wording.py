"""Brings clinical wording into comparable forms, and reads the tables of variants, abbreviations and names.

`plain` is the mildest form, `key` and `tokens` are in one spelling and number, `roots` also join noun and adjective.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import TypeVar

import msgspec

from wardround.engine.text import package_rows, regex
from wardround.scenarios.terms.table_cache import cached_table

S = TypeVar("S")

_MARKS = regex(r"[*_`#~|\"<>\[\]{}\\]+")
_POSSESSIVE = regex(r"(?<=\w)'s?\b(?!\w)")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "`": "'"})
_GREEK = str.maketrans(
    {"α": " alpha ", "β": " beta ", "γ": " gamma ", "δ": " delta ", "κ": " kappa ", "λ": " lambda ", "µ": "u", "μ": "u"}
)
_WORD = regex(r"\d+(?:\.\d+)?[a-z]*|[^\W\d_]+\d*[a-z]*", re.IGNORECASE)
# British to American spelling. It is applied to both sides of a comparison, so other words change alike on both.
_SPELLINGS = tuple(
    (regex(pattern), plain)
    for pattern, plain in (
        (r"ae|oe", "e"),
        (r"(?<=\w{3})our(?=s?$)", "or"),  # not 'four' and 'hour'
        (r"^(tum|col|od|hum|vap|lab|behavi)our", r"\1or"),
        (r"(?<=[a-z]{2})is(?=(e|ed|es|ing|ation|ations)$)", "iz"),
        (r"leuc", "leuk"),
        (r"sulph", "sulf"),
        (r"^(cent|fib|lit|met|goit|tit|calib)re(?=s?$)", r"\1er"),
        (r"gramme", "gram"),
    )
)
_SPELT_BRITISH = regex("|".join(f"(?:{spelling.pattern})" for spelling, _ in _SPELLINGS))
"""Matches if one of `_SPELLINGS` does. Most words match none, and eight searches would take twice as long."""


def plain(text: str) -> str:
    """`text` in lower case without markdown, curly quotes, accents, possessives and repeated spaces."""
    if text.isascii():  # nothing to compose and no accent to remove
        text = text.replace("`", "'").lower()
    else:
        text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).translate(_APOSTROPHES))
        text = "".join(mark for mark in text if not unicodedata.combining(mark)).casefold()
        text = text.translate(_GREEK)  # last, because an accent or a capital may hide a Greek letter
    text = _POSSESSIVE.sub("", _MARKS.sub(" ", text))
    return " ".join(text.split())


@lru_cache(maxsize=65536)
def tokens(text: str) -> tuple[str, ...]:
    """The words of `text` in one spelling and in the singular: 'Haemorrhoids' and 'hemorrhoid' give the same."""
    return tuple(stem(word) for word in _WORD.findall(plain(text)))


def list_words(text: str) -> frozenset[str]:
    """The words of a list, separated by spaces, in comparable form."""
    return frozenset(tokens(text))


def key(text: str) -> str:
    """`text` as one comparable string: its tokens joined by spaces."""
    return " ".join(tokens(text))


@lru_cache(maxsize=32768)
def stem(word: str) -> str:
    """A word in lower case in one spelling and number; stems are for comparison, not for display."""
    if len(word) <= 3 or word[0].isdigit():
        return word
    if _SPELT_BRITISH.search(word) is not None:
        for pattern, replacement in _SPELLINGS:
            word = pattern.sub(replacement, word)
    return _singular(word)


def _singular(word: str) -> str:
    """The common stem of singular and plural: 'metastases', 'metastasis' give 'metastas'; 'diseases' gives 'diseas'."""
    if word.endswith("ies") and len(word) > 5:
        return word[:-3] + "y"
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "sis")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


_STRUCK = regex(
    r"~~[^~]{0,4000}~~|<(s|del|strike)>.{0,4000}?</\1>|<!--.{0,4000}?(?:-->|$)"
    r"|<(\w{1,12})\b[^<>]{0,200}(?:display\s*:\s*none|visibility\s*:\s*hidden|\shidden\b|opacity\s*:\s*0"
    r"|font-size\s*:\s*0)[^<>]{0,200}>.{0,4000}?</\2>"
    r"|/\*.{0,4000}?\*/|(?<!\S)//[^\n]{0,4000}(?=\n|$)",
    re.DOTALL | re.IGNORECASE,
)
_BREAK = regex(r"\s*\|\s*|(?<=\S)(?:\t| {3,})(?=\S)|(?<!\S)#(?=[A-Za-z])")
_ABOVE = regex(r"(?<=[A-Za-z)])\s+>{1,3}\s+(?=[A-Za-z])")


def unstruck(text: str) -> str:
    """`text` without struck-out text, comments of code or HTML, and elements that a page does not show."""
    return _STRUCK.sub(" ", text)


def plain_lines(text: str) -> str:
    """`text` without struck-out text, with one entry per line.

    Cells of tables, hash tags and wide gaps end a line, brackets inside brackets become commas, and 'A > B' becomes
    'A; less likely B'.
    """
    return flat(_ABOVE.sub("; less likely ", _BREAK.sub("\n", unstruck(text))))


def flat(text: str) -> str:
    """`text` with commas in place of nested brackets."""
    if text.count("(") != text.count(")"):
        return text
    letters, depth = [], 0
    for mark in text:
        depth += mark == "("
        letters.append(mark if depth < 2 or mark not in "()" else ", " if mark == "(" else " ")
        depth -= mark == ")"
    return "".join(letters)


# Endings that reduce a noun and its adjective to one root: stenosis and stenotic, ischaemia and ischaemic.
_ENDINGS = tuple(
    (regex(pattern), end)
    for pattern, end in (
        (r"(?:itid|itis|itic)$", "it"),
        (r"(?:os|otic)$", "os"),
        (r"(?:emia|emic)$", "em"),
        (r"(?:pathy|pathic|pathi)$", "path"),
        (r"(?:plasia|plastic)$", "plas"),
        (r"(?:trophy|trophic)$", "troph"),
        (r"(?:genes|genic|genetic)$", "gen"),
        (r"(?:rrhagic|rrhag|rrhage)$", "rrhag"),
        (r"(?:coccal|coccus)$", "cocc"),
        (r"(?:ectas|ectasia|ectatic)$", "ectas"),
        (r"(?:omat|omata|omatous)$", "oma"),
        (r"(?<=\w{4})(?:ation|ative|ating|ated|ate|at)$", "at"),
        (r"(?<=\w{5})(?:ion|ive|ed|ing|ic|al|iv|y|ia|us)$", ""),
    )
)


class Vocabulary(msgspec.Struct, frozen=True):
    """The tables of wording; words and names are in comparable form unless said otherwise.

    - `variants`: root -> the root of its main word. `narrower`: root -> roots of narrower words.
    - `sites`: roots of parts of the body. `within`: site -> the sites inside it. `inflamed`: inflammation -> its site.
    - `abbreviations`: letters as written -> name. `short`: letters as written -> names of conditions.
    - `synonyms`: name -> its other names as written. `names`: all names of each disease, as written.
    - `axes`: stem -> pairs (axis, value). `agents`: genus -> (disease, whether the species after it is kept).
    - `shifts`, `shifted`: name -> words that make another disease of it, by stems and by roots.
    - `kinds`: pairs (disease, wider diseases), as written.
    """

    variants: Mapping[str, str]
    narrower: Mapping[str, frozenset[str]]
    sites: frozenset[str]
    abbreviations: Mapping[str, str]
    synonyms: Mapping[str, tuple[str, ...]]
    shifts: Mapping[str, tuple[str, ...]]
    names: tuple[tuple[str, ...], ...]
    axes: Mapping[str, tuple[tuple[str, str], ...]]
    within: Mapping[str, frozenset[str]]
    agents: Mapping[str, tuple[str, bool]]
    inflamed: Mapping[str, str]
    short: Mapping[str, tuple[str, ...]]
    kinds: tuple[tuple[str, tuple[str, ...]], ...]
    shifted: Mapping[str, tuple[str, ...]]


@cache
def vocabulary() -> Vocabulary:
    """The tables of wording that ship with the package."""
    return cached_table("vocabulary", Vocabulary, _read_vocabulary)


def _read_vocabulary() -> Vocabulary:
    variants: dict[str, str] = {}
    narrower: dict[str, frozenset[str]] = {}
    sites: set[str] = set()
    for row in table_rows("words.csv"):
        for word in (row["word"], *cells(row["variants"])):
            variants.setdefault(_root(stem(word)), _root(stem(row["word"])))
        if row["site"]:
            sites.add(_root(stem(row["word"])))
        narrower[_root(stem(row["word"]))] = frozenset(_root(stem(word)) for word in cells(row["narrower"]))
    same: dict[str, tuple[str, ...]] = {}
    for row in table_rows("diseases.csv"):
        names = (row["name"], *cells(row["synonyms"]))
        for name in names:
            same[key(name)] = (*same.get(key(name), ()), *(other for other in names if other != name))
    axes: dict[str, tuple[tuple[str, str], ...]] = {}
    for row in table_rows("axes.csv"):
        for value, *others in (cell.split("=") for cell in cells(row["values"])):
            for word in (value, *others):
                axes[stem(word)] = (*axes.get(stem(word), ()), (row["axis"], value))

    def meet(word: str) -> str:
        return variants.get(_root(stem(word)), _root(stem(word)))

    within = {
        meet(row["site"]): frozenset(meet(word) for word in cells(row["within"])) for row in table_rows("sites.csv")
    }
    short: dict[str, tuple[str, ...]] = {}
    for row in table_rows("conditions.csv"):
        for letters in cells(row["abbreviations"]):
            short[letters] = (*short.get(letters, ()), row["name"])
    named = [
        (row["name"], *cells(row["synonyms"])) for name in ("diseases.csv", "names.csv") for row in table_rows(name)
    ]
    return Vocabulary(
        variants,
        narrower,
        frozenset(sites),
        {row["abbreviation"]: row["expansion"] for row in table_rows("abbreviations.csv")},
        same,
        {key(row["name"]): tuple(key(part) for part in cells(row["qualifiers"])) for row in table_rows("shifts.csv")},
        tuple(named),
        axes,
        within,
        {stem(row["genus"]): (row["disease"], bool(row["species"])) for row in table_rows("agents.csv")},
        {meet(row["word"]): meet(row["site"]) for row in table_rows("inflammations.csv")},
        short,
        tuple((row["kind"], cells(row["wider"])) for row in table_rows("kinds.csv")),
        {
            " ".join(sorted(meet(word) for word in row["name"].split())): tuple(
                " ".join(meet(word) for word in part.split()) for part in cells(row["qualifiers"])
            )
            for row in table_rows("shifts.csv")
        },
    )


@cache
def lexicon() -> frozenset[str]:
    """Correctly spelt words, as stems: those of the tables of diseases and of `lexicon.txt` (ICD-10-CM)."""
    return frozenset(cached_table("lexicon", list[str], _spelt_words))


def _spelt_words() -> list[str]:
    stems = {stem(word) for word in files(__package__).joinpath("data/lexicon.txt").read_text(encoding="utf-8").split()}
    for name in ("conditions.csv", "names.csv", "diseases.csv", "rare.csv"):
        for row in table_rows(name):
            stems.update(tokens(f"{row['name']} {row['synonyms']}".replace("|", " ")))
    return sorted(stems)


def table_rows(name: str) -> list[dict[str, str]]:
    """The rows of a table in the folder `data`, by the name of its file."""
    return package_rows("wardround.scenarios.terms", "data", name)


def cells(cell: str) -> tuple[str, ...]:
    """The values of a cell that lists several, with `|` between them."""
    return tuple(part.strip() for part in cell.split("|") if part.strip())


@lru_cache(maxsize=32768)
def _root(word: str) -> str:
    """A comparable word without the ending of its noun or adjective; short words stay as they are."""
    if len(word) < 5:
        return word
    for pattern, end in _ENDINGS:
        short = pattern.sub(end, word)
        if short != word and len(short) >= 4:
            return short
    return word


@lru_cache(maxsize=32768)
def root(word: str) -> str:
    """The root that a comparable word shares with its variants: 'pulmonary' and 'lung' give the same."""
    bare = _root(word)
    return vocabulary().variants.get(bare, bare)


def roots(text: str) -> tuple[str, ...]:
    """The words of `text` as comparable roots."""
    return tuple(root(word) for word in tokens(text))


class RootWords(Set[str]):
    """The words of a list, separated by spaces, as roots, which are made at the first use.

    They need the tables of variants, which take 15 ms to read; a command that compares no words does not wait for them.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(roots(self._text))

    def __contains__(self, word: object) -> bool:
        return word in self._words

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    @classmethod
    def _from_iterable(cls, words: Iterable[S]) -> frozenset[S]:
        """The type of the result of `|`, `&` and `-`: a plain set."""
        return frozenset(words)
