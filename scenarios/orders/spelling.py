"""Corrects the spelling of a name against the words of a table: one mistake, or two in long words."""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from wardround.engine.text import regex
from wardround.scenarios.orders.catalogue import Catalogue
from wardround.scenarios.orders.joined_names import order_roles
from wardround.scenarios.terms.wording import lexicon, tokens

FUZZY = 90.0
"""Least rapidfuzz ratio (0 to 100) of a fuzzy match: the 0.9 of MultiCogEval, A.3."""

_SHORTEST = 4
_LONG = 9
"""Fewest letters of a word that is corrected by one mistake (at four letters only a missing one), and by two."""

_DOUBLED = regex(r"(.)\1+")
_OPPOSED_PREFIXES = (("hyper", "hypo"), ("intra", "extra"), ("intra", "inter"), ("pre", "post"), ("macro", "micro"))


class Speller:
    """Knows the words of a table in their comparable form; corrects one mistake, or two in long words."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = frozenset(words)
        self._near: dict[str, list[str]] = {}
        self._single: dict[str, list[str]] = {}
        for word in sorted(self.words):
            if len(word) >= _SHORTEST and word.isalpha():
                self._single.setdefault(_DOUBLED.sub(r"\1", word), []).append(word)
                for form in _forms(word):
                    self._near.setdefault(form, []).append(word)

    def correct(self, word: str) -> str | None:
        """The only known word at one mistake (two, from nine letters on); None if there is none or more than one.

        A mistake is an extra, missing or wrong letter, or two in the wrong order; letters doubled in the wrong place
        are none ('ferittin'). The first letter must be right, the word may contain no digit, and a prefix never turns
        into its opposite.
        """
        if len(word) < _SHORTEST or not word.isalpha():
            return None
        most = 2 if len(word) >= _LONG else 1
        near = {known for form in _forms(word) for known in self._near.get(form, ())}
        distances = [(OSA.distance(word, known, score_cutoff=most), known) for known in near if known[0] == word[0]]
        close = sorted(
            (far, known)
            for far, known in distances
            if far <= most and not _opposed(word, known) and (len(word) > _SHORTEST or len(known) > len(word))
        )
        if close and (len(close) == 1 or close[0][0] < close[1][0]):
            return close[0][1]
        alike = self._single.get(_DOUBLED.sub(r"\1", word), []) if len(word) > _SHORTEST else []
        return alike[0] if len(alike) == 1 else None


def _forms(word: str) -> set[str]:
    """The word with up to one letter left out, or up to two from eight letters on.

    Two words can be that few mistakes apart only if their sets overlap.
    """
    once = {word[:place] + word[place + 1 :] for place in range(1, len(word))}
    if len(word) < _LONG - 1:
        return {word} | once
    return {word} | once | {form[:place] + form[place + 1 :] for form in once for place in range(1, len(form))}


def _opposed(one: str, other: str) -> bool:
    return any(
        (one.startswith(a) and other.startswith(b)) or (one.startswith(b) and other.startswith(a))
        for a, b in _OPPOSED_PREFIXES
    )


@lru_cache(maxsize=8)
def speller(table: Catalogue) -> Speller:
    """The speller of a table's names, modalities and regions."""
    names = list(table.names)
    names += [phrase for word in (*table.modalities.values(), *table.regions.values()) for phrase in word.phrases]
    return Speller(part for name in names for part in name.split())


_LONG_WORD = regex(r"(?<![\w.'/-])[A-Za-z][a-z]{5,}(?![\w'/-])")
_TITLED = regex(r"(?i)\b(?:mr|mrs|ms|miss|dr|prof|sister|nurse)\.?\s$")
"""What stands before a person's name, which is no misspelt word."""


@lru_cache(maxsize=8)
def _speller_of_words(table: Catalogue) -> Speller:
    """The speller of the words of names as they are written."""
    names = (name for test in table.tests.values() for name in (test.name, *test.synonyms))
    return Speller(word.lower() for name in names for word in _LONG_WORD.findall(name))


def misspelt(text: str, table: Catalogue) -> list[tuple[int, int, str]]:
    """(start, end, correct word) of each misspelt word of six letters or more.

    Such a word is in no table, follows no title of a person, and is near a word of a test's name.
    """
    found = []
    for match in _LONG_WORD.finditer(text):
        form = " ".join(tokens(match[0]))
        if form in speller(table).words or form in lexicon() or match[0].lower() in _ordering_words():
            continue
        right = _speller_of_words(table).correct(match[0].lower())
        if right and not _TITLED.search(text[: match.start()]):
            found.append((match.start(), match.end(), right))
    return found


@cache
def _ordering_words() -> frozenset[str]:
    return frozenset().union(*order_roles().values())


@lru_cache(maxsize=16384)
def corrected(form: str, table: Catalogue) -> str | None:
    """A comparable form with its misspelt words corrected; None if nothing needs or allows correction."""
    known, words = speller(table), form.split()
    if len(words) == 1 and len(form) <= _SHORTEST:
        return None
    right = [word if word in known.words else known.correct(word) or word for word in words]
    return " ".join(right) if right != words else None


def near(form: str, table: Catalogue) -> tuple[str, float] | None:
    """`closest` among all names of the table.

    `same_spelling` accepts only forms with as many words and the same first letter, or equal without spaces (which the
    exact stage finds). So comparing the names of that block gives the same result as comparing all.
    """
    return closest(form, table.blocks.get((form[0], form.count(" ") + 1), ())) if form else None


def closest(form: str, choices: Sequence[str]) -> tuple[str, float] | None:
    """The choice most like `form` with its ratio (90 to 100), the first on ties; short words and numbers must agree."""
    if len(form) < 5:
        return None
    hits = process.extract(form, choices, scorer=fuzz.ratio, score_cutoff=FUZZY, limit=8)
    for choice, score, _ in sorted(hits, key=lambda hit: (-hit[1], hit[2])):
        if same_spelling(form, choice):
            return choice, score
    return None


def same_spelling(one: str, other: str) -> bool:
    """Whether two comparable forms differ by spelling alone.

    Each word must match its counterpart: words with digits and words of up to four letters exactly (HIV and HCV, IgM
    and IgG, T3 and T4), longer ones with a few different letters and no opposed prefix.
    """
    if one.replace(" ", "") == other.replace(" ", ""):
        return True
    ours, theirs = one.split(), other.split()
    return len(ours) == len(theirs) and all(_same(a, b) for a, b in zip(ours, theirs, strict=True))


def _same(a: str, b: str) -> bool:
    if a == b:
        return True
    if min(len(a), len(b)) <= 4 or any(mark.isdigit() for mark in a + b):
        return False
    return not _opposed(a, b) and a[0] == b[0] and fuzz.ratio(a, b) >= 80
