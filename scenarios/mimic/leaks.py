"""Names of the diagnosis taken out of what a doctor reads: in any spelling, and as abbreviations in capitals."""

from functools import lru_cache

from wardround.scenarios.mimic.phrases import Phrases
from wardround.scenarios.mimic.pool import Disease
from wardround.scenarios.terms.disease import others
from wardround.scenarios.terms.vocabulary import roots, vocabulary
from wardround.scenarios.terms.wording import key

MASK = "___"
"""The mark of MIMIC's own de-identification: a blank that is nothing unusual in these notes."""


class Leaks:
    """All that gives a diagnosis away: its names, with noun and adjective taken for the same (cardiac, heart)."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self._phrases = Phrases(((name, True) for name in names), roots)

    def found(self, text: str) -> bool:
        """Whether `text` names the diagnosis."""
        return bool(self._phrases.found(text, shifts=False))

    def masked(self, text: str) -> str:
        """`text` with each name made a blank."""
        done, parts = 0, []
        for hit in self._phrases.found(text, shifts=False):
            parts += [text[done : hit.start], MASK]
            done = hit.end
        return "".join([*parts, text[done:]]) if parts else text


@lru_cache(maxsize=1024)
def leaks(disease: Disease) -> Leaks:
    """What gives `disease` away: its names, those that the tables of terms add, and the abbreviations of each."""
    names = dict.fromkeys(disease.names)
    for name in disease.names:
        names.update(dict.fromkeys(others(name)))
    spelled = {key(name) for name in names}
    names.update(dict.fromkeys(short for short, full in vocabulary().abbreviations.items() if key(full) in spelled))
    return Leaks(tuple(names))
