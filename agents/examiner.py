"""An examiner without a model: looks up results in the record, and cites the field behind each answer."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from wardround.engine.records import Action, Json, View
from wardround.scenarios.orders.chart import Chart, chart_of, read_chart
from wardround.scenarios.orders.examiner_lookup import Answer, answer, ordered


class Examiner:
    """Answers each order in four states: reported, normal, not performed, unknown
    (scenarios/orders/examiner_lookup.py).

    It reads `view.known`: the record, the policy and the order. The scenario decides how much the doctor hears.
    """

    sealed: ClassVar[bool] = True
    VERSION: ClassVar[int] = 3

    def __init__(self) -> None:
        self._record: Json = ()
        self._chart = read_chart(())

    async def act(self, view: View) -> Action:
        """Look the order up."""
        known = view.known
        if not isinstance(known, Mapping) or not isinstance(known.get("order"), Mapping):
            raise ValueError("the examiner was asked without an order: view.known must hold record, policy and order")
        answers = answer(
            self._read(known),
            ordered(known["order"]),
            str(known["order"].get("kind", "any")),
            str(known.get("policy", "strict")),
            reported=reported_refs(view),
        )
        return report_action(answers)

    def _read(self, known: Mapping[str, Json]) -> Chart:
        """The chart of the record; an episode hands over the same record each time, so it is read once."""
        record = known.get("record", ())
        if record is not self._record:
            self._record, self._chart = record, chart_of(known)
        return self._chart


def reported_refs(view: View) -> frozenset[str]:
    """References of the results that this seat has reported; a repeated test then gets the next result."""
    answers = [row for said in view.heard if said.seat == view.seat for row in said.args.get("answers") or ()]
    return frozenset(str(ref) for row in answers if isinstance(row, dict) for ref in row.get("refs") or ())


def report_action(answers: Sequence[Answer]) -> Action:
    """The action that reports the answers, one line for each result, without duplicate lines."""
    lines = list(dict.fromkeys(line.text for line in answers)) or [
        "No test was named; please say which results you want."
    ]
    return Action("answer", "\n".join(lines), {"answers": [line.row() for line in answers]})
