"""Searches a chart for the items that answer one request."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from wardround.engine.text import regex
from wardround.scenarios.case import CaseResult, Kind
from wardround.scenarios.orders import axes, imaging, passages
from wardround.scenarios.orders.catalogue import Catalogue, Scope, scope
from wardround.scenarios.orders.chart import GASES, GUIDED, Chart, Entry, Hit
from wardround.scenarios.orders.name_lookup import Link, content
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
    if hits and linked is not None and linked.test in _GAS_PANELS:
        hits = _of_gas(hits)
    elif hits and not (linked and linked.specimen.startswith(("arterial", "venous"))):
        hits = _of_laboratory(hits)
    if hits:
        return [hits[place] for place in sorted(hits)]
    rules = (_above, _examined, _fuzzy, _studies, _sampled, _worded, _mentioned, _beside)
    by_rule = ([hit for hit in rule(asked, linked, chart, table) if fits(hit)] for rule in rules)
    return next(filter(None, by_rule), [])


def _of_site(asked: str, linked: Link | None, entry: Entry, chart: Chart) -> bool:
    """Whether a result is of the ordered site: the side of an examination, the organ of a biopsy.

    A biopsy whose report names no site counts for the sites that the case's text names.
    """
    if linked is None:
        return True
    if linked.kind == "examination":
        ours, theirs = (imaging.read_study(text, chart.table).side for text in (asked, entry.item.name))
        return not ours or not theirs or ours == theirs
    if linked.reading is not None and not entry.reading.side and not _of_side(linked.reading, chart.subject.regions):
        return False
    if not passages.is_biopsy_of_site(linked.test) or entry.item.kind != "investigation":
        return True
    named = passages.biopsies_of_sites(entry.item.name) or passages.biopsies_of_sites(entry.item.text)
    if named:
        return linked.test in named
    known, study = chart.subject.regions, imaging.read_study(asked, chart.table)
    if not known or linked.test in known:
        return True
    return bool(study.regions) and _concerns(study, chart)


def _concerns(study: imaging.Reading, chart: Chart) -> bool:
    """Whether a region is among those that the case's text speaks of, on that side; true where either is unknown."""
    known = chart.subject.regions
    return (
        not study.regions
        or not known
        or (imaging.overlap(study.regions, known, chart.table) and _of_side(study, known))
    )


def _of_side(study: imaging.Reading, known: Collection[str]) -> bool:
    """Whether the case's text names a region of the study on its side, or at least not on the other side only."""
    other = {"left": "right", "right": "left"}.get(study.side, "")
    return not other or any(
        f"{study.side} {region}" in known or f"{other} {region}" not in known for region in study.regions
    )


_GAS_PANELS = ("Arterial blood gas", "Venous blood gas")


def _of_gas(hits: Mapping[int, Hit]) -> dict[int, Hit]:
    """The results of the samples in which a gas or the pH was measured; none if it was measured in none."""
    gas = [
        hit.entry for hit in hits.values() if hit.entry.test is None or hit.entry.test.test in (*GASES, *_GAS_PANELS)
    ]
    times = {entry.item.time for entry in gas}
    return {place: hit for place, hit in hits.items() if gas and hit.entry.item.time in times}


def _of_laboratory(hits: Mapping[int, Hit]) -> dict[int, Hit]:
    """The hits without those of a blood gas whose test the laboratory has measured too, at whatever time.

    The potassium of whole blood differs from that of serum, and a calculated hematocrit from that of a blood count.
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
    if wanted in _NEVER_SWABBED and tokens(entry.item.detail) == ("swab",):
        return False
    if not wanted and entry.test is not None and entry.test.test in table.tests and linked.test in table.below:
        wanted = axes.own_specimen(table.tests[entry.test.test])
    within = entry.test is not None and linked.test in table.below.get(entry.test.test, ())
    method = () if within else linked.method  # a panel recorded as a whole tells not how
    return axes.same_specimen(wanted, entry.specimen) and axes.same_method(method, entry.method)


_NEVER_SWABBED = (
    "blood",
    "urine",
    "CSF",
    "sputum",
    "tissue",
    "bronchial lavage",
    "body fluid",
    "pleural fluid",
    "stool",
)
"""Specimens that no swab gives."""


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
        if not _tells_of_others(linked, entry, table) and not _is_number(entry.item):
            yield Hit(entry, "panel", linked.score)


def _is_number(item: CaseResult) -> bool:
    """Whether a result is one number, which can be of one test only."""
    value = item.text.removeprefix(f"{item.name}: ")
    return item.kind == "lab" and value[:1] in "0123456789<>-."


def _tells_of_others(linked: Link, entry: Entry, table: Catalogue) -> bool:
    """Whether what is recorded of a panel names some of its tests, but not the ordered one ('SGPT 145', not SGOT)."""
    if entry.test is None or entry.item.kind == "microbiology":
        return False
    panel = entry.test.test
    if entry.item.kind == "examination":
        return not passages.about_parts(entry.item.text, linked.test, table.below.get(panel, ()), table)
    return _names_others(entry.item.text.partition(": ")[2], linked, panel, table)


def _names_others(text: str, linked: Link, panel: str, table: Catalogue) -> bool:
    """Whether a text on a panel of the blood names some of its tests, but neither the ordered one nor 'the rest'."""
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
"""Says something of the tests of a panel that the text does not name."""


def _examined(asked: str, linked: Link | None, chart: Chart, table: Catalogue) -> Iterator[Hit]:
    """What a wider part of the examination says of the ordered part; for a joint, all findings of the limbs."""
    if linked is None or linked.kind != "examination":
        return
    parts = {linked.test, *table.below.get(linked.test, ())}
    for entry in chart.entries:
        if entry.item.kind != "examination":
            continue
        own = entry.test.test if entry.test is not None else ""
        wide = own in _WIDE or (own == "Vital signs" and linked.test == "Weight and height")
        clauses = passages.parts_examined(entry.item.text, parts, table, wide=wide)
        if clauses:
            yield Hit(entry, "words", 0.5, "" if own in _OF_LIMBS else " ".join(clauses).rstrip(" ;"))


_OF_LIMBS = ("Musculoskeletal examination", "Extremity examination")
_WIDE = ("", "Physical examination", "General examination", *_OF_LIMBS)
"""Parts of the examination whose text may tell of any other; elsewhere only a label does."""


def _sampled(asked: str, linked: Link | None, chart: Chart, table: Catalogue) -> Iterator[Hit]:
    """The samples of tissue that are recorded under a general name, for an order of one site; `_of_site` decides."""
    if linked is not None and passages.is_biopsy_of_site(linked.test):
        found = (entry for entry in chart.entries if entry.item.kind == "investigation")
        yield from (Hit(entry, "words", 0.5) for entry in found if passages.reports_tissue(entry.item.name))


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
        placed = entry.reading.regions or not entry.reading.modalities
        if not placed and not _concerns(study, chart):
            continue  # a radiograph without a region counts for the regions of the case's text
        if entry.item.kind == "investigation" and len(entry.reading.modalities) > 1:
            yield from _listed(study, entry, chart)
            continue
        named = entry.test.reading if entry.test is not None and entry.test.rule != "region" else None
        if named is not None and named.regions and not imaging.fulfils(study, named, table):
            continue  # an MR enterography is filed under the abdomen and still no MRCP
        if imaging.fulfils(study, entry.reading, table):
            yield Hit(entry, rule, 1.0)


def _listed(study: imaging.Reading, entry: Entry, chart: Chart) -> Iterator[Hit]:
    """Of a report that lists several studies the items that answer, each by its own modality and region."""
    items = []
    for item in passages.listed_items(entry.item.text.removeprefix(f"{entry.item.name}: ")):
        done = imaging.read_study(GUIDED.sub("", item), chart.table)
        one_of = (imaging.Reading((modality,), done.regions, done.side) for modality in done.modalities)
        if any(imaging.fulfils(study, one, chart.table) for one in one_of):
            items.append(item)
    if items:
        yield Hit(entry, "region", 1.0, passages.passage_of(entry.item, items, measured=False))


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
    """Free-text results that mention the requested test or a member of the panel, each with the part that does so."""
    if not chart.texts:
        return
    tests = (linked.test, *table.below.get(linked.test, ())) if linked is not None else ()
    forms = {key(asked), *passages.names_in_reports(tests, table)}
    names = [form for form in forms if len(form) > 2 and f" {form} " in chart.all_texts]
    for entry, text in chart.texts:
        if linked is None:
            if any(f" {name} " in text for name in names):
                yield Hit(entry, "mention", 1.0)
            continue
        reports = passages.reported_in(entry.item, linked, names, table)
        sentences = [one for one, panel in reports if not _names_others(one, linked, panel, table)]
        sentences += _naming_study(linked, entry, table)
        if sentences:
            titled = any(f" {name} " in f" {key(entry.item.name)} " for name in names)
            part = passages.passage_of(entry.item, sentences, measured=linked.kind == "lab")
            yield Hit(entry, "mention", 1.0, "" if titled else part)


def _beside(asked: str, linked: Link | None, chart: Chart, table: Catalogue) -> Iterator[Hit]:
    """What a finding of the examination says of a study or procedure ('no injury at bronchoscopy')."""
    if linked is None or linked.kind not in ("imaging", "investigation"):
        return
    names = [form for form in (key(asked), *table.forms.get(linked.test, ())) if len(form) >= _SHORTEST_NAME]
    short = passages.short_names(linked.test, table)
    for entry in chart.entries:
        parts = passages.clauses_of(entry.item.text) if entry.item.kind == "examination" else ()
        naming = [
            part for part in parts if short.search(part) or any(f" {name} " in f" {key(part)} " for name in names)
        ]
        if naming:
            yield Hit(entry, "mention", 1.0, " ".join(naming).rstrip(" ;"))


_SHORTEST_NAME = 5
"""Least characters of a name in small letters that a finding may mention."""


def _naming_study(linked: Link, entry: Entry, table: Catalogue) -> list[str]:
    """The sentences of a report that name a study of the ordered modality and region."""
    wanted = linked.reading
    if wanted is None or not wanted.regions:
        return []
    studies = ((one, imaging.read_study(GUIDED.sub("", one), table)) for one in passages.clauses_of(entry.item.text))
    return [one for one, study in studies if study.regions and imaging.fulfils(wanted, study, table)]


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
