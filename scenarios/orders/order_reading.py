"""What an order says, piece by piece: the concepts of each piece by its axes, and the words that are context alone."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.catalogue import Catalogue, catalogue
from wardround.scenarios.orders.foreign_orders import LANGUAGES, order_in_english, original
from wardround.scenarios.orders.name_lookup import Link
from wardround.scenarios.orders.order_parser import Ambiguous, Order, Withheld, order_text, understand

Status = Literal["matched", "ambiguous", "unknown", "not_an_order"]
_WORD = regex(r"[\u4e00-\u9fff]|(?:(?![\u4e00-\u9fff])[^\W_])+(?:['’][^\W_]+)?", re.UNICODE)


class OrderConcept(msgspec.Struct, frozen=True):
    """A test by its axes, as LOINC has them; '' where an order leaves an axis open. `item_ids` are MIMIC's.

    `specimen` is the stated one, else the test's own, else the one that it is usually done on.
    """

    name: str
    kind: str
    specimen: str = ""
    method: str = ""
    timing: str = ""
    item_ids: tuple[int, ...] = ()

    def row(self) -> dict[str, Json]:
        """The concept as a JSON object."""
        return {
            "name": self.name,
            "kind": self.kind,
            "specimen": self.specimen,
            "method": self.method,
            "timing": self.timing,
            "item_ids": list(self.item_ids),
        }


class Piece(msgspec.Struct, frozen=True):
    """One piece of an order; `why` says why it is not exactly one test."""

    text: str
    status: Status
    concepts: tuple[OrderConcept, ...] = ()
    why: str = ""

    def row(self) -> dict[str, Json]:
        """The piece as a JSON object."""
        return {
            "text": self.text,
            "status": self.status,
            "concepts": [concept.row() for concept in self.concepts],
            "why": self.why,
        }


class OrderReading(msgspec.Struct, frozen=True):
    """An order in pieces; every word of it is in a piece or in `context`."""

    text: str
    pieces: tuple[Piece, ...]
    context: tuple[str, ...]

    def row(self) -> dict[str, Json]:
        """The reading as a JSON object."""
        return {"text": self.text, "pieces": [piece.row() for piece in self.pieces], "context": list(self.context)}


def read_order(text: str, table: Catalogue | None = None) -> OrderReading:
    """Read an order piece by piece.

    ::

        [piece.status for piece in read_order("urine Na and blorbogram").pieces]  # ['matched', 'unknown']
    """
    known = table or catalogue()
    seen = order_text(text)
    english = order_in_english(seen, known)
    pieces = [_piece(piece, known) for piece in understand(english.text, known).pieces]
    pieces = [replace(piece, text=original(piece.text, english, seen)) for piece in pieces]
    said = [piece for piece in pieces if piece.why != "statement" and not _tells(piece, english.language)]
    pieces = list(_with_biopsies(said or pieces))  # what a doctor tells beside an order is context
    return OrderReading(text, tuple(_in_order(seen, pieces)), _context(text, [piece.text for piece in pieces]))


def _tells(piece: Piece, language: str) -> bool:
    """Whether a piece of another language is a sentence that names no test."""
    return language in LANGUAGES and piece.status == "unknown" and len(piece.text.split()) > 3


_SCOPED = regex(r"(?i)(?:endo|colono|sigmoido|broncho|cysto|laryngo|hystero|colpo|ano|entero|urethro|uretero)scop")


def _with_biopsies(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces, biopsies of no stated site as the method of the endoscopy before them."""
    waiting: Piece | None = None
    for piece in pieces:
        scoped = waiting is not None and any(_SCOPED.search(one.name) for one in waiting.concepts)
        if waiting is not None and scoped and [one.name for one in piece.concepts] == ["Biopsy"]:
            concepts = tuple(replace(one, method="biopsy") for one in waiting.concepts)
            waiting = replace(waiting, text=f"{waiting.text}, {piece.text}", concepts=concepts)
            continue
        if waiting is not None:
            yield waiting
        waiting = piece
    if waiting is not None:
        yield waiting


def _in_order(text: str, pieces: Sequence[Piece]) -> Sequence[Piece]:
    """The pieces in the text's order; the parser gives what is ordered in order, but what orders nothing apart.

    A piece that has no place of its own ('serum osmolality' of 'serum and urine osmolality') follows the one before.
    """
    folded = text.casefold()
    placed, last = [], 0
    for number, piece in enumerate(pieces):
        start = folded.find(piece.text.casefold(), 0 if piece.status == "not_an_order" else last)
        if piece.status != "not_an_order":
            last = max(last, start)
        placed.append((start if piece.status == "not_an_order" else last, number, piece))
    return [piece for _, _, piece in sorted(placed, key=lambda one: one[:2])]


def _piece(piece: Order | Ambiguous | Withheld | str, table: Catalogue) -> Piece:
    if isinstance(piece, Order):
        return Piece(piece.asked, "matched", (concept(piece.link, piece.asked, table),))
    if isinstance(piece, Ambiguous):
        possible = tuple(_named(name, table) for name in piece.candidates if name in table.tests)
        return Piece(piece.asked, "ambiguous", possible, piece.why)
    if isinstance(piece, Withheld):
        return Piece(piece.asked, "not_an_order", (), piece.why)
    return Piece(piece, "unknown", (), "no test of this name is known")


def concept(linked: Link, asked: str, table: Catalogue) -> OrderConcept:
    """The concept that a wording means by its link."""
    return OrderConcept(
        linked.test,
        linked.kind,
        linked.specimen or _usual(linked.test, asked, table),
        ", ".join(linked.method),
        axes.timing(asked),
        axes.item_numbers(linked.test, linked.specimen, table),
    )


def _usual(test: str, asked: str, table: Catalogue) -> str:
    """The specimen that a test is usually done on, '' if there is none; the order's words may choose it."""
    said = asked.casefold()
    for choice in (table.tests[test].usual if test in table.tests else "").split(";"):
        usual, _, words = choice.partition(" if ")
        if any(word in said for word in words.split("|")):
            return usual
    return ""


def _named(name: str, table: Catalogue) -> OrderConcept:
    test = table.tests[name]
    specimen = axes.own_specimen(test)
    return OrderConcept(name, test.kind, specimen, "", "", axes.item_numbers(name, specimen, table))


def _context(text: str, pieces: Sequence[str]) -> tuple[str, ...]:
    """The words of `text` that no piece has, in order; a word counts once for each time that the text has it."""
    left: dict[str, int] = {}
    for piece in pieces:
        for word in _WORD.findall(piece.casefold()):
            left[word] = left.get(word, 0) + 1
    context = []
    for word in _WORD.findall(text):
        form = word.casefold()
        if left.get(form, 0):
            left[form] -= 1
        else:
            context.append(word)
    return tuple(context)
