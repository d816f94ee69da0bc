"""Spelling mistakes in the words of a request put right, if one known word alone can be meant."""

from collections.abc import Iterable
from functools import lru_cache

from rapidfuzz.distance import OSA

from wardround.scenarios.terms.catalogue import Catalogue
from wardround.scenarios.terms.wording import key

_SHORTEST = 4
_LONG = 9
"""Letters of the shortest word that is corrected (one mistake; of four only one left out), and of one with two."""

_OPPOSED = (("hyper", "hypo"), ("intra", "extra"), ("intra", "inter"), ("pre", "post"), ("macro", "micro"))


class Speller:
    """Knows the words of a table, in their comparable form; corrects by one mistake, long words by two."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = frozenset(words)
        self._near: dict[str, list[str]] = {}
        for word in sorted(self.words):
            if len(word) >= _SHORTEST and word.isalpha():
                for form in _forms(word):
                    self._near.setdefault(form, []).append(word)

    def correct(self, word: str) -> str | None:
        """The only known word that is one mistake away (two, from nine letters on), None if there is none or several.

        A mistake is a letter too many, missing, wrong, or two in the wrong order. The first letter must be right, no
        figure may stand in the word, and a prefix is never turned into its opposite.
        """
        if len(word) < _SHORTEST or not word.isalpha():
            return None
        most = 2 if len(word) >= _LONG else 1
        near = {known for form in _forms(word) for known in self._near.get(form, ())}
        found = [(OSA.distance(word, known, score_cutoff=most), known) for known in near if known[0] == word[0]]
        close = sorted(
            (far, known)
            for far, known in found
            if far <= most and not _opposed(word, known) and (len(word) > _SHORTEST or len(known) > len(word))
        )
        if not close or (len(close) > 1 and close[0][0] == close[1][0]):
            return None
        return close[0][1]


def _forms(word: str) -> set[str]:
    """The word, and from nine letters on also two letters shorter, with letters left out: where two such sets meet,
    the words may be near each other; where they do not, they are not."""
    once = {word[:place] + word[place + 1 :] for place in range(1, len(word))}
    if len(word) < _LONG - 1:
        return {word} | once
    return {word} | once | {form[:place] + form[place + 1 :] for form in once for place in range(1, len(form))}


def _opposed(one: str, other: str) -> bool:
    return any(
        (one.startswith(a) and other.startswith(b)) or (one.startswith(b) and other.startswith(a)) for a, b in _OPPOSED
    )


@lru_cache(maxsize=8)
def speller(table: Catalogue) -> Speller:
    """The speller of a table's names, modalities and regions."""
    names = list(table.names)
    names += [phrase for word in (*table.modalities.values(), *table.regions.values()) for phrase in word.phrases]
    return Speller(part for name in names for part in name.split())


@lru_cache(maxsize=16384)
def corrected(form: str, table: Catalogue) -> str | None:
    """A comparable form with its mistaken words put right, None if there is nothing to correct or it cannot be done."""
    known, words = speller(table), form.split()
    if len(words) == 1 and len(form) <= _SHORTEST:
        return None
    found = [word if word in known.words else known.correct(word) or word for word in words]
    return " ".join(found) if found != words else None


def misspelt(text: str, table: Catalogue) -> str | None:
    """`corrected` for any text."""
    return corrected(key(text), table)
