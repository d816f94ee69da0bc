"""Who the patient of a case is, and what it suffers from; decides where a normal value may be assumed."""

import re
from collections.abc import Mapping
from functools import lru_cache

import msgspec

from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.scenarios.orders.catalogue import Test, catalogue
from wardround.scenarios.orders.imaging import read_study
from wardround.scenarios.orders.passages import biopsies_of_sites

ADULT = 18
_BEFORE = 80
"""Characters before a word that are searched for a denial."""
_AGE = regex(
    r"(?i)\b(?P<number>\d{1,3})[\s-]*(?P<unit>years?|yrs?|y/?o|months?|weeks?|days?)[\s-]*(?:old|of age)?"
    r"|\b(?P<decade>\d0)s\b|\baged?\s+(?P<aged>\d{1,3})\b"
)
_CHILD = regex(r"(?i)\b(?:newborn|neonate|infant|toddler|preterm|premature baby|schoolboy|schoolgirl|child|boy|girl)\b")
_FEMALE = regex(r"(?i)\b(?:woman|female|girl|lady|she|her|mother|pregnant|gravida|F)\b(?!\s*/\s*M)")
_MALE = regex(r"(?i)\b(?:man|male|boy|gentleman|he|his|father)\b")
_PREGNANT = regex(
    r"(?i)\b(?:pregnant|gravida|gestation(?:al)?|weeks['\u2019]? pregnan|antenatal|primigravida|multigravida"
    r"|G\d\s?P\d|\d{1,2}\s*weeks?\s+(?:of\s+)?(?:pregnan|gestation)"
    r"|\d{1,2}\s*weeks?\s+(?:into|in|along in)\s+(?:a|an|her|the)\s+(?:\w+\s+)?pregnancy"
    r"|\bin\s+(?:the \w+ trimester of )?her\s+(?:first|second|third|fourth|fifth|current)\s+pregnancy|trimester\b)"
)
_NOT_PREGNANT = regex(r"(?i)\b(?:not|never|denies being|isn['\u2019]t)\s+(?:currently\s+)?pregnant\b|\bnon-?pregnant\b")
_OF_PREGNANCY = ("Obstetric examination", "Pelvic examination", "Abdominal examination")
_FERTILE = (10, 58)
_FEMALE_ONLY = regex(r"(?i)pregnan|obstetric|cervi(?:x|cal swab)|vagin|estradiol|progesterone|mullerian")
_MALE_ONLY = regex(r"(?i)prostate|semen|scrot")
_SPEAKS_AGAINST = tuple(
    (regex(rf"(?i)\b(?:{words})"), frozenset(names.split("; ")))
    for words, names in (
        ("fever|febrile|chills|rigors|pyrexi|sepsis|septic|hypotherm", "Temperature; Heart rate"),
        ("palpitation|tachycard|bradycard|arrhythm|fibrillation|heart block", "Heart rate; Cardiovascular examination"),
        ("hypotens|hypertens|shock|syncop|faint|collaps|h(?:a)?emorrhag|dehydrat", "Blood pressure; Heart rate"),
        (
            "breathless|short(?:ness)? of breath|dyspn|wheez|pneumon|asthma|hypox|cyano|copd|pleural|cough",
            "Respiratory rate; Oxygen saturation; Respiratory examination",
        ),
        (
            "consolidation|infiltrat|crackle|crepitation|pneumothorax|rhonch",
            "Respiratory examination; Respiratory rate",
        ),
        ("murmur|heart failure|chest pain|endocarditis|valv|pericard|cardiomyopath", "Cardiovascular examination"),
        ("o?edema|swollen (?:leg|ankle)|leg swelling", "Cardiovascular examination; Extremity examination"),
        (
            "abdom|belly|stomach|epigastr|nausea|vomit|diarrh|jaundice|icter|ascites|hepatomeg|splenomeg|cholecyst"
            "|append|pancreat|bowel obstruct|distend|distension",
            "Abdominal examination",
        ),
        ("rectal|h(?:a)?emorrhoid|mel(?:a)?ena|h(?:a)?ematochez|prostat", "Rectal examination"),
        ("vagin|pelvic pain|pelvic mass|cervical motion|uter(?:us|ine)|ovar", "Pelvic examination"),
        ("testic|scrot|penile|penis|urethral discharge|flank pain", "Genitourinary examination"),
        ("breast (?:lump|mass|pain|swelling)|nipple", "Breast examination"),
        (
            "rash|lesion|itch|prurit|blister|ulcer|erythem|purpur|petechi|pallor|pale|jaundice|papul|plaque|bruis"
            "|nodule|wound|cellulit",
            "Skin examination",
        ),
        ("lymphadenopath|swollen glands?|lymphoma|lymph nodes?", "Lymph node examination"),
        ("neck (?:mass|swelling|pain|stiff)|goit|thyroid nodule", "Neck examination; Head and neck examination"),
        ("stiff neck|neck stiffness|mening|photophob", "Meningeal signs; Neurological examination"),
        ("ear ?ache|ear pain|deaf|hearing|tinnitus|sore throat|tonsil|nasal|epistaxis|hoarse", "ENT examination"),
        (
            "eye|vision|visual|diplop|double vision|blurr|ptosis|proptosis",
            "Eye examination; Visual acuity; Fundoscopy",
        ),
        ("diplop|double vision|ptosis|facial (?:weak|palsy|droop|numb)|dysarthr|dysphag", "Cranial nerve examination"),
        (
            "weakness|paraly|paresis|numb|tingl|paresthes|par(?:a)?esthes|seizure|convuls|stroke|hemipleg|aphas|tremor"
            "|ataxi|unsteady|headache|vertigo|slurred",
            "Neurological examination; Gait examination",
        ),
        ("weakness|paraly|paresis|hemipleg|myopath|atrophy|fasciculat", "Motor examination; Reflexes"),
        ("numb|tingl|par(?:a)?esthes|sensory|neuropath", "Sensory examination; Reflexes"),
        ("ataxi|unsteady|cerebell|tremor|clums", "Coordination examination; Gait examination"),
        ("limp|gait|difficulty walking|unable to walk|falls", "Gait examination"),
        ("vertigo|dizz|spinning", "Dix-Hallpike maneuver; Otolith and hearing bedside tests; Orthostatic vital signs"),
        (
            "confus|delir|memory|hallucinat|delusion|depress|mania|manic|anxi|agitat|psychos|suicid|dementia|lethargi"
            "|drows|somnol|unconscious|coma",
            "Mental status examination; Neurological examination; General examination",
        ),
        (
            "joint|arthrit|arthralg|swollen (?:knee|wrist|finger)|fracture|back pain|muscle pain|myalg",
            "Musculoskeletal examination; Extremity examination",
        ),
        ("back pain|spinal|spondyl|scolio|kypho", "Spine examination"),
        ("shoulder", "Shoulder examination"),
        ("hand|finger|wrist|thumb", "Hand examination; Extremity examination"),
        ("knee", "Knee examination; Extremity examination"),
        ("hip (?:pain|fracture|stiff)|groin pain", "Hip examination"),
        ("foot|feet|ankle|toe|heel", "Foot and ankle examination; Extremity examination"),
        ("leg|calf|thigh|arm|limb|extremit", "Extremity examination"),
        ("weight loss|los(?:t|ing) weight|obes|weight gain|short stature|failure to thrive", "Weight and height"),
        ("weight loss|fatigue|malaise|ill-appearing|toxic|distress|cachex|unwell|fever", "General examination"),
    )
)
"""Words of a case's text, and the parts of the examination that it then does not leave normal without a word."""
_NOT_SO = regex(r"(?i)\b(?:no|not|denie[sd]|denying|without|never|negative for|free of|absence of)\b[^.;:]*$")


class Subject(msgspec.Struct, frozen=True):
    """The patient of a case, as far as its opening states; `years` is None and `sex` '' if it does not.

    `doubted` are the parts of the examination that what it suffers from speaks against calling normal, `regions` the
    parts of the body that its text names and does not deny, also with the side, and the biopsies of such parts.
    """

    years: float | None = None
    sex: str = ""
    pregnant: bool = False
    doubted: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()

    def row(self) -> dict[str, Json]:
        """The subject as a JSON object."""
        row: dict[str, Json] = {"years": self.years, "sex": self.sex, "pregnant": self.pregnant}
        stated = {"doubted": sorted(self.doubted), "regions": sorted(self.regions)}
        return row | {name: value for name, value in stated.items() if value}


NOBODY = Subject()
"""A patient whose age, sex and pregnancy are unknown."""


def read_subject(text: str) -> Subject:
    """Age, sex, pregnancy, and the doubted parts of the examination, as a case's text states them.

    ::

        read_subject("A 26-year-old woman, 24 weeks pregnant")  # Subject(26.0, 'female', True)
    """
    pregnant = _PREGNANT.search(text) is not None and _NOT_PREGNANT.search(text) is None
    doubted = doubted_by(text)
    regions = _regions(text) | ({"Pelvis"} if pregnant else frozenset())
    regions |= {"Skin biopsy"} if "Skin examination" in doubted else frozenset()
    return Subject(_years(text), _sex(text, pregnant=pregnant), pregnant, doubted, regions)


def _regions(text: str) -> frozenset[str]:
    """The regions of the body that a text names in a clause that denies nothing, also with their side ('left Hand')."""
    affirmed = [clause for clause in _CLAUSE.split(text) if not _DENIES.search(clause)]
    read = [read_study(clause, catalogue()) for clause in affirmed]
    sided = (f"{one.side} {region}" for one in read if one.side for region in one.regions)
    return frozenset(
        (*sided, *(region for one in read for region in one.regions), *biopsies_of_sites(". ".join(affirmed)))
    )


_CLAUSE = regex(r"[.;,\n]")
_DENIES = regex(r"(?i)\b(?:no|not|denie[sd]|denying|without|never|none|father|mother|brother|sister|family)\b")


@lru_cache(maxsize=4096)
def doubted_by(text: str) -> frozenset[str]:
    """The parts of the examination that a text speaks against calling normal, by what it tells and does not deny.

    ::

        doubted_by("Cough, no rash.")  # has "Respiratory examination" and not "Skin examination"
    """
    doubted = {
        name
        for words, names in _SPEAKS_AGAINST
        if any(
            _NOT_SO.search(text[max(0, match.start() - _BEFORE) : match.start()]) is None
            for match in words.finditer(text)
        )
        for name in names
    }
    return frozenset(doubted | {"Physical examination"}) if doubted else frozenset()


def subject_of(row: Json) -> Subject:
    """The subject from its JSON object; an empty one where there is none."""
    if not isinstance(row, Mapping):
        return Subject()
    years = row.get("years")
    return Subject(
        float(years) if isinstance(years, int | float) else None,
        str(row.get("sex") or ""),
        bool(row.get("pregnant")),
        _names(row.get("doubted")),
        _names(row.get("regions")),
    )


def _names(cell: Json) -> frozenset[str]:
    return frozenset(map(str, cell)) if isinstance(cell, list | tuple) else frozenset()


def _years(text: str) -> float | None:
    for match in _AGE.finditer(text):
        if re.match(
            r"(?i)\s*(?:ago|later|history|of (?:pain|symptoms|gestation)|pregnan|gestation)", text[match.end() :]
        ):
            continue
        if match["decade"] or match["aged"]:
            return float(match["decade"] or match["aged"])
        years_old = re.search(r"(?i)old|of age|y/?o", match[0]) is not None
        unit = match["unit"].lower()
        if unit.startswith("y") and years_old:
            return float(match["number"])
        if years_old:
            return int(match["number"]) / {"m": 12, "w": 52, "d": 365}[unit[0]]
    return 1.0 if _CHILD.search(text[:200]) else None


def _sex(text: str, *, pregnant: bool) -> str:
    if pregnant:
        return "female"
    female, male = _FEMALE.search(text), _MALE.search(text)
    if female and (not male or female.start() < male.start()):
        return "female"
    return "male" if male else ""


def assumable(test: Test, subject: Subject) -> bool:
    """Whether a normal result of the table fits the patient.

    The ranges are adult ones, so a child gets none. A pregnancy is never denied where it is possible, and a part of the
    examination is not normal where the case's text speaks against it.
    """
    if test.kind == "examination" and subject.doubted & {test.name, *test.members}:
        return False
    if test.name == "Pregnancy test":
        years = subject.years
        barren = years is not None and not _FERTILE[0] <= years <= _FERTILE[1]
        return not subject.pregnant and (subject.sex == "male" or barren)
    if subject.pregnant and (test.name in _OF_PREGNANCY or test.kind == "lab"):
        return False
    if subject.sex == "male" and _FEMALE_ONLY.search(test.name):
        return False
    if subject.sex == "female" and _MALE_ONLY.search(test.name):
        return False
    measured = test.low is not None or test.high is not None or bool(test.members)
    measured = measured or any(mark.isdigit() for mark in test.normal)
    return not (subject.years is not None and subject.years < ADULT and measured)
