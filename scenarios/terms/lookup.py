"""Which items of a record a request is answered by, and by which rule."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wardround.scenarios.records import Kind
from wardround.scenarios.terms import imaging
from wardround.scenarios.terms.catalogue import Catalogue
from wardround.scenarios.terms.chart import Entry
from wardround.scenarios.terms.headings import Scope, scope
from wardround.scenarios.terms.linking import Link, closest, content
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
