"""Replay proves equality or names the first difference; forks and reopened episodes go on from where they should."""

import msgspec
import pytest
from play import Shelf, Words, play, table, toy_cast
from toy import Caller, Counting

from wardround.engine.episode import Episode
from wardround.engine.errors import LogError, ProviderError, ReplayError
from wardround.engine.events import Acted, Called, Event, Opened, Reopened, Row, chain, decode, effective, encode
from wardround.engine.records import Action, Completion, View
from wardround.engine.replay import fork, last_kept_when_reopened, replay
from wardround.engine.trajectory import Trajectory


async def played(goal: int = 9) -> Shelf:
    shelf = Shelf()
    await play(shelf, Words(), goal)
    return shelf


async def test_a_finished_episode_replays_without_a_call() -> None:
    shelf, model = await played(), Words()
    assert await replay(decode(shelf.rows), Counting(), 9, toy_cast(model)) == 9
    assert model.made == []


async def test_every_altered_event_is_named() -> None:
    shelf = await played()
    for number, row in enumerate(shelf.rows):
        rows = list(shelf.rows)
        rows[number] = Row(row.seq, row.hash, row.body.replace(b"1", b"2", 1) + b" ")
        with pytest.raises(LogError, match=f"event {number} ") as caught:
            decode(rows)
        assert caught.value.seq == number


async def test_a_missing_event_is_named() -> None:
    shelf = await played()
    with pytest.raises(LogError, match="event 3 is missing"):
        decode([*shelf.rows[:3], *shelf.rows[4:]])


def stored(events: list[Event]) -> list[Row]:
    rows, previous = [], b""
    for event in events:
        row = encode(event, previous)
        rows.append(row)
        previous = row.hash
    return rows


def rechained(events: list[Event]) -> list[Event]:
    """Events altered by somebody who also mended the hashes."""
    return list(decode(stored(events)))


async def test_an_action_that_comes_out_differently_is_named() -> None:
    events = list(decode((await played()).rows))
    place = next(i for i, e in enumerate(events) if isinstance(e, Acted) and e.seat == "echo" and i > 4)
    acted = events[place]
    assert isinstance(acted, Acted)
    events[place] = msgspec.structs.replace(acted, action=Action("say", "something else"))
    with pytest.raises(ReplayError, match="text was 'something else' and is now") as caught:
        await replay(rechained(events), Counting(), 9, toy_cast(Words()))
    assert caught.value.seq == place


async def test_a_changed_reply_is_found_at_the_action_that_rests_on_it() -> None:
    events = list(decode((await played()).rows))
    place = next(i for i, e in enumerate(events) if isinstance(e, Called))
    call = events[place]
    assert isinstance(call, Called)
    events[place] = msgspec.structs.replace(call, reply=Completion("another word"))
    events[place + 1] = msgspec.structs.replace(events[place + 1], of=-1)
    with pytest.raises(ReplayError) as caught:
        await replay(rechained(events), Counting(), 9, toy_cast(Words()))
    assert caught.value.seq == place + 1


async def test_an_agent_that_makes_another_call_is_found() -> None:
    class Chatty(Caller):
        async def act(self, view: View) -> Action:
            if len(view.heard) == 4:
                view = msgspec.structs.replace(view, brief="count aloud")
            return await super().act(view)

    events = decode((await played()).rows)
    with pytest.raises(ReplayError, match="that the log does not have"):
        await replay(events, Counting(), 9, toy_cast(Words(), Chatty))


async def test_an_agent_that_makes_fewer_calls_is_found() -> None:
    class Terse(Caller):
        async def act(self, view: View) -> Action:
            action = await super().act(msgspec.structs.replace(view, memo={"n": 0}))
            return msgspec.structs.replace(action, memo={"n": (view.memo or {"n": 0})["n"] + 1})

    events = decode((await played()).rows)
    with pytest.raises(ReplayError) as caught:
        await replay(events, Counting(), 9, toy_cast(Words(), Terse))
    assert isinstance(events[caught.value.seq], Acted | Called)


async def test_an_episode_that_failed_replays_to_the_same_failure() -> None:
    class Down(Words):
        async def complete(self, messages, *, purpose, **options):  # type: ignore[no-untyped-def]
            if len(self.made) == 3:
                raise ProviderError("server", "500")
            return await super().complete(messages, purpose=purpose, **options)

    shelf = Shelf()
    await play(shelf, Down())
    assert await replay(decode(shelf.rows), Counting(), 9, toy_cast(Words())) > 0


@pytest.mark.parametrize("after", range(10))
async def test_a_fork_goes_on_from_every_action(after: int) -> None:
    whole = await played()
    events = decode(whole.rows)
    opened = Opened(seq=0, at=1.0, episode="child", case="case", case_hash="", scenario="counting", seed=1, repeat=1)
    child = fork(events, after, opened)
    assert sum(isinstance(event, Acted) for event in child) == after
    shelf = Shelf(stored(child))
    await play(shelf, Words())
    actions = [event.action for event in decode(shelf.rows) if isinstance(event, Acted)]
    assert actions == [event.action for event in events if isinstance(event, Acted)]


async def test_a_fork_beyond_the_end_says_how_many_actions_there_are() -> None:
    events = decode((await played()).rows)
    opened = events[0]
    assert isinstance(opened, Opened)
    with pytest.raises(LogError, match="has 9 actions"):
        fork(events, 10, opened)


async def test_a_reopened_episode_goes_on_and_drops_what_ended_it() -> None:
    class Mute(Caller):
        async def act(self, view: View) -> Action:
            return Action("say", "") if len(view.heard) == 4 else await super().act(view)

    shelf = Shelf()
    ending = await play(shelf, Words(), caller=Mute)
    assert ending is not None
    assert ending.cause == "caller"
    events = decode(shelf.rows)
    keep = last_kept_when_reopened(events, Counting(), 9)
    seated = table(shelf, Words())
    seated.log.add(Reopened(seq=seated.log.next, at=0.0, causes=("caller",), keep=keep))
    ending = await Episode(seated).play()
    assert ending is not None
    assert ending.cause == "completed"
    trajectory = Trajectory(decode(shelf.rows), {})
    assert len(list(trajectory.acted())) == 9
    assert all(event.action.text for event in trajectory.acted())
    assert await replay(decode(shelf.rows), Counting(), 9, toy_cast(Words())) == 9
    assert [e.seq for e in effective(trajectory.events)] != [e.seq for e in trajectory.events]


def test_the_chain_depends_on_every_earlier_event() -> None:
    assert chain(b"a", b"body") != chain(b"b", b"body")
