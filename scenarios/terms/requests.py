"""Free text of a doctor's request as single requests: lists, bullets, headings, brackets, reasons and 'and' undone."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from wardround.engine.text import loads
from wardround.scenarios.terms.clauses import Clause, clauses
from wardround.scenarios.terms.headings import scope
from wardround.scenarios.terms.pieces import ENDS, Known, Studies, cut, listing, none, single
from wardround.scenarios.terms.wording import key

MOST = 200
"""Requests that are read of one text; nobody orders more, and a model's run-away list must not stall the examiner."""

LONGEST_TEXT = 20_000
"""Characters of a text that are read for the same reason."""

_NUMBERED = re.compile(r"(?:(?<=[\s,;:])|^)(?:\(?\d{1,2}[.)]|\(?[a-h]\))\s+(?=[A-Za-z*])|(?:^|\s)[•·|](?:\s|$)")
_BULLET = re.compile(r"^\s*(?:[-*•+–—]+|[a-zA-Z]\))\s+")  # not 'C. difficile'
_NAMING = re.compile(
    r",?\s*\b(?:including|incl\.?|includes|such as|consisting of|namely|e\.g\.,?|i\.e\.,?)\s*:?\s+", re.I
)

_HEADING = re.compile(
    r"(?i)\b(?:studies|tests|testing|labs|analysis|panel|work-?up|markers|serologies|cultures|films|x-?rays"
    r"|csf|urine|stool|sputum|blood|serum|fluid)$"
)


@dataclass(frozen=True, slots=True)
class Part:
    """A single request, or with `why` what orders nothing; `sentence` numbers the sentence that it stands in."""

    text: str
    why: str = ""
    sentence: int = 0


def split(text: str, known: Known, studies: Studies = none) -> tuple[str, ...]:
    """The single requests in `text`, in order, without repeats, at most MOST; what orders nothing is left out."""
    return tuple(part.text for part in parts(text, known, studies) if not part.why)


def parts(text: str, known: Known, studies: Studies = none) -> tuple[Part, ...]:
    """The single requests in `text` and what in it is no order, each once, at most MOST.

    `known` says whether a phrase is one test as it stands: what is known is never taken apart ('ova and parasites',
    'CT abdomen and pelvis', a record's own name with a comma in it). `studies` takes a phrase with several modalities
    of one region apart ('MRI/MRA brain').
    """
    found: dict[tuple[str, str], Part] = {}
    for part in _parts(text[:LONGEST_TEXT], known, studies):
        found.setdefault((key(part.text), part.why), part)
        if len(found) >= MOST:
            break
    return tuple(part for (form, _), part in found.items() if form)


def joined(items: Sequence[str], known: Known) -> tuple[str, ...]:
    """A list of items as texts: a condition that was cut from what follows it ('if negative', 'then MRI') with it."""
    found: list[str] = []
    waiting = ""
    for item in items:
        text = f"{waiting}, {item}" if waiting else item
        waiting = "" if waiting or known(item) or not _opens(item, known) else item
        if not waiting:
            found.append(text)
    return (*found, waiting) if waiting else tuple(found)


def _opens(item: str, known: Known) -> bool:
    told = list(clauses(item, known))
    return (
        len(told) == 1
        and told[0].why == "conditional"
        and re.match(r"(?i)(?:and |but )?(?:if|when|once)\b", item) is not None
    )


def _parts(text: str, known: Known, studies: Studies) -> Iterator[Part]:
    number = 0
    for line in _lines(text):
        number += 1
        if known(line) and not listing(line, known):
            yield Part(line, sentence=number)
            continue
        for sentence in _sentences(clauses(line, known)):
            number += 1
            kept = ", ".join(clause.text for clause in sentence if not clause.why)
            yield from (Part(clause.text, clause.why, number) for clause in sentence if clause.why)
            if kept.strip(ENDS):
                yield from (Part(piece, sentence=number) for piece in _line(kept, known, studies))


def _sentences(told: Iterable[Clause]) -> Iterator[list[Clause]]:
    held: list[Clause] = []
    for clause in told:
        held.append(clause)
        if clause.breaks:
            yield held
            held = []
    if held:
        yield held


def _lines(text: str) -> Iterator[str]:
    rows = _listed(text) or text.splitlines()
    for place, line in enumerate(rows):
        for numbered in _NUMBERED.split(line):
            plain = _BULLET.sub("", numbered).replace("**", "").replace("__", "").strip()
            bare = plain.strip(ENDS)
            if plain.endswith(":") and place + 1 < len(rows) and scope(bare):
                continue  # a heading of its own line
            if bare:
                yield bare


def _listed(text: str) -> list[str]:
    """The texts of a JSON list or object, if `text` is one."""
    if not text.lstrip().startswith(("{", "[")):
        return []
    try:
        loaded = loads(text)
        return list(_texts(loaded))
    except (ValueError, RecursionError):
        return []


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _line(line: str, known: Known, studies: Studies) -> Iterator[str]:
    """The requests of one sentence; what stands behind a heading's or a test's colon explains or lists."""
    named_so = _NAMING.search(line)
    line = _NAMING.sub(": ", line, count=1) if named_so and not _bracketed(line, named_so.start()) else line
    head, colon, tail = line.partition(": ")
    head = head.strip(ENDS)
    if not colon or "," in head or not tail.strip(ENDS):
        for piece in cut(line):
            yield from single(piece, known, studies)
        return
    behind = [part for piece in cut(tail) for part in single(piece, known, studies)]
    told = [_under(head, part, known) for part in behind]
    named = [part for part in told if known(part)]
    if known(head):
        if named_so or len(named) < 2 or not _HEADING.search(head):  # else it heads its own list
            yield head
        yield from named
    elif scope(head):
        yield from told
    elif named:
        yield from named
    else:
        yield from single(head, known, studies)


def _under(head: str, part: str, known: Known) -> str:
    """'chest' under the heading 'X-rays' as 'X-rays chest', 'cell count' under 'CSF studies' as 'CSF cell count'."""
    if known(part):
        return part
    first = head.split(maxsplit=1)[0] if head else ""
    return next((form for form in (f"{head} {part}", f"{first} {part}") if known(form)), part)


def _bracketed(line: str, place: int) -> bool:
    return line.count("(", 0, place) > line.count(")", 0, place)
