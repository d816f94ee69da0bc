"""What one episode may spend, and what it has spent."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import inf

import anyio
import msgspec

from wardround.engine.errors import LimitReached
from wardround.engine.events import Acted, Called, Event
from wardround.engine.records import Usage


class Limits(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Caps of one episode; None is no cap.

    `actions` of all seats together, `calls` answered, `tokens` prompt and completion together, `cost` in US dollars,
    `wall` in seconds: on resume the latency of recorded calls counts, time in which the run did not run or was held
    back (paused, waiting for its budget or for a free place at an endpoint) does not.
    """

    actions: int | None = 1000
    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    wall: float | None = None


class Spent:
    """A running account against the limits, the same whether an episode was interrupted or not."""

    __slots__ = ("_held", "_left", "_timer", "actions", "calls", "cost", "limits", "tokens", "unpriced", "wall")

    def __init__(self, limits: Limits, events: Iterable[Event] = ()) -> None:
        self.limits = limits
        self._timer: anyio.CancelScope | None = None
        self._held, self._left = 0, 0.0
        self.actions = self.calls = self.tokens = self.unpriced = 0
        self.cost = self.wall = 0.0
        for event in events:
            if isinstance(event, Acted):
                self.actions += 1
            elif isinstance(event, Called) and event.reply is not None:
                self.call(event.reply.usage)
                self.wall += max(0.0, event.reply.latency - event.reply.waited)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Raise TimeoutError in the block once its time is over."""
        if self.limits.wall is None:
            yield
            return
        with anyio.fail_after(max(0.0, self.limits.wall - self.wall)) as scope:
            self._timer = scope
            try:
                yield
            finally:
                self._timer = None

    @property
    def ticking(self) -> bool:
        """Whether there is a time to hold."""
        return self._timer is not None

    def hold(self) -> None:
        """Stop the time: what comes is waiting that the episode is not to blame for. Nests."""
        if self._timer is not None:
            if not self._held:
                self._left, self._timer.deadline = self._timer.deadline - anyio.current_time(), inf
            self._held += 1

    def go_on(self) -> None:
        """Let the time run again."""
        if self._timer is not None:
            self._held -= 1
            if not self._held:
                self._timer.deadline = anyio.current_time() + self._left

    def call(self, usage: Usage) -> None:
        """Book one call; one without a known price makes a cap on cost impossible to keep, which `check` says."""
        self.calls += 1
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
        if limits.calls is not None and self.calls >= limits.calls:
            raise LimitReached("calls", f"{self.calls} calls were answered; the limit is {limits.calls}")
        if limits.tokens is not None and self.tokens >= limits.tokens:
            raise LimitReached("tokens", f"{self.tokens} tokens were used; the limit is {limits.tokens}")
        if limits.cost is not None and self.unpriced:
            raise LimitReached("cost", "a call has no known price, so the limit on cost cannot be kept; give a price")
        if limits.cost is not None and self.cost >= limits.cost:
            raise LimitReached("cost", f"{self.cost:.4f} USD were spent; the limit is {limits.cost:.4f}")
