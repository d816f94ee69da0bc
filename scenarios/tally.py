"""What a scenario counts while it is played, and the facts and endings that follow from the counts."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from wardround.engine.records import Ending, Json

Fault = Literal["", "empty", "unreadable", "unavailable"]
"""Why a reply was unusable: no text at all, text that names no move, or a move that is not possible now."""


class Tally(msgspec.Struct, frozen=True):
    """Counts of one episode: doctor actions, those unusable, turns used, rounds of orders.

    `fault` is the worst fault of the replies since the last usable one.
    """

    replies: int = 0
    unusable: int = 0
    turns: int = 0
    orders: int = 0
    fault: Fault = ""

    def replied(self) -> "Tally":
        """One more action of the doctor."""
        return msgspec.structs.replace(self, replies=self.replies + 1)

    def usable(self) -> "Tally":
        """The action just counted was usable."""
        return msgspec.structs.replace(self, fault="") if self.fault else self

    def faulted(self, fault: Fault) -> "Tally":
        """The action just counted was unusable."""
        kept = "unreadable" if self.fault == "unreadable" else fault
        return msgspec.structs.replace(self, unusable=self.unusable + 1, fault=kept)

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
        return {"answer": dict(answer), **counts} if answer else counts

    def completed(self, **answer: str) -> Ending:
        """The doctor answered."""
        return Ending("completed", facts=self.facts(answer))

    def unanswered(self, detail: str) -> Ending:
        """The doctor's budget is used up without an answer.

        If a reply since the last usable one could not be read, nobody knows what the doctor meant: parser. Else the
        doctor had its chance.
        """
        if self.fault == "unreadable":
            return Ending("parser", "unreadable", detail, self.facts())
        return Ending("doctor", "no_answer", detail, self.facts())

    def failed(self, seat: str, reason: str, detail: str) -> Ending:
        """Another seat broke the game."""
        return Ending(seat, reason, detail, self.facts())
