"""What a phrase of an answer is: the name of a disease, a consequence that many diseases have, or words about one."""

import csv
import io
import re
from functools import cache
from importlib.resources import files

from wardround.scenarios.terms.cues import cue
from wardround.scenarios.terms.disease import disease
from wardround.scenarios.terms.vocabulary import root, vocabulary
from wardround.scenarios.terms.wording import key, tokens, words_of

_ENDING = re.compile(
    r"(?:it|oma|omat|os|emia|uria|pathy|plegia|trophy|plasia|sclerosi?|ectasi?|ism|iasi?|penia|cytosi?|malacia"
    r"|rrhea|rrhagia"
    r"|cel|megaly|ectasia|oidosi?|mycosi?|itid|iti|osi|asi|esi|ysi|oni|itu|pathia|algia|rexia|mania|phobia|phrenia)$"
)
_NOUNS = frozenset(
    root(word)
    for word in words_of(
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
)
_ABOUT = frozenset(
    root(word)
    for word in words_of(
        """involvement extension invasion metastasis metastases spread dissemination infiltration feature presentation
        mutation variant finding symptom sign stage type grade status differentiation compression dysfunction
        deposition change overlap component pattern origin onset course phase complication mass lesion pain deficit
        disability delay impairment abnormality recurrence progression transformation activity exposure ingestion use
        therapy treatment surgery bypass trauma location site expression positivity amplification rearrangement
        translocation deletion inheritance score class subtype form variety manifestation consequence response
        damage destruction inflammation necrosis enlargement displacement adhesion wall nerve artery vein lobe"""
    )
)
_CONSEQUENCE = frozenset(
    root(word)
    for word in words_of(
        """failure shock sepsis septicemia bacteremia effusion hemorrhage bleeding obstruction perforation peritonitis
        ascites edema pneumothorax hydrocephalus hydronephrosis thrombosis embolism anemia hypotension seizure coma
        encephalopathy acidosis dehydration hyponatremia hyperkalemia hypokalemia hypercalcemia hypoglycemia
        hyperglycemia thrombocytopenia leukopenia neutropenia pancytopenia coagulopathy fever cachexia malnutrition
        respiratory distress arrest tamponade rhabdomyolysis jaundice cholestasis insufficiency injury collapse
        hypoxia hypoxemia atelectasis delirium weakness paralysis fracture deformity infertility obesity fatigue
        hypertension arrhythmia abscess stenosis stricture rupture ischemia infarction dic ards aki cough dyspnea
        vomiting headache diarrhea constipation rash hematuria proteinuria hemoptysis syncope lymphadenopathy
        splenomegaly hepatomegaly hepatosplenomegaly serositis pleuritis pericarditis herniation lymphadenitis
        cirrhosis fistula empyema cellulitis hypoalbuminemia epistaxis"""
    )
)
_GENERAL = frozenset(
    root(word)
    for word in words_of(
        """failure shock sepsis septicemia bacteremia effusion bleeding obstruction perforation peritonitis ascites
        edema hydronephrosis hydrocephalus hypotension seizure coma encephalopathy acidosis dehydration hyponatremia
        hyperkalemia hypokalemia hypercalcemia hypoglycemia coagulopathy fever cachexia malnutrition distress arrest
        tamponade rhabdomyolysis jaundice cholestasis collapse hypoxia hypoxemia atelectasis delirium dic ards aki cough
        dyspnea vomiting headache diarrhea rash hematuria proteinuria hemoptysis syncope lymphadenopathy splenomegaly"""
    )
)
_EFFECT = frozenset(
    root(word)
    for word in words_of(
        """stroke ileus crisis anaphylaxis intussusception neuropathy myelopathy radiculopathy palsy paresis paraplegia
        quadriplegia ptosis diplopia blindness hyperthermia erythrocytosis leukocytosis eosinophilia pneumonitis
        mediastinitis pneumoperitoneum pneumomediastinum hemothorax hemoperitoneum hematoma ulcer ulceration volvulus
        pseudoachalasia gynecomastia hirsutism virilization amenorrhea galactorrhea dysphagia hoarseness stridor
        hyperprolactinemia hyperammonemia hypophosphatemia hyperphosphatemia osteomalacia angina bradycardia
        tachycardia tachyarrhythmia hypercortisolism hypopituitarism activation compression"""
    )
)
_DAMAGED = re.compile(
    r"(?i)^(?:(?:an?|the|acute|acutely|partly|partially|completely|left|right|bilateral)\s+)*(?:ruptured|torn|perforated"
    r"|obstructed|infected|dislocated|herniated|fractured|incarcerated|strangulated|thrombosed|occluded|dissected"
    r"|inflamed|infarcted|retained|displaced|impacted)\s+[a-z]"
)
"""Opens the name of an organ that is damaged, which is a disease: 'ruptured papillary muscle'."""
_ADJECTIVE = re.compile(r"(?:ed|ing|ent|ive|ic|al|ous|ly|ble|ar|ary|ate|type)$")
_SITE = re.compile(
    r"(?i)\s+(?:of|in|on|at|to|into|within|involving|affecting|for|per|by|under|above|below|between)\b.*$", re.DOTALL
)
_CODE = re.compile(r"\b(?:c?p?T\d\w*|N\d\w*|M\d\w*|[A-Z]*\d[\w.+/-]*|\d[\d.,%+/-]*)\b")


def disease_like(phrase: str) -> bool:
    """Whether a phrase names a disease: by the project's tables, else by the last word of its head."""
    if key(phrase) in known() or phrase.strip(" .") in vocabulary().abbreviations or _DAMAGED.match(phrase):
        return True
    word = _head(phrase)
    return bool(word) and word not in _ABOUT and (word in _NOUNS or word in _CONSEQUENCE or bool(_ENDING.search(word)))


def consequence(phrase: str) -> bool:
    """Whether a phrase names what many diseases lead to (shock, effusion, renal failure), and no disease of its own."""
    if spelled := vocabulary().abbreviations.get(phrase.strip(" .")):
        phrase = spelled
    word = _head(phrase)
    return word in _CONSEQUENCE or word in _ABOUT


def general(phrase: str) -> bool:
    """Whether a phrase names a state so common at the end of diseases (septic shock) that its cause is the answer."""
    phrase = vocabulary().abbreviations.get(phrase.strip(" ."), phrase)
    return _head(phrase) in _GENERAL or key(phrase) in _GENERAL_NAMES


def effect(phrase: str) -> bool:
    """Whether a phrase names what is always due to something (anaphylaxis, stroke), so that its cause is the answer."""
    phrase = vocabulary().abbreviations.get(phrase.strip(" ."), phrase)
    return consequence(phrase) or _head(phrase) in _EFFECT


def about(phrase: str) -> bool:
    """Whether a phrase only tells more of a disease: a stage, a code, an adjective, an involvement."""
    if key(phrase) in known() or phrase.strip(" .") in vocabulary().abbreviations:
        return False
    word = _last(_CODE.sub(" ", phrase))
    if len(word) < 3 or root(word) in _ABOUT or _ADJECTIVE.search(word):
        return True
    return not disease(phrase).core


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
_TRAILING = words_of("type stage grade class i ii iii iv v vi a b c d unspecified nos")


@cache
def known() -> frozenset[str]:
    """The comparable names of the project's own tables of diseases: quick to read, unlike the classifications."""
    found: set[str] = set()
    for name in ("conditions.csv", "diseases.csv", "rare.csv"):
        text = files(__package__).joinpath("data", name).read_text(encoding="utf-8")
        for row in csv.DictReader(io.StringIO(text)):
            found.update(key(one) for one in (row["name"], *row["synonyms"].split("|")) if one.strip())
    return frozenset(found)


@cache
def compound() -> re.Pattern[str]:
    """Names of the tables that hold a word that joins ('granulomatosis with polyangiitis'): never taken apart."""
    held = {"graft versus host disease", "graft vs host disease", "graft-versus-host disease"}
    for name in ("conditions.csv", "diseases.csv", "rare.csv"):
        text = files(__package__).joinpath("data", name).read_text(encoding="utf-8")
        for row in csv.DictReader(io.StringIO(text)):
            held.update(one.strip() for one in (row["name"], *row["synonyms"].split("|")))
    joiner = cue("and", "or", "apart", "with", "due", "denying")
    joined = [one for one in held if joiner.search(one) or "," in one or "/" in one]
    patterns = [
        r"[\s,]+".join(map(re.escape, re.split(r"[\s,]+", one))) for one in sorted(joined, key=lambda x: (-len(x), x))
    ]
    return re.compile(rf"(?i)(?<![A-Za-z0-9-])(?:{'|'.join(patterns)})(?![A-Za-z0-9-])")
