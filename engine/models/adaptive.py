"""How many calls an endpoint can take at once, learnt from what comes back; no clock and no task of its own."""

import math
from statistics import median

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
