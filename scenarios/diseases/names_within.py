"""Finds the complete names of diseases within a phrase, and tells whether they are related or siblings."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.diseases.contradiction import kinds, organism
from wardround.scenarios.diseases.disease import DEGREES, GROWTH, KINDS, LITTLE
from wardround.scenarios.diseases.disease_heads import disease_like, heads_disease, known_names
from wardround.scenarios.diseases.disease_name import is_site
from wardround.scenarios.diseases.mondo import diseases_named, form, kinship, lineage, mondo, parents_named
from wardround.scenarios.terms.wording import RootWords, key, root, table_rows, tokens, vocabulary

ANY = "*"
"""Stands for any disease in the table of complications: sepsis, shock, anaemia and the like complicate many."""
LONGEST_NAME = 7
"""Most words of a name that is looked for within a phrase."""
MOST_WORDS = 60
"""Most words of a phrase that are looked at."""
_SHORTEST = 4
"""Number of letters in the shortest word that is a name by itself; abbreviations may be shorter."""
_ADJECTIVE = regex(r"(?:ic|al|ous|ive|oid|ed|ing|ary|ar)$")
_WORD = regex(r"[^\W_²³¹⁰-₟]+(?:['’][^\W_²³¹⁰-₟]+)*")


class NameWithin(msgspec.Struct, frozen=True):
    """A complete name within a phrase, with the positions where it begins and ends."""

    name: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def names_within(phrase: str) -> tuple[NameWithin, ...]:
    """The longest complete names of diseases in a phrase, in order; none overlaps another.

    A name is complete if the project's tables or MONDO have it. A phrase that is one name as a whole has no other.

    >>> [one.name for one in names_within("Pneumonia per Hodgkin lymphoma")]
    ['Pneumonia', 'Hodgkin lymphoma']
    >>> [one.name for one in names_within("tuberculous meningitis")]
    ['tuberculous meningitis']
    """
    words = list(_WORD.finditer(phrase))[:MOST_WORDS]
    if not words:
        return ()
    if len(words) == 1 or key(phrase) in known_names() or diseases_named(phrase):
        return (NameWithin(phrase, 0, len(phrase)),)
    named: list[NameWithin] = []
    place = 0
    while place < len(words):
        start = words[place].start()
        for last in range(min(len(words), place + LONGEST_NAME) - 1, place - 1, -1):
            name = phrase[start : words[last].end()]
            if _complete(name):
                named.append(NameWithin(name, start, words[last].end()))
                place = last
                break
        place += 1
    return tuple(named)


@lru_cache(maxsize=65536)
def _complete(name: str) -> bool:
    """Whether the tables have a name and its own words name a disease: 'lung' alone is no lung disease."""
    words = tokens(name)
    if name in vocabulary().abbreviations:
        return True
    if not words or words[0] in LITTLE or words[-1] in LITTLE or (len(words) == 1 and len(words[0]) < _SHORTEST):
        return False
    if key(name) in known_names():
        return True
    if organism(name) or (len(words) == 1 and _living(name)):
        return False
    kept = {root(word) for word in words if word not in LITTLE and word not in KINDS and word not in DEGREES}
    named = bool(kept) and " ".join(sorted(kept)) in mondo().named
    return named and disease_like(name) and not _ADJECTIVE.search(words[-1])


def _living(word: str) -> bool:
    """Whether a word names an organism, and no disease by its ending: 'Legionella', but not 'tuberculosis'."""
    return "organism" in kinds([root(one) for one in tokens(word)]) and not heads_disease(word)


@lru_cache(maxsize=4096)
def unrelated_names(phrase: str) -> tuple[Sequence[NameWithin], ...]:
    """The names in a phrase, in groups. The tables relate the names of one group, and not those of different groups."""
    groups: list[list[NameWithin]] = []
    for one in names_within(phrase):
        group = next((group for group in groups if any(_related(one.name, other.name) for other in group)), None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return tuple(groups)


@lru_cache(maxsize=4096)
def kinds_within(phrase: str) -> tuple[str, ...]:
    """The sibling diseases that share the head noun of a phrase, the one that is complete in it first; () if one only.

    Siblings are diseases that MONDO keeps apart below the same next wider disease. Names of growths have no siblings,
    since 'calcifying' and 'cystic' may both describe one tumour. Nor have names such as 'infection', since 'fungal' and
    'nail' tell different things.

    >>> kinds_within("bacterial viral meningitis")
    ('viral meningitis', 'bacterial meningitis')
    >>> kinds_within("severe bacterial meningitis")
    ()
    """
    names = [one for one in names_within(phrase) if " " in one.name or not _ADJECTIVE.search(one.name)]
    if len(names) != 1 or names[0].name == phrase:
        return ()
    whole = names[0]
    tail = [match[0] for match in _WORD.finditer(whole.name)]
    nouns = [root(word.lower()) for word in tail]
    if any(noun in _WIDE or GROWTH.search(noun) for noun in nouns):
        return ()
    placed = None if _TYPED.search(phrase, whole.end) else _PLACING.search(phrase, whole.end)
    end = placed.start() if placed else len(phrase)
    words = [
        match[0] if match.start() < whole.start or whole.end <= match.start() < end else ""
        for match in list(_WORD.finditer(phrase))[:MOST_WORDS]
    ]
    siblings: list[str] = []
    for place, word in enumerate(words):
        name = next((one for one in _siblings(words[place : place + 2], tail) if _complete(one)), None)
        if word and name is not None and all(_siblings_of_one(name, other) for other in siblings):
            siblings.append(name)
    if any(_akin(whole.name, one) for one in siblings):
        last = [one for one in siblings if f"{one.split()[0].lower()}-like" in phrase.lower()]
        return (*(one for one in reversed(siblings) if one not in last), *last) if len(siblings) > 1 else ()
    siblings = [one for one in siblings if _siblings_of_one(whole.name, one)]
    return (whole.name, *siblings) if siblings else ()


def _siblings_of_one(one: str, other: str) -> bool:
    """Whether MONDO keeps two diseases apart, below the same next wider disease."""
    return kinship(one, other) == "apart" and not parents_named(one).isdisjoint(parents_named(other))


def _siblings(words: Sequence[str], tail: Sequence[str]) -> Iterator[str]:
    """The names that one or two words beside a disease make with its last words, in place of its own first words.

    A site can take the place only of another site or of a single first word: 'lung' is no rival of 'squamous cell'.
    """
    first, *others = words
    if first and others and _tells_kind(first) and _tells_kind(others[0]):
        yield from (" ".join((first, others[0], *tail[place:])) for place in range(min(1, len(tail) - 1), len(tail)))
    if not _tells_kind(first) or first.lower() == "cell":
        return
    start, end = min(1, len(tail) - 1), len(tail)
    if is_site(root(first.lower())):
        end = end if is_site(root(tail[0].lower())) else 2 if len(tail) > 2 else 0
    yield from (" ".join((first, *tail[place:])) for place in range(start, end))


_TYPED = regex(r"(?i)\b(?:types?|forms?|kinds?|variet(?:y|ies)|variant|subtype|features|pattern|picture)\b")
"""Words after a name that make the words before them a kind of it: 'meningitis, viral type'."""
_PLACING = regex(r"(?i)\b(?:of|in|on|at|with|due|from|by|to|for|after|within|\w{3,}ing|\w{3,}ed)\b")
"""A word after a name with which its site, its cause or what accompanies it begins."""
_WIDE = RootWords("disease disorder condition infection lesion abnormality malformation injury failure neuropathy")
_OF_ANY = RootWords(
    """acute chronic subacute fulminant primary secondary metastatic invasive disseminated generalized localized diffuse
    focal malignant benign congenital acquired hereditary familial sporadic neonatal infantile juvenile adult senile
    idiopathic spontaneous active early late
    grade stage low high type form kind variant variety subtype features pattern picture"""
)
"""Words that many names have; with one of them a name is no sibling."""


def _tells_kind(word: str) -> bool:
    """Whether a word may tell a kind of a disease: it is no word of degree, course, age or side."""
    plain_word = word.lower()
    if plain_word in LITTLE or plain_word in DEGREES or plain_word in KINDS:
        return False
    return bool(word) and root(plain_word) not in _OF_ANY


def _akin(one: str, other: str) -> bool:
    """Whether two names are one disease, or a disease and its kind."""
    ours, theirs = set(form(one).split()), set(form(other).split())
    return ours <= theirs or theirs <= ours or kinship(one, other) in ("same", "wider", "narrower")


def _related(one: str, other: str) -> bool:
    """Whether two names are one disease, a disease and its kind, or a disease and its complication.

    Only quick tables are asked, since an answer must be read without loading the classifications.
    """
    return _akin(one, other) or _complicates(one, other) or _complicates(other, one)


def _complicates(one: str, other: str) -> bool:
    """Whether the table has `one` itself as a complication of `other`, of a wider disease, or of any disease."""
    diseases = _complicated().get(form(one), ())
    return any(disease == ANY or not lineage(other).isdisjoint(diseases_named(disease)) for disease in diseases)


@lru_cache(maxsize=1)
def _complicated() -> Mapping[str, tuple[str, ...]]:
    """Form of a complication's name -> the diseases that it complicates by the table."""
    diseases: dict[str, tuple[str, ...]] = {}
    for row in table_rows("complications.csv"):
        for name in row["complications"].split("|"):
            diseases[form(name)] = (*diseases.get(form(name), ()), *row["disease"].split("|"))
    return diseases
