"""How long something takes, in a measure that holds on any machine: what a fixed piece of work takes there."""

import gc
import re
from time import process_time
from types import TracebackType
from typing import Self

_WORDS, _REPEATS = re.compile(r"(\w+): *(\w+)"), 4000


class Pace:
    """Measures its block: `taken` is its processor time, by which a machine at other work is none the slower, in
    hundredths of a second of a machine of 2025 at its ease: where fixed work takes longer, so may this.
    """

    taken = 0.0

    def __enter__(self) -> Self:
        gc.collect()
        gc.freeze()  # else the collector goes through what all tests before left, at the cost of this one
        self._yard = _yard()
        self._begun = process_time()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        spent = process_time() - self._begun
        self.taken = spent / max(self._yard, _yard())


def _yard() -> float:
    """Seconds that the fixed work takes: characters, lists, dictionaries and a pattern, as readers of text need."""
    best = float("inf")
    for _ in range(3):
        begun = process_time()
        found: dict[str, int] = {}
        for number in range(_REPEATS):
            for name, value in _WORDS.findall(f"sodium: {number} potassium: low, pain: {number % 7}"):
                found[f"{name} {value}"] = found.get(name, 0) + len(value.strip().casefold())
        best = min(best, process_time() - begun)
    return best
