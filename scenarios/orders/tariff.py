"""Prices of tests in US dollars: a table by concept, a user's own above it, and what one order costs.

The table was written for this project: round typical figures at the level of public fee schedules, each with its class
of source (laboratory, imaging, procedure). Codes are LOINC where one is named; there are none of CPT.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import fsum, isfinite
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from wardround.engine.errors import UsageError
from wardround.engine.text import file_text
from wardround.scenarios.orders.catalogue import Catalogue, scope
from wardround.scenarios.orders.examiner_lookup import ROUTINE
from wardround.scenarios.orders.imaging import read_study
from wardround.scenarios.orders.name_lookup import Link, link
from wardround.scenarios.orders.order_parser import understand
from wardround.scenarios.terms.wording import cells, key, table_rows

Charge = Literal["test", "visit", "unpriced", "nothing"]


_BY_HAND = frozenset(("history", "palpation", "inspection", "auscultation", "percussion", "observation"))
"""What a visit is made of, named alone."""


class BillLine(msgspec.Struct, frozen=True):
    """One request of an order: what it is charged as, and its price in dollars; None where no price is known.

    `nothing`: the examiner asks back ('imaging'), so nothing is done. `panel` is the panel whose price covers the test.
    """

    asked: str
    test: str
    charge: Charge
    usd: float | None
    panel: str = ""


class Reported(msgspec.Struct, frozen=True):
    """A result of the record with which an order is answered: the request's words, the record's reference and name."""

    asked: str
    ref: str
    name: str
    examined: bool = False


@cache
def standard_prices() -> Mapping[str, float]:
    """The price of each test and each imaging modality of the table, by its name."""
    return {row["test"]: float(row["usd"]) for row in table_rows("prices.csv")}


def dearest(own: Mapping[str, float]) -> float:
    """The highest price of a test in the table and in a user's prices: the most that a test without a price counts."""
    return max((*standard_prices().values(), *own.values()))


@cache
def _classes() -> tuple[tuple[tuple[str, ...], float], ...]:
    """(words, price) of each class of tests whose name tells it, in the order of the table: a gene, a biopsy, a PCR."""
    return tuple((tuple(map(key, cells(row["words"]))), float(row["usd"])) for row in table_rows("price_classes.csv"))


def read_test_prices(path: Path) -> dict[str, float]:
    """A user's CSV `test,usd`, by name as written; raises UsageError with the line."""
    text = file_text(path, "prices of tests")
    prices: dict[str, float] = {}
    for line, row in enumerate(csv.reader(io.StringIO(text)), 1):
        if not row or (line == 1 and [cell.strip().lower() for cell in row[:2]] == ["test", "usd"]):
            continue
        name, usd = row[0].strip(), _number(row[1]) if len(row) > 1 else None
        if not name or usd is None:
            raise UsageError(f"prices of tests {path}, line {line}: write test,usd with a price from 0, not {row}")
        if name in prices:
            raise UsageError(f"prices of tests {path}, line {line}: {name!r} is there twice")
        prices[name] = usd
    if not prices:
        raise UsageError(f"prices of tests {path}: there is no price")
    return prices


def _number(cell: str) -> float | None:
    try:
        usd = float(cell.strip().removeprefix("$").replace(",", ""))
    except ValueError:
        return None
    return usd if isfinite(usd) and usd >= 0 else None


class Tariff:
    """The table with a user's prices above it: by the user's own words, then by the test that they mean."""

    def __init__(self, own: Mapping[str, float], table: Catalogue) -> None:
        self._catalogue = table
        self._words = {key(name): usd for name, usd in own.items()}
        linked = {name: link(name, table) for name in own}
        theirs = {test.test: own[name] for name, test in linked.items() if test}
        exact = {name: usd for name, usd in own.items() if name in standard_prices()}
        self._tests = {**standard_prices(), **theirs, **exact}

    def price(self, asked: str, linked: Link | None) -> float | None:
        """The price of a test: by words, concept, the tests it joins, modality or class of test; None if unknown."""
        if (usd := self._words.get(key(asked))) is not None:
            return usd
        if linked is not None and (usd := self._tests.get(linked.test)) is not None:
            return usd
        understood = understand([asked], self._catalogue)
        parts = [self._tests.get(order.link.test) for order in understood.orders] if linked is None else []
        if len(parts) > 1 and not understood.unknown and None not in parts:
            return fsum(part for part in parts if part is not None)
        modalities = read_study(asked, self._catalogue).modalities
        if len(modalities) == 1:
            return self._tests.get(modalities[0])
        form = f" {key(asked)} "
        return next((usd for words, usd in _classes() if linked is None and any(f" {w} " in form for w in words)), None)

    def bill(self, asked: str | Sequence[str], kind: str, recorded: frozenset[str] = frozenset()) -> list[BillLine]:
        """What an order costs, request by request; `recorded` are names of the record, which are never split.

        Examinations belong to a visit. Tests of one order that belong to one panel cost no more than the panel.
        """
        if not asked:
            return [BillLine("physical examination", "Physical examination", "visit", None)]
        lines: list[BillLine] = []
        for phrase in self._phrases(asked, recorded):
            lines += self._lines(phrase, kind, recorded)
        return self._as_panels(lines)

    def with_reported(
        self, lines: Sequence[BillLine], reported: Sequence[Reported], recorded: frozenset[str]
    ) -> list[BillLine]:
        """The lines of an order at no less than the price of the results with which it is answered.

        A request of another name ('CT abdomen' for a recorded 'CT of abdomen and pelvis'), or of unknown price, costs
        what its results cost by their names. A result that answers several requests of an order is paid for once.
        """
        billed: list[BillLine] = []
        paid: set[str] = set()
        for asked in dict.fromkeys([*(line.asked for line in lines), *(one.asked for one in reported)]):
            own = [line for line in lines if line.asked == asked] or [BillLine(asked, "", "nothing", None)]
            mine = [one for one in reported if key(one.asked) == key(asked)]
            tests = {one.ref: one.name for one in mine if not one.examined}
            new = [name for ref, name in tests.items() if ref not in paid]
            paid.update(tests)
            price = self._usd(self.bill(list(dict.fromkeys(new)), "any", recorded)) if new else 0.0
            known = fsum(line.usd or 0.0 for line in own)
            if mine and not tests and all(line.charge == "unpriced" for line in own):
                billed.append(BillLine(asked, own[0].test, "visit", None))
            elif price is not None and new and (price > known or any(line.usd is None for line in own)):
                billed.append(BillLine(asked, own[0].test, "test", max(price, known)))
            elif tests and not new and known <= self._least(tests.values(), recorded):
                billed.append(BillLine(asked, own[0].test, "test", 0.0))
            else:
                billed += own
        return billed

    def _usd(self, lines: Sequence[BillLine]) -> float | None:
        """What lines cost together; None if one of them has no known price."""
        prices = [line.usd for line in lines]
        return None if None in prices else fsum(usd for usd in prices if usd is not None)

    def _least(self, names: Iterable[str], recorded: frozenset[str]) -> float:
        return min((self._usd(self.bill([name], "any", recorded)) or 0.0 for name in names), default=0.0)

    def _phrases(self, asked: str | Sequence[str], recorded: frozenset[str]) -> list[str]:
        named = [item for item in asked if item in recorded] if not isinstance(asked, str) else []
        rest = asked if isinstance(asked, str) else [item for item in asked if item not in recorded]
        own = frozenset(key(name) for name in recorded)
        return list(dict.fromkeys([*named, *(understand(rest, self._catalogue, own).phrases if rest else ())]))

    def _lines(self, phrase: str, kind: str, recorded: frozenset[str]) -> list[BillLine]:
        linked = link(phrase, self._catalogue)
        only = understand([phrase], self._catalogue).orders if linked is None else ()
        if len(only) == 1:
            linked = only[0].link
        if (linked is not None and linked.kind == "examination") or key(phrase) in _BY_HAND:
            test = linked.test if linked else "Physical examination"
            return [BillLine(phrase, test, "visit", None)]
        usd = self._with_recorded(phrase, self.price(phrase, linked), recorded)
        broad = scope(phrase) if linked is None and phrase not in recorded else None
        if usd is None and broad:
            wanted = kind if broad == "any" else broad
            if wanted == "examination":
                return [BillLine(phrase, "Physical examination", "visit", None)]
            if wanted == "lab":
                return [replace(line, asked=phrase) for name in ROUTINE for line in self._lines(name, kind, recorded)]
            return [BillLine(phrase, "", "nothing", None)]
        if usd is None and linked is None and key(phrase) in self._catalogue.ambiguous:
            return [BillLine(phrase, "", "nothing", None)]
        return [BillLine(phrase, linked.test if linked else "", "test" if usd is not None else "unpriced", usd)]

    def _with_recorded(self, phrase: str, usd: float | None, recorded: frozenset[str]) -> float | None:
        """The price of a phrase, which is no less than that of a name of the record within it."""
        form = f" {key(phrase)} "
        within = [name for name in recorded if f" {key(name)} " in form and key(name) != key(phrase)]
        prices = [own for name in sorted(within) if (own := self.price(name, link(name, self._catalogue))) is not None]
        return max([*prices, *([] if usd is None else [usd])], default=None)

    def _as_panels(self, lines: list[BillLine]) -> list[BillLine]:
        """The lines with the tests of a panel at the panel's price, where that is less; the greatest saving first."""
        while True:
            savings = [
                (saved, panel, inside)
                for panel, members in self._catalogue.below.items()
                if (usd := self._tests.get(panel)) is not None
                for inside in [[n for n, line in enumerate(lines) if not line.panel and line.test in members]]
                if len(inside) > 1 and (saved := fsum(lines[n].usd or 0.0 for n in inside) - usd) > 0
            ]
            if not savings:
                return lines
            _, panel, inside = max(savings, key=lambda saving: (saving[0], saving[1]))
            for number, place in enumerate(inside):
                lines[place] = replace(lines[place], usd=0.0 if number else self._tests[panel], panel=panel)
