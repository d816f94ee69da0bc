"""Who holds which episode of a store, against a model of a few lines."""

from collections import Counter

import anyio
from hypothesis import given
from hypothesis import strategies as st
from timed import Hands

from wardround.engine.protocols import Store
from wardround.engine.records import Ending, EpisodeRow
from wardround.engine.sessions import LEASE, Session
from wardround.testing.memory_store import MemoryStore

NAMES = "abcdefgh"
WHO = st.integers(1, 3)
STEP = st.one_of(
    st.tuples(st.just("take"), WHO, st.tuples(st.integers(0, 4), st.lists(st.sampled_from(NAMES), max_size=5))),
    st.tuples(st.sampled_from(["open", "close"]), WHO, st.sampled_from(NAMES)),
    st.tuples(st.sampled_from(["dies", "lives", "ends", "killed"]), WHO, st.none()),
)


class Model:
    """Which session holds which of the episodes NAMES, by the rules in words."""

    def __init__(self) -> None:
        self.open, self.holder, self.deaths = set(NAMES), dict[str, int](), Counter[str]()
        self.dead: set[int] = set()

    def taken(self, who: int, count: int, among: list[str]) -> list[str]:
        """The first open episodes that no living session holds, those with the fewest dead holders first."""
        self.dead.discard(who)
        free = [n for n in NAMES if n in self.open and (not among or n in among)]
        free = [n for n in free if self.holder.get(n, 0) in {0, *self.dead}]
        free.sort(key=lambda name: (self.deaths[name], name))
        for name in free[:count]:
            self.deaths[name] += name in self.holder
            self.holder[name] = who
        return free[:count]

    def lets_go(self, who: int, *, killed: bool) -> None:
        for name in [name for name, one in self.holder.items() if one == who]:
            self.deaths[name] += killed
            del self.holder[name]

    def others(self, who: int) -> int:
        return sum(one != who and one not in self.dead for one in self.holder.values())


async def compare(steps: list[tuple[str, int, object]]) -> None:
    hands, model = Hands(), Model()
    store: Store = MemoryStore(clock=hands)
    rows = [EpisodeRow(name, number, "c", 1, None, "", 0, 0.0) for number, name in enumerate(NAMES)]
    for run in ("r", "another"):
        await store.create_run(run, {}, rows)
    sessions: dict[int, Session] = {who: await store.begin("r", host="h", pid=who) for who in (1, 2, 3)}
    try:
        for what, who, more in steps:
            match what, more:
                case "take", (int(count), list(among)):
                    rows = list(await sessions[who].take(count, among))
                    assert [row.id for row in rows] == model.taken(who, count, among)
                case "open", str(name):
                    model.open.add(name)
                    await store.reopen("r", [name])
                case "close", str(name):
                    model.open.discard(name)
                    model.holder.pop(name, None)
                    await store.append("r", name, [], ending=Ending("completed"))
                case "dies", _:
                    model.dead.add(who)
                    hands.move(LEASE + 1)
                    for other in sorted({1, 2, 3} - model.dead):
                        await sessions[other].beat({})
                case "lives", _:
                    model.dead.discard(who)
                    await sessions[who].beat({})
                case _:
                    model.lets_go(who, killed=what == "killed")
                    await (store.release(sessions[who].id) if what == "killed" else sessions[who].end())
            assert [await sessions[one].others() for one in (1, 2, 3)] == [model.others(one) for one in (1, 2, 3)]
    finally:
        await store.aclose()


@given(steps=st.lists(STEP, max_size=40))
def test_a_session_gets_the_first_episodes_that_no_living_session_holds(steps: list[tuple[str, int, object]]) -> None:
    anyio.run(compare, steps)


async def test_a_session_takes_them_in_their_order() -> None:
    store = MemoryStore()
    await store.create_run("r", {}, [EpisodeRow(f"e{n}", n, "c", 1, None, "", 0, 0.0) for n in range(80)])
    session = await store.begin("r", host="h", pid=1)
    for turn in range(20):
        assert [row.number for row in await session.take(4)] == list(range(4 * turn, 4 * turn + 4))
    await store.aclose()
