"""An endpoint that lets no call through: since when, how many it turned away, and the word to the user about it."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush

import structlog

SOON = 5.0
"""Seconds without an answer, the wait for the next attempt among them, after which the user hears of it."""
LATER = 15.0
"""The same while calls are under way that may still be answered, the wait not among them."""
AGAIN = 30.0
"""Seconds between two such words."""
OVERLOADED = (503, 529)
"""HTTP statuses by which endpoints say that they have too much to do, besides 429."""
FAILED = frozenset(("rate_limit", "server", "timeout", "connection", "malformed", "empty"))
"""Ends of a call that leave it open whether the endpoint does any work at all."""
ANSWERED = frozenset(("context_overflow", "refused", "refusal", "content_filter", "bad_request"))
"""Ends of a call that the endpoint looked at."""

log = structlog.get_logger("wardround")


def refused(kind: str, status: int | None) -> bool:
    """Whether an endpoint turned a call away without looking at it: 429, 503, 529."""
    return kind == "rate_limit" or status in OVERLOADED


class Silence:
    """Begins with a call that fails and ends with the next that is answered, in times of the event loop (s).

    It ends too when no call is tried again any more (`trying`). `since` is None while there is none; `under_way` is
    the number of calls that might still have been answered when the last one failed, `queued` of those that waited to
    be sent.
    """

    __slots__ = ("_said", "_tries", "_ways", "calls", "name", "queued", "since", "tried", "under_way")

    def __init__(self, name: str) -> None:
        self.name = name
        self.since: float | None = None
        self.tried = 0
        self._begin(None)

    def _begin(self, since: float | None) -> None:
        self.since = since
        self.calls = self.under_way = self.queued = 0
        self._ways: list[str] = []
        self._tries: list[float] = []
        self._said: float | None = None

    def failed(self, kind: str, status: int | None, now: float, under_way: int, queued: int = 0) -> None:
        """A call failed while so many others are under way; if it was looked at all the same, the silence is over."""
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
        """A call was answered."""
        if self._said is not None and self.since is not None:
            log.warning(f"{self.name} answers again, after {now - self.since:.0f} s")
        self._begin(None)

    def forget(self) -> None:
        """Nobody knows any more how the endpoint does."""
        self._begin(None)

    def lasted(self, now: float) -> float:
        """Seconds since it began; 0 if there is none, or if a call under way may end it."""
        return now - self.since if self.since is not None and not self.under_way else 0.0

    def next_try(self, at: float, now: float) -> None:
        """A call will be made again at `at`; the user is told if the silence is long and was not spoken of lately."""
        if self.since is None:
            return
        while self._tries and self._tries[0] <= now:
            heappop(self._tries)
        heappush(self._tries, at)
        once = self.calls == 1 and self.queued  # the next in the queue will tell whether it is more than one call
        due = (self._said is None or now - self._said >= AGAIN) and not once
        if due and (now - self.since >= LATER if self.under_way else at - self.since >= SOON):
            self._said = now
            log.warning(f"{self.name} {self.told(now)}")

    def told(self, now: float) -> str:
        """How it stands, in words; "" if there is none."""
        if self.since is None:
            return ""
        times = "once" if self.calls == 1 else f"{self.calls:,} times"
        more = f", {self.under_way:,} under way" if self.under_way else ""
        later = min((at for at in self._tries if at > now), default=now)
        again = f"; tried again at {_clock(later, now)}" if later > now else ""
        return f"answers {self._what()} since {_clock(self.since, now)}, {times} so far{more}{again}"

    def hopeless(self, now: float) -> str:
        """Why the run is stopped for it."""
        said = f"{self.name} answered {self._what()} for {self.lasted(now):.0f} s, {self.calls:,} times"
        if self._ways == ["connection"]:
            return f"{said}: see whether it still runs, or use another endpoint"
        return f"{said}: see what it allows (load, rate limit, credit), or use another endpoint or key"

    def _what(self) -> str:
        ways = ", ".join(self._ways)
        return f"{ways} to every call" if len(self._ways) == 1 and ways.startswith("HTTP") else f"no call ({ways})"


@contextmanager
def trying(silences: Sequence[Silence]) -> Iterator[None]:
    """A call that failed is tried again inside; with the last such call a silence is forgotten."""
    for silence in silences:
        silence.tried += 1
    try:
        yield
    finally:
        for silence in silences:
            silence.tried -= 1
            if not silence.tried:
                silence.forget()


def _clock(at: float, now: float) -> str:
    """A time of the event loop as the time of day."""
    return time.strftime("%H:%M:%S", time.localtime(time.time() + at - now))
