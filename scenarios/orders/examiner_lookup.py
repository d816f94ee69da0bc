"""Looks up an examiner's order in a record; each answer has one of four states and cites the record's fields."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Literal

import msgspec
from msgspec.structs import replace

from wardround.engine.records import Json
from wardround.scenarios.case import taken_at
from wardround.scenarios.orders import axes, imaging
from wardround.scenarios.orders.catalogue import Catalogue, Scope, Test, scope
from wardround.scenarios.orders.chart import Chart, Hit
from wardround.scenarios.orders.chart_search import belongs, find_hits, hits_by_name, in_order, result_fits
from wardround.scenarios.orders.name_lookup import Link, link
from wardround.scenarios.orders.order_parser import repetition, understand
from wardround.scenarios.orders.order_times import When, names_tests, timed_requests
from wardround.scenarios.orders.passages import names_in_reports, panels_in_reports
from wardround.scenarios.orders.result_times import around_event, at_time, measured, remark
from wardround.scenarios.orders.subject import assumable, doubted_by
from wardround.scenarios.terms.wording import cells, key, table_rows

State = Literal["reported", "normal", "not_performed", "unknown"]
ROUTINE = ("Complete blood count", "Basic metabolic panel", "Liver function tests")
"""What a laboratory runs on a bare request for 'blood tests'."""


@cache
def _bound_tests() -> Sequence[frozenset[str]]:
    """Groups of tests that are seldom normal one without the other.

    If a record has a result of a group that is not normal, the examiner assumes none of the group to be normal.
    """
    return [frozenset(cells(row["tests"])) for row in table_rows("bound_tests.csv")]


_READ = 2000
"""Characters of a result that are read for what they say of the examination."""


class Answer(msgspec.Struct, frozen=True):
    """One line of an examiner's answer.

    `state`: reported (abnormal, or not judged by the record), normal (recorded so, or within its range), not_performed
    (a known test, absent from the record), unknown (linked to nothing, or too broad to look up). `refs` cite the
    record's fields. `test` is the canonical name, '' if the table has none. `rule` says how it was linked: exact,
    synonym, panel, region, fuzzy (score is the rapidfuzz ratio / 100), words, mention, broad, ambiguous, none. `points`
    is the relative cost of the order, recorded or not; only the request's first answer carries it, so that sums are
    right. `assumed` marks a normal value from the table, reported under policy normal-default for a result that the
    record lacks.
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
        """The answer as the JSON object stored in an action."""
        return {**msgspec.to_builtins(self), "refs": list(self.refs)}


class _Desk(msgspec.Struct, frozen=True):
    """The data from which one order is answered."""

    chart: Chart
    table: Catalogue
    kind: str
    policy: str
    everything: bool
    reported: Collection[str]
    when: When = When()


def ordered(order: Mapping[str, Json]) -> str | Sequence[str]:
    """The ordered items, or the text if there is no list."""
    return tuple(order.get("items") or ()) or str(order.get("text") or "")


def answer(
    chart: Chart,
    asked: str | Sequence[str],
    kind: str = "any",
    policy: str = "strict",
    *,
    everything: bool = False,
    reported: Collection[str] = (),
) -> tuple[Answer, ...]:
    """Answer an order against the chart of a record (MultiCogEval, A.3).

    `asked` is free text (read by `order_parser.understand`) or a list of items, each compared whole before any
    splitting; an empty list or text requests the whole examination. Text that orders nothing (denied, conditional,
    reported as done) gets no answer. `kind` (examination, lab, microbiology, imaging, any) only interprets broad
    requests; a specific one is answered from any field. `policy` is `strict` or `normal-default`.

    `everything`: answer a broad request ('any imaging?') with all results of its kind, as the patient agent of paper
    002 does. Without it, the answer is the whole physical examination, routine bloods, or a query back (state unknown,
    rule broad). `reported` are references of results reported before: a repeat request gets the next one, a trend or
    series all of them; otherwise only the first of repeated timed measurements is reported. Where the order names a
    time (`order_times.timed_requests`), only results of that time are; where the record does not tell it, the answer
    says so. No assumed normal contradicts the age, sex or pregnancy of the chart's subject.

    ::

        (line,) = answer(read_chart(case_results(case)), "serum lipase")
        line.state, line.text
    """
    desk = _Desk(chart, chart.table, kind, policy, everything, reported)
    if not asked or (isinstance(asked, str) and not asked.strip()):
        return _whole_examination(desk) if kind == "examination" else ()
    lines: list[Answer] = []
    for text, when in _timed(asked, desk):
        for request in _requests(text, desk):  # 'creatinine, and repeat it': the repeat gets what is behind the first
            earlier = {*reported, *(ref for line in lines for ref in line.refs)}
            lines += _one(request, replace(desk, reported=earlier, when=when or When()))
    return tuple(lines)


def _timed(asked: str | Sequence[str], desk: _Desk) -> Iterator[tuple[str | Sequence[str], When | None]]:
    """The parts of an order with their times; a name of the record or of the table states none."""

    def orders(text: str) -> bool:
        return key(text) in desk.chart.known or names_tests(text, desk.table)

    def named(item: str) -> bool:
        form = key(item)
        return item in desk.chart.by_name or form in desk.chart.known or form in desk.table.names

    items = (asked,) if isinstance(asked, str) else asked
    parts = [part for item in items for part in (((item, None),) if named(item) else timed_requests(item, orders))]
    yield from parts if any(when for _, when in parts) else ((asked, None),)


def _requests(asked: str | Sequence[str], desk: _Desk) -> Sequence[str]:
    """The requested phrases; a name of the record is never split."""
    if isinstance(asked, str):
        return understand(asked, desk.table, desk.chart.known).phrases
    phrases: list[str] = []
    unread: list[str] = []
    for item in asked:
        if item in desk.chart.by_name:
            phrases += (*understand(unread, desk.table, desk.chart.known).phrases, item)
            unread = []
        else:
            unread.append(item)
    phrases += understand(unread, desk.table, desk.chart.known).phrases
    return [name for name in dict.fromkeys(phrases) if name.strip()]


def _one(asked: str, desk: _Desk) -> Sequence[Answer]:
    linked = link(asked, desk.table)
    if linked is not None and linked.test == "Physical examination" and not hits_by_name(asked, desk.chart):
        return _whole_examination(desk, asked)
    broad = scope(asked) if linked is None else None
    own = hits_by_name(asked, desk.chart) if broad else []
    if broad and (desk.everything or not own):
        lines = _broad(asked, broad, desk)
        cited = {ref for line in lines for ref in line.refs}
        return [*_results(asked, [hit for hit in own if hit.entry.item.ref not in cited], 0.0), *lines]
    hits = own or desk.chart.hits(asked, lambda: _search(asked, linked, desk))
    hits = hits or [Hit(entry, "exact", 1.0) for entry in desk.chart.by_name.get(asked, ())]
    if not hits:
        return [_absent(asked, linked, desk)]
    others, when = hits, desk.when
    if around := around_event(hits, when):
        hits, when = around, replace(when, event="")
    hits = at_time(hits, when, desk.chart, desk.reported)
    repeat = when.pick or repetition(asked) or ("last" if when.event and not when.before else "")
    if hits and not desk.everything and all(hit.rule == "modality" for hit in hits):
        return [_which_study(asked, hits)]
    if len(hits) > 1 and not desk.everything:
        named = not own and bool(_recorded(asked, linked, desk))
        codes = dict.fromkeys(hit.entry.item.code if named else "" for hit in hits)  # two methods under one name
        groups = ([hit for hit in hits if not named or hit.entry.item.code == code] for code in codes)
        hits = [hit for group in groups for hit in measured(group, repeat, desk.reported, when.nth)]
    if not hits:
        return [_another_time(asked, linked, others, when)]
    lines = _results(asked, hits, linked.points if linked else _points(hits[0]))
    remarks = [remark(hit, when, repeat) for hit in hits]
    return [
        replace(line, text=f"{line.text} ({said})") if said else line for line, said in zip(lines, remarks, strict=True)
    ]


def _search(asked: str, linked: Link | None, desk: _Desk) -> Sequence[Hit]:
    """What the chart has for a request: the results of exactly this name, else those that the rules find."""
    return _recorded(asked, linked, desk) or find_hits(asked, linked, desk.chart, desk.table)


def _recorded(asked: str, linked: Link | None, desk: _Desk) -> list[Hit]:
    """The results under exactly the name asked for, if that is one laboratory test: 'Potassium, Whole Blood'."""
    words = frozenset(key(asked).split())
    entries = desk.chart.by_name.get(asked, ()) or (desk.chart.by_words.get(words, ()) if len(words) > 1 else ())
    if not entries or any(entry.item.kind not in ("lab", "microbiology") for entry in entries):
        return []
    if linked is not None and linked.test in desk.table.below:
        return []
    hits = [Hit(entry, "exact", 1.0) for entry in entries]
    cultures = all(entry.item.kind == "microbiology" for entry in entries)  # a wound culture of a catheter tip
    return hits if cultures else [hit for hit in hits if result_fits(linked, hit.entry, desk.table)] or hits


def _which_study(asked: str, hits: Sequence[Hit]) -> Answer:
    """The question back to a study without a part of the body ('CT'), with what the record has."""
    names = list(dict.fromkeys(hit.entry.item.name for hit in hits))
    text = f"{asked}: please name the part of the body; the record has {', '.join(names)}."
    return _unknown(asked, "imaging", "ambiguous", text)


def _no_such_study(asked: str, chart: Chart) -> Answer:
    """The question back to a study without a part of the body, of which the record has none."""
    names = dict.fromkeys(entry.item.name for entry in chart.entries if entry.item.kind == "imaging")
    rest = f"; its studies are {', '.join(names)}" if names else ""
    return _unknown(
        asked, "imaging", "ambiguous", f"{asked}: please name the part of the body; the record has none{rest}."
    )


def _results(asked: str, hits: Sequence[Hit], points: float) -> tuple[Answer, ...]:
    """The answers to one request; the first carries the points."""
    return tuple(_result(asked, hit, 0.0 if place else points) for place, hit in enumerate(hits))


def _result(asked: str, hit: Hit, points: float) -> Answer:
    item, test = hit.entry.item, hit.entry.test
    return Answer(
        asked=asked,
        kind=item.kind,
        state="normal" if item.normal else "reported",
        refs=(item.ref,),
        test=test.test if test else "",
        rule=hit.rule,
        score=round(hit.score, 4),
        text=f"{item.name}: {hit.passage or item.text}" if hit.passage or item.kind == "examination" else item.text,
        points=points,
    )


def _points(hit: Hit) -> float:
    """Cost of a recorded test that the request did not link to: that of the test it links to, else one point."""
    return hit.entry.test.points if hit.entry.test else 1.0


def _absent(asked: str, linked: Link | None, desk: _Desk) -> Answer:
    """The answer to a request that no item of the record fits."""
    if linked is None:
        several = desk.table.ambiguous.get(key(asked))
        if several:
            text = f"{asked}: this may mean {', '.join(several[:-1])} or {several[-1]}; please name the one you want."
            return _unknown(asked, desk.kind, "ambiguous", text)
        study = imaging.read_study(asked, desk.table)
        if study.modalities and not study.regions and not study.rest:
            return _no_such_study(asked, desk.chart)
        return _unknown(asked, desk.kind, "none", f"{asked}: no test of this name is known.")
    test = desk.table.tests.get(linked.test)
    assumed = (
        test is not None
        and desk.policy == "normal-default"
        and assumable(test, desk.chart.subject)
        and not _speaks_against(test, desk)
    )
    normal = _normal(test, desk.table) if test is not None and assumed and _usual(linked, test) else ""
    return Answer(
        asked=asked,
        kind=linked.kind,
        state="normal" if normal else "not_performed",
        refs=(),
        test=linked.test,
        rule=linked.rule,
        score=round(linked.score, 4),
        text=normal or f"{_called(linked)}: not performed, there is no result.{_nearest(linked, desk)}",
        points=linked.points,
        assumed=bool(normal),
    )


def _another_time(asked: str, linked: Link | None, others: Sequence[Hit], when: When) -> Answer:
    """The answer to an order of a time at which the record has no such result, with those of other times by name."""
    item = others[0].entry.item
    offered = dict.fromkeys(f"{hit.entry.item.name}{taken_at(hit.entry.item.time)}" for hit in others)
    which = f"no {when.said} result" if when.nth else f"not performed {when.said}, there is no result"
    text = f"{item.name}: {which}. The record has {', '.join([*offered][:_OFFERED])}."
    test, points = (linked.test, linked.points) if linked is not None else ("", _points(others[0]))
    return Answer(asked, item.kind, "not_performed", (), test, others[0].rule, round(others[0].score, 4), text, points)


def _speaks_against(test: Test, desk: _Desk) -> bool:
    """Whether the record has a result, not a normal one, of a test that is bound to this one or to its members.

    Of a part of the examination: whether the words of such a result speak against it.
    """
    own = {test.name, *desk.table.below.get(test.name, ())}
    if test.kind == "examination":
        return any(not entry.item.normal and own & doubted_by(entry.item.text[:_READ]) for entry in desk.chart.entries)
    bound = own | {name for names in _bound_tests() if own & names for name in names}
    forms = {*names_in_reports(bound, desk.table), *panels_in_reports(test.name, desk.table)}
    reports = [text for entry, text in desk.chart.texts if not entry.item.normal]
    return any(
        entry.test is not None and entry.test.test in bound and not entry.item.normal for entry in desk.chart.entries
    ) or any(f" {form} " in text for form in forms for text in reports)


def _usual(linked: Link, test: Test) -> bool:
    """Whether the order is of the test's own specimen, for which the table has its normal value."""
    own = axes.own_specimen(test)
    return not own or not linked.specimen or axes.same_specimen(own, linked.specimen)


def _called(linked: Link) -> str:
    """The name of a test, with its specimen where the name does not tell a stated one."""
    specimen = axes.specimen(linked.test)
    beside = linked.specimen and linked.specimen not in (axes.BLOOD, specimen)
    return f"{linked.test} ({linked.specimen})" if beside else linked.test


_OFFERED = 3
"""Most neighbours of a missing result that are named."""


def _nearest(linked: Link, desk: _Desk) -> str:
    """The nearest results that the record has, by name and without values; '' if there is none."""
    named = _neighbours(linked, desk.chart, desk.table)
    if not named:
        return ""
    offered = [f"{name}{time}" for name, time in list(named.items())[:_OFFERED]]
    return f" The record has {', '.join(offered)}."


def near_tests(asked: str, chart: Chart) -> tuple[str, ...]:
    """The recorded results of the same substance, or of the same part of the body, as a test that is not recorded."""
    linked = link(asked, chart.table)
    return () if linked is None else tuple(_neighbours(linked, chart, chart.table))


def _neighbours(linked: Link, chart: Chart, table: Catalogue) -> dict[str, str]:
    """Name of each such result, with its specimen where the name does not tell it -> when it was taken."""
    if linked.reading is not None and linked.kind == "imaging":
        regions = linked.reading.regions
        near = in_order(entry for entry in chart.entries if regions & entry.reading.regions)
    else:
        members = (entry for test in table.below.get(linked.test, ()) for entry in chart.by_test.get(test, ()))
        near = in_order((*chart.by_component.get(axes.component(linked.test, table), ()), *members))
    named: dict[str, str] = {}
    for entry in near:
        where = f" ({entry.specimen})" if entry.specimen and not axes.specimen(entry.item.name) else ""
        named.setdefault(f"{entry.item.name}{where}", taken_at(entry.item.time))
    return named


def _unknown(asked: str, kind: str, rule: str, text: str) -> Answer:
    return Answer(asked, kind, "unknown", (), "", rule, 0.0, text, 0.0)


def _normal(test: Test, table: Catalogue) -> str:
    """A normal result of a laboratory test or part of the examination, '' if the table has none.

    Images, cultures and biopsies are never made up, because a normal one depends on the case.
    """
    if test.kind not in ("lab", "examination"):
        return ""
    if test.normal:
        return f"{test.name}: {test.normal}"
    if test.members:
        return "; ".join(filter(None, (_normal(table.tests[name], table) for name in test.members)))
    unit = f" {test.unit}" if test.unit else ""
    if test.low is not None and test.high is not None:
        middle = float(f"{(test.low + test.high) / 2:.3g}")
        return f"{test.name}: {middle:g}{unit} (reference {test.low:g}-{test.high:g})"
    if test.high is not None:
        return f"{test.name}: below {test.high:g}{unit} (normal)"
    return f"{test.name}: above {test.low:g}{unit} (normal)" if test.low is not None else ""


def _whole_examination(desk: _Desk, asked: str = "physical examination") -> tuple[Answer, ...]:
    """Every part of the physical examination, at the cost of one examination."""
    test = desk.table.tests["Physical examination"]
    hits = [Hit(entry, "panel", 1.0) for entry in desk.chart.entries if entry.item.kind == "examination"]
    return _results(asked, hits, test.points) or (_absent(asked, link(test.name, desk.table), desk),)


def _broad(asked: str, broad: Scope, desk: _Desk) -> Sequence[Answer]:
    if broad == "any" and desk.kind in ("examination", "lab", "microbiology", "imaging"):
        broad = desk.kind  # type: ignore[assignment]  # one of the four names of Scope
    if broad == "examination":
        return _whole_examination(desk, asked)
    if desk.everything:
        hits = [Hit(entry, "broad", 1.0) for entry in desk.chart.entries if belongs(entry, broad)]
        return [_result(asked, hit, _points(hit)) for hit in hits] or [_asks_back(asked, broad)]
    if broad == "lab":
        return [line for name in ROUTINE for line in _one(name, desk)]
    return [_asks_back(asked, broad)]


def _asks_back(asked: str, broad: Scope) -> Answer:
    kinds = {"imaging": "study and the part of the body", "microbiology": "specimen and the test"}
    text = f"{asked}: this covers many tests; please name the {kinds.get(broad, 'test')} you want."
    return _unknown(asked, broad, "broad", text)
