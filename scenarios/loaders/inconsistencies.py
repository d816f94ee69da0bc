"""Finds what a case says twice and not alike: age, sex, a flag and its range; and figures that nobody can have."""

import re
from collections.abc import Iterator
from datetime import datetime

from wardround.engine.text import regex
from wardround.scenarios.case import Case, Lab

_BEGINNING = 160
"""Characters of a text in which it introduces the patient; later ages and sexes are often those of others."""
_AGED = regex(r"(?<![\d.,-])(\d{1,3})[ -](year|month|week|day)s?[ -]old\b", re.IGNORECASE)
_FEMALE = r"woman|girl|female|lady"
_MALE = r"man|boy|male|gentleman"
_SEX = regex(
    rf"[ -]olds?,?(?: (?!and\b|of\b|by\b|with\b|who\b|whose\b)[\w-]+,?){{0,4}} (?P<sex>{_FEMALE}|{_MALE})\b",
    re.IGNORECASE,
)
_SEXES = {"female": regex(_FEMALE, re.IGNORECASE), "male": regex(_MALE, re.IGNORECASE)}
_OF_WOMEN = regex(
    r"\bmy (?:last )?(?:menstrual )?periods?\b|\bI(?: am|\u2019m|'m) (?:\w+ )?pregnant\b|\bG\dP\d\b|\bmenarche at\b"
    r"|\b(?:weeks|months)['\u2019]? pregnant\b|\b(?:normal|enlarged|gravid) uterus\b|\blast menstrual period\b",
    re.IGNORECASE,
)
_OF_MEN = regex(
    r"\bmy (?:prostate|testicles?|penis)\b|\bprostate (?:is |was )?(?:smooth|enlarged|normal|not enlarged)\b"
    r"|\b(?:both |normal )?(?:testes|testicles) (?:are |were )?(?:normal|descended|not tender|non-?tender|in)\b"
    r"|\bcremasteric reflex\b",
    re.IGNORECASE,
)
_FIGURES = tuple(
    (what, regex(rf"\b(?:{names})[^.;\d]{{0,20}}(\d{{1,4}}(?:\.\d+)?){unit}", re.IGNORECASE), least, most)
    for what, names, unit, least, most in (
        ("a saturation of oxygen", "SpO2|SaO2|oxygen saturation", " ?%", 0, 100),
        ("a temperature in \u00b0C", "temperature", " ?\u00b0 ?C\\b", 13, 46),
        ("a Glasgow coma score", "glasgow coma (?:scale|score)|GCS", r"\b", 3, 15),
    )
)
"""(what, pattern, least, most) of figures that have bounds by definition or by life."""


def in_person(case: Case) -> Iterator[tuple[str, str]]:
    """(field, what is wrong) of ages and sexes that differ, of what the other sex has, of figures that nobody has."""
    ages = {name: _AGED.search(text[:_BEGINNING]) for name, text in _introductions(case)}
    first, second = ages["opening"], ages["complaint"]
    if first and second and first[2].lower() == second[2].lower() and first[1] != second[1]:
        yield ("complaint", f"tells an age of {second[0]!r}, and the opening one of {first[0]!r}")
    sexes = {name: _sex(text[:_BEGINNING]) for name, text in _introductions(case)}
    if sexes["opening"] and sexes["complaint"] and sexes["opening"] != sexes["complaint"]:
        yield ("complaint", f"tells of a {sexes['complaint']} patient, and the opening of a {sexes['opening']} one")
    sex = sexes["opening"] or sexes["complaint"]
    other = {"male": _OF_WOMEN, "female": _OF_MEN}.get(sex)
    for name, text in _statements(case):
        if other and (hit := other.search(text)):
            yield (name, f"tells {hit[0]!r} of a {sex} patient")
        for what, pattern, least, most in _FIGURES:
            if (figure := pattern.search(text)) and not least <= float(figure[1]) <= most:
                yield (name, f"tells {what} of {figure[1]}")


def _introductions(case: Case) -> Iterator[tuple[str, str]]:
    yield "opening", case.opening
    yield "complaint", case.complaint


def _sex(text: str) -> str:
    """The sex that a text gives its patient beside the age; "" where it gives none."""
    said = _SEX.search(text)
    return next((sex for sex, names in _SEXES.items() if said and names.fullmatch(said["sex"])), "")


def _statements(case: Case) -> Iterator[tuple[str, str]]:
    """What the patient says and what was found on examination."""
    yield "opening", case.opening
    for name, text in case.history.items():
        if "family" not in name.lower():
            yield f"history.{name}", text
    for number, finding in enumerate(case.examination):
        yield f"examination[{number}].text", f"{finding.section}: {finding.text}"


def flag_of_range(lab: Lab) -> str:
    """How a flag contradicts the value and range beside it; "" where it does not, or one of the three is missing."""
    if lab.flag not in ("normal", "low", "high") or not re.fullmatch(r"-?\d+(?:\.\d+)?", lab.value.strip()):
        return ""
    value = float(lab.value)
    below = lab.low is not None and value < lab.low
    above = lab.high is not None and value > lab.high
    within = lab.low is not None and lab.high is not None and not (below or above)
    wrong = {"normal": below or above, "low": above or within, "high": below or within}[lab.flag]
    return f"{lab.name} is {lab.value} and flagged {lab.flag}, against its range" if wrong else ""


def untimed(case: Case) -> Iterator[tuple[str, str]]:
    """(field, what is wrong) of times of results that are no date or time in ISO form."""
    times = {f"labs[{number}].time": one.time for number, one in enumerate(case.labs)}
    times |= {f"microbiology[{number}].time": one.time for number, one in enumerate(case.microbiology)}
    times |= {f"imaging[{number}].time": one.time for number, one in enumerate(case.imaging)}
    for field, time in times.items():
        if time and not _is_time(time):
            yield field, f"is no time in ISO form: {time!r}"


_COUNTS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12,
}  # fmt: skip
_COUNT = rf"\d{{1,3}}|{'|'.join(_COUNTS)}"
_ILL_FOR = re.compile(rf"\b({_COUNT})[ -](day|week)s?\b", re.IGNORECASE)
_ON_DAY = re.compile(rf"\b(?:on|by|until|from) (?:(?:hospital|illness) )?day ({_COUNT})\b", re.IGNORECASE)
_AFTERWARDS = re.compile(
    rf"\b(?:{_COUNT}|several|some|a few) (?:days?|weeks?|months?|years?)"
    r" (?:later|after (?:admission|presentation|discharge|treatment|therapy|the (?:start|operation)|starting))\b"
    r"|\b(?:at|on) (?:follow-?up|discharge)\b|\bconvalescent (?:serum|sample|titre|titer)\b",
    re.IGNORECASE,
)
"""Words of a result that came after the encounter; 'no growth after 5 days' is how long a culture was watched."""
_DAYS = {"day": 1, "week": 7}


def of_later(case: Case) -> Iterator[tuple[str, str]]:
    """(field, what is wrong) of results that came later, which an order at the presentation would get all the same.

    A result of day 8 is one of the presentation where the case tells of eight days of illness.
    """
    story = " ".join((case.opening, case.complaint, *case.history.values()))
    ill = {1, *(_number(count) * _DAYS[unit.lower()] for count, unit in _ILL_FOR.findall(story))}
    results = [(f"investigations[{number}].text", one.text) for number, one in enumerate(case.investigations)]
    results += [(f"imaging[{number}].report", one.report) for number, one in enumerate(case.imaging)]
    results += [(f"microbiology[{number}].comment", one.comment) for number, one in enumerate(case.microbiology)]
    for field, text in results:
        late = next((match[0] for match in _ON_DAY.finditer(text) if _number(match[1]) not in ill), "")
        if not late and (match := _AFTERWARDS.search(text)):
            late = match[0]
        if late:
            yield field, f"tells a result of later ({late!r}), which an order at the presentation would get"


def _number(said: str) -> int:
    return int(said) if said.isdigit() else _COUNTS[said.lower()]


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return bool(re.fullmatch(r"\d{4}(?:-(?:0[1-9]|1[0-2]))?", text))
    return True
