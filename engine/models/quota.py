"""Defines the quota of an endpoint and key, by minute and by day, and its fixed share for one of several processes."""

import time
from collections.abc import Mapping

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Clock, Json
from wardround.engine.text import count_noun

_NAMES = {
    "in_flight": "calls in flight",
    "rpm": "requests a minute",
    "tpm": "tokens a minute",
    "daily_requests": "requests a day",
    "daily_tokens": "tokens a day",
}


class Quota(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Limits of one endpoint and key; None is no limit.

    `in_flight` calls at the same time, `rpm` requests and `tpm` tokens (prompt and completion) in any 60 seconds,
    `daily_requests` and `daily_tokens` from 00:00 to 24:00 UTC.
    """

    in_flight: int | None = None
    rpm: int | None = None
    tpm: int | None = None
    daily_requests: int | None = None
    daily_tokens: int | None = None

    def __post_init__(self) -> None:
        for name, value in self.limits():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UsageError(f"{name}: {_NAMES[name]} must be a whole number above 0, not {value!r}")

    def limits(self) -> list[tuple[str, int]]:
        """(name, value) of the limits that are set."""
        return [(name, value) for name, value in msgspec.structs.asdict(self).items() if value is not None]

    def share(self, n: int, of: int) -> "Quota":
        """The fixed share of worker `n` (from 1) of `of`: whole numbers of at least 1 that add up to the whole.

        Raises UsageError if there are more workers than a limit has units: a worker with a share of 0 could never send,
        and shares of 1 for all would exceed the limit.
        """
        if not 1 <= n <= of:
            raise UsageError(f"there is no share {n} of {of}: shares are counted from 1")
        for name, value in self.limits():
            if value < of:
                raise UsageError(
                    f"{of} workers cannot share {value} {_NAMES[name]} ({name}): use at most {value} workers"
                )
        return Quota(**{name: value // of + (n <= value % of) for name, value in self.limits()})


def read_quota(fields: Mapping[str, Json], where: str) -> Quota:
    """A quota from a table of a settings file; raises UsageError whose message begins with `where`."""
    try:
        return msgspec.convert(fields, Quota)
    except msgspec.ValidationError as error:
        known = ", ".join(_NAMES)
        raise UsageError(f"{where}: {error}; a quota has {known}") from None


WINDOW = 60.0
"""The window (s) over which a limit a minute is counted."""
SLACK = 0.1
"""The share of a minute's limit that may be saved up when calls need less than was reserved for them."""
TOLERANCE = 1e-6
"""The fraction of a request or token for which no call waits."""


class Bucket:
    """A token bucket that grants at most `limit` in any 60 seconds.

    It grants at most a second's worth at once (at least 1) and the rest evenly, because endpoints that allow 600 a
    minute often mean 10 a second. The burst counts against the minute, so that a limit of 600 sustains 591 a minute. An
    amount above a second's worth is granted when the bucket is full; the next call waits for the overdraft. Times are
    in seconds of any monotonic clock.
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
        # A rounding error must not wake a waiting call too early again and again.
        return missing / self._rate if missing > TOLERANCE else 0.0

    def take(self, amount: float) -> None:
        """Take an amount, overdrawing if necessary."""
        self._level -= amount

    def give(self, amount: float, now: float) -> None:
        """Give back an unused amount; a negative amount takes what was used in excess."""
        self._flow(now)
        self._level = min(self._level + amount, max(self._level, self._slack))

    def _flow(self, now: float) -> None:
        if now > self._at:
            if self._level < self._size:
                self._level = min(self._size, self._level + (now - self._at) * self._rate)
            self._at = now


DAY = 86400


class Day:
    """Counts the requests and tokens of the present day (UTC), starting from `spent`."""

    __slots__ = ("_clock", "_day", "_quota", "reached", "requests", "tokens")

    def __init__(self, quota: Quota, spent: tuple[int, int] = (0, 0), clock: Clock = time.time) -> None:
        self._quota, self._clock = quota, clock
        self._day = int(clock() // DAY)
        self.requests, self.tokens = spent
        self.reached = ""
        self.used_up(0)

    def used_up(self, tokens: int) -> str:
        """The limit that a call of so many tokens would exceed, also kept as `reached` for the day; "" if none."""
        self.turn()
        quota, limit = self._quota, ""
        if quota.daily_requests is not None and self.requests >= quota.daily_requests:
            limit = count_noun(quota.daily_requests, "request")
        elif quota.daily_tokens is not None and self.tokens + max(1, tokens) > quota.daily_tokens:
            limit = count_noun(quota.daily_tokens, "token")
        self.reached = limit or self.reached
        return limit

    def turn(self) -> None:
        """Reset the counts if midnight (UTC) has passed."""
        day = int(self._clock() // DAY)
        if day != self._day:
            self._day, self.requests, self.tokens, self.reached = day, 0, 0, ""
