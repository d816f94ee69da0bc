"""Simulated endpoints: models that take loop time, refuse above a capacity, or slow down, and count what they did."""

import asyncio
import random
from collections.abc import Sequence

from wardround.engine.errors import ProviderError
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message, Usage


class Simulated(Model):
    """Serves `capacity` calls at once and refuses others with 429 after `refusal` seconds.

    A call takes `latency` seconds times `slowness(calls in service)`, give or take a half, and `tokens` tokens.
    `window` is (requests, seconds): more in a fixed window are refused too, with Retry-After if `says`.
    """

    host = "far.example"
    name = "m"

    def __init__(
        self, capacity: int = 10**9, latency: float = 1.0, *, refusal: float = 0.02, tokens: int = 100
    ) -> None:
        self.capacity, self.latency, self.refusal, self.tokens = capacity, latency, refusal, tokens
        self.window: tuple[int, float] | None = None
        self.says = False
        self.load = 0.0
        self.serving = self.served = self.refused = self.most = 0
        self.began: list[float] = []
        self._random = random.Random(0)
        self._used: tuple[int, int] = (0, 0)

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """One call."""
        now = asyncio.get_running_loop().time()
        self.began.append(now)
        left = self._window(now)
        if self.serving >= self.capacity or left is not None:
            self.refused += 1
            await asyncio.sleep(self.refusal)
            raise ProviderError("rate_limit", "slow down", status=429, retry_after=left if self.says else None)
        self.serving += 1
        self.most = max(self.most, self.serving)
        try:
            slowness = 1.0 + self.load * self.serving
            await asyncio.sleep(self.latency * slowness * self._random.uniform(0.5, 1.5))
        finally:
            self.serving -= 1
        self.served += 1
        return Completion(messages[-1].content, usage=Usage(10, self.tokens))

    def _window(self, now: float) -> float | None:
        """Seconds to the next window if this one is used up."""
        if self.window is None:
            return None
        most, length = self.window
        number = int(now // length)
        used = self._used[1] if self._used[0] == number else 0
        if used >= most:
            return (number + 1) * length - now
        self._used = (number, used + 1)
        return None

    async def aclose(self) -> None:
        """Nothing."""


async def work(model: Model, seconds: float, workers: int) -> int:
    """Workers that call one after another for so many seconds; the number of calls that came back."""
    loop = asyncio.get_running_loop()
    end, done = loop.time() + seconds, 0

    async def worker() -> None:
        nonlocal done
        while loop.time() < end:
            await model.complete([Message("user", "hello")], purpose="test")
            done += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(workers):
            group.create_task(worker())
    return done
