"""Finds the passages of a free text that answer an order: a part of the body, a test by its finding, a site."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from wardround.engine.text import regex
from wardround.scenarios.case import CaseResult
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.catalogue import Catalogue
from wardround.scenarios.orders.name_lookup import Link
from wardround.scenarios.terms.wording import cells, key, table_rows

_ENDS = regex(r"(?<=[.;])\s+|\n+")
_LABEL = regex(r"(?P<label>[A-Z][\w /&'-]{1,40}):\s+\S")
"""The name of a part of the examination before its finding."""
_AWAITED = regex(
    r"(?i)^\W*(?:pending|awaiting|awaited)\b"
    r"|\b(?:results?|studies|tests?|report|cultures?)\W{1,3}(?:(?:is|are|was|were|still|remain\w*|currently)\W+)*"
    r"(?:pending|awaited)\b"
    r"|\b(?:not|never|without being)\s+(?:yet\s+|been\s+)*"
    r"(?:conducted|performed|carried out|obtained|undertaken|completed)\b"
    r"|\b(?:was|were|is|are)\s+(?:planned|scheduled|declined|refused)\b"
)
"""Says that a test has no result."""


@lru_cache(maxsize=4096)
def clauses_of(text: str) -> tuple[str, ...]:
    """The sentences of a text and their parts between semicolons, as they stand there."""
    return tuple(part.strip() for part in _ENDS.split(text) if part.strip())


@lru_cache(maxsize=4096)
def listed_items(text: str) -> tuple[str, ...]:
    """The items of a report between its semicolons, as they stand there."""
    return tuple(part.strip() for part in text.split("; ") if part.strip(" ;"))


@lru_cache(maxsize=4096)
def awaited(text: str) -> bool:
    """Whether every sentence of a report says that there is no result: pending, planned, refused, not done."""
    parts = clauses_of(text.partition(": ")[2] or text)
    return bool(parts) and all(map(_AWAITED.search, parts))


@cache
def _words_of_parts() -> Mapping[str, re.Pattern[str]]:
    """Part of the examination -> the words of a sentence that is about it."""
    rows = table_rows("examined_words.csv")
    return {row["test"]: re.compile(rf"(?i)\b(?:{row['words']})\b") for row in rows}


@cache
def _sites_of_biopsies() -> Mapping[str, re.Pattern[str]]:
    """Biopsy -> the beginnings of the words that name its site."""
    return {row["test"]: re.compile(rf"(?i)\b(?:{row['words']})") for row in table_rows("biopsy_sites.csv")}


def parts_examined(text: str, parts: Collection[str], table: Catalogue, *, wide: bool) -> tuple[str, ...]:
    """The sentences of a finding that are about one of the `parts` of the examination.

    A label that names a part ('Heart: regular') decides for its sentence. Without one a sentence counts by its words if
    the finding is `wide`, of the whole body.

    ::

        parts_examined("Heart: regular. Liver enlarged.", {"Abdominal examination"}, catalogue(), wide=True)
    """
    return tuple(one for one in clauses_of(text) if _is_about(one, parts, table, wide=wide))


def _is_about(sentence: str, parts: Collection[str], table: Catalogue, *, wide: bool) -> bool:
    words = _words_of_parts()
    match = _LABEL.match(sentence)
    label = match["label"] if match else ""
    own = {table.names.get(key(label), "")} if label else set()
    own = {test for test in own if test in table.tests and table.tests[test].kind == "examination"}
    own -= {"General examination", "Physical examination"}  # what is said of the whole may be of any part
    own = own or {part for part in words if label and words[part].search(label)}
    if own:
        return not own.isdisjoint(parts)
    return wide and any(words[part].search(sentence) for part in parts if part in words)


def about_parts(text: str, part: str, members: Collection[str], table: Catalogue) -> bool:
    """Whether what is recorded of a whole examination may tell of its `part`.

    It does if its words name the part. It may as well if labels name fewer than two of the `members` and the part is no
    vital sign.
    """
    words = _words_of_parts().get(part)
    if words is not None and words.search(text):
        return True
    labelled = sum(bool(parts_examined(one, members, table, wide=False)) for one in clauses_of(text))
    return labelled < 2 and part not in table.below.get("Vital signs", ())


@cache
def _findings() -> Mapping[str, Sequence[str]]:
    """Test -> what a report calls its result or its group of tests, in comparable form ('hyponatremia')."""
    return {row["test"]: tuple(map(key, cells(row["words"]))) for row in table_rows("result_words.csv")}


_LOOSE = {"Tumor markers": frozenset(("Lactate dehydrogenase", "Pregnancy test"))}
"""Panel -> its members that a report does not mean by the panel's name."""


def names_in_reports(tests: Iterable[str], table: Catalogue) -> frozenset[str]:
    """The comparable forms of the names of `tests`, and of what a report calls their results.

    ::

        names_in_reports({"Sodium"}, catalogue())  # {"sodium", "natrium", "hyponatremia", ...}
    """
    forms = (form for test in tests for form in (*table.forms.get(test, ()), *_findings().get(test, ())))
    return frozenset(form for form in forms if len(form) > 2)


def panels_in_reports(test: str, table: Catalogue) -> Mapping[str, str]:
    """The comparable names of the panels that have a test, each with its panel ("electrolyte" for sodium)."""
    panels = (name for name, members in table.below.items() if test in members - _LOOSE.get(name, frozenset()))
    return {form: panel for panel in panels for form in table.forms.get(panel, ()) if len(form) > 2}


@lru_cache(maxsize=1024)
def short_names(test: str, table: Catalogue) -> re.Pattern[str]:
    """The abbreviations of a test in capitals ('PT', 'ECG'), which a text names only as they are written."""
    synonyms = table.tests[test].synonyms if test in table.tests else ()
    short = [re.escape(name) for name in synonyms if name.isupper() and name.isalpha() and 1 < len(name) < 5]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(short)})(?![\w-])" if short else r"(?!)")


def reported_in(item: CaseResult, linked: Link, names: Collection[str], table: Catalogue) -> Iterator[tuple[str, str]]:
    """The sentences of a report that hold one of the `names` and speak of the ordered specimen and method.

    Each comes with the panel that it names in place of the test, '' if it names the test. A fluid beside what is
    examined in it ('pleural fluid: no malignant cells') counts as its test. What is still awaited is left out.
    """
    short = short_names(linked.test, table)
    bare = axes.without_specimen(linked.test) if linked.specimen not in ("", axes.BLOOD) else ""
    panels = panels_in_reports(linked.test, table)
    for sentence in clauses_of(item.text):
        stated = axes.specimens(sentence) or axes.specimens(item.name)
        used = axes.methods(sentence)
        other_fluid = linked.specimen and stated and not any(axes.same_specimen(linked.specimen, one) for one in stated)
        if _AWAITED.search(sentence) or other_fluid or not axes.same_method(linked.method, used):
            continue
        flat = f" {key(sentence)} "
        in_fluid = len(bare) > 3 and linked.specimen in stated and f" {bare} " in f" {key(item.name)} {flat}"
        if in_fluid or any(f" {name} " in flat for name in names) or short.search(sentence):
            yield sentence, ""
        else:
            yield from ((sentence, panel) for form, panel in panels.items() if f" {form} " in flat)


def passage_of(item: CaseResult, sentences: Collection[str], *, measured: bool) -> str:
    """The part of a report that holds the `sentences`; '' is the whole report.

    If the test is `measured`, the part is the sentences alone, otherwise the listed items that hold them.
    """
    head = f"{item.name}: "
    body = item.text.removeprefix(head)
    parts = clauses_of(body) if measured else listed_items(body)
    kept = [part for part in parts if any(one.removeprefix(head) in part for one in sentences)]
    joined = (" " if measured else "; ").join(kept).rstrip(" ;")
    return "" if len(kept) == len(parts) else joined


_BIOPSIED = regex(r"(?i)\b(?:biops\w*|patholog\w*|histo\w*|fine[- ]needle|fnac?|cytolog\w*|immunohisto\w*)\b")


def reports_tissue(name: str) -> bool:
    """Whether a report's name says that tissue was examined ('Histopathology')."""
    return _BIOPSIED.search(name) is not None


def biopsies_of_sites(text: str) -> frozenset[str]:
    """The biopsies whose site a text names ('Nail biopsy' of 'a biopsy of the nail bed')."""
    return frozenset(test for test, words in _sites_of_biopsies().items() if words.search(text))


def is_biopsy_of_site(test: str) -> bool:
    """Whether a test is the biopsy of one site."""
    return test in _sites_of_biopsies()
