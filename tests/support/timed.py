"""A store as two processes have it open, and time that passes when a test says so."""

from collections.abc import Callable
from dataclasses import dataclass

from wardround.engine.events import Row, chain
from wardround.engine.protocols import Store
from wardround.engine.records import EpisodeRow


class Hands:
    """A clock that stands still until it is moved (seconds)."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class Timed:
    """`store` and `other` are the same one, opened twice; `later` lets seconds pass."""

    store: Store
    other: Store
    later: Callable[[float], None]


def planned(*names: str) -> list[EpisodeRow]:
    """Rows of episodes that are to be planned, each of its own case."""
    return [EpisodeRow(name, number, f"case {name}", 1, None, "", 0, 0.0) for number, name in enumerate(names)]


def rows(start: int, count: int, previous: bytes = b"") -> list[Row]:
    """Events that follow each other."""
    made = []
    for seq in range(start, start + count):
        body = f'{{"seq": {seq}}}'.encode()
        previous = chain(previous, body)
        made.append(Row(seq, previous, body))
    return made
