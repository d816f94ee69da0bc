"""Tries a model again when trying again can help: the only place of the project where anything is retried."""

import random
from collections.abc import Sequence
from time import monotonic

import anyio
import msgspec

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message

PASSING = frozenset(("rate_limit", "server", "timeout", "connection", "malformed", "empty"))
"""Kinds of error that may pass; all others come back at once."""


class Patience(msgspec.Struct, frozen=True):
    """How long to go on trying.

    After the n-th failed attempt it waits for a time drawn evenly from 0 to min(`longest`, `first` * 2**(n-1)) seconds
    (full jitter), from `seed`. Where the endpoint says how long to wait (Retry-After), it waits that long and a drawn
    part of `first` more. No attempt starts later than `total` seconds after the first; `attempts` counts the first.
    The defaults wait three minutes in the mean, and outlast a quota window of 60 seconds in 999 of 1,000 cases.
    """

    attempts: int = 12
    total: float = 600.0
    first: float = 1.0
    longest: float = 60.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.attempts < 1 or min(self.total, self.first, self.longest) < 0:
            raise UsageError(f"retries need at least one attempt and no negative time: {self}")


ONCE = Patience(attempts=1)
"""No second attempt."""


class Retrying:
    """A model tried again with `patience`; a call that succeeds at once costs nothing more."""

    def __init__(self, model: Model, patience: Patience | None = None) -> None:
        self.model, self.patience = model, patience or Patience()
        self.name, self.host = model.name, model.host
        self._random = random.Random(self.patience.seed)

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The completion, with the number of attempts and the time over all of them, waits included.

        Raises the last ProviderError, its message telling how often and how long it was tried.
        """
        start = monotonic()
        try:
            return await self.model.complete(messages, purpose=purpose, **options)
        except ProviderError as error:
            failed = error
        attempts = 1
        while True:
            wait = self._wait(failed, attempts, monotonic() - start)
            if wait is None:
                raise _told(failed, attempts, monotonic() - start) from None
            await anyio.sleep(wait)
            attempts += 1
            try:
                reply = await self.model.complete(messages, purpose=purpose, **options)
            except ProviderError as error:
                failed = error
            else:
                return msgspec.structs.replace(reply, attempts=attempts, latency=monotonic() - start)

    def _wait(self, failed: ProviderError, attempts: int, spent: float) -> float | None:
        """Seconds until the next attempt, or None if there is to be none."""
        patience = self.patience
        if failed.kind not in PASSING or attempts >= patience.attempts:
            return None
        if failed.retry_after is not None:
            wait = failed.retry_after + self._random.uniform(0, patience.first)
        else:
            # 2.0 ** 60 is beyond any cap, and a larger exponent would overflow.
            wait = self._random.uniform(0, min(patience.longest, patience.first * 2.0 ** min(attempts - 1, 60)))
        return wait if spent + wait <= patience.total else None

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()


def _told(failed: ProviderError, attempts: int, spent: float) -> ProviderError:
    """The same error, with what was tried."""
    if attempts == 1 and failed.kind not in PASSING:
        return failed
    times = "1 attempt" if attempts == 1 else f"{attempts} attempts in {spent:.1f} s"
    asked = "" if failed.retry_after is None else f"; it asks to wait {failed.retry_after:g} s"
    return ProviderError(
        failed.kind, f"{failed} (gave up after {times}{asked})", status=failed.status, retry_after=failed.retry_after
    )
