"""Seeds errors in faithful cases of articles: in sex, side, negation, number or diagnosis; each is drawn by seed."""

import random
import re
from collections.abc import Callable, Mapping, Sequence

KINDS = ("sex", "side", "negation", "number", "diagnosis")
_NOUNS = {"woman": "man", "female": "male", "girl": "boy", "lady": "gentleman"}
_NOUNS |= {other: one for one, other in _NOUNS.items()}
_PRONOUNS = {"she": "he", "he": "she", "his": "her", "her": "his", "himself": "herself", "herself": "himself"}
_SIDES = {"left": "right", "right": "left", "bilateral": "left", "bilaterally": "on the right", "both": "left"}
_KIN = re.compile(
    r"(?i)\b(?:mother|father|brother|sister|son|daughter|husband|wife|partner|parents?|uncle|aunt|cousin|grand\w+"
    r"|child"
    r"|children|baby|infant|newborn)\b"
)
_UNITS = {"days": "weeks", "weeks": "months", "months": "years", "hours": "days", "years": "months", "mg/dL": "g/dL",
          "mmol/L": "\u00b5mol/L", "mm": "cm", "cm": "mm", "mg": "g", "g/dL": "mg/dL", "day": "week", "week": "month",
          "month": "year"}  # fmt: skip
_NUMBER = re.compile(
    r"(?<![\w.,/:*\u00d7^-])\d+(?:\.\d+)?(?![\w.,]*[)\]]?[*:]|\d|s\b|\s*[x\u00d7]\s*10|-\d)(?=[\s%\u00b0,;)-]"
    r"|\.(?:\s|$))"
)


def with_error(
    kind: str, summary: str, answer: str, others: Sequence[str], draw: random.Random
) -> tuple[str, str, str] | None:
    """Return (summary, answer, form) with one error of a kind, or None if the case has no place for one."""
    if kind == "diagnosis":
        return summary, draw.choice([other for other in others if other != answer]), "other"
    forms = [
        (name, made) for name, make in _FORMS[kind].items() if (made := make(summary, draw)) not in (None, summary)
    ]
    if not forms:
        return None
    name, made = draw.choice(forms)
    return made or "", answer, name


def _exchanged(table: Mapping[str, str], *, every: bool) -> Callable[[str, random.Random], str | None]:
    pattern = re.compile(rf"(?i)(?<![\w-])(?:{'|'.join(table)})\b(?! (?:the|with|untreated)\b)")

    def change(text: str, draw: random.Random) -> str | None:
        hits = [
            hit for hit in pattern.finditer(text) if table is _SIDES or not _KIN.search(_sentence(text, hit.start()))
        ]
        if not hits:
            return None
        for hit in reversed(hits if every else [draw.choice(hits)]):
            new = table[hit[0].lower()]
            text = text[: hit.start()] + (new[0].upper() + new[1:] if hit[0][0].isupper() else new) + text[hit.end() :]
        return text

    return change


def _sentence(text: str, place: int) -> str:
    start = max(text.rfind(mark, 0, place) for mark in (". ", "\n", "; ", "\n- "))
    ends = [end for end in (text.find(mark, place) for mark in (". ", "\n", "; ")) if end >= 0]
    return text[start + 1 : min(ends, default=len(text))]


def _value(text: str, draw: random.Random) -> str | None:
    hits = list(_NUMBER.finditer(text))
    if not hits:
        return None
    hit = draw.choice(hits)
    value, decimals = float(hit[0]), len(hit[0].partition(".")[2])
    digits = hit[0]
    turned = digits[1] + digits[0] + digits[2:] if len(digits) > 1 and digits[:2].isdigit() else digits
    choices = [f"{value * 10:.{max(decimals - 1, 0)}f}", f"{value + draw.randint(1, 9):.{decimals}f}"]
    choices += [f"{value * 2 + 1:.{decimals}f}", *([turned] if turned not in (digits,) and turned[0] != "0" else [])]
    choices = [one for one in choices if float(one) != value]
    if re.match(r"(?:19|20)\d\d$", digits):
        choices = [str(int(digits) + draw.choice((-3, -2, 2, 4)))]
    return text[: hit.start()] + draw.choice(choices) + text[hit.end() :]


def _unit(text: str, draw: random.Random) -> str | None:
    ordered = sorted(_UNITS, key=len, reverse=True)
    hits = list(re.finditer(rf"(?<=\d)([ -])({'|'.join(map(re.escape, ordered))})(?![\w/\u00b2\u00b3-])", text))
    if not hits:
        return None
    hit = draw.choice(hits)
    return text[: hit.start()] + hit[1] + _UNITS[hit[2]] + text[hit.end() :]


_NOT_DROPPED = (
    r"(?!(?:further|longer|more|other|details?|specific|information|relevant|data|prior|previous|change"
    r"|record|mention)\b)"
)
_DROPS = (
    (re.compile(rf"\b(?:with )?no (?:(?:known|significant|evidence of|signs? of|family"
        rf"|past)\s+)*{_NOT_DROPPED}(?=[a-z]{{3}})"), ""),
    (re.compile(r"\bNo (?=[a-z])" + _NOT_DROPPED), ""),
    (re.compile(r"\bdenied (?=[a-z])"), "reported "),
    (re.compile(r"\bDenied (?=[a-z])"), "Reported "),
    (re.compile(r"\bdenies (?=[a-z])"), "reports "),
    (re.compile(r"\bDenies (?=[a-z])"), "Reports "),
    (re.compile(rf"\bwithout (?:(?:any|evidence of|signs? of)\s+)*{_NOT_DROPPED}(?=[a-z])"), "with "),
    (re.compile(r"\b(was|were|is|are|did) not (?=[a-z])"), r"\1 "),
)  # fmt: skip
_TURNS = (
    (re.compile(r"\bnegative\b"), "positive"),
    (re.compile(r"\bpositive\b"), "negative"),
    (re.compile(r"\bNegative\b"), "Positive"),
    (re.compile(r"\bPositive\b"), "Negative"),
    (re.compile(r"\bnormal\b"), "abnormal"),
    (re.compile(r"\bNormal\b"), "Abnormal"),
    (re.compile(r"\b[Uu]nremarkable\b"), "abnormal"),
    (re.compile(r"(?<=\b(?:was|ere) )absent\b"), "present"),
)
_ITEM = re.compile(
    r"(?m)(?<=[:,] )([a-z][a-z-]{3,}(?: [a-z-]+){0,2}|(?<=: )[A-Z][a-z-]{3,}(?: [a-z-]+){0,2})(?=[,.;]|$)"
)
_DENIES = re.compile(
    r"(?i)\b(?:no|not|none|without|den\w+|negative|normal|absent|unremarkable|except|reported|or|and|before|ago|since|after|for|days?"
    r"|weeks?|months?|years?|hours?|aged?)\b|not provided"
)


def _dropped(text: str, draw: random.Random) -> str | None:
    hits = [(hit, new) for pattern, new in _DROPS for hit in pattern.finditer(text)]
    return _replaced(text, hits, draw)


def _turned(text: str, draw: random.Random) -> str | None:
    hits = [(hit, new) for pattern, new in _TURNS for hit in pattern.finditer(text)]
    return _replaced(text, hits, draw)


def _replaced(text: str, hits: Sequence[tuple[re.Match[str], str]], draw: random.Random) -> str | None:
    if not hits:
        return None
    hit, new = draw.choice(sorted(hits, key=lambda one: one[0].start()))
    return text[: hit.start()] + hit.expand(new) + text[hit.end() :]


def _added(text: str, draw: random.Random) -> str | None:
    hits = []
    for hit in _ITEM.finditer(text):
        before = text[max(text.rfind(mark, 0, hit.start()) for mark in ("\n", ". ", "; ")) + 1 : hit.start()]
        if not _DENIES.search(f"{before} {hit[1]}") and not before.lstrip(" -*").lower().startswith("patient "):
            hits.append((hit, ""))
    if not hits:
        return None
    chosen = draw.choice(hits)[0]
    return text[: chosen.start()] + "no " + chosen[1][0].lower() + chosen[1][1:] + text[chosen.end() :]


_FORMS: Mapping[str, Mapping[str, Callable[[str, random.Random], str | None]]] = {
    "sex": {
        "all": _exchanged({**_NOUNS, **_PRONOUNS}, every=True),
        "noun": _exchanged(_NOUNS, every=True),
        "pronouns": _exchanged(_PRONOUNS, every=True),
    },
    "side": {"side": _exchanged(_SIDES, every=False)},
    "number": {"value": _value, "another value": _value, "unit": _unit},
    "negation": {"dropped": _dropped, "turned": _turned, "added": _added},
}
