"""Reads the headings of a discharge note by their words.

A heading is recognised by the words that its kind of section needs and allows (`headings.csv`), and by its looks: its
place in the line, its marks and its capitals. So headings that no list has are recognised too.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from wardround.engine.text import package_rows

MARK = "___"
"""MIMIC's own de-identification mark. It is common in the notes, so a blank that a build makes does not stand out."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at `text[start:end]`, and the kind of section that it opens.

    `firm` is False for words such as 'History' or 'Diagnosis', which count only if the note has no better heading.
    """

    start: int
    end: int
    kind: str
    firm: bool = True


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of headings: at least one word of each group of `needs`, and no other word than those of `allows`."""

    kind: str
    needs: tuple[frozenset[str], ...]
    allows: frozenset[str] = frozenset()
    firm: bool = True

    @property
    def loose(self) -> bool:
        """Whether any other words are allowed."""
        return "*" in self.allows

    def fits(self, words: frozenset[str]) -> bool:
        needed = all(words & group for group in self.needs)
        return needed and (self.loose or words <= self.allows.union(*self.needs, _LITTLE))


_LITTLE_TEXT = """a of the and or on at upon for in by with to his her patient reported relevant pertinent significant
brief known as per s es summary section note date time day observation"""
_LITTLE = frozenset(_LITTLE_TEXT.split())
_OPEN = frozenset({"of", "for", "with", "to", "by", "from", "in"})
"""Words with which no heading ends: 'Exam notable for: discomfort' is a sentence."""


@cache
def _forms() -> tuple[_Form, ...]:
    """The forms of headings, in their order; the first that fits counts."""
    return tuple(
        _Form(
            row["kind"],
            tuple(frozenset(group.split()) for group in row["needs"].split("|")),
            frozenset(row["allows"].split()),
            row["firm"] != "no",
        )
        for row in package_rows("wardround.scenarios", "data", "headings.csv")
    )


@cache
def _spelled() -> Mapping[str, str]:
    """Abbreviated or plural word of headings -> the word or words that it stands for."""
    return {row["written"]: row["read"] for row in package_rows("wardround.scenarios", "data", "heading_words.csv")}


_CANONICAL = {
    "history of present illness": "present", "past medical history": "past", "past surgical history": "surgical",
    "social history": "social", "family history": "family", "physical exam": "examination",
    "physical examination": "examination", "pertinent results": "results", "brief hospital course": "course",
    "hospital course": "course", "discharge diagnosis": "diagnosis", "discharge diagnoses": "diagnosis",
    "final diagnosis": "diagnosis", "discharge condition": "condition", "chief complaint": "complaint",
    "discharge disposition": "other", "discharge medications": "other", "medications on admission": "other",
    "discharge instructions": "other", "followup instructions": "other", "review of systems": "other",
    "major surgical or invasive procedure": "other",
}  # fmt: skip
"""The kinds of the usual headings, to read those of which `___` hides words."""

_BRACKETS = re.compile(r"\((?:s|es)\)|[(\[][^()\[\]]*(?:[)\]]|$)")
_INSIDE = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_TOKEN = re.compile(r"[a-z]+(?:[/-][a-z]+)*")


@lru_cache(maxsize=8192)
def heading_kind(said: str) -> tuple[str, bool]:
    """(kind, firm) of a phrase as a heading; ('', False) if it is none."""
    low = " ".join(said.casefold().split()).strip(" :.-*#=_" if MARK not in said else " :.-*#=")
    if MARK in low:
        return _masked(low), True
    low = low.replace("_", " ").strip()
    outside = _classified(_BRACKETS.sub(" ", low))
    if outside[0]:
        return outside
    if low in _LETTERS or _BRACKETS.sub(" ", low).strip() in _LETTERS:
        return _LETTERS[_BRACKETS.sub(" ", low).strip()], False
    inside = _INSIDE.search(low)
    whole = inside and (inside[0] == low or len(inside[1].split()) > 1)
    return _classified(inside[1]) if inside and whole else outside


_LETTERS = {"s": "present", "o": "examination", "a": "assessment", "p": "other"}
"""The kinds of the parts of a note that has the letters S, O, A, P as headings."""


def _classified(low: str) -> tuple[str, bool]:
    tokens = _TOKEN.findall(low)
    if not tokens or len(tokens) > 9 or re.search(r"\d", low) or not re.fullmatch(r"[a-z&/,'.() -]+", low):
        return "", False
    if tokens[-1] in _OPEN and "diagnosis" not in tokens:
        return "", False
    words = frozenset(part for token in tokens for part in _plain(token))
    if not words - _LITTLE:
        return "", False
    form = next((form for form in _forms() if not form.loose and form.fits(words)), None)
    if form is None and "/" in low:
        first, _, rest = low.partition("/")
        kind, firm = _classified(first.strip())
        later, sure = _classified(rest.strip()) if kind == "complaint" else ("", False)
        return (later, sure) if later == "present" else (kind, firm) if len(rest.split()) < 5 else ("", False)
    return (form.kind, form.firm) if form else ("", False)


@lru_cache(maxsize=8192)
def _loose_kind(said: str, *, asked: bool) -> tuple[str, bool]:
    """(kind, firm) of a phrase that has the words of a heading among other words; ('', False) if it has none.

    `asked` says that a question mark follows it: then words of a sentence are allowed.
    """
    low = " ".join(_BRACKETS.sub(" ", said.casefold().replace("_", " ")).split())
    tokens = _TOKEN.findall(low)
    words = frozenset(part for token in tokens for part in _plain(token))
    if (
        not tokens
        or len(tokens) > 8
        or (not asked and not _SENTENCE_WORDS.isdisjoint(tokens))
        or re.search(r"[\d.]", low)
    ):
        return "", False
    return next(((form.kind, form.firm) for form in _forms() if form.loose and form.fits(words)), ("", False))


_SENTENCE_TEXT = """is are has have had denies denied reports reported showed shows revealed notable significant
ed er emergency outside osh normal negative positive per unremarkable"""
_SENTENCE_WORDS = frozenset(_SENTENCE_TEXT.split())
"""Words of a sentence, or about what another hospital did; no heading of this note has them."""


def _plain(token: str) -> list[str]:
    spelled = _spelled()
    if token in spelled:
        return spelled[token].split()
    parts = [spelled.get(part, part) for part in re.split(r"[/-]", token)]
    return [_whole(_singular(word)) for part in parts for word in part.split()]


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "is", "us", "ous")) and len(word) > 4:
        return word[:-1]
    return word


@lru_cache(maxsize=4096)
def _whole(word: str) -> str:
    """A word of headings that was cut short ('hosp', 'disch') in full: the shortest known word that begins with it."""
    known = frozenset(_LITTLE).union(*(form.allows.union(*form.needs) for form in _forms() if not form.loose))
    if word in known or len(word) < _SHORTEST_CUT:
        return word
    return min((one for one in known if one.startswith(word)), key=lambda one: (len(one), one), default=word)


_SHORTEST_CUT = 4


def _masked(low: str) -> str:
    """The kind of a heading of which `___` hides words; '' if not exactly one kind fits."""
    if len(low) <= 8 or not re.search(r"[a-z]{3}", low):
        return ""
    hidden = re.compile(re.escape(low).replace(re.escape(MARK), r"[\w/]+(?: [\w/]+)?"))
    kinds = {kind for name, kind in _CANONICAL.items() if hidden.fullmatch(name)}
    return kinds.pop() if len(kinds) == 1 else ""


_LINE = re.compile(r"(?m)^[^\n]*$")
_LEAD = re.compile(r"[ \t>#*=|\u2022+~-]*(?:(?:Q?\d{1,2}|[IVX]{1,4}|[A-H])[.)][ \t]+)?[*\[(<_ \"]*(?!_)|[ \t]*")
_COLON = re.compile(
    r"[ \t]*[\])>*_~\"]{0,3}[ \t]*(?::(?!\d\d)(?:\*{1,2}|__(?!_))?|[-=]?>{1,2}|\.{2,}|\?|\|"
    r"|[\u2013\u2014\u2192=]|-{1,2}(?=[ \t]|$))"
    r"[ \t]*"
)
_PHRASE = re.compile(
    r"[A-Za-z_](?>\([^()\n]{0,60}\)|[A-Za-z_ /&,'.()\[\]-]){0,70}?"
    r"(?=[ \t]*[\])>*~\"]{0,3}[ \t]*(?::(?!\d\d)|[-=]?>|\.\.|\?|\||[\u2013\u2014\u2192=]|-{1,2}[ \t]|-*$))"
)
_CAPITALS = re.compile(r"[A-Z][A-Z/&' -]{6,60}[A-Z](?=[ \t]+[A-Z]?[a-z_])")
_STOPPED = re.compile(r"[A-Z][A-Z/&' -]{1,60}[A-Z](?=\.(?:[ \t]|$))")
"""A heading in capitals with a full stop, as dictation has it."""
_FENCED = re.compile(r"([^\n\[\]|]{2,70}?)[ \t]*[\]|][ \t]*:?[ \t]*")
"""A heading in square brackets, or in the first cell of a row."""
_TAIL = re.compile(
    r"(?i)(.{4,60}?) (?:from|at|by|per|in|on|upon|before|after|during|with|for|and|&) (?:[^\s:]+ ?){1,5}$"
)
"""A heading with more words after it: 'History of present illness and outside hospital course'."""
_OTHER_HISTORY = re.compile(r"(?:[A-Z][A-Za-z/-]+ ){1,3}(?:History|HISTORY|Hx|HX)")
"""The history of something else than this illness: 'Birth History'."""
_INLINE = re.compile(
    r"(?<![\w/])([A-Za-z_][A-Za-z_/&()'-]*(?:[ \t][A-Za-z_/&(][A-Za-z_/&()'-]*){0,5})"
    r"[ \t]*[\])>*]{0,3}[ \t]*(?::(?!\d\d)(?:\*{1,2})?|(?<=[ \t])-(?=[ \t]))"
)
_RUN = re.compile(r"[A-Za-z_/&()'\[\]>* \t-]+:?")
"""A run of characters that contains every match of `_INLINE` in it; it ends with a colon, or has a dash with blanks."""
_STRETCH = re.compile(r"(?>\([^()\n]{0,60}\)|[A-Za-z_ \t/&,'.()\[\]>*~\"-])*")
"""A run of characters that contains every match of `_PHRASE` and its closing marks, except a last mark of `_MARKS`."""
_BRACKETED = re.compile(r"\([^()\n]{0,60}\)")
_MARKS = ":?|=\u2013\u2014\u2192"
_LONGEST = 71
"""Most characters of a phrase that may be a heading."""
_BREAK = re.compile(r"(?:[.;|,!?)\u2022]|\t|[ \t]{2,}|:)[ \t*#-]*$|^[ \t*#-]*$")
_EXAMINED = re.compile(
    r"(?i)\A\W*(?:on (?:admission|arrival)\W*|\(?initial\)?\W*|[^\n]{0,40}\n)?[^\n]{0,60}?(?<![a-z])"
    r"(?:vs|vss|vitals?|tm?(?:ax|emp(?:erature)?)?\W{0,3}\d|afebrile|afvss|bp|hr|rr|heent"
    r"|gen(?:eral)?(?: appearance)?\s*[:.,-]|gen\b|nad|abd(?:omen)?\b|chest\b|lungs?\b|heart\b|cv\b|cor\b|neuro|skin\b"
    r"|alert|well[ -]appearing|ext\b|neck\b|eyes?\b|resp\b|wd|const)"
)
_MARKS_BEFORE = re.compile(
    r"(?:(?:^|(?<=[\s.;]))[ \t>#*=|\u2022+~\[(<_-]*(?:(?:\d{1,2}|[IVX]{1,4}|[A-H])[.)][ \t]+)?)?$"
)
_MARKED = re.compile(r"[:?|=>\u2013\u2014\u2192]|(?<=[\s*])-|\.\.")
_SHORT = frozenset({"pe", "p/e"})
_UNSURE = frozenset(
    {"discharge", "sh", "fh", "cc", "soc", "family", "social", "physical", "admission", "condition", "data", "course"}
)
"""Single words that open a section only with a colon."""


def headings(text: str) -> list[Heading]:
    """The headings of a note in their order.

    A heading starts a line, alone or before a colon or a dash; or it follows a sentence on the same line and has a
    colon. 'PE' opens the examination only if an examination follows, since it is also a diagnosis.
    """
    kept: list[Heading] = []
    within = ""
    for line in _LINE.finditer(text):
        for one in _in_line(text, line.start(), line.end(), within):
            kept.append(one)
            within = one.kind
    return _with_unknown(text, kept)


def _with_unknown(text: str, known: list[Heading]) -> list[Heading]:
    """The headings, and further lines of unknown words that look like the headings of this note.

    A heading of unknown words only ends the section before it.
    """
    firm = [text[head.start : head.end] for head in known if head.firm]
    looks = [look for look in _LOOKS if sum(bool(look.match(said.strip("\n"))) for said in firm) > _LIKE]
    if not looks:
        return known
    kept = list(known)
    for line in _LINE.finditer(text):
        before = max((head for head in known if head.start < line.end()), key=lambda head: head.start, default=None)
        if before is None or before.kind not in _ENDED or before.start >= line.start():
            continue
        if any(look.match(line[0]) for look in looks) and not _STILL.search(line[0]):
            kept.append(Heading(line.start(), line.start(), UNKNOWN))
    return sorted(kept, key=lambda head: head.start)


UNKNOWN = "unknown"
_LIKE = 3
"""If a note has more known headings of one look than this, unknown lines of that look are headings too."""
_LOOKS = (
    re.compile(r"[ \t]*(?=[^\n:]{9})[A-Z][A-Z/&',() -]{1,60}[A-Z)][ \t]*(?::|$)"),
    re.compile(r"[ \t]*#{1,4}[ \t]+[A-Z][^\n]{2,60}$"),
)
_ENDED = frozenset({"complaint", "present", "past", "surgical", "social", "family"})
_STILL = re.compile(r"(?i)^\W*(?:ed|er|in|on|at|emergency|initial|osh|outside|vitals?|ros|per)\b")
"""The beginning of a line that goes on with the present illness and opens no section: 'ED COURSE'."""


def _in_line(text: str, start: int, end: int, within: str) -> Iterator[Heading]:
    line = text[start:end]
    at = 0
    first = _leading(line)
    if first is not None:
        begin, phrase_end, close = first
        head = _heading(text, start, line[begin:phrase_end], (begin, close), within)
        if head is not None:
            yield head
            within, at = head.kind, close
    for match in _inline(line, at):
        for begin, parted in _starts(line, match, at):
            kind, firm = heading_kind(line[begin : match.end(1)])
            if kind and (parted or (firm and ":" in match[0])):
                head = _heading(text, start, line[begin : match.end(1)], (begin, match.end()), within)
                if head is not None:
                    yield head
                    within = head.kind
                break


def _inline(line: str, at: int) -> Iterator[re.Match[str]]:
    """The matches of `_INLINE` from `at` on. Prose without a mark, which is most of a note, is passed over quickly."""
    if ":" not in line and " -" not in line and "\t-" not in line:
        return
    for run in _RUN.finditer(line, at):
        if run[0][-1] == ":" or " -" in run[0] or "\t-" in run[0]:
            matches = _INLINE.finditer(line, run.start(), min(run.end() + 2, len(line)))
            yield from (match for match in matches if match.start() < run.end())


def _leading(line: str) -> tuple[int, int, int] | None:
    """(start, end, end with colon) of the phrase at the start of a line that may be a heading; None without one."""
    lead = _LEAD.match(line)
    begin = lead.end() if lead else 0
    if line[:begin].rstrip()[-1:] in ("[", "|") and (fenced := _FENCED.match(line, begin)):
        return begin, fenced.end(1), fenced.end()
    if (stopped := _STOPPED.match(line, begin)) and heading_kind(stopped[0])[0]:
        return begin, stopped.end(), stopped.end() + 1
    phrase = _PHRASE.match(line, begin) if _may_open(line, begin) else None
    if phrase is None:
        capitals = _CAPITALS.match(line, begin)
        return (begin, capitals.end(), capitals.end()) if capitals else None
    colon = _COLON.match(line, phrase.end())
    return begin, phrase.end(), colon.end() if colon else len(line)


def _may_open(line: str, begin: int) -> bool:
    """Whether a phrase here may be a heading: a mark or the end of the line is near enough, unlike in prose."""
    stretch = _STRETCH.match(line, begin)
    text = stretch[0] if stretch else ""
    after = line[begin + len(text) : begin + len(text) + 1]
    if after and after in _MARKS:
        return True
    if ">" in text or ".." in text or "- " in text or "-\t" in text:
        return True
    return not after and len(_BRACKETED.sub("()", text).rstrip(' \t-])>*~"')) <= _LONGEST


def _starts(line: str, match: re.Match[str], least: int) -> Iterator[tuple[int, bool]]:
    """(where a heading within a line may start, whether a stop or a gap is before it); without one, it has capitals."""
    before = ""
    for word in re.finditer(r"\S+", match[1]):
        begin = match.start(1) + word.start()
        said = line[begin : match.end(1)]
        named = (said.isupper() and len(said) > 1 and (not before.isupper() or len(said) < 6)) or (
            _titled(said) and (before.isupper() or not before[:1].isupper())
        )
        parted = begin <= least or bool(_BREAK.search(line[least:begin]))
        if parted or named:
            yield begin, parted
        before = word[0]


def _titled(said: str) -> bool:
    words = said.split()
    return len(words) > 1 and all(word[:1].isupper() or word.casefold() in _LITTLE for word in words)


def _longer_kind(said: str, within: str, *, alone: bool) -> tuple[str, bool]:
    """(kind, firm) of a phrase that begins with a heading, or is the history of something else; else ('', False)."""
    tail = _TAIL.fullmatch(said)
    if tail and (alone or len(tail[1].split()) > 1):
        kind, firm = heading_kind(tail[1])
        if kind and kind != "diagnosis":
            return kind, firm
    return ("other", True) if within != "past" and _OTHER_HISTORY.fullmatch(said.strip()) else ("", False)


def _stands_apart(text: str, line: int, end: int, lead: str, said: str, *, colon: bool) -> bool:
    """Whether a phrase looks like a heading: it has a mark or capitals, or a blank line before it."""
    if lead.strip(" \t#*=|[(<_\u2022>~-.)0123456789Q"):
        return False
    if not said[:1].isupper():
        return colon and text[:line].rstrip()[-1:] in ("", ".", ":", ";", ")")
    if colon or said.isupper() or lead.strip():
        return True
    before = text[:line].rstrip(" \t").endswith("\n\n") or text[:line].rstrip(" \t=*-").endswith("\n")
    after = text[end + 1 : end + 4] if end >= 0 else ""
    return line == 0 or before or (bool(after) and set(after) <= set("-=*~"))


def _heading(text: str, line: int, said: str, span: tuple[int, int], within: str) -> Heading | None:
    begin, close = line + span[0], line + span[1]
    if said[:1].islower() and said.split(maxsplit=1)[0] in _OPEN:
        return None
    lead = text[line:begin]
    colon = bool(_MARKED.search(text[begin + len(said) : close])) or text[close - 2 : close].strip() in ("]", "|")
    end = text.find("\n", begin)
    alone = not text[close : end if end >= 0 else len(text)].strip()
    kind, firm = heading_kind(said)
    if not kind and (colon or alone):
        kind, firm = _longer_kind(said, within, alone=alone)
    if not kind and (colon or alone) and _stands_apart(text, line, end, lead, said, colon=colon):
        kind, firm = _loose_kind(said, asked=text[close - 2 : close].strip() == "?")
    if not kind:
        return None
    rest = text[close : end if end >= 0 else len(text)].strip(" \t:")
    if colon and kind != "diagnosis" and 0 < len(rest) < _LONGEST and rest[:1].isalpha() and not alone:
        further = heading_kind(rest)[0] or (_loose_kind(rest, asked=False)[0] if kind == "course" else "")
        if further and len(rest.split()) > 1:
            kind, close = further, end if end >= 0 else len(text)
    marks = _MARKS_BEFORE.search(lead)
    start = begin - len(marks[0]) if marks else begin
    plain = said.strip().casefold()
    if plain in _SHORT or (plain == "discharge" and not alone):
        sure = colon and plain in _SHORT and within not in ("diagnosis", "secondary", "past", "present")
        return Heading(start, close, kind) if sure or _EXAMINED.match(text[close : close + 240]) else None
    listing = within in ("diagnosis", "secondary", "past")
    if plain in _LETTERS and (not colon or lead.strip() or ".." in text[begin:close]):
        return None
    if plain in _UNSURE and not colon and not (alone and (lead.strip(" \t_") or not listing)):
        return None
    if not colon and not lead.strip(" \t_") and said.islower() and len(plain.split()) < 2:
        return None
    if not colon and not alone and not said.isupper() and len(plain.split()) < 2:
        return None
    return Heading(start, close, kind, firm or (kind == "examination" and alone and within == "leaving"))
