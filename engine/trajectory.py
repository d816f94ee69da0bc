"""The events of one episode: its log, its stored trajectory, and the recorded calls of an act that is repeated."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from wardround.engine.budget import Spending, spending_of
from wardround.engine.events import Acted, Called, Closed, Event, Opened, Row, decode, effective, encode
from wardround.engine.records import Clock, Ending, Json, Message, Usage


class Trajectory:
    """All events of one episode, in order, with the run's header.

    ::

        async for trajectory in run:
            words = [event.action.text for event in trajectory.acted("player")]
            print(trajectory.opened.case, trajectory.ending, len(words), trajectory.usage("player").cost)

    `acted` leaves out events that a reopening made void; `called` and `usage` include them, because they were paid for.
    `header` is the run's JSON object: scenario with its settings, seats, seed, limits, versions.
    """

    __slots__ = ("events", "header")

    def __init__(self, events: Sequence[Event], header: Mapping[str, Json]) -> None:
        self.events = tuple(events)
        self.header = header

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)

    @property
    def opened(self) -> Opened:
        """The first event."""
        first = self.events[0]
        if not isinstance(first, Opened):
            raise TypeError("an episode starts with an `opened` event")
        return first

    @property
    def closed(self) -> Closed | None:
        """The last event if the episode is closed."""
        last = self.events[-1]
        return last if isinstance(last, Closed) else None

    @property
    def ending(self) -> Ending | None:
        """How it ended; None while open."""
        return self.closed.ending if self.closed else None

    def acted(self, seat: str | None = None) -> Iterator[Acted]:
        """The actions, or those of one seat."""
        return (e for e in effective(self.events) if isinstance(e, Acted) and (seat is None or e.seat == seat))

    def called(self, seat: str | None = None) -> Iterator[Called]:
        """The calls, or those of one seat."""
        return (e for e in self.events if isinstance(e, Called) and (seat is None or e.seat == seat))

    def usage(self, seat: str | None = None) -> Usage:
        """Tokens and cost over all calls; the cost is None if the cost of any call is unknown."""
        return sum((call.reply.usage for call in self.called(seat) if call.reply), Usage(cost=0))

    def messages(self, call: Called) -> Sequence[Message]:
        """The whole conversation that a call sent."""
        return messages_of(call, self.events)


def messages_of(call: Called, events: Sequence[Event]) -> list[Message]:
    """The whole conversation that a call sent, assembled from the calls that it continues.

    Raises TypeError if it continues an event that is not a call, which only happens in a log of another program.
    """
    parts: list[Sequence[Message]] = [call.new]
    while call.since >= 0:
        earlier = events[call.since]
        if not isinstance(earlier, Called):
            raise TypeError(f"event {call.seq} continues event {call.since}, which is not a call")
        if call.echo and earlier.reply is not None:
            parts.append([earlier.reply.as_message()])
        parts.append(earlier.new)
        call = earlier
    return [message for part in reversed(parts) for message in part]


class Sink(Protocol):
    """Writes the next events of one episode and what each seat spent on them; they are durable when it returns.

    A call with an empty list waits for earlier writes.
    """

    async def __call__(self, rows: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending], /) -> None:
        """Write the events, and close the episode if there is an `ending`."""


async def discard(rows: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending], /) -> None:
    """The sink of a log that is not kept."""


class EpisodeLog:
    """The events of one episode: those already stored (`rows`), then those added."""

    __slots__ = ("_ending", "_hash", "_pending", "_sink", "_spent", "_writing", "clock", "events")

    def __init__(self, sink: Sink, rows: Sequence[Row] = (), clock: Clock = time.time) -> None:
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

    @property
    def begun(self) -> bool:
        """Whether there is more than the first event, which costs nothing to repeat."""
        return len(self.events) > 1

    def add(self, event: Event, ending: Ending | None = None) -> None:
        """Append an event that carries the number `next`; `ending` also closes the episode's row in the store."""
        reply = None
        if isinstance(event, Acted) and event.of >= 0:
            called = self.events[event.of]
            reply = called.reply if isinstance(called, Called) else None
        row = encode(event, self._hash, reply)  # may fail; then nothing must be kept or booked
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


CANCELLED = "cancelled"
"""Kind of a failed call that the agent gave up: it cancelled it, or its act ended before it."""


class RecordedCalls:
    """The recorded calls of the act that is being repeated, by key and occurrence.

    While `replaying`, a call that was not recorded is an error and is not made.
    """

    __slots__ = ("_calls", "_seen", "replaying")

    def __init__(self) -> None:
        self._calls: dict[tuple[str, int], Called] = {}
        self._seen: dict[str, int] = {}
        self.replaying = False

    def add(self, call: Called) -> None:
        """Keep a call of the log."""
        self._calls[call.key, call.nth] = call

    def occurrence(self, key: str) -> int:
        """Count a request for this call; returns how often it was requested before in this act."""
        nth = self._seen.get(key, 0)
        self._seen[key] = nth + 1
        return nth

    def take(self, key: str, nth: int) -> Called | None:
        """Remove and return the recorded call, or None."""
        return self._calls.pop((key, nth), None)

    def unused(self) -> Sequence[Called]:
        """Recorded calls that were not requested, in the order of the log."""
        return sorted(self._calls.values(), key=lambda call: call.seq) if self._calls else ()

    def has_cancelled(self) -> bool:
        """Whether a call that the agent gave up before was not requested yet."""
        return any(call.error and call.error[0] == CANCELLED for call in self._calls.values())

    def drop_failures(self) -> None:
        """Forget the failed calls: a reopened episode makes these again, and no others."""
        self._calls = {place: call for place, call in self._calls.items() if call.reply is not None}

    def clear(self) -> None:
        """Begin the next act."""
        self._calls.clear()
        self._seen.clear()
