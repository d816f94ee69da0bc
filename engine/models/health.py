"""Measures the health of an endpoint: how many calls it can take at once, and since when it has answered none."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush
from statistics import median

from wardround.engine.logs import log
from wardround.engine.text import count_noun

ROUND_SIZE = 50
"""The least number of calls in a round, which are judged together; more if more run at once."""
REFUSED_SHARE = 0.05
"""The share of a round that may be refused (429) before the cap falls."""
DEEPEST_FALL, MILDEST_FALL = 0.5, 0.9
"""Limits of a fall: the new cap is at least `DEEPEST_FALL` and at most `MILDEST_FALL` times the old one."""
RISE = 0.1
"""The share of itself by which the cap rises after a good round; at least one call."""
GOOD_ROUNDS = 4
"""Good rounds before the cap returns to the level at which there was trouble last."""
SAFE_SHARE, QUICK_ROUND = 0.5, 10
"""While the cap is below SAFE_SHARE of the level of the last trouble, it doubles after every good round, and a round
has only QUICK_ROUND calls.
"""
SLOW_FACTOR = 3.0
"""The multiple of the usual latency that counts as trouble; it is high because latencies of models vary widely."""
MORE_WORK = 1.1
"""The multiple of the usual work above which the endpoint does more work than usual."""
HELPED = 0.8
"""The share of the earlier latency that a cut must reach; otherwise the cut is undone."""
FIXED_TOKENS = 50
"""The number of tokens that stands for the fixed part of a call's latency."""
NEWEST_WEIGHT = 0.2
"""The weight of a new round in the mean of the usual latency."""


class Adaptive:
    """An adaptive cap on concurrent calls, between 1 and `top` (None for no upper limit).

    Calls are judged in rounds. A round counts only calls that began after the last change of the cap, so that a burst
    of refusals is one event. When more than REFUSED_SHARE of a round is refused, the cap falls to the number of calls
    that the endpoint still serves, less a tenth, but at most by half. The cap also falls by half when the latency (by
    completion tokens) is SLOW_FACTOR times the usual one and the endpoint does no more work than usual. If that does
    not help, the cap is restored and this latency becomes the usual one.

    The cap rises after a good round in which it delayed calls. It doubles up to half of the level at which there was
    trouble last, then rises by a tenth; it returns to that level only after GOOD_ROUNDS good rounds.
    """

    def __init__(self, top: int | None = None) -> None:
        self.top = math.inf if top is None else float(top)
        self.cap = self.top
        self.epoch = 0
        self.full = False
        self._ceiling = math.inf
        self._good = 0
        self._calm = True
        self._most = 0
        self._usual: float | None = None
        self._work = 0.0
        self._cut: tuple[float, float] | None = None
        self._begin(None)

    def _begin(self, began: float | None) -> None:
        self._seen = self._refused = self._peak = 0
        self._done = 0.0
        self._times: list[float] = []
        self._began = began
        self.full = False

    def ended(self, epoch: int, now: float, latency: float, tokens: int) -> None:
        """Note that a call of `epoch` ended without refusal after `latency` seconds, with so many completion tokens."""
        if epoch != self.epoch:
            return
        self._seen += 1
        self._done += FIXED_TOKENS + tokens
        self._times.append(latency / (FIXED_TOKENS + tokens))
        if self._began is None:
            self._began = now - latency
        if self._seen >= (QUICK_ROUND if self._recovering() else self._round()):
            self._judge(now)

    def refused(self, epoch: int, now: float, in_flight: int) -> bool:
        """Note that a call was refused (429) while `in_flight` others run; returns whether the cap fell."""
        if epoch != self.epoch:
            return False
        self._seen += 1
        self._refused += 1
        size = self._round()
        if self._refused <= REFUSED_SHARE * size:
            if self._seen >= size:
                self._judge(now)
            return False
        base = min(self.cap, max(self._peak, in_flight + 1))
        served = max(base * DEEPEST_FALL, in_flight * MILDEST_FALL)
        self._fall(base, min(math.ceil(served), math.ceil(base * MILDEST_FALL)))
        self._cut = None
        return True

    def saw(self, in_flight: int) -> None:
        """Note that so many calls run."""
        if in_flight > self._peak:
            self._peak = in_flight
            self._most = max(self._most, in_flight)

    def _round(self) -> float:
        return max(ROUND_SIZE, min(self.cap, self._peak))

    def _recovering(self) -> bool:
        return self.cap < SAFE_SHARE * self._ceiling < math.inf

    def _fall(self, base: float, to: float) -> None:
        # Several falls without a good round between them have one cause, which began at the highest cap.
        self._ceiling = base if self._calm else max(base, self._ceiling)
        self._calm = False
        self._change(max(1.0, min(to, base - 1)))

    def _change(self, cap: float) -> None:
        self.cap = cap
        self.epoch += 1
        self._good = 0
        self._begin(None)

    def _judge(self, now: float) -> None:
        """Judge a round that had few refusals."""
        began = now if self._began is None else self._began
        value = median(self._times) if self._times else None
        work = self._done / max(now - began, 1e-9)
        peak, full = self._peak, self.full
        self._begin(now)
        if value is not None and self._slow(value, work, peak):
            return
        self._good += 1
        self._calm = True
        if not full or self.cap >= self.top:
            return
        if self.cap >= self._ceiling:  # the trouble at this level is over
            self._ceiling = math.inf
        if self._recovering():
            higher = min(2 * self.cap, max(self.cap + 1, math.floor(SAFE_SHARE * self._ceiling)))
        else:
            higher = min(self.top, self.cap + max(1.0, math.floor(self.cap * RISE)))
        if higher >= self._ceiling and self._good < GOOD_ROUNDS:
            return
        self._change(higher)

    def _slow(self, value: float, work: float, peak: int) -> bool:
        """Judge a round by its latency and the work done; returns whether the cap changed."""
        before, self._cut = self._cut, None
        if before is not None and value > before[1] * HELPED:
            # Fewer calls did not make it faster, so our load is not the cause.
            self._usual, self._work = value, work
            self._change(before[0])
            return True
        if self._usual is None:
            self._usual, self._work = value, work
            return False
        loaded = 2 * peak >= min(self.cap, self._most)
        if loaded and peak > 1 and value > SLOW_FACTOR * self._usual and work <= MORE_WORK * self._work:
            cut = (self.cap, value)
            base = min(self.cap, peak)
            self._fall(base, math.ceil(base * DEEPEST_FALL))
            self._cut = cut
            return True
        if value <= SLOW_FACTOR * self._usual:
            self._usual += NEWEST_WEIGHT * (value - self._usual)
            self._work += NEWEST_WEIGHT * (work - self._work)
        return False


WARN_AFTER = 5.0
"""Seconds without an answer, including the wait for the next attempt, after which the user is warned."""
WARN_AFTER_UNDER_WAY = 15.0
"""The same while calls under way may still be answered, without the wait for the next attempt."""
WARN_EVERY = 30.0
"""Seconds between two warnings."""
OVERLOADED = (503, 529)
"""HTTP statuses besides 429 that report an overloaded endpoint."""
FAILED = frozenset(("rate_limit", "server", "timeout", "connection", "malformed", "empty"))
"""Outcomes of a call after which the endpoint may be doing no work at all."""
ANSWERED = frozenset(("context_overflow", "refused", "refusal", "content_filter", "bad_request"))
"""Errors that show that the endpoint processed the call."""


def refused_unprocessed(kind: str, status: int | None) -> bool:
    """Whether the endpoint turned the call away unprocessed: 429, 503, 529."""
    return kind == "rate_limit" or status in OVERLOADED


class Silence:
    """A period in which an endpoint answers no call, in times of the event loop (s).

    It begins with a failed call and ends with the next answered one, or when no call is being retried any more
    (`retry_of`). `since` is None outside such a period. When the last call failed, `under_way` calls could still be
    answered and `queued` calls waited to be sent.
    """

    __slots__ = ("_said", "_tries", "_ways", "calls", "name", "queued", "retried", "since", "under_way")

    def __init__(self, name: str) -> None:
        self.name = name
        self.since: float | None = None
        self.retried = 0
        self._begin(None)

    def _begin(self, since: float | None) -> None:
        self.since = since
        self.calls = self.under_way = self.queued = 0
        self._ways: list[str] = []
        self._tries: list[float] = []
        self._said: float | None = None

    def failed(self, kind: str, status: int | None, now: float, under_way: int, queued: int = 0) -> None:
        """Note a failed call while so many others are under way; if the endpoint processed it, the silence ends."""
        if kind in ANSWERED:
            self.end(now)
        if kind not in FAILED:
            return
        if self.since is None:
            self._begin(now)
        self.calls += 1
        self.under_way, self.queued = under_way, queued
        way = f"HTTP {status}" if status is not None and status >= 400 else kind.replace("_", " ")
        if way not in self._ways:
            self._ways.append(way)

    def end(self, now: float) -> None:
        """End the silence, because a call was answered."""
        if self._said is not None and self.since is not None:
            log.warning(f"{self.name} answers again, after {now - self.since:.0f} s")
        self._begin(None)

    def forget(self) -> None:
        """Forget the silence: the endpoint's state is unknown."""
        self._begin(None)

    def lasted(self, now: float) -> float:
        """Seconds since the silence began; 0 if there is none, or if a call under way may end it."""
        return now - self.since if self.since is not None and not self.under_way else 0.0

    def is_long(self, now: float) -> bool:
        """Whether the silence is too long for a few failed calls among others."""
        return self.since is not None and now - self.since >= WARN_AFTER

    def next_try(self, at: float, now: float) -> None:
        """Note that a call will be retried at `at`; warn the user of a long silence, but not too often."""
        if self.since is None:
            return
        while self._tries and self._tries[0] <= now:
            heappop(self._tries)
        heappush(self._tries, at)
        once = self.calls == 1 and self.queued  # the next call in the queue will show whether others fail too
        due = (self._said is None or now - self._said >= WARN_EVERY) and not once
        if due and (now - self.since >= WARN_AFTER_UNDER_WAY if self.under_way else at - self.since >= WARN_AFTER):
            self._said = now
            log.warning(f"{self.name} {self.summary(now)}")

    def summary(self, now: float) -> str:
        """A description of the silence; "" if there is none."""
        if self.since is None:
            return ""
        more = f", {self.under_way:,} under way" if self.under_way else ""
        later = min((at for at in self._tries if at > now), default=now)
        again = f"; tried again at {_clock(later, now)}" if later > now else ""
        times = count_noun(self.calls, "time")
        return f"answers {self._what()} since {_clock(self.since, now)}, {times} so far{more}{again}"

    def stop_message(self, now: float) -> str:
        """The message for a run that stops because of the silence."""
        said = f"{self.name} answered {self._what()} for {self.lasted(now):.0f} s, {count_noun(self.calls, 'time')}"
        if self._ways == ["connection"]:
            return f"{said}: see whether it still runs, or use another endpoint"
        return f"{said}: see what it allows (load, rate limit, credit), or use another endpoint or key"

    def _what(self) -> str:
        ways = ", ".join(self._ways)
        return f"{ways} to every call" if len(self._ways) == 1 and ways.startswith("HTTP") else f"no call ({ways})"


@contextmanager
def retry_of(silences: Sequence[Silence]) -> Iterator[None]:
    """A block in which a failed call is made again; with the end of the last such block the silences are forgotten."""
    for silence in silences:
        silence.retried += 1
    try:
        yield
    finally:
        for silence in silences:
            silence.retried -= 1
            if not silence.retried:
                silence.forget()


def _clock(at: float, now: float) -> str:
    """A time of the event loop as a time of day."""
    return time.strftime("%H:%M:%S", time.localtime(time.time() + at - now))
