"""The distinctive words of a disease name with their weights, its forms for comparison, and its other names by tables.

`disease_name` reads a name more finely, in parts.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.terms.wording import RootWords, key, list_words, plain, root, tokens, vocabulary

_BRACKET = regex(r"\s*[(\[]([^()\[\]]*)[)\]]")
_JOINER = regex(
    r"[,;]|\s[-–—]\s|\b(?:with|secondary to|due to|caused by|causing|induced by|triggered by|associated with|resulting"
    r"|complicated by|complicating|presenting|following|leading to|because of|in the (?:context|setting) of|likely"
    r"|requiring|after|superimposed|accompanied by|mimicking)\b",
    re.IGNORECASE,
)
_SITE = regex(r"\b(?:of|in|on|at|involving|affecting|from|to|within|arising)\b", re.IGNORECASE)
_CAUSE = regex(
    r"\b[\w.,/ ]{0,30}?[\w.]+(?=-(?:induced|associated|related|negative|positive|mediated|resistant|avid|secreting)\b)",
    re.IGNORECASE,
)
_PREFIX = regex(r"\b(non|pseudo|anti|para|extra|intra|neuro|micro|macro)[-\s]+(?=[a-z])", re.IGNORECASE)
_ORGANISM = regex(r"\b(\w+\.?)\s+(pneumoniae|meningitidis)\b")
_LINEAGE = regex(r"\b([BT])[- ]?cell\b")
_STAGE = regex(r"\b(?:stage|grade|class|figo)\s+(?:[IV]+|\d)\s?[A-Ca-c]?\d?\b|\bp?T\d\w*\b", re.IGNORECASE)
_SLASH = regex(r"\s*/\s*(?=[A-Za-z][a-z]+\s+[A-Za-z])")
_AROUND = regex(r"^(?:sub|peri|retro|intra|extra|epi|supra|infra|para|juxta|trans|endo)(?=\w{4})")
_STAGED = regex(r"\b(?:stage|grade|class|type|variant|form|level|probable|possible|case|episode)\b|^p?t\d", re.I)
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8"}
_LITTLE = list_words("a an the of in on at to by for and or as its this that is was be from into type types")
GENERIC_WORDS = """disease syndrome disorder condition infection lesion acute chronic subacute primary secondary
    bilateral unilateral left right severe mild moderate isolated multiple giant large small extensive recurrent
    refractory spontaneous idiopathic sporadic atypical typical classic advanced early late onset adult
    pediatric newborn child benign malignant high low grade stage class incidental active probable possible
    presumed suspected likely incomplete partial complete total simple complicated symptomatic asymptomatic pure
    true novel rare involvement features variant subtype form process formation findings consistent concurrent
    synchronous coinfection co post postoperative upper lower anterior posterior lateral medial dorsal ventral
    proximal distal superior inferior mass origin nature presentation unknown spectrum complex residual
    persistent massive delayed congenital acquired hereditary familial iatrogenic cause region area rupture
    mutation gene homozygous heterozygous related associated induced well poorly moderately differentiated
    invasive unspecified status cell limited positive negative"""
"""Words of degree, side, course or kind that leave the disease the same."""
PLAIN_WORDS = """cancer tumor embolism cyst abscess ulcer infarction bleeding clot obstruction hernia aneurysm fistula
    stenosis atresia perforation insufficiency edema fibrosis metastasis fracture dislocation rupture torsion
    stone prolapse nodule deficiency anemia hypertension effusion fever palsy neuropathy systemic disseminated
    multisystem septal injury defect dementia arrest spasm colic"""
"""Nouns that many diseases share. The words before them, or the site, tell which disease it is."""
_GENERIC = RootWords(GENERIC_WORDS + " uncomplicated traumatic mellitus")
_PLAIN = RootWords(PLAIN_WORDS + " generalized localized diffuse focal multifocal progressive")
GROWTH = regex(r"(?:oma|blastom|cancer|tumor|leukem|sarcom|melanom|lymphom)$")
"""Matches the root of a noun that names a growth."""
SITE_WEIGHT, GENERIC_WEIGHT, CAUSE_WEIGHT = 0.5, 0.25, 0.3


class Disease(msgspec.Struct, frozen=True):
    """A disease name as words: `form` is the comparable whole, `weights` how much each of `words` tells (0 to 1)."""

    form: str
    words: tuple[str, ...]
    weights: tuple[float, ...]

    @property
    def core(self) -> str:
        """The comparable name without words that leave the disease the same."""
        return " ".join(word for word in self.form.split() if _weight(root(word)) > GENERIC_WEIGHT)


def whole(text: str) -> str:
    """The comparable form of the whole `text`, with prefixes such as 'non-' joined to their word."""
    return key(join_prefixes(text))


def join_prefixes(text: str) -> str:
    """'non-Hodgkin' and 'non Hodgkin' become 'nonHodgkin': the prefix makes another disease."""
    text = _ORGANISM.sub(r"\1 organism\2", _LINEAGE.sub(r"\1cell", text))
    return _PREFIX.sub(r"\1", text)


@lru_cache(maxsize=4096)
def name_forms(text: str) -> tuple[str, ...]:
    """The names in `text`: all of it, the text without brackets, a bracket's content, a part at a slash, the head."""
    text = re.sub(r"^\s*(?:[-*•]|\d+[.)])\s*", "", text.replace("**", "")).strip(" .")
    bare = " ".join(_BRACKET.sub(" ", text).split()).strip(" ,.")
    forms = [text, bare]
    for match in _BRACKET.finditer(text):
        short = expanded(match[1])
        written_out = short != match[1] and key(short) in key(text[: match.start()])
        plain_one = not _STAGED.search(match[1]) and not _JOINER.search(text[: match.start()])
        if len(key(match[1])) > 1 and (written_out or plain_one):
            forms.append(match[1])
    forms += [part for part in _SLASH.split(bare) if part != bare and len(part.split()) > 1]
    joiner = _JOINER.search(bare)
    if joiner and plain(bare[: joiner.start()]):
        forms.append(bare[: joiner.start()].strip(" ,"))
    return tuple(dict.fromkeys(name for name in forms if key(name)))


def unstaged(text: str) -> str:
    """`text` without its stage, grade or class ('CKD stage 3')."""
    return " ".join(_STAGE.sub(" ", text).split())


def names_in_tables(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of a disease, then the other names that the tables have for these, then abbreviations of them all."""
    every = dict.fromkeys(names)
    for name in names:
        every.update(dict.fromkeys(synonyms_of(name)))
    spelled = {key(name) for name in every}
    every.update(dict.fromkeys(short for short, full in vocabulary().abbreviations.items() if key(full) in spelled))
    return tuple(every)


def synonyms_of(name: str) -> tuple[str, ...]:
    """Other names of the same disease by the tables of names, and the name with its abbreviations expanded."""
    rows = vocabulary().names
    alike = (other for place in _rows_of_names().get(key(name), ()) for other in rows[place])
    names = list(dict.fromkeys(other for other in alike if other != name))
    spelled = expanded(name)
    return tuple(names + ([spelled] if spelled != name else []))


@cache
def _rows_of_names() -> Mapping[str, tuple[int, ...]]:
    """The rows of names that a name stands in."""
    places: dict[str, tuple[int, ...]] = {}
    for place, row in enumerate(vocabulary().names):
        for name in dict.fromkeys(map(key, row)):
            places[name] = (*places.get(name, ()), place)
    return places


def expanded(text: str) -> str:
    """`text` with common abbreviations (in capitals) expanded."""
    table = vocabulary().abbreviations
    return re.sub(r"\b[A-Z][A-Za-z0-9]{1,6}\b", lambda match: table.get(match[0], match[0]), text)


@lru_cache(maxsize=4096)
def disease(name: str) -> Disease:
    """The words of a name with their weights. Words after 'of' (a site) and before '-induced' (a cause) weigh less."""
    text = join_prefixes(_STAGE.sub(" ", name) if key(_STAGE.sub(" ", name)) else name)
    cause = {word for match in _CAUSE.finditer(text) for word in tokens(match[0].split(" ")[-1])}
    site = _SITE.search(text)
    head = set(tokens(text[: site.start()])) if site else set(tokens(text))
    weights: dict[str, float] = {}
    for word in tokens(text):
        if word in _LITTLE or len(word) == 1 or word == "type":
            continue
        weight = _weight(root(word))
        if weight == 1.0 and word in cause and len(head) > 1:
            weight = CAUSE_WEIGHT
        if weight > SITE_WEIGHT and word not in head and _worth(head):
            weight = SITE_WEIGHT
        weights.setdefault(root(word), weight)
    if weights and max(weights.values()) < 1.0:
        least = GENERIC_WEIGHT if max(weights.values()) > GENERIC_WEIGHT else 0.0
        weights = {word: 1.0 if weight > least else weight for word, weight in weights.items()}
    return Disease(whole(name), tuple(weights), tuple(weights.values()))


def _worth(head: set[str]) -> bool:
    return any(_weight(root(word)) == 1.0 for word in head if word not in _LITTLE)


def _weight(word: str) -> float:
    if word in _GENERIC or word[0].isdigit() or word in _ROMAN:
        return GENERIC_WEIGHT
    return SITE_WEIGHT if word in _PLAIN or _site(word) else 1.0


def _site(word: str) -> str:
    """The site that a word names, directly or with 'peri-', 'sub-' and the like before it; '' if none."""
    sites = vocabulary().sites
    if word in sites:
        return word
    bare = root(_AROUND.sub("", word))
    return bare if bare in sites else ""


def opposed(one: str, other: str) -> bool:
    """Whether two words differ in opposed prefixes: hyper- and hypo-, macro- and micro-."""
    pairs = (("hyper", "hypo"), ("macro", "micro"), ("intra", "inter"), ("intra", "extra"))
    return any(
        {one[: len(a)], other[: len(b)]} == {a, b} or {one[: len(b)], other[: len(a)]} == {a, b} for a, b in pairs
    )


LITTLE = list_words("a an the of in type")
"""Words that do not count in a name; 'with', 'without' and 'due to' do count."""
ALONE = list_words(
    """heart lung liver kidney skin bone blood brain eye down still bladder thyroid joint valve autoimmune infectious
    viral bacterial fungal parasitic mental metabolic genetic chronic acute vascular respiratory gastric stomach
    pleural pelvic inflammatory breast prostate uterine ovarian nail hair muscle nerve vein artery spine tooth gum"""
)
"""Words X that do not mean 'X disease' when they stand alone."""
KINDS = list_words("disease syndrome disorder infection")
"""Nouns that a short name leaves out: Crohn's, Graves', hepatitis B."""
DEGREES = list_words(
    """severe mild moderate left right bilateral unilateral recurrent suspected probable possible presumed known new
    onset likely confirmed symptomatic asymptomatic advanced persistent refractory isolated extensive
    complicated uncomplicated typical classic classical poorly well controlled uncontrolled"""
)
"""Words that leave a disease the same; 'acute', 'chronic', 'primary' and 'secondary' do not."""
ORDINARY = list_words(
    """worm margin cancer tumor neoplasm labile stable pain band cloaca scar itch boil tic stag callus clavus ventouse
    forceps ventilator infestation prematurity immunodeficient immunocompromised immunosuppressed transgender
    prothrombin fibrinogen freckle birthmark lichen sweet well wells sever burn baker becker hurst diaz felon trap calm
    vain pot iris dish papa panda alp haa carat stress malleus site organism poxvirus 10th pannus ganglion gangrene
    mania indigestion phobia deformity contracture infection injury poisoning bleeding lesion shock mass disease
    syndrome disorder allergy wound fracture ulcer abscess cyst fistula hernia stenosis fever cough fit attack"""
)
"""Words and eponyms ('Wells', 'Baker') that have other meanings too; alone they are no names of diseases."""


def ordered_form(words: Iterable[str]) -> str:
    """The roots of the words in alphabetical order, without `LITTLE`: one form for 'lung cancer', 'cancer of lung'."""
    return " ".join(sorted([_ROMAN.get(word) or root(word) for word in words if word not in LITTLE]))


def core_form(words: Sequence[str]) -> str:
    """As `ordered_form`, but without words of degree and nouns such as 'disease'; '' if only one plain word is left."""
    kept = [word for word in words if word not in LITTLE and word not in KINDS and word not in DEGREES]
    if not kept or (len(kept) == 1 and (len(kept[0]) < 4 or kept[0] in ORDINARY or kept[0] in ALONE)):
        return ""
    return ordered_form(kept)
