"""Comparable forms of names of diseases: in any order of words, and without words that leave the disease the same."""

from collections.abc import Iterable, Sequence

from wardround.scenarios.terms.vocabulary import root
from wardround.scenarios.terms.wording import words_of

LITTLE = words_of("a an the of in type")
"""Words without weight in a name; 'with', 'without' and 'due to' are not among them."""
ALONE = words_of(
    """heart lung liver kidney skin bone blood brain eye down still bladder thyroid joint valve autoimmune infectious
    viral bacterial fungal parasitic mental metabolic genetic chronic acute vascular respiratory kidney gastric stomach
    pleural pelvic inflammatory breast prostate uterine ovarian nail hair muscle nerve vein artery spine tooth gum"""
)
"""A word of 'X disease' that alone does not stand for it."""
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8"}
KINDS = words_of("disease syndrome disorder infection")
"""Nouns that a short form of a name leaves out: Crohn's, Graves', hepatitis B."""
DEGREES = words_of(
    """severe mild moderate left right bilateral unilateral recurrent suspected probable possible presumed known new
    onset likely confirmed symptomatic asymptomatic advanced persistent refractory isolated extensive
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


def ordered_form(words: Iterable[str]) -> str:
    """The roots of the words in alphabetical order, without little ones: 'cancer of the lung' as 'pulmonary cancer'."""
    return " ".join(sorted(_ROMAN.get(word, root(word)) for word in words if word not in LITTLE))


def core_form(words: Sequence[str]) -> str:
    """The same without nouns such as 'disease' and words of degree; '' where only one plain word would be left."""
    kept = [word for word in words if word not in LITTLE and word not in KINDS and word not in DEGREES]
    if not kept or (len(kept) == 1 and (len(kept[0]) < 4 or kept[0] in ORDINARY or kept[0] in ALONE)):
        return ""
    return ordered_form(kept)
