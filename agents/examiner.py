"""An examiner that looks results up in the record: no model, every answer cites the field it rests on."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from wardround.engine.records import Action, View
from wardround.scenarios.terms.examiner_lookup import Answer, answer, record, wanted


class Examiner:
    """Answers each order in four states: reported, normal, not performed, unknown (scenarios/terms/examiner_lookup.py).

    Reads `view.known`: the record, the policy and the order. What of it the doctor hears is the scenario's matter.
    """

    sealed: ClassVar[bool] = True

    async def act(self, view: View) -> Action:
        """Look the order up."""
        known = view.known
        if not isinstance(known, Mapping) or not isinstance(known.get("order"), Mapping):
            raise ValueError("the examiner was asked without an order: view.known must hold record, policy and order")
        given = answer(
            record(known.get("record", ())),
            wanted(known["order"]),
            str(known["order"].get("kind", "any")),
            str(known.get("policy", "strict")),
            told=said_before(view),
        )
        return told(given)


def said_before(view: View) -> frozenset[str]:
    """References of the results that this seat has told: a repeated test gets the result after them."""
    answers = [row for said in view.heard if said.seat == view.seat for row in said.args.get("answers") or ()]
    return frozenset(str(ref) for row in answers if isinstance(row, Mapping) for ref in row.get("refs") or ())


def told(given: Sequence[Answer]) -> Action:
    """The action that tells `given`, one line a result, each line once."""
    lines = list(dict.fromkeys(line.text for line in given)) or [
        "No test was named; please say which results you want."
    ]
    return Action("answer", "\n".join(lines), {"answers": [line.row() for line in given]})
