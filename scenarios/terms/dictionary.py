"""The names of all concepts in comparable forms: exact, in any order, without little words; and abbreviations."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from wardround.scenarios.terms.comparable import DEGREES, LITTLE, ORDINARY, core_form, ordered_form
from wardround.scenarios.terms.disease import opposed
from wardround.scenarios.terms.icd import SHORT
from wardround.scenarios.terms.knowledge import OWN, Knowledge
from wardround.scenarios.terms.wording import key

WRONG_START = 90.0
"""Least likeness of a word whose first letter differs (otosalpingitis is no salpingitis), 0 to 100."""


@dataclass(frozen=True)
class Dictionary:
    """Forms to the places of concepts, the best rank first. A rank is 0 to 3: own names, own synonyms, names, others.

    `known` are all words of all names: a known word is no misspelling of another.
    """

    forms: dict[str, tuple[int, ...]] = field(default_factory=dict)
    sorted: dict[str, tuple[int, ...]] = field(default_factory=dict)
    cores: dict[str, tuple[int, ...]] = field(default_factory=dict)
    short: dict[str, tuple[int, ...]] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    lengths: dict[str, tuple[int, ...]] = field(default_factory=dict)


def dictionary(held: Knowledge) -> Dictionary:
    """The dictionary of a knowledge."""
    forms: dict[str, dict[int, int]] = {}
    short: dict[str, dict[int, int]] = {}
    for place, concept in enumerate(held.concepts):
        base = 0 if held.ranks[place] == OWN else 2
        for number, name in enumerate(concept.names):
            rank = base + (number > 0)
            table = short if SHORT.match(name) and sum(map(str.isupper, name)) > len(name) / 2 else forms
            form = name if table is short else key(name)
            if form and form not in ORDINARY:
                table.setdefault(form, {}).setdefault(place, rank)
        for name in concept.abbreviations:
            short.setdefault(name, {}).setdefault(place, base)
    ordered: dict[str, dict[int, int]] = {}
    cores: dict[str, dict[int, int]] = {}
    for form, places in forms.items():
        words = form.split()
        for table, made in ((ordered, ordered_form(words)), (cores, core_form(words))):
            if made:
                held_at = table.setdefault(made, {})
                for place, rank in places.items():
                    held_at[place] = min(rank, held_at.get(place, rank))
    lengths: dict[str, set[int]] = {}
    for form in forms:
        words = form.split()
        lengths.setdefault(words[0], set()).add(len(words))
    return Dictionary(
        _ranked(forms),
        _ranked(ordered),
        _ranked(cores),
        _ranked(short),
        frozenset(word for form in forms for word in form.split()),
        {word: tuple(sorted(sizes, reverse=True)) for word, sizes in lengths.items()},
    )


def _ranked(table: dict[str, dict[int, int]]) -> dict[str, tuple[int, ...]]:
    """Only the places of the best rank stay: a name is not made ambiguous by somebody's loose synonym."""
    found = {}
    for form, places in table.items():
        best = min(places.values())
        found[form] = tuple(place for place, rank in places.items() if rank == best)
    return found


def alike(said: Sequence[str], form: Sequence[str], known: frozenset[str], close: float) -> bool:
    """Whether `said` is `form` misspelt: every word that differs is unknown, and near one that is left over.

    Numbers and types must be the same, a prefix must not be opposed (hyper-, hypo-). `close` is the least likeness of
    two words, 0 to 100; one slip (a letter lost, doubled, changed, or two swapped) is always near enough.
    """
    extra = [word for word in said if word not in form]
    missing = [word for word in form if word not in said]
    for word in extra:
        if word in LITTLE or word in DEGREES:
            continue
        best = max(missing, key=lambda other: fuzz.ratio(word, other), default="")
        if not best or word in known or not _misspelt(word, best, close):
            return False
        missing.remove(best)
    return all(word in LITTLE or word in DEGREES for word in missing)


def _misspelt(word: str, meant: str, close: float) -> bool:
    if any(map(str.isdigit, word)) or len(word) < 3 or len(meant) < 4 or opposed(word, meant):
        return False
    if OSA.distance(word, meant, score_cutoff=1) <= 1:
        return True
    return len(word) > 3 and fuzz.ratio(word, meant) >= (close if meant[0] == word[0] else WRONG_START)
