"""A process at work on a run: what it holds, how it shows that it lives, and what it is told to do."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from wardround.engine.budget import Budget, Spending
from wardround.engine.events import Row
from wardround.engine.records import Ending, EpisodeRow, Json

BEAT = 1.0
"""Seconds between two signs of life."""
LEASE = 30.0
"""Seconds without one after which a session counts as dead and what it held is free."""


class RunControl(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the run's operator wants now; the processes at work ask with every beat.

    `state` is run, pause (no action begins, nothing is dropped) or stop (drain and end). `concurrency` is for each
    process; None leaves it as it is. `timeout` and `patience` (seconds) take the place of the run's settings in
    processes that begin from now on.
    """

    state: str = "run"
    concurrency: int | None = None
    budget: Budget = Budget()
    timeout: float | None = None
    patience: float | None = None


class SessionRow(msgspec.Struct, frozen=True):
    """A session as a store lists it, times in seconds since the epoch; `told` is what it last said of itself (JSON).

    `ended` is None while it is at work or died without a word; `alive` says whether it was heard within LEASE.
    """

    id: int
    run: str
    host: str
    pid: int
    began: float
    seen: float
    ended: float | None
    alive: bool
    told: Mapping[str, Json]


class Session(Protocol):
    """One process's hold on a run: episodes it took are nobody else's while it beats."""

    id: int

    async def take(self, count: int, among: Sequence[str] = ()) -> Sequence[EpisodeRow]:
        """At most `count` open episodes that no living session holds, in their order; now held by this one.

        Only those `among` if any are named. An episode whose holder died comes after the others: it may have been
        the cause.
        """
        ...

    async def others(self) -> int:
        """Number of open episodes that other living sessions hold."""
        ...

    async def append(
        self,
        episode: str,
        rows: Sequence[Row],
        *,
        ending: Ending | None = None,
        spent: Mapping[str, Spending] | None = None,
    ) -> None:
        """As Store.append, and book what each seat spent in the same commit; an ending also lets go of the episode.

        Raises LeaseLost if another session has taken the episode meanwhile; then nothing of this is written.
        """
        ...

    async def beat(self, told: Mapping[str, Json]) -> RunControl:
        """Show that it lives, say how it stands, and hear the orders."""
        ...

    async def end(self) -> None:
        """Let go of what it holds."""
        ...
