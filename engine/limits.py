"""What one episode may spend, and what it has spent."""

from collections.abc import Iterable

import msgspec

from wardround.engine.errors import LimitReached
from wardround.engine.events import Acted, Called, Event
from wardround.engine.records import Usage


class Limits(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Caps of one episode; None is no cap.

    `actions` of all seats together, `tokens` prompt and completion together, `cost` in US dollars, `wall` in seconds
    (the latency of recorded calls counts on resume; time in which the run did not run does not).
    """

    actions: int | None = 1000
    tokens: int | None = None
    cost: float | None = None
    wall: float | None = None


class Spent:
    """A running account against the limits, the same whether an episode was interrupted or not."""

    __slots__ = ("actions", "cost", "limits", "tokens", "unpriced", "wall")

    def __init__(self, limits: Limits, events: Iterable[Event] = ()) -> None:
        self.limits = limits
        self.actions = self.tokens = self.unpriced = 0
        self.cost = self.wall = 0.0
        for event in events:
            if isinstance(event, Acted):
                self.actions += 1
            elif isinstance(event, Called) and event.reply is not None:
                self.call(event.reply.usage)
                self.wall += event.reply.latency

    def call(self, usage: Usage) -> None:
        """Book one call; one without a known price makes a cap on cost impossible to keep, which `check` says."""
        self.tokens += usage.prompt + usage.completion
        if usage.cost is None:
            self.unpriced += 1
        else:
            self.cost += usage.cost

    def check(self) -> None:
        """Raise LimitReached if nothing more may be spent."""
        limits = self.limits
        if limits.actions is not None and self.actions >= limits.actions:
            raise LimitReached("actions", f"{self.actions} actions were taken; the limit is {limits.actions}")
        if limits.tokens is not None and self.tokens >= limits.tokens:
            raise LimitReached("tokens", f"{self.tokens} tokens were used; the limit is {limits.tokens}")
        if limits.cost is not None and self.unpriced:
            raise LimitReached("cost", "a call has no known price, so the limit on cost cannot be kept; give a price")
        if limits.cost is not None and self.cost >= limits.cost:
            raise LimitReached("cost", f"{self.cost:.4f} USD were spent; the limit is {limits.cost:.4f}")
