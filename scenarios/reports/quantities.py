"""Reads the numbers of a text with their units, and compares them after conversion."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.reports.statements import word_concept

_UNITS: Mapping[str, tuple[str, float]] = {
    # name: (dimension, value in the dimension's base unit)
    **dict.fromkeys(("second", "seconds", "sec", "s"), ("time", 1 / 86400)),
    **dict.fromkeys(("minute", "minutes", "min", "mins"), ("time", 1 / 1440)),
    **dict.fromkeys(("hour", "hours", "h", "hr", "hrs"), ("time", 1 / 24)),
    **dict.fromkeys(("day", "days", "d", "night", "nights"), ("time", 1.0)),
    **dict.fromkeys(("week", "weeks", "wk", "wks", "w"), ("time", 7.0)),
    **dict.fromkeys(("month", "months", "mo", "mos"), ("time", 30.4375)),
    **dict.fromkeys(("year", "years", "yr", "yrs", "yo", "y"), ("time", 365.25)),
    **dict.fromkeys(("decade", "decades"), ("time", 3652.5)),
    **dict.fromkeys(("fortnight", "fortnights"), ("time", 14.0)),
    "\u00b5m": ("length", 1e-6),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), ("length", 1e-3)),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), ("length", 1e-2)),
    **dict.fromkeys(("m", "metres", "meters", "metre", "meter"), ("length", 1.0)),
    "km": ("length", 1e3),
    **dict.fromkeys(("mm\u00b2", "mm2"), ("area", 1e-6)),
    **dict.fromkeys(("cm\u00b2", "cm2"), ("area", 1e-4)),
    **dict.fromkeys(("inch", "inches"), ("length", 0.0254)),
    **dict.fromkeys(("feet", "ft"), ("length", 0.3048)),
    **dict.fromkeys(("yard", "yards"), ("length", 0.9144)),
    **dict.fromkeys(("mile", "miles"), ("length", 1609.34)),
    **dict.fromkeys(("\u00b5g", "ug", "mcg", "micrograms", "microgram"), ("mass", 1e-6)),
    **dict.fromkeys(("mg", "milligrams", "milligram"), ("mass", 1e-3)),
    **dict.fromkeys(("g", "gram", "grams"), ("mass", 1.0)),
    **dict.fromkeys(("kg", "kilograms", "kilogram", "kilos"), ("mass", 1e3)),
    **dict.fromkeys(("lb", "lbs", "pounds"), ("mass", 453.592)),
    **dict.fromkeys(("oz", "ounce", "ounces"), ("mass", 28.3495)),
    **dict.fromkeys(("ml", "milliliters", "millilitres", "cc"), ("volume", 1e-3)),
    **dict.fromkeys(("l", "liters", "litres", "liter", "litre"), ("volume", 1.0)),
    **dict.fromkeys(("tablespoon", "tablespoons", "tbsp"), ("volume", 0.015)),
    **dict.fromkeys(("teaspoon", "teaspoons", "tsp"), ("volume", 0.005)),
    **dict.fromkeys(("%", "percent", "per cent"), ("share", 1.0)),
    **dict.fromkeys(("mmhg", "mm hg", "torr"), ("pressure", 1.0)),
    "kpa": ("pressure", 7.50062),
    **dict.fromkeys(("cmh2o", "cm h2o"), ("pressure", 0.735559)),
    **dict.fromkeys(("mmh2o", "mm h2o"), ("pressure", 0.0735559)),
    **dict.fromkeys(("\u00b0c", "\u00bac", "degrees celsius", "celsius"), ("temperature", 1.0)),
    **dict.fromkeys(("\u00b0f", "\u00baf", "degrees fahrenheit", "fahrenheit"), ("fahrenheit", 1.0)),
    **dict.fromkeys(
        ("bpm", "/min", "beats/min", "beats/minute", "breaths/min", "breaths/minute", "per minute", "beats per minute",
         "breaths per minute", "cycles/min", "times/min", "beats per min", "beats / min", "breaths per min",
         "beats a minute", "breaths a minute"),
        ("rate", 1.0),
    ),
    "mmol/mol": ("glycation", 1.0),
    **dict.fromkeys(("stone", "stones"), ("mass", 6350.29)),
    **dict.fromkeys(("kcal", "kilocalories", "calories", "cal"), ("energy", 1.0)),
    **dict.fromkeys(("kj", "kilojoules"), ("energy", 0.239006)),
    **dict.fromkeys(("mj", "megajoules"), ("energy", 239.006)),
    **dict.fromkeys(("mci", "millicuries"), ("radioactivity", 37.0)),
    **dict.fromkeys(("mbq", "megabecquerels"), ("radioactivity", 1.0)),
    "gbq": ("radioactivity", 1e3),
    **dict.fromkeys(("gy", "gray"), ("absorbed dose", 1.0)), "cgy": ("absorbed dose", 0.01),
    "cm/s": ("speed", 1e-2), "cm/sec": ("speed", 1e-2), "m/s": ("speed", 1.0), "m/sec": ("speed", 1.0),
    **dict.fromkeys(("mg/g",), ("ratio", 1.0)), "mg/mmol": ("ratio", 8.84), "g/g": ("ratio", 1e3),
    **dict.fromkeys(("db", "decibels"), ("loudness", 1.0)), "hz": ("frequency", 1.0), "khz": ("frequency", 1e3),
    **dict.fromkeys(("hu", "hounsfield units"), ("density", 1.0)),
    **dict.fromkeys(("mosm/kg", "mosmol/kg", "mosm/l", "mosmol/l"), ("osmolality", 1.0)),
    **dict.fromkeys(("cm2/m2",), ("indexed area", 1.0)),
    **{f"{prefix}{unit}": (dimension, size) for prefix, size in (("", 1.0), ("k", 1e3), ("m", 1e-3), ("\u00b5", 1e-6))
       for unit, dimension in (("v", "voltage"), ("sv", "dose equivalent"), ("w", "power"))
       if prefix + unit not in ("w", "mw")},
    "kg/m2": ("index", 1.0),
    "kg/m\u00b2": ("index", 1.0),
    "mm/h": ("sedimentation", 1.0), "mm/hr": ("sedimentation", 1.0), "mm/hour": ("sedimentation", 1.0),
    "mm/1h": ("sedimentation", 1.0), "mm per hour": ("sedimentation", 1.0),
}  # fmt: skip
_MASSES = {"kg": 1e3, "g": 1.0, "mg": 1e-3, "\u00b5g": 1e-6, "ug": 1e-6, "mcg": 1e-6, "ng": 1e-9, "pg": 1e-12}
_MOLES = {"mol": 1.0, "mmol": 1e-3, "\u00b5mol": 1e-6, "umol": 1e-6, "nmol": 1e-9, "pmol": 1e-12, "meq": 1e-3,
          "mm": 1e-3, "\u00b5m": 1e-6}  # fmt: skip
_ACTIVITIES = {"u": 1.0, "iu": 1.0, "miu": 1e-3, "mu": 1e-3, "\u00b5iu": 1e-6, "uiu": 1e-6, "\u00b5u": 1e-6, "ku": 1e3,
               "kiu": 1e3, "\u00b5kat": 60.0, "ukat": 60.0, "nkat": 0.06}  # fmt: skip
_COUNTS = {"": 1.0, "cells": 1.0, "cell": 1.0, "k": 1e3, "leukocytes": 1.0, "copies": 1.0}
_VOLUMES = {"l": 1.0, "dl": 0.1, "ml": 1e-3, "\u00b5l": 1e-6, "ul": 1e-6, "mm3": 1e-6, "mm\u00b3": 1e-6,
            "cmm": 1e-6, "cumm": 1e-6, "fl": 1e-15, "100ml": 0.1}  # fmt: skip
_WEIGHTS: Mapping[str, float] = {
    # grams a mole; urea is reported as its nitrogen too
    word_concept(word): weight
    for words, weight in (
        ("glucose", 180.16), ("creatinine", 113.12), ("bilirubin", 584.66), ("urea", 28.014),
        ("cholesterol ldl hdl hyperlipidemia", 386.65), ("triglyceride triglycerides", 885.4), ("uric urate", 168.11),
        ("calcium hypercalcemia", 40.078), ("phosphate phosphorus phosphorous", 30.974), ("magnesium", 24.305),
        ("iron", 55.845), ("lactate", 90.08), ("cortisol", 362.46), ("testosterone", 288.42), ("estradiol", 272.38),
        ("thyroxine t4", 776.87), ("ammonia", 17.03), ("vitamin", 400.64), ("copper", 63.546), ("zinc", 65.38),
        ("lead", 207.2), ("b12 cobalamin cyanocobalamin", 1355.4), ("folate", 441.4), ("sodium", 22.99),
        ("potassium", 39.098), ("hemoglobin", 16114.5), ("hypoglycemia hyperglycemia", 180.16),
        ("pth parathormone parathyroid", 9425.0), ("acth corticotropin adrenocorticotropic", 4541.0),
        ("insulin", 5808.0),
        ("aldosterone", 360.44), ("homocysteine", 135.18), ("ethanol alcohol", 46.07),
        ("acetaminophen paracetamol", 151.16), ("salicylate", 138.12), ("lithium", 6.94), ("digoxin", 780.9),
        ("progesterone", 314.46), ("dheas", 368.5), ("t3 triiodothyronine", 650.97), ("hydroxybutyrate ketone", 104.1),
        ("metanephrine metanephrines", 197.23), ("normetanephrine", 183.2), ("porphobilinogen", 226.2),
        ("chloride", 35.45), ("igf", 7649.0), ("methylmalonic", 118.09), ("hydroxyprogesterone", 330.46),
    )
    for word in words.split()
}  # fmt: skip
_SPELLED_TEXT = """one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 ten 10 eleven 11 twelve 12 thirteen 13
fourteen 14 fifteen 15 sixteen 16 seventeen 17 eighteen 18 nineteen 19 twenty 20 thirty 30 forty 40 fifty 50 sixty 60
seventy 70 eighty 80 ninety 90"""
_SPELLED = {word: float(value) for word, value in zip(*[iter(_SPELLED_TEXT.split())] * 2, strict=True)}
_TENS = "|".join(word for word, value in _SPELLED.items() if value >= 20)
_ONES = "|".join(word for word, value in _SPELLED.items() if value < 10)
_NUMBER = re.compile(
    r"(?P<figures>(?<![\w.,/\u2044])(?<![A-Za-z][-\u2010\u2011])[-\u2212]?\d{1,3}"
    r"(?:[, \u2009\u202f]\d{3})+(?![\d])(?:\.\d+)?"
    r"|(?<![A-Za-z\d.,*:])(?<![A-Za-z][-\u2010\u2011])(?<![A-Z]\d[-\u2013])\d+(?:[.,\u00b7]\d+)?(?!(?:st|nd|rd|th)\b))"
    r"|\b(?P<one>an?|past|last|previous|preceding|prior)(?= (?:minute|hour|day|week|fortnight|month|year|decade)\b)"
    r"|\b(?P<before>the)(?= (?:day|week|month|year) (?:before|after)\b)"
    rf"|\b(?P<words>(?:(?:{_TENS})[- ](?:{_ONES})|{'|'.join(sorted(_SPELLED, key=len, reverse=True))}))\b",
    re.IGNORECASE,
)
_POWER = re.compile(
    r"\s*[x*\u00d7\u2219\u00b7]\s*10\s*\^?\s*[-\u2212]?(\d{1,2}|[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)"
)
_SUPER = str.maketrans("\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "0123456789")
_ALPHA = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_TOP = "|".join(
    re.escape(unit) for unit in sorted({*_MASSES, *_MOLES, *_ACTIVITIES, *_COUNTS} - {""}, key=len, reverse=True)
)
_BOTTOM = "|".join(re.escape(unit) for unit in sorted(_VOLUMES, key=len, reverse=True))
_UNIT = re.compile(
    rf"(?i)[\s\u2009\u202f-]*(?:(?P<top>{_TOP})?\s*(?:/(?! L\b)|\bper\s)\s*(?P<bottom>{_BOTTOM})(?![\w])"
    rf"|(?P<plain>{_ALPHA})(?![\w\u00b2\u00b3]|/\s*(?:d?l|ml|kg)\b))"
)
_ROUGHLY = re.compile(
    r"(?i)(?:about|approximately|around|nearly|almost|roughly|circa|some|over|more than|under|less than"
    r"|at least|just|~|\u2248|close to|greater than|>|<|\u2265|\u2264|c\.|exceeding|above|below|several)\s*$"
)
_LABELS = re.compile(r"(?im)^\s*\d{1,2}[.)]\s+|\b(?:test|case|patient|step|item|number|no\.) \d{1,2}(?=\s*:)|\[\d+\]")
_CLOCK = re.compile(r"(?<![\d.,/])0\d[0-5]\d(?!\d|[.,/]\d)")
"""A time of day in four digits: '0530'."""
_DATE = re.compile(
    r"\b\d{1,2}/\d{1,2}/(?:\d\d)?\d\d\b|\b\d{1,2}[/ -](?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[/ -]'?\d\d\b"
)
"""A date in short: '11/17/20', '2/Jun/22'."""
_BOTH_UNITS = re.compile(
    r"\b[a-z]+(?:/[a-z]+)?\s?\(([munp\u00b5]?(?:g|m|mol|L|U|IU)|[cd]m|dL|kg|mm/hr?|bpm|mmHg)\)(?=\s?/|[\s,.;)]|$)"
)
"""A unit in words with its abbreviation: 'milligrams (mg)'."""
_HALF = re.compile(r"(?i)\bhalf (?:an? )?(year|day|hour)\b")
_HALVES = {"year": "6 months", "day": "12 hours", "hour": "30 min"}
_QUARTER = re.compile(r"(?i)\b(three )?quarters? of an hour\b")
_AND_HALF = re.compile(
    rf"(?i)\b({'|'.join(sorted(_SPELLED, key=len, reverse=True))}|an?|\d+)(?: (\w+))? and (?:a|one) half(?= (\w+))?"
)
_ORDINALS_TEXT = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
_ORDINALS = {word: str(value) for value, word in enumerate(_ORDINALS_TEXT.split(), 1)}
_ORDINAL = re.compile(rf"(?i)\b({'|'.join(_ORDINALS)}|(\d+)(?:st|nd|rd|th))(?=[ -](?:day|week|month|year|hour)\b)")
"""'The fifth day' as a number of days."""
_DAY_NUMBER = re.compile(r"(?i)\b(day|week|month) (\d{1,2})\b(?! ?(?:to|-|\u2013) ?\d)")
_COUNT = rf"(?:\d+|{'|'.join(sorted(_SPELLED, key=len, reverse=True))})"
_LONG_AND_SHORT = re.compile(
    rf"(?i)\b({_COUNT})[ -]?(year|month|week|day|hour|y|mo)s?(?:,| and)? "
    rf"({_COUNT})[ -]?(month|week|day|hour|minute|mo)s?(?=[ ,.;)]|$)"
)
_IN_FULL = {"y": "year", "mo": "month"}
_IN_THE_SHORT = {("year", "month"): 12, ("year", "week"): 52, ("month", "week"): 4.35, ("month", "day"): 30.4,
                 ("week", "day"): 7, ("day", "hour"): 24, ("hour", "minute"): 60}  # fmt: skip
_TORN = re.compile(r"(?<![\d.,])(\d{1,3}), (\d{3})(?=\s?(?:/|cells\b|\u00d7|x\s?10))")
"""A number with a space after its comma: '5, 180/\u00b5L'."""
_SUBSTANCE = re.compile(r"\b\d,\d{1,2}(?=-[A-Z]|\(OH\))")
"""The numbers in the name of a substance: '1,25-D'."""
_SEX = re.compile(r"(?<=\d)[MF](?=[\s,.;/)]|$)")
"""The sex after an age, which is no unit: '67M'."""
_FEET = re.compile(r"(?i)\b([3-7]) (?:ft|feet|foot),? (\d{1,2}) (?:in|inch|inches)\b")
_FIRST_HOUR = re.compile(r"(?i)\bmm (?:in|after|at|for) (?:the )?(?:first|one|1|1st)(?: hour| h)?\b")
_BETWEEN = re.compile(r"\s*(?:\u00d7|x|\*|by|-|\u2013|to|and|/|or)\s*$")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its dimension ('' without a unit) and its value in the dimension's base unit.

    `written` are its characters in the text, from `start` to `end` (with the unit). `step` is the size of its last
    digit in the base unit. `rough`: a word such as 'about' stands before it. `decade`: it is one, such as '60s'.
    """

    value: float
    dimension: str
    written: str
    step: float
    start: int
    end: int
    rough: bool = False
    decade: bool = False


@lru_cache(maxsize=4096)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The numbers of a text in their order, without those inside names such as 'SARS-CoV-2'.

    ::

        >>> [(one.value, one.dimension) for one in quantities("pain for 2 weeks")]
        [(14.0, 'time')]
    """
    text = _DATE.sub(lambda date: " " * len(date[0]), _CLOCK.sub("    ", text))
    text = _LABELS.sub(lambda label: " " * len(label[0]), text.replace("\u03bc", "\u00b5"))
    text = _SUBSTANCE.sub(lambda hit: " " * len(hit[0]), _SEX.sub(" ", text))
    text = _FEET.sub(lambda hit: f"{12 * int(hit[1]) + int(hit[2])} inch".ljust(len(hit[0])), text)
    text = _FIRST_HOUR.sub(lambda hit: "mm/h".ljust(len(hit[0])), text)
    text = _BOTH_UNITS.sub(lambda both: both[1].rjust(len(both[0])), text)
    text = _HALF.sub(lambda half: _HALVES[half[1].lower()].ljust(len(half[0])), text)
    text = _QUARTER.sub(lambda hit: ("45 min" if hit[1] else "15 min").ljust(len(hit[0])), text)
    text = _AND_HALF.sub(_with_half, text)
    text = _ORDINAL.sub(lambda one: f"{_ORDINALS.get(one[1].lower(), one[2])}".ljust(len(one[0])), text)
    text = _DAY_NUMBER.sub(r"\2 \1", text)
    text = _LONG_AND_SHORT.sub(_in_one_unit, text)
    text = _TORN.sub(lambda torn: f" {torn[1]},{torn[2]}", text)
    powers = [power.span() for power in _POWER.finditer(text)]
    matches = [one for one in _NUMBER.finditer(text) if not any(start <= one.start() < end for start, end in powers)]
    read: list[Quantity] = []
    for match in reversed(matches):
        read.append(_quantity(text, match, read[-1] if read else None))
    return tuple(one for one in reversed(read) if one.written)


def _in_one_unit(match: re.Match[str]) -> str:
    """'2 years and 5 months' as '29 month', filled up with spaces to the same length."""
    long, short = (_IN_FULL.get(one.lower(), one.lower()) for one in (match[2], match[4]))
    size = _IN_THE_SHORT.get((long, short))
    if size is None:
        return match[0]
    many, few = (_SPELLED.get(one.lower()) or float(one) for one in (match[1], match[3]))
    return f"{round(many * size + few)} {short}".ljust(len(match[0]))


def _with_half(match: re.Match[str]) -> str:
    """'two and a half' or 'one year and a half' as a number, filled up with spaces to the same length."""
    whole = _SPELLED.get(match[1].lower()) or (float(match[1]) if match[1].isdigit() else 1.0)
    unit = f" {match[2]}" if match[2] else ""
    if unit and match[3] and match[3].lower().rstrip("s") in _UNITS:
        return match[0]  # 'two weeks and half an hour'
    return f"{whole + 0.5:g}{unit}".ljust(len(match[0]))


def _quantity(text: str, match: re.Match[str], following: Quantity | None) -> Quantity:
    written = match[0]
    value, step = written_value(written)
    end = match.end()
    if power := _POWER.match(text, end):
        size = 10.0 ** int(power[1].translate(_SUPER))
        value, step, end = value * size, step * size, power.end()
    decade = bool(re.match(r"s\b", text[end:])) and value % 10 == 0
    unit = None if decade else _UNIT.match(text, end)
    dimension, size, shift = "", 1.0, 0.0
    if unit:
        dimension, size, shift = _base(unit)
        end = unit.end()
    elif following and following.dimension and _shares_unit(text[end : following.start], following):
        dimension = following.dimension
        size = following.step / written_value(following.written)[1]
        shift = _FAHRENHEIT[2] if dimension == "temperature" and abs(size - 5 / 9) < 1e-6 else 0.0
    rough = dimension != "temperature" and bool(_ROUGHLY.search(text[max(0, match.start() - 16) : match.start()]))
    return Quantity(value * size + shift, dimension, written, step * abs(size), match.start(), end, rough, decade)


def _shares_unit(between: str, following: Quantity) -> bool:
    """Whether a number has the unit of the next number: '102 to 104 F', but not '38.1 x 4 days'."""
    return bool(_BETWEEN.fullmatch(between)) and not (following.dimension == "time" and between.strip() in ("x", "*"))


def _base(unit: re.Match[str]) -> tuple[str, float, float]:
    """(dimension, size, shift) of a unit; value * size + shift is the value in the base unit.

    Fahrenheit becomes Celsius, and HbA1c in mmol/mol becomes a share.
    """
    if unit["bottom"]:
        if unit["top"] == "G" and unit["bottom"].lower() == "l":  # 10^9 a litre
            return "count/volume", 1e9, 0.0
        top, bottom = (unit["top"] or "").lower(), _VOLUMES[unit["bottom"].lower()]
        for name, table in (("mass/volume", _MASSES), ("moles/volume", _MOLES), ("activity/volume", _ACTIVITIES),
                            ("count/volume", _COUNTS)):  # fmt: skip
            if top in table:
                return name, table[top] / bottom, 0.0
    dimension, size = _UNITS[" ".join(unit["plain"].lower().split())]
    return {"fahrenheit": _FAHRENHEIT, "glycation": _GLYCATION}.get(dimension, (dimension, size, 0.0))


_FAHRENHEIT = ("temperature", 5 / 9, -32 * 5 / 9)
_GLYCATION = ("share", 0.09148, 2.152)
"""HbA1c in mmol/mol as a share of haemoglobin, by the master equation of the IFCC."""


def written_value(written: str) -> tuple[float, float]:
    """(value, size of the last digit) of a number in digits or words."""
    low = written.lower().replace("\u2212", "-")
    if low[-1].isalpha():
        return sum(_SPELLED.get(part, 1.0) for part in re.split(r"[- ]", low)), 1.0
    plain = re.sub(r"[ \u2009\u202f]", "", low).replace("\u00b7", ".").lstrip("-")
    plain = plain.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain) else plain.replace(",", ".")
    decimals = len(plain.split(".")[1]) if "." in plain else 0
    return float(plain), 10.0**-decimals


def same_quantity(said: Quantity, known: Quantity, about: Sequence[str] = ()) -> bool:
    """Whether a number is the `known` one after conversion and rounding.

    `about` are concepts near them; by these a mass is compared with an amount in moles.
    """
    if said.dimension and known.dimension and said.dimension != known.dimension:
        return _same_moles(said, known, about)
    if said.decade:
        return said.value <= known.value < said.value + 10 * said.step or 0 <= known.value / 365.25 - said.value < 10
    if not said.dimension or not known.dimension:
        return _near(written_value(said.written)[0], written_value(known.written)[0], 0) or _near(
            said.value, known.value, 0
        )
    if said.dimension == "time":
        return _same_time(said, known)
    slack = max(said.step, 0.0) if _rounded(said, known) else 0.0
    return _near(said.value, known.value, slack / 2) or (
        said.rough and abs(said.value - known.value) <= 0.08 * known.value
    )


def _rounded(said: Quantity, known: Quantity) -> bool:
    """Whether `said` may be rounded: it has fewer decimals, or another unit."""
    return (said.step > known.step * 1.001 and said.value >= 9.5 * said.step) or _scaled(said, known)


def _scaled(said: Quantity, known: Quantity) -> bool:
    ratio = said.step / known.step if known.step else 1.0
    power = 10 ** round(math.log10(ratio)) if ratio > 0 else 1.0
    return abs(ratio / power - 1) > 1e-6


def _same_time(said: Quantity, known: Quantity) -> bool:
    if _near(said.value, known.value, 0):
        return True
    if abs(said.step - known.step) < 1e-9 and not said.rough:
        return False
    if abs(said.step - known.step) < 1e-9:
        return abs(said.value - known.value) <= max(0.1 * known.value, 0.0)
    if said.step < known.step and not said.rough:  # a conversion to the smaller unit does not round
        return abs(said.value - known.value) <= 0.02 * known.value or _four_weeks(said.value, known.value)
    return abs(said.value - known.value) <= max(0.04 * known.value, 0.0) + (0.06 * known.value if said.rough else 0.0)


def _four_weeks(said: float, known: float) -> bool:
    """Whether months were counted as four weeks each."""
    return said % 7 == 0 and abs(said - known * 28 / 30.4375) < 0.01 * known


def _near(one: float, other: float, slack: float) -> bool:
    return abs(one - other) <= slack + 1e-6 * max(abs(one), abs(other))


def _same_moles(said: Quantity, known: Quantity, about: Sequence[str]) -> bool:
    """Whether a mass and an amount in moles of one substance are equal, within the rounding of a conversion."""
    kinds = {said.dimension: said, known.dimension: known}
    if set(kinds) != {"mass/volume", "moles/volume"}:
        return False
    mass, moles = kinds["mass/volume"], kinds["moles/volume"]
    for word in about:
        weight = _WEIGHTS.get(word)
        for one in (weight, 60.06 if word == word_concept("urea") else None):
            if (
                one
                and abs(moles.value * one - mass.value)
                <= 0.02 * mass.value + said.step * (one if said is moles else 1) / 2
            ):
                return True
    return False
