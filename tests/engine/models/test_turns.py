"""Who goes next: by arrival within a role, in fair shares between roles."""

import asyncio
from collections import Counter

from wardround.engine.models.gate import FairQueue


def order(turns: FairQueue[int], count: int) -> list[tuple[str, int]]:
    """(role, tokens) of the next `count`; tokens number the arrivals here."""
    gone = []
    for _ in range(count):
        waiter = turns.next()
        assert waiter is not None
        turns.pop(waiter)
        gone.append((waiter.role_calls.role, waiter.tokens))
    return gone


async def test_by_arrival_within_a_role() -> None:
    turns: FairQueue[int] = FairQueue()
    for number in range(100):
        turns.add("one", number, 0.0)
    assert order(turns, 100) == [("one", number) for number in range(100)]
    assert turns.next() is None


async def test_a_single_call_goes_before_ten_thousand_of_another_role() -> None:
    turns: FairQueue[int] = FairQueue()
    for number in range(10_000):
        turns.add("many", number, 0.0)
    order(turns, 500)
    turns.add("single", 0, 0.0)
    assert "single" in [role for role, _ in order(turns, 2)]


async def test_equal_shares_however_many_wait() -> None:
    turns: FairQueue[int] = FairQueue()
    for role, count in (("a", 5000), ("b", 300), ("c", 300)):
        for number in range(count):
            turns.add(role, number, 0.0)
    assert Counter(role for role, _ in order(turns, 600)) == {"a": 200, "b": 200, "c": 200}


async def test_who_waited_for_nothing_saved_nothing_up() -> None:
    turns: FairQueue[int] = FairQueue()
    for number in range(1000):
        turns.add("a", number, 0.0)
    order(turns, 900)
    for number in range(100):
        turns.add("b", number, 0.0)
    assert Counter(role for role, _ in order(turns, 100)) == {"a": 50, "b": 50}


async def test_those_who_gave_up_are_passed_over() -> None:
    turns: FairQueue[int] = FairQueue()
    waiters = [turns.add("a", number, 0.0) for number in range(5)]
    for waiter in (waiters[0], waiters[2], waiters[4]):
        waiter.future.cancel()
        turns.drop(waiter)
    assert turns.by_role() == {"a": 2}
    assert order(turns, 2) == [("a", 1), ("a", 3)]
    assert (turns.next(), turns.waiting, turns.by_role()) == (None, 0, {})
    turns.add("a", 9, 0.0)
    assert order(turns, 1) == [("a", 9)]
    await asyncio.sleep(0)
