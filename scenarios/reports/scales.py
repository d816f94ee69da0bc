"""Brings numbers that are written in several scales to one: acuities, packs, titres, decades, weeks of pregnancy."""

import re

from wardround.scenarios.reports.quantities import quantities
from wardround.scenarios.reports.statements import longhand

_ACUITY = re.compile(r"(?i)\b(?:acuit(?:y|ies)|BCVA|vision|visus)\b")
_METRIC_ACUITY = re.compile(r"(?<![\d/.])6/(5|6|7\.5|9|12|15|18|24|36|60)(?![\d/])(?! ?(?:mm|weeks|months|days))")
_DECIMAL_ACUITY = re.compile(r"(?<![\d./])([01]\.\d{1,2})(?!\d|[./]\d|%)(?! ?(?:[a-z]+/|logMAR))")
_SHARE_OF_ACUITY = re.compile(r"(?<![\d.])([1-9]\d|100) ?%(?= (?:on |in )?(?:the )?(?:left|right))")
_CHART = (10, 12, 15, 16, 20, 25, 30, 40, 50, 60, 70, 80, 100, 120, 160, 200, 400)
"""The lines of an eye chart, by the distance in feet at which a healthy eye reads them."""
_PER_THOUSAND = re.compile(r"(\d+(?:\.\d+)?) ?(?:per (?:1[, ]?000|thousand)\b|\u2030)")
_PACKS = re.compile(
    r"(?i)\b(half(?: of)? a|(?:a|one) quarter (?:of )?a|quarter(?: of)? a|three[- ]quarters? of a"
    r"|one and a half|an?|one"
    r"|two|three|\d+(?:\.\d+)?)[- ]?(?:packs?|packets?)(?: \(of (?:20|twenty)\))?(?: of (?:20 )?cigarettes)?"
    r"(?=,? ?(?:/ ?d(?:ay)?\b|(?:a|per|each|every) day\b|daily\b))|\b(\d+(?:\.\d+)?) ?ppd\b"
)
_OF_A_PACK = {"half": 0.5, "one quarter": 0.25, "a quarter": 0.25, "quarter": 0.25, "three": 3.0, "one and": 1.5,
              "a": 1.0, "an": 1.0, "one": 1.0, "two": 2.0}  # fmt: skip
_TIMES_OF = re.compile(r"(?<=[a-z)] )[x\u00d7](\d{1,2})\b(?! ?(?:[\d/.x\u00d7]|cm|mm|d\b|days|wk|weeks|h\b|mo|y))")
_LAKH = re.compile(r"(?i)\b(\d+(?:\.\d+)?) lakhs?\b")
_TITRE = re.compile(r"(?<![\d:])1 ?: ?(?=\d{1,6}(?![\d:]))")
_NOTED_TIME = re.compile(r"(?<![\d.,/+])(\d{1,2}) ?/ ?(52|7|12)(?![\d/.]| ?(?:points?|items?|criteria)\b)")
"""Durations in British notes: '6/52' is six weeks, '4/7' four days and '3/12' three months."""
_NOTED = {"52": "weeks", "7": "days", "12": "months"}
_GESTATION = re.compile(
    r"(?i)(?<![\d.])([1-4]\d) ?\+ ?([0-6])(?:/7)?(?: ?w(?:ee)?ks?\b)?(?!\d|\.\d)"
    r"|(?<![\d.])([1-4]\d) ([1-6])/7 w(?:ee)?ks?\b"
)
"""Weeks and days of a pregnancy: '34+5'."""
_ROUND_YEARS = (
    (re.compile(r"(?i)\b(?:a |one )?quarter of a century\b"), "25 years"),
    (re.compile(r"(?i)\bhalf a century\b"), "50 years"),
    (re.compile(r"(?i)\bhalf a dozen\b"), "6"),
    (re.compile(r"(?i)\b(?:a|one) dozen\b"), "12"),
    (re.compile(r"(?i)\b(?:two|2) dozen\b"), "24"),
)


_IN_TIME = re.compile(r"(?i)(?:\b(?:for|x|at|after|in|since|past|last|over|until|within)|[\u00d7@,~])\s*$")
_OF_AGE = re.compile(r"(?i)\s*(?:ago|hx|history|old|later|before|prior|prev|F\b|M\b|of (?!7\b|12\b))")


def _in_cigarettes(hit: re.Match[str]) -> str:
    if hit[2]:
        return f"{20 * float(hit[2]):g} cigarettes a day"
    low = hit[1].lower()
    if low.startswith("three") and "quarter" in low:
        packs = 0.75
    elif low[0].isdigit():
        packs = float(low)
    else:
        packs = next(size for said, size in _OF_A_PACK.items() if low == said or low.startswith(f"{said} "))
    return f"{20 * packs:g} cigarettes"


def _noted_time(hit: re.Match[str]) -> str:
    """A duration of notes in words. '6/12' may be an acuity and '5/7' a score, so they need a word of time."""
    before, after = hit.string[: hit.start()], hit.string[hit.end() :]
    sure = hit[2] == "52" or _IN_TIME.search(before) or _OF_AGE.match(after)
    return f"{hit[1]} {_NOTED[hit[2]]}" if sure else hit[0]


def _chart_line(feet: float) -> str:
    return f"20/{min(_CHART, key=lambda line: abs(line - feet) / line)}"


def _in_feet(sentence: str) -> str:
    """A sentence with its decimal acuities in feet. A number with a unit ('0.4 mL') is no acuity."""
    measured = {one.start for one in quantities(sentence) if one.dimension}
    return _DECIMAL_ACUITY.sub(
        lambda hit: hit[0] if hit.start() in measured else _chart_line(20 / max(float(hit[1]), 0.01)), sentence
    )


def plain_scales(sentence: str) -> str:
    """A sentence in plain scales: acuities in feet, packs as cigarettes, titres by their dilution, decades as years."""
    sentence = _NOTED_TIME.sub(_noted_time, sentence)
    sentence = _METRIC_ACUITY.sub(lambda hit: _chart_line(20 * float(hit[1]) / 6), sentence)
    if _ACUITY.search(sentence):
        sentence = _SHARE_OF_ACUITY.sub(lambda hit: _chart_line(2000 / float(hit[1])), sentence)
        sentence = _in_feet(sentence)
    sentence = _TIMES_OF.sub(r"\1 times", _PACKS.sub(_in_cigarettes, sentence))
    for pattern, plain in _ROUND_YEARS:
        sentence = pattern.sub(plain, sentence)
    sentence = _LAKH.sub(lambda hit: f"{100000 * float(hit[1]):.0f}", sentence)
    sentence = _TITRE.sub("", sentence)
    sentence = _GESTATION.sub(lambda hit: f"{hit[1] or hit[3]} weeks and {hit[2] or hit[4]} days", sentence)
    return _PER_THOUSAND.sub(lambda hit: f"{float(hit[1]) / 10:g}%", sentence)


_WORD_NUMBER = {"two": 2, "three": 3, "four": 4, "six": 6, "eight": 8, "twelve": 12}
_PERIODS = (
    (re.compile(r"(?i)\b(?:every other|alternate|every second) day"), 2.0),
    (re.compile(r"(?i)\btwice (?:a |per )?(?:day|daily)|\bb\.?i\.?d\b|\btwo times a day"), 0.5),
    (re.compile(r"(?i)\b(?:three times|thrice) (?:a |per )?(?:day|daily)|\bt\.?i\.?d\b"), 1 / 3),
    (re.compile(r"(?i)\bfour times (?:a |per )?(?:day|daily)|\bq\.?i\.?d\b"), 0.25),
    (re.compile(r"(?i)\btwice (?:a |per )?(?:week|weekly)"), 3.5),
    (re.compile(r"(?i)\b(?:a|per|each|every) day\b|/ ?d(?:ay)?\b|\bdaily\b|\bnightly\b|\bq\.?d\b|/24 ?h"), 1.0),
    (re.compile(r"(?i)\b(?:a|per|each|every) week\b|/ ?w(?:ee)?k\b|\bweekly\b"), 7.0),
    (re.compile(r"(?i)\b(?:a|per|each|every) month\b|/ ?mo(?:nth)?\b|\bmonthly\b"), 30.4375),
    (re.compile(r"(?i)\b(?:a|per|each|every) year\b|/ ?y(?:ear)?\b|\b(?:yearly|annually)\b"), 365.25),
)
_EVERY = re.compile(
    r"(?i)\bevery (\d+|two|three|four|six|eight|twelve) (hour|day|week|month|year)s?\b|\bq(\d+)(h|d|w|y)\b"
)
NEAR = 40
"""Number of characters after a number within which its period stands."""
_CLAUSE_END = re.compile(r"[;.] |, | and ")
_LENGTHS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.4375, "y": 365.25}


def period_days(after: str) -> float:
    """The days in which an amount is taken or counted, by the words after it: 7 for 'g a week'; 0 if they say none."""
    near = _CLAUSE_END.split(after)[0]
    if every := _EVERY.search(near):
        many, unit = every[1] or every[3], (every[2] or every[4])[0].lower()
        return (_WORD_NUMBER.get(many.lower()) or float(many)) * _LENGTHS[unit]
    return next((days for pattern, days in _PERIODS if pattern.search(near)), 0.0)


_FOR_YEARS = re.compile(r"(?i)(?<=\bfor )(?:\d+|[a-z]+(?:-[a-z]+)?) years\b(?=$|[ ,.;)])")
_CIGARETTES = re.compile(r"(?i)\b(\d+) cigarettes")


def smoked(pack_years: float, text: str) -> bool:
    """Whether pack-years may follow from the cigarettes a day and the years of smoking in a text.

    They may, if the text does not have exactly one of each.
    """
    daily = [float(one) for one in _CIGARETTES.findall(plain_scales(longhand(text)))]
    years = [quantities(hit[0])[0].value / 365.25 for hit in _FOR_YEARS.finditer(text)]
    ways = [count * many / 20 for count in daily for many in years]
    return len(daily) != 1 or len(years) != 1 or any(abs(way - pack_years) <= 0.1 * way + 0.5 for way in ways)
