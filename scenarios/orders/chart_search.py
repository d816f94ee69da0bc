"""Searches a chart: the items that answer one request, and of repeated measurements those to report."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.case import CaseResult, Kind
from wardround.scenarios.orders import axes, imaging, passages
from wardround.scenarios.orders.catalogue import Catalogue, Scope, scope
from wardround.scenarios.orders.chart import GASES, GUIDED, Chart, Entry, Hit
from wardround.scenarios.orders.name_lookup import Link, content
from wardround.scenarios.orders.order_parser import Repeat
from wardround.scenarios.orders.spelling import closest
from wardround.scenarios.terms.wording import key, tokens

_FREE: tuple[Kind, ...] = ("imaging", "investigation", "examination")


def find_hits(asked: str, linked: Link | None, chart: Chart, table: Catalogue) -> list[Hit]:
    """The items that answer one request, in the record's order.

    First the record's own name and the linked test, with the members of a panel. Only if these give nothing, in turn: a
    panel recorded as a whole, what a wider examination says of the part, a fuzzy name, a study by modality and region,
    a sample by its site, the words of a free-text name, and a mention in a free-text result.
    """

    def fits(hit: Hit) -> bool:
        return result_fits(linked, hit.entry, table) and _of_site(asked, linked, hit.entry, chart)

    direct = (*_tested(linked, chart, table), *hits_by_name(asked, chart))
    hits = {hit.entry.place: hit for hit in direct if fits(hit)}
    if hits and linked is not None and linked.test in _GAS:
        hits = _of_gas(hits)
    elif hits and not (linked and linked.specimen.startswith(("arterial", "venous"))):
        hits = _of_laboratory(hits)
    if hits:
        return [hits[place] for place in sorted(hits)]
    rules = (_above, _examined, _fuzzy, _studies, _sampled, _worded, _mentioned)
    by_rule = ([hit for hit in rule(asked, linked, chart, table) if fits(hit)] for rule in rules)
    return next(filter(None, by_rule), [])


def _of_site(asked: str, linked: Link | None, entry: Entry, chart: Chart) -> bool:
    """Whether a result is of the ordered site: the side of an examination, the organ of a biopsy.

    A biopsy whose report names no site is of what the case is about.
    """
    if linked is None:
        return True
    if linked.kind == "examination":
        ours, theirs = (imaging.read_study(text, chart.table).side for text in (asked, entry.item.name))
        return not ours or not theirs or ours == theirs
    if not passages.takes_sample(linked.test) or entry.item.kind != "investigation":
        return True
    named = passages.sampled_sites(entry.item.name) or passages.sampled_sites(entry.item.text)
    if named:
        return linked.test in named
    return _concerns(imaging.read_study(asked, chart.table).regions, chart)


def _concerns(regions: Collection[str], chart: Chart) -> bool:
    """Whether one of the regions is among those that the case's text speaks of; true where either is unknown."""
    known = chart.subject.regions
    return not regions or not known or imaging.overlap(regions, known, chart.table)


_GAS = ("Arterial blood gas", "Venous blood gas")


def _of_gas(hits: Mapping[int, Hit]) -> dict[int, Hit]:
    """The results of a blood gas: none without a gas or pH, and no bicarbonate of a sample at another time."""
    gas = [hit.entry for hit in hits.values() if hit.entry.test is None or hit.entry.test.test in (*GASES, *_GAS)]
    times = {entry.item.time for entry in gas}
    return {place: hit for place, hit in hits.items() if gas and hit.entry.item.time in times}


def _of_laboratory(hits: Mapping[int, Hit]) -> dict[int, Hit]:
    """Without the values of a blood gas for tests that the laboratory has measured too, whenever that was.

    A potassium of whole blood is no serum potassium, and a calculated hematocrit none of a blood count.
    """
    gases = {place for place, hit in hits.items() if "gas" in tokens(hit.entry.item.name.partition(":")[0])}
    tests = {hit.entry.test.test for place, hit in hits.items() if place not in gases and hit.entry.test}
    return {
        place: hit
        for place, hit in hits.items()
        if place not in gases or hit.entry.test is None or hit.entry.test.test not in tests
    }


_WIDER = {"Sputum culture": ("Respiratory culture",)}
"""Tests by which a record also reports a test, where the specimen is the same."""


def result_fits(linked: Link | None, entry: Entry, table: Catalogue) -> bool:
    """Whether a result is of the specimen and by the method that a linked order asks for."""
    if linked is None:
        return True
    if linked.kind == "examination" and (entry.item.kind == "imaging" or entry.reading.modalities):
        return False
    if linked.kind == "examination" and entry.item.kind == "lab" and "gas" in tokens(entry.item.name.partition(":")[0]):
        return linked.test == "Oxygen saturation"  # the temperature that a gas is corrected for is no vital sign
    if entry.item.kind == "investigation":
        if passages.awaited(entry.item.text) or not _of_method(linked, entry):
            return False
        stated = axes.specimens(entry.item.name)
        return len(stated) > 1 or all(axes.same_specimen(linked.specimen, one) for one in stated)
    if entry.item.kind not in ("lab", "microbiology"):
        return True
    wanted = linked.specimen
    if not wanted and entry.test is not None and entry.test.test in table.tests and linked.test in table.below:
        wanted = axes.own_specimen(table.tests[entry.test.test])
    within = entry.test is not None and linked.test in table.below.get(entry.test.test, ())
    method = () if within else linked.method  # a panel recorded as a whole tells not how
    return axes.same_specimen(wanted, entry.specimen) and axes.same_method(method, entry.method)


def _of_method(linked: Link, entry: Entry) -> bool:
    """Whether a report of one test tells it by the ordered method, in its name or its text."""
    if entry.test is None or entry.test.test != linked.test:
        return True
    return axes.same_method(linked.method, axes.methods(entry.item.text) if linked.method else ())


def hits_by_name(asked: str, chart: Chart) -> list[Hit]:
    """The items with the requested name, literally or in another spelling; else those under a heading of that name."""
    form = key(asked)
    own = chart.by_form.get(form, ()) if form else chart.by_name.get(asked, ())
    if own:
        return [Hit(entry, "exact", 1.0) for entry in own]
    return [Hit(entry, "panel", 1.0) for entry in chart.by_group.get(form, ())]


def _tested(linked: Link | None, chart: Chart, table: Catalogue) -> Iterator[Hit]:
    """The items of the linked test, after those of its members if it is a panel."""
    if linked is None:
        return
    if linked.test == "Susceptibility testing":
        yield from (Hit(entry, "panel", 1.0) for entry in chart.entries if _TESTED_DRUG.search(entry.item.text))
    below = (entry for member in table.below.get(linked.test, ()) for entry in chart.by_test.get(member, ()))
    for entry in (*below, *chart.by_panel.get(linked.test, ())):
        yield Hit(entry, "panel", linked.score)
    if linked.test.endswith("fluid analysis"):  # its results differ by their specimen
        yield from (Hit(entry, "panel", linked.score) for entry in chart.entries if entry.specimen == linked.specimen)
    other = axes.in_specimen(linked.test, linked.specimen, table)
    same_time = axes.timing(other) == axes.timing(linked.test)  # a spot sample answers no collection of 24 hours
    for name in dict.fromkeys((linked.test, *([other] if same_time else ()), *_WIDER.get(linked.test, ()))):
        for entry in chart.by_test.get(name, ()):
            yield Hit(entry, linked.rule, linked.score)


_TESTED_DRUG = regex(r"(?i)\b(?:susceptible|sensitive|resistant|intermediate) to\b")


def _above(asked: str, linked: Link | None, chart: Chart, table: Catalogue) -> Iterator[Hit]:
    """The items of a panel, recorded as a whole, that contains the requested test."""
    if linked is None:
        return
    panels = [test for test in chart.by_test if linked.test in table.below.get(test, ())]
    for entry in in_order(entry for panel in panels for entry in chart.by_test[panel]):
        if not _tells_of_others(linked, entry, table):
            yield Hit(entry, "panel", linked.score)


def _tells_of_others(linked: Link, entry: Entry, table: Catalogue) -> bool:
    """Whether what is recorded of a panel names some of its tests, and not the ordered one: 'SGPT 145' is no SGOT."""
    if entry.test is None or entry.item.kind == "microbiology":
        return False
    panel = entry.test.test
    if entry.item.kind == "examination":
        return not passages.about_parts(entry.item.text, linked.test, table.below.get(panel, ()), table)
    return names_others(entry.item.text.partition(": ")[2], linked, panel, table)


def names_others(text: str, linked: Link, panel: str, table: Catalogue) -> bool:
    """Whether a text on a panel of the blood names some of its tests, not the ordered one, and not the rest."""
    if not panel or axes.own_specimen(table.tests[panel]) != axes.BLOOD or _REST.search(text):
        return False
    flat = f" {key(text)} "
    named = {
        test
        for test in table.below.get(panel, ())
        if any(f" {form} " in flat for form in table.forms.get(test, ()) if len(form) > 2)
    }
    return bool(named) and linked.test not in named


_REST = regex(r"(?i)\b(?:others?|rest|remain\w*|all)\b")


def _examined(asked: str, linked: Link | None, chart: Chart, table: Catalogue) -> Iterator[Hit]:
    """What a wider part of the examination says of the ordered one; of a joint all that was found at the joints."""
    if linked is None or linked.kind != "examination":
        return
    parts = {linked.test, *table.below.get(linked.test, ())}
    for entry in chart.entries:
        if entry.item.kind != "examination":
            continue
        own = entry.test.test if entry.test is not None else ""
        clauses = passages.parts_examined(entry.item.text, parts, table, wide=own in _WIDE)
        if clauses:
            yield Hit(entry, "words", 0.5, "" if own in _OF_LIMBS else " ".join(clauses).rstrip(" ;"))


_OF_LIMBS = ("Musculoskeletal examination", "Extremity examination")
_WIDE = ("", "Physical examination", "General examination", *_OF_LIMBS)
"""Parts of the examination whose text may tell of any other; elsewhere only a label does."""


def _sampled(asked: str, linked: Link | None, chart: Chart, table: Catalogue) -> Iterator[Hit]:
    """The samples of tissue that are recorded under a general name, for an order of one site; `_of_site` decides."""
    if linked is not None and passages.takes_sample(linked.test):
        found = (entry for entry in chart.entries if entry.item.kind == "investigation")
        yield from (Hit(entry, "words", 0.5) for entry in found if passages.samples(entry.item.name))


def _fuzzy(asked: str, linked: Link | None, chart: Chart, table: Catalogue) -> Iterator[Hit]:
    """Items with a similar spelling of the requested name; none if the request is known as another test."""
    if linked is not None and linked.rule != "fuzzy":
        return
    match = closest(key(asked), chart.choices)
    if match is not None:
        yield from (Hit(entry, "fuzzy", match[1] / 100) for entry in chart.by_form[match[0]])


def _studies(asked: str, linked: Link | None, chart: Chart, table: Catalogue) -> Iterator[Hit]:
    """Studies of the requested modality and region."""
    study = linked.reading if linked else imaging.read_study(asked, table)
    if study is None or (linked is None and len(study.rest) > len(study.regions)):
        return
    rule = "region" if study.regions else "modality"
    for entry in chart.entries:
        if (
            study.regions
            and entry.reading.modalities
            and not entry.reading.regions
            and not _concerns(study.regions, chart)
        ):
            continue  # a radiograph of nothing in particular is of what the case is about
        named = entry.test.reading if entry.test is not None and entry.test.rule != "region" else None
        if named is not None and named.regions and not imaging.fulfils(study, named, table):
            continue  # an MR enterography is filed under the abdomen and still no MRCP
        if imaging.fulfils(study, entry.reading, table):
            yield Hit(entry, rule, 1.0)


def _worded(asked: str, linked: Link | None, chart: Chart, table: Catalogue) -> Iterator[Hit]:
    """Items whose name contains all words of the request, or the reverse.

    A linked test with its own field (a laboratory value) is not searched this way.
    """
    if linked is not None and (linked.kind not in _FREE or linked.reading is not None):
        return
    words = frozenset(content(asked))
    if not words or max(map(len, words)) < 4:
        return
    # A biopsy is recorded as histopathology, an echo as echocardiography: accept any name of the test.
    synonyms = table.tests[linked.test].synonyms if linked is not None and linked.test in table.tests else ()
    bags = [words, *(bag for name in synonyms if (bag := frozenset(content(name))) and max(map(len, bag)) > 5)]
    for entry in chart.entries:
        free = entry.item.kind in _FREE
        holds = (linked is None or free) and any(bag <= entry.words for bag in bags)
        if holds or (free and entry.words and entry.words <= words and _tells(entry)):
            shared, either = len(words & entry.words), len(words | entry.words)
            yield Hit(entry, "words", round(shared / either, 4) if shared else 0.5)


def _tells(entry: Entry) -> bool:
    """Whether the item's name has a long word and names more than a kind of tests."""
    return max(map(len, entry.words)) > 5 and scope(entry.item.name) is None


def _mentioned(asked: str, linked: Link | None, chart: Chart, table: Catalogue) -> Iterator[Hit]:
    """Free-text results that mention the requested test or a member of the panel."""
    if not chart.texts:
        return
    tests = (linked.test, *table.below.get(linked.test, ())) if linked is not None else ()
    forms = (key(asked), *passages.names_in_reports(tests, table))
    phrases = [form for form in forms if len(form) > 2 and f" {form} " in chart.all_texts]
    for entry, text in chart.texts:
        if linked is None:
            mentions = any(f" {phrase} " in text for phrase in phrases)
        else:
            mentions = _mentions_study(linked, entry, table) or any(
                not names_others(clause, linked, panel, table)
                for clause, panel in passages.reported_in(entry.item, linked, phrases, table)
            )
        if mentions:
            yield Hit(entry, "mention", 1.0)


def _mentions_study(linked: Link, entry: Entry, table: Catalogue) -> bool:
    """Whether a clause of a report names a study of the ordered modality and region."""
    wanted = linked.reading
    if wanted is None or not wanted.regions:
        return False
    studies = (imaging.read_study(GUIDED.sub("", clause), table) for clause in passages.clauses_of(entry.item.text))
    return any(study.regions and imaging.fulfils(wanted, study, table) for study in studies)


def in_order(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Entries of one chart in the record's order, each once."""
    by_place = {entry.place: entry for entry in entries}
    return (by_place[place] for place in sorted(by_place))


def belongs(entry: Entry, broad: Scope) -> bool:
    """Whether an item is of the kind that a broad request names; free-text items by the test that they link to."""
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
