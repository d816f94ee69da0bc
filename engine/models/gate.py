"""Limits the calls to one endpoint with one key: which call may go now, and which one is next."""

import asyncio
import time
from collections import deque
from operator import attrgetter
from statistics import median
from typing import Generic, TypeVar

import anyio

from wardround.engine.errors import RunStopped
from wardround.engine.limits import waiting
from wardround.engine.models.health import Adaptive, Silence, refused_unprocessed
from wardround.engine.models.quota import Bucket, Day, Quota
from wardround.engine.records import Clock, Json, Usage

ResultT = TypeVar("ResultT")


class Waiter(Generic[ResultT]):
    """A waiting call: the time (s) at which it began to wait, and the tokens that it may need."""

    __slots__ = ("future", "role_calls", "since", "tokens")

    def __init__(self, role_calls: "_RoleCalls[ResultT]", tokens: int, since: float) -> None:
        self.role_calls, self.tokens, self.since = role_calls, tokens, since
        self.future: asyncio.Future[ResultT] = asyncio.get_running_loop().create_future()


class _RoleCalls(Generic[ResultT]):
    """The waiting calls of one role. `turn` counts the calls that the role has had."""

    __slots__ = ("queue", "role", "turn", "waiting")

    def __init__(self, role: str) -> None:
        self.role = role
        self.queue: deque[Waiter[ResultT]] = deque()
        self.turn = 0
        self.waiting = 0


class FairQueue(Generic[ResultT]):
    """A queue for each role. The role that has had the fewest calls goes next, so that all roles get equal shares.

    A role that had no waiting calls for a while does not save up turns.
    """

    def __init__(self) -> None:
        self._by_role: dict[str, _RoleCalls[ResultT]] = {}
        self._now = 0
        self.waiting = 0

    def add(self, role: str, tokens: int, since: float) -> Waiter[ResultT]:
        """Add a waiting call to the queue of its role."""
        role_calls = self._by_role.get(role)
        if role_calls is None:
            role_calls = self._by_role[role] = _RoleCalls(role)
        if not role_calls.waiting:
            role_calls.queue.clear()
            role_calls.turn = max(role_calls.turn, self._now)
        waiter = Waiter(role_calls, tokens, since)
        role_calls.queue.append(waiter)
        role_calls.waiting += 1
        self.waiting += 1
        return waiter

    def next(self) -> Waiter[ResultT] | None:
        """The call that goes next, left in the queue; None if no call waits."""
        if not self.waiting:
            return None
        for role_calls in sorted(self._by_role.values(), key=attrgetter("turn")):
            queue = role_calls.queue
            while queue and queue[0].future.done():  # it gave up; `drop` corrects the count
                queue.popleft()
            if queue:
                return queue[0]
        return None

    def pop(self, waiter: Waiter[ResultT]) -> None:
        """Remove the call that `next` returned, because it goes now."""
        role_calls = waiter.role_calls
        role_calls.queue.popleft()
        self._now = role_calls.turn
        role_calls.turn += 1
        self._discount(role_calls)

    def drop(self, waiter: Waiter[ResultT]) -> None:
        """Discount a call that gave up waiting; its future is done."""
        self._discount(waiter.role_calls)

    def _discount(self, role_calls: "_RoleCalls[ResultT]") -> None:
        role_calls.waiting -= 1
        self.waiting -= 1

    def by_role(self) -> dict[str, int]:
        """The number of waiting calls by role, in order of name."""
        return {role: calls.waiting for role, calls in sorted(self._by_role.items()) if calls.waiting}


LONGEST_PAUSE = 120.0
"""The longest time (s) for which an endpoint's Retry-After holds all calls; the refused call itself waits in full."""
UNCOUNTED = frozenset(("unused", "rate_limit", "quota", "auth", "unknown_model", "bad_request", "context_overflow"))
"""Outcomes of a call for which no endpoint counts tokens."""
RECENT = 100
"""The number of recent calls that `summary` covers."""


LOCKED = frozenset(("auth", "quota", "unknown_model"))
"""Outcomes caused by the account or the model's name, so that every other call will fail in the same way."""


class Permit:
    """Permission to make one call: the tokens reserved, the time (s) at which it began, and how long it waited (s)."""

    __slots__ = ("began", "epoch", "tokens", "waited")

    def __init__(self, tokens: int, began: float, waited: float, epoch: int) -> None:
        self.tokens, self.began, self.waited, self.epoch = tokens, began, waited, epoch


class CallOutcome:
    """How a call ended, with its usage, or the status and Retry-After of the error.

    `kind` is the kind of the ProviderError, `ok`, `cancelled` (while it ran), or `unused` (nothing was sent).
    """

    __slots__ = ("kind", "retry_after", "status", "usage")

    def __init__(
        self, kind: str, *, usage: Usage | None = None, status: int | None = None, retry_after: float | None = None
    ) -> None:
        self.kind, self.usage, self.status, self.retry_after = kind, usage, status, retry_after


class Gate:
    """Limits the calls to one endpoint and key; a call that finds a free place goes through at once.

    `name` is the address without secrets, `key` a digest that tells keys apart. There are `quota.in_flight` places, or
    fewer if the endpoint shows that it cannot take so many (engine/models/health.py). Requests and tokens a minute are
    spread evenly (engine/models/quota.py); tokens are reserved by estimate and corrected when the call ends. A used-up
    daily quota raises RunStopped: episodes stay open and can be resumed the next day. `spent_today` is (requests,
    tokens) that already count. A gate belongs to one event loop.
    """

    def __init__(
        self,
        name: str,
        quota: Quota | None = None,
        *,
        key: bytes = b"",
        spent_today: tuple[int, int] = (0, 0),
        clock: Clock = time.time,
    ) -> None:
        self.name, self.key, self.quota = name, key, quota or Quota()
        self.adaptive = Adaptive(self.quota.in_flight)
        self.in_flight = self.calls = self.again = 0
        self.paused_until = 0.0
        self.healthy = True
        daily = self.quota.daily_requests is not None or self.quota.daily_tokens is not None
        self._day = Day(self.quota, spent_today, clock) if daily else None
        self._requests = Bucket(self.quota.rpm) if self.quota.rpm is not None else None
        self._tokens = Bucket(self.quota.tpm) if self.quota.tpm is not None else None
        self._limited = self._metered = bool(self._requests or self._tokens or self._day)
        self.counts_tokens = self.quota.tpm is not None or self.quota.daily_tokens is not None
        self._queue: FairQueue[Permit] = FairQueue()
        self._timer: asyncio.TimerHandle | None = None
        self.silence = Silence(name)
        self.locked = 0
        self._stopped = self._why_closed = ""
        self._halt = asyncio.Event()
        self._recent: deque[tuple[bool, float]] = deque(maxlen=RECENT)

    async def enter(self, role: str, tokens: int = 0) -> Permit:
        """Wait for this call's turn and return its permit; `leave` must always follow.

        `tokens` is the expected use of the call. Raises RunStopped if the daily quota does not allow it, or if the gate
        was stopped.
        """
        return self.enter_now(tokens) or await self._wait_turn(role, tokens, asyncio.get_running_loop().time())

    def enter_now(self, tokens: int = 0) -> Permit | None:
        """The permit of this call if there is a free place, as for most calls; None if it must wait."""
        if self._queue.waiting or self.in_flight >= self.adaptive.cap:
            return None
        now = asyncio.get_running_loop().time()
        if now < self.paused_until or (self._metered and self._quota_wait(tokens, now) != 0.0):
            return None
        return self._admit(tokens, now, 0.0)

    def leave(self, permit: Permit, outcome: CallOutcome) -> None:
        """Book the outcome of a call that ended, and let the next call in."""
        now = asyncio.get_running_loop().time()
        self.in_flight -= 1
        if outcome.kind != "ok":
            self.locked += outcome.kind in LOCKED
            self._settle(permit, outcome, now)
            queued = self._queue.waiting if now >= self.paused_until else 0
            self.silence.failed(outcome.kind, outcome.status, now, self.in_flight, queued)
        else:
            self.locked = 0
            if self._metered and outcome.usage is not None:
                self._correct(outcome.usage.prompt + outcome.usage.completion - permit.tokens, now)
            if self.silence.since is not None:
                self.silence.end(now)
        self._learn(permit, outcome, now)
        if self._queue.waiting:
            self._serve(now)

    def _admit(self, tokens: int, now: float, waited: float) -> Permit:
        self.in_flight += 1
        self.calls += 1
        adaptive = self.adaptive
        adaptive.saw(self.in_flight)
        if self._metered:
            if self._requests is not None:
                self._requests.take(1)
            if self._tokens is not None:
                self._tokens.take(tokens)
            if self._day is not None:
                self._day.requests += 1
                self._day.tokens += tokens
        return Permit(tokens, now, waited, adaptive.epoch)

    def _quota_wait(self, tokens: int, now: float) -> float:
        """Seconds until the quotas allow a call of so many tokens; raises RunStopped if they do not today."""
        if self._stopped:
            raise RunStopped(self._stopped)
        if self._day is not None and (limit := self._day.used_up(tokens)):
            raise RunStopped(self._quota_message(limit))
        wait = self._requests.wait(1, now) if self._requests is not None else 0.0
        return wait if self._tokens is None else max(wait, self._tokens.wait(tokens, now))

    def _quota_message(self, limit: str) -> str:
        return f"the daily quota of {self.name} ({limit}) is used up: resume the run after 00:00 UTC"

    @property
    def used_up(self) -> str:
        """Why the gate refused a call today or will refuse all calls; "" if it does neither."""
        if self._why_closed or self._day is None:
            return self._why_closed
        limit = self._day.used_up(0) or self._day.reached
        return self._quota_message(limit) if limit else ""

    def stop(self, reason: str) -> None:
        """Let no call in any more: waiting calls get RunStopped at once, running calls go on."""
        self._stopped, self._metered = reason, True
        self._halt.set()
        while (waiter := self._queue.next()) is not None:
            self._queue.pop(waiter)
            waiter.future.set_exception(RunStopped(reason))
        self._serve(0.0)

    def give_up(self, reason: str) -> None:
        """Stop the gate because the run cannot go on with this endpoint; `used_up` returns `reason` from then on."""
        self._why_closed = self._why_closed or reason
        self.stop(self._why_closed)

    def reopen(self) -> None:
        """Let calls in again after a stop, and forget the endpoint's earlier failures."""
        if self._stopped:
            self._stopped = self._why_closed = ""
            self.locked = 0
            self._metered, self._halt = self._limited, asyncio.Event()
            self.silence.forget()

    async def rest(self, seconds: float) -> None:
        """Wait before a call is tried again; raises RunStopped as soon as the gate is stopped."""
        with waiting(), anyio.move_on_after(seconds):
            await self._halt.wait()
        if self._stopped:
            raise RunStopped(self._stopped)

    async def _wait_turn(self, role: str, tokens: int, now: float) -> Permit:
        if self._stopped:
            raise RunStopped(self._stopped)
        waiter = self._queue.add(role, tokens, now)
        if self.in_flight >= self.adaptive.cap:
            self.adaptive.full = True
        self._serve(now)
        try:
            with waiting():
                return await waiter.future
        except asyncio.CancelledError:
            future = waiter.future
            if not future.done() or future.cancelled():
                future.cancel()
                self._queue.drop(waiter)
                self._serve(asyncio.get_running_loop().time())
            elif future.exception() is None:  # let in at the moment it was cancelled
                self.leave(future.result(), CallOutcome("unused"))
            raise

    def _serve(self, now: float) -> None:
        """Let in all calls that may go; if a call only has to wait for some time, check again then."""
        while self._queue.waiting:
            if self.in_flight >= self.adaptive.cap:
                self.adaptive.full = True
                return
            if (waiter := self._queue.next()) is None:
                break
            wait = self.paused_until - now
            if wait <= 0:
                try:
                    wait = self._quota_wait(waiter.tokens, now) if self._metered else 0.0
                except RunStopped as stopped:
                    self._queue.pop(waiter)
                    waiter.future.set_exception(stopped)
                    continue
            if wait > 0:
                self._serve_at(now + wait)
                return
            self._queue.pop(waiter)
            waiter.future.set_result(self._admit(waiter.tokens, now, now - waiter.since))
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _serve_at(self, at: float) -> None:
        timer = self._timer
        if timer is not None:
            if timer.when() <= at and not timer.cancelled():
                return
            timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(at, self._timer_ended)

    def _timer_ended(self) -> None:
        self._timer = None
        self._serve(asyncio.get_running_loop().time())

    def _settle(self, permit: Permit, outcome: CallOutcome, now: float) -> None:
        """Correct the quotas after a call without an answer; calls that an endpoint refused use no tokens."""
        if outcome.kind in UNCOUNTED:
            self._correct(-permit.tokens, now)
        if outcome.kind == "unused":
            self.calls -= 1
            if self._requests is not None:
                self._requests.give(1, now)
            if self._day is not None:
                self._day.requests = max(0, self._day.requests - 1)

    def _correct(self, more: int, now: float) -> None:
        if self._tokens is not None:
            self._tokens.give(-more, now)
        if self._day is not None:
            self._day.turn()
            self._day.tokens = max(0, self._day.tokens + more)

    def _learn(self, permit: Permit, outcome: CallOutcome, now: float) -> None:
        kind, latency = outcome.kind, now - permit.began
        if kind in ("ok", "timeout"):
            self._recent.append((False, latency))
            self.adaptive.ended(permit.epoch, now, latency, outcome.usage.completion if outcome.usage else 0)
        elif refused_unprocessed(kind, outcome.status):
            self._recent.append((True, latency))
            fell = self.adaptive.refused(permit.epoch, now, self.in_flight)
            if outcome.retry_after is not None and (fell or self.paused_until > now):
                self.paused_until = max(self.paused_until, now + min(outcome.retry_after, LONGEST_PAUSE))

    def summary(self) -> dict[str, Json]:
        """The status of the gate, without secrets; `rate_limited` and `latency` (median, s) cover the last calls."""
        now = asyncio.get_running_loop().time()
        cap = self.adaptive.cap
        served = [latency for away, latency in self._recent if not away]
        turned_away = len(self._recent) - len(served)
        summary: dict[str, Json] = {
            "address": self.name,
            "in_flight": self.in_flight,
            "cap": None if cap == float("inf") else int(cap),
            "waiting": self._queue.by_role(),
            "rate_limited": turned_away / len(self._recent) if self._recent else 0.0,
            "paused_until": time.time() + self.paused_until - now if self.paused_until > now else None,
            "healthy": self.healthy,
            "calls": self.calls,
            "again": self.again,
            "latency": median(served) if served else None,
        }
        if self.silence.is_long(now):
            summary["silent"] = self.silence.summary(now)
        if self._day is not None:
            self._day.turn()
            summary["today"] = {"requests": self._day.requests, "tokens": self._day.tokens}
        return summary
