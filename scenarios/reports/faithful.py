"""Compares a curated case with its article, finding by finding: sex, side, negation, numbers."""

import re
from collections.abc import Iterator
from functools import lru_cache

from wardround.scenarios.reports.article import article_sentences, comparable
from wardround.scenarios.reports.case_summary import Unfaithful, item_sentences
from wardround.scenarios.reports.disagreement import (
    KIN,
    contradicted_items,
    contradicted_judgement,
    contradicted_polarity,
    decides,
    known_statements,
)
from wardround.scenarios.reports.sides import contradicted_sides, side_support
from wardround.scenarios.reports.statements import (
    PatientText,
    sentence_statements,
)

_FEMALE = frozenset(["woman", "women", "female", "girl", "lady", "she", "her", "hers", "herself"])
_MALE = frozenset(["man", "men", "male", "boy", "gentleman", "he", "his", "him", "himself"])
_NOUNS = frozenset(["woman", "female", "girl", "lady", "man", "male", "boy", "gentleman"])
_AGED = re.compile(
    r"(?i)(?:(?:year|month|week|day|hour)s?[- ]old|\byo|y/o|\baged \d+(?: years)?),?(?:[ -](?!old\b)[\w-]+,?){0,4}?[ -]"
    r"(woman|man|female|male|girl|boy|lady|gentleman)\b"
    r"|\b(female|male)(?= (?:neonate|newborn|infant|baby|toddler|child|adolescent|patient)\b)"
    r"|\b(woman|man|female|male|girl|boy|lady|gentleman)(?: patient)?(?:,? (?:of|aged|in (?:her|his)) (?:\w+ )?\w*\d"
    r"|, ?(?:aged )?\d{1,3}[ -]?(?:y(?:ears?|rs?|o)?|months?|weeks?|days?)\b"
    r"|,? (?:in|of) (?:her|his) (?:early |late |mid[- ])?(?:teens|\w+ties)\b)"
)
_LETTER = re.compile(r"(?<![\w.,-])(\d{1,3})[- ]?(?:y(?:ears?)?[/-]?o?(?:ld)?)?[, /]{0,2}([MF])(?![\w-])")


def unfaithful(summary: str, text: str, patient: PatientText | None = None) -> tuple[Unfaithful, ...]:
    """What `summary` says otherwise than the article `text`: sex, side, negation, numbers.

    `patient` are the sentences of the article on its patient (`statements.patient_text`); all of it if left out.
    """
    patient = patient or PatientText(article_sentences(text))
    known = known_statements(patient)
    faults: list[Unfaithful] = []
    faults += _sex(summary, "\n".join(patient.case))
    faults += _relatives(summary, text)
    own = _own_sentences(text)
    for item, sentence in item_sentences(summary):
        if comparable(sentence) in own:
            continue  # the article's own sentence
        faults += contradicted_sides(item, sentence, known)
        for said in sentence_statements(sentence):
            faults += contradicted_polarity(item, said, known)
            faults += contradicted_judgement(item, said, known)
            faults += contradicted_items(item, said, known)
    return tuple(dict.fromkeys(faults))


@lru_cache(maxsize=32)
def _own_sentences(text: str) -> frozenset[str]:
    return frozenset(comparable(sentence) for sentence in article_sentences(text))


# --- sex -------------------------------------------------------------------------------------------------------------


def article_sex(text: str, age: str = "") -> str:
    """'female' or 'male' of the article's patient, '' if it tells of both or of neither.

    `age` is the patient's age in a case; where an article tells of both sexes, it picks the patient of that age.
    """
    own = [sentence for sentence in article_sentences(text) if not _OTHERS.search(sentence)]
    aged = [one for sentence in own for one in _aged(sentence)]
    for chosen in (
        aged,
        [one for one in aged if age and one[1] == age],
        aged[:1] if age and aged and aged[0][1] == age else [],
    ):
        if len(sexes := {sex for sex, _ in chosen}) == 1:
            return sexes.pop()
    women, men = 0, 0
    for sentence in own:
        words = [word.lower() for word in re.findall(r"[A-Za-z]+", sentence)]
        if not KIN.search(sentence):
            women += sum(word in _FEMALE for word in words)
            men += sum(word in _MALE for word in words)
    if max(women, men) < (2 if len(own) < 60 else 3) or min(women, men) * 4 > max(women, men):
        return ""
    return "female" if women > men else "male"


_OTHERS = re.compile(
    r"(?i)\bet al|\b(?:reported|described|published) (?:a|the|an|two|three) (?:\w+ )?case|\bpatients\b|\bliterature\b"
)
"""Sentences on other people's patients."""


def _aged(text: str) -> list[tuple[str, str]]:
    """(sex, age in figures) of each phrase such as '41-year-old man'."""
    stated = []
    for match in _AGED.finditer(text):
        age = re.search(r"\d+", text[max(0, match.start() - 5) : match.end()])
        stated.append(
            ("female" if (match[1] or match[2] or match[3]).lower() in _FEMALE else "male", age[0] if age else "")
        )
    if "emperature" not in text:
        stated += [("female" if match[2] == "F" else "male", match[1]) for match in _LETTER.finditer(text)]
    return stated


_BIRTH = re.compile(r"(?i)\bborn\b|\bdeliver(?:ed|y)\b|\bbirth|\bc(?:a?e)sare?an\b")


_KIN_PAIRS = (
    ("mother", "father"), ("brother", "sister"), ("son", "daughter"), ("aunt", "uncle"),
    ("grandmother", "grandfather"), ("niece", "nephew"), ("husband", "wife"),
)  # fmt: skip
_OTHER_KIN = {**dict(_KIN_PAIRS), **{two: one for one, two in _KIN_PAIRS}}
_RELATIVE = re.compile(rf"(?i)\b({'|'.join(_OTHER_KIN)})s?\b")


def _relatives(summary: str, text: str) -> Iterator[Unfaithful]:
    """Relatives of whom the article has only the one of the other sex."""
    named = {hit[1].lower() for hit in _RELATIVE.finditer(text)}
    for item, sentence in item_sentences(summary):
        for hit in _RELATIVE.finditer(sentence):
            kin = hit[1].lower()
            if kin not in named and _OTHER_KIN[kin] in named and not _ANY_KIN.search(text):
                yield Unfaithful("sex", kin, sentence, f"the article has the {_OTHER_KIN[kin]}", item)


_ANY_KIN = re.compile(r"(?i)\b(?:siblings?|parents?|grandparents?|maternal|paternal|spouse)\b")
"""Words that may mean relatives of either sex; where the article has them, nothing is decided."""


def _sex(summary: str, text: str) -> Iterator[Unfaithful]:
    age = re.search(r"\d+", summary)
    sex = article_sex(text, age[0] if age else "")
    if not sex:
        return
    wrong = _MALE if sex == "female" else _FEMALE
    whole = f" {comparable(text)} "
    for item, sentence in item_sentences(summary):
        if f" {comparable(sentence)} " in whole:
            continue  # the article's own sentence, perhaps on somebody else
        informs = item in ("Patient Information", "Patient Demographics")
        low = [word.lower() for word in re.findall(r"[A-Za-z]+", sentence)]
        nouns = [word for word in low if word in wrong & _NOUNS]
        others = bool(KIN.search(sentence) or _BIRTH.search(sentence))
        if (
            any(one != sex for one, _ in _aged(sentence))
            or (informs and (nouns or re.search(r"\bM\b" if sex == "female" else r"\bF\b", sentence)))
            or (not others and (nouns or any(word in wrong for word in low)))
        ):
            words = ", ".join(word for word in low if word in wrong) or sentence
            yield Unfaithful("sex", words, sentence, f"the patient is {sex}", item)


def undecided(summary: str, patient: PatientText) -> tuple[str, ...]:
    """Sentences with a denial or a side of something that the article does not mention; a person has to read them."""
    known = known_statements(patient)
    open_sentences = []
    for _, sentence in item_sentences(summary):
        for said in sentence_statements(sentence):
            denied = [word for word in said.words if word.denied and decides(word.concept)]
            if any(word.concept not in known.places for word in denied) or any(
                score < 0.15 for score in side_support(said, known)
            ):
                open_sentences.append(sentence)
    return tuple(dict.fromkeys(open_sentences))
