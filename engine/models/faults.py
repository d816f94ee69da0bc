"""What the loopback server can be told to do wrong, and when."""

import random
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from wardround.engine.errors import UsageError

KINDS = (
    "rate_limit",  # 429, with Retry-After if `retry_after` is given
    "quota",  # 429 that no waiting mends
    "server_error",  # 500
    "reset",  # the connection is reset, nothing is sent
    "stall",  # nothing is sent for `seconds`, then the reply
    "truncated",  # the reply breaks off in the middle
    "malformed",  # 200, and a body that is no JSON
    "web_page",  # 200, and HTML
    "empty",  # 200, and a message without text
    "no_choices",  # 200, and no message
    "refusal",  # 200, and a formal refusal
    "filtered",  # 400 of a content filter
    "context_overflow",  # 400
    "unknown_model",  # 404
    "expired_key",  # 401
    "redirect",  # 307 to `location`
)


class Fault(msgspec.Struct, frozen=True):
    """One thing to do wrong; `retry_after` is seconds, or a text sent as it is (an HTTP date)."""

    kind: str
    retry_after: float | str | None = None
    seconds: float = 3600.0
    location: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"there is no fault {self.kind!r}; there are: {', '.join(KINDS)}")


class Faults(Protocol):
    """Says which request goes wrong, and how."""

    def pick(self, number: int, digest: str, occurrence: int) -> Fault | None:
        """For the `number`-th request (from 0), the `occurrence`-th (from 0) with the body of hash `digest`."""
        ...


class Schedule:
    """The n-th request suffers the n-th fault; None is none, and what comes after the list goes well."""

    def __init__(self, faults: Sequence[Fault | str | None]) -> None:
        self._faults = [Fault(fault) if isinstance(fault, str) else fault for fault in faults]

    def pick(self, number: int, digest: str, occurrence: int) -> Fault | None:
        """The fault of this request."""
        return self._faults[number] if number < len(self._faults) else None


class Rates:
    """Each request goes wrong with given probabilities, drawn from the seed, its body and how often it came.

    So the draw does not depend on the order in which requests arrive. `first` limits faults to that many occurrences
    of one body.
    """

    def __init__(self, rates: Mapping[Fault | str, float], seed: int = 0, first: int | None = None) -> None:
        self._rates = [(Fault(kind) if isinstance(kind, str) else kind, rate) for kind, rate in rates.items()]
        self._seed, self._first = seed, first
        if sum(rates.values()) > 1 or any(rate < 0 for rate in rates.values()):
            raise UsageError(f"rates of faults must lie between 0 and 1 together, not {list(rates.values())}")

    def pick(self, number: int, digest: str, occurrence: int) -> Fault | None:
        """The fault of this request."""
        if self._first is not None and occurrence >= self._first:
            return None
        draw = random.Random(f"{self._seed}/{digest}/{occurrence}").random()
        for fault, rate in self._rates:
            draw -= rate
            if draw < 0:
                return fault
        return None
