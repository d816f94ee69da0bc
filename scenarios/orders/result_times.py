"""Selects results by their time: the first, next, last or all measurements of a test, and those of a stated day."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.case import CaseResult
from wardround.scenarios.orders.chart import Chart, Entry, Hit
from wardround.scenarios.orders.order_parser import Repeat

_REPEATED = ("lab", "microbiology")


def measured(hits: Sequence[Hit], repeat: Repeat, reported: Collection[str]) -> list[Hit]:
    """Select the hits that answer a request, in their order.

    Results of the same test and specimen at different times are repeated measurements: with `repeat` '' the earliest
    counts, with last the latest, with next the earliest whose reference is not in `reported` (the last if all are),
    with series all of them.
    Results without a time are all returned, because their order is unknown.
    """
    groups: dict[tuple[str, ...], list[CaseResult]] = {}
    for hit in hits:
        groups.setdefault(_series(hit.entry), []).append(hit.entry.item)
    times = {} if repeat == "series" else {name: _time(group, repeat, reported) for name, group in groups.items()}
    kept = [hit for hit in hits if hit.entry.item.time == times.get(_series(hit.entry), hit.entry.item.time)]
    paneled = any(hit.rule == "panel" for hit in kept)
    if paneled and repeat == "next":  # of a panel, what was not measured again is left out
        kept = [hit for hit in kept if hit.entry.item.ref not in reported] or kept
    return _same_day(kept) if paneled and repeat not in ("last", "series") else kept


def _same_day(hits: Sequence[Hit]) -> list[Hit]:
    """Of a panel, the results within a day of its first one; a member that was first measured later is left out."""
    taken = [moment(hit.entry.item.time) for hit in hits]
    known = [time for time in taken if time is not None]
    if not known:
        return list(hits)
    last = min(known) + timedelta(days=1)
    return [hit for hit, time in zip(hits, taken, strict=True) if time is None or time <= last]


_MONTHS = "jan(?:uary)? feb(?:ruary)? mar(?:ch)? apr(?:il)? may june? july? aug(?:ust)? sept?(?:ember)? oct(?:ober)?"
_MONTHS += " nov(?:ember)? dec(?:ember)?"
_MONTH = rf"(?P<month>{_MONTHS.replace(' ', '|')})\b\.?"
_DATES = (
    regex(r"(?i)\b(?P<year>\d{4})-(?P<number>\d\d)-(?P<day>\d\d)\b"),
    regex(rf"(?i)\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b(?:,?\s+(?P<year>\d{{4}}))?"),
    regex(rf"(?i)\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>\d{{4}}))?"),
    regex(
        r"(?i)\b(?:on|from|at|of)\s+(?:the\s+)?(?:(?:hospital|admission|inpatient)\s+)?day\s*#?(?P<stay>\d{1,2})\b"
        r"(?!\s+(?:of|after|post|since|into)\b(?!\s+(?:the |her |his |their )?(?:admission|stay|hospital)))"
    ),
)
_CYCLE = regex(r"(?i)\b(?:fsh|lh|follicle|lutein\w*|o?estradiol|progesterone|cycle|post-?op\w*)\b")
"""Beside these words a day is one of the cycle or after an operation, and not of the stay."""


class StatedDay(msgspec.Struct, frozen=True):
    """The day that an order names: of the calendar, with or without its year, or the `stay`'s, whose first is 1."""

    said: str
    year: int | None = None
    month: int = 0
    day: int = 0
    stay: int = 0

    def holds(self, time: datetime, first: datetime) -> bool:
        """Whether `time` is on this day of a stay that began at `first`."""
        if self.stay:
            return (time.date() - first.date()).days == self.stay - 1
        return (time.month, time.day) == (self.month, self.day) and self.year in (None, time.year)


def stated_day(asked: str) -> StatedDay | None:
    """The one day that an order names ('on day 3', '5 March', '2026-03-05'); None if it names none or several."""
    if _CYCLE.search(asked):
        return None
    matches = [match for pattern in _DATES for match in pattern.finditer(asked)]
    if len(matches) != 1:
        return None
    (match,) = matches
    named = {name: value for name, value in match.groupdict().items() if value}
    if "stay" in named:
        return StatedDay(match[0], stay=int(named["stay"]))
    months = [name[:3] for name in _MONTHS.split()]
    month = int(named["number"]) if "number" in named else months.index(named["month"][:3].casefold()) + 1
    return StatedDay(match[0], int(named["year"]) if "year" in named else None, month, int(named["day"]))


def on_day(hits: Sequence[Hit], day: StatedDay, chart: Chart) -> list[Hit]:
    """The hits that were taken on a day; one without a time is kept, because it may have been."""
    known = [time for entry in chart.entries if (time := moment(entry.item.time)) is not None]
    return [hit for hit in hits if (time := moment(hit.entry.item.time)) is None or day.holds(time, min(known))]


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


def _time(group: Sequence[CaseResult], repeat: Repeat, reported: Collection[str]) -> str:
    """The time of the measurement to report."""
    if repeat == "last":
        return max(item.time for item in group)
    if repeat == "next":
        fresh = [item.time for item in group if item.ref not in reported]
        return min(fresh) if fresh else max(item.time for item in group)
    return min(item.time for item in group)
