"""What a doctor's free text orders: a pure function from text to orders, and to what is no order or not clear."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from wardround.scenarios.terms import imaging
from wardround.scenarios.terms.catalogue import Catalogue
from wardround.scenarios.terms.headings import scope
from wardround.scenarios.terms.linking import Link, link
from wardround.scenarios.terms.pieces import Known, Studies
from wardround.scenarios.terms.requests import Part, joined, parts
from wardround.scenarios.terms.wording import key, tokens, words_of

Repeat = Literal["", "next", "series"]
_SERIES = re.compile(
    r"(?i)\b(?:serial(?:ly)?|trend(?:s|ed|ing)?|series of|over time|time course|q\s?\d+\s?h|every \d+)\b"
)
_NEXT = re.compile(r"(?i)\b(?:repeat(?:ed)?|re-?check|follow-?up|another|again)\b")
_EMPTY = words_of(
    """please we i you a an the of it he she they order get obtain do then also and or but so this that these those
    is are be will would like need for to at with on in now patient nothing none further additional more else thanks
    thank x test lab rationale"""
)
# A specimen said once holds for the bare names behind it, if its own test of that name is in the table.
_CARRIED = (
    ("csf", "CSF "),
    ("synovial fluid", "Synovial fluid "),
    ("pleural fluid", "Pleural fluid "),
    ("ascitic fluid", "Ascitic fluid "),
    ("urine", "Urine "),
    ("sputum", "Sputum "),
    ("stool", "Stool "),
)


@dataclass(frozen=True, slots=True)
class Order:
    """One test ordered. `asked` are the words for it, `link` says the test, the rule that found it and its score.

    `members` are the tests of a panel. `repeat`: next asks for the result after the first, series for all of them.
    """

    asked: str
    link: Link
    members: tuple[str, ...] = ()
    repeat: Repeat = ""


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """Words that may mean several tests: `candidates`, or where there are too many to name `why` alone."""

    asked: str
    why: str
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Withheld:
    """Words that order nothing: negated, conditional, or done (told as a result)."""

    asked: str
    why: str


@dataclass(frozen=True, slots=True)
class Understood:
    """The whole of a text, each part in the text's order; `phrases` are those of the first three lists, in order."""

    orders: tuple[Order, ...] = ()
    ambiguous: tuple[Ambiguous, ...] = ()
    unknown: tuple[str, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    phrases: tuple[str, ...] = ()


def understand(text: str | Sequence[str], table: Catalogue, own: frozenset[str] = frozenset()) -> Understood:
    """What `text` orders, by the default rules (docs/matching.md).

    A list is taken item by item, each whole before any splitting. `own` are comparable forms of names that count as
    known beside the table's: those of a record. Pure and cached; at most 200 requests of 20,000 characters are read.
    """
    return _understood(text if isinstance(text, str) else tuple(text), table, own)


@lru_cache(maxsize=16384)
def _understood(text: str | tuple[str, ...], table: Catalogue, own: frozenset[str]) -> Understood:
    def known(phrase: str) -> bool:
        if own and key(phrase) in own:
            return True
        found = link(phrase, table)
        return found is not None and found.rule != "fuzzy"

    def studies(phrase: str) -> Sequence[str]:
        return imaging.apart(phrase, table) or ((phrase,) if link(phrase, table) else ())

    if isinstance(text, str):
        told = parts(text, known, studies)
    else:
        told = tuple(part for item in joined(text, known) for part in _item(item, known, studies))
    return _sorted(list(_carried(told, table, own)), table)


def _item(item: str, known: Known, studies: Studies) -> Iterator[Part]:
    if known(item):
        yield Part(item)
    else:
        yield from parts(item, known, studies) or (Part(item),)


def _carried(told: Iterable[Part], table: Catalogue, own: frozenset[str]) -> Iterator[Part]:
    """'CSF cell count', 'protein' as 'CSF cell count', 'CSF protein', as long as the specimen has such a test."""
    specimen, sentence = "", -1
    for part in told:
        if part.why or key(part.text) in own:
            yield part
            continue
        said = _specimen(part.text, table)
        held = specimen if part.sentence == sentence and not said else ""
        carried = _of(held, part.text, table) if held else None
        if carried:
            yield Part(carried, sentence=part.sentence)
        else:
            specimen = said
            yield part
        sentence = part.sentence


def _specimen(text: str, table: Catalogue) -> str:
    """The specimen of the test that `text` names, '' if it is none of those that carry on."""
    found = link(text, table)
    if found is None:
        return ""
    return next((word for word, label in _CARRIED if label.lower() in f"{found.test} ".lower()), "")


def _of(specimen: str, text: str, table: Catalogue) -> str | None:
    """`text` with its specimen, if that is a test of the specimen by its own name."""
    label = dict(_CARRIED)[specimen]
    whole = text if specimen in key(text) else f"{specimen} {text}"
    found = link(whole, table)
    named = found is not None and found.rule in ("exact", "synonym") and found.test.startswith(label)
    return whole if named else None


def _sorted(told: Sequence[Part], table: Catalogue) -> Understood:
    orders: list[Order] = []
    ambiguous: list[Ambiguous] = []
    unknown: list[str] = []
    withheld: list[Withheld] = []
    for part in told:
        found = None if part.why else link(part.text, table)
        if part.why:
            withheld.append(Withheld(part.text, part.why))
        elif found is not None:
            below = tuple(sorted(table.below.get(found.test, ())))
            orders.append(Order(part.text, found, below, repeated(part.text)))
        elif (unclear := _unclear(part.text, table)) is not None:
            ambiguous.append(unclear)
        elif not set(tokens(part.text)) <= _EMPTY:
            unknown.append(part.text)
    phrases = tuple(
        part.text for part in told if not part.why and (link(part.text, table) or not set(tokens(part.text)) <= _EMPTY)
    )
    return Understood(tuple(orders), tuple(ambiguous), tuple(unknown), tuple(withheld), phrases)


def repeated(asked: str) -> Repeat:
    """Whether the words ask for the next measurement of a test, for all of them, or for neither."""
    if _SERIES.search(asked):
        return "series"
    return "next" if _NEXT.search(asked) else ""


def _unclear(asked: str, table: Catalogue) -> Ambiguous | None:
    """Why a phrase without a test of its own is not simply unknown."""
    several = table.ambiguous.get(key(asked))
    if several:
        return Ambiguous(asked, "it may mean several tests", several)
    broad = scope(asked)
    if broad is not None:
        return Ambiguous(asked, "it covers many tests")
    read = imaging.read(asked, table)
    if read.modalities and not read.regions and not read.rest:
        return Ambiguous(asked, "it names no part of the body")
    return None
