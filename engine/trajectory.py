"""A stored episode as a reader sees it."""

from collections.abc import Iterator, Mapping, Sequence

from wardround.engine.events import Acted, Called, Closed, Event, Opened, effective
from wardround.engine.records import Ending, Json, Message, Usage


class Trajectory:
    """All events of one episode, in order, with the run's header.

    `acted` leaves out what a reopening made void; `called` and `usage` do not: it was paid for.
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
        """The actions, of one seat if named."""
        return (e for e in effective(self.events) if isinstance(e, Acted) and (seat is None or e.seat == seat))

    def called(self, seat: str | None = None) -> Iterator[Called]:
        """The calls, of one seat if named."""
        return (e for e in self.events if isinstance(e, Called) and (seat is None or e.seat == seat))

    def usage(self, seat: str | None = None) -> Usage:
        """Tokens and cost over all calls; the cost is None if that of one of them is not known."""
        replies = [call.reply.usage for call in self.called(seat) if call.reply]
        costs = [usage.cost for usage in replies]
        return Usage(
            prompt=sum(usage.prompt for usage in replies),
            completion=sum(usage.completion for usage in replies),
            reasoning=sum(usage.reasoning for usage in replies),
            cached=sum(usage.cached for usage in replies),
            cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        )

    def messages(self, call: Called) -> Sequence[Message]:
        """The whole conversation that a call sent."""
        return messages_of(call, self.events)


def messages_of(call: Called, events: Sequence[Event]) -> list[Message]:
    """The whole conversation that a call sent, put together from the calls it continues."""
    parts: list[Sequence[Message]] = [call.new]
    while call.since >= 0:
        earlier = events[call.since]
        if not isinstance(earlier, Called):
            raise TypeError(f"event {call.seq} continues event {call.since}, which is no call")
        if call.echo and earlier.reply is not None:
            parts.append([Message("assistant", earlier.reply.text)])
        parts.append(earlier.new)
        call = earlier
    return [message for part in reversed(parts) for message in part]
