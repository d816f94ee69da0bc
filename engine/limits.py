"""What one episode may spend, and what it has spent."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
    back (paused, waiting for its budget or for a free place at an endpoint) does not. `act` is how many seconds one act
    of a seat may take outside of the calls of its model (engine/misbehaviour.py), and `act_calls` how often it may call
    its model, answered or not: an agent that calls it without end takes no time of its own.
    """

    actions: int | None = 1000
    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    wall: float | None = None
    act: float | None = 600.0
    act_calls: int | None = 1000


NEAR = 0.95
"""The part of the limit on time that a seat's own seconds must reach: the engine takes a little of it too."""
ACT_CALLS = "act_calls"
"""The limit on the calls of one act."""
MOST = 0.75
"""The part of the calls, tokens or cost used that must be a seat's own for the limit to be its fault."""


@dataclass(slots=True)
class Used:
    """What one seat used; `seconds` are those in which it acted and waited for none of its calls."""

    actions: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0


class Spent:
    """A running account against the limits, the same whether an episode was interrupted or not.

    `used` is what each seat has used of it, in the order in which they first did.
    """

    __slots__ = (
        "_acting",
        "_answered",
        "_asked",
        "_asking",
        "_away",
        "_held",
        "_left",
        "_since",
        "_timer",
        "actions",
        "calls",
        "cost",
        "limits",
        "tokens",
        "unpriced",
        "used",
        "wall",
    )

    def __init__(self, limits: Limits, events: Iterable[Event] = ()) -> None:
        self.limits = limits
        self.used: dict[str, Used] = {}
        self._timer: anyio.CancelScope | None = None
        self._held, self._left = 0, 0.0
        self._acting, self._away, self._since = "", 0, 0.0
        self._asking, self._asked, self._answered = "", 0, 0
        self.actions = self.calls = self.tokens = self.unpriced = 0
        self.cost = self.wall = 0.0
        for event in events:
            if isinstance(event, Acted):
                self.act(event.seat)
            elif isinstance(event, Called) and event.reply is not None:
                self.call(event.seat, event.reply.usage)
                self.wall += max(0.0, event.reply.latency - event.reply.waited)
            elif isinstance(event, Called):
                self.failed(event.seat)

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

    @contextmanager
    def acting(self, seat: str) -> Iterator[None]:
        """Book the time of the block, without that of `away`, as the seat's own."""
        if not self.ticking:
            yield
            return
        self._acting, self._away, self._since = seat, 0, anyio.current_time()
        try:
            yield
        finally:
            if not self._away:
                self._of(seat).seconds += anyio.current_time() - self._since
            self._away = 0

    @contextmanager
    def away(self) -> Iterator[None]:
        """Leave the time of the block out of what the acting seat used: it waits for its model. Calls may overlap."""
        if not self.ticking:
            yield
            return
        if not self._away:
            self._of(self._acting).seconds += anyio.current_time() - self._since
        self._away += 1
        try:
            yield
        finally:
            self._away -= 1
            if not self._away:
                self._since = anyio.current_time()

    def act(self, seat: str) -> None:
        """Book one action."""
        self.actions += 1
        self._asking, self._asked, self._answered = "", 0, 0
        self._of(seat).actions += 1

    def call(self, seat: str, usage: Usage) -> None:
        """Book one call; one without a known price makes a cap on cost impossible to keep, which `check` says."""
        self._asking, self._asked, self._answered = seat, self._asked + 1, self._answered + 1
        tokens, used = usage.prompt + usage.completion, self._of(seat)
        self.calls, used.calls = self.calls + 1, used.calls + 1
        self.tokens, used.tokens = self.tokens + tokens, used.tokens + tokens
        if usage.cost is None:
            self.unpriced += 1
        else:
            self.cost, used.cost = self.cost + usage.cost, used.cost + usage.cost

    def failed(self, seat: str) -> None:
        """Book a call that failed: it costs nothing but a try of the act."""
        self._asking, self._asked = seat, self._asked + 1

    def fault(self, limit: str) -> str:
        """The seat that used a limit up by itself, the first if there are two; "" if none did.

        By three quarters of the calls, tokens or cost, or its own seconds; of the actions, which others take to answer
        it, by at least half. The calls of one act are its seat's, unless most of them failed.
        """
        if limit == ACT_CALLS:
            return self._asking if 2 * self._answered >= self._asked else ""
        limits = self.limits
        for seat, used in self.used.items():
            reached = {
                "actions": 2 * used.actions >= self.actions > 0,
                "calls": used.calls >= MOST * self.calls > 0,
                "tokens": used.tokens >= MOST * self.tokens > 0,
                "cost": not self.unpriced and used.cost >= MOST * self.cost > 0,
                "wall": limits.wall is not None and used.seconds >= NEAR * limits.wall,
            }
            if reached.get(limit):
                return seat
        return ""

    def _of(self, seat: str) -> Used:
        used = self.used.get(seat)
        if used is None:
            used = self.used[seat] = Used()
        return used

    def check(self) -> None:
        """Raise LimitReached if nothing more may be spent."""
        limits = self.limits
        if limits.actions is not None and self.actions >= limits.actions:
            raise LimitReached("actions", f"{self.actions} actions were taken; the limit is {limits.actions}")
        if limits.calls is not None and self.calls >= limits.calls:
            raise LimitReached("calls", f"{self.calls} calls were answered; the limit is {limits.calls}")
        if limits.act_calls is not None and self._asked >= limits.act_calls:
            raise LimitReached(ACT_CALLS, f"{self._asked} calls were made in one act; the limit is {limits.act_calls}")
        if limits.tokens is not None and self.tokens >= limits.tokens:
            raise LimitReached("tokens", f"{self.tokens} tokens were used; the limit is {limits.tokens}")
        if limits.cost is not None and self.unpriced:
            raise LimitReached("cost", "a call has no known price, so the limit on cost cannot be kept; give a price")
        if limits.cost is not None and self.cost >= limits.cost:
            raise LimitReached("cost", f"{self.cost:.4f} USD were spent; the limit is {limits.cost:.4f}")
