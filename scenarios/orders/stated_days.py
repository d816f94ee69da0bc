"""Reads the days that an order names: of the calendar, of the stay, of the week, and relative to today."""

from datetime import date, timedelta

import msgspec

from wardround.engine.text import regex

_MONTHS = "jan(?:uary)? feb(?:ruary)? mar(?:ch)? apr(?:il)? may june? july? aug(?:ust)? sept?(?:ember)? oct(?:ober)?"
_MONTHS += " nov(?:ember)? dec(?:ember)?"
_MONTH = rf"(?P<month>{_MONTHS.replace(' ', '|')})\b\.?"
_WEEKDAYS = "mon tues wednes thurs fri satur sun"
_TH = r"(?:st|nd|rd|th)?"
_NOT_OF_STAY = r"(?!\s+(?:of|after|post|since|into)\b(?!\s+(?:the |her |his |their )?(?:admission|stay|hospital)))"
_DAYS = (
    regex(r"(?i)\b(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)\b"),
    regex(rf"(?i)\b(?P<day>\d{{1,2}}){_TH}\s+(?:of\s+)?{_MONTH}(?:,?\s+(?P<year>\d{{4}})\b)?"),
    regex(rf"(?i)\b{_MONTH}\s+(?:the\s+)?(?P<day>\d{{1,2}}){_TH}\b(?![:/])(?:,?\s+(?P<year>\d{{4}})\b)?"),
    regex(r"(?i)(?<=\bon )(?:the )?(?P<number>\d{1,2})/(?P<day>\d{1,2})(?:/(?P<year>\d{4}))?\b"),
    regex(r"(?i)\b(?P<later>\d{1,2}|one|two|three|four|five|six|seven) days? (?:after|into|post|since) (?:the )?"
          r"(?:admission|presentation|arrival)\b"),
    regex(
        r"(?i)(?:(?<=\bon )|(?<=\bfor )|(?<=\()|(?<=\bfrom )|(?<=\bat )|(?<=\bof )|(?<=\bto )|(?<=\band )"
        r"|(?<=\buntil )|(?<=\bsince )"
        r"|(?<=\bbetween )|(?<=\bbefore )|(?<=\bafter )|^|(?<=\bthe )|(?<=[,;] ))"
        rf"(?:(?:hospital|admission|inpatient) )?day\s?#?(?P<stay>\d{{1,2}})\b(?:['\u2019]s\b)?{_NOT_OF_STAY}"
        r"(?: of (?:the |her |his |their )?(?:admission|stay|hospitali[sz]ation))?"
    ),
    regex(r"\bHD ?#?(?P<stay>\d{1,2})\b"),
    regex(r"(?i)(?<=\bon )the (?P<nth>first|second|third|fourth|fifth|sixth|seventh) (?:hospital )?day\b"
          rf"{_NOT_OF_STAY}(?: of (?:the |her |his )?(?:admission|stay))?"),
    regex(r"(?i)(?<=, )(?P<number>\d{1,2})/(?P<day>\d{1,2})(?:/(?P<year>\d{4}))?$"),
    regex(r"(?i)\b(?P<relative>(?:the )?day before yesterday|yesterday|today|tomorrow)\b(?:['\u2019]s\b)?"),
    regex(rf"(?i)(?:(?<=\bon )|(?<=\bsince ))(?P<weekday>{_WEEKDAYS.replace(' ', '|')})(?:day)\b"),
    regex(rf"(?i)\b(?P<weekday>{_WEEKDAYS.replace(' ', '|')})(?:day)['\u2019]s\b"),
)  # fmt: skip
_COUNTED = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
COUNT = rf"\d{{1,3}}|{'|'.join(_COUNTED)}"
_NTHS = "first second third fourth fifth sixth seventh"
_RELATIVE = {"yesterday": -1, "today": 0, "tomorrow": 1}
_CYCLE = regex(r"(?i)\b(?:fsh|lh|follicle|lutein\w*|o?estradiol|progesterone|cycle|post-?op\w*|pod)\b")
"""Beside these words a day is one of the cycle or after an operation, and not of the stay."""
_UNTIL = r"\s*(?:and|to|until|&|-|\u2013)\s*"
_SHORTENED = (
    (
        regex(rf"(?i)\b(\d{{1,2}}){_TH}({_UNTIL})(?=\d{{1,2}}{_TH}\s+({_MONTHS.replace(' ', '|')})\b)"),
        r"\1 \3\2",
    ),
    (regex(rf"(?i)\bdays\s(\d{{1,2}})({_UNTIL})(?=\d{{1,2}}\b)"), r"day \1\2day "),
    (regex(r"(?i)\b(day \d{1,2})(?:-|\u2013)(?=\d{1,2}\b)"), r"\1 to day "),
)
"""Days whose month or 'day' stands only once ('20 and 22 September', 'days 2 to 4')."""


class StatedDay(msgspec.Struct, frozen=True):
    """One day of an order: of the calendar, with or without its year, of the `stay`, whose first is 1, or `relative`.

    `relative` counts from the day of the latest result that was told; `weekday` is 0 on a Monday.
    """

    year: int | None = None
    month: int = 0
    day: int = 0
    stay: int = 0
    relative: int | None = None
    weekday: int | None = None

    def dates(self, first: date, today: date, last: date) -> list[date]:
        """The dates that this may be, of a stay from `first` to `last`, the likeliest first; none if it is no date."""
        if self.stay:
            return [first + timedelta(days=self.stay - 1)]
        if self.relative is not None:
            return [today + timedelta(days=self.relative)]
        if self.weekday is not None:
            return [first + timedelta(days=(self.weekday - first.weekday()) % 7)]
        years = [self.year] if self.year else range(first.year, last.year + 1)
        pairs = dict.fromkeys(
            [(self.month, self.day), (self.day, self.month)] if self.month < 0 else [(self.month, self.day)]
        )
        found = [made for year in years for month, day in pairs if (made := _date(year, abs(month), abs(day)))]
        return sorted(found, key=lambda one: not first <= one <= last)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def stated_days(text: str) -> list[tuple[int, int, StatedDay]]:
    """The days that a text names and where; a place that a longer form has taken is not read again."""
    found: list[tuple[int, int, StatedDay]] = []
    for pattern in _DAYS:
        for match in pattern.finditer(text):
            named = {name: value.casefold() for name, value in match.groupdict().items() if value}
            of_cycle = "stay" in named and _CYCLE.search(text)
            if of_cycle or any(start < match.end() and match.start() < end for start, end, _ in found):
                continue
            found.append((match.start(), match.end(), _day(named)))
    return sorted(found, key=lambda one: one[0])


def _day(named: dict[str, str]) -> StatedDay:
    if "stay" in named:
        return StatedDay(stay=int(named["stay"]))
    if "nth" in named:
        return StatedDay(stay=_NTHS.split().index(named["nth"]) + 1)
    if "later" in named:
        return StatedDay(stay=1 + counted(named["later"]))
    if "relative" in named:
        return StatedDay(relative=-2 if "before" in named["relative"] else _RELATIVE[named["relative"]])
    if "weekday" in named:
        return StatedDay(weekday=_WEEKDAYS.split().index(named["weekday"]))
    months = [name[:3] for name in _MONTHS.split()]
    year = int(named["year"]) if "year" in named else None
    if "month" in named:
        return StatedDay(year, months.index(named["month"][:3]) + 1, int(named["day"]))
    sign = 1 if year and len(named["number"]) == 2 and len(named["day"]) == 2 else -1  # '5/3' may be either way round
    return StatedDay(year, sign * int(named["number"]), sign * int(named["day"]))


def counted(word: str) -> int:
    """The number that digits or a word from one to seven mean."""
    return _COUNTED.get(word.casefold(), 0) or int(word)


def in_full(text: str) -> str:
    """The text with each day in full ('20 September and 22 September' for '20 and 22 September')."""
    for pattern, full in _SHORTENED:
        text = pattern.sub(full, text)
    return text
