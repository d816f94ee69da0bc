"""Taking, writing, ending and dying in any order, against a model of a few lines; then the same in real processes."""

from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from examples import at_most
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sharing import check_sharing
from timed import Timed, planned, rows

from wardround.engine.errors import LeaseLost
from wardround.engine.records import Ending
from wardround.engine.sessions import LEASE, Session
from wardround.engine.stores.sqlite import SqliteStore

EPISODES = "abcdef"
WHO = st.integers(0, 2)
STEP = st.one_of(
    st.tuples(st.just("take"), WHO, st.integers(1, 4)),
    st.tuples(st.just("append"), WHO, st.sampled_from(EPISODES)),
    st.tuples(st.just("close"), WHO, st.sampled_from(EPISODES)),
    st.tuples(st.sampled_from(["beat", "end", "release"]), WHO, st.none()),
    st.tuples(st.just("later"), st.just(0), st.sampled_from([4.5, 13.0, LEASE + 5])),
    st.tuples(st.just("reopen"), st.just(0), st.none()),
)
_runs = count()


@dataclass
class Model:
    """What should be: silence of each session (None once it ended), holder, length and lost holders of each episode."""

    silence: list[float | None] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    holder: dict[str, int] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=lambda: dict.fromkeys(EPISODES, 0))
    closed: set[str] = field(default_factory=set)
    deaths: Counter[str] = field(default_factory=Counter)

    def alive(self, who: int) -> bool:
        silence = self.silence[who]
        return silence is not None and silence < LEASE

    def take(self, who: int, wanted: int) -> list[str]:
        self.silence[who] = 0.0
        free = [e for e in EPISODES if e not in self.closed and not (e in self.holder and self.alive(self.holder[e]))]
        free.sort(key=lambda episode: (self.deaths[episode], episode))
        for episode in free[:wanted]:
            self.deaths[episode] += episode in self.holder
            self.holder[episode] = who
        return free[:wanted]

    def end(self, who: int, *, dead: bool = False) -> None:
        self.silence[who] = None
        if dead:
            self.deaths.update(episode for episode, holder in self.holder.items() if holder == who)
        self.holder = {episode: holder for episode, holder in self.holder.items() if holder != who}

    def later(self, seconds: float) -> None:
        self.silence = [None if silence is None else silence + seconds for silence in self.silence]

    def write(self, who: int, episode: str, *, closing: bool) -> bool:
        if self.holder.get(episode) != who:
            return False
        self.events[episode] += 1
        if closing:
            self.closed.add(episode)
            del self.holder[episode]
        return True


async def step(timed: Timed, run: str, sessions: list[Session], model: Model, done: tuple[str, int, object]) -> None:
    what, who, with_what = done
    match what, with_what:
        case "take", int(wanted):
            assert [row.id for row in await sessions[who].take(wanted)] == model.take(who, wanted)
        case (("append" | "close"), str(episode)):
            ending = Ending("completed") if what == "close" else None
            start = model.events[episode]
            if model.write(who, episode, closing=what == "close"):
                await sessions[who].append(episode, rows(start, 1), ending=ending)
            else:
                with pytest.raises(LeaseLost):
                    await sessions[who].append(episode, rows(start, 1), ending=ending)
        case "beat", _:
            model.silence[who] = 0.0
            await sessions[who].beat({})
        case "end", _:
            model.end(who)
            await sessions[who].end()
        case "release", _:
            model.end(who, dead=True)
            await timed.other.release(sessions[who].id)
        case "later", float(seconds):
            model.later(seconds)
            timed.later(seconds)
        case _:
            await timed.store.reopen(run, EPISODES)
            model.closed.clear()


@pytest.mark.long
@settings(at_most(60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(STEP, max_size=30))
async def test_no_episode_is_held_twice_and_nothing_acknowledged_is_lost(
    timed: Timed, steps: list[tuple[str, int, object]]
) -> None:
    run, model = f"r{next(_runs)}", Model()
    await timed.store.create_run(run, {}, planned(*EPISODES))
    opened = (timed.store, timed.other, timed.store)
    sessions: list[Session] = [await store.begin(run, host="h", pid=n) for n, store in enumerate(opened)]
    for done in steps:
        await step(timed, run, sessions, model, done)
    listed = [row async for row in timed.other.episodes(run)]
    assert {row.id: row.events for row in listed} == model.events
    assert {row.id for row in listed if row.cause} == model.closed
    for episode, length in model.events.items():
        assert [row.seq async for row in timed.other.read(run, episode)] == list(range(length))
    for who, session in enumerate(sessions):
        mine = [e for e, holder in model.holder.items() if holder != who and model.alive(holder)]
        assert await session.others() == len(mine)


@pytest.mark.long
async def test_three_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    store = SqliteStore(path)
    await check_sharing(store, str(path))
    await store.aclose()
