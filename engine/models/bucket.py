"""A limit a minute as a token bucket: in no 60 seconds more than the limit, and never much of it at once."""

WINDOW = 60.0
"""Seconds that a limit a minute is counted over."""
SLACK = 0.1
"""Part of a minute's limit that may be saved up when calls turn out smaller than was reserved for them."""
TOLERANCE = 1e-6
"""Part of a request or token that nobody waits for."""


class Bucket:
    """Grants amounts so that what is granted in any 60 seconds is at most `limit`.

    At most a second's worth comes at once (at least 1), and the rest flows evenly: endpoints that say 600 a minute
    often mean 10 a second. What may come at once is taken off the minute, so a limit of 600 sustains 591 a minute. An
    amount above a second's worth is granted when the bucket is full, and what it overdraws is waited for by the next.
    Times are in seconds of any clock that never goes back.
    """

    __slots__ = ("_at", "_level", "_rate", "_size", "_slack")

    def __init__(self, limit: int) -> None:
        self._size = max(1.0, limit / WINDOW)
        self._rate = (limit - self._size + 1.0) / WINDOW
        self._slack = max(self._size, limit * SLACK)
        self._level, self._at = self._size, 0.0

    def wait(self, amount: float, now: float) -> float:
        """Seconds until `amount` can be taken; 0.0 if now."""
        self._flow(now)
        missing = min(amount, self._size) - self._level
        # A rounding error must not make who waits wake too early again and again.
        return missing / self._rate if missing > TOLERANCE else 0.0

    def take(self, amount: float) -> None:
        """Take it, overdrawing if need be."""
        self._level -= amount

    def give(self, amount: float, now: float) -> None:
        """Give back what was taken and not used; a negative amount takes what was used beyond."""
        self._flow(now)
        self._level = min(self._level + amount, max(self._level, self._slack))

    def _flow(self, now: float) -> None:
        if now > self._at:
            if self._level < self._size:
                self._level = min(self._size, self._level + (now - self._at) * self._rate)
            self._at = now
