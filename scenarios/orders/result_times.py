"""Selects results by their time: the first, next, last or all measurements of a test, and those of a stated day."""

from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta

from wardround.engine.text import regex
from wardround.scenarios.case import CaseResult
from wardround.scenarios.orders.chart import Chart, Entry, Hit
from wardround.scenarios.orders.order_parser import Repeat
from wardround.scenarios.orders.order_times import EVENTS, NEAR, When
from wardround.scenarios.terms.wording import key, list_words

_REPEATED = ("lab", "microbiology")


def measured(hits: Sequence[Hit], repeat: Repeat, reported: Collection[str], nth: int = 0) -> list[Hit]:
    """Select the hits that answer a request, in their order.

    Results of the same test and specimen at different times are repeated measurements: with `repeat` '' the earliest
    counts, with last the latest, with next the earliest whose reference is not in `reported` (the last if all are),
    with ends the earliest and the latest, with series all of them, with `nth` 2 the second.
    Results without a time are all returned, because their order is unknown.
    """
    groups: dict[tuple[str, ...], list[CaseResult]] = {}
    for hit in hits:
        groups.setdefault(_series(hit.entry), []).append(hit.entry.item)
    chosen = {name: _times(group, repeat, reported, nth) for name, group in groups.items()}
    kept = [hit for hit in hits if hit.entry.item.time in chosen[_series(hit.entry)]]
    paneled = any(hit.rule == "panel" for hit in kept)
    if paneled and repeat == "next":  # of a panel, what was not measured again is left out
        kept = [hit for hit in kept if hit.entry.item.ref not in reported] or kept
    return _same_day(kept) if paneled and not nth and repeat in ("", "next") else kept


def _same_day(hits: Sequence[Hit]) -> list[Hit]:
    """Of a panel, the results within a day of its first one; a member that was first measured later is left out."""
    taken = [moment(hit.entry.item.time) for hit in hits]
    known = [time for time in taken if time is not None]
    if not known:
        return list(hits)
    last = min(known) + timedelta(days=1)
    return [hit for hit, time in zip(hits, taken, strict=True) if time is None or time <= last]


_HOUR = timedelta(hours=1)


def at_time(hits: Sequence[Hit], when: When, chart: Chart, reported: Collection[str]) -> list[Hit]:
    """The hits that were taken at the time of an order; one without a time is kept, because it may have been.

    Today is the day of the latest result in `reported`, else that on which the record begins.
    """
    times = [(time, entry) for entry in chart.entries if (time := moment(entry.item.time)) is not None]
    if not times:
        return list(hits)
    first, last = min(time for time, _ in times), max(time for time, _ in times)
    today = max((time for time, entry in times if entry.item.ref in reported), default=first)

    def fits(time: datetime) -> bool:
        stay = (first.date(), today.date(), last.date())
        edges = [None if day is None else day.dates(*stay) for day in when.days]
        nights = when.clock is not None and when.clock[1] > _DAY  # the night of a day ends on the next one
        if edges and not any(_within(day, edges) for day in (time.date(), *([_eve(time)] if nights else ()))):
            return False
        if when.clock is not None and _late(time, when.clock[0]) > when.clock[1] - when.clock[0]:
            return False
        span = abs(when.hours) * _HOUR
        return not span or (time <= first + span if when.hours > 0 else time >= last - span)

    kept = [hit for hit in hits if (time := moment(hit.entry.item.time)) is None or fits(time)]
    if when.clock is None or when.clock[1] - when.clock[0] > 2 * NEAR:
        return kept
    apart = [
        0 if (time := moment(hit.entry.item.time)) is None else abs(_late(time, when.clock[0]) - NEAR) for hit in kept
    ]
    return [hit for hit, minutes in zip(kept, apart, strict=True) if minutes == min(apart)]


_DAY = 24 * 60


def _late(time: datetime, begin: int) -> int:
    """Minutes of a time after a minute of the day, across midnight."""
    return (time.hour * 60 + time.minute - begin) % _DAY


def _eve(time: datetime) -> date:
    return (time - timedelta(hours=12)).date()


def _within(day: date, edges: Sequence[Sequence[date] | None]) -> bool:
    """Whether a day is the stated one, or within the stated span, whose open end is None."""
    if len(edges) == 1:
        return day in (edges[0] or ())[:1]
    (begin, end) = edges
    return (begin is None or (bool(begin) and begin[0] <= day)) and (end is None or (bool(end) and day <= end[0]))


_SIDES = {True: r"(?:before|prior to|pre)", False: r"(?:after|following|post)"}


def around_event(hits: Sequence[Hit], when: When) -> list[Hit]:
    """The hits whose name or text says that they were taken before or after the event of an order."""
    if when.event not in EVENTS:
        return []
    around = regex(rf"(?i)\b{_SIDES[when.before]}[ -]?(?:the )?(?:{EVENTS[when.event]})")
    return [hit for hit in hits if around.search(hit.entry.item.name) or around.search(hit.entry.item.text)]


def remark(hit: Hit, when: When, repeat: Repeat) -> str:
    """What the record does not say of the time of a result that answers an order with a time; '' if it says it."""
    item = hit.entry.item
    if when.event and item.time:
        which = "what was measured before" if when.event == "previous" else f"when the {when.event} was"
        shown = {"last": "this is the last value", "ends": "these are the first and the last value"}
        return f"the record does not say {which}; {shown.get(repeat, 'this is the first value')}"
    said = set(key(when.said).split()) - _SMALL
    if item.time or not when.dated or said <= set(key(item.text).split()):
        return ""
    return "the record does not say when this was taken"


_SMALL = list_words("on at the of in from to and between since until before after")


def moment(time: str) -> datetime | None:
    """The time of a result; None if it has none or it cannot be read."""
    try:
        return datetime.fromisoformat(time).replace(tzinfo=None) if time else None
    except ValueError:
        return None


def _series(entry: Entry) -> tuple[str, ...]:
    """What the measurements of one test have in common; an item that is no such measurement stands alone."""
    item = entry.item
    if item.kind not in _REPEATED or not item.time:
        return (item.ref,)
    name = entry.test.test if entry.test is not None else " ".join(item.name.casefold().split())
    method = " ".join(entry.method) if item.kind == "microbiology" else ""
    return item.kind, name, entry.specimen, method, item.detail.casefold() if item.kind == "microbiology" else ""


def _times(group: Sequence[CaseResult], repeat: Repeat, reported: Collection[str], nth: int) -> Collection[str]:
    """The times of the measurements to report."""
    times = sorted({item.time for item in group})
    if nth and times[0]:
        return times[nth - 1 : nth]
    if repeat in ("ends", "series"):
        return times if repeat == "series" else (times[0], times[-1])
    if repeat == "next":
        fresh = [item.time for item in group if item.ref not in reported]
        return [min(fresh, default=times[-1])]
    return [times[-1] if repeat == "last" else times[0]]
