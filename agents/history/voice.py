"""Who answers: the patient, or a parent or a relative for it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_CHILD = 12
"""Below this age in years a parent speaks."""

AGE = re.compile(r"\b(\d+)[- ](year|month|week|day)s?[- ]old|\baged (\d+) years", re.IGNORECASE)
_MALE = re.compile(r"\b(?:male|man|boy|gentleman|he|his|him)\b", re.IGNORECASE)
_FEMALE = re.compile(r"\b(?:female|woman|girl|lady|she|her)\b", re.IGNORECASE)
_SPOKEN_FOR = re.compile(
    r"\b(?:patient['\u2019]s|his|her) (?:daughter|son|wife|husband|mother|father|parents?"
    r"|caregiver)s? (?:reports?|states?"
    r"|says|brought|notes)\b|\b(?:family|roommates?|friends"
    r"|relatives) (?:members? )?(?:also )?(?:mentions?|reports?|states?)\b|\bbrought in by (?:his"
    r"|her) (?:mother|father|parents)\b",
    re.IGNORECASE,
)
PRESENT = re.compile(r"^(?:history(?: of .*)?|complaint|story)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PatientVoice:
    """Who speaks: the patient, or for `speaks_for` 'he' or 'she' somebody else.

    `sex` is None where the story does not say; `own_words` where the present history is in the patient's words already.
    """

    sex: str | None
    speaks_for: str | None
    own_words: bool = False


def patient_voice(story: Mapping[str, str], complaint: str) -> PatientVoice:
    """The voice for a story: a parent's below twelve years, a relative's where the story says that one reports.

    A story in the first person keeps it.
    """
    text = " ".join([*story.values(), complaint])
    first = re.search(AGE.pattern + r"(?! (?:\w+ ){0,2}mother)", text, re.IGNORECASE)
    male, female = _MALE.search(text), _FEMALE.search(text)
    sex = (
        None if not (male or female) else "male" if not female or (male and male.start() < female.start()) else "female"
    )
    young = False
    if first:
        years = int(first[1] or first[3])
        young = (first[2] or "year").lower() != "year" or years < _CHILD
    beginning = " ".join(text.split()[:30])
    young = young or re.search(r"\b(?:newborn|neonate|toddler|infant)\b", beginning, re.I) is not None
    other = young or _SPOKEN_FOR.search(text) is not None
    present = " ".join(part for section, part in story.items() if PRESENT.search(section))
    own = re.search(r"\bI\b(?![-.])|\b[Mm]y\b", present) is not None
    who = {"male": "he", "female": "she"}.get(sex or "", "the child" if young else "")
    return PatientVoice(sex, who if other and who and not own else None, own)


def pronouns(voice: PatientVoice) -> tuple[str, str, str]:
    """The speaker's subject, its 'have', and its subject with 'am'."""
    if voice.speaks_for:
        he = voice.speaks_for.capitalize()
        return he, "has", f"{he} is"
    return "I", "have", "I'm"
