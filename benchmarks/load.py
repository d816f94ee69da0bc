"""The work that is measured: episodes of calls that follow each other, many at once, each call with a latency."""

import gc
import random
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

BRIEF = "You are a doctor."
"""The system message of every conversation."""


@dataclass(frozen=True)
class Load:
    """The work of one measurement.

    `concurrency` of the `episodes` run at once; each makes `calls` calls, one after the other, of `latency` seconds. At
    each turn a conversation grows by a question of `turn_chars` characters and the server's answer of about 1,000.
    """

    episodes: int = 2000
    calls: int = 5
    concurrency: int = 200
    latency: float = 0.2
    turn_chars: int = 1000

    @property
    def total(self) -> int:
        """The calls of all episodes."""
        return self.episodes * self.calls

    @property
    def limit(self) -> float:
        """The seconds that every client needs: the latency of all calls, of which `concurrency` run at once."""
        return self.total * self.latency / self.concurrency

    @property
    def question(self) -> str:
        """The question of each turn."""
        return prose(self.turn_chars)

    def __str__(self) -> str:
        return (
            f"{self.episodes:,} episodes of {self.calls} calls, {self.concurrency:,} at once, "
            f"{self.latency * 1000:g} ms a call"
        )


@cache
def prose(chars: int, seed: int = 0) -> str:
    """Return made-up words, which a store compresses as well as prose."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("etaoinshrdlucmfwy", k=draw.randint(2, 11))) for _ in range(1500)]
    return " ".join(draw.choices(words, k=chars // 2 + 1))[:chars]


@dataclass
class Measured:
    """What one client needed for the load: seconds on the clock, and of CPU in all threads of this process."""

    wall: float = 0.0
    cpu: float = 0.0
    more: dict[str, float] = field(default_factory=dict)


@contextmanager
def measuring() -> Iterator[Measured]:
    """Measure the block; the garbage of earlier work is collected before and does not count."""
    gc.collect()
    measured = Measured()
    began, cpu = time.perf_counter(), _cpu()
    yield measured
    measured.wall, measured.cpu = time.perf_counter() - began, _cpu() - cpu


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
