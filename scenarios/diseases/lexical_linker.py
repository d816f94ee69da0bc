"""The default linker of names to diseases.

It links a single name by its words, their order and their spelling, and finds names and abbreviations in running text.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace
from rapidfuzz import fuzz, process

from wardround.engine.text import regex
from wardround.scenarios.diseases.dictionary import Dictionary, GramWeights, NGrams, dictionary, gram_weights, misspells
from wardround.scenarios.diseases.disease import (
    DEGREES,
    KINDS,
    core_form,
    expanded,
    join_prefixes,
    name_forms,
    opposed,
    ordered_form,
    unstaged,
)
from wardround.scenarios.diseases.knowledge import Knowledge, knowledge
from wardround.scenarios.diseases.linker import Mention
from wardround.scenarios.diseases.ontologies import SHORT
from wardround.scenarios.terms.table_cache import cached_table
from wardround.scenarios.terms.wording import key

IndexT = TypeVar("IndexT", Dictionary, GramWeights)
_DEFINED = regex(r"\(\s*([A-Z][A-Za-z0-9-]{1,8}?)s?\s*[),;]")
_PLAIN_WORD = regex(r"[^\W_]+")
_SPARE = 3
"""How many words more than its abbreviation has letters a long form may have ('syndrome of inappropriate ...')."""


def defined(text: str) -> Mapping[str, tuple[int, int]]:
    """Map each abbreviation that `text` defines in brackets to the span (start, end) of its long form.

    The first definition counts. The letters must occur in their order in the words before the bracket, the first letter
    at the start of a word (Schwartz and Hearst, 2003).

    ::

        defined("pulmonary embolism (PE)")  # {'PE': (0, 18)}
    """
    spans: dict[str, tuple[int, int]] = {}
    for match in _DEFINED.finditer(text):
        short = match[1]
        if short in spans or sum(map(str.isupper, short)) < 2:
            continue
        words = list(_PLAIN_WORD.finditer(text[max(0, match.start() - 200) : match.start()]))
        offset = max(0, match.start() - 200)
        for first in words[-1 : -(len(short) + _SPARE) - 1 : -1]:
            long = text[offset + first.start() : match.start()].rstrip()
            if len(long) > len(short) and long[0].lower() == short[0].lower() and _holds(long, short):
                spans[short] = (offset + first.start(), offset + first.start() + len(long))
                break
    return spans


def _holds(long: str, short: str) -> bool:
    """Whether the letters of `short` occur in `long` in order: as first letters of words, or else within words too."""
    letters = [letter.lower() for letter in short if letter.isalnum()]
    starts = "".join(word[0].lower() for word in _PLAIN_WORD.findall(long))
    if _subsequence(letters, starts):
        return True
    # Two letters may come from one word ('TB' from tuberculosis), but not all of them from the middle of words.
    return len(_PLAIN_WORD.findall(long)) >= (len(letters) + 1) // 2 and _subsequence(letters, long.lower())


def _subsequence(letters: list[str], text: str) -> bool:
    rest = iter(text)
    return all(letter in rest for letter in letters)  # each search goes on where the last one ended


ELSEWHERE = frozenset(
    """AA AE AI AM AN AP AR AS BA BD BN BP CAP CD CHILD CP DR DU ED EM EN ES ET FL FM HD HE HG HL HP HS IE IM IgA IgE
    IgG IgM LDL LN LP MF MH MM MN MR NET NS ON PD PET PG PH PM PR PS PT PTA PTC PV RAS RD SS TR UA""".split()  # noqa: SIM905 - a list of words reads better so
)
"""Abbreviations that often mean something else in a record (blood pressure, magnetic resonance, normal saline). In
running text they count only if the text itself defines them; `link` accepts them."""
_WORD = regex(r"(?:\d+(?:\.\d+)?[a-z]*|[^\W\d_]+\d*[a-z]*)(?:['’ʼ]s?(?!\w))?", re.IGNORECASE)
_BREAK = regex(r"[;:?!()\[\]{}|]|\.(?!\w)|\n\s*\n|\n\s*(?:[-*•]|\d+[.)])")
_OWNED = regex(r"['’ʼ]s?$")
_NEGATING = regex(r"(?i)\b(?:non|pseudo|anti)[-\s]?$")
_EPONYM = regex(r"[A-Z][^\W\d_]*[a-zà-ÿ]-$")
_SHORT = regex(r"(?<![\w-])(?=\w*[A-Z])[A-Za-z][A-Za-z0-9]{1,7}(?![\w])")


class NamedSpan(msgspec.Struct, frozen=True):
    """A span of text and the places of the concepts that it names, by rule exact, abbreviation or core."""

    start: int
    end: int
    places: tuple[int, ...]
    rule: str


def named_diseases(text: str, names: Dictionary) -> list[NamedSpan]:
    """The names of diseases in `text`, in order, none overlapping another.

    A name never spans the end of a sentence or a bracket. An abbreviation counts only as written (PE, not pe); if the
    text defines it, it has that meaning. An eponym alone counts if it is possessive ('Crohn's'). In a text in capitals,
    only abbreviations of more than four letters count.
    """
    words = list(_WORD.finditer(text))
    stems = [_stems(word[0]) for word in words]
    breaks = [match.start() for match in _BREAK.finditer(text)]
    own = _own(text, names)
    loud = len(words) > 4 and not text.islower() and _in_capitals(text)
    possessive = any(mark in text for mark in "'\u2019\u02bc")
    hits, at = [], 0
    while at < len(words):
        word, stem = words[at], stems[at]
        hit = _short(text, word, names, own, loud)
        used = 1
        for size in names.lengths.get(stem.split(" ", 1)[0] if " " in stem else stem, ()):
            last = _last(stems, at, size)
            if last is None:
                continue
            places = names.forms.get(" ".join(stems[at : last + 1]))
            if not places or not (last > at or hit is None):
                continue
            if last == at or bisect_left(breaks, words[last].start()) == bisect_left(breaks, word.start()):
                hit = NamedSpan(word.start(), words[last].end(), places, "exact")
                used = last - at + 1
                break
        if possessive and hit is None and _OWNED.search(word[0]) and (places := names.cores.get(stem)):
            hit = NamedSpan(word.start(), word.end(), places, "core")
        if hit and not _another(text, hit):
            hits.append(_trimmed(text, hit))
        at += used
    return hits


_LETTERS = dict.fromkeys(place for place in range(128) if not chr(place).isalpha())
_CAPITALS = dict.fromkeys(range(ord("a"), ord("z") + 1))
_stems = lru_cache(maxsize=32768)(key)  # the words of texts recur


def _in_capitals(text: str) -> bool:
    """Whether most letters of a text are capitals."""
    if text.isascii():  # the same count, ten times as fast
        letters = text.translate(_LETTERS)
        return len(letters.translate(_CAPITALS)) > 0.6 * len(letters)
    return sum(map(str.isupper, text)) > 0.6 * sum(map(str.isalpha, text))


def _last(stems: Sequence[str], at: int, size: int) -> int | None:
    """The place of the last word of a name of `size` comparable words that begins at `at`; None if words do not fit."""
    size_so_far = 0
    for place in range(at, min(len(stems), at + size)):
        size_so_far += stems[place].count(" ") + 1 if stems[place] else 0
        if size_so_far >= size:
            return place if size_so_far == size else None
    return None


def _own(text: str, names: Dictionary) -> Mapping[str, tuple[int, ...]]:
    """The concepts of the abbreviations that the text defines; () if the long form is no known disease."""
    meanings = {}
    for short, (start, end) in defined(text).items():
        form = key(text[start:end])
        meanings[short] = names.forms.get(form) or names.sorted.get(ordered_form(form.split()), ())
    return meanings


def _short(
    text: str, word: re.Match[str], names: Dictionary, own: Mapping[str, tuple[int, ...]], loud: bool
) -> NamedSpan | None:
    """The disease for which the abbreviation `word` stands; None if the word is none that counts."""
    start, end = word.span()
    if (
        text[start:end].islower() and not text[end : end + 1].isalnum()
    ):  # nearly every word; an abbreviation has capitals
        return None
    match = _SHORT.match(text, start)
    if match is None:
        return None
    said = match[0]
    plural = said[:-1] if said.endswith("s") and said[:-1].isupper() else said
    for form in (said, plural):
        if form in own:
            return NamedSpan(match.start(), match.end(), own[form], "abbreviation") if own[form] else None
        if form not in ELSEWHERE and (places := names.short.get(form)) and (not loud or len(form) > 4):
            return NamedSpan(match.start(), match.end(), places, "abbreviation")
    return None


def _another(text: str, hit: NamedSpan) -> bool:
    """Whether the words before a name make it another disease: 'non-tropical sprue', 'Powell-Gordon syndrome'."""
    before = text[max(0, hit.start - 20) : hit.start]
    return bool(_NEGATING.search(before)) or (text[hit.start].isupper() and bool(_EPONYM.search(before)))


def _trimmed(text: str, hit: NamedSpan) -> NamedSpan:
    """The span without a possessive mark at its end."""
    ending = _OWNED.search(text[hit.start : hit.end])
    return hit if ending is None else NamedSpan(hit.start, hit.start + ending.start(), hit.places, hit.rule)


LONGEST = 300
"""Longest single name, in characters, that `link` reads; `mentions` reads longer texts."""
NEAR = 0.82
"""Least similarity (rapidfuzz ratio, 0 to 1) of a misspelt name."""
CLOSE = 74.0
"""Least similarity of each word of a misspelt name, 0 to 100."""
SQUASHED = 96.0
"""Least similarity of two names without their spaces ('heartfailure'), 0 to 100."""
LONE = 80.0
"""Least similarity of a one-word name, 0 to 100; its first letter must be right."""
_SCORES = {"exact": 1.0, "abbreviation": 0.95, "words": 0.95, "core": 0.9, "head": 0.8, "part": 0.6}


class LexicalLinker:
    """Links to the concepts of one Knowledge. The first use takes about a second to build the index.

    If the knowledge contains nothing of the user's, give it a `name`: its index is then cached under this name.

    ::

        linker().link("heart attack").concept.name  # 'Myocardial infarction'
    """

    def __init__(self, diseases: Knowledge, name: str = "") -> None:
        self.knowledge, self._name = diseases, name
        self._seen = lru_cache(maxsize=32768)(self._linked)

    @cached_property
    def _names(self) -> Dictionary:
        return self._cached("names", Dictionary, lambda: dictionary(self.knowledge))

    def _cached(self, what: str, form: type[IndexT], build: Callable[[], IndexT]) -> IndexT:
        return cached_table(f"{self._name}_{what}", form, build) if self._name else build()

    @cached_property
    def _forms(self) -> Sequence[str]:
        """The forms that a misspelt name may have: all names, and eponyms alone ('behcet')."""
        return tuple(dict.fromkeys((*self._names.forms, *self._alone)))

    def _places(self, form: str) -> tuple[int, ...]:
        return self._names.forms.get(form) or self._names.cores[form]

    @cached_property
    def _alone(self) -> Sequence[str]:
        return tuple(core for core in self._names.cores if " " not in core and len(core) > 4)

    @cached_property
    def _grams(self) -> NGrams:
        return NGrams(self._cached("grams", GramWeights, lambda: gram_weights(self._forms)))

    def link(self, name: str) -> Mention | None:
        """The meaning of a single name, by the first rule that fits.

        The rules are: exact, abbreviation, words (in another order), core (without 'disease', degree or side), head
        (the words before 'due to' or a comma), fuzzy, part (the longest disease named inside). None if none fits.
        """
        return self._seen(name[:LONGEST].strip())

    def _linked(self, name: str) -> Mention | None:
        if not key(name):
            return None
        # A bracketed abbreviation means the name before it, even if its letters have other meanings elsewhere.
        whole = (name, *(other for other in name_forms(name) if other != name and not SHORT.match(other)))
        for said in whole:
            if known := self._known(said):
                places, rule = known
                return _mention(name, places, "head" if _cut(name, said) else rule, self.knowledge)
        for said in whole[:2]:
            if near := self._near(said) or self._single(key(said).split()):
                return replace(near, text=name, end=len(name))
        inside = self.mentions(name)
        if not inside:
            return None
        longest = max(inside, key=lambda mention: (len(mention.concept.icd10) < 4, mention.end - mention.start))
        return Mention(name, 0, len(name), longest.concept, _SCORES["part"], "part", longest.others)

    def _known(self, said: str) -> tuple[tuple[int, ...], str] | None:
        """The places of a name that the dictionary has in some form, and the rule."""
        names = self._names
        letters = said.strip(" .")
        if places := names.short.get(letters):
            return places, "abbreviation"
        if places := names.forms.get(key(said)):
            return places, "exact"
        if places := names.short.get(letters.upper().replace(".", "")):
            return places, "abbreviation"
        spelled = expanded(said)
        for text in dict.fromkeys((said, spelled, join_prefixes(said))):
            words = key(text).split()
            if text is not said and (places := names.forms.get(" ".join(words))):
                return places, "abbreviation"
            if places := names.sorted.get(ordered_form(words)):
                return places, "words"
            core = core_form(words)
            if core and (core not in names.acronyms or core.upper() in said) and (places := names.cores.get(core)):
                return places, "core"
        bare = unstaged(said)
        return self._known(bare) if bare != " ".join(said.split()) and key(bare) else None

    def _near(self, said: str) -> Mention | None:
        """The most similar name of which `said` is a misspelling."""
        form = key(said)
        words = form.split()
        if len(form) < 5 or all(word in self._names.known for word in words):
            return None
        squashed = form.replace(" ", "")
        scored = []
        for place, cosine in self._grams.nearest(form):
            other = self._forms[place]
            likeness = max(fuzz.ratio(form, other), fuzz.token_sort_ratio(form, other))
            if likeness >= NEAR * 100:
                scored.append((-likeness, -cosine, place, other))
        for likeness, _, _, other in sorted(scored):
            together = fuzz.ratio(squashed, other.replace(" ", "")) >= SQUASHED and _digits(form) == _digits(other)
            if together or misspells(words, other.split(), self._names.known, CLOSE):
                return _mention(said, self._places(other), "fuzzy", self.knowledge, -likeness / 100)
        return None

    def _single(self, words: Sequence[str]) -> Mention | None:
        """A misspelt one-word name, with or without 'disease'; 'Chrons' has too few 3-grams for the index."""
        kept = [word for word in words if word not in KINDS and word not in DEGREES]
        if len(kept) != 1 or len(kept[0]) < 5 or kept[0] in self._names.known or _digits(kept[0]):
            return None
        alike = process.extract(kept[0], self._alone, scorer=fuzz.ratio, score_cutoff=LONE, limit=5)
        near = [(form, score) for form, score, _ in alike if form[0] == kept[0][0] and not opposed(form, kept[0])]
        if not near:
            return None
        return _mention(" ".join(words), self._names.cores[near[0][0]], "fuzzy", self.knowledge, near[0][1] / 100)

    def mentions(self, text: str) -> Sequence[Mention]:
        """The diseases named in `text`, in order, by exact names and abbreviations; see `named_diseases`."""
        mentions = []
        for hit in named_diseases(text, self._names):
            one = _mention(text[hit.start : hit.end], hit.places, hit.rule, self.knowledge)
            mentions.append(replace(one, start=hit.start, end=hit.end))
        return mentions


def _mention(said: str, places: tuple[int, ...], rule: str, diseases: Knowledge, score: float | None = None) -> Mention:
    concepts = [diseases.concepts[place] for place in places]
    worth = _SCORES[rule] if score is None else score
    return Mention(said, 0, len(said), concepts[0], worth, rule, tuple(concepts[1:]))


def _cut(name: str, said: str) -> bool:
    """Whether `said` omits more of `name` than its brackets."""
    bare = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", name)
    return key(said) not in (key(name), key(bare)) and key(bare).startswith(key(said))


def _digits(form: str) -> str:
    return "".join(mark for mark in form if mark.isdigit())


@cache
def linker(*own: Path) -> LexicalLinker:
    """The default linker over all sources and the user's files (CSV of synonyms, MRCONSO.RRF)."""
    return LexicalLinker(knowledge(*own), "" if own else "diseases")
