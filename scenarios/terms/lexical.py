"""The default linker: exact names, then word order, then spelling; in running text exact names only."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from pathlib import Path

from rapidfuzz import fuzz, process

from wardround.scenarios.terms.comparable import DEGREES, KINDS, core_form, ordered_form
from wardround.scenarios.terms.dictionary import Dictionary, alike, dictionary
from wardround.scenarios.terms.disease import expanded, joined, names, opposed, unstaged
from wardround.scenarios.terms.icd import SHORT
from wardround.scenarios.terms.knowledge import Knowledge, knowledge
from wardround.scenarios.terms.mentions import Mention
from wardround.scenarios.terms.ngrams import NGrams
from wardround.scenarios.terms.running import named
from wardround.scenarios.terms.wording import key

LONGEST = 300
"""Characters of a single name that `link` reads; a longer text is for `mentions`."""
NEAR = 0.82
"""Least likeness (rapidfuzz ratio, 0 to 1) of a misspelt name; CLOSE that of each of its words (0 to 100)."""
CLOSE = 74.0
SQUASHED = 96.0
"""Least likeness of two names without their blanks ('heartfailure'), 0 to 100."""
LONE = 80.0
"""Least likeness of a name of one word, 0 to 100; its first letter must be right."""
_SCORES = {"exact": 1.0, "abbreviation": 0.95, "words": 0.95, "core": 0.9, "head": 0.8, "part": 0.6}


class LexicalLinker:
    """Links to the concepts of one Knowledge. Building takes about a second, on the first use."""

    def __init__(self, held: Knowledge) -> None:
        self.held = held
        self._seen = lru_cache(maxsize=32768)(self._linked)

    @cached_property
    def _names(self) -> Dictionary:
        return dictionary(self.held)

    @cached_property
    def _forms(self) -> Sequence[str]:
        """What a misspelt name may be: all names, and eponyms alone ('behcet')."""
        return tuple(dict.fromkeys((*self._names.forms, *self._alone)))

    def _places(self, form: str) -> tuple[int, ...]:
        return self._names.forms.get(form) or self._names.cores[form]

    @cached_property
    def _alone(self) -> Sequence[str]:
        return tuple(core for core in self._names.cores if " " not in core and len(core) > 4)

    @cached_property
    def _grams(self) -> NGrams:
        return NGrams(self._forms)

    def link(self, name: str) -> Mention | None:
        """What a single name means; the first of: exact, abbreviation, words (another order), core, head, fuzzy, part.

        core: without 'disease', degree or side. head: what stands before 'due to' or a comma. part: the longest
        disease named inside. None where nothing fits.
        """
        return self._seen(name[:LONGEST].strip())

    def _linked(self, name: str) -> Mention | None:
        if not key(name):
            return None
        # An abbreviation in a bracket is what the name before it is, whatever else its letters mean elsewhere.
        whole = (name, *(other for other in names(name) if other != name and not SHORT.match(other)))
        for said in whole:
            if found := self._known(said):
                places, rule = found
                return _mention(name, places, "head" if _cut(name, said) else rule, self.held)
        for said in whole[:2]:
            if near := self._near(said) or self._single(key(said).split()):
                return replace(near, text=name, end=len(name))
        inside = self.mentions(name)
        if not inside:
            return None
        longest = max(inside, key=lambda mention: (len(mention.concept.icd10) < 4, mention.end - mention.start))
        return Mention(name, 0, len(name), longest.concept, _SCORES["part"], "part", longest.others)

    def _known(self, said: str) -> tuple[tuple[int, ...], str] | None:
        """The places of a name the dictionary has in some form, and the rule."""
        held = self._names
        letters = said.strip(" .")
        if places := held.short.get(letters):
            return places, "abbreviation"
        if places := held.forms.get(key(said)):
            return places, "exact"
        if places := held.short.get(letters.upper().replace(".", "")):
            return places, "abbreviation"
        spelled = expanded(said)
        for text in dict.fromkeys((said, spelled, joined(said))):
            words = key(text).split()
            if text is not said and (places := held.forms.get(" ".join(words))):
                return places, "abbreviation"
            if places := held.sorted.get(ordered_form(words)):
                return places, "words"
            core = core_form(words)
            if core and (places := held.cores.get(core)):
                return places, "core"
        bare = unstaged(said)
        return self._known(bare) if bare != " ".join(said.split()) and key(bare) else None

    def candidates(self, name: str, limit: int = 5) -> Sequence[Mention]:
        """Concepts by likeness of any of their names, best first; the score is the likeness."""
        form = key(name[:LONGEST])
        best: dict[int, float] = {}
        if found := self._known(name[:LONGEST]):
            best = dict.fromkeys(found[0], _SCORES[found[1]])
        for place, _ in self._grams.nearest(form, limit * 6):
            likeness = fuzz.ratio(form, self._forms[place]) / 100
            for concept in self._places(self._forms[place]):
                best[concept] = max(best.get(concept, 0.0), likeness)
        ordered = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
        return [Mention(name, 0, len(name), self.held.concepts[place], score, "candidate") for place, score in ordered]

    def _near(self, said: str) -> Mention | None:
        """The likest name of which `said` is a misspelling."""
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
            if together or alike(words, other.split(), self._names.known, CLOSE):
                return _mention(said, self._places(other), "fuzzy", self.held, -likeness / 100)
        return None

    def _single(self, words: Sequence[str]) -> Mention | None:
        """A name of one word, misspelt, with or without 'disease': too few 3-grams are left of 'Chrons'."""
        kept = [word for word in words if word not in KINDS and word not in DEGREES]
        if len(kept) != 1 or len(kept[0]) < 5 or kept[0] in self._names.known or _digits(kept[0]):
            return None
        alike = process.extract(kept[0], self._alone, scorer=fuzz.ratio, score_cutoff=LONE, limit=5)
        near = [(form, score) for form, score, _ in alike if form[0] == kept[0][0] and not opposed(form, kept[0])]
        if not near:
            return None
        return _mention(" ".join(words), self._names.cores[near[0][0]], "fuzzy", self.held, near[0][1] / 100)

    def mentions(self, text: str) -> Sequence[Mention]:
        """The diseases named in `text`, in order, by exact names and abbreviations (running.named says how)."""
        found = []
        for hit in named(text, self._names):
            one = _mention(text[hit.start : hit.end], hit.places, hit.rule, self.held)
            found.append(replace(one, start=hit.start, end=hit.end))
        return found


def _mention(said: str, places: tuple[int, ...], rule: str, held: Knowledge, score: float | None = None) -> Mention:
    concepts = [held.concepts[place] for place in places]
    worth = _SCORES[rule] if score is None else score
    return Mention(said, 0, len(said), concepts[0], worth, rule, tuple(concepts[1:]))


def _cut(name: str, said: str) -> bool:
    """Whether `said` leaves out more of `name` than what stands in brackets."""
    bare = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", name)
    return key(said) not in (key(name), key(bare)) and key(bare).startswith(key(said))


def _digits(form: str) -> str:
    return "".join(mark for mark in form if mark.isdigit())


@cache
def linker(*own: Path) -> LexicalLinker:
    """The default linker over all sources and the user's files (CSV of synonyms, MRCONSO.RRF)."""
    return LexicalLinker(knowledge(*own))
