"""The limits of one episode, the account of what it has spent, and a way to stop its timer while it waits."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import Protocol

import anyio
import msgspec

from wardround.engine.errors import LimitReached
from wardround.engine.events import Acted, Called, Event
from wardround.engine.records import Usage


class Timer(Protocol):
    """A timer that can be paused."""

    def hold(self) -> None:
        """Pause; calls nest."""

    def go_on(self) -> None:
        """Undo one `hold`; run again after the last."""


_timer: ContextVar[Timer | None] = ContextVar("timer", default=None)


def timed_by(timer: Timer) -> None:
    """Make `waiting` pause `timer` in this task and the tasks that it starts."""
    _timer.set(timer)


class waiting:  # noqa: N801 - used as a statement, and a generator would cost five times as much a call
    """Pauses the timer of the current episode while the block waits."""

    __slots__ = ("_timer",)

    def __enter__(self) -> None:
        self._timer = _timer.get()
        if self._timer is not None:
            self._timer.hold()

    def __exit__(self, *raised: object) -> None:
        if self._timer is not None:
            self._timer.go_on()


class Limits(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Caps of one episode; None is no cap.

    `actions` counts those of all seats, `calls` the answered ones, `tokens` prompt and completion together; `cost` is
    in US dollars, `wall` in seconds. On resume the latency of recorded calls counts as time. Time in which the run was
    not at work, was paused, or waited for its budget or for a free place at an endpoint does not count. `act` is the
    number of seconds that one act may take outside of its model's calls (engine/misbehaviour.py). `act_calls` is the
    number of calls, answered or not, that one act may make: endless calls would use no time of the act itself.
    """

    actions: int | None = 1000
    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    wall: float | None = None
    act: float | None = 600.0
    act_calls: int | None = 1000


NEAR = 0.95
"""The share of the time limit that a seat's own seconds must reach for it to be the seat's fault.

It is less than 1, because the engine uses a little of the time too.
"""
ACT_CALLS = "act_calls"
"""The limit on the calls of one act."""
MOST = 0.75
"""The share of the calls, tokens or cost that must be a seat's own for the limit to be its fault."""


@dataclass(slots=True)
class SeatUse:
    """What one seat used; `seconds` is the time of its acts without waiting for its calls."""

    actions: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0


class LimitAccount:
    """A running account against the limits, the same whether an episode was interrupted or not.

    `used` is what each seat has used, in the order in which the seats first used anything.
    """

    __slots__ = (
        "_act_answers",
        "_act_calls",
        "_act_seat",
        "_holds",
        "_left",
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
        self.used: defaultdict[str, SeatUse] = defaultdict(SeatUse)
        self._timer: anyio.CancelScope | None = None
        self._holds, self._left = 0, 0.0
        self._act_seat, self._act_calls, self._act_answers = "", 0, 0
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
        """Raise TimeoutError in the block once the episode's time is over."""
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
        """Whether a time limit is running."""
        return self._timer is not None

    def hold(self) -> None:
        """Pause the time limit while the episode waits through no fault of its own; calls nest."""
        if self._timer is not None:
            if not self._holds:
                self._left, self._timer.deadline = self._timer.deadline - anyio.current_time(), inf
            self._holds += 1

    def go_on(self) -> None:
        """Undo one `hold`; the time runs again after the last."""
        if self._timer is not None:
            self._holds -= 1
            if not self._holds:
                self._timer.deadline = anyio.current_time() + self._left

    def act(self, seat: str) -> None:
        """Book one action."""
        self.actions += 1
        self._act_seat, self._act_calls, self._act_answers = "", 0, 0
        self.used[seat].actions += 1

    def call(self, seat: str, usage: Usage) -> None:
        """Book one answered call. A call without a known price breaks a cap on cost; `check` reports it."""
        self._act_seat, self._act_calls, self._act_answers = seat, self._act_calls + 1, self._act_answers + 1
        tokens, used = usage.prompt + usage.completion, self.used[seat]
        self.calls, used.calls = self.calls + 1, used.calls + 1
        self.tokens, used.tokens = self.tokens + tokens, used.tokens + tokens
        if usage.cost is None:
            self.unpriced += 1
        else:
            self.cost, used.cost = self.cost + usage.cost, used.cost + usage.cost

    def failed(self, seat: str) -> None:
        """Book a failed call: it counts only against the calls of the act."""
        self._act_seat, self._act_calls = seat, self._act_calls + 1

    def fault(self, limit: str) -> str:
        """The seat that used up a limit by itself, the first if there are two; "" if there is none.

        It must have used three quarters of the calls, tokens or cost, or nearly all of the time. Half of the actions
        is enough, because other seats act to answer it. The calls of one act are its seat's fault unless most failed.
        """
        if limit == ACT_CALLS:
            return self._act_seat if 2 * self._act_answers >= self._act_calls else ""
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

    def check(self) -> None:
        """Raise LimitReached if nothing more may be spent."""
        limits = self.limits
        if limits.actions is not None and self.actions >= limits.actions:
            raise _limit_reached("actions", self.actions, "actions were taken", limits.actions)
        if limits.calls is not None and self.calls >= limits.calls:
            raise _limit_reached("calls", self.calls, "calls were answered", limits.calls)
        if limits.act_calls is not None and self._act_calls >= limits.act_calls:
            raise _limit_reached(ACT_CALLS, self._act_calls, "calls were made in one act", limits.act_calls)
        if limits.tokens is not None and self.tokens >= limits.tokens:
            raise _limit_reached("tokens", self.tokens, "tokens were used", limits.tokens)
        if limits.cost is not None and self.unpriced:
            raise LimitReached("cost", "a call has no known price, so the limit on cost cannot be kept; give a price")
        if limits.cost is not None and self.cost >= limits.cost:
            raise LimitReached("cost", f"{self.cost:.4f} USD were spent; the limit is {limits.cost:.4f}")


def _limit_reached(name: str, used: int, what: str, most: int) -> LimitReached:
    return LimitReached(name, f"{used} {what}; the limit is {most}")
