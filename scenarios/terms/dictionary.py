"""The names of all concepts in comparable forms: exact, in any order, without little words; and abbreviations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from wardround.scenarios.terms.disease import opposed
from wardround.scenarios.terms.icd import SHORT
from wardround.scenarios.terms.knowledge import OWN, Knowledge
from wardround.scenarios.terms.vocabulary import root
from wardround.scenarios.terms.wording import key, words_of

LITTLE = words_of("a an the of in")
"""Words without weight in a name; 'with', 'without' and 'due to' are not among them."""
ALONE = words_of(
    """heart lung liver kidney skin bone blood brain eye down still bladder thyroid joint valve autoimmune infectious
    viral bacterial fungal parasitic mental metabolic genetic chronic acute vascular respiratory kidney gastric stomach
    pleural pelvic inflammatory breast prostate uterine ovarian nail hair muscle nerve vein artery spine tooth gum"""
)
"""A word of 'X disease' that alone does not stand for it."""
KINDS = words_of("disease syndrome disorder infection")
"""Nouns that a short form of a name leaves out: Crohn's, Graves', hepatitis B."""
DEGREES = words_of(
    """severe mild moderate left right bilateral unilateral recurrent suspected probable possible presumed known new
    onset likely confirmed symptomatic asymptomatic advanced early late persistent refractory isolated extensive
    complicated uncomplicated typical classic classical poorly well controlled uncontrolled"""
)
"""Words that leave a disease the same; 'acute', 'chronic', 'primary' and 'secondary' are not among them."""
ORDINARY = words_of(
    """worm margin cancer tumor neoplasm labile stable pain band cloaca scar itch boil tic stag callus clavus ventouse
    forceps ventilator infestation prematurity immunodeficient immunocompromised immunosuppressed transgender
    prothrombin fibrinogen freckle birthmark lichen sweet well wells sever burn baker becker hurst diaz felon trap calm
    vain pot iris dish papa panda alp haa carat stress malleus site organism poxvirus 10th pannus ganglion gangrene
    mania indigestion band phobia deformity contracture infection injury poisoning bleeding lesion shock mass disease
    syndrome disorder allergy wound fracture ulcer abscess cyst fistula hernia stenosis fever cough fit attack"""
)
"""Words that are names somewhere and ordinary words everywhere else ('Wells', 'Sever', 'Baker'): no name by themselves.
"""


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


def ordered_form(words: Iterable[str]) -> str:
    """The roots of the words in alphabetical order, without little ones: 'cancer of the lung' as 'pulmonary cancer'."""
    return " ".join(sorted(root(word) for word in words if word not in LITTLE))


def core_form(words: Sequence[str]) -> str:
    """The same without nouns such as 'disease' and words of degree; '' where only one plain word would be left."""
    kept = [word for word in words if word not in LITTLE and word not in KINDS and word not in DEGREES]
    if not kept or (len(kept) == 1 and (len(kept[0]) < 4 or kept[0] in ORDINARY or kept[0] in ALONE)):
        return ""
    return " ".join(sorted(root(word) for word in kept))


def alike(said: Sequence[str], form: Sequence[str], known: frozenset[str], close: float) -> bool:
    """Whether `said` is `form` misspelt: every word that differs is unknown, and near one that is left over.

    Numbers, types and words of up to three letters must be the same, a prefix must not be opposed (hyper-, hypo-).
    """
    extra = [word for word in said if word not in form]
    missing = [word for word in form if word not in said]
    for word in extra:
        if word in LITTLE or word in DEGREES:
            continue
        if word in known or len(word) <= 3 or any(map(str.isdigit, word)):
            return False
        best = max(missing, key=lambda other: fuzz.ratio(word, other), default="")
        if not best or fuzz.ratio(word, best) < close or opposed(word, best):
            return False
        missing.remove(best)
    return all(word in LITTLE or word in DEGREES for word in missing)
