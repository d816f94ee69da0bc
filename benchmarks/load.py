"""The work that is measured, and how: episodes of chained calls, so many at once, each call so slow."""

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Load:
    """`episodes` of `calls` calls that follow each other, `concurrency` episodes at once, `latency` seconds a call."""

    episodes: int = 2000
    calls: int = 5
    concurrency: int = 200
    latency: float = 0.2
    turn_chars: int = 1000

    @property
    def limit(self) -> float:
        """Seconds that no client can beat: the latency of the calls, in as many rows as run at once."""
        return self.episodes * self.calls * self.latency / self.concurrency


@dataclass
class Measured:
    """What one client needed for the load: seconds of wall and of CPU (all threads of this process)."""

    wall: float = 0.0
    cpu: float = 0.0
    more: dict[str, float] = field(default_factory=dict)


@contextmanager
def measuring() -> Iterator[Measured]:
    """Measure the block."""
    measured = Measured()
    began, cpu = time.perf_counter(), _cpu()
    yield measured
    measured.wall, measured.cpu = time.perf_counter() - began, _cpu() - cpu


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
