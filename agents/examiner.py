"""An examiner without a model: looks up results in the record, and cites the field behind each answer."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from wardround.engine.records import Action, Json, View
from wardround.scenarios.orders.chart import Chart, chart_of, read_chart
from wardround.scenarios.orders.examiner_lookup import answer, ordered


class Examiner:
    """Answers each order from the record, in four states: reported, normal, not performed, unknown.

    `scenarios/orders/examiner_lookup.py` decides which. It reads `view.known`: the record, the policy and the order.
    The scenario decides how much the doctor hears.
    """

    sealed: ClassVar[bool] = True
    VERSION: ClassVar[int] = 5

    def __init__(self) -> None:
        self._record: Json = ()
        self._chart = read_chart(())

    async def act(self, view: View) -> Action:
        """Look the order up."""
        known = known_order(view)
        answers = answer(
            self._read(known),
            ordered(known["order"]),
            str(known["order"].get("kind", "any")),
            str(known.get("policy", "strict")),
            reported=reported_refs(view),
        )
        return Action(
            "answer", join_reports(line.text for line in answers), {"answers": [line.row() for line in answers]}
        )

    def _read(self, known: Mapping[str, Json]) -> Chart:
        """The chart of the record; an episode hands over the same record each time, so it is read once."""
        record = known.get("record", ())
        if record is not self._record:
            self._record, self._chart = record, chart_of(known)
        return self._chart


def reported_refs(view: View) -> frozenset[str]:
    """References of the results that this seat has reported; a repeated test then gets the next result."""
    return frozenset(str(ref) for row in earlier_answers(view) for ref in row.get("refs") or ())


def earlier_answers(view: View) -> list[Mapping[str, Json]]:
    """The answers that this seat gave before."""
    rows = [row for said in view.heard if said.seat == view.seat for row in said.args.get("answers") or ()]
    return [row for row in rows if isinstance(row, Mapping)]


def known_order(view: View) -> Mapping[str, Json]:
    """The record, the policy and the order; raises ValueError without an order."""
    known = view.known
    if not isinstance(known, Mapping) or not isinstance(known.get("order"), Mapping):
        raise ValueError("the examiner was asked without an order: view.known must hold record, policy and order")
    return known


def join_reports(texts: Iterable[str]) -> str:
    """The texts of an answer, one line for each result, without duplicate lines."""
    return "\n".join(dict.fromkeys(texts)) or "No test was named; please say which results you want."
