"""Who the patient of a case is: age, sex, pregnancy; decides where a normal value may be assumed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.scenarios.orders.catalogue import Test

ADULT = 18
_AGE = regex(
    r"(?i)\b(?P<number>\d{1,3})[\s-]*(?P<unit>years?|yrs?|y/?o|months?|weeks?|days?)[\s-]*(?:old|of age)?"
    r"|\b(?P<decade>\d0)s\b|\baged?\s+(?P<aged>\d{1,3})\b"
)
_CHILD = regex(r"(?i)\b(?:newborn|neonate|infant|toddler|preterm|premature baby|schoolboy|schoolgirl|child|boy|girl)\b")
_FEMALE = regex(r"(?i)\b(?:woman|female|girl|lady|she|her|mother|pregnant|gravida|F)\b(?!\s*/\s*M)")
_MALE = regex(r"(?i)\b(?:man|male|boy|gentleman|he|his|father)\b")
_PREGNANT = regex(
    r"(?i)\b(?:pregnant|gravida|gestation(?:al)?|weeks['\u2019]? pregnan|antenatal|primigravida|multigravida|G\d\s?P\d"
    r"|\d{1,2}\s*weeks?\s+(?:of\s+)?(?:pregnan|gestation))"
)
_NOT_PREGNANT = regex(r"(?i)\b(?:not|never|denies being|isn['\u2019]t)\s+(?:currently\s+)?pregnant\b|\bnon-?pregnant\b")
_OF_PREGNANCY = ("Obstetric examination", "Pelvic examination", "Abdominal examination")
_FERTILE = (10, 58)
_FEMALE_ONLY = regex(r"(?i)pregnan|obstetric|cervi(?:x|cal swab)|vagin|estradiol|progesterone|mullerian")
_MALE_ONLY = regex(r"(?i)prostate|semen|scrot")


@dataclass(frozen=True, slots=True)
class Subject:
    """The patient of a case, as far as its opening states; `years` is None and `sex` '' if it does not."""

    years: float | None = None
    sex: str = ""
    pregnant: bool = False

    def row(self) -> dict[str, Json]:
        """The subject as a JSON object."""
        return {"years": self.years, "sex": self.sex, "pregnant": self.pregnant}


NOBODY = Subject()
"""A patient whose age, sex and pregnancy are unknown."""


def read_subject(text: str) -> Subject:
    """Age, sex and pregnancy as a case's opening states them.

    ::

        read_subject("A 26-year-old woman, 24 weeks pregnant")  # Subject(26.0, 'female', True)
    """
    pregnant = _PREGNANT.search(text) is not None and _NOT_PREGNANT.search(text) is None
    return Subject(_years(text), _sex(text, pregnant=pregnant), pregnant)


def subject_of(row: Json) -> Subject:
    """The subject from its JSON object; an empty one where there is none."""
    if not isinstance(row, Mapping):
        return Subject()
    years = row.get("years")
    return Subject(
        float(years) if isinstance(years, int | float) else None, str(row.get("sex") or ""), bool(row.get("pregnant"))
    )


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

    The ranges are adult ones, so a child gets none. A pregnancy is never denied where it is possible.
    """
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
