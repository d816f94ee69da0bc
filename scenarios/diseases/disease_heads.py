"""Tells by its words whether a phrase names a disease, a consequence or a detail, or only speaks about a disease."""

import re
from functools import cache
from typing import Literal

from wardround.engine.text import regex
from wardround.scenarios.diseases.contradiction import organism, species_of
from wardround.scenarios.diseases.disease import disease
from wardround.scenarios.diseases.disease_name import GENERIC, is_site
from wardround.scenarios.diseases.mondo import diseases_named, slashed_labels
from wardround.scenarios.terms.cues import cue
from wardround.scenarios.terms.table_cache import cached_table
from wardround.scenarios.terms.wording import RootWords, key, lexicon, list_words, root, table_rows, tokens, vocabulary

_ENDING = regex(
    r"(?:it|oma|omat|os|emia|uria|pathy|plegia|trophy|plasia|sclerosi?|ectasi?|ism|iasi?|penia|cytosi?|malacia"
    r"|rrhea|rrhagia"
    r"|cel|megaly|plaki|ectasia|oidosi?|mycosi?|itid|iti|osi|asi|esi|ysi|oni|itu|pathia|algia|rexia|mania|phobia|phrenia|sickness)$"
)
_FINAL = regex(r"(?i)\w{2}(?:itis|osis|omas?|a?emia|opathy|plasia|iasis|penia|uria|ectasis|sclerosis|plegia|megaly)$")
_NOUNS = RootWords(
    """disease syndrome disorder infection cancer tumor carcinoma leukemia lymphoma fever palsy hernia fracture
    poisoning intoxication deficiency infarction embolism stroke cyst abscess ulcer stenosis failure pneumonia
    diabetes hypertension aneurysm fistula stone malformation neoplasm malignancy melanoma myeloma polyp atresia
    dislocation anemia asthma gout eczema psoriasis migraine epilepsy dementia autism depression schizophrenia
    measles mumps rubella scurvy rickets lupus tetanus rabies malaria cholera plague leprosy syphilis gonorrhea
    arrest block reaction allergy overdose injury torsion rupture dissection regurgitation defect anomaly
    toxicity tumour crisis attack emergency sepsis hemorrhage thrombosis edema effusion anaphylaxis cataract
    glaucoma insufficiency obstruction dystrophy neuropathy contusion concussion sprain burn wart scabies
    pregnancy"""
)
_ABOUT = RootWords(
    """involvement extension invasion metastasis metastases spread dissemination infiltration feature presentation
    mutation variant finding symptom sign stage type grade status differentiation compression dysfunction
    deposition change overlap component pattern origin onset course phase complication mass lesion pain deficit
    disability delay impairment abnormality recurrence progression transformation activity exposure ingestion use
    therapy treatment surgery bypass trauma location site expression positivity amplification rearrangement
    translocation deletion inheritance score class subtype form variety manifestation consequence response
    damage destruction inflammation necrosis enlargement displacement adhesion wall nerve artery vein lobe
    fraction"""
)
_CONSEQUENCE = RootWords(
    """failure shock sepsis septicemia bacteremia effusion hemorrhage bleeding obstruction perforation peritonitis
    ascites edema pneumothorax hydrocephalus hydronephrosis thrombosis embolism anemia hypotension seizure coma
    encephalopathy acidosis dehydration hyponatremia hyperkalemia hypokalemia hypercalcemia hypoglycemia
    hyperglycemia thrombocytopenia leukopenia neutropenia pancytopenia coagulopathy fever cachexia malnutrition
    respiratory distress arrest tamponade rhabdomyolysis jaundice cholestasis insufficiency injury collapse
    hypoxia hypoxemia atelectasis delirium weakness paralysis fracture deformity infertility obesity fatigue
    hypertension arrhythmia abscess stenosis stricture rupture ischemia infarction dic ards aki cough dyspnea
    vomiting headache diarrhea constipation rash hematuria proteinuria hemoptysis syncope lymphadenopathy
    splenomegaly hepatomegaly hepatosplenomegaly serositis pleuritis pericarditis herniation lymphadenitis
    cirrhosis fistula empyema cellulitis hypoalbuminemia epistaxis epilepsy"""
)
_GENERAL = RootWords(
    """failure shock sepsis septicemia bacteremia effusion bleeding obstruction perforation peritonitis ascites
    edema hydronephrosis hydrocephalus hypotension seizure coma encephalopathy acidosis dehydration hyponatremia
    hyperkalemia hypokalemia hypercalcemia hypoglycemia coagulopathy fever cachexia malnutrition distress arrest
    tamponade rhabdomyolysis jaundice cholestasis collapse hypoxia hypoxemia atelectasis delirium dic ards aki cough
    dyspnea vomiting headache diarrhea rash hematuria proteinuria hemoptysis syncope lymphadenopathy splenomegaly"""
)
_EFFECT = RootWords(
    """stroke ileus crisis anaphylaxis intussusception neuropathy myelopathy radiculopathy palsy paresis paraplegia
    quadriplegia ptosis diplopia blindness hyperthermia erythrocytosis leukocytosis eosinophilia pneumonitis
    mediastinitis pneumoperitoneum pneumomediastinum hemothorax hemoperitoneum hematoma ulcer ulceration volvulus
    pseudoachalasia gynecomastia hirsutism virilization amenorrhea galactorrhea dysphagia hoarseness stridor
    hyperprolactinemia hyperammonemia hypophosphatemia hyperphosphatemia osteomalacia angina bradycardia
    tachycardia tachyarrhythmia hypercortisolism hypopituitarism activation compression occlusion thrombus aneurysm
    pseudoaneurysm"""
)
_DAMAGED = regex(
    r"(?i)^(?:(?:an?|the|acute|acutely|partly|partially|completely|left|right|bilateral)\s+)*(?:ruptured|torn|perforated"
    r"|obstructed|infected|dislocated|herniated|fractured|incarcerated|strangulated|thrombosed|occluded|dissected"
    r"|inflamed|infarcted|retained|displaced|impacted|burst|blocked|clogged|narrowed|leaky|leaking|failing|collapsed"
    r"|enlarged)\s+[a-z]|^(?:an?\s+|the\s+)?(?:blood )?(?:clots?|holes?|stones?|tears?)\s+in\s+[a-z]"
)
"""The beginning of a name of a damaged organ, which is a disease: 'ruptured papillary muscle'."""
_ADJECTIVE = regex(r"(?:ed|ing|ent|ive|ic|al|ous|ful|ly|ble|ar|ary|ate|type|mutant|dominant|malignant)$")
_DESCRIPTION = regex(r"(?:ive?|ibl|abl|ed|ing)$")
"""The ending of an adjective whose root looks like that of a disease: 'positive'."""
_SITE = regex(
    r"(?i)\s+(?:of|in|on|at|to|into|within|involving|affecting|for|per|by|under|above|below|between)\b.*$", re.DOTALL
)
_CODE = regex(r"\b(?:c?p?T\d\w*|N\d\w*|M\d\w*|[A-Z]*\d[\w.+/-]*|\d[\d.,%+/-]*)\b")


def disease_like(phrase: str) -> bool:
    """Whether a phrase names a disease: by the project's tables, else by the last word of its head."""
    if key(phrase) in known_names() or phrase.strip(" .") in vocabulary().abbreviations or _DAMAGED.match(phrase):
        return True
    word = _head(phrase)
    if not word or word in _ABOUT:
        return False
    last = _last(phrase)
    ends = (_ENDING.search(word) or _ENDING.search(last)) and not _DESCRIPTION.search(last)
    return word in _NOUNS or word in _CONSEQUENCE or bool(ends)


_DEALINGS = RootWords(
    """screening vaccination immunization prophylaxis prevention exposure contact carrier fear concern worry
    treatment therapy test testing examination observation surveillance check risk susceptibility
    predisposition opposite simulation chapter specialist expert effect care
    counseling education evaluation assessment workup referral
    ingestion use medication drug cure remedy absence lack freedom resistance immunity
    opinion question"""
)


LONGEST_DEALING = 6
"""A phrase that ends with a word of `_SPEECH` only speaks of a disease if it has fewer words than this."""
_SPEECH = RootWords("screening vaccination prophylaxis prevention fear worry opposite simulation chapter specialist")
"""Words of `_DEALINGS` after which nothing is asserted at all."""


def deals_with(phrase: str) -> bool:
    """Whether a phrase before 'for', 'of' or 'in' only speaks about the disease after it: 'screening', 'the fear'."""
    word = _last(phrase)
    if root(word) in _DEALINGS:
        return True
    if not word or disease_like(phrase) or phrase.isupper():
        return False
    return len(word) > 3 and word not in lexicon() and root(word) not in _ABOUT and not word.endswith("ing")


def heads_disease(word: str) -> bool:
    """Whether a single word heads names of diseases: 'cancer', 'meningitis', 'gout'."""
    word = word.strip(".,:;()[]*_'\"")
    bare = tokens(word)
    return len(bare) == 1 and len(word) > 3 and (root(bare[0]) in _NOUNS or _FINAL.search(word) is not None)


def consequence(phrase: str) -> bool:
    """Whether a phrase names a common consequence of many diseases (shock, effusion, renal failure)."""
    if spelled := vocabulary().abbreviations.get(phrase.strip(" .")):
        phrase = spelled
    word = _head(phrase)
    return word in _CONSEQUENCE or word in _ABOUT


def general(phrase: str) -> bool:
    """Whether a phrase names a final state of many diseases (septic shock), so that the cause is the answer."""
    phrase = vocabulary().abbreviations.get(phrase.strip(" ."), phrase)
    return _head(phrase) in _GENERAL or key(phrase) in _GENERAL_NAMES


def effect(phrase: str) -> bool:
    """Whether a phrase names a condition that always has a cause (anaphylaxis, stroke), which is then the answer."""
    phrase = vocabulary().abbreviations.get(phrase.strip(" ."), phrase)
    return consequence(phrase) or _head(phrase) in _EFFECT


_EJECTED = regex(r"(?i)\W*(?:an? )?(?:lv)?(?:ef|ejection fraction)\b(?! (?:un)?\w*failure)")


def is_detail(phrase: str) -> bool:
    """Whether a phrase only adds detail to a disease: a stage, a code, an adjective, an involvement."""
    if key(phrase) in known_names() or phrase.strip(" .") in vocabulary().abbreviations:
        return False
    if _EJECTED.match(phrase):
        return True
    word = _last(_CODE.sub(" ", phrase))
    if len(word) < 3 or root(word) in _ABOUT or _ADJECTIVE.search(word):
        return True
    return not disease(phrase).core or _counts_places(phrase)


_COUNTS = list_words("one two three four five six seven eight nine ten both several few many all multiple first second")


def _counts_places(phrase: str) -> bool:
    """Whether a phrase only counts parts of the body or episodes: 'two joints', 'first episode'."""
    words = [word for word in tokens(phrase) if len(word) > 1]
    known = all(word in _COUNTS or word.isdigit() or root(word) in GENERIC or is_site(root(word)) for word in words)
    return known and not disease_like(phrase)


def adds_detail(phrase: str, name: str) -> bool:
    """Whether a phrase after a disease only adds detail to it (`is_detail`), or its organism if it has none yet."""
    return is_detail(phrase) or (organism(phrase) and not species_of(name))


def _head(phrase: str) -> str:
    """The root of the last word of a phrase before its site: 'carcinoma' of 'carcinoma of the lung'."""
    word = _last(phrase)
    return root(word) if word else ""


def _last(phrase: str) -> str:
    bare = re.sub(r"\([^()]*\)", " ", phrase)
    words = tokens(_SITE.sub("", bare)) or tokens(bare)
    kept = [word for word in words if len(word) > 1 and not word[0].isdigit() and word not in _TRAILING]
    return kept[-1] if kept else ""


_GENERAL_NAMES = frozenset(
    map(
        key,
        (
            "acute respiratory distress syndrome",
            "acute kidney injury",
            "disseminated intravascular coagulation",
            "acute abdomen",
            "multiple organ dysfunction syndrome",
            "superior vena cava syndrome",
            "cauda equina syndrome",
            "spinal cord compression",
            "systemic inflammatory response syndrome",
        ),
    )
)
_TRAILING = list_words("type stage grade class i ii iii iv v vi a b c d unspecified nos")


@cache
def known_names() -> frozenset[str]:
    """The names of the project's own tables of diseases, in comparable form; they load faster than classifications."""
    return cached_table("known", frozenset[str], _read_known_names)


def _read_known_names() -> frozenset[str]:
    rows = [row for table in ("conditions.csv", "diseases.csv", "rare.csv") for row in table_rows(table)]
    return frozenset(key(one) for row in rows for one in (row["name"], *row["synonyms"].split("|")) if one.strip())


@cache
def compound() -> re.Pattern[str]:
    """Matches names with a joining word inside ('granulomatosis with polyangiitis'), which must never be split."""
    names = {"graft versus host disease", "graft vs host disease", "graft-versus-host disease"}
    for name in ("conditions.csv", "diseases.csv", "rare.csv"):
        for row in table_rows(name):
            names.update(one.strip() for one in (row["name"], *row["synonyms"].split("|")))
    names.update(slashed_labels())
    joined = [one for one in names if _joins(one)]
    patterns = [
        r"[\s,]+".join(map(re.escape, re.split(r"[\s,]+", one))) for one in sorted(joined, key=lambda x: (-len(x), x))
    ]
    return regex(rf"(?i)(?<![A-Za-z0-9-])(?:{'|'.join(patterns)})(?![A-Za-z0-9-])")


def _joins(text: str) -> bool:
    """Whether a text has a joining word or mark. Without one it has no name of `compound`, which compiles slowly."""
    return "," in text or "/" in text or cue("and", "or", "apart", "with", "due", "denying").search(text) is not None


SHARED = list_words(
    "infection coinfection co-infection disease syndrome disorder superinfection pneumonia poisoning deficiency"
)
"""Nouns that end the names of many diseases, and that two names before them may share."""
KIND_OF = regex(
    r"(?i)^(?:an?|the)?\s*(?:(?:rare|known|special|severe|particular|mild|distinct|certain)\s+)?"
    r"(?:variant|variety|type|subtype|form|kind|class|subset|relative|cousin|sort|member of the family)s?\s+of\s+"
    r"(?:an?\s+|the\s+)?(?=\w{3})"
)
_PREPOSITION = regex(r"(?i)\s+(?:of|for|against|about|on|in|to|from|with)\s+(?:(?:a|an|the|his|her)\s+)*")


_HOST = regex(
    r"(?i)\s+in\s+(?:an?\s+|the\s+)?(?:sheep|cattle|dogs?|cats?|horses?|cows?|cal(?:f|ves)|goats?|pigs?|lambs?)$"
)
_VERB_LAST = regex(r"(?i)\s+[a-z]{3,}(?:ed|ing)$")
_PSEUDO = regex(r"(?i)^(?:pseudo|quasi)[-\s]\s*(?=[a-z]{4})")


def bare_name(name: str) -> str:
    """A name without 'a variant of' before it, 'in sheep' or another animal after it, or a participle at its end."""
    name = _HOST.sub("", name)
    if kind := KIND_OF.match(name):
        name = name[kind.end() :]
    verb = None if root(_last(name)) in _SPEECH else _VERB_LAST.search(name)
    return name[: verb.start()] if verb and not disease_like(name) and disease_like(name[: verb.start()]) else name


Reach = Literal["", "phrase", "clause"]


def dealing(name: str) -> Reach:
    """How far a phrase that only speaks about a disease reaches; "" if it is no such phrase.

    'Treatment of gout' takes in what is joined to it by 'with' or 'due to', 'screening for gout' the whole clause.
    """
    if (sham := _PSEUDO.match(name)) and not (diseases_named(name) or key(name) in known_names()):
        return "phrase" if disease_like(name[sham.end() :]) else ""
    if root(_last(name)) in _SPEECH and len(name.split()) < LONGEST_DEALING:
        return "clause"
    front, *others = _PREPOSITION.split(name)
    if others and root(_last(front)) in _SPEECH:
        return "clause"
    return "phrase" if deals_with(front) and any(disease_like(other) for other in others) else ""


_GLUE = {ord(" "): "\u02ec", ord(","): "\u02c0", ord("/"): "\u02c1", ord("+"): "\u02e0", ord("-"): "\u02e1"}
"""Letters that replace the separators inside names that must stay whole, so that no word ends at them."""
_LOOSE = {ord(letter): chr(mark) for mark, letter in _GLUE.items()}
# A fraction, a gene or a count is not a choice between diseases: 'HER2/neu', 'WHO 2/4', '3+4'.
_FRACTION = regex(r"(?i)(?<=\d)\s*[/+]\s*(?=\d)|(?<=\w)/(?=(?:neu|hpfs?|min|day)\b)")


def glued(text: str) -> str:
    """Join names that contain a separator, and fractions, into one word each; `loose` undoes it."""
    if _joins(text):
        text = compound().sub(lambda match: match[0].translate(_GLUE), text)
    return _FRACTION.sub(lambda match: match[0].translate(_GLUE), text)


def loose(text: str) -> str:
    """Undo `glued`: a text with its separators again."""
    return text.translate(_LOOSE)
