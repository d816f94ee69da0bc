"""Puts orders in German, French, Spanish and Chinese into English, and remembers where each word stood."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.orders.catalogue import Catalogue
from wardround.scenarios.orders.named_tests import respelt
from wardround.scenarios.terms.wording import cells, table_rows, tokens

LANGUAGES = ("de", "fr", "es", "zh")
_LATIN = LANGUAGES[:3]
_ENOUGH = 2
"""Evidence that makes a text one of a language: the name of a test counts 2, another word 1."""
_TELLING = (
    "and", "please", "no", "just", "without", "without contrast", "with contrast", "again", "in the morning", "fasting",
    "hours", "MRI", "CT", "ultrasound", "radiograph", "serology", "antibody", "level", "swab",
)  # fmt: skip
"""Words that identify the language as surely as the name of a test."""
_WEAK, _ALONE = "~", "="
"""Before a phrase of the table: it counts only once the language is known; it counts only as a whole item."""
_MARKS = str.maketrans(
    {"、": ",", "，": ",", "；": ";", "：": ":", "。": ".", "（": "(", "）": ")", "’": "'", "＋": "+"}
)
_WORDS = regex(r"[^\W_]+")
_HAN = regex(r"[\u4e00-\u9fff]")
_LATER = regex(r"(\d+)\s*(?:个)?(小时|天)(?:以?后|之后)")
_UNITS = {"小时": "hours", "天": "days"}
_AND = {"de": "und", "fr": "et", "es": "y"}
_PREFIX = {"serum": "serum", "urin": "urine", "liquor": "CSF", "plasma": "plasma", "blut": "blood"}
_SUFFIX = {
    "spiegel": "level", "konzentration": "level", "werte": "level", "wert": "level", "bestimmung": "", "status": "",
    "titer": "titer", "antikorper": "antibody", "serologie": "serology", "antigen": "antigen", "pcr": "PCR",
    "kulturen": "culture", "kultur": "culture", "abstrich": "swab", "abstriche": "swab", "biopsie": "biopsy",
    "sonographie": "ultrasound", "sonografie": "ultrasound", "ultraschall": "ultrasound", "sono": "ultrasound",
    "duplex": "Doppler", "szintigraphie": "scintigraphy", "szintigrafie": "scintigraphy", "szinti": "scintigraphy",
    "rontgen": "radiograph", "mrt": "MRI", "untersuchung": "exam", "verlauf": "serial", "kontrolle": "repeat",
}  # fmt: skip
"""What a German compound begins and ends with, beside the name of a test or of a part of the body."""
_ITEMS = regex(r"\s*[,;+/]\s*|\s(?:und|et|y|e)\s")


class Translation(msgspec.Struct, frozen=True):
    """An order in English; `places` has, for each character, the position in the original that it comes from."""

    text: str
    language: str
    places: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that characters `start` to `end` come from."""
        taken = self.places[start:end]
        return (min(taken), max(taken) + 1) if taken else (0, 0)


class _Phrase(msgspec.Struct, frozen=True):
    english: str
    test: bool
    weak: bool


@lru_cache(maxsize=16384)
def order_in_english(text: str, table: Catalogue) -> Translation:
    """`text` in English where it is in one of the four languages, else as it is.

    ::

        order_in_english("Natrium im Urin", catalogue()).text  # 'sodium in urine'
    """
    form, places = _folded(text)
    language = _language(form, table, accented=any(mark.isalpha() and not mark.isascii() for mark in text))
    if not language:
        return _respelled(text, table)
    letters: list[str] = []
    origin: list[int] = []
    at = 0
    for start, end, english in _replaced(form, language):
        joined = at and form[at:start] == "-"  # 'Borrelien-Antikörper'
        letters += " " if joined else _as_written(form, text, places, at, start)
        origin += places[at:start]
        ended = form[:start].rstrip().endswith(".") and text[places[start]].isupper()
        put = f" {english[:1].upper() if ended else english[:1]}{english[1:]} " if english else " "
        letters += put
        last = places[end - 1]
        first = places[start]
        origin += [first if place < 2 and len(put) > 2 else last for place in range(len(put))]
        at = end
    letters += _as_written(form, text, places, at, len(form))
    origin += places[at:]
    return _tidied("".join(letters), language, origin)


def _respelled(text: str, table: Catalogue) -> Translation:
    """An English text with its misspelt words corrected."""
    letters, origin, at = "", list[int](), 0
    english = text.isascii() and not _OTHER.search(text)
    for start, end, word in respelt(text, table) if english else ():
        letters += text[at:start] + word
        origin += [*range(at, start), *([start] * (len(word) - 1)), end - 1]
        at = end
    return Translation(letters + text[at:], "en" if at else "", (*origin, *range(at, len(text))))


_OTHER = regex(r"(?i)\b(?:de las?|de los|del?|en|el|para|und|mit|der|die|das|avec|sans|les|des|une|pour)\b")
"""Words of the other languages; a text with one is not corrected by English names."""


def _as_written(form: str, text: str, places: Sequence[int], start: int, end: int) -> Iterator[str]:
    """The letters of a part that is not translated, with the capitals of the text ('CBC und CRP')."""
    for at in range(start, end):
        mark = text[places[at]]
        yield mark if mark.casefold() == form[at] else form[at]


def _tidied(text: str, language: str, origin: Sequence[int]) -> Translation:
    """The text without repeated spaces and without a space before a punctuation mark."""
    kept = [
        place
        for place, mark in enumerate(text)
        if not (mark == " " and (place + 1 == len(text) or text[place + 1] in " ,;:.)" or place == 0))
    ]
    return Translation("".join(text[place] for place in kept), language, tuple(origin[place] for place in kept))


def _folded(text: str) -> tuple[str, list[int]]:
    """`text` in lower case without accents, and for each of its characters the place in `text`."""
    marks = text.translate(_MARKS)
    if marks.isascii():
        return marks.lower(), list(range(len(marks)))
    parts = [
        (part, place)
        for place, mark in enumerate(marks)
        for part in unicodedata.normalize("NFKD", mark).casefold().replace("œ", "oe")
        if not unicodedata.combining(part)
    ]
    return "".join(part for part, _ in parts), [place for _, place in parts]


def _language(form: str, table: Catalogue, *, accented: bool) -> str:
    """The language with the most evidence, '' for English and for too little; Chinese by its characters alone.

    Letters with accents leave English out, so that less is enough. Between two languages with equal evidence the weak
    words decide ('TSH y T4 libre' is Spanish by its 'y'), then the longer names.
    """
    if _HAN.search(form):
        return "zh"
    english = _english(table)
    words = set(_WORDS.findall(form))
    joined = any(word.startswith(tuple(_PREFIX)) for word in words)
    scores = []
    for place, language in enumerate(_LATIN):
        if not accented and words.isdisjoint(_marks(language, table)) and not (joined and language == "de"):
            continue
        phrases = _phrases(language)
        met = dict.fromkeys(match for _, _, match in _met(form, language))
        counted = {
            name: 2 if (phrases[name].test and name[0] != _ALONE) or phrases[name].english in _TELLING else 1
            for name in met
            if not phrases[name].weak and name not in english
        }
        weak = sum(phrases[name].weak and not phrases[name].test for name in met)
        scores.append((-sum(counted.values()), -weak, -sum(map(len, counted)), place, language))
    best = min(scores, default=(0, 0, 0, 0, ""))
    compound = joined and best[4] == "de"
    joins = next((language for language, word in _AND.items() if f" {word} " in form and " et al" not in form), "")
    if joins and joins == (best[4] or joins):  # no English order is joined by these
        return joins
    sure = -best[0] >= (1 if accented or compound else _ENOUGH) or (accented and -best[1] >= 1)
    return best[4] if sure else next((language for language in _LATIN if _lists(form, language, table)), "")


def _lists(form: str, language: str, table: Catalogue) -> bool:
    """Whether a text is a list of a language's names and no English ones ('EPP, FAN', 'Ziehl')."""
    phrases = _phrases(language)
    items = [item.strip(" .") for item in _ITEMS.split(form)]
    said = [item if item in phrases else f"{_ALONE}{item}" for item in items]
    named = all(item in phrases and phrases[item].test for item in said)
    return named and not _english(table).issuperset(items) and not table.ambiguous.keys() & set(items)


@lru_cache(maxsize=32)
def _marks(language: str, table: Catalogue) -> frozenset[str]:
    """The longest word of each phrase that counts as evidence; a text without any of them is of another language."""
    english = _english(table)
    telling = (name for name, phrase in _phrases(language).items() if not phrase.weak and name not in english)
    return frozenset(max(_WORDS.findall(name), key=len) for name in telling)


@lru_cache(maxsize=8)
def _english(table: Catalogue) -> frozenset[str]:
    """Phrases of the four languages that are English names as well ('lipase', 'coagulation')."""
    said = {_folded(name)[0] for test in table.tests.values() for name in (test.name, *test.synonyms)}
    said |= {word for name in said for word in name.split()}
    said |= {part for word in (*table.modalities.values(), *table.regions.values()) for part in word.phrases}
    bags = table.bags  # 'Coombs direct' is English in another order
    return frozenset(
        name
        for language in LANGUAGES
        for name in _phrases(language)
        if name in said or (" " in name and name.isascii() and " ".join(sorted(tokens(name))) in bags)
    )


@cache
def _phrases(language: str) -> dict[str, _Phrase]:
    phrases: dict[str, _Phrase] = {}
    for row in table_rows("foreign_orders.csv"):
        for cell in cells(row[language]):
            name = _folded(cell.lstrip(_WEAK))[0]
            phrases.setdefault(name, _Phrase(row["english"], row["role"] == "test", cell.startswith(_WEAK)))
    return phrases


@cache
def _pattern(language: str) -> re.Pattern[str]:
    """All phrases of a language, the longest first; Latin ones at the bounds of words."""
    ordered = sorted(_phrases(language), key=lambda name: (-len(name), name))
    if language == "zh":
        return re.compile(
            "|".join(
                rf"(?<![a-z]){re.escape(name)}(?![a-z])" if name.isascii() else re.escape(name) for name in ordered
            )
        )
    alone = [re.escape(name[1:]) for name in ordered if name.startswith(_ALONE)]
    ends = "" if language == "de" else r"(?![^\W_])"
    plain = [re.escape(name) + ("" if name.endswith("'") else ends) for name in ordered if name[0] != _ALONE]
    prefix = rf"(?P<prefix>{'|'.join(_PREFIX)})?-?" if language == "de" else ""
    between = r"(?:^|(?<=[,;:]\s)|(?<=[(/])|(?<=\s(?:y|e)\s)|(?<=\set\s)|(?<=\sund\s))"
    item = rf"{between}(?P<alone>{'|'.join(alone)})(?=\s*(?:[,;.)/]|$)|\s(?:y|e|et|und)\s)|" if alone else ""
    suffix = rf"(?:e?[sn]?-?(?:{'|'.join(_SUFFIX)}))?(?![^\W_])" if language == "de" else ""
    return re.compile(rf"{item}(?:(?<![^\W_])|(?=,)){prefix}(?P<phrase>{'|'.join(plain)}){suffix}")


def _met(form: str, language: str) -> list[tuple[int, int, str]]:
    """(start, end, phrase) of each phrase of a language."""
    met = []
    for match in _pattern(language).finditer(form):
        groups = match.groupdict()
        name = f"{_ALONE}{groups['alone']}" if groups.get("alone") else groups.get("phrase") or match[0]
        met.append((match.start(), match.end(), name))
    return met


def _replaced(form: str, language: str) -> list[tuple[int, int, str]]:
    """(start, end, English) of each part to put into English."""
    phrases = _phrases(language)
    spans: list[tuple[int, int, str]] = []
    if language == "zh":
        spans = [(one.start(), one.end(), f"in {one[1]} {_UNITS[one[2]]}") for one in _LATER.finditer(form)]
    taken = [(start, end) for start, end, _ in spans]
    for start, end, name in _met(form, language):
        if any(start < last and first < end for first, last in taken):
            continue
        body = form[start:end]
        before = next(
            (said for word, said in _PREFIX.items() if language == "de" and body != name and body.startswith(word)), ""
        )
        after = next((said for word, said in _SUFFIX.items() if body.endswith(word) and not name.endswith(word)), "")
        spans.append((start, end, f"{before} {phrases[name].english} {after * (language == 'de')}".strip()))
    return sorted(spans)


def original(piece: str, translation: Translation, text: str) -> str:
    """The wording of a piece of the translation in the original; the piece itself if it was not taken as it stands."""
    if not translation.language:
        return piece
    folded = translation.text.casefold()
    words = piece.casefold().split()
    for first in range(len(words)):
        part = " ".join(words[first:])
        place = folded.find(part)
        if place >= 0 and tokens(part):
            start, end = translation.span(place, place + len(part))
            return text[start:end]
    return piece
