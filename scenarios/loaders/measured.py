"""One laboratory value as people write it, read into value, unit, range and flag."""

import re
from dataclasses import dataclass
from typing import Literal

Flag = Literal["", "normal", "low", "high", "abnormal"]

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_VALUE = re.compile(
    rf"(?P<sign>[<>\u2264\u2265~]?)\s*(?P<number>-?{_NUMBER}(?:\s*[\u2013-]\s*{_NUMBER})?)\s*"
    r"(?P<unit>[^\s()\d,;][^\s(),;]*(?:\s(?:Hg|H2O))?|)\s*(?:\((?P<note>[^()]*)\))?\.?"
)
_RANGE = re.compile(
    rf"(?:normal|reference)(?:\s+range)?:?\s*({_NUMBER})\s*[\u2013-]\s*({_NUMBER})\s*(\S*)", re.IGNORECASE
)
_UNIT = re.compile(
    r"%|[\u00b5\u03bcA-Za-z/%\u00b0][\w\u00b5\u03bc/^*.%\u00b0\u00b2\u00b3-]*(?:\s(?:Hg|H2O))?", re.ASCII
)
_DEGREE = re.compile(
    r"\b(slightly|mildly|moderately|markedly|severely|significantly|very|borderline|extremely)\s+", re.IGNORECASE
)
_WORDS: dict[str, Flag] = {
    **dict.fromkeys(("elevated", "increased", "high", "raised", "prolonged", "increased levels"), "high"),
    **dict.fromkeys(("decreased", "reduced", "low", "lowered", "shortened", "decreased levels"), "low"),
    **dict.fromkeys(("abnormal", "acidic", "alkaline", "borderline"), "abnormal"),
    "normal": "normal",
}
_NORMAL = re.compile(
    r"(?:all\s+)?(?:normal|unremarkable)(?: (?:range|limits|levels?))?(?: for age)?"
    r"|within (?:the )?(?:normal|reference) (?:limits|ranges?)(?: for age)?",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"(?:results? )?(?:pending"
    r"|not (?:specified|provided|mentioned|indicated|performed|done|available|tested|applicable)|n/a"
    r"|unknown|optional)\b.*",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A value as text without thousands separators ('12000', '>1000', 'Negative'), its unit, range and flag."""

    value: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    flag: Flag = ""


def normal(text: str) -> bool:
    """Whether `text` says no more than that all is normal."""
    return bool(_NORMAL.fullmatch(text.strip().rstrip(".")))


def not_done(text: str) -> bool:
    """Whether `text` says that there is no result: pending, not specified, not performed."""
    return bool(_NOT_DONE.fullmatch(text.strip()))


def number(text: str) -> Measured | None:
    """'12,000/mm3 (elevated)' as 12000, /mm3, high; None where the text is no number with a unit and a plain note."""
    match = _VALUE.fullmatch(text.strip())
    if match is None:
        return None
    unit, note = match["unit"], (match["note"] or "").strip()
    if unit and not _UNIT.fullmatch(unit):
        return None
    value = match["sign"] + re.sub(r"\s+", "", match["number"]).replace(",", "")
    if not note:
        return Measured(value, unit)
    limits = _RANGE.fullmatch(note)
    if limits and limits[3] in ("", unit):
        return Measured(value, unit, _float(limits[1]), _float(limits[2]))
    flag = word(note)
    return Measured(value, unit, flag=flag) if flag else None


def word(text: str) -> Flag:
    """The flag that a word such as 'Slightly elevated' or 'Within normal limits' means; empty for any other text."""
    plain = text.strip().rstrip(".")
    if normal(plain):
        return "normal"
    return _WORDS.get(_DEGREE.sub("", plain).lower(), "")


def _float(text: str) -> float:
    return float(text.replace(",", ""))
