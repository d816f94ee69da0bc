"""How an endpoint does: how many calls it can take at once, and since when it lets none through."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush
from statistics import median

import structlog

ROUND = 50
"""Calls that are judged together, at least; as many as run at once where that is more."""
SHARE = 0.05
"""Part of a round that may be refused (429) before there must be fewer calls at once."""
DEEPEST, MILDEST = 0.5, 0.9
"""The cap falls at most to the one part of itself, and at least to the other."""
RAISE = 0.1
"""Part of itself by which the cap rises after a good round; at least one call."""
PROBE = 4
"""Good rounds before the cap goes where it met trouble the last time."""
SAFE, QUICK = 0.5, 10
"""Up to this part of where it met trouble the cap doubles after every good round, of no more than so many calls."""
SLOW = 3.0
"""Times the usual latency that count as trouble: model latencies differ much without any."""
MORE = 1.1
"""Times the usual work that count as more work."""
BETTER = 0.8
"""Part of the latency before a cut that the cut must bring it down to, or it is taken back."""
START = 50
"""Tokens that the fixed part of a call's latency counts for."""
MEMORY = 0.2
"""Weight of a new round in the usual latency."""


class Adaptive:
    """A cap between 1 and `top` (None: whatever is asked for), in calls at the same time.

    Calls are judged in rounds of those that began after the last change of the cap, so that a burst of refusals is one
    event and not many. As soon as a round has more refusals than SHARE of it, the cap falls: to the calls that the
    endpoint still serves, less a tenth, but at most by half. It falls too, by half, when the latency (by completion
    tokens) is SLOW times the usual one and the endpoint does no more work than usual; if that does not help, the cap
    is set back and the latency is the usual one from then on. After a good round in which the cap held calls back it
    rises: doubled up to half of where it last met trouble, else by a tenth, and only after PROBE good rounds to where
    that was.
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
        """A call that began in `epoch` was served, well or not, in `latency` seconds with so many completion tokens."""
        if epoch != self.epoch:
            return
        self._seen += 1
        self._done += START + tokens
        self._times.append(latency / (START + tokens))
        if self._began is None:
            self._began = now - latency
        if self._seen >= (QUICK if self._recovering() else self._round()):
            self._judge(now)

    def refused(self, epoch: int, now: float, in_flight: int) -> bool:
        """A call was refused (429) while `in_flight` others run; whether the cap fell for it."""
        if epoch != self.epoch:
            return False
        self._seen += 1
        self._refused += 1
        size = self._round()
        if self._refused <= SHARE * size:
            if self._seen >= size:
                self._judge(now)
            return False
        base = min(self.cap, max(self._peak, in_flight + 1))
        served = max(base * DEEPEST, in_flight * MILDEST)
        self._fall(base, min(math.ceil(served), math.ceil(base * MILDEST)))
        self._cut = None
        return True

    def saw(self, in_flight: int) -> None:
        """So many calls run."""
        if in_flight > self._peak:
            self._peak = in_flight
            self._most = max(self._most, in_flight)

    def _round(self) -> float:
        return max(ROUND, min(self.cap, self._peak))

    def _recovering(self) -> bool:
        return self.cap < SAFE * self._ceiling < math.inf

    def _fall(self, base: float, to: float) -> None:
        # Several falls without a good round between them are one trouble, which began at the highest.
        self._ceiling = base if self._calm else max(base, self._ceiling)
        self._calm = False
        self._change(max(1.0, min(to, base - 1)))

    def _change(self, cap: float) -> None:
        self.cap = cap
        self.epoch += 1
        self._good = 0
        self._begin(None)

    def _judge(self, now: float) -> None:
        """A round is over without too many refusals."""
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
        if self.cap >= self._ceiling:  # where there was trouble there is none any more
            self._ceiling = math.inf
        if self._recovering():
            higher = min(2 * self.cap, max(self.cap + 1, math.floor(SAFE * self._ceiling)))
        else:
            higher = min(self.top, self.cap + max(1.0, math.floor(self.cap * RAISE)))
        if higher >= self._ceiling and self._good < PROBE:
            return
        self._change(higher)

    def _slow(self, value: float, work: float, peak: int) -> bool:
        """Look at a round's latency and work done; whether the cap was changed for it."""
        before, self._cut = self._cut, None
        if before is not None and value > before[1] * BETTER:
            # Fewer calls did not make it faster, so it is not our load that makes it slow.
            self._usual, self._work = value, work
            self._change(before[0])
            return True
        if self._usual is None:
            self._usual, self._work = value, work
            return False
        loaded = 2 * peak >= min(self.cap, self._most)
        if loaded and peak > 1 and value > SLOW * self._usual and work <= MORE * self._work:
            cut = (self.cap, value)
            base = min(self.cap, peak)
            self._fall(base, math.ceil(base * DEEPEST))
            self._cut = cut
            return True
        if value <= SLOW * self._usual:
            self._usual += MEMORY * (value - self._usual)
            self._work += MEMORY * (work - self._work)
        return False


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
