"""Decides whether two names mean one disease, in this order: spelling, other names, contradictions, words, MONDO."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.diseases.contradiction import (
    BINOMIAL,
    ORGANISM,
    beside_others,
    caused,
    conflict,
    core,
    genera_in_full,
    kinds,
    list_values,
    write_words,
)
from wardround.scenarios.diseases.disease import GENERIC_WEIGHT, GROWTH, SITE_WEIGHT
from wardround.scenarios.diseases.disease_name import (
    HEADLESS,
    PLAIN,
    Name,
    is_site,
    parse_name,
    telling,
    weight,
)
from wardround.scenarios.diseases.disease_wording import is_disease_name, paired, spelled
from wardround.scenarios.diseases.graph import graph
from wardround.scenarios.diseases.lexical_linker import linker
from wardround.scenarios.diseases.mondo import diseases_named, kinship, principal_part
from wardround.scenarios.diseases.other_names import LONG_WORD, another_name, unabbreviated
from wardround.scenarios.terms.wording import RootWords, key, root, roots, vocabulary

APART = ("apart", "narrower")
"""The relations in MONDO of the truth to the answer with which the answer is another disease."""
MOST = 600
"""Most characters of a name that are compared."""
ENOUGH = 0.66
"""Least weighted share of the words of the truth's head that an answer must have, if nothing replaces the others."""

LONG, ENOUGH_LONG = 2.5, 0.5
"""Weight above which a name is long, and the share that is then enough, since long names list sites and findings."""

ENOUGH_BESIDE = 0.7
"""The same share if words of another kind are new: a site, an organism."""

ENOUGH_UNPLACED = 0.4
"""The same share if only sites are missing and no word is new."""

SPECIFIC = 2.0
"""If the truth's words weigh more than this, a qualifier ('primary') may be missing in a name with new words."""

MOST_DESCRIBING = 3
"""Most words of the truth that an answer may leave out because they only describe the disease."""
_MAKING = regex(
    r"(?:neoplast|immun|infect|vir|bacteri|sept|toxic|drug|radiat|isch|rrhag|metasta|malign|benign|necro|inflam|embol"
    r"|thromb|granulom|cell|trauma|gen|fulmin|invas|phage|cyt|osis|itis|oma)"
)
"""Parts of words that make another disease of a disease, even if no table has it."""
_KIND = regex(r"(?i)\b(?:type|variant|subtype|form|predominant|dominant|phenotype|onset)\b")
"""Words that say that the words before them tell a kind of the disease."""
MOST_NEW = 6
"""A name with so many distinctive words besides the truth's is a list of diseases, and no kind of the truth."""

_SIDE = regex(r"(?i)\b(?:left|right|bilateral)(?:-sided)?\b")
_BRACKET = regex(r"\s*[(\[]([^()\[\]]*)[)\]]")
_LETTERS = regex(r"[^\W\d_]+")
_PAIR = regex(r"([^\W\d_]{2,})[ -](?=([^\W\d_]{2,}))\2")
_SLASH = regex(r"\s*/\s*(?=[A-Za-z][a-z]+\s+[A-Za-z])")
_INFECTION = regex(r"(?:ias|mycos|ellos|cocos|plasmos|dios|trichos|spiros|cryptosporidios|tuberculos)$")


class Sameness(msgspec.Struct, frozen=True):
    """Whether two names mean one disease, and the deciding reason in plain words.

    `contrary`: the names are opposites or siblings (another side, type, cause), and not only short of words.
    `opposite`: an axis, a type, a stage or a cause alone contradicts, whatever the other words are.
    """

    same: bool
    reason: str
    contrary: bool = False
    opposite: bool = False


@lru_cache(maxsize=16384)
def same_disease(truth: str, said: str) -> Sameness:
    """Whether `said` means the disease that `truth` names.

    A kind of the truth counts as the same, a wider disease does not::

        same_disease("appendicitis", "acute appendicitis").same  # True
    """
    truth, said = truth[:MOST], said[:MOST]
    if not key(truth) or not key(said):
        return Sameness(False, "a name is empty")
    truth, said = genera_in_full(truth, said), genera_in_full(said, truth)
    truth, said = run_together(truth, said), run_together(said, truth)
    if key(truth) == key(said):
        return Sameness(True, "the same name")
    if spelled(truth, said):
        return Sameness(True, "the same words but for typing errors")
    if reason := another_name(truth, said):
        return Sameness(True, reason)
    for one, other in ((truth, said), (said, truth)):
        written = unabbreviated(one, other)
        if written and _read(*((truth, written) if one is truth else (written, said))).same:
            return Sameness(True, f"its abbreviation: {written}")
    for short, other in ((said, truth), (truth, said)):
        for name in vocabulary().short.get(short.strip(" ."), ()):
            pair = (name, other) if short is truth else (other, name)
            if key(name) == key(other) or _read(*pair).same:
                return Sameness(True, f"abbreviation: {short.strip()} is {name}")
    verdict = _read(truth, said)
    if not verdict.same and (_SIDE.search(truth) or _SIDE.search(said)):
        again = _read(_fronted(truth), _fronted(said))
        verdict = again if again.same else verdict
    if verdict.same or verdict.opposite:
        return verdict
    ours, theirs = parse_name(truth), parse_name(said)
    whole = ours.cause.words or theirs.cause.words or (ours.beside.words and theirs.beside.words)
    match kinship(truth, said) if whole else kinship(principal_part(truth), principal_part(said)):
        case "same":
            return Sameness(True, "another name of it in MONDO")
        case "wider" if not verdict.contrary and not classified_apart(truth, said):
            return Sameness(True, "a kind of it in MONDO")
    return verdict


def run_together(name: str, other: str) -> str:
    """A name in which words that the other name writes as one are joined: 'club foot' beside 'clubfoot'."""
    whole = {word for word in _LETTERS.findall(other.lower()) if len(word) >= LONG_WORD - 2}
    if not whole:
        return name
    return _PAIR.sub(lambda pair: pair[1] + pair[2] if (pair[1] + pair[2]).lower() in whole else pair[0], name)


def _fronted(name: str) -> str:
    """A name with its side moved to the front, so that it does not split a name of the table."""
    sides = [match[0] for match in _SIDE.finditer(name)]
    return " ".join((*sides, *_SIDE.sub(" ", name).split()))


def _read(truth: str, said: str) -> Sameness:
    """The verdict over all readings of both names: the first match, else the verdict on the first readings."""
    first: Sameness | None = None
    for one in readings(truth):
        for other in readings(said):
            apart = conflict(parse_name(one), parse_name(other))
            if apart and first is None:
                return Sameness(False, apart, contrary=True, opposite=True)
            verdict = (
                Sameness(False, apart, contrary=True, opposite=True)
                if apart
                else _worded(parse_name(one), parse_name(other))
            )
            if verdict.same:
                return verdict
            first = first or verdict
    for wider in wider_by_table(said):
        ours, theirs = parse_name(truth), parse_name(wider)
        particular = any(telling(token) and word not in theirs.words for word, token in ours.head.words.items())
        particular = particular or bool(ours.cause.words or _difference(ours, theirs).lost)
        if not particular and not conflict(ours, theirs) and _worded(ours, theirs).same:
            return Sameness(True, f"a kind of it by the table: {wider}")
    return first or Sameness(False, "a name is empty")


def wider_by_table(said: str) -> tuple[str, ...]:
    """The wider diseases of a name in the table."""
    return _kinds_of().get(frozenset(core(parse_name(said).head.words)), ())


@lru_cache(maxsize=1)
def _kinds_of() -> Mapping[frozenset[str], tuple[str, ...]]:
    return {frozenset(core(parse_name(kind).head.words)): wider for kind, wider in vocabulary().kinds}


def readings(text: str) -> tuple[str, ...]:
    """The possible readings of a name: as it is, and each alternative name in a bracket or at a slash."""
    bare = " ".join(_BRACKET.sub(" ", text).split()).strip(" ,.")
    names = [text]
    for match in _BRACKET.finditer(text):
        if bare and (match[1].isupper() or is_disease_name(match[1])):
            names += [bare, match[1]]
    names += [part for part in _SLASH.split(bare) if part != bare and len(part.split()) > 1]
    return tuple(dict.fromkeys(name for name in names if key(name)))


def _situated(name: Name) -> tuple[frozenset[str], frozenset[str]] | None:
    """(organisms, sites) of a name that consists of them ('candidiasis of the esophagus'); None for another name."""
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


_WITH = RootWords("with by due to caused")
_INFECTION_WITH = regex(r"(?i)\binfection (?:with|by|due to|caused by)\b|\binfection$")


def infects(truth: Name, said: Name) -> bool:
    """Whether the truth is any infection with an organism, and the answer a disease that this organism causes.

    So mycetoma due to a species is a kind of infection with it. If both names have a site, the sites must agree.
    """
    if not _INFECTION_WITH.search(truth.text) or truth.lacking.words:
        return False
    ours, theirs = set(roots(truth.text)), set(roots(said.text))
    agents = {word for word in core(ours - _WITH) if not is_site(word)}
    species, other = (set(BINOMIAL.findall(name.text)) for name in (truth, said))
    inflamed = vocabulary().inflamed
    sites = [
        {inflamed.get(word, word) for word in words if word in inflamed or is_site(word)} for words in (ours, theirs)
    ]
    return (
        bool(agents)
        and agents <= theirs - set(said.lacking.words)
        and (bool(species) or any(map(ORGANISM.search, agents)))
        and not (species and other and not species & other)
        and not (all(sites) and not sites[0] & sites[1])
    )


class _Difference(msgspec.Struct, frozen=True):
    """The difference between the heads of two names.

    `missing` words only the truth has; `lost` are those that tell, `new` telling words of the answer, `qualifiers` lost
    qualifiers. `total` is the weight of the truth's words, `share` the weighted share of them that is said (0 to 1).
    """

    missing: list[str]
    lost: list[str]
    new: list[str]
    qualifiers: list[str]
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
    qualifiers = [word for word in ours if word not in {*said.words, *lost, *truth.places} and _tells(truth, word)]
    return _Difference(
        missing,
        lost,
        [word for word in extra if weight(word) > GENERIC_WEIGHT],
        qualifiers if total <= SPECIFIC else [],
        total,
        1 - sum(_worth(truth, word) for word in missing if word in counted) / total if total else 0.0,
    )


_PRIMARY = RootWords("primary")


def _tells(name: Name, word: str) -> bool:
    """Whether a word of low weight tells kinds apart; a 'primary' growth is only not a metastasis."""
    if word in _PRIMARY and GROWTH.search(name.noun):
        return False
    return telling(name.head.words[word]) or word in name.apposed


def _replaced(truth: Name, said: Name, difference: _Difference) -> bool:
    """Whether the answer has something in place of what is missing: other words, a qualifier, a type or a cause."""
    theirs = said.head.words
    instead = [word for word in difference.new if word not in said.asides]
    gone = [word for word in difference.lost if word not in truth.asides]
    gone += [word for word in truth.led if word not in said.words]
    added = [word for word in theirs if word not in truth.words and word not in difference.new and _tells(said, word)]
    more = bool(said.types - truth.all_types or said.lacking.words or added)
    if difference.qualifiers and difference.total <= SPECIFIC / 2 and more:
        instead = instead or [word for word in theirs if word not in truth.words]
    if difference.qualifiers and not instead:
        instead = [word for word in said.led if word not in truth.words]
    less = bool(difference.qualifiers or truth.lacking.words)
    if truth.lacking.words and not said.lacking.words:
        instead = instead or [word for word in theirs if word not in truth.words]
    if not ((gone and (instead or more)) or (less and (instead or said.types - truth.types))):
        return False
    apart = {frozenset(("site",)), frozenset(("organism",))} == {kinds(gone), kinds(instead)}
    if kinds(gone) == {"site"} and "site" not in kinds(instead) and truth.noun in said.words and not more:
        # an inflammation that tells its organ ('appendicitis'): a missing place is no other disease
        return truth.noun not in vocabulary().inflamed
    if more or difference.qualifiers:
        return True
    if _particular(truth, said, difference, gone, instead):
        return False
    return not apart or difference.share < ENOUGH_BESIDE


def _particular(truth: Name, said: Name, difference: _Difference, gone: Sequence[str], instead: Sequence[str]) -> bool:
    """Whether the disease itself is said and only a site is new, while no site is missing: it replaces nothing."""
    distinct = truth.noun in said.words and weight(truth.noun) > SITE_WEIGHT and difference.share >= ENOUGH_LONG
    return distinct and kinds(instead) == {"site"} and "site" not in kinds(gone) and not truth.places & set(gone)


def _worded(truth: Name, said: Name) -> Sameness:
    """The verdict by words: which are missing, which are new, and whether new words replace missing ones."""
    if truth.form == said.form:
        return Sameness(True, "the same words, or another name by the table")
    if (place := _situated(truth)) is not None and place == _situated(said):
        return Sameness(True, "the same organism at the same site")
    if infects(truth, said):
        return Sameness(True, "an infection with the same organism")
    ours, theirs = truth.head.words, said.head.words
    difference, own = _difference(truth, said), core(ours)
    if _replaced(truth, said, difference):
        new = write_words(theirs, difference.new) or list_values(said.types)
        reason = f"other words: {new or 'fewer'}, not {write_words(ours, [*difference.lost, *difference.qualifiers])}"
        return Sameness(False, reason, contrary=bool(own & set(theirs)))
    if difference.new and own and not own & set(theirs):
        return Sameness(False, f"named only beside or as cause of {write_words(theirs, difference.new)}")
    if difference.new and (shift := _shifted(truth, said)):
        return Sameness(False, f"another disease: {shift}", contrary=True)
    if not difference.total:
        return Sameness(False, "the truth names no disease")
    if truth.noun in difference.lost and weight(truth.noun) > SITE_WEIGHT:
        return Sameness(False, f"the disease itself is not said: {write_words(ours, [truth.noun])}")
    if _unplaced(truth, said, difference.lost):
        return Sameness(False, f"the site of the growth is not said: {write_words(ours, difference.lost)}")
    if difference.share < _least(truth, said, difference) and not _only_described(truth, said, difference):
        reason = f"too little of the name: {write_words(ours, difference.lost or difference.missing)} not said"
        return Sameness(False, reason, contrary=bool(core(said.cause.words) - truth.words))
    if reason := caused(truth, said):
        return Sameness(False, reason, contrary=True)
    reason, contrary = beside_others(truth, said)
    if reason:
        return Sameness(False, reason, contrary)
    if difference.lost:
        if classified_apart(truth.text, said.text, codes=False) or kinship(truth.text, said.text) in APART:
            return Sameness(False, f"a wider disease by the tables: {write_words(ours, difference.lost)} not said")
        return Sameness(True, f"the disease without particulars: {write_words(ours, difference.lost)} not said")
    if difference.new:
        telling_new = truth.noun in PLAIN or any(weight(word) > SITE_WEIGHT for word in difference.new)
        if telling_new and classified_apart(truth.text, said.text):
            return Sameness(
                False, f"another disease by ICD-10-CM: adds {write_words(theirs, difference.new)}", contrary=True
            )
        if kinship(truth.text, said.text) == "apart" and not said.asides.issuperset(difference.new):
            return Sameness(
                False, f"another disease by MONDO: adds {write_words(theirs, difference.new)}", contrary=True
            )
        strange = [word for word in difference.new if weight(word) == 1.0 and len(word) > 3 and word.isalpha()]
        if len(strange) >= MOST_NEW:
            return Sameness(False, f"too much beside the name: {write_words(theirs, strange)}", contrary=True)
        return Sameness(True, f"a kind of it: adds {write_words(theirs, difference.new)}")
    if set(ours) - set(theirs) and set(theirs) - set(ours) and kinship(truth.text, said.text) == "apart":
        return Sameness(False, "another disease by MONDO, of almost the same name", contrary=True)
    return Sameness(True, "the same words")


def _only_described(truth: Name, said: Name, difference: _Difference) -> bool:
    """Whether no table has the truth's name, and the words that the answer leaves out only describe the disease.

    So 'sarcoidosis' means 'FDG-avid sarcoidosis': MONDO has it, and 'FDG-avid' makes no other disease of it.
    """
    if (
        difference.new
        or difference.qualifiers
        or truth.noun in difference.lost
        or len(difference.lost) > MOST_DESCRIBING
    ):
        return False
    tokens = [truth.head.words[word] for word in difference.lost]
    if any(_tells(said, word) for word in said.head.words if word not in truth.words) or _KIND.search(truth.text):
        return False
    if any(token.axes or token.listed or is_site(token.root) or ORGANISM.search(token.root) for token in tokens):
        return False
    if any(_MAKING.search(token.stem) for token in tokens) or not diseases_named(_bare(said)):
        return False
    own = " ".join(token.surface for token in said.head.words.values())
    return not diseases_named(_bare(truth)) and not any(
        diseases_named(f"{token.surface} {name}") for token in tokens for name in (own, said.noun)
    )


def _bare(name: Name) -> str:
    return " ".join(token.surface for token in name.head.words.values())


def _least(truth: Name, said: Name, difference: _Difference) -> float:
    """The share of the truth's words that must be said: less if only sites are left out and nothing else is said."""
    placed = all(word in truth.places or is_site(word) for word in difference.lost)
    if difference.lost and placed and not difference.new and truth.noun not in difference.lost:
        return ENOUGH_UNPLACED
    cause = core(truth.cause.words)
    if cause and cause <= said.words and truth.noun not in difference.lost:
        return ENOUGH_LONG
    return ENOUGH if difference.total <= LONG else ENOUGH_LONG


def _unplaced(truth: Name, said: Name, lost: Sequence[str]) -> bool:
    """Whether the answer gives no site for a growth that many organs have, such as a carcinoma, and the truth does."""
    gone = any(is_site(word) or word in truth.places for word in lost)
    common = truth.noun in map(root, ("cancer", "tumor", "metastasis"))
    return gone and common and not any(map(is_site, said.words))


def _worth(truth: Name, word: str) -> float:
    token = truth.head.words[word]
    worth = GENERIC_WEIGHT if word in truth.asides else weight(word)
    if token.listed and word not in HEADLESS:
        worth = max(worth, SITE_WEIGHT)
    return min(worth, SITE_WEIGHT) if word in truth.places and word != truth.noun else worth


def _shifted(truth: Name, said: Name) -> str:
    """The other disease, by the table, whose name has the truth's word ('pulmonary hypertension'); "" if none."""
    whole = " ".join(sorted(core(truth.head.words)))
    words = set(said.head.words)
    table = vocabulary().shifted
    return next((one for one in table.get(whole, ()) if set(one.split()) <= words), "")


@lru_cache(maxsize=4096)
def classified_apart(one: str, other: str, codes: bool = True) -> bool:
    """Whether the tables have both names, as different diseases, and `other` is no kind of `one`.

    With `codes`, ICD-10-CM must have both, so that their places in its tree tell them apart.
    """
    mine, theirs = (linker().link(" ".join(_SIDE.sub(" ", name).split())) for name in (one, other))
    if mine is None or theirs is None or not {mine.rule, theirs.rule} <= {"exact", "words"}:
        return False
    if codes and not (mine.concept.icd10 and theirs.concept.icd10):
        return False
    return graph().relation(theirs.concept, mine.concept) not in ("same", "child")
