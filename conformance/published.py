"""Rules of published code that only its recorded vectors use: matching, replies, answers from the record, scores."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz, process

from conformance import imaging
from conformance.imaging import Request, same
from conformance.tables import Tables
from wardround.scenarios.case import CaseResult
from wardround.scenarios.orders.examiner_lookup import Answer
from wardround.scenarios.parsers.published import HEADINGS, Listed
from wardround.scenarios.published.imaging_words import Absent

_CUTOFF = 90.0
_LEAST = 91
"""Least ratio as a whole number; a name inside the item counts whatever its ratio is."""

_EDGE = re.compile(r"\b")


@dataclass(frozen=True, slots=True)
class Match:
    """`key` is the name in the table, `score` its ratio (0 to 100, rounded to even), `item_ids` what it stands for.

    `rule` is exact (also for a trailing s), fuzzy, or inside (the name occurs in the item as whole words).
    """

    key: str
    score: int
    rule: str
    item_ids: tuple[int, ...]


@lru_cache(maxsize=16384)
def match(item: str, tables: Tables) -> Match | None:
    """The name that the published code takes `item` for, None for none.

    An exact name wins at once, the first of the table that is spelled so; else, of the names with a ratio above 90 or
    inside the item, the highest ratio, the first on ties.
    """
    if not item:
        return None
    low = item.lower()
    same = [tables.first[form] for form in _exact(item, low) if form in tables.first]
    if same:
        return _match(min(same), 100, "exact", tables)
    scores = {place: (_rounded(fuzz.ratio(low, tables.lowered[place])), "inside") for place in _inside(low, tables)}
    scores.update((place, (score, "fuzzy")) for place, score in _alike(low, tables))
    best = min(scores, key=lambda place: (-scores[place][0], place), default=None)
    return None if best is None else _match(best, *scores[best], tables)


def _exact(item: str, low: str) -> Iterator[str]:
    yield low
    if item.endswith("s"):
        yield item[:-1].lower()


def _match(place: int, score: int, rule: str, tables: Tables) -> Match | None:
    name = tables.listed[place]
    return Match(name, score, rule, tuple(sorted(set(tables.tests[name])))) if name else None


def _rounded(ratio: float) -> int:
    return round(ratio)


def _inside(low: str, tables: Tables) -> set[int]:
    """Places of the names of more than one letter that stand in the item between word boundaries."""
    edges = [edge.start() for edge in _EDGE.finditer(low)]
    places = set()
    for number, start in enumerate(edges):
        for end in edges[number + 1 :]:
            place = tables.first.get(low[start:end])
            if place is not None and end - start > 1:
                places.add(place)
    return places


def _alike(low: str, tables: Tables) -> Iterator[tuple[int, int]]:
    """(place, ratio) of the names whose ratio rounds to more than 90.

    Two strings of lengths m and n share at most min(m, n) letters, so that a ratio of 90 needs lengths within 9 to 11
    of each other: only those names are compared, and no other can reach it.
    """
    length = len(low)
    first = bisect_left(tables.by_length, (int(length * 0.9 / 1.1), -1))
    last = bisect_left(tables.by_length, (int(length * 1.1 / 0.9) + 2, -1))
    places = [place for _, place in tables.by_length[first:last]]
    names = [tables.lowered[place] for place in places]
    for _, ratio, index in process.extract(low, names, scorer=fuzz.ratio, score_cutoff=_CUTOFF, limit=None):
        if _rounded(ratio) >= _LEAST:
            yield places[index], _rounded(ratio)


_STATED = re.compile(r"diagnosis:(.*?)(?:treatment:|treatment plan:|\Z)", re.IGNORECASE | re.DOTALL)
_TINY = 1e-10


@dataclass(frozen=True, slots=True)
class FullPath:
    """The scores of one admission; a recall is None where the record has nothing of its kind."""

    endpoint: float
    full_path: float
    lab: float | None
    microbiology: float | None
    imaging: float | None


def stated(message: str) -> str:
    """The diagnosis of a final message: from its first `diagnosis:` to `treatment:` or the end; '' without one."""
    match = _STATED.search(message)
    return match[1].strip() if match else ""


def correct(label: str, message: str, tables: Tables) -> bool:
    """Whether the label occurs in the stated diagnosis, anywhere, or one of its alternatives as whole words.

    Raises Absent for a label that the table of alternatives does not know, unless it occurs itself.
    """
    said = stated(message)
    if label.lower() in said.lower():
        return True
    if label not in tables.alternatives:
        raise Absent("unknown_label", f"the label {label!r} has no entry among the alternatives")
    for other in tables.alternatives[label]:
        words = [other] if isinstance(other, str) else other
        if all(re.search(rf"\b{re.escape(word)}\b", said, re.IGNORECASE) for word in words):
            return True
    return False


def share(asked: Collection[int], recorded: Collection[int]) -> float | None:
    """The share of the recorded items that were asked for, None where nothing is recorded."""
    return len(set(asked) & set(recorded)) / (len(recorded) + _TINY) if recorded else None


def imaging_share(asked: Sequence[Request], exams: Sequence[str], tables: Tables) -> float | None:
    """The share of the recorded studies that were asked for; a study that was done twice counts twice.

    An exam that the table does not list is taken for the one before it; Absent where there is none before it.
    """
    if not exams:
        return None
    had, known = 0, None
    for exam in exams:
        known = tables.studies.get(exam, known)
        if known is None:
            raise Absent("unknown_exam", f"the exam {exam!r} is not in the table of exam names")
        had += any(same(request, known, tables) for request in asked)
    return had / len(exams)


def full_path(right: bool, shares: Sequence[float | None]) -> FullPath:
    """Accuracy times the mean of the shares (laboratory, microbiology, imaging) that are defined, 1 if none is."""
    defined = [value for value in shares if value is not None]
    whole = sum(defined) / len(defined) if defined else 1.0
    lab, microbiology, imaging = shares
    return FullPath(float(right), right * whole, lab, microbiology, imaging)


_LITTLE = tuple(
    re.compile(rf"\b{word}\b", re.IGNORECASE)  # the dots are not escaped there: "EKG t" goes as "e.g." does
    for word in (
        "order",
        "run",
        "level[s]?",
        "repeat",
        "check",
        "including",
        "the",
        "e.g.",
        "etc.",
        "for",
        "to",
        "with",
    )
)
_LONGEST = 10
"""Words of the longest item that is looked up."""


def matches(kind: Listed, reply: str, tables: Tables, *, falls_back: bool = True) -> tuple[Match, ...]:
    """The names that the items of a laboratory or microbiology reply match, in order, repeats among them.

    First the names outside brackets; then, for those that match nothing, what stands in their brackets. `falls_back`
    false is the sibling function that does not look further where nothing stands before the first full stop.
    """
    text = _body(kind, reply, falls_back=falls_back)
    text = re.sub(r"\b(?:and|or)\b", ",", text)
    for word in _LITTLE:
        text = word.sub("", text)
    names, bracketed = _cut(text)
    hits: list[Match] = []
    spare: list[str] = []
    for name in names:
        if len(name) <= 1 or len(name.split()) > _LONGEST:
            continue
        hit = match(name, tables)
        if hit:
            hits.append(hit)
        else:
            spare += bracketed.get(name, ())
    hits += [hit for name in spare if len(name) > 1 and len(name.split()) <= _LONGEST and (hit := match(name, tables))]
    return tuple(hits)


def item_ids(kind: Listed, reply: str, tables: Tables) -> tuple[int, ...]:
    """The item numbers that a laboratory or microbiology reply asks for, sorted."""
    return tuple(sorted({number for hit in matches(kind, reply, tables) for number in hit.item_ids}))


def studies(reply: str, tables: Tables) -> tuple[imaging.Request, ...]:
    """The studies that an imaging reply asks for. Raises Absent where the published code fails."""
    text = _body("imaging", reply)
    mark = next((mark for mark in "\n;" if mark in text), ",")
    items, item, inside = [], "", False
    for sign in text:
        if sign in "()":
            inside = sign == "("
        elif sign != mark:
            item += sign
        elif not inside and item.strip():
            items.append(item)
            item = ""
    if item.strip():
        items.append(item)
    if ", including" in items:
        raise Absent("including", "an item that is nothing but ', including' stops the published parser")
    return imaging.requests([item.strip() for item in items if len(item.strip()) > 1], reply, tables)


def _body(kind: Listed, reply: str, *, falls_back: bool = True) -> str:
    """The list: up to the first full stop of its heading's line, else all behind the last heading."""
    heading = HEADINGS[kind]
    line = re.search(rf"{heading}(.*?)\.", reply, re.IGNORECASE)
    text = line[1] if line else reply.rpartition(heading)[2]
    if falls_back and not text.strip():
        text = reply.rpartition(heading)[2]
    return text.replace("*", "")


def _cut(text: str) -> tuple[list[str], dict[str, list[str]]]:
    """The items of a list, and for those before a bracket what it holds.

    A bracket that is never closed leaves its name twice; what stands before a stray closing one is lost.
    """
    names: list[str] = []
    bracketed: dict[str, list[str]] = {}
    outer = inner = ""
    inside = False
    for sign in text:
        if sign == "(":
            inside = True
            names.append(outer)
        elif sign == ")":
            inside = False
            bracketed[outer.strip()] = [part.strip() for part in inner.split(",") if part.strip()]
            outer = inner = ""
        elif sign == "," and not inside and outer.strip():
            names.append(outer)
            outer = ""
        elif sign == "," or inside:
            inner += sign
        else:
            outer += sign
    if outer.strip():
        names.append(outer)
    return [name.strip() for name in names if name.strip()], bracketed


def answer(record: Sequence[CaseResult], reply: str, kind: str, tables: Tables) -> tuple[Answer, ...]:
    """What the record has of the list in `reply`, in the record's order; what matches nothing is passed over.

    `kind` is examination (all of it), lab, microbiology or imaging. Of studies with the same name it has the last.
    """
    if kind == "examination":
        return tuple(_answer(reply, item, "panel", 1.0) for item in record if item.kind == kind)
    if kind == "imaging":
        return _studies(record, reply, tables)
    if kind not in ("lab", "microbiology"):
        return ()
    listed: Listed = "lab" if kind == "lab" else "microbiology"
    wanted = {str(number): hit for hit in matches(listed, reply, tables) for number in hit.item_ids}
    return tuple(
        _answer(wanted[item.code].key, item, wanted[item.code].rule, wanted[item.code].score / 100)
        for item in record
        if item.kind == kind and item.code in wanted
    )


def _studies(record: Sequence[CaseResult], reply: str, tables: Tables) -> tuple[Answer, ...]:
    done = {item.name: item for item in record if item.kind == "imaging"}
    try:
        wanted = studies(reply, tables)
    except Absent:
        return ()
    return tuple(_answer(name, done[name], "region", 1.0) for name in imaging.answered(wanted, done, tables))


def _answer(asked: str, item: CaseResult, rule: str, score: float) -> Answer:
    text = item.text if item.kind != "examination" else f"{item.name}: {item.text}"
    return Answer(asked, item.kind, "normal" if item.normal else "reported", (item.ref,), asked, rule, score, text, 1.0)
