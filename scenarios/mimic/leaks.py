"""Names of the diagnosis taken out of what a doctor reads: in any spelling, and as abbreviations in capitals."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.mimic.pool import Disease
from wardround.scenarios.terms.disease import others
from wardround.scenarios.terms.vocabulary import vocabulary
from wardround.scenarios.terms.wording import key, tokens

MASK = "___"
"""The mark of MIMIC's own de-identification: a blank that is nothing unusual in these notes."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019]s?\b)?")


@dataclass(frozen=True, eq=False)
class Leaks:
    """All that gives a diagnosis away: comparable names, and abbreviations that count in capitals only."""

    names: frozenset[tuple[str, ...]]
    short: frozenset[str]

    def found(self, text: str) -> tuple[tuple[int, int], ...]:
        """Where `text` names the diagnosis, as (start, end), in order, not overlapping."""
        words = [(match[0], *match.span()) for match in _WORD.finditer(text)]
        forms = [tokens(word) for word, _, _ in words]
        longest = max(map(len, self.names), default=0)
        spans: list[tuple[int, int]] = []
        place = 0
        while place < len(words):
            size = self._at(forms, place, longest) or (1 if words[place][0] in self.short else 0)
            if size:
                spans.append((words[place][1], words[place + size - 1][2]))
            place += size or 1
        return tuple(spans)

    def _at(self, forms: list[tuple[str, ...]], place: int, longest: int) -> int:
        name: tuple[str, ...] = ()
        best = 0
        for size, form in enumerate(forms[place:], 1):
            name += form
            if len(name) > longest:
                break
            if form and name in self.names:
                best = size
        return best

    def masked(self, text: str) -> str:
        """`text` with each name made a blank."""
        done, parts = 0, []
        for start, end in self.found(text):
            parts += [text[done:start], MASK]
            done = end
        return "".join([*parts, text[done:]])


@lru_cache(maxsize=1024)
def leaks(disease: Disease, more: tuple[str, ...] = ()) -> Leaks:
    """What gives `disease` away: its names, those the tables of terms add, the abbreviations of each, and `more`."""
    names = dict.fromkeys((*disease.names, *more))
    for name in list(names):
        names.update(dict.fromkeys(others(name)))
    spelled = {key(name) for name in names}
    names.update(dict.fromkeys(short for short, full in vocabulary().abbreviations.items() if key(full) in spelled))
    return _sorted(names)


def _sorted(names: Iterable[str]) -> Leaks:
    long, short = set(), set()
    for name in names:
        if name.isupper() and name.isalnum() and len(name) <= 6:
            short.add(name)
        elif form := tokens(name):
            long.add(form)
    return Leaks(frozenset(long), frozenset(short))
