"""Splits a discharge note into sections, and finds names of diseases in text."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic, TypeVar

from wardround.scenarios.mimic.headings import UNKNOWN, Heading, headings
from wardround.scenarios.mimic.note_prose import ELSEWHERE, prose_headings, stated_diagnoses, stated_in
from wardround.scenarios.terms.wording import tokens, vocabulary

_LEAVING = re.compile(
    r"(?ims)(?:(?:^|(?<=[.;!?]))[ \t>*#-]*)"
    r"(?:(?:on|at|upon|before|prior to|(?:on )?(?:the )?(?:day|time|date) of)"
    r" (?:discharge|leaving|departure|going home)\b"
    r"|(?:pre-?)?discharge (?:physical )?(?:exam(?:ination)?|vitals?|pe)\b).*"
)
_LATER_EXAM = re.compile(
    r"(?ims)(?<=\n)[ \t>*#-]*(?:(?:repeat|second|later|final|last|subsequent)[ ]+)?(?:physical |clinical )?"
    r"(?:exam(?:ination)?|o/e|p/?e)\b(?=[^\n:.;]{0,40}\b(?:day|ward|hd|pod|discharge|home|leaving|transfer|\d+|___))"
    r"[^\n:.;]{0,40}:.*"
)
"""An examination of a later day below the first one: 'Examination day 6:'."""
_LISTED = re.compile(
    r"(?i)^\W*(?:(?:primary|principal|main|admitting|active)?(?:\s*diagnos[ie]s)?\s*[:#]"
    r"|(?:primary|principal)(?: diagnos[ie]s)?\s*$)\s*"
)
_PARTS = re.compile(r"(?m)^[ \t]*(?P<name>[A-Z_][A-Za-z/, ]{1,30}?)[ \t]*:(?=[ \t]*\S)")


@dataclass(frozen=True)
class Note:
    """The sections of a note by kind: complaint, present, past, surgical, social, family, examination, diagnosis.

    If a kind occurs twice, its first text counts; of diagnoses, the last. A section ends at the next known heading.
    """

    sections: Mapping[str, str]
    prose: Mapping[str, str] = field(default_factory=dict)
    """For each kind that no heading opens, where its text stands: 'sentence', 'problem list', 'assessment', 'prose'."""

    def get(self, kind: str) -> str:
        """The text of a section, '' if the note has none."""
        return self.sections.get(kind, "")

    @cached_property
    def primary(self) -> str:
        """The discharge diagnosis before its secondary ones."""
        return before_secondary(self.get("diagnosis"))


def note(text: str) -> Note:
    """Read the sections of a note.

    A partly de-identified heading ('___ of Present Illness') is recognised. Headings of primary and secondary diagnoses
    that follow each other make one section.
    """
    heads = headings(text)
    heads = _without_weak(text, heads)
    heads = sorted([*heads, *prose_headings(text, heads)], key=lambda head: head.start)
    sections: dict[str, str] = {}
    prose: dict[str, str] = {}
    place = 0
    while place < len(heads):
        head, after = heads[place], place + 1
        joined = head.kind == "diagnosis" or (
            head.kind == "secondary" and [one.kind for one in heads[after : after + 1]] == ["diagnosis"]
        )
        while joined and after < len(heads) and heads[after].kind in ("diagnosis", "secondary"):
            after += 1
        end = heads[after].start if after < len(heads) else len(text)
        body = text[head.end : end] if not joined or head.kind == "diagnosis" else text[head.start : end]
        body = _TAGS.sub("", _RULES.sub("", body)).strip().rstrip("|").rstrip()
        kind = "diagnosis" if joined else head.kind
        if kind == "diagnosis" and body:
            sections[kind] = body  # the last one counts, because the hospital course may contain a diagnosis of its own
        elif body and kind == "present" and 0 < len(sections.get(kind, "")) < _SHORT_STORY < len(body):
            sections.setdefault("complaint", sections[kind])
            sections[kind] = body
        elif body and not sections.get(kind):
            sections[kind] = body
            prose |= {kind: "prose"} if head.start == head.end else {}
        elif body and kind in prose and head.start == head.end:
            sections[kind] += f"\n{body}"
        place = after
    if not _WORD.search(ELSEWHERE.sub("", sections.get("diagnosis", ""))):
        where, words = next(iter(stated_diagnoses(text, sections.get("assessment", ""))), ("", ""))
        if words:
            sections["diagnosis"], prose["diagnosis"] = words, where
    return Note(sections, prose)


_SHORT_STORY = 80
"""A first story with fewer characters than this, before a longer one, is the complaint."""


def _without_weak(text: str, heads: Sequence[Heading]) -> list[Heading]:
    """The headings without weak ones (not `firm`) of a kind for which the note has a firm one.

    'Histories', alone on its line, still ends a story, and 'Treatment' an examination: these become unknown headings.
    """
    firm = {head.kind for head in heads if head.firm}
    kept: list[Heading] = []
    for head in heads:
        if head.firm or head.kind not in firm:
            kept.append(head)
            continue
        before = kept[-1].kind if kept else ""
        alone = not text[head.end :].split("\n", 1)[0].strip()
        if (before, head.kind) == ("examination", "course") or (before == head.kind == "present" and alone):
            kept.append(replace(head, kind=UNKNOWN))
    return kept


def joined_note(texts: Sequence[str]) -> Note:
    """The sections of several notes on one admission: those of the first note; the others fill in what it lacks.

    A section of which all text is de-identified ('___') counts as lacking. A section under a heading counts before one
    that only the prose has.
    """
    sections: dict[str, str] = {}
    prose: dict[str, str] = {}
    notes = [note(text) for text in texts]
    for without_heading in (False, True):
        for read in notes:
            for kind, body in read.sections.items():
                lacking = kind not in sections or not _WORD.search(sections[kind])
                if lacking and (kind in read.prose) is without_heading:
                    sections[kind] = body
                    prose |= {kind: read.prose[kind]} if without_heading else {}
    return Note(sections, prose)


_TAGS = re.compile(r"</\w{1,60}>")
_RULES = re.compile(r"\A(?:[ \t]*[-=*~]{3,}[ \t]*\n)+")
_SECONDARY = re.compile(
    r"(?i)\W*(?:secondary|other|additional|further|chronic|inactive|past|associated|comorbid\w*|co-morbid\w*)"
    r"(?:[ /]+(?:discharge|hospital|medical|active|chronic|secondary))*"
    r"(?:[ ]+(?:diagnos[ie]s|dx|problems?|issues?|conditions?|illness(?:es)?|history))?(?:\((?:s|es)\))?"
    r"[ ]*(?:[:#\u2013]|[ ]-|-[ ]|[-*_=]*$)|\W*secondary (?:diagnos[ie]s|dx)\b"
)
_FIRST = re.compile(
    r"(?i)\W*(?:primary|principal|main|leading|active|acute|final|discharge)"
    r"(?:[ /]+(?:discharge|hospital|final|primary|principal))*(?:[ ]+(?:diagnos[ie]s|dx|problems?|issues?))?"
    r"(?:\((?:s|es)\))?[ ]*(?:[:#\u2013]|[ ]-|-[ ]|[-*_=]*$)"
)


_ARRIVED = re.compile(
    r"(?is)\A\W*(?:on |at )?(?:admi\w+|initial|provisional|referral)(?: diagnos[ie]s)?[ ]?[:=-].{0,300}?"
    r"\b(?=(?:on |at )?(?:discharge|final|principal|primary)\b[^\n:]{0,20}[:=-])"
)
"""The diagnosis on admission, before the one on discharge in the same section."""


def before_secondary(diagnosis: str) -> str:
    """A discharge diagnosis up to the line that opens the secondary ones; if these come first, what follows them."""
    diagnosis = _ARRIVED.sub("", diagnosis)
    kept: list[str] = []
    later = False
    for line in diagnosis.splitlines():
        low = line.casefold()
        opens = _SECONDARY.match(low)
        if later:
            if _FIRST.match(line):
                return before_secondary(diagnosis[diagnosis.index(line) :])
        elif opens and (kept or re.search(r"secondary|diagnos|\bdx\b|:", low)):
            if any(text.strip() for text in kept):
                break
            later = True
        else:
            kept.append(line)
    return "\n".join(kept)


def first_item(diagnosis: str) -> str:
    """The first diagnosis of a list, without heading and number, up to the next item or its cause.

    Conditions for which nobody is admitted, such as hypertension, are passed over if another item follows.
    """
    items = [item for line in re.split(r"[\n;]", diagnosis) if _WORD.search(item := _item(line))]
    items = [item for item in items if not ELSEWHERE.fullmatch(item)] or items
    first = next((item for item in items if not _BACKGROUND.fullmatch(item.strip(" .,"))), "")
    return _RANKED.sub("", _CODED.sub("", _CAUSE.split(first or "".join(items[:1]))[0]))


_RANKED = re.compile(
    r"(?i)\s*(?:[-\u2013,]\s*|\()(?:primary|principal|main|active|resolved|stable|improv\w+|treated)\)?[ .]*$"
)
"""What a list adds to an item: 'Pneumonia - primary'."""
_CELLS = re.compile(r"\t|\||[ ]{3,}")
_NO_NAME = re.compile(
    r"(?i)\W*(?:\d{0,3}|principal|primary|secondary|main|final|discharge|diagnos[ie]s|dx|problems?|description|rank|type"
    r"|(?:icd|code|date|noted|status|onset)\b.*|poa|present on admission|yes|no|[ynuw]|active|resolved|acute|chronic"
    r"|[a-z]\d\d(?:\.?\w{1,4})?|\d{3}\.\d{1,2})\W*"
)
"""A cell of a table of diagnoses that is no diagnosis itself."""


def _cell(line: str) -> str:
    """The cell of a row that names the diagnosis; the line itself if it is no row."""
    cells = [cell for cell in _CELLS.split(line) if cell.strip(" *_-")]
    return line if len(cells) < 2 else next((cell for cell in cells if not _NO_NAME.fullmatch(cell)), "")


_CODED = re.compile(
    r"\s+POA\b\W.*$|\s*[(\[][^()\[\]]*(?:\bPOA\b|(?i:present on admission|\bicd\b)|\b[A-Z]\d\d\.?\d*\b)[^()\[\]]*[)\]]"
)
"""What coders add to a diagnosis: '(POA: Yes)', '(J18.9)'."""


def _item(line: str) -> str:
    bare = re.sub(
        r"(?i)^(?:[\s\d.)(#*=_\u2022+>~-]+|(?:number|axis) (?:one|two|[1-5]|[IV]{1,3})\b[,.:]? *)+",
        "",
        _unheaded(_cell(line)),
    )
    bare = stated_in(bare)
    return _NEXT.split(bare)[0]


_NEXT = re.compile(
    r"\s\(?\d{1,2}[.)]\s|(?<=[A-Za-z]{3})\.\s+(?=[A-Z(])|\s[-\u2013]{1,2}\s(?=[a-z])"
    r"|(?i:\s(?:secondary|other)(?: diagnos[ie]s)?\s*:)"
)
"""The beginning of the next item on the same line, or of what was done for the first: 'UTI - treated'."""
_BACKGROUND = re.compile(
    r"(?i)(?:(?:essential|benign|mild|known|h/o|history of) )?(?:hypertension|htn|(?:hyper|dys)lipid[ae]mia|hld|hl"
    r"|hypercholesterol[ae]mia|obesity|(?:type (?:2|ii) )?(?:diabetes(?: mellitus)?|dm2?)(?: type (?:2|ii))?"
    r"|(?:tobacco|nicotine) (?:use|dependence|abuse)|osteoporosis|seasonal allergies|insomnia)"
)
_CAUSE = re.compile(
    r"(?i)\b(?:secondary to|2/2|due to|caused by|from|in the setting of|complicated by|c/b|status post|s/p|with|w/)"
    r"(?!\w)"
)


def _unheaded(line: str) -> str:
    """A line without the heading at its start."""
    bare = _LISTED.sub("", _FIRST.sub("", line))
    for head in headings(bare)[:1]:
        if head.kind == "diagnosis" and not bare[: head.start].strip(" #*-"):
            return bare[head.end :]
    return bare


def examination_parts(examination: str) -> tuple[tuple[str, str], ...]:
    """The examination by its sub-headings ('HEENT: ...') or as one part, without the findings at discharge."""
    examination = _LATER_EXAM.sub("", _LEAVING.sub("", examination))
    heads = list(_PARTS.finditer(examination))
    if len(heads) < 2:
        return (("Physical examination", examination.strip()),) if examination.strip() else ()
    sections = [("General", examination[: heads[0].start()].strip())]
    for head, end in zip(heads, [*(other.start() for other in heads[1:]), len(examination)], strict=True):
        sections.append((" ".join(head["name"].split()), examination[head.end() : end].strip()))
    return tuple((name, text) for name, text in sections if text)


_WORD = re.compile(r"[^\W_]+(?:['\u2019]s?\b)?")
_DENIED = re.compile(
    r"(?i)\b(?:no|not|without|denies|negative for|rule out|ruled out|r/o|history of|h/o|hx of|s/p|status post|prior"
    r"|previous|resolved)\s+(?:[\w-]+\s+){0,2}$"
)
Named = TypeVar("Named")
Form = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PhraseHit(Generic[Named]):
    """`text[start:end]` names `what`; `denied`: the words before it deny it or refer it to the past."""

    start: int
    end: int
    what: Named
    short: bool
    denied: bool


class Phrases(Generic[Named]):
    """A dictionary that finds names in text and says `what` each names.

    If a name is given twice, the first counts. `form` makes the words of names and texts comparable. A name of at most
    six capitals is an abbreviation and counts only as written.
    """

    def __init__(self, names: Iterable[tuple[str, Named]], form: Form = tokens) -> None:
        self._form = form
        self._names: dict[tuple[str, ...], Named] = {}
        self._short: dict[str, Named] = {}
        for name, what in names:
            if name.isupper() and name.isalnum() and len(name) <= 6:
                self._short.setdefault(name, what)
            elif words := form(name):
                self._names.setdefault(words, what)
        self._longest = max(map(len, self._names), default=0)
        self._shifts: Mapping[tuple[str, ...], tuple[str, ...]] = {
            tuple(core.split()): words for core, words in vocabulary().shifts.items()
        }

    def hits(self, text: str, *, shifts: bool = True) -> tuple[PhraseHit[Named], ...]:
        """The names in `text`, in its order, none overlapping another.

        With `shifts`, a name is skipped if the word before it makes it another disease: 'pulmonary hypertension' is not
        hypertension.
        """
        words = [(match[0], *match.span()) for match in _WORD.finditer(text)]
        forms = [self._form(word) for word, _, _ in words]
        hits: list[PhraseHit[Named]] = []
        place = 0
        while place < len(words):
            word, start, _ = words[place]
            size, what = self._at(forms, place)
            short = what is None and word in self._short
            if short:
                size, what = 1, self._short[word]
            if what is None or (shifts and not short and self._shifted(forms, place, size)):
                place += 1
                continue
            denied = bool(_DENIED.search(text, max(0, start - 60), start))
            hits.append(PhraseHit(start, words[place + size - 1][2], what, short, denied))
            place += size
        return tuple(hits)

    def _at(self, forms: Sequence[tuple[str, ...]], place: int) -> tuple[int, Named | None]:
        """(number of words from `place` on that form the longest name, what it names); (0, None) without a name."""
        name: tuple[str, ...] = ()
        best: tuple[int, Named | None] = (0, None)
        for size in range(1, len(forms) - place + 1):
            name += forms[place + size - 1]
            if len(name) > self._longest:
                break
            if forms[place + size - 1] and name in self._names:
                best = (size, self._names[name])
        return best

    def _shifted(self, forms: Sequence[tuple[str, ...]], place: int, size: int) -> bool:
        core = tuple(word for form in forms[place : place + size] for word in form)
        before = " ".join(word for form in forms[max(0, place - 2) : place] for word in form)
        return any(f" {before}".endswith(f" {word}") for word in self._shifts.get(core, ()))
