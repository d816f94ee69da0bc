"""Reads values from the text of a record: measurements with units, names of tests, bullet lists, items of a report."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

import msgspec

from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.scenarios.case import ANCILLARY, Finding, Investigation

Flag = Literal["", "normal", "low", "high", "abnormal"]

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_VALUE = regex(
    rf"(?P<sign>[<>\u2264\u2265~]?)\s*(?P<number>-?{_NUMBER}(?:\s*[\u2013-]\s*{_NUMBER})?)\s*"
    r"(?P<unit>[^\s()\d,;][^\s(),;]*(?:\s(?:Hg|H2O))?|)\s*(?:\((?P<note>[^()]*)\))?\.?"
)
_RANGE = regex(rf"(?:normal|reference)(?:\s+range)?:?\s*({_NUMBER})\s*[\u2013-]\s*({_NUMBER})\s*(\S*)", re.IGNORECASE)
_UNIT = regex(
    r"%|(?!/\d)[\u00b5\u03bcA-Za-z/%\u00b0][\w\u00b5\u03bc/^*.%\u00b0\u00b2\u00b3-]*(?:\s(?:Hg|H2O))?", re.ASCII
)
_DEGREE = regex(
    r"\b(slightly|mildly|moderately|markedly|severely|significantly|very|borderline|extremely)\s+", re.IGNORECASE
)
_WORDS: dict[str, Flag] = {
    **dict.fromkeys(("elevated", "increased", "high", "raised", "prolonged", "increased levels"), "high"),
    **dict.fromkeys(("decreased", "reduced", "low", "lowered", "shortened", "decreased levels"), "low"),
    **dict.fromkeys(("abnormal", "acidic", "alkaline", "borderline"), "abnormal"),
    "normal": "normal",
}
_NORMAL = regex(
    r"(?:all\s+)?(?:normal|unremarkable)(?: (?:range|limits|levels?))?(?: for age)?"
    r"|within (?:the )?(?:normal|reference) (?:limits|ranges?)(?: for age)?",
    re.IGNORECASE,
)
_NOT_DONE = regex(
    r"(?:(?:results?|data|information) )?(?:pending"
    r"|not (?:specified|provided|mentioned|indicated|performed|done|available|tested|applicable)|n/a"
    r"|unknown|optional)\b.*",
    re.IGNORECASE | re.DOTALL,
)


class Measured(msgspec.Struct, frozen=True):
    """A value as text without thousands separators ('12000', '>1000', 'Negative'), with unit, range and flag."""

    value: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    flag: Flag = ""


def day_of(value: Json) -> date | None:
    """The day of a date or time in ISO form; None for anything else."""
    try:
        return date.fromisoformat(str(value)[:10]) if value else None
    except ValueError:
        return None


def says_normal(text: str) -> bool:
    """Whether `text` says only that all is normal."""
    return bool(_NORMAL.fullmatch(text.strip().rstrip(".")))


def not_done(text: str) -> bool:
    """Whether `text` says that there is no result: pending, not specified, not performed."""
    return bool(_NOT_DONE.fullmatch(text.strip()))


def measured_number(text: str) -> Measured | None:
    """Read '12,000/mm3 (elevated)' as 12000, /mm3, high; None unless the text is a number with unit and simple note."""
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
    flag = flag_of(note)
    return Measured(value, unit, flag=flag) if flag else None


def flag_of(text: str) -> Flag:
    """The flag of words such as 'Slightly elevated' or 'Within normal limits'; empty for any other text."""
    plain = text.strip().rstrip(".")
    return "normal" if says_normal(plain) else _WORDS.get(_DEGREE.sub("", plain).lower(), "")


def _float(text: str) -> float:
    return float(text.replace(",", ""))


_BRACKET = regex(r"\s*\(([^()]*)\)")
_ABBREVIATION = regex(r"(?=.*[A-Z].*[A-Z])[A-Za-z0-9][A-Za-z0-9./+-]{0,11}")
_LITTLE = {"of", "the", "and", "in", "to", "by", "due", "with", "a", "an", "for"}
_JOINED = regex(r"\b(with|secondary to|due to|caused by|associated with|complicated by)\b|,", re.IGNORECASE)
_WORD = regex(r"[^\W\d_]+")
_EMPHASIS = regex(r"(?<!\w)\*+|\*+(?!\w)")
_POSSESSIVE = regex(r"['\u2019]s\b")


def diagnosis_names(text: str) -> tuple[str, tuple[str, ...]]:
    """The diagnosis without its bracketed abbreviations, and its synonyms.

    'Progressive multifocal encephalopathy (PML)' is the diagnosis before the bracket, with the synonym 'PML'. An
    abbreviation in the middle replaces the words before it, so the synonym of 'Takotsubo cardiomyopathy (TCM) secondary
    to stroke' is 'TCM secondary to stroke'. An abbreviation of only a part ('Pancreatitis with pulmonary embolism
    (PE)') is not a synonym. Other brackets belong to the name.
    """
    plain = _EMPHASIS.sub("", text).strip().removeprefix("- ").strip()
    plain = plain[:-1].rstrip() if plain.endswith(".") else plain
    diagnosis = _without(plain)
    synonyms = []
    for match in _BRACKET.finditer(plain):
        after = _without(plain[match.end() :])
        if _abbreviates(match) and _stands_for(match[1].strip(), plain[: match.start()], at_end=not after):
            synonyms.append(f"{match[1].strip()}{'' if after[:1] in ',;' else ' '}{after}".strip())
    return diagnosis, tuple(dict.fromkeys(synonyms))


def _without(text: str) -> str:
    return _BRACKET.sub(lambda match: "" if _abbreviates(match) else match[0], text).strip()


def _abbreviates(match: re.Match[str]) -> bool:
    """Whether a bracket abbreviates words before it: 'PML', but not 'Type IIb' or the stage 'T4aN0M0'."""
    inner = match[1].strip()
    return bool(_ABBREVIATION.fullmatch(inner)) and inner[0].lower() in _initials(match.string[: match.start()])


def _initials(text: str) -> list[str]:
    words = [word.lower() for word in re.split(r"[^A-Za-z0-9]+", text) if word]
    return [word[0] for word in words if word not in _LITTLE]


def _stands_for(abbreviation: str, before: str, *, at_end: bool) -> bool:
    """Whether `abbreviation` can stand for all of `before`, not only for its last words."""
    initials = _initials(before)
    letters = [letter for letter in abbreviation.lower() if letter.isalpha()]
    if initials == letters:
        return True
    if _JOINED.search(before):
        return False
    if at_end:  # for 'carcinoma of the pancreas (SCCP)' and 'tumour of the auditory canal (EAC)' the first counts
        return any(letter in letters for letter in _initials(re.split(r"\bof\b", before)[0]))
    return initials[:1] == letters[:1] and len(initials) <= len(letters) + 1


def group(diagnosis: str) -> str:
    """One spelling of a disease for macro averages; ignores case, possessives and a final full stop."""
    plain = " ".join(_POSSESSIVE.sub("", diagnosis_names(diagnosis)[0]).replace("\u2019", "'").split())
    folded = _WORD.sub(lambda match: match[0] if match[0].isupper() else match[0].lower(), plain)
    return folded[:1].upper() + folded[1:]


_HEADING = regex(rf"^{ANCILLARY}[*_ \t]*(?P<rest>.*)$", re.IGNORECASE)
_NONE = regex(
    r"(?:(?:there (?:were|was|are) )?(?:no|none|nil)(?: (?:of the|other|further|additional|ancillary|specific))*"
    r"(?: (?:tests?|testing|investigations?|studies|imaging|results?|data|examinations?|procedures?))*"
    r"(?:(?: (?:were|was|are|is|have been|had been))? (?:performed|done|reported|recorded|available|mentioned|provided"
    r"|specified|conducted|carried out|obtained|required|needed|necessary|indicated|given|described|documented))?"
    r"|(?:not|never) (?:performed|done|reported|recorded|available|mentioned|provided|specified|conducted|carried out"
    r"|obtained|applicable|required|indicated|given|described|documented|tested)|n/?a|unknown|pending)",
    re.IGNORECASE,
)
"""A line that says that there is no test, or that a test has no result."""

_BULLET = regex(r"^(?P<indent>\s*)(?:[-*\u2022+]|\d+[.)])\s+(?P<text>.*)$")
_RULE = regex(r"\s*(?:[-*_]\s*){3,}")
_LABEL = regex(r"(?P<label>[^:;]{1,70}?)\s*:(?:\s+(?P<text>.*))?", re.DOTALL)
_SENTENCE = regex(r"(?<=[A-Za-z0-9)%][.;])\s+(?=[A-Z0-9])")
_CLOSED = regex(
    r"treatment|management|intervention|outcome|follow|prognosis|clinical course|patient|complaint|history"
    r"|physical exam|postoperative treatment|surgical interventions|medication|discharge",
    re.IGNORECASE,
)
_VERB = regex(
    r"\b(?:show(?:ed|s|ing)?|reveal(?:ed|s|ing)?|demonstrat(?:ed|es|ing)|confirm(?:ed|s|ing)?|identif(?:ied|ies|ying)"
    r"|indicat(?:ed|es|ing)|suggest(?:ed|s|ing|ive)?|detect(?:ed|s)|found|was|were|is|are|had|negative|positive|normal"
    r"|elevated|decreased|increased|unremarkable|consistent|within|ruled|exclud(?:ed|es)|display(?:ed|s)|report(?:ed|s)"
    r"|performed|with|for|there)\b|[,;(:]|\s[<>]?\d[\d.,]*(?![\d-])",
    re.IGNORECASE,
)
_LEADING = regex(
    r"^(?:(?:normal|negative|positive|elevated|increased|decreased|low|high|abnormal|reduced|raised|mild(?:ly)?|no|all"
    r"|slightly|markedly|strongly|weakly|severe|significant(?:ly)?|marked|initial|presence|absence|evidence|findings?|results?|of|the|a|an"
    r"|other|further|subsequent|for|in|on)\b[\s,]*)+",
    re.IGNORECASE,
)
_MOST_WORDS = 8


@dataclass
class _Entry:
    """A first-level line with everything nested below it."""

    text: str
    below: list[str] = field(default_factory=list)


def investigations(ancillary: str) -> tuple[Investigation, ...]:
    """The tests of `ancillary`, in order, under unique names; nested lines belong to their parent.

    Tests that were not performed or have no result are left out, and so are later sections without tests (treatment,
    outcome, the history of a second patient). `Case.ancillary` keeps these sections verbatim.
    """
    tests: list[Investigation] = []
    taken: dict[str, int] = {}
    for entry in _entries(ancillary):
        name, text = _named(entry)
        if not text or _NONE.fullmatch(text.strip(" \t.;[]()*_")):
            continue
        taken[name.lower()] = taken.get(name.lower(), 0) + 1
        if taken[name.lower()] > 1:
            name = f"{name} ({taken[name.lower()]})"
        tests.append(Investigation(name=name, text=text, normal=True if says_normal(text) else None))
    return tuple(tests)


def _entries(ancillary: str) -> Iterator[_Entry]:
    """The first-level entries below each heading, and other findings on the heading's line."""
    for inline, lines in _sections(ancillary):
        entries = list(_nested(lines))
        if inline.endswith(":") and entries:
            yield _Entry(inline, [line for entry in entries for line in (entry.text, *entry.below)])
            continue
        yield from (_Entry(sentence) for sentence in _SENTENCE.split(inline) if sentence)
        yield from entries


def _sections(ancillary: str) -> Iterator[tuple[str, list[str]]]:
    """(text on the heading's line, lines below) of each section that contains tests."""
    inline, lines, open_ = "", [], False
    for line in ancillary.splitlines():
        heading = _HEADING.match(line)
        beside = _BULLET.match(line) or re.match(r"(?P<indent>)#+\s*(?P<text>.*)", line)
        if heading is None and (not beside or beside["indent"]):
            if open_:
                lines.append(line)
            continue
        if _RULE.fullmatch(line):
            continue
        if open_ and (inline or lines):
            yield inline, lines
        inline, lines = "", []
        if heading is not None:
            inline, open_ = heading["rest"].strip(), True
        elif beside is not None:
            text = _plain(beside["text"])
            open_ = not line.startswith("#") and not _CLOSED.search(text.split(":")[0])
            lines = [f"- {text}"] if open_ else []
    if open_ and (inline or lines):
        yield inline, lines


def _nested(lines: Iterable[str]) -> Iterator[_Entry]:
    entry: _Entry | None = None
    first = -1
    for line in lines:
        if not line.strip() or _RULE.fullmatch(line):
            continue
        bullet = _BULLET.match(line)
        indent = len(bullet["indent"]) if bullet else len(line) - len(line.lstrip())
        text = _plain(bullet["text"] if bullet else line)
        if not text:
            continue
        if entry is None or (bullet is not None and indent <= first):
            if entry is not None:
                yield entry
            entry, first = _Entry(text), indent if bullet else first
        else:
            entry.below.append(text)
    if entry is not None:
        yield entry


def _plain(text: str) -> str:
    return text.replace("**", "").strip()


def _named(entry: _Entry) -> tuple[str, str]:
    """Name and text of an entry; the name is its label, or the words before the finding."""
    below = "; ".join(line.rstrip(" ;") for line in entry.below)
    label = _LABEL.fullmatch(entry.text)
    if label is not None and (label["text"] or below):
        head = (label["text"] or "").strip()
        return _short(label["label"]), "; ".join(part for part in (head.rstrip(";"), below) if part)
    return _guess(entry.text), "; ".join(part for part in (entry.text, below) if part)


def _guess(text: str) -> str:
    """A name for a line without a label: its words up to the finding, without words such as 'normal' before it."""
    start = _LEADING.sub("", text)
    name = start[: match.start()] if (match := _VERB.search(start)) else start
    if not re.search(r"[A-Za-z]{2}", name):
        name = text
    return _short(name)


def _short(name: str) -> str:
    words = name.strip(" .,;:-*").split()[:_MOST_WORDS]
    plain = " ".join(words).strip(" .,;:-*")
    return plain[:1].upper() + plain[1:] if plain else "Investigation"


_ITEM = regex(
    r"^(?:[-*\u2022+]|\d{1,2}[.)])?[ \t]*[*_]*(?P<label>[A-Z][A-Za-z /&-]{2,40}?)[ *_]*:[ \t*_]*(?P<rest>.*)$"
)
_WHO = regex(r"patient (?:information|demographics?|details?|data)|demographics?", re.IGNORECASE)
_COMPLAINT = regex(r"(?:chief|presenting|main) complaints?|reason for (?:visit|admission|referral)", re.IGNORECASE)
_STORY = regex(r"\b(?:history|illness|allerg|medication|symptoms|review of systems|social|habits)", re.IGNORECASE)
_BODY = regex(r"(?:physical|clinical|general) exam", re.IGNORECASE)
_SILENT = regex(
    r"(?:(?:information|details?|data) )?not (?:\w+ )?(?:specified|provided|mentioned|available|reported|documented"
    r"|stated|recorded|described|given|applicable|disclosed|detailed)(?: in .*)?|n/?a|unknown|unavailable"
    r"|none (?:\w+ )?(?:mentioned|specified|stated|provided|given|documented|available)",
    re.IGNORECASE,
)


class ReportParts(msgspec.Struct, frozen=True):
    """What the items of a report say of the patient's story and body, as a case of encounters holds them.

    `complaint` is one line with who the patient is, `history` maps the name of an item to its text, `examination` has a
    finding for each part that was examined.
    """

    complaint: str = ""
    history: dict[str, str] = msgspec.field(default_factory=dict)
    examination: tuple[Finding, ...] = ()


def report_parts(report: str) -> ReportParts:
    """Part a report by its items ('Chief Complaint: ...'); all is empty if none of them tells a history.

    An item that says only that something is not known ('Not specified.') is left out. Lines below an item belong to it.
    Without a complaint the first sentence of the history is one.
    """
    items: dict[str, list[str]] = {}
    label = ""
    for line in report.splitlines():
        if item := _ITEM.match(line):
            label = item["label"]
            items.setdefault(label, []).append(item["rest"])
        elif label:
            items[label].append(line)
    texts = {name: " ".join(" ".join(map(_line_text, lines)).split()) for name, lines in items.items()}
    stated = {name: text for name, text in texts.items() if text and not _SILENT.fullmatch(text.rstrip(" ."))}
    history = {name: text for name, text in stated.items() if _STORY.search(name)}
    if not history:
        return ReportParts()
    complaint = [text for name, text in stated.items() if _COMPLAINT.fullmatch(name)]
    complaint = complaint or _SENTENCE.split(next(iter(history.values())))[:1]
    who = [text for name, text in stated.items() if _WHO.fullmatch(name)]
    return ReportParts(
        ". ".join(text.rstrip(" .") for text in (*who, *complaint)) + ".",
        history,
        tuple(finding for name in stated if _BODY.match(name) for finding in _findings(items[name])),
    )


def _findings(lines: Sequence[str]) -> Iterator[Finding]:
    """A finding for each line of an examination: 'Abdomen: soft' has its own name, other text has the examination's."""
    first, *below = lines
    for entry in ([_Entry(_plain(first))] if first.strip() else []) + list(_nested(below)):
        match = _LABEL.fullmatch(entry.text)
        label = match["label"] if match and (match["text"] or entry.below) else ""
        text = (match["text"] or "") if match and label else entry.text
        text = "; ".join(part.rstrip(".;") for part in (text.strip(), *entry.below) if part) if entry.below else text
        if not _SILENT.fullmatch(text.rstrip(" .")):
            yield Finding(section=_short(label) if label else "Physical examination", text=text)


def _line_text(line: str) -> str:
    bullet = _BULLET.match(line)
    return _plain(bullet["text"] if bullet else line)
