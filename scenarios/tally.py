"""What a scenario counts while it is played, and the facts and endings that follow from the counts."""

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from wardround.engine.records import Ending, Json

Fault = Literal["", "empty", "unavailable", "content_filter", "refusal", "unreadable"]
"""Why a reply was unusable, the mildest first: no text at all, a move that is not possible now, text that a filter cut
off, a refusal, text that names no move."""
_FAULTS: tuple[Fault, ...] = get_args(Fault)


class Tally(msgspec.Struct, frozen=True):
    """Counts of one episode: doctor actions, those unusable, turns used, rounds of orders.

    `fault` is the worst fault of the replies since the last usable one, `shapes` how often an unusable reply had which
    shape (scenarios/unread.py).
    """

    replies: int = 0
    unusable: int = 0
    turns: int = 0
    orders: int = 0
    fault: Fault = ""
    shapes: Mapping[str, int] = {}

    def replied(self) -> "Tally":
        """One more action of the doctor."""
        return msgspec.structs.replace(self, replies=self.replies + 1)

    def usable(self) -> "Tally":
        """The action just counted was usable."""
        return msgspec.structs.replace(self, fault="") if self.fault else self

    def faulted(self, fault: Fault, shape: str = "") -> "Tally":
        """The action just counted was unusable."""
        kept = max(self.fault, fault, key=_FAULTS.index)
        shapes = {**self.shapes, shape: self.shapes.get(shape, 0) + 1} if shape else self.shapes
        return msgspec.structs.replace(self, unusable=self.unusable + 1, fault=kept, shapes=shapes)

    def turned(self) -> "Tally":
        """One more turn used."""
        return msgspec.structs.replace(self, turns=self.turns + 1)

    def ordered(self) -> "Tally":
        """One more round of orders."""
        return msgspec.structs.replace(self, orders=self.orders + 1)

    def facts(self, answer: Mapping[str, str] | None = None) -> dict[str, Json]:
        """The facts stored with the closed event; `answer` is absent where there is none."""
        counts: dict[str, Json] = {
            "replies": self.replies,
            "unusable": self.unusable,
            "turns": self.turns,
            "orders": self.orders,
        }
        if self.shapes:
            counts["unread_shapes"] = dict(self.shapes)
        return {"answer": dict(answer), **counts} if answer else counts

    def completed(self, **answer: str) -> Ending:
        """The doctor answered."""
        return Ending("completed", facts=self.facts(answer))

    def unanswered(self, detail: str) -> Ending:
        """The doctor's budget is used up without an answer.

        By the worst that its replies since the last usable one were: unreadable (cause `parser`, so that a faulty one
        is seen), a refusal, filtered; else nothing was said. The doctor had its chance in each case.
        """
        if self.fault == "unreadable":
            return Ending("parser", "unreadable", detail, self.facts())
        reason = self.fault if self.fault in ("refusal", "content_filter") else "no_answer"
        return Ending("doctor", reason, detail, self.facts())

    def failed(self, seat: str, reason: str, detail: str) -> Ending:
        """Another seat broke the game."""
        return Ending(seat, reason, detail, self.facts())
