"""The examiner's look-up: an order against a record, answered in four states with the field it rests on."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import msgspec

from wardround.engine.records import Json
from wardround.scenarios.case import Item, Kind
from wardround.scenarios.terms import imaging
from wardround.scenarios.terms.catalogue import Catalogue, Scope, Test, catalogue, scope
from wardround.scenarios.terms.chart import Entry, entries
from wardround.scenarios.terms.name_lookup import Link, closest, content, link
from wardround.scenarios.terms.order_parser import Repeat, repeated, understand
from wardround.scenarios.terms.wording import key, tokens

_FREE: tuple[Kind, ...] = ("imaging", "investigation", "examination")


@dataclass(frozen=True, slots=True)
class Hit:
    """An item that answers, `rule` and `score` (0 to 1) as in `Answer`."""

    entry: Entry
    rule: str
    score: float


def find(asked: str, linked: Link | None, chart: Sequence[Entry], table: Catalogue) -> list[Hit]:
    """The items that answer one request, in the record's order.

    First the record's own name and the linked test, together with the members of a panel; only where these give
    nothing, a panel recorded as a whole, a fuzzy name, a study by modality and region, the words of a free-text name,
    and last a mention in a free-text result.
    """
    hits = {id(hit.entry): hit for hit in (*_tested(linked, chart, table), *named(asked, chart))}
    if not hits:
        for rule in (_above, _fuzzy, _studies, _worded, _mentioned):
            found = list(rule(asked, linked, chart, table))
            if found:
                return found
    return [hits[id(entry)] for entry in chart if id(entry) in hits]


def named(asked: str, chart: Sequence[Entry]) -> list[Hit]:
    """The items that bear the record's own name: the one asked for, word for word, or in another spelling."""
    literal = [Hit(entry, "exact", 1.0) for entry in chart if entry.item.name == asked]
    form = key(asked)
    spelled = [Hit(entry, "exact", 1.0) for entry in chart if form and form in entry.names]
    heads = [] if literal or spelled else [Hit(entry, "panel", 1.0) for entry in chart if form in entry.groups]
    return [*spelled, *literal, *heads]


def _tested(linked: Link | None, chart: Sequence[Entry], table: Catalogue) -> Iterator[Hit]:
    """Items of the linked test, and of its members if it is a panel."""
    if linked is None:
        return
    below = table.below.get(linked.test, frozenset())
    for entry in chart:
        if entry.test is not None and entry.test.test == linked.test:
            yield Hit(entry, linked.rule, linked.score)
        elif linked.test in entry.panels or (entry.test is not None and entry.test.test in below):
            yield Hit(entry, "panel", linked.score)


def _above(asked: str, linked: Link | None, chart: Sequence[Entry], table: Catalogue) -> Iterator[Hit]:
    """A panel recorded as a whole, which holds the test asked for."""
    if linked is None:
        return
    for entry in chart:
        if entry.test is not None and linked.test in table.below.get(entry.test.test, frozenset()):
            yield Hit(entry, "panel", linked.score)


def _fuzzy(asked: str, linked: Link | None, chart: Sequence[Entry], table: Catalogue) -> Iterator[Hit]:
    """Items whose own name is spelled nearly so; a request that is known as another test is not one of them."""
    if linked is not None and linked.rule != "fuzzy":
        return
    names = list(dict.fromkeys(name for entry in chart for name in sorted(entry.names)))
    hit = closest(key(asked), names)
    if hit is not None:
        yield from (Hit(entry, "fuzzy", hit[1] / 100) for entry in chart if hit[0] in entry.names)


def _studies(asked: str, linked: Link | None, chart: Sequence[Entry], table: Catalogue) -> Iterator[Hit]:
    """Studies of the modality and region asked for."""
    wanted = linked.reading if linked else imaging.read(asked, table)
    if wanted is None or (linked is None and len(wanted.rest) > len(wanted.regions)):
        return
    rule = "region" if wanted.regions else "modality"
    for entry in chart:
        if imaging.answers(wanted, entry.reading, table):
            yield Hit(entry, rule, 1.0)


def _worded(asked: str, linked: Link | None, chart: Sequence[Entry], table: Catalogue) -> Iterator[Hit]:
    """Items whose name holds all words of the request, or the request all words of their name.

    A test that is linked and has a name of its own in its field (a laboratory value) is not looked for this way.
    """
    if linked is not None and (linked.kind not in _FREE or linked.reading is not None):
        return
    words = frozenset(content(asked))
    if not words or max(map(len, words)) < 4:
        return
    # A biopsy is recorded as histopathology, an echo as echocardiography: any name of the test will do.
    named_so = table.tests[linked.test].synonyms if linked is not None and linked.test in table.tests else ()
    bags = [words, *(bag for name in named_so if (bag := frozenset(content(name))) and max(map(len, bag)) > 5)]
    for entry in chart:
        holds = any(bag <= entry.words for bag in bags)
        held = bool(entry.words) and entry.words <= words and max(map(len, entry.words)) > 5 and not _empty(entry)
        if (holds and (linked is None or entry.item.kind in _FREE)) or (held and entry.item.kind in _FREE):
            shared, either = len(words & entry.words), len(words | entry.words)
            yield Hit(entry, "words", round(shared / either, 4) if shared else 0.5)


def _empty(entry: Entry) -> bool:
    return scope(entry.item.name) is not None


def _mentioned(asked: str, linked: Link | None, chart: Sequence[Entry], table: Catalogue) -> Iterator[Hit]:
    """Free-text results that name the test (or a member of the panel) asked for."""
    phrases = {key(asked)}
    if linked is not None and linked.test in table.tests:
        wanted = {linked.test} | table.below.get(linked.test, frozenset())
        phrases |= {form for form, test in table.names.items() if test in wanted}
    phrases = {phrase for phrase in phrases if len(phrase) > 2}
    for entry in chart:
        if entry.item.kind == "investigation" and _names_one(entry.item.text, phrases):
            yield Hit(entry, "mention", 1.0)


def _names_one(text: str, phrases: set[str]) -> bool:
    words = tokens(text)
    longest = max((phrase.count(" ") + 1 for phrase in phrases), default=0)
    return any(
        " ".join(words[start : start + size]) in phrases
        for size in range(1, longest + 1)
        for start in range(len(words) - size + 1)
    )


def belongs(entry: Entry, broad: Scope) -> bool:
    """Whether an item is of the kind that a broad request names; free-text items by what they link to."""
    kind = entry.item.kind
    if broad == "any":
        return kind != "examination"
    if kind != "investigation":
        return kind == broad
    own = scope(entry.item.name)
    if own is not None:
        return own in (broad, "any")
    if entry.test is not None:
        return entry.test.kind == broad
    return broad == "imaging" and bool(entry.reading.modalities)


_REPEATED = ("lab", "microbiology")


def measured(hits: Sequence[Hit], repeat: Repeat, told: Collection[str]) -> list[Hit]:
    """Those of `hits` that a request is answered with, in their order.

    Results of one name and specimen with different times are one test measured again: `repeat` '' gives the earliest,
    next the earliest that is not among the `told` references (the last where all are), series all of them. Results
    without a time are told together: nobody knows which was first.
    """
    chosen: set[str] = set()
    groups: dict[tuple[str, ...], list[Hit]] = {}
    for hit in hits:
        item = hit.entry.item
        if item.kind in _REPEATED and item.time:
            groups.setdefault((item.kind, " ".join(item.name.casefold().split()), item.detail.casefold()), []).append(
                hit
            )
        else:
            chosen.add(item.ref)
    for group in groups.values():
        chosen |= _chosen(sorted(group, key=lambda hit: hit.entry.item.time), repeat, told)
    return [hit for hit in hits if hit.entry.item.ref in chosen]


def _chosen(group: Sequence[Hit], repeat: Repeat, told: Collection[str]) -> set[str]:
    if repeat == "series":
        return {hit.entry.item.ref for hit in group}
    times = list(dict.fromkeys(hit.entry.item.time for hit in group))
    wanted = times[0]
    if repeat == "next":
        fresh = [hit.entry.item.time for hit in group if hit.entry.item.ref not in told]
        wanted = fresh[0] if fresh else times[-1]
    return {hit.entry.item.ref for hit in group if hit.entry.item.time == wanted}


State = Literal["reported", "normal", "not_performed", "unknown"]
Policy = Literal["strict", "normal-default"]
ROUTINE = ("Complete blood count", "Basic metabolic panel", "Liver function tests")
"""What a laboratory runs when it is asked for 'blood tests' and no more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One line of an examiner's answer.

    `state`: reported (abnormal, or not judged by the record), normal (recorded so, or within its range),
    not_performed (a known test, absent from the record), unknown (linked to nothing, or too broad to look up).
    `refs` cite the record's fields. `test` is the canonical name, '' where the table has none. `rule` says how it was
    linked: exact, synonym, panel, region, fuzzy (score is the rapidfuzz ratio / 100), words, mention, broad, ambiguous,
    none.
    `points` is the relative cost of what was ordered, recorded or not, carried by the request's first answer alone, so
    that sums are right. `assumed`:
    a normal value from the table, told by policy normal-default in place of a result that the record does not have.
    """

    asked: str
    kind: str
    state: State
    refs: tuple[str, ...]
    test: str
    rule: str
    score: float
    text: str
    points: float
    assumed: bool = False

    def row(self) -> dict[str, Json]:
        """The answer as the JSON object that an action carries."""
        return {**asdict(self), "refs": list(self.refs)}


@dataclass(frozen=True, slots=True)
class _Desk:
    """What one order is answered from."""

    chart: tuple[Entry, ...]
    table: Catalogue
    kind: str
    policy: str
    everything: bool
    told: Collection[str]


def record(rows: Iterable[Mapping[str, Json]]) -> tuple[Item, ...]:
    """The record's items as a view tells them."""
    return tuple(msgspec.convert(dict(row), Item) for row in rows)


def wanted(order: Mapping[str, Json]) -> str | Sequence[str]:
    """What was ordered: the list of items, or where there is none the text."""
    items = order.get("items") or ()
    return tuple(items) if items else str(order.get("text") or "")


def answer(
    record: Sequence[Item],
    asked: str | Sequence[str],
    kind: str = "any",
    policy: str = "strict",
    *,
    everything: bool = False,
    told: Collection[str] = (),
) -> tuple[Answer, ...]:
    """Answer an order against a record (issues 2 and 4; paper 000, A.3).

    `asked` is free text, which is understood (`understanding.understand`), or a list of items, each of which is
    compared whole before any splitting; an empty list or text asks for all of an examination. What orders nothing
    (denied, conditional, told as done) gets no answer. `kind` (examination, lab, microbiology, imaging, any) only says
    what a broad request means: a definite one is answered from whatever field holds it. `policy` is `strict` or
    `normal-default`. `everything`: a broad request ('any imaging?') is answered with all of its kind, as the patient
    agent of paper 002 does; an examiner answers it with the whole physical examination, with routine bloods, and
    otherwise asks back (state unknown, rule broad). `told` are references of results told before: a repeat gets the one
    after them, a trend or series all; a measurement with a time that was repeated is else told once, the first.
    """
    table = catalogue()
    desk = _Desk(entries(tuple(record), table), table, kind, policy, everything, told)
    if not asked or (isinstance(asked, str) and not asked.strip()):
        return _whole_examination(desk) if kind == "examination" else ()
    found: list[Answer] = []
    for request in _requests(asked, desk):
        found += _one(request, desk)
    return tuple(found)


def _requests(asked: str | Sequence[str], desk: _Desk) -> tuple[str, ...]:
    """What is asked, phrase by phrase; a record's own name is never taken apart."""
    own = frozenset(name for entry in desk.chart for name in (*entry.names, *entry.groups))
    literal = frozenset(entry.item.name for entry in desk.chart)
    if isinstance(asked, str):
        return understand(asked, desk.table, own).phrases
    found: dict[str, None] = {}
    waiting: list[str] = []
    for item in asked:
        if item in literal:
            found.update(dict.fromkeys((*understand(waiting, desk.table, own).phrases, item)))
            waiting = []
        else:
            waiting.append(item)
    found.update(dict.fromkeys(understand(waiting, desk.table, own).phrases))
    return tuple(name for name in found if name.strip())


def _one(asked: str, desk: _Desk) -> list[Answer]:
    linked = link(asked, desk.table)
    if linked is not None and linked.test == "Physical examination":
        exact = named(asked, desk.chart)
        if not exact:
            return list(_whole_examination(desk, asked))
    broad = scope(asked) if linked is None else None
    own = named(asked, desk.chart) if broad else []
    if broad and (desk.everything or not own):
        found = _broad(asked, broad, desk)
        cited = {ref for line in found for ref in line.refs}
        return [_found(asked, hit, 0.0) for hit in own if hit.entry.item.ref not in cited] + found
    hits = own or find(asked, linked, desk.chart, desk.table)
    if not hits:
        return [_absent(asked, linked, desk)]
    if not desk.everything:
        hits = measured(hits, repeated(asked), desk.told)
    points = linked.points if linked else _points(hits[0].entry)
    return [_found(asked, hit, points if place == 0 else 0.0) for place, hit in enumerate(hits)]


def _found(asked: str, hit: Hit, points: float) -> Answer:
    item, test = hit.entry.item, hit.entry.test
    return Answer(
        asked=asked,
        kind=item.kind,
        state="normal" if item.normal else "reported",
        refs=(item.ref,),
        test=test.test if test else "",
        rule=hit.rule,
        score=round(hit.score, 4),
        text=item.text if item.kind != "examination" else f"{item.name}: {item.text}",
        points=points,
    )


def _points(entry: Entry) -> float:
    """Cost of a recorded test that the request itself did not link to: that of its own link, else one point."""
    return entry.test.points if entry.test else 1.0


def _absent(asked: str, linked: Link | None, desk: _Desk) -> Answer:
    kind = linked.kind if linked else desk.kind
    if linked is None:
        several = desk.table.ambiguous.get(key(asked))
        if several:
            text = f"{asked}: this may mean {', '.join(several[:-1])} or {several[-1]}; please name the one you want."
            return Answer(asked, kind, "unknown", (), "", "ambiguous", 0.0, text, 0.0)
        text = f"{asked}: no test of this name is known."
        return Answer(asked, kind, "unknown", (), "", "none", 0.0, text, 0.0)
    test = desk.table.tests.get(linked.test)
    normal = _normal(test, desk.table) if test and desk.policy == "normal-default" else ""
    if normal:
        return Answer(
            asked, kind, "normal", (), linked.test, linked.rule, round(linked.score, 4), normal, linked.points, True
        )
    text = f"{linked.test}: not performed, there is no result."
    score = round(linked.score, 4)
    return Answer(asked, kind, "not_performed", (), linked.test, linked.rule, score, text, linked.points)


def _normal(test: Test, table: Catalogue) -> str:
    """A normal result of a laboratory test or part of the examination, '' where the table has none.

    Images, cultures and biopsies are never made up: what a normal one would show depends on the case.
    """
    if test.kind not in ("lab", "examination"):
        return ""
    if test.members and not test.normal:
        parts = [_normal(table.tests[name], table) for name in test.members]
        return "; ".join(part for part in parts if part)
    if test.normal:
        return f"{test.name}: {test.normal}"
    unit = f" {test.unit}" if test.unit else ""
    if test.low is not None and test.high is not None:
        middle = float(f"{(test.low + test.high) / 2:.3g}")
        return f"{test.name}: {middle:g}{unit} (reference {test.low:g}-{test.high:g})"
    if test.high is not None:
        return f"{test.name}: below {test.high:g}{unit} (normal)"
    return f"{test.name}: above {test.low:g}{unit} (normal)" if test.low is not None else ""


def _whole_examination(desk: _Desk, asked: str = "physical examination") -> tuple[Answer, ...]:
    """Every part of the physical examination; the cost of one examination."""
    test = desk.table.tests["Physical examination"]
    parts = [entry for entry in desk.chart if entry.item.kind == "examination"]
    if not parts:
        return (_absent(asked, link(test.name, desk.table), desk),)
    hits = [Hit(entry, "panel", 1.0) for entry in parts]
    return tuple(_found(asked, hit, test.points if place == 0 else 0.0) for place, hit in enumerate(hits))


def _broad(asked: str, broad: Scope, desk: _Desk) -> list[Answer]:
    if broad == "any" and desk.kind in ("examination", "lab", "microbiology", "imaging"):
        broad = desk.kind  # type: ignore[assignment]  # one of the four names of Scope
    if broad == "examination":
        return list(_whole_examination(desk, asked))
    if desk.everything:
        hits = [Hit(entry, "broad", 1.0) for entry in desk.chart if belongs(entry, broad)]
        return [_found(asked, hit, _points(hit.entry)) for hit in hits] or [_asks_back(asked, broad)]
    if broad == "lab":
        return [line for name in ROUTINE for line in _one(name, desk)]
    return [_asks_back(asked, broad)]


def _asks_back(asked: str, broad: Scope) -> Answer:
    kinds = {"imaging": "study and the part of the body", "microbiology": "specimen and the test"}
    text = f"{asked}: this covers many tests; please name the {kinds.get(broad, 'test')} you want."
    return Answer(asked, broad, "unknown", (), "", "broad", 0.0, text, 0.0)
