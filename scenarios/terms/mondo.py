"""The diseases of MONDO: which names mean one disease, and which disease is a kind of which.

The table `data/mondo.tsv.gz` is made by `scripts/write_mondo.py` from MONDO (CC BY 4.0, Monarch Initiative).
"""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from wardround.engine.text import later
from wardround.scenarios.terms.disease import DEGREES, KINDS, LITTLE, expanded, join_prefixes
from wardround.scenarios.terms.wording import plain, root, tokens

ROOT = "MONDO:0700096"
"""Human disease; what lies outside is a disease of animals or a property."""

WIDEST = 400
"""Most kinds of a disease that still names one: a name with more, such as 'infection', is no diagnosis."""

_BRACKET = later(r"\s*[(\[][^()\[\]]*[)\]]")
_ALONG = later(r"(?i)\s+\b(?:with(?!out)|due to|secondary to|caused by|associated with|complicated by|presenting)\b")
_ADDING_NOTHING = later(
    r"(?i)\b(?:atypical|typical|classical?|extensive|massive|incidental|active|florid|fulminant|novel|rare|presumed|suspected"
    r"|probable|biopsy-proven|confirmed|worsening|relapsed|refractory)\s+(?=\w)"
)
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8"}

Kinship = Literal["same", "wider", "narrower", "apart"]
"""The relation of one disease to another: 'wider' if it contains the other, 'apart' if neither contains the other."""


@dataclass(frozen=True, slots=True)
class Mondo:
    """`named` maps the form of a name to the numbers of the diseases that it may mean.

    `parents` maps a number to the next wider diseases, `kinds` to how many narrower ones there are.
    """

    named: Mapping[str, tuple[int, ...]]
    parents: Mapping[int, tuple[int, ...]]
    kinds: Mapping[int, int]


@lru_cache(maxsize=65536)
def form(name: str) -> str:
    """The roots of a name's words in alphabetical order, without degree, 'disease' and little words."""
    words = tokens(join_prefixes(expanded(_BRACKET.sub(" ", name) if plain(_BRACKET.sub(" ", name)) else name)))
    kept = [word for word in words if word not in LITTLE and word not in KINDS and word not in DEGREES]
    return " ".join(sorted({_ROMAN.get(word, root(word)) for word in kept or words}))


@lru_cache(maxsize=1)
def mondo() -> Mondo:
    """The table; reading it takes a fifth of a second."""
    named: dict[str, tuple[int, ...]] = {}
    parents: dict[int, tuple[int, ...]] = {}
    text = gzip.decompress(files(__package__).joinpath("data", "mondo.tsv.gz").read_bytes()).decode()
    for line in text.splitlines():
        number, wider, _, forms = line.split("\t")
        place = int(number)
        parents[place] = tuple(map(int, wider.split("|"))) if wider else ()
        for one in forms.split("|"):
            named[one] = (*named.get(one, ()), place)
    kinds: dict[int, int] = {}
    for place in parents:
        for wider_one in _above(place, parents):
            kinds[wider_one] = kinds.get(wider_one, 0) + 1
    return Mondo(named, parents, kinds)


def principal_part(name: str) -> str:
    """A name without what goes along with the disease, what it is due to, and words that add nothing."""
    head = _ALONG.split(name)[0].strip(" ,")
    return _ADDING_NOTHING.sub("", head) if plain(head) else name


def diseases_named(name: str) -> Sequence[int]:
    """The diseases that a name may mean: all that have it as label or synonym."""
    return mondo().named.get(form(name), ())


def kinship(one: str, other: str) -> Kinship | None:
    """The relation of the disease `one` to `other`; None if MONDO does not have both names."""
    ours, theirs = diseases_named(one), diseases_named(other)
    if not ours or not theirs:
        return None
    if set(ours) & set(theirs):
        return "same"
    table = mondo()
    if any(
        mine in _above(yours, table.parents) and table.kinds.get(mine, 0) <= WIDEST for mine in ours for yours in theirs
    ):
        return "wider"
    if any(yours in _above(mine, table.parents) for mine in ours for yours in theirs):
        return "narrower"
    return "apart"


def _above(place: int, parents: Mapping[int, tuple[int, ...]]) -> frozenset[int]:
    """All wider diseases."""
    above: set[int] = set()
    todo = [place]
    while todo:
        for wider in parents.get(todo.pop(), ()):
            if wider not in above:
                above.add(wider)
                todo.append(wider)
    return frozenset(above)


def lineage(name: str) -> frozenset[int]:
    """The diseases that a name or its principal part may mean, and all that are wider."""
    meant = {*diseases_named(name), *diseases_named(principal_part(name))}
    return frozenset(meant).union(*(_above(place, mondo().parents) for place in meant))
