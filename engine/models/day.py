"""What an endpoint's daily quota still allows, by the calendar of UTC."""

from wardround.engine.clock import Clock, wall
from wardround.engine.models.quota import Quota

DAY = 86400


class Day:
    """Requests and tokens of the present day, from a count with which the process began."""

    __slots__ = ("_clock", "_day", "_quota", "requests", "tokens")

    def __init__(self, quota: Quota, spent: tuple[int, int] = (0, 0), clock: Clock = wall) -> None:
        self._quota, self._clock = quota, clock
        self._day = int(clock() // DAY)
        self.requests, self.tokens = spent

    def used_up(self, tokens: int) -> str:
        """Which limit a call of so many tokens would go beyond: `requests`, `tokens`, or ""."""
        self.turn()
        quota = self._quota
        if quota.daily_requests is not None and self.requests >= quota.daily_requests:
            return f"{quota.daily_requests} requests"
        if quota.daily_tokens is not None and self.tokens + tokens > quota.daily_tokens:
            return f"{quota.daily_tokens} tokens"
        return ""

    def turn(self) -> None:
        """Count anew if midnight has passed."""
        day = int(self._clock() // DAY)
        if day != self._day:
            self._day, self.requests, self.tokens = day, 0, 0
