"""Tries a model again when trying again can help: the only place of the project where anything is retried."""

import asyncio
import random
from collections.abc import Sequence

import anyio
import msgspec

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.bound import bound
from wardround.engine.models.hosts import hosts_of
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message
from wardround.engine.waiting import waiting

PASSING = frozenset(("rate_limit", "server", "timeout", "connection", "malformed", "empty"))
"""Kinds of error that may pass; all others come back at once."""


HONOURED = 3
"""Times in a row that an endpoint is taken at its word about how long to wait."""


class Patience(msgspec.Struct, frozen=True):
    """How long to go on trying.

    After the n-th failed attempt it waits for a time drawn evenly from 0 to min(`longest`, `first` * 2**(n-1)) seconds
    (full jitter), from `seed`; after a rate limit from the upper half of that, so that 14 attempts outlast any quota
    window of 60 seconds. Where the endpoint says how long to wait (Retry-After), it waits that long and a drawn part
    of it more, at most of 4 * `first`; from the HONOURED-th refusal on no shorter than after n - HONOURED without such
    word, since it has not proved true. No wait where another endpoint stands ready. No attempt starts later than
    `total` seconds after the first, not counting the time in which calls waited for a free place; `attempts` counts
    the first.
    """

    attempts: int = 14
    total: float = 600.0
    first: float = 0.25
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
        self.name, self.host, self.hosts = model.name, model.host, hosts_of(model)
        self._random = random.Random(self.patience.seed)

    def bound(self, role: str, episode: str) -> "Retrying":
        """For one seat and episode; the draws of the waits are shared."""
        inner = bound(self.model, role, episode)
        if inner is self.model:
            return self
        made: Retrying = object.__new__(Retrying)
        made.__dict__.update(self.__dict__)
        made.model = inner
        return made

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The completion, with the number of attempts and the time over all of them, and the waits among it.

        Raises the last ProviderError, its message telling how often and how long it was tried.
        """
        now = asyncio.get_running_loop().time  # a fifth of the cost of anyio's
        start = now()
        try:
            return await self.model.complete(messages, purpose=purpose, **options)
        except ProviderError as error:
            failed = error
        attempts, queued, slept = 1, failed.waited, 0.0
        while True:
            spent = now() - start - queued
            wait = self._wait(failed, attempts, spent)
            if wait is None:
                raise _told(failed, attempts, spent + queued) from None
            with waiting():
                await anyio.sleep(wait)
            attempts, slept = attempts + 1, slept + wait
            try:
                reply = await self.model.complete(messages, purpose=purpose, **options)
            except ProviderError as error:
                failed = error
                queued += failed.waited
            else:
                latency = now() - start
                waited = min(latency, queued + slept + reply.waited)
                return msgspec.structs.replace(reply, attempts=attempts, latency=latency, waited=waited)

    def _wait(self, failed: ProviderError, attempts: int, spent: float) -> float | None:
        """Seconds until the next attempt, or None if there is to be none."""
        patience = self.patience
        if attempts >= patience.attempts:
            return None
        if failed.elsewhere:
            wait = 0.0
        elif failed.kind not in PASSING:
            return None
        elif failed.retry_after is not None:
            wait = failed.retry_after + self._random.uniform(0, min(failed.retry_after, 4 * patience.first))
            if attempts > HONOURED:
                wait = max(wait, self._drawn(attempts - HONOURED, 0.5))
        else:
            wait = self._drawn(attempts, 0.5 if failed.kind == "rate_limit" else 0.0)
        return wait if spent + wait <= patience.total else None

    def _drawn(self, attempts: int, least: float) -> float:
        """A wait between `least` of the longest after so many attempts and the whole of it."""
        # 2.0 ** 60 is beyond any cap, and a larger exponent would overflow.
        longest = min(self.patience.longest, self.patience.first * 2.0 ** min(attempts - 1, 60))
        return self._random.uniform(least * longest, longest)

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
