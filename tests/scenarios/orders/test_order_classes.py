"""Classes of faults that blind orders showed, each by phrases of other words and other tests (`order_classes.tsv`)."""

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.blind_orders import BlindOrder, Wanted, compared, studies
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.name_lookup import link
from wardround.scenarios.orders.order_reading import read_order

PATH = Path(__file__).resolve().parents[2] / "data/order_classes.tsv"
CLASSES = (
    "value",
    "ending",
    "correction",
    "specimen",
    "plain",
    "list",
    "ward",
    "panel",
    "taken",
    "short",
    "head",
    "clause",
    "site",
)


def _rows(name: str) -> Sequence[dict[str, str]]:
    with PATH.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if row["class"] == name]


def _wanted(orders: str) -> tuple[Wanted, ...]:
    """The tests that a phrase orders, as `name@specimen`; a name of a blood test means blood."""
    wanted = []
    for order in filter(None, orders.split("; ")):
        name, _, taken = order.partition("@")
        linked = link(name, catalogue())
        assert linked is not None, name
        own = axes.only_specimen(taken) or axes.specimen(taken) or taken or linked.specimen
        wanted += [Wanted(study, linked.kind, own or "any", False) for study in studies(linked.test, linked.kind)]
    return tuple(dict.fromkeys(wanted))


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_of_faults_is_mended(name: str) -> None:
    rows = _rows(name)
    assert len(rows) > 12
    wrong = []
    for row in rows:
        order = BlindOrder(row["language"], "", row["text"], _wanted(row["orders"] or ""), frozenset())
        _, extra, missed = compared(order, read_order(row["text"]))
        wrong += [row["text"]] if extra or missed else []
    assert len(wrong) <= len(rows) // 10, wrong
