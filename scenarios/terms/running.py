"""Names of diseases in running text: the longest known name from each word on, by comparable words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.terms.comparable import ordered_form
from wardround.scenarios.terms.dictionary import Dictionary
from wardround.scenarios.terms.shortened import defined
from wardround.scenarios.terms.wording import key

ELSEWHERE = frozenset(
    """AA AE AI AM AN AP AR AS BA BD BN BP CAP CD CHILD CP DR DU ED EM EN ES ET FL FM HD HE HG HL HP HS IE IM IgA IgE
    IgG IgM LDL LN LP MF MH MM MN MR NET NS ON PD PET PG PH PM PR PS PT PTA PTC PV RAS RD SS TR UA""".split()  # noqa: SIM905 - a list of words reads better so
)
"""Abbreviations that mean something else as often in a record (blood pressure, magnetic resonance, normal saline): in
running text they count only where the text itself defines them. `link` knows them."""
_WORD = re.compile(r"(?:\d+(?:\.\d+)?[a-z]*|[^\W\d_]+\d*[a-z]*)(?:['’ʼ]s?(?!\w))?", re.IGNORECASE)
_BREAK = re.compile(r"[;:?!()\[\]{}|]|\.(?!\w)|\n\s*\n|\n\s*(?:[-*•]|\d+[.)])")
_OWNED = re.compile(r"['’ʼ]s?$")
_NEGATING = re.compile(r"(?i)\b(?:non|pseudo|anti)[-\s]?$")
_EPONYM = re.compile(r"[A-Z][^\W\d_]*[a-zà-ÿ]-$")
_SHORT = re.compile(r"(?<![\w-])(?=\w*[A-Z])[A-Za-z][A-Za-z0-9]{1,7}(?![\w])")


@dataclass(frozen=True, slots=True)
class Named:
    """A stretch of text and the places of the concepts it names, by rule exact, abbreviation or short."""

    start: int
    end: int
    places: tuple[int, ...]
    rule: str


def named(text: str, names: Dictionary) -> list[Named]:
    """The names in `text`, in order, none overlapping.

    No name reaches over the end of a sentence or a bracket. Abbreviations count only as they are written (PE, not
    pe) and mean what the text itself says they do, if it does. An eponym alone counts where it owns something
    ('Crohn's'). In a text in capitals only long abbreviations count.
    """
    words = list(_WORD.finditer(text))
    stems = [_stem(word[0]) for word in words]
    sentences = _sentences(text, words)
    own = _own(text, names)
    letters = sum(map(str.isalpha, text))
    loud = len(words) > 4 and sum(map(str.isupper, text)) > 0.6 * letters
    found, at = [], 0
    while at < len(words):
        hit = _short(text, words[at], names, own, loud)
        used = 1
        for size in names.lengths.get(stems[at].split(" ", 1)[0], ()):
            last = _last(stems, at, size)
            if last is None or sentences[last] != sentences[at]:
                continue
            places = names.forms.get(" ".join(stems[at : last + 1]))
            if places and (last > at or hit is None):
                hit = Named(words[at].start(), words[last].end(), places, "exact")
                used = last - at + 1
                break
        if hit is None and _OWNED.search(words[at][0]) and (places := names.cores.get(stems[at])):
            hit = Named(words[at].start(), words[at].end(), places, "core")
        if hit and not _another(text, hit):
            found.append(_trimmed(text, hit))
        at += used
    return found


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return key(word)


def _last(stems: Sequence[str], at: int, size: int) -> int | None:
    """The place of the last word of a name of `size` comparable words; a Greek letter counts as what it is called."""
    held = 0
    for place in range(at, min(len(stems), at + size)):
        held += stems[place].count(" ") + 1 if stems[place] else 0
        if held >= size:
            return place if held == size else None
    return None


def _sentences(text: str, words: Sequence[re.Match[str]]) -> list[int]:
    """For each word the number of the sentence it stands in."""
    breaks = [match.start() for match in _BREAK.finditer(text)]
    found, number = [], 0
    for word in words:
        while number < len(breaks) and breaks[number] < word.start():
            number += 1
        found.append(number)
    return found


def _own(text: str, names: Dictionary) -> Mapping[str, tuple[int, ...]]:
    """The text's own abbreviations to places; to none where what they stand for is no known disease."""
    found = {}
    for short, (start, end) in defined(text).items():
        form = key(text[start:end])
        found[short] = names.forms.get(form) or names.sorted.get(ordered_form(form.split()), ())
    return found


def _short(
    text: str, word: re.Match[str], names: Dictionary, own: Mapping[str, tuple[int, ...]], loud: bool
) -> Named | None:
    match = _SHORT.match(text, word.start())
    if match is None:
        return None
    said = match[0]
    plural = said[:-1] if said.endswith("s") and said[:-1].isupper() else said
    for form in (said, plural):
        if form in own:
            return Named(match.start(), match.end(), own[form], "abbreviation") if own[form] else None
        if form not in ELSEWHERE and (places := names.short.get(form)) and (not loud or len(form) > 4):
            return Named(match.start(), match.end(), places, "abbreviation")
    return None


def _another(text: str, hit: Named) -> bool:
    """Whether what stands before makes it another disease: 'non-tropical sprue', 'Powell-Gordon syndrome'."""
    before = text[max(0, hit.start - 20) : hit.start]
    return bool(_NEGATING.search(before)) or (text[hit.start].isupper() and bool(_EPONYM.search(before)))


def _trimmed(text: str, hit: Named) -> Named:
    """The stretch without a possessive mark at its end."""
    ending = _OWNED.search(text[hit.start : hit.end])
    return hit if ending is None else Named(hit.start, hit.start + ending.start(), hit.places, hit.rule)
