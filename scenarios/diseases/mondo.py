"""The diseases of MONDO: which names mean one disease, and which disease is a kind of which.

The table `data/mondo.tsv.gz` is made by `scripts/write_mondo.py` from MONDO (CC BY 4.0, Monarch Initiative).
"""

import gzip
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Literal

from rapidfuzz.distance import OSA

from wardround.engine.text import regex
from wardround.scenarios.diseases.disease import DEGREES, KINDS, LITTLE, expanded, join_prefixes, opposed
from wardround.scenarios.terms.table_cache import cached_table
from wardround.scenarios.terms.wording import lexicon, list_words, plain, root, tokens

ROOT = "MONDO:0700096"
"""The concept 'human disease'. Concepts outside it are diseases of animals or properties."""

WIDEST = 400
"""A disease with more kinds than this, such as 'infection', is too wide to be a diagnosis."""

_BRACKET = regex(r"\s*[(\[][^()\[\]]*[)\]]")
_ALONG = regex(r"(?i)\s+\b(?:with(?!out)|due to|secondary to|caused by|associated with|complicated by|presenting)\b")
_ADDING_NOTHING = regex(
    r"(?i)\b(?:atypical|typical|classical?|extensive|massive|incidental|active|florid|fulminant|novel|rare|presumed|suspected"
    r"|probable|biopsy-proven|confirmed|worsening|relapsed|refractory)\s+(?=\w)"
)
_CODED = regex(r"\b([A-Z]{2,7})[- ](?=[1-9IVX])(?:(\d{1,3})|([IVX]{1,4}))([A-Za-z]?)(?![\w-])")
"""An abbreviation with its number after a space or hyphen: 'HMSN IB'."""
_TYPE = regex(r"(?i)\btype ([ivx]{1,4})([a-h]?)\b")
_WRITTEN = tuple(
    (regex(pattern), written)
    for pattern, written in (
        (r"(?i)\b(?:x|sex)(?:[- ]chromosome)?[- ]linked\b", "xlinked"),
        (r"(?i)\b(trisomy|monosomy)(?= [\dX]+\b[^,;]*\bmosaicism\b)", r"mosaic \1"),
        (r"(?i)\bmosaicism\b", "mosaic"),
        (r"(?i)(?<=[pq]\d)([\d.-]*\s+)(?:micro-?deletion|monosomy|deletion)\b", r"\1deletion"),
        (r"(?i)(?<=[pq]\d)([\d.-]*\s+)(?:micro-?duplication|duplication)\b", r"\1duplication"),
        (r"(?i)\bco-?enzyme a\b", "CoA"),
    )
)
_GROUP = regex(r"(?i)\b(\w+) (?:and|or) \1-(?:related|like)\b")
_SLASHED = regex(r"(?i)[a-z]{4}/[a-z]{4}")
MOST_SLASHED = 8
"""Most words of a label with a slash that is still looked for in a text."""
_JOINING = frozenset(("and", "with", "related", "associated", "subtype", "formerly"))
"""Words that join the parts of a name; its form leaves them out, so that 'X with Y' and 'Y-related X' are alike."""
_ARABIC = {
    "i": "1",
    "ii": "2",
    "iii": "3",
    "iv": "4",
    "v": "5",
    "vi": "6",
    "vii": "7",
    "viii": "8",
    "ix": "9",
    "x": "10",
}

_INHERITANCE = "autosomal dominant recessive xlinked hereditary familial inherited axonal demyelinating complementation"
_LONG, _LONGER = 6, 10
"""Letters of the shortest word in which one other letter is a typing error, and of the shortest in which two are."""

Kinship = Literal["same", "wider", "narrower", "apart"]
"""The relation of one disease to another: 'wider' if it contains the other, 'apart' if neither contains the other."""


@dataclass(frozen=True)
class Mondo:
    """The table of MONDO, in which a disease is its number.

    `named` maps the form of a name to the diseases that it may mean. `parents` maps a disease to the next wider ones.
    `slashed` lists the labels that have a slash between two words.
    """

    named: Mapping[str, tuple[int, ...]]
    parents: Mapping[int, tuple[int, ...]]
    slashed: tuple[str, ...]

    @cached_property
    def kinds(self) -> Mapping[int, int]:
        """How many narrower diseases each disease has; counted at the first use, since few answers need it."""
        kinds: dict[int, int] = {}
        for place in self.parents:
            for wider in _above(place, self.parents):
                kinds[wider] = kinds.get(wider, 0) + 1
        return kinds


@lru_cache(maxsize=65536)
def form(name: str) -> str:
    """The roots of a name's words in alphabetical order, without degree, 'disease', little and joining words."""
    bare = _BRACKET.sub(" ", name) if plain(_BRACKET.sub(" ", name)) else name
    bare = _TYPE.sub(lambda match: f"type {_number(match[1])}{match[2].lower()}", _CODED.sub(_coded, bare))
    for pattern, written in _WRITTEN:
        bare = pattern.sub(written, bare)
    words = tokens(join_prefixes(expanded(bare)))
    kept = [word for word in words if word not in LITTLE and word not in KINDS and word not in DEGREES]
    kept = [word for word in kept if word not in _JOINING] or kept
    return " ".join(sorted({_ARABIC.get(word, root(word)) for word in kept or words}))


def _coded(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2] or _number(match[3])}{match[4]}"


def _number(roman: str) -> str:
    return _ARABIC.get(roman.lower(), roman)


@lru_cache(maxsize=1)
def mondo() -> Mondo:
    """The table, from the cache; to read its source takes a fifth of a second."""
    return cached_table("mondo", Mondo, _read_mondo)


def _read_mondo() -> Mondo:
    named: dict[str, tuple[int, ...]] = {}
    parents: dict[int, tuple[int, ...]] = {}
    slashed: list[str] = []
    text = gzip.decompress(files("wardround.scenarios.terms").joinpath("data", "mondo.tsv.gz").read_bytes()).decode()
    for line in text.splitlines():
        number, wider, label, forms = line.split("\t")
        place = int(number)
        if _SLASHED.search(label) and len(label.split()) <= MOST_SLASHED:
            slashed.append(label)
        parents[place] = tuple(map(int, wider.split("|"))) if wider else ()
        for one in forms.split("|")[_GROUP.search(label) is not None :]:  # 'Marfan and Marfan-related' is not Marfan
            named[one] = (*named.get(one, ()), place)
    return Mondo(named, parents, tuple(slashed))


@lru_cache(maxsize=16384)
def principal_part(name: str) -> str:
    """A name without what accompanies the disease, what causes it, and words that add nothing."""
    head = _ALONG.split(name)[0].strip(" ,")
    return _ADDING_NOTHING.sub("", head) if plain(head) else name


@lru_cache(maxsize=16384)
def diseases_named(name: str) -> Sequence[int]:
    """The diseases that a name may mean: all that have it, apart from typing errors, as label or synonym.

    Words of inheritance may be missing if a number tells the type: 'optic atrophy 2' is 'X-linked optic atrophy 2'.
    """
    words = form(name)
    for one in (words, _corrected(words)):
        if places := mondo().named.get(one) or _numbered_alike(one):
            return places
    return ()


def _numbered_alike(words: str) -> Sequence[int]:
    """The only disease with the same words and number, if one of the two names only adds words of inheritance."""
    bare, own = _inherited(words)
    numbered = _numbered().get(bare, frozenset()) if bare else frozenset[tuple[int, frozenset[str]]]()
    if len({place for place, _ in numbered}) != 1:
        return ()
    return tuple({place for place, added in numbered if added <= own or own <= added})


@lru_cache(maxsize=1)
def _numbered() -> Mapping[str, frozenset[tuple[int, frozenset[str]]]]:
    """Form with a number, without words of inheritance -> (disease, the words of inheritance left out) of each."""
    numbered: dict[str, set[tuple[int, frozenset[str]]]] = {}
    for one, places in mondo().named.items():
        bare, words = _inherited(one)
        if bare:
            numbered.setdefault(bare, set()).update((place, words) for place in places)
    return {bare: frozenset(places) for bare, places in numbered.items()}


def _inherited(words: str) -> tuple[str, frozenset[str]]:
    """(a form without its words of inheritance, these words); the form is '' if it has no number or only one word."""
    kept = [word for word in words.split() if word not in _inheritance()]
    bare = " ".join(kept) if len(kept) > 1 and any(word[0].isdigit() for word in kept) else ""
    return bare, frozenset(words.split()) - frozenset(kept)


@lru_cache(maxsize=1)
def _inheritance() -> frozenset[str]:
    return frozenset(map(root, list_words(_INHERITANCE)))


@lru_cache(maxsize=4096)
def _corrected(words: str) -> str:
    """A form in which each long word that MONDO lacks is replaced by the only word of MONDO that is spelt almost so."""
    return " ".join(sorted(map(_nearest, words.split())))


@lru_cache(maxsize=1)
def _words() -> Mapping[tuple[str, int], tuple[str, ...]]:
    """The words of all names by their first letter and their length."""
    words: dict[tuple[str, int], list[str]] = {}
    for word in sorted({word for one in mondo().named for word in one.split()}):
        words.setdefault((word[0], len(word)), []).append(word)
    return {key: tuple(alike) for key, alike in words.items()}


@lru_cache(maxsize=16384)
def _nearest(word: str) -> str:
    """The only word of MONDO with one other letter (two from ten letters on) and the same first letter; else `word`."""
    size = len(word)
    if size < _LONG or not word.isalpha() or word in lexicon() or word in _words().get((word[0], size), ()):
        return word
    most = 2 if size >= _LONGER else 1
    listed = [
        one for other in range(max(_LONG, size - most), size + most + 1) for one in _words().get((word[0], other), ())
    ]
    near = [one for one in listed if OSA.distance(word, one, score_cutoff=most) <= most and not opposed(word, one)]
    return near[0] if len(near) == 1 else word


_NAME = regex(r"[\w ,'’/.–-]{3,200}")
_CHOICE = regex(r"(?i)(?:\b(?:or|vs|versus|not|no|without|if)\b|\?)")


def one_name(text: str) -> Sequence[int]:
    """The diseases that a text as a whole names; () if it leaves something open or has marks that no name has."""
    bare = text.strip(" .")
    return () if not _NAME.fullmatch(bare) or _CHOICE.search(bare) or twofold(bare) else diseases_named(bare)


def twofold(text: str) -> bool:
    """Whether a text ends with a word that it has already: 'leprosy with lepromatous leprosy' is two names."""
    *before, last = tokens(text) or ("",)
    return last in before


def slashed_labels() -> Sequence[str]:
    """Names of one disease with a slash inside: 'chronic lymphocytic leukemia/small lymphocytic lymphoma'."""
    return mondo().slashed


def kinship(one: str, other: str) -> Kinship | None:
    """The relation of the disease `one` to `other`; None if MONDO does not have both names.

    ::

        kinship("meningitis", "bacterial meningitis")  # 'wider'
    """
    ours, theirs = diseases_named(one), diseases_named(other)
    if not ours or not theirs:
        return None
    if set(ours) & set(theirs):
        return "same"
    table = mondo()
    if any(mine in _wider(yours) and table.kinds.get(mine, 0) <= WIDEST for mine in ours for yours in theirs):
        return "wider"
    if any(yours in _wider(mine) for mine in ours for yours in theirs):
        return "narrower"
    return "apart"


@lru_cache(maxsize=16384)
def _wider(place: int) -> frozenset[int]:
    return _above(place, mondo().parents)


def _above(place: int, parents: Mapping[int, tuple[int, ...]]) -> frozenset[int]:
    """All diseases that are wider than this one."""
    above: set[int] = set()
    todo = [place]
    while todo:
        for wider in parents.get(todo.pop(), ()):
            if wider not in above:
                above.add(wider)
                todo.append(wider)
    return frozenset(above)


def lineage(name: str) -> frozenset[int]:
    """The diseases that a name or its principal part may mean, and all wider diseases."""
    meant = {*diseases_named(name), *diseases_named(principal_part(name))}
    return frozenset(meant).union(*map(_wider, meant))


def parents_named(name: str) -> frozenset[int]:
    """The next wider diseases of those that a name may mean."""
    return frozenset(wider for place in diseases_named(name) for wider in mondo().parents[place])
