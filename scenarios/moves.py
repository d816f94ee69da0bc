"""What an action of a doctor can turn out to be, and the reading of the typed verbs."""

from typing import Literal

import msgspec

from wardround.engine.records import Action, Json
from wardround.scenarios.tally import Fault

Ordered = Literal["examination", "lab", "microbiology", "imaging", "any"]
ORDERED: tuple[Ordered, ...] = ("examination", "lab", "microbiology", "imaging", "any")


class Order(msgspec.Struct, frozen=True):
    """A request for results; an examination without items is all of it. `text` is the request as written."""

    kind: Ordered
    items: tuple[str, ...] = ()
    text: str = ""

    def known(self) -> dict[str, Json]:
        """The order as the seat that answers it is told."""
        return {"kind": self.kind, "items": list(self.items), "text": self.text or ", ".join(self.items)}


class Pick(msgspec.Struct, frozen=True):
    """A kind of action chosen without saying yet what exactly (work-up)."""

    kind: Literal["examination", "lab", "microbiology", "imaging", "output"]


class Question(msgspec.Struct, frozen=True):
    """A question to the patient."""

    text: str


class Conclusion(msgspec.Struct, frozen=True):
    """The doctor's answer."""

    text: str


class Unusable(msgspec.Struct, frozen=True):
    """An action that is no move: `fault` says of which kind, `why` is a sentence for people.

    `shape` says what the reply looked like (unread.SHAPES).
    """

    fault: Fault
    why: str
    shape: str = ""


Move = Order | Pick | Question | Conclusion | Unusable


def typed(action: Action, goal: str) -> Order | Question | Conclusion | Unusable:
    """The move of a typed verb: `order`, `ask` or `conclude`; `goal` names the argument that holds the answer.

    Any JSON may come in: what is no move is Unusable, never an exception.
    """
    if action.verb == "conclude":
        answer = action.args.get(goal)
        if isinstance(answer, str) and answer.strip():
            return Conclusion(answer.strip())
        return Unusable("empty", f"conclude without a {goal}")
    if action.verb == "ask":
        return Question(action.text.strip()) if action.text.strip() else Unusable("empty", "ask without a question")
    if action.verb == "order":
        return _order(action)
    return Unusable("unavailable", f"there is no verb {action.verb!r}")


def _order(action: Action) -> Order | Unusable:
    kind = next((kind for kind in ORDERED if kind == action.args.get("kind", "any")), None)
    if kind is None:
        return Unusable("unreadable", f"order of an unknown kind; kinds: {', '.join(ORDERED)}")
    given = action.args.get("items", [])
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list | tuple) or not all(isinstance(item, str) for item in given):
        return Unusable("unreadable", "order whose items are no list of names")
    items = tuple(item.strip() for item in given if item.strip())
    if not items and kind != "examination":
        return Unusable("empty", f"order of kind {kind} without items")
    return Order(kind, items)
