"""Measures how well orders are understood, by component and specimen, on phrases in five languages.

`python -m benchmarks.order_phrases` prints the table. `tests/data/order_phrases.tsv` was written before the rules were
tuned. The half `tune`, drawn by seed, was read while they were tuned; of the half `check` only the counts were seen.
`--show` prints the errors of `tune`.
"""

import csv
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.phrases import Tally
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.name_lookup import Link, link
from wardround.scenarios.orders.order_parser import understand

PATH = Path(__file__).resolve().parents[1] / "tests/data/order_phrases.tsv"


@dataclass(frozen=True)
class LabelledOrder:
    """A phrase with its orders as (component, specimen); those of `free` may be understood or not."""

    language: str
    text: str
    half: str
    orders: frozenset[tuple[str, str]]
    free: frozenset[tuple[str, str]]


def labelled() -> Sequence[LabelledOrder]:
    """Return the labelled phrases in the order of the file."""
    with PATH.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [_order(row) for row in rows]


def _order(row: dict[str, str]) -> LabelledOrder:
    names = [name for name in row["orders"].split(";") if name != "-"]
    free = [name.rstrip("?") for name in names if name.endswith("?")]
    sure = [name for name in names if not name.endswith("?")]
    return LabelledOrder(row["language"], row["text"], row["half"], _all(sure), _all(free))


def _all(names: Iterable[str]) -> frozenset[tuple[str, str]]:
    return frozenset(one for name in names for one in _label(name))


def _label(name: str) -> set[tuple[str, str]]:
    table = catalogue()
    wanted, _, specimen = name.partition("@")
    modality, _, regions = wanted.partition(": ")
    if regions and modality in table.modalities:
        return {(f"{modality}: {region}", "") for region in regions.split("+")}
    linked = link(wanted, table)
    assert linked is not None, name
    return {(one, specimen or place) for one, place in meant(linked)}


def meant(linked: Link) -> set[tuple[str, str]]:
    """Return a link as (component, specimen).

    A study counts as its modality with each region, and serum, plasma and the like count as blood.
    """
    read = linked.reading
    table = catalogue()
    if (
        read is not None
        and len(read.modalities) == 1
        and read.regions
        and table.modalities[read.modalities[0]].by_region
    ):
        return {(f"{read.modalities[0]}: {region}", "") for region in read.regions}
    specimen = linked.specimen
    if linked.kind == "microbiology" and linked.test in table.tests:
        specimen = axes.own_specimen(table.tests[linked.test]) or _fluid(linked.specimen)
    specimen = "blood" if axes.same_specimen("blood", specimen) and specimen else specimen
    return {(axes.component(linked.test, table), specimen)}


def _fluid(specimen: str) -> str:
    """Return the specimen if it is a fluid: in the labels only fluids, and no swab's site, tell cultures apart."""
    return specimen if specimen in ("CSF", "pleural fluid", "ascitic fluid", "bile") else ""


def understood(text: str) -> set[tuple[str, str]]:
    """Return the orders that the rules understand in a text."""
    return {one for order in understand(text, catalogue()).orders for one in meant(order.link)}


def compared(row: LabelledOrder) -> tuple[int, set[tuple[str, str]], set[tuple[str, str]]]:
    """Return (right, extra, missed) for a phrase; a label without a specimen fits any specimen."""
    got = understood(row.text) - row.free
    open_labels = {name for name, specimen in row.orders if not specimen}
    answered = {(name, "" if name in open_labels else specimen) for name, specimen in got}
    return len(answered & row.orders), answered - row.orders, set(row.orders) - answered


def tally(rows: Iterable[LabelledOrder]) -> Tally:
    """Count the orders that are right, made up and missed."""
    total = Tally()
    for row in rows:
        right, extra, missed = compared(row)
        total.right += right
        total.extra += len(extra)
        total.missed += len(missed)
    return total


def main() -> None:
    """Print the table, and with `--show` the errors of the half `tune`."""
    rows = labelled()
    if "--show" in sys.argv:
        for row in rows:
            _, extra, missed = compared(row)
            if row.half == "tune" and (extra or missed):
                print(f"{row.language} | {row.text} | extra {sorted(extra)} | missed {sorted(missed)}")
    print("half   language     n  precision  recall     F1")
    for half in ("tune", "check"):
        for language in ("en", "de", "fr", "es", "zh", "de fr es zh"):
            chosen = [row for row in rows if row.half == half and row.language in language.split()]
            one = tally(chosen)
            print(f"{half:<6} {language:<12} {len(chosen):<4} {one.precision:.3f}    {one.recall:.3f}   {one.f1:.3f}")


if __name__ == "__main__":
    main()
