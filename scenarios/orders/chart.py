"""Prepares a record's items for look-up: the names of each, the test that it is, the panels that contain it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import msgspec
from msgspec.structs import replace

from wardround.engine.records import Json
from wardround.scenarios.case import CaseResult
from wardround.scenarios.orders import axes, imaging
from wardround.scenarios.orders.catalogue import Catalogue, TestNames, catalogue, scope
from wardround.scenarios.orders.foreign_orders import order_in_english
from wardround.scenarios.orders.name_lookup import Link, content, link
from wardround.scenarios.orders.subject import NOBODY, Subject, subject_of
from wardround.scenarios.terms.wording import key, list_words, tokens

GASES = ("Blood pH", "Partial pressure of carbon dioxide", "Partial pressure of oxygen")
"""Tests that are measured in a blood gas only."""
_PATH = re.compile(r"\s+[-–—>|]+\s+|\s*>\s*|:\s+|_-_")
_NUMBER = re.compile(r"\s*\(\d+\)$")
_EMPTY = list_words(
    """finding findings result results level comment comments interpretation histopathology histology impression report
    optional preliminary description microscopic analysis conclusion summary detail notes scores value other others"""
)


class Entry(msgspec.Struct, frozen=True):
    """A record's item, ready for look-up.

    `place` is its position in the record. `names` are comparable forms of the item's own name, `groups` those of its
    headings. `test` is the test that it links to, `panels` the tests that its headings link to; `words` are the content
    words of its name. `specimen` is what was sampled ('' if that is open), `method` how it was examined.
    """

    place: int
    item: CaseResult
    names: frozenset[str]
    groups: frozenset[str]
    test: Link | None
    panels: frozenset[str]
    words: frozenset[str]
    reading: imaging.Reading
    specimen: str = ""
    method: tuple[str, ...] = ()


class Hit(msgspec.Struct, frozen=True):
    """An item that answers a request; `rule` and `score` (0 to 1) as in `Answer`.

    `passage` is the part of its text that does; '' is all of it.
    """

    entry: Entry
    rule: str
    score: float
    passage: str = ""


_MOST_SEARCHES = 1000


@dataclass(frozen=True, eq=False)
class Chart:
    """A record's items, ready for look-up, with the indices that it needs; each maps to entries in the record's order.

    ::

        read_chart(case_results(case)).by_test["Lipase"]
    """

    entries: tuple[Entry, ...]
    subject: Subject = NOBODY
    table: Catalogue = field(default_factory=catalogue)
    _searched: dict[str, Sequence[Hit]] = field(default_factory=dict, init=False)

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[Entry]]:
        """The entries by the name as recorded."""
        return self._index(lambda entry: (entry.item.name,))

    @cached_property
    def by_words(self) -> Mapping[frozenset[str], Sequence[Entry]]:
        """The laboratory's entries by the words of each of their names, in whatever order."""
        index: dict[frozenset[str], list[Entry]] = {}
        for entry in self.entries:
            for words in {frozenset(form.split()) for form in entry.names} if entry.item.kind == "lab" else ():
                index.setdefault(words, []).append(entry)
        return index

    @cached_property
    def by_form(self) -> Mapping[str, Sequence[Entry]]:
        """The entries by each comparable form of their names."""
        return self._index(lambda entry: entry.names)

    @cached_property
    def by_group(self) -> Mapping[str, Sequence[Entry]]:
        """The entries by each of their headings."""
        return self._index(lambda entry: entry.groups)

    @cached_property
    def by_panel(self) -> Mapping[str, Sequence[Entry]]:
        """The entries by each test that a heading of theirs links to."""
        return self._index(lambda entry: entry.panels)

    @cached_property
    def by_test(self) -> Mapping[str, Sequence[Entry]]:
        """The entries by the test that they link to."""
        return self._index(lambda entry: (entry.test.test,) if entry.test else ())

    @cached_property
    def by_component(self) -> Mapping[str, Sequence[Entry]]:
        """The entries by what their test measures, in whatever specimen."""
        return self._index(lambda entry: (axes.component(entry.test.test, self.table),) if entry.test else ())

    @cached_property
    def known(self) -> frozenset[str]:
        """Comparable forms of all names and headings; a request of that form is never split."""
        return frozenset((*self.by_form, *self.by_group))

    @cached_property
    def choices(self) -> Sequence[str]:
        """All forms in a fixed order, for fuzzy matching."""
        return tuple(dict.fromkeys(form for entry in self.entries for form in sorted(entry.names)))

    @cached_property
    def texts(self) -> Sequence[tuple[Entry, str]]:
        """The free-text results in comparable form, with a space at both ends."""
        return [(entry, f" {key(entry.item.text)} ") for entry in self.entries if entry.item.kind == "investigation"]

    @cached_property
    def all_texts(self) -> str:
        """All free-text results as one, to see at once that none mentions a name."""
        return "\n".join(text for _, text in self.texts)

    def hits(self, asked: str, search: Callable[[], Sequence[Hit]]) -> Sequence[Hit]:
        """What `search` finds for a request; many episodes ask the same of one chart, which is searched once."""
        if asked not in self._searched:
            if len(self._searched) >= _MOST_SEARCHES:
                self._searched.clear()
            self._searched[asked] = search()
        return self._searched[asked]

    def _index(self, keys: Callable[[Entry], Iterable[str]]) -> Mapping[str, Sequence[Entry]]:
        index: dict[str, list[Entry]] = {}
        for entry in self.entries:
            for name in keys(entry):
                index.setdefault(name, []).append(entry)
        return index


@lru_cache(maxsize=256)
def read_chart(items: tuple[CaseResult, ...], subject: Subject = NOBODY, names: TestNames = ()) -> Chart:
    """The chart of these items of a patient, read with a user's `names` of tests; many episodes share one."""
    table, gases = catalogue(names), _gases(items)
    return Chart(tuple(_entry(place, item, table, gases) for place, item in enumerate(items)), subject, table)


def chart_of(known: Mapping[str, Json], items: tuple[CaseResult, ...] | None = None) -> Chart:
    """The chart that `view.known` states: its record, or `items` in its place, whose it is, and the user's names."""
    record = msgspec.convert(known.get("record", ()), tuple[CaseResult, ...]) if items is None else items
    return read_chart(record, subject_of(known.get("subject")), msgspec.convert(known.get("names", ()), TestNames))


def _gases(items: Sequence[CaseResult]) -> Mapping[str, str]:
    """Time -> arterial or venous blood, from the rows of a gas that state its specimen and from PaCO2 and PaO2."""
    kinds: dict[str, str] = {}
    for item in items:
        words = tokens(item.name)
        if item.kind == "lab" and words[-1:] in (("paco2",), ("pao2",)):
            kinds[item.time] = "arterial blood"
        if item.kind == "lab" and item.time and words[-2:] == ("specimen", "type"):
            value = tokens(item.text.partition(": ")[2].partition(": ")[2] or item.text.partition(": ")[2])
            if {"art", "arterial"} & set(value):
                kinds[item.time] = "arterial blood"
            elif {"ven", "venous", "mix"} & set(value):
                kinds[item.time] = "venous blood"
    return kinds


def _entry(place: int, item: CaseResult, table: Catalogue, gases: Mapping[str, str]) -> Entry:
    name = _in_english(_NUMBER.sub("", item.name.replace("_", " ")), table)
    parts = [part for part in _PATH.split(name) if part.strip()] or [name]
    while len(parts) > 1 and set(tokens(parts[-1])) <= _EMPTY:
        parts = parts[:-1]
    of_blood = _OF_BLOOD & set(tokens(parts[-1]))  # the serum glucose beside a lumbar puncture
    above = [] if of_blood else [part for part in parts[:-1] if scope(part) is None]
    specimen = _specimen([*above, item.detail if item.kind == "microbiology" else ""], parts[-1])
    plain = [parts[-1], " ".join([*above, parts[-1]]), name]
    own = [f"{specimen} {parts[-1]}", *plain[1:]] if specimen else plain
    names = [item.name, *own]
    test = next((linked for text in (parts[-1:] if of_blood else own) if (linked := _link(text, item, table))), None)
    if item.kind == "microbiology" and test is None and item.detail:
        test = link(f"{item.detail} {name}", table)
    sampled = _sampled(item, own, test, table, gases)
    if test is not None and item.kind == "microbiology" and (other := axes.in_specimen(test.test, sampled, table)):
        test = replace(test, test=other)
    heads = [linked for part in above if (linked := link(part, table))]
    return Entry(
        place=place,
        item=item,
        names=frozenset(key(text) for text in names),
        groups=frozenset(key(part) for part in above),
        test=test,
        panels=frozenset(head.test for head in heads),
        words=frozenset(word for text in plain[:2] for word in content(text)),
        reading=_reading(item, name, table),
        specimen=sampled,
        method=test.method if test is not None and axes.methods(test.test) else axes.methods(item.name),
    )


def _in_english(name: str, table: Catalogue) -> str:
    """A recorded name in English where it is in a language that orders may be in, else as it is."""
    english = order_in_english(name, table) if link(name, table) is None else None
    return english.text if english is not None and english.language else name


def _sampled(
    item: CaseResult, names: Sequence[str], test: Link | None, table: Catalogue, gases: Mapping[str, str]
) -> str:
    """The specimen of a result: as its name or the record's own field says, else as its item number or test implies."""
    if item.kind not in ("lab", "microbiology"):
        return ""
    if item.kind == "microbiology" and item.detail and (field := axes.specimen(item.detail)):
        return field
    stated = next((said for text in names if (said := axes.specimen(text))), "")
    if item.kind == "lab" and stated in ("", axes.BLOOD) and item.code and test is not None:
        stated = axes.specimen_of(item.code, test.test, table) or stated
    specimen = stated or (test.specimen if test is not None else axes.BLOOD if item.kind == "lab" else "")
    of_gas = "gas" in tokens(item.name) or (test is not None and test.test in GASES)
    gas = gases.get(item.time, "") if specimen == axes.BLOOD and of_gas else ""
    return gas or specimen


def _link(text: str, item: CaseResult, table: Catalogue) -> Link | None:
    """The test that a recorded name means; a comma introduces a qualifier ('Blood Culture, Routine').

    A last word that says only that it is a test may be left out ('Syphilis antibody screen'). A culture may be called
    by its specimen alone ('TISSUE'), a part of the examination by its adjective ('Obstetric').
    """
    linked = link(text, table)
    if linked is None and item.kind == "microbiology" and axes.only_specimen(text):
        linked = link(f"{text} culture", table)
    if linked is None and item.kind == "examination":
        linked = link(f"{text} examination", table)
    head, _, last = text.rpartition(" ")
    if linked is None and head and item.kind not in ("examination", "imaging") and _IDLE & set(tokens(last)):
        linked = link(head, table)
    if linked is None and "," in text and item.kind in ("lab", "microbiology"):
        head, _, tail = text.partition(",")
        other = axes.specimen(tail) or (item.kind == "microbiology" and axes.methods(tail))
        linked = None if other else link(head, table)
    return linked


def _specimen(above: Sequence[str], own: str) -> str:
    """The specimen that a heading gives a plain name below it ('Urinalysis - WBC'); '' if the name has its own."""
    if axes.specimen(own) not in ("", axes.BLOOD):
        return ""
    for part in above:
        head = axes.specimen(part) or _HEADED.get(key(part).partition(" ")[0], "")
        if head not in ("", axes.BLOOD):
            return head
    return ""


_OF_BLOOD = list_words("serum plasma")
"""Words of a name that beat the specimen of its heading."""
_IDLE = list_words("screen assay test titer titers level antibody antibodies status")
"""Last words of a name that say only that it is a test."""
_HEADED = {"urinalys": "urine", "lumbar": "CSF"}


def _reading(item: CaseResult, name: str, table: Catalogue) -> imaging.Reading:
    """Modality and regions of a study: from its name and detail, else from its text."""
    if item.kind not in ("imaging", "investigation"):
        return imaging.Reading((), frozenset())
    named = imaging.read_study(GUIDED.sub("", f"{name} {item.detail}"), table)
    if named.modalities and named.regions:
        return named
    mentioned = imaging.read_study(GUIDED.sub("", item.text[:2000]), table)
    where, side = mentioned.regions - _TISSUES, named.side or mentioned.side
    if named.modalities:
        return imaging.Reading(named.modalities, where, side, named.rest)
    if scope(name) in ("imaging", "any") or item.kind == "imaging":
        return imaging.Reading(mentioned.modalities, named.regions or where, side, named.rest)
    return imaging.Reading((), named.regions, named.side, named.rest)


GUIDED = re.compile(r"(?i)\b[\w/]+[- ]guided\b")
"""The study that guides a procedure and is no result itself ('CT-guided biopsy')."""
_TISSUES = frozenset(("Skeleton", "Leg arteries", "Leg veins", "Whole body"))
"""Regions whose words ('bone', 'arterial') a report uses of any part of the body."""
