"""Several processes at one run: who holds what, who is dead, who pays, and what the operator wants."""

import anyio
import pytest
from timed import Timed, planned, rows

from wardround.engine.budget import Budget, Caps, Spending, SpendRow
from wardround.engine.errors import LeaseLost, StoreError, UsageError
from wardround.engine.protocols import Store
from wardround.engine.records import Ending
from wardround.engine.sessions import LEASE, RunControl, Session


async def two(timed: Timed, *episodes: str) -> tuple[Session, Session]:
    """Two processes at a run of these episodes."""
    await timed.store.create_run("r", {}, planned(*episodes))
    return await timed.store.begin("r", host="one", pid=11), await timed.other.begin("r", host="two", pid=22)


async def taken(session: Session, count: int) -> list[str]:
    return [row.id for row in await session.take(count)]


async def test_what_one_takes_nobody_else_gets(timed: Timed) -> None:
    one, other = await two(timed, *"abcde")
    assert await taken(one, 2) == ["a", "b"]
    assert await taken(other, 2) == ["c", "d"]
    assert await taken(one, 5) == ["e"]
    assert await taken(other, 5) == []
    assert (await one.others(), await other.others()) == (2, 3)


async def test_only_those_named_are_taken(timed: Timed) -> None:
    one, other = await two(timed, *"abcdef")
    assert [row.id for row in await one.take(2, among=["f", "c", "e", "nobody"])] == ["c", "e"]
    assert [row.id for row in await other.take(9, among=["f", "c", "e"])] == ["f"]
    assert await taken(other, 9) == ["a", "b", "d"]


async def test_an_ending_lets_go(timed: Timed) -> None:
    one, other = await two(timed, *"ab")
    await one.take(2)
    await one.append("a", rows(0, 2), ending=Ending("completed"))
    assert await other.others() == 1
    assert await taken(other, 2) == []
    with pytest.raises(LeaseLost):
        await one.append("a", rows(2, 1))
    await one.append("b", rows(0, 1))
    await timed.store.reopen("r", ["a", "b"])
    await one.append("b", rows(1, 1))
    assert await taken(other, 2) == ["a"]


async def test_the_dead_are_inherited_and_may_not_write(timed: Timed) -> None:
    one, other = await two(timed, *"abc")
    await one.take(2)
    await one.append("a", rows(0, 2))
    timed.later(LEASE - 5)
    await other.beat({})
    assert await taken(other, 3) == ["c"]
    timed.later(10)
    assert await other.others() == 0
    assert [(row.id, row.events) for row in await other.take(3)] == [("a", 2), ("b", 0)]
    with pytest.raises(LeaseLost, match="episode a of run r"):
        await one.append("a", rows(2, 1), spent={"x": Spending(calls=1)})
    await other.append("a", rows(2, 1))
    assert [row.seq async for row in timed.store.read("r", "a")] == [0, 1, 2]
    assert await timed.store.spending() == []


async def test_one_whose_lease_ran_out_unnoticed_goes_on(timed: Timed) -> None:
    one, other = await two(timed, "a")
    await one.take(1)
    timed.later(3 * LEASE)
    assert [row.alive for row in await timed.store.sessions("r")] == [False, False]
    await one.append("a", rows(0, 1))
    await one.beat({})
    assert [row.alive for row in await timed.store.sessions("r")] == [True, False]
    assert await taken(other, 1) == []
    await one.append("a", rows(1, 1), ending=Ending("completed"))


async def test_ending_frees_what_is_open(timed: Timed) -> None:
    one, other = await two(timed, *"ab")
    await one.take(2)
    await one.append("a", rows(0, 1), ending=Ending("completed"))
    await one.append("b", rows(0, 1))
    await one.end()
    assert await taken(other, 2) == ["b"]
    [first, second] = await timed.store.sessions("r")
    assert (first.alive, second.alive, second.ended) == (False, True, None)
    assert first.ended is not None
    assert first.ended >= first.began


async def test_one_declared_dead_loses_what_it_held_and_may_come_back(timed: Timed) -> None:
    one, other = await two(timed, *"ab")
    await one.take(1)
    timed.later(5)
    await timed.other.release(one.id)
    [first, _] = await timed.store.sessions("r")
    assert first.ended == first.seen  # it was at work until it was last heard, not until somebody noticed
    with pytest.raises(LeaseLost):
        await one.append("a", rows(0, 1))
    assert await taken(other, 1) == ["b"]  # the death may have been the episode's fault: it comes after the others
    assert await taken(one, 2) == ["a"]
    [first, _] = await timed.store.sessions("r")
    assert (first.alive, first.ended) == (True, None)
    await timed.store.release(10**6)


async def test_sessions_say_who_they_are_and_how_they_stand(timed: Timed) -> None:
    one, other = await two(timed)
    await timed.store.create_run("another", {})
    third = await timed.store.begin("another", host="one", pid=11)
    assert len({one.id, other.id, third.id}) == 3
    timed.later(7)
    await other.beat({"running": 3, "parts": [1, {"a": None}]})
    first, second = await timed.other.sessions("r")
    assert [(row.run, row.host, row.pid) for row in (first, second)] == [("r", "one", 11), ("r", "two", 22)]
    assert (first.status, second.status) == ({}, {"running": 3, "parts": [1, {"a": None}]})
    assert second.seen - first.seen == pytest.approx(7, abs=3)


async def test_orders_are_heard_with_the_beat(timed: Timed) -> None:
    one, other = await two(timed)
    assert await one.beat({}) == RunControl() == await timed.store.orders("r")
    wanted = RunControl("pause", 5, Budget(Caps(cost=1.5), {"x": Caps(calls=3)}, {"m": Caps(tokens=10)}))
    await timed.other.order("r", wanted)
    assert await one.beat({}) == await other.beat({}) == wanted == await timed.store.orders("r")
    with pytest.raises(UsageError, match="no run 'nobody'"):
        await timed.store.order("nobody", wanted)


async def test_what_is_spent_adds_up_by_seat_and_day(timed: Timed) -> None:
    one, other = await two(timed, *"ab")
    await one.take(1)
    await other.take(1)
    await one.append("a", rows(0, 1), spent={"x": Spending(2, 1, 0, 10, 20, 0.5, 0), "y": Spending(recalled=1)})
    await other.append("b", rows(0, 1), spent={"x": Spending(1, 0, 0, 1, 2, 0.25, 1)})
    await one.append("a", [], spent={"y": Spending(unpriced=1, calls=1)})
    found = await timed.store.spending("r")
    [day] = {row.day for row in found}
    assert found == [
        SpendRow("r", "x", day, Spending(3, 1, 0, 11, 22, 0.75, 1)),
        SpendRow("r", "y", day, Spending(calls=1, recalled=1, unpriced=1)),
    ]
    assert await timed.store.spending() == await timed.store.spending(day=day) == found
    assert await timed.store.spending("another") == await timed.store.spending(day="1999-01-01") == []


async def test_accounts_of_many_appends_lose_nothing(timed: Timed) -> None:
    names = [f"e{number}" for number in range(40)]
    one, other = await two(timed, *names)
    held = {one: await one.take(20), other: await other.take(20)}

    async def write(session: Session, name: str) -> None:
        for step in range(3):
            ending = Ending("completed") if step == 2 else None
            await session.append(name, rows(step, 1), ending=ending, spent={"x": Spending(calls=1, prompt=7)})

    async with anyio.create_task_group() as group:
        for session, episodes in held.items():
            for row in episodes:
                group.start_soon(write, session, row.id)
    [account] = await timed.store.spending("r")
    assert (account.spent.calls, account.spent.prompt) == (120, 840)
    assert await timed.store.endings("r") == {"completed": 40}


async def test_a_lost_lease_is_its_own_callers_alone(timed: Timed) -> None:
    one, other = await two(timed, *"abcdef")
    await one.take(6)
    timed.later(2 * LEASE)
    await other.take(2)
    lost: list[str] = []

    async def write(name: str) -> None:
        try:
            await one.append(name, rows(0, 2), spent={"x": Spending(calls=1)})
        except LeaseLost:
            lost.append(name)

    async with anyio.create_task_group() as group:
        for name in "abcdef":
            group.start_soon(write, name)
    assert sorted(lost) == ["a", "b"]
    assert [row.events async for row in timed.store.episodes("r")] == [0, 0, 2, 2, 2, 2]
    assert [row.spent.calls for row in await timed.store.spending()] == [4]


async def test_appends_of_one_episode_at_once_keep_their_order(store: Store) -> None:
    await store.create_run("r", {}, planned("a", "b"))
    session = await store.begin("r", host="h", pid=1)
    await session.take(2)
    made = rows(0, 6)

    async def write(name: str, step: int) -> None:
        ending = Ending("completed") if step == 2 else None
        await session.append(name, made[2 * step : 2 * step + 2], ending=ending)

    async with anyio.create_task_group() as group:
        for step in range(3):
            for name in "ab":
                group.start_soon(write, name, step)
    assert [row async for row in store.read("r", "b")] == made
    assert [row async for row in store.read("r", "b", after=made[-1].seq - 2)] == made[-2:]
    assert [row async for row in store.read("r", "b", after=made[-1].seq)] == []
    assert await store.endings("r") == {"completed": 2}


async def test_a_session_may_not_write_what_it_never_took(store: Store) -> None:
    await store.create_run("r", {}, planned("a"))
    session = await store.begin("r", host="h", pid=1)
    with pytest.raises(LeaseLost):
        await session.append("a", rows(0, 1))
    with pytest.raises(LeaseLost):
        await session.append("a", [], ending=Ending("completed"))
    with pytest.raises(StoreError, match="no episode 'z'"):
        await session.append("z", rows(0, 1))
    await session.append("a", [])  # nothing to write, nothing to refuse
    assert await store.endings("r") == {"open": 1}
