"""Whether two names mean one disease, and what one disease is to another where they do not."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from wardround.scenarios.terms.complications import ANY, complications
from wardround.scenarios.terms.graph import graph
from wardround.scenarios.terms.lexical import linker
from wardround.scenarios.terms.likeness import abbreviated, paired, spelled
from wardround.scenarios.terms.name import GENERIC_WEIGHT, HEADLESS, SITE_WEIGHT, Name, named, telling, weight
from wardround.scenarios.terms.opposition import ORGANISM, against, beside_others, caused, core, kinds, listed, shown
from wardround.scenarios.terms.phrasing import called
from wardround.scenarios.terms.vocabulary import vocabulary
from wardround.scenarios.terms.wording import key

Kinship = Literal["same", "ancestor", "descendant", "complication"]
"""What one disease is to another: 'ancestor' is the wider one, 'descendant' a kind of it."""

MOST = 600
"""Characters of a name that are compared: no disease has a longer one."""

ENOUGH = 0.66
"""Least weighted share of the words of the truth's head that must be said, where nothing stands in their place."""

LONG, ENOUGH_LONG = 2.5, 0.5
"""Weight above which a name is long, and the share of it that is enough: it lists sites, stages and findings."""

ENOUGH_BESIDE = 0.7
"""The same where words of another kind are new: a site, an organism."""

SPECIFIC = 2.0
"""Weight of the truth's words above which a qualifier ('primary', 'congenital') may be left out beside new words."""

_SIDE = re.compile(r"(?i)\b(?:left|right|bilateral)(?:-sided)?\b")
_BRACKET = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")
_SLASH = re.compile(r"\s*/\s*(?=[A-Za-z][a-z]+\s+[A-Za-z])")
_INFECTION = re.compile(r"(?:ias|mycos|ellos|cocos|plasmos|dios|trichos|spiros|cryptosporidios|tuberculos)$")


@dataclass(frozen=True, slots=True)
class Sameness:
    """Whether two names mean one disease, and what decided it, in plain words.

    `contrary`: not the same because the two name opposites or siblings (another side, type, cause), not because words
    are missing. `opposite`: so by an axis, a type, a stage or a cause, whatever else either of them says.
    """

    same: bool
    reason: str
    contrary: bool = False
    opposite: bool = False


@lru_cache(maxsize=16384)
def same(truth: str, said: str) -> Sameness:
    """Whether `said` means the disease that `truth` names. Pure and deterministic.

    A kind of the truth is the same ('acute appendicitis' for appendicitis), a wider disease is not.
    """
    truth, said = truth[:MOST], said[:MOST]
    if not key(truth) or not key(said):
        return Sameness(False, "a name is empty")
    if key(truth) == key(said):
        return Sameness(True, "the same name")
    if spelled(truth, said):
        return Sameness(True, "the same words but for typing errors")
    if abbreviated(truth, said):
        return Sameness(True, "its abbreviation")
    for short, other in ((said, truth), (truth, said)):
        for name in vocabulary().short.get(short.strip(" ."), ()):
            pair = (name, other) if short is truth else (other, name)
            if key(name) == key(other) or _read(*pair).same:
                return Sameness(True, f"abbreviation: {short.strip()} is {name}")
    found = _read(truth, said)
    if not found.same and (_SIDE.search(truth) or _SIDE.search(said)):
        again = _read(_fronted(truth), _fronted(said))
        return again if again.same else found
    return found


def _fronted(name: str) -> str:
    """A name with its side in front, so that a side within does not hide a name of the table."""
    sides = [match[0] for match in _SIDE.finditer(name)]
    return " ".join((*sides, *_SIDE.sub(" ", name).split()))


def _read(truth: str, said: str) -> Sameness:
    """The verdict on the readings of both; the reason of the first where none fits."""
    first: Sameness | None = None
    for one in readings(truth):
        for other in readings(said):
            apart = against(named(one), named(other))
            if apart and first is None:
                return Sameness(False, apart, contrary=True, opposite=True)
            found = Sameness(False, apart, contrary=True, opposite=True) if apart else _worded(named(one), named(other))
            if found.same:
                return found
            first = first or found
    for wider in _wider(said):
        ours, theirs = named(truth), named(wider)
        told = [word for word, token in ours.head.words.items() if telling(token) and word not in theirs.words]
        if not told and not ours.cause.words and not against(ours, theirs) and _worded(ours, theirs).same:
            return Sameness(True, f"a kind of it by the table: {wider}")
    return first or Sameness(False, "a name is empty")


def _wider(said: str) -> tuple[str, ...]:
    """The wider diseases that the table gives for a name."""
    return _kinds_of().get(frozenset(core(named(said).head.words)), ())


@lru_cache(maxsize=1)
def _kinds_of() -> Mapping[frozenset[str], tuple[str, ...]]:
    return {frozenset(core(named(kind).head.words)): wider for kind, wider in vocabulary().kinds}


def readings(text: str) -> tuple[str, ...]:
    """The ways to read a name: as it stands, and where a bracket or a slash holds another name, each of them."""
    bare = " ".join(_BRACKET.sub(" ", text).split()).strip(" ,.")
    found = [text]
    for match in _BRACKET.finditer(text):
        if bare and (match[1].isupper() or called(match[1])):
            found += [bare, match[1]]
    found += [part for part in _SLASH.split(bare) if part != bare and len(part.split()) > 1]
    return tuple(dict.fromkeys(name for name in found if key(name)))


def _situated(name: Name) -> tuple[frozenset[str], frozenset[str]] | None:
    """(organisms, sites) of a name that tells nothing else: 'candida esophagitis', 'candidiasis of the esophagus'."""
    table = vocabulary()
    agents, sites = set(), set()
    for word in name.head.words.keys() | name.cause.words.keys():
        if word in table.inflamed:
            sites.add(table.inflamed[word])
        elif word in table.sites or word in table.within:
            sites.add(word)
        elif ORGANISM.search(word) or _INFECTION.search(word):
            agents.add(word)
        elif weight(word) > GENERIC_WEIGHT:
            return None
    return (frozenset(agents), frozenset(sites)) if agents and sites else None


@dataclass(frozen=True, slots=True)
class _Difference:
    """Between two heads: `lost` words of the truth, `new` ones of the answer, `told` lost qualifiers; of the truth's
    words the `total` weight and the `share` that is said.
    """

    missing: list[str]
    lost: list[str]
    new: list[str]
    told: list[str]
    total: float
    share: float


def _difference(truth: Name, said: Name) -> _Difference:
    ours, theirs = truth.head.words, said.head.words
    missing, extra = paired(
        [word for word in ours if word not in said.words],
        [word for word in theirs if word not in truth.words],
        {**theirs, **ours},
    )
    own = core(ours)
    lost = [word for word in missing if weight(word) > GENERIC_WEIGHT]
    counted = {word for word in ours if word in own or (ours[word].listed and word not in HEADLESS)} or set(ours)
    total = sum(_worth(truth, word) for word in counted)
    told = [word for word in ours if word not in {*said.words, *lost, *truth.places} and _tells(truth, word)]
    return _Difference(
        missing,
        lost,
        [word for word in extra if weight(word) > GENERIC_WEIGHT],
        told if total <= SPECIFIC else [],
        total,
        1 - sum(_worth(truth, word) for word in missing if word in counted) / total if total else 0.0,
    )


def _tells(name: Name, word: str) -> bool:
    return telling(name.head.words[word]) or word in name.apposed


def _replaced(truth: Name, said: Name, found: _Difference) -> bool:
    """Whether something is said in the place of what is missing: other words, a qualifier, a type, a cause."""
    theirs = said.head.words
    instead = [word for word in found.new if word not in said.asides]
    gone = [word for word in found.lost if word not in truth.asides]
    gone += [word for word in truth.led if word not in said.words]
    added = [word for word in theirs if word not in truth.words and word not in found.new and _tells(said, word)]
    more = bool(said.types - truth.types or said.lacking.words or added)
    if found.told and found.total <= SPECIFIC / 2 and more:
        instead = instead or [word for word in theirs if word not in truth.words]
    if found.told and not instead:
        instead = [word for word in said.led if word not in truth.words]
    less = bool(found.told or truth.lacking.words)
    if not ((gone and (instead or more)) or (less and (instead or said.types - truth.types))):
        return False
    apart = {frozenset(("site",)), frozenset(("organism",))} == {kinds(gone), kinds(instead)}
    if more or found.told:
        return True
    if _particular(truth, said, found, gone, instead):
        return False
    return not apart or found.share < ENOUGH_BESIDE


def _particular(truth: Name, said: Name, found: _Difference, gone: Sequence[str], instead: Sequence[str]) -> bool:
    """Whether the disease itself is said, and a site beside it takes nothing's place: 'skin' for 'decidualized'."""
    distinct = truth.noun in said.words and weight(truth.noun) > SITE_WEIGHT
    return distinct and kinds(instead) == {"site"} and "site" not in kinds(gone) and found.share >= ENOUGH_LONG


def _worded(truth: Name, said: Name) -> Sameness:
    """The verdict by words: what is missing, what is new, and whether something new stands in place of the missing."""
    if truth.form == said.form:
        return Sameness(True, "the same words, or another name by the table")
    if (place := _situated(truth)) is not None and place == _situated(said):
        return Sameness(True, "the same organism at the same site")
    ours, theirs = truth.head.words, said.head.words
    found, own = _difference(truth, said), core(ours)
    if _replaced(truth, said, found):
        new = shown(theirs, found.new) or listed(said.types)
        reason = f"other words: {new}, not {shown(ours, [*found.lost, *found.told])}"
        return Sameness(False, reason, contrary=bool(own & set(theirs)))
    if found.new and own and not own & set(theirs):
        return Sameness(False, f"named only beside or as cause of {shown(theirs, found.new)}")
    if found.new and (shift := _shifted(truth, said)):
        return Sameness(False, f"another disease: {shift}", contrary=True)
    if not found.total:
        return Sameness(False, "the truth names no disease")
    if found.share < (ENOUGH if found.total <= LONG else ENOUGH_LONG):
        reason = f"too little of the name: {shown(ours, found.lost or found.missing)} not said"
        return Sameness(False, reason, contrary=bool(core(said.cause.words) - truth.words))
    if reason := caused(truth, said):
        return Sameness(False, reason, contrary=True)
    reason, contrary = beside_others(truth, said)
    if reason:
        return Sameness(False, reason, contrary)
    if found.lost:
        return Sameness(True, f"the disease without particulars: {shown(ours, found.lost)} not said")
    if found.new:
        return Sameness(True, f"a kind of it: adds {shown(theirs, found.new)}")
    return Sameness(True, "the same words")


def _worth(truth: Name, word: str) -> float:
    token = truth.head.words[word]
    worth = GENERIC_WEIGHT if word in truth.asides else weight(word)
    if token.listed and word not in HEADLESS:
        worth = max(worth, SITE_WEIGHT)
    return min(worth, SITE_WEIGHT) if word in truth.places and word != truth.noun else worth


def _shifted(truth: Name, said: Name) -> str:
    """The phrase in which the truth's word is part of another disease's name ('pulmonary hypertension')."""
    whole = " ".join(sorted(core(truth.head.words)))
    words = set(said.head.words)
    table = vocabulary().shifted
    return next((one for one in table.get(whole, ()) if set(one.split()) <= words), "")


def complicates(one: str, other: str) -> bool:
    """Whether `one` is a known complication of `other`: of any disease, or by the table of complications."""
    return any(same(name, one).same for name in _complications_of(other))


@lru_cache(maxsize=4096)
def _complications_of(disease: str) -> tuple[str, ...]:
    """The names of the complications that the table gives for any disease and for this one, each once."""
    rows = [
        known
        for diseases, known in complications()
        if any(wider == ANY or same(wider, disease).same for wider in diseases)
    ]
    return tuple(dict.fromkeys(name for known in rows for name in known))


@lru_cache(maxsize=16384)
def relation(one: str, other: str) -> Kinship | None:
    """What the disease `one` is to `other`; None where the tables say nothing.

    The project's own tables are asked first; ICD-10-CM and HPO are read on the first question that these leave open,
    in some seconds.
    """
    if same(one, other).same and same(other, one).same:
        return "same"
    if complicates(one, other):
        return "complication"
    if same(one, other).same:
        return "ancestor"
    if same(other, one).same:
        return "descendant"
    mine, theirs = linker().link(one), linker().link(other)
    if mine is None or theirs is None or "part" in (mine.rule, theirs.rule):
        return None
    found = graph().relation(mine.concept, theirs.concept)
    if found == "same":
        return None if same(one, other).contrary or same(other, one).contrary else "same"
    return {"parent": "ancestor", "child": "descendant"}.get(found)  # type: ignore[return-value]
