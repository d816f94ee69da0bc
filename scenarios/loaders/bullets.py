"""The lines of a case report's ancillary tests as separate investigations, each with a readable name of its own."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from wardround.engine.text import later
from wardround.scenarios.case import Investigation
from wardround.scenarios.disclosure import ANCILLARY
from wardround.scenarios.loaders.measured import normal

_HEADING = later(rf"^{ANCILLARY}[*_ \t]*(?P<rest>.*)$", re.IGNORECASE)
_NONE = later(
    r"(?:(?:there (?:were|was|are) )?(?:no|none|nil)(?: (?:of the|other|further|additional|ancillary|specific))*"
    r"(?: (?:tests?|testing|investigations?|studies|imaging|results?|data|examinations?|procedures?))*"
    r"(?:(?: (?:were|was|are|is|have been|had been))? (?:performed|done|reported|recorded|available|mentioned|provided"
    r"|specified|conducted|carried out|obtained|required|needed|necessary|indicated|given|described|documented))?"
    r"|(?:not|never) (?:performed|done|reported|recorded|available|mentioned|provided|specified|conducted|carried out"
    r"|obtained|applicable|required|indicated|given|described|documented|tested)|n/?a|unknown|pending)",
    re.IGNORECASE,
)
"""A line that says that there is no test, or no result of it."""

_BULLET = later(r"^(?P<indent>\s*)(?:[-*\u2022+]|\d+[.)])\s+(?P<text>.*)$")
_RULE = later(r"\s*(?:[-*_]\s*){3,}")
_LABEL = later(r"(?P<label>[^:;]{1,70}?)\s*:(?:\s+(?P<text>.*))?", re.DOTALL)
_SENTENCE = later(r"(?<=[A-Za-z0-9)%][.;])\s+(?=[A-Z0-9])")
_CLOSED = later(
    r"treatment|management|intervention|outcome|follow|prognosis|clinical course|patient|complaint|history"
    r"|physical exam|postoperative treatment|surgical interventions|medication|discharge",
    re.IGNORECASE,
)
_VERB = later(
    r"\b(?:show(?:ed|s|ing)?|reveal(?:ed|s|ing)?|demonstrat(?:ed|es|ing)|confirm(?:ed|s|ing)?|identif(?:ied|ies|ying)"
    r"|indicat(?:ed|es|ing)|suggest(?:ed|s|ing|ive)?|detect(?:ed|s)|found|was|were|is|are|had|negative|positive|normal"
    r"|elevated|decreased|increased|unremarkable|consistent|within|ruled|exclud(?:ed|es)|display(?:ed|s)|report(?:ed|s)"
    r"|performed|with|for|there)\b|[,;(:]|\s[<>]?\d[\d.,]*(?![\d-])",
    re.IGNORECASE,
)
_LEADING = later(
    r"^(?:(?:normal|negative|positive|elevated|increased|decreased|low|high|abnormal|reduced|raised|mild(?:ly)?|no|all"
    r"|slightly|markedly|strongly|weakly|severe|significant(?:ly)?|marked|initial|presence|absence|evidence|findings?|results?|of|the|a|an"
    r"|other|further|subsequent|for|in|on)\b[\s,]*)+",
    re.IGNORECASE,
)
_MOST_WORDS = 8


@dataclass
class _Entry:
    """A line at the first level with all that is nested below it."""

    text: str
    below: list[str] = field(default_factory=list)


def investigations(ancillary: str) -> tuple[Investigation, ...]:
    """The tests of `ancillary`, in order, under unique names; nested lines belong to their parent.

    What was not performed, or has no result, is no test.
    Sections behind the tests that are none (treatment, outcome, the history of a second patient) are left out here
    and stay in `Case.ancillary`, word for word.
    """
    found: list[Investigation] = []
    taken: dict[str, int] = {}
    for entry in _entries(ancillary):
        name, text = _named(entry)
        if not text or _NONE.fullmatch(text.strip(" \t.;[]()*_")):
            continue
        taken[name.lower()] = taken.get(name.lower(), 0) + 1
        if taken[name.lower()] > 1:
            name = f"{name} ({taken[name.lower()]})"
        found.append(Investigation(name=name, text=text, normal=True if normal(text) else None))
    return tuple(found)


def _entries(ancillary: str) -> Iterator[_Entry]:
    """The entries at the first level below each heading, and other findings that stand beside the heading."""
    for inline, lines in _sections(ancillary):
        entries = list(_nested(lines))
        if inline.endswith(":") and entries:
            yield _Entry(inline, [line for entry in entries for line in (entry.text, *entry.below)])
            continue
        yield from (_Entry(sentence) for sentence in _SENTENCE.split(inline) if sentence)
        yield from entries


def _sections(ancillary: str) -> Iterator[tuple[str, list[str]]]:
    """(text on the heading's line, lines below) of each section that holds tests."""
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
    """Name and text of an entry: its label, or the words before what was found."""
    below = "; ".join(line.rstrip(" ;") for line in entry.below)
    label = _LABEL.fullmatch(entry.text)
    if label is not None and (label["text"] or below):
        head = (label["text"] or "").strip()
        return _short(label["label"]), "; ".join(part for part in (head.rstrip(";"), below) if part)
    return _guess(entry.text), "; ".join(part for part in (entry.text, below) if part)


def _guess(text: str) -> str:
    """A name for a line without a label: its words up to the finding, without words such as 'normal' before them."""
    start = _LEADING.sub("", text)
    name = start[: match.start()] if (match := _VERB.search(start)) else start
    if not re.search(r"[A-Za-z]{2}", name):
        name = text
    return _short(name)


def _short(name: str) -> str:
    words = name.strip(" .,;:-*").split()[:_MOST_WORDS]
    plain = " ".join(words).strip(" .,;:-*")
    return plain[:1].upper() + plain[1:] if plain else "Investigation"
