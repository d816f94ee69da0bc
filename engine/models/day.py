"""What an endpoint's daily quota still allows, by the calendar of UTC."""

from wardround.engine.clock import Clock, wall
from wardround.engine.models.quota import Quota

DAY = 86400


class Day:
    """Requests and tokens of the present day, from a count with which the process began."""

    __slots__ = ("_clock", "_day", "_quota", "reached", "requests", "tokens")

    def __init__(self, quota: Quota, spent: tuple[int, int] = (0, 0), clock: Clock = wall) -> None:
        self._quota, self._clock = quota, clock
        self._day = int(clock() // DAY)
        self.requests, self.tokens = spent
        self.reached = ""
        self.used_up(0)

    def used_up(self, tokens: int) -> str:
        """Which limit a call of so many tokens would go beyond, also kept as `reached` for the day; "" if none."""
        self.turn()
        quota, limit = self._quota, ""
        if quota.daily_requests is not None and self.requests >= quota.daily_requests:
            limit = f"{quota.daily_requests} requests"
        elif quota.daily_tokens is not None and self.tokens + max(1, tokens) > quota.daily_tokens:
            limit = f"{quota.daily_tokens} tokens"
        self.reached = limit or self.reached
        return limit

    def turn(self) -> None:
        """Count anew if midnight has passed."""
        day = int(self._clock() // DAY)
        if day != self._day:
            self._day, self.requests, self.tokens, self.reached = day, 0, 0, ""
