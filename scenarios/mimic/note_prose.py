"""Finds in the prose of a note what no heading opens: the diagnosis, and the parts of the story of the illness."""

import re
from collections.abc import Iterator, Sequence

from wardround.scenarios.mimic.headings import Heading, heading_kind

_DIAGNOSIS = r"(?:diagnos[ie]s|dx)"
_EARLY = (
    r"(?:admission|admitting|initial|working|differential|provisional|presumed|suspected|referral|referring"
    r"|pre-?operative)"
)
_FINAL = r"(?:discharge|final|principal|primary|main|definitive|eventual|ultimate|confirmed|established|leading)"
_IS = r"(?:of|was|were|is|are|remained|remains|being|[:=])"
_STATED: tuple[re.Pattern[str], ...] = tuple(
    re.compile(rf"(?i)(?<![\w-])(?:{pattern}) +(?:likely |most likely |that of )?(?P<name>\S.*)")
    for pattern in (
        rf"{_FINAL} (?:\w+ )?{_DIAGNOSIS}(?: (?:at|on|upon) \w+)? ?{_IS}",
        rf"(?:discharged|sent home|left)(?: [\w/-]+){{0,9}} (?:{_DIAGNOSIS} of|as (?:an? )?case of)",
        rf"{_DIAGNOSIS}(?: (?:at|on|upon|by) \w+)? ?{_IS}",
        r"(?:diagnosed (?:with|as(?: having)?)|(?:was|were) found to have|(?:has|had|having) (?:confirmed|proven))",
        r"(?:under our care|under us|in our ward|in hospital|hospitali[sz]ed|treated|managed|cared for)(?: \w+){0,4}? "
        r"(?:with|for)",
        r"admitted(?: to [\w ]{1,30}?)?(?: \w+){0,3}? (?:with|for|because of)",
    )
)
"""The forms in which a sentence states the diagnosis, the surest first; `name` is the rest of the sentence."""
_NOT_LAST = re.compile(
    rf"(?i)\b(?:{_EARLY}|no|not|without|denie[sd]|family|mother|father|prior|previous|past) (?:\w+ )?$"
)
_NAME_ENDS = re.compile(
    r"(?i)[.;:(\[]|,? (?:and|but) (?:(?:was|is|were|he|she|they|will|the|has|had|it)\b|(?:\w+ed)\b)"
    r"|,? (?:which|who|whom|that|where|when|while|after|before|until|since|on|at|by|over|in good|in stable|for which"
    r"|treated|requiring|following|his|her)\b|, (?:for|he|she|the|a|an)\b"
)
ELSEWHERE = re.compile(
    r"(?i)\W*(?:(?:please )?(?:see|refer|as|same|per|unchanged|deferred|pending)\b[^\n]{0,60}|none|n/?a|unknown)\W*"
)
"""What stands in place of a diagnosis: 'see above', 'same as on admission'."""
_LONGEST = 600
"""Characters of a sentence that are read."""
_PROBLEM = re.compile(r"(?m)^[ \t]*#[ \t]*(?:\d{1,2}[.):]?[ \t]*)?(?P<name>[A-Za-z][^\n:#]{1,80})")
_SENTENCE = re.compile(r"(?<=[.!?])[ \t\n]+(?=[A-Z_\"])|\n[ \t]*\n+|\n(?=[ \t]*[#*\u2022-])")

_WHO = r"(?:the patient|this patient|patient|pt|he|she|they|mr\.? \S+|mrs\.? \S+|ms\.? \S+|miss \S+)"
_CUES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"(?i)\W*(?:{pattern})"))
    for kind, pattern in (
        (
            "leaving",
            r"(?:on|at|upon) (?:the (?:day|time|date) of )?discharge\b|discharge (?:exam|physical|vitals)",
        ),
        (
            "examination",
            r"(?:(?:on|at|upon|when|the|his|her|initial|admission|arrival|physical|clinical|findings)[ -]+){0,5}"
            r"(?:exam\b|examination|examined\b|vital signs|vitals\b|observations were)",
        ),
        (
            "past",
            r"(?:(?:his|her|their|the|the patient's|significant|relevant|other)\s+)?(?:past|medical|previous|prior"
            r"|background)\s+(?:(?:medical|surgical)\s+)?(?:history|problems|illness|conditions)|pmhx?\b|background\b"
            r"|in the past\b|previously known"
            rf"|{_WHO} has (?:a |an )?(?:known |past |medical )*(?:history of|background of)|comorbidities",
        ),
        ("family", r"family history|(?:his|her|the patient's) (?:mother|father|family history)"),
        ("social", rf"social(?:ly\b| history)|{_WHO} (?:lives|works|smokes|drinks|is married|is retired)"),
        (
            "course",
            r"(?:during|throughout) (?:his|her|the|this|their) (?:hospital|admission|stay|inpatient)"
            r"|(?:the )?(?:hospital )?(?:course|stay)\b"
            r"|in (?:the )?hospital\b|on (?:the|our) (?:ward|floor|unit)\b|treatment\b"
            rf"|{_WHO} (?:was|were) (?:then |subsequently |thus |therefore |initially |accordingly )*"
            r"(?:admitted (?:to|and|under)|treated|started on|given|taken to|managed|discharged|continued|kept|moved)"
            rf"|{_WHO} (?:underwent|received|improved|recovered|did well|responded|made a)",
        ),
        (
            "results",
            r"(?:(?:the|an?|initial|admission|blood|routine) )*(?:laborator\w+|labs?\b|bloods\b|blood tests?|imaging"
            r"|ct\b|mri\b|x-?ray|radiograph|ultrasound|ecg\b|ekg\b|investigations?)[^.]{0,80}?"
            r"(?:show|reveal|demonstrat|were|was|had|with|:)",
        ),
        (
            "present",
            r"[^.]{0,160}?\b(?:presents?|presented|presenting|complain\w*|referred|brought|came|(?:was|is|were) seen"
            r"|admitted (?:with|for|because|after|on)|transferred (?:from|with|for)|year[- ]?old|y/?o\b|developed"
            r"|noticed)",
        ),
    )
)
"""The beginnings of sentences that open a part of a story without headings, by the kind of the part."""
_PARTS = frozenset(kind for kind, _ in _CUES)
_EARLY_PARTS = frozenset({"present", "past", "family", "social"})
_LATE_PARTS = frozenset({"examination", "results"})
_SHORTEST_STORY = 100
"""A part of the present illness with fewer characters than this is only a complaint."""
_PARAGRAPH = re.compile(r"\n[ \t]*\n[ \t]*\Z")


def stated_diagnoses(text: str, assessment: str) -> Iterator[tuple[str, str]]:
    """Yield (where it stands, its words) of each diagnosis that a note states without a heading, the surest first.

    `assessment` is the section of that name. Of several sentences of the same form the last counts, of problems the
    first.
    """
    stated: list[list[str]] = [[] for _ in _STATED]
    for part in _SENTENCE.split(text):
        sentence = " ".join(part[:_LONGEST].split())
        for names, pattern in zip(stated, _STATED, strict=True):
            names.extend(_names(sentence, pattern))
    for names in stated[:2]:
        yield from (("sentence", name) for name in names[-1:])
    problem = next((match["name"] for match in _PROBLEM.finditer(text) if not heading_kind(match["name"])[0]), "")
    if problem:
        yield "problem list", problem.strip()
    if assessment.strip():
        yield "assessment", assessment
    for names in stated[2:]:
        yield from (("sentence", name) for name in names[-1:])


def stated_in(line: str) -> str:
    """The diagnosis that a line of a discharge diagnosis states in a sentence, else the line."""
    return next((name for pattern in _STATED[:4] for name in _names(line[:_LONGEST], pattern)), line)


def _names(sentence: str, pattern: re.Pattern[str]) -> list[str]:
    match = pattern.search(sentence)
    if not match or _NOT_LAST.search(sentence[max(0, match.start() - 40) : match.start()]):
        return []
    return [name] if (name := _name(match["name"])) else []


def _name(said: str) -> str:
    ends = _NAME_ENDS.search(said)
    name = (said[: ends.start()] if ends else said).strip(" ,-*")
    name = re.sub(r"(?i)^(?:an?|the|his|her|their|likely|acute onset of|management of|treatment of) ", "", name)
    return (
        name
        if re.search(r"[A-Za-z]{2}", name)
        and not ELSEWHERE.fullmatch(name)
        and "?" not in name
        and len(name.split()) <= 10
        else ""
    )


def prose_headings(text: str, heads: Sequence[Heading]) -> Iterator[Heading]:
    """Yield headings without words at the places where the prose of a note begins a part that no heading opens.

    In a note without a history, any sentence may begin a part. In others, a paragraph may begin the examination or the
    course.
    """
    kinds = {head.kind for head in heads}
    story = "present" not in kinds
    sought = _PARTS if story else {"examination", "course"} - kinds
    if not sought:
        return
    ends = [*(head.start for head in heads), len(text)]
    for place, opened in enumerate(("", *(head.kind for head in heads))):
        begin, kind = heads[place - 1].end if place else 0, opened
        if kind in ("diagnosis", "secondary"):
            continue
        for start, end in _sentences(text, begin, ends[place]):
            if not story and (start == begin or not _PARAGRAPH.search(text, max(0, start - 40), start)):
                continue
            cue = _next_kind(text[start : min(end, start + 240)], kind)
            if cue == "present" and ends[place] - start < _SHORTEST_STORY:
                continue
            if cue != kind and cue in sought:
                yield Heading(start, start, cue, firm=False)
                kind = cue


def _sentences(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _SENTENCE.finditer(text, begin, end):
        yield begin, match.start()
        begin = match.end()
    yield begin, end


def _next_kind(sentence: str, kind: str) -> str:
    """The part of the story that a sentence belongs to, after one of `kind`."""
    for cue, pattern in _CUES:
        if pattern.match(sentence):
            return kind if cue in _EARLY_PARTS and kind in _LATE_PARTS else cue
    return kind
