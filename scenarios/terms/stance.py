"""Classifies each clause of an answer by its stance: asserts, leaves open, denies, refuses or explains."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from wardround.engine.text import later
from wardround.scenarios.terms.cues import cue, cue_words
from wardround.scenarios.terms.disease import disease
from wardround.scenarios.terms.double_negation import undoubled
from wardround.scenarios.terms.wording import key, list_words, root, tokens, vocabulary

_ENDING = later(
    r"(?:it|oma|omat|os|emia|uria|pathy|plegia|trophy|plasia|sclerosi?|ectasi?|ism|iasi?|penia|cytosi?|malacia"
    r"|rrhea|rrhagia"
    r"|cel|megaly|ectasia|oidosi?|mycosi?|itid|iti|osi|asi|esi|ysi|oni|itu|pathia|algia|rexia|mania|phobia|phrenia)$"
)
_NOUNS = frozenset(
    root(word)
    for word in list_words(
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
    for word in list_words(
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
    for word in list_words(
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
    for word in list_words(
        """failure shock sepsis septicemia bacteremia effusion bleeding obstruction perforation peritonitis ascites
        edema hydronephrosis hydrocephalus hypotension seizure coma encephalopathy acidosis dehydration hyponatremia
        hyperkalemia hypokalemia hypercalcemia hypoglycemia coagulopathy fever cachexia malnutrition distress arrest
        tamponade rhabdomyolysis jaundice cholestasis collapse hypoxia hypoxemia atelectasis delirium dic ards aki cough
        dyspnea vomiting headache diarrhea rash hematuria proteinuria hemoptysis syncope lymphadenopathy splenomegaly"""
    )
)
_EFFECT = frozenset(
    root(word)
    for word in list_words(
        """stroke ileus crisis anaphylaxis intussusception neuropathy myelopathy radiculopathy palsy paresis paraplegia
        quadriplegia ptosis diplopia blindness hyperthermia erythrocytosis leukocytosis eosinophilia pneumonitis
        mediastinitis pneumoperitoneum pneumomediastinum hemothorax hemoperitoneum hematoma ulcer ulceration volvulus
        pseudoachalasia gynecomastia hirsutism virilization amenorrhea galactorrhea dysphagia hoarseness stridor
        hyperprolactinemia hyperammonemia hypophosphatemia hyperphosphatemia osteomalacia angina bradycardia
        tachycardia tachyarrhythmia hypercortisolism hypopituitarism activation compression occlusion thrombus aneurysm
        pseudoaneurysm"""
    )
)
_DAMAGED = later(
    r"(?i)^(?:(?:an?|the|acute|acutely|partly|partially|completely|left|right|bilateral)\s+)*(?:ruptured|torn|perforated"
    r"|obstructed|infected|dislocated|herniated|fractured|incarcerated|strangulated|thrombosed|occluded|dissected"
    r"|inflamed|infarcted|retained|displaced|impacted)\s+[a-z]"
)
"""Opens the name of a damaged organ, which is a disease: 'ruptured papillary muscle'."""
_ADJECTIVE = later(r"(?:ed|ing|ent|ive|ic|al|ous|ly|ble|ar|ary|ate|type)$")
_SITE = later(
    r"(?i)\s+(?:of|in|on|at|to|into|within|involving|affecting|for|per|by|under|above|below|between)\b.*$", re.DOTALL
)
_CODE = later(r"\b(?:c?p?T\d\w*|N\d\w*|M\d\w*|[A-Z]*\d[\w.+/-]*|\d[\d.,%+/-]*)\b")


def disease_like(phrase: str) -> bool:
    """Whether a phrase names a disease: by the project's tables, else by the last word of its head."""
    if key(phrase) in known_names() or phrase.strip(" .") in vocabulary().abbreviations or _DAMAGED.match(phrase):
        return True
    word = _head(phrase)
    return bool(word) and word not in _ABOUT and (word in _NOUNS or word in _CONSEQUENCE or bool(_ENDING.search(word)))


def consequence(phrase: str) -> bool:
    """Whether a phrase names a common consequence of many diseases (shock, effusion, renal failure)."""
    if spelled := vocabulary().abbreviations.get(phrase.strip(" .")):
        phrase = spelled
    word = _head(phrase)
    return word in _CONSEQUENCE or word in _ABOUT


def general(phrase: str) -> bool:
    """Whether a phrase names such a common final state of diseases (septic shock) that its cause is the answer."""
    phrase = vocabulary().abbreviations.get(phrase.strip(" ."), phrase)
    return _head(phrase) in _GENERAL or key(phrase) in _GENERAL_NAMES


def effect(phrase: str) -> bool:
    """Whether a phrase names a condition that always has a cause (anaphylaxis, stroke); the cause is the answer."""
    phrase = vocabulary().abbreviations.get(phrase.strip(" ."), phrase)
    return consequence(phrase) or _head(phrase) in _EFFECT


def is_detail(phrase: str) -> bool:
    """Whether a phrase only adds detail to a disease: a stage, a code, an adjective, an involvement."""
    if key(phrase) in known_names() or phrase.strip(" .") in vocabulary().abbreviations:
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
_TRAILING = list_words("type stage grade class i ii iii iv v vi a b c d unspecified nos")


@cache
def known_names() -> frozenset[str]:
    """The comparable names of the project's own tables of diseases, which load faster than the classifications."""
    names: set[str] = set()
    for name in ("conditions.csv", "diseases.csv", "rare.csv"):
        text = files(__package__).joinpath("data", name).read_text(encoding="utf-8")
        for row in csv.DictReader(io.StringIO(text)):
            names.update(key(one) for one in (row["name"], *row["synonyms"].split("|")) if one.strip())
    return frozenset(names)


@cache
def compound() -> re.Pattern[str]:
    """Names of the tables with a joining word inside ('granulomatosis with polyangiitis'); these are never split."""
    names = {"graft versus host disease", "graft vs host disease", "graft-versus-host disease"}
    for name in ("conditions.csv", "diseases.csv", "rare.csv"):
        text = files(__package__).joinpath("data", name).read_text(encoding="utf-8")
        for row in csv.DictReader(io.StringIO(text)):
            names.update(one.strip() for one in (row["name"], *row["synonyms"].split("|")))
    joiner = cue("and", "or", "apart", "with", "due", "denying")
    joined = [one for one in names if joiner.search(one) or "," in one or "/" in one]
    patterns = [
        r"[\s,]+".join(map(re.escape, re.split(r"[\s,]+", one))) for one in sorted(joined, key=lambda x: (-len(x), x))
    ]
    return later(rf"(?i)(?<![A-Za-z0-9-])(?:{'|'.join(patterns)})(?![A-Za-z0-9-])")


Stance = Literal["asserted", "open", "denied", "refused", "tells"]
"""'open': one of several possibilities. 'tells': an explanation, history or condition; asserts no diagnosis."""

REACH = 400
"""Characters of a clause within which its frame or predicate must begin and end."""

_GENERIC = (
    rf"(?:{cue_words('adjective')}\s+)*{cue_words('noun')}(?:\s+(?:described|here|well|best|seen|above|presented))*"
)
_SUBJECT = (
    rf"(?:{cue_words('adjective')}\s+)*{cue_words('noun')}"
    r"(?:\s+(?:of|in|for|from|behind|here)\b(?:\s+[\w'-]+){1,5}?)?"
)
_ADVERBS = rf"(?:[\s,]+{cue_words('adverb')})*"
_OTHERS = (
    r"(?:whose|mother|father|brother|sister|sibling|twin|uncle|aunt|cousin|grand(?:mother|father)|relatives?|family"
    r"|wife|husband|friend|neighbou?r|roommate)"
)
"""Statements about these people are not about the patient."""
_FRAMES = (
    # 'The most likely diagnosis in this patient is'
    later(
        rf"(?i)^\W*(?:[\w']+,\s*(?!wh(?:ich|o)\b))?{_SUBJECT}{_ADVERBS}\s+{cue_words('verb')}{_ADVERBS}(?:\s+that\b)?(?=\W)"
    ),
    # 'All of this is most consistent with'
    later(rf"(?i)^(?:(?!\b{_OTHERS}\b).){{0,300}}?{cue_words('stating')}(?:\s+that\b)?(?=\W)"),
    # 'Final diagnosis:'
    later(rf"(?i)^\W*(?:{cue_words('adjective')}\s+)*{cue_words('noun')}\s*(?:\([^()]{{0,40}}\)\s*)?[:=]+"),
)
_PREDICATE = later(
    rf"(?i)\s+(?:(?:is|are|was|were|remains?|seems?|appears?|(?:would|must|has) (?:be|been)){_ADVERBS}\s+"
    rf"(?:{cue_words('adjective')}\s+)*(?:{cue_words('likelihood')}|(?:diagnos[ei]s|answer|cause|culprit|explanation|conclusion"
    rf"|impression|choice|pick|fit|match)\b)"
    rf"|(?:(?:would|has|have|had)\s+)?{_ADVERBS}\s*(?:explains?|explained|accounts?\s+for|fits?|underlies|underlie|caused(?!\s+by)|causes)\b"
    rf"|(?:\s*(?:is|are|seems)\b)?{_ADVERBS}\s*(?:consistent|compatible|keeping)\s+with\s+{_GENERIC}\s*$).*$",
    re.DOTALL,
)
_NEGATED = later(
    r"(?i)\b(?:is|are|was|were|be|been|do|does|did|can|could|has|have|had|would|should|must|may|might"
    r"|will)(?: ?not|n['’]t)\b"
)
_TAIL = later(
    rf"(?i)[\s,]+(?:because(?!\s+of)|{cue_words('tail')}|in\s+an?\b[\w\s-]{{0,30}}?"
    r"\b(?:patient|man|woman|boy|girl|child|infant|male|female|host|individual))(?=\W|$).*$",
    re.DOTALL,
)
_OPENING_TAIL = later(rf"(?i)^\W*(?:{cue_words('tail')}|in (?:a|an|this|the|my|our|his|her)\b)[^,]*,(?=.*\w)")
_CONDITION = later(r"(?i)^\W*(?:if|unless|were it|had it|suppose|assuming|in case)\b[^,]*,?")
_ABSENT = later(r"(?i)^\W*(?:\w+\s+){0,2}(?:absence|lack) of\b")
_SENTENCE = later(
    r"(?<=[a-z0-9)\]%'\"’A-Z]{2})[.!]+(?:\s+|$)(?=[^a-z]|$)|[;\n]+|(?<=\?)\s+"
    # after one letter ('S. aureus', 'hemophilia A. The ...') only before a word that begins a sentence
    r"|(?<=[a-z]{4}\s[A-Z0-9])[.!]\s+(?=[A-Z])|\.\s+(?=(?i:it|this|the|i|there|differential|other|possibilities|final|however|no|not)\b)"
)
_TURN = later(
    r"(?<!anything)(?<!everything)(?<!\ball)(?<!nothing)[\s,]+(?:but|however|although|even though|though|while"
    r"|whereas|yet|nevertheless|nonetheless|instead(?! of))\b[\s,]*"
    r"|,?\s+and\s+(?=(?:it|this|he|she|i|we|the (?:patient|diagnosis|final)|not|has|have|is|are|was|were|presents"
    r"|never)\b)"
    r"|,\s*(?:so|therefore|hence|thus)\s+(?=\w)"
    r"|,\s*(?=(?:it|this|that|i|we|my|the (?:most|final|diagnosis|answer))\s)"
    # 'A, less likely B, C' but not 'A is less likely'
    r"|(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bbe)(?<!seems)(?<!appears)(?<!\bmuch)(?<!\bfar)(?<!considered)"
    r"[\s,(–—-]+(?:and\s+)?(?=(?:less|least)\s+(?:likely|probable)\b\W*(?!than\b)\w)"
    r"|\s[-–—]+\s(?=not\b|\w+ (?:is|was) )",
    re.IGNORECASE,
)
_LESS = later(r"(?i)^\W*(?:less|least)\s+(?:likely|probable)\b")
_COMMA = later(r"[,:]\s")
_PLURAL = later(r"(?i)\b(?:are|were|have been)\b|^\s*(?:and|or|nor)\b")
_OR = later(r"(?i)\b(?:or|nor)\b")
_GOES_ON = later(r"(?i)^\s*(?:or|nor|and)\b|\b(?:or|nor)\b")
_BULLET = later(r"^\s*(?:\(?\d{1,2}[.):](?=\s|[A-Z*])|[-*•+–▪●◦]+\s+|\(?[a-hA-H][.)]\s)\s*")
_LISTS = later(
    r"(?i)\b(?:differentials?|ddx|d/d|diagnos[ei]s|possibilities|considerations|candidates|options|alternatives)\b"
)


@dataclass(frozen=True, slots=True)
class StanceClause:
    """A clause's own words, without frame ('the diagnosis is') and tail ('based on ...'), and its stance.

    `hedged`: by a word such as 'probably'. `weak`: by a word such as 'possibly'. `final`: declared most likely or
    final. `ranked`: in a list by likelihood. `line` is the number of the sentence; `marked`: a bullet or number opens
    it.
    """

    text: str
    stance: Stance
    hedged: bool = False
    weak: bool = False
    final: bool = False
    ranked: bool = False
    line: int = 0
    marked: bool = False


def clauses(text: str) -> Iterator[StanceClause]:
    """The clauses of an answer in order, each with its stance."""
    listing = False
    for line, sentence in enumerate(_SENTENCE.split(text)):
        bullet = _BULLET.match(sentence)
        said = undoubled((sentence[bullet.end() :] if bullet else sentence).strip())
        if not any(map(str.isalnum, said)):
            continue
        if cue("final").search(said) or (listing and not bullet and _framed(said) is not None):
            listing = False
        asked, ranked = said.endswith("?"), bool(cue("ranking").search(said))
        for piece in _TURN.split(cue("sole").sub("only", said.rstrip("?. "))):
            hedged, weak = asked or bool(cue("hedging").search(piece)), asked or bool(cue("weak").search(piece))
            final = bool(cue("final").search(piece))
            for words_, stance in _parts(piece):
                kind: Stance = "open" if stance == "asserted" and listing else stance
                yield StanceClause(words_, kind, hedged, weak, final, ranked, line, bool(bullet))
                listing = listing or (stance == "open" and bool(_LISTS.search(said)))


def _parts(piece: str) -> Iterator[tuple[str, Stance]]:
    """The parts of a piece of a sentence with their stances."""
    if condition := _CONDITION.match(piece):
        yield condition[0], "tells"
        piece = piece[condition.end() :]
    while refused := cue("refused").search(piece):
        yield piece[: refused.end()], "refused"
        comma = _COMMA.search(piece, refused.end())
        piece = piece[comma.end() :] if comma else ""
    if _LESS.match(piece):
        yield piece, "denied"
        return
    for text, denied in _undenied(piece):
        if denied:
            yield text, "denied"
        elif any(map(str.isalnum, text)):
            yield _stated(text)


def _undenied(piece: str) -> Iterator[tuple[str, bool]]:
    """(text, whether denied): a denial reaches to the next comma, or further over a list continued with 'or'."""
    parts = _at_commas(piece)
    kept: list[str] = []
    open_list = False
    last_or = max((place for place, part in enumerate(parts) if _OR.search(part)), default=0)
    for place, part in enumerate(parts):
        plain = cue("spared").sub(lambda match: "_" * len(match[0]), part)
        denying = cue("denying").search(plain)
        if open_list:
            open_list = not _GOES_ON.search(part)
            yield part, True
        elif cue("denied").search(plain) or _NEGATED.search(plain):
            before = denying.start() if denying else 0
            if denying and not cue("denied").search(plain[:before]) and not _NEGATED.search(plain):
                kept.append(part[:before])
            elif _PLURAL.search(plain) or is_detail(plain[: _predicate(plain)]):
                yield from ((text, True) for text in kept if not cue("explaining").search(text))
                kept = [text for text in kept if cue("explaining").search(text)]
            yield part[before:], True
        elif denying and not any(map(str.isalnum, plain[denying.end() :])):
            yield ",".join((*kept, part)), True  # 'gout: no'
            kept = []
        elif denying and not (place == 0 and _ABSENT.match(plain)):
            kept.append(part[: denying.start()])
            yield part[denying.start() :], True
            open_list = place < last_or
        else:
            kept.append(part)
    yield ",".join(text for text in kept if any(map(str.isalnum, text))), False


def _predicate(text: str) -> int:
    """The position of the words that deny what comes before them ('is wrong', 'can be dismissed')."""
    denial = _NEGATED.search(text) or cue("denied").search(text)
    return denial.start() if denial else len(text)


def _at_commas(piece: str) -> list[str]:
    """Split `piece` at its commas outside brackets."""
    depth, start, pieces = 0, 0, []
    for at, mark in enumerate(piece):
        depth = depth + 1 if mark in "([" else max(0, depth - 1) if mark in ")]" else depth
        if mark == "," and not depth:
            pieces.append(piece[start:at])
            start = at + 1
    return [*pieces, piece[start:]]


def _stated(text: str) -> tuple[str, Stance]:
    """The words that a clause puts forward, and whether it asserts them, leaves them open or only explains."""
    if opening := cue("opening").search(text):
        rest = re.sub(rf"(?i)^(?:[\s:,-]|{cue_words('listing')})+", "", text[opening.end() :])
        # 'X remains in the differential' only means that it is one of several
        return (_bare(rest), "open") if any(map(str.isalnum, rest)) else (text, "tells")
    if predicate := _PREDICATE.search(text[:REACH]):
        subject = text[: predicate.start()]
        if any(map(str.isalnum, subject)) and not re.fullmatch(rf"(?i)\W*{_SUBJECT}\W*", subject):
            return _bare(_unframed(subject)), "asserted"
    said = _unframed(text)
    bare = _bare(said)
    return bare, "tells" if said == text and cue("explaining").search(bare) else "asserted"


def _unframed(text: str) -> str:
    """`text` without its opening frames, at most four: 'I believe that the diagnosis is'."""
    for _ in range(4):
        after = _framed(text)
        if after is None:
            break
        text = after
    return text


def _framed(text: str) -> str | None:
    """The text after the frame that opens `text`; None without a frame."""
    for frame in _FRAMES:
        match = frame.match(text, 0, REACH)
        if match and any(map(str.isalnum, text[match.end() :])):
            return text[match.end() :]
    return None


def _bare(text: str) -> str:
    opened = _OPENING_TAIL.match(text)
    return _TAIL.sub("", f" {text[opened.end() if opened else 0 :]}").strip(" \t,;:.-–—*_`\"'")
