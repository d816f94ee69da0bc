"""Replays, reopens and forks stored episodes, all by the same fold over their events."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from wardround.engine.episode import TIMEOUT, Caster, Ended, Episode, EpisodeSetup, boundary
from wardround.engine.errors import LogError, ReplayError
from wardround.engine.events import Acted, Called, Closed, Event, Opened, Reopened, effective
from wardround.engine.limits import Limits
from wardround.engine.misbehaviour import contain_plugin
from wardround.engine.protocols import AnyScenario
from wardround.engine.records import Action, Ending
from wardround.engine.trajectory import EpisodeLog, discard


async def replay(
    events: Sequence[Event], scenario: AnyScenario, case: object, cast: Caster, trusted: Collection[str] = ()
) -> int:
    """Play an episode again from its recorded calls and check that it comes out the same.

    `events` are decoded events, whose hash chain has been checked. Times, latency, usage and cost are not compared. An
    agent whose class says `outside = True` (a person) cannot be asked again: its recorded actions are taken as they
    are, like those copied by a fork. `trusted` is as in `EpisodeSetup`. Returns the number of actions compared; raises
    ReplayError naming the first difference.
    """
    with contain_plugin():
        return await _replay(events, scenario, case, cast, trusted)


async def _replay(
    events: Sequence[Event], scenario: AnyScenario, case: object, cast: Caster, trusted: Collection[str]
) -> int:
    live = [event for event in effective(events) if not isinstance(event, Reopened)]
    log = EpisodeLog(discard)
    log.events = list(live[:1])
    setup = EpisodeSetup(scenario, case, cast, log, limits=Limits(actions=None, act_calls=None), trusted=trusted)
    setup.recorded.replaying = True
    episode = Episode(setup)
    episode.history = events
    try:
        return await _compare(episode, setup, events, live)
    finally:
        episode.end()


async def _compare(episode: Episode, setup: EpisodeSetup, events: Sequence[Event], live: Sequence[Event]) -> int:
    """Play the `live` events again and compare them; returns the number of actions compared."""
    with _at(0):
        episode.recall()
    position, compared = 1, 0
    opened = live[0]
    reopened = max((event.seq for event in events if isinstance(event, Reopened)), default=-1)
    copied = opened.forked_at if isinstance(opened, Opened) else -1
    for number, acted in enumerate((event for event in live if isinstance(event, Acted)), 1):
        position = _load(setup, live, position) + 1
        if number <= copied:  # the agents of the original episode took these
            with _at(acted.seq):
                episode.show(acted)
            continue
        await _repeat(episode, acted)
        _no_call_left(setup, acted.seq, reopened)
        setup.log.events.append(acted)
        with _at(acted.seq):
            episode.take(acted)
        compared += 1
    position = _load(setup, live, position)
    if position < len(live):
        await _same_ending(episode, live[position])
    return compared


@contextmanager
def _at(seq: int) -> Iterator[None]:
    """Report an exception of plug-in code, or a difference, in the block as a difference at event `seq`."""
    try:
        yield
    except Ended as ended:
        raise ReplayError(f"event {seq} differs: {ended.ending.detail}", seq=seq) from ended
    except ReplayError as error:
        raise ReplayError(f"event {seq} differs: {error}", seq=seq) from error


def _load(setup: EpisodeSetup, live: Sequence[Event], position: int) -> int:
    """Hand the next recorded calls to the episode; returns the position of the first event that is not a call."""
    while position < len(live) and isinstance(call := live[position], Called):
        setup.recorded.add(call)
        position += 1
    return position


async def _repeat(episode: Episode, acted: Acted) -> None:
    with _at(acted.seq):
        if episode.ending() is not None:
            raise ReplayError(f"event {acted.seq}: the rules say the episode was over before it", seq=acted.seq)
        seat, view = episode.turn()
        if seat != acted.seat:
            raise ReplayError(
                f"event {acted.seq} is an action of {acted.seat}; it was the turn of {seat}", seq=acted.seq
            )
        if episode.outside(seat):
            return
        action = await episode.act(seat, view)
    if difference := _difference(acted.action, action):
        raise ReplayError(f"event {acted.seq} differs: {difference}", seq=acted.seq)


def _difference(stored: Action, again: Action) -> str:
    recorded, repeated = msgspec.structs.asdict(stored), msgspec.structs.asdict(again)
    for field in ("verb", "text", "args", "thinking", "memo"):
        before, after = through_json(recorded[field]), through_json(repeated[field])
        if before != after:
            return f"{field} was {short_repr(before)} and is now {short_repr(after)}"
    return ""


def through_json(value: object) -> object:
    """The value as it comes back from JSON, with tuples as lists."""
    return msgspec.json.decode(msgspec.json.encode(value))


def short_repr(value: object) -> str:
    """The `repr` of a value, cut to 120 characters."""
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _no_call_left(setup: EpisodeSetup, seq: int, reopened: int) -> None:
    """Raise ReplayError if a recorded call was not made again; calls before the last reopening may differ."""
    if unused := [call for call in setup.recorded.unused() if call.seq > reopened]:
        call = unused[0]
        raise ReplayError(
            f"event {call.seq}: this call ({call.purpose}) is no longer made before event {seq}", seq=call.seq
        )


async def _same_ending(episode: Episode, closed: Event) -> None:
    assert isinstance(closed, Closed)
    stored = closed.ending
    if stored.cause == "limit" or stored.reason == TIMEOUT:
        return  # an act that took too long then may be faster now
    try:
        again = episode.ending()
        if again is None:
            seat, view = episode.turn()
            if episode.outside(seat):
                return
            await episode.act(seat, view)
            again = Ending("none", detail="the episode goes on")
    except Ended as ended:
        again = ended.ending
    except ReplayError as error:
        raise ReplayError(f"event {closed.seq} differs: {error}", seq=closed.seq) from error
    facts = {name: again.facts.get(name) for name in stored.facts}  # later versions may read more from an episode
    if (stored.cause, stored.reason, through_json(stored.facts)) != (again.cause, again.reason, through_json(facts)):
        raise ReplayError(
            f"event {closed.seq} differs: it ended by {stored.cause} {stored.reason}, "
            f"and now by {again.cause} {again.reason}",
            seq=closed.seq,
        )


def last_kept_when_reopened(events: Sequence[Event], scenario: AnyScenario, case: object) -> int:
    """The number of the last event to keep when a closed episode is reopened: its last action that did not end it.

    Raises Ended if the rules fail.
    """
    keep = 0
    with boundary("rules"):
        state = scenario.start(case)
        for event in effective(events):
            if isinstance(event, Acted):
                state = scenario.apply(state, event)
                if scenario.ending(state) is None:
                    keep = event.seq
    return keep


def fork(events: Sequence[Event], after: int, opened: Opened) -> list[Event]:
    """The events of a fork: its own first event, then those up to action `after` (1 is the first; 0 copies none).

    Calls of an act that is not copied are dropped. Raises LogError if there are fewer actions.
    """
    child: list[Event] = [opened]
    moved: dict[int, int] = {}
    pending: list[Called] = []
    copied = 0
    for event in effective(events):
        if copied == after:
            break
        if isinstance(event, Called):
            pending.append(event)
        elif isinstance(event, Acted):
            for call in pending:
                moved[call.seq] = len(child)
                child.append(msgspec.structs.replace(call, seq=len(child), since=moved.get(call.since, -1)))
            pending = []
            child.append(msgspec.structs.replace(event, seq=len(child), of=moved.get(event.of, -1)))
            copied += 1
    if copied < after:
        raise LogError(
            f"the episode has {copied} actions; it cannot be forked after action {after}", seq=len(events) - 1
        )
    return child
