"""One episode's log while it is played: it stamps events, keeps them, and makes them durable when told to."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from wardround.engine.clock import Clock, wall
from wardround.engine.events import Acted, Called, Event, Row, decode, encode
from wardround.engine.records import Ending
from wardround.engine.spending import Spending, spending_of


class Sink(Protocol):
    """Takes the next events of one episode, and what each seat spent on them; durable when it returns.

    An empty list waits for earlier ones.
    """

    async def __call__(self, rows: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending], /) -> None:
        """Write."""
        ...


class EpisodeLog:
    """The events of one episode, first those already stored (`rows`), then those added."""

    __slots__ = ("_ending", "_hash", "_pending", "_sink", "_spent", "_writing", "clock", "events")

    def __init__(self, sink: Sink, rows: Sequence[Row] = (), clock: Clock = wall) -> None:
        self.events: list[Event] = list(decode(rows))
        self.clock = clock
        self._hash = rows[-1].hash if rows else b""
        self._pending: list[Row] = []
        self._ending: Ending | None = None
        self._spent: dict[str, Spending] = {}
        self._sink = sink
        self._writing = 0

    @property
    def next(self) -> int:
        """The number of the next event."""
        return len(self.events)

    def add(self, event: Event, ending: Ending | None = None) -> None:
        """Append an event that carries the number `next`; `ending` also closes the episode's row in the store."""
        reply = None
        if isinstance(event, Acted) and event.of >= 0:
            called = self.events[event.of]
            reply = called.reply if isinstance(called, Called) else None
        row = encode(event, self._hash, reply)  # may fail, and then nothing is to be kept or booked
        if isinstance(event, Called):
            spent = spending_of(event.reply)
            earlier = self._spent.get(event.seat)
            self._spent[event.seat] = earlier + spent if earlier else spent
        self._hash = row.hash
        self.events.append(event)
        self._pending.append(row)
        self._ending = ending or self._ending

    async def flush(self) -> None:
        """Return when every event added so far is durable."""
        if not self._pending and not self._writing:
            return
        rows, ending, spent = self._pending, self._ending, self._spent
        self._pending, self._ending, self._spent = [], None, {}
        self._writing += 1
        try:
            await self._sink(rows, ending, spent)
        finally:
            self._writing -= 1
