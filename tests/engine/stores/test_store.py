"""One suite for every store: the same contract, the same errors."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from timed import planned, rows

from wardround.engine.budget import Spending
from wardround.engine.errors import StoreError, UsageError
from wardround.engine.events import Row, chain
from wardround.engine.protocols import ReadsTogether, Store
from wardround.engine.records import Ending, EpisodeRow, Score
from wardround.engine.sessions import RunControl
from wardround.engine.stores.sqlite import SqliteStore


async def listed(store: Store, run: str, causes: Sequence[str] | None = None) -> list[EpisodeRow]:
    return [row async for row in store.episodes(run, causes=causes)]


async def test_events_come_back_in_order_and_whole(store: Store) -> None:
    await store.create_run("r", {"seed": 1}, planned("a", "b"))
    await store.append("r", "a", rows(0, 3))
    await store.append("r", "b", rows(0, 1))
    await store.append("r", "a", rows(3, 2), ending=Ending("completed"))
    assert [row.seq async for row in store.read("r", "a")] == [0, 1, 2, 3, 4]
    assert [row async for row in store.read("r", "b")] == rows(0, 1)
    assert [row async for row in store.read("r", "nobody")] == []
    assert isinstance(store, ReadsTogether)
    assert await store.logs("r", ["b", "nobody", "a"]) == {"a": rows(0, 3) + rows(3, 2), "b": rows(0, 1)}


async def test_the_list_of_episodes_says_how_each_ended(store: Store) -> None:
    await store.create_run("r", {}, planned("a", "b", "c"))
    await store.append("r", "b", rows(0, 2), ending=Ending("provider", "quota"))
    assert [(row.id, row.cause, row.reason, row.events) for row in await listed(store, "r")] == [
        ("a", None, "", 0),
        ("b", "provider", "quota", 2),
        ("c", None, "", 0),
    ]
    assert [row.id for row in await listed(store, "r", causes=["open"])] == ["a", "c"]
    assert [row.id for row in await listed(store, "r", causes=["provider", "open"])] == ["a", "b", "c"]
    await store.reopen("r", ["b"])
    assert [row.id for row in await listed(store, "r", causes=["open"])] == ["a", "b", "c"]


async def test_a_run_is_known_by_its_name(store: Store) -> None:
    await store.create_run("first", {"n": 1})
    await store.create_run("second", {"n": 2})
    assert [run.name for run in await store.runs()] == ["first", "second"]
    assert (await store.run("second")).header == {"n": 2}
    with pytest.raises(UsageError, match="'first'"):
        await store.create_run("first", {})
    with pytest.raises(UsageError, match=r"no run 'third'.*there are: first, second"):
        await store.run("third")


async def test_texts_are_kept_once_by_their_content(store: Store) -> None:
    one, two, again = await store.put([b"case", b"prompt", b"case"])
    assert one == again != two
    assert await store.get(two) == b"prompt"
    with pytest.raises(StoreError):
        await store.get("0" * 32)


async def test_scores_are_replaced_by_evaluator(store: Store) -> None:
    await store.create_run("r", {}, planned("b", "a"))
    await store.put_scores("r", "a", "accuracy", [Score("x", 0.5, "", (1, 2)), Score("y", None, "why")])
    await store.put_scores("r", "b", "accuracy", [Score("x", 1.0)])
    await store.put_scores("r", "a", "accuracy", [Score("x", 0.25)])
    await store.put_scores("r", "a", "usage", [Score("z", None, "unknown_price")])
    assert [(e, v, s.name, s.value, s.reason) async for e, v, s in store.scores("r")] == [
        ("b", "accuracy", "x", 1.0, ""),
        ("a", "accuracy", "x", 0.25, ""),
        ("a", "usage", "z", None, "unknown_price"),
    ]
    assert list((await store.scorings("r")).items()) == [("accuracy", 2), ("usage", 1)]
    await store.put_scores("r", "a", "usage", [])
    assert await store.scorings("r") == {"accuracy": 2}


async def test_many_writers_at_once_lose_nothing(store: Store) -> None:
    names = [f"e{number}" for number in range(60)]
    await store.create_run("r", {}, planned(*names))

    async def write(name: str) -> None:
        previous = b""
        for step in range(5):
            batch = rows(step * 2, 2, previous)
            previous = batch[-1].hash
            await store.append("r", name, batch, ending=Ending("completed") if step == 4 else None)

    async with anyio.create_task_group() as group:
        for name in names:
            group.start_soon(write, name)
    assert [row.events for row in await listed(store, "r")] == [10] * 60
    assert [row.seq async for row in store.read("r", "e59")] == list(range(10))


async def test_an_event_can_not_be_written_twice(store: Store) -> None:
    await store.create_run("r", {}, planned("a"))
    await store.append("r", "a", rows(0, 2))
    with pytest.raises(StoreError):
        await store.append("r", "a", rows(1, 1))
    assert [row.seq async for row in store.read("r", "a")] == [0, 1]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(parts=st.lists(st.binary(max_size=50), max_size=20), cut=st.integers(0, 20))
async def test_what_was_appended_in_parts_reads_as_one(tmp_path: Path, parts: list[bytes], cut: int) -> None:
    path = tmp_path / "parts.db"
    path.unlink(missing_ok=True)
    made = [Row(seq, chain(b"", body), body) for seq, body in enumerate(parts)]
    store = SqliteStore(path)
    await store.create_run("r", {}, planned("a"))
    await store.append("r", "a", made[:cut])
    await store.append("r", "a", made[cut:])
    await store.aclose()
    reopened = SqliteStore(path)
    assert [row async for row in reopened.read("r", "a")] == made
    await reopened.aclose()


async def test_the_list_is_read_in_parts(store: Store) -> None:
    await store.create_run(
        "r", {}, [EpisodeRow(f"c{n // 2}@{n % 2}", n, f"c{n // 2}", n % 2, None, "", 0, 0.0) for n in range(9)]
    )
    assert [row.number async for row in store.episodes("r", after=3, limit=3)] == [4, 5, 6]
    assert [row.number async for row in store.episodes("r", after=7, limit=3)] == [8]
    assert [row.number async for row in store.episodes("r", limit=0)] == []
    await store.append("r", "c1@0", rows(0, 1), ending=Ending("limit", "actions"))
    await store.append("r", "c3@1", rows(0, 1), ending=Ending("completed"))
    assert [row.id for row in await listed(store, "r", ["limit"])] == ["c1@0"]
    assert [row.number async for row in store.episodes("r", causes=["open"], after=1, limit=2)] == [3, 4]
    assert await store.endings("r") == {"completed": 1, "limit": 1, "open": 7}
    assert list(await store.endings("r")) == ["completed", "limit", "open"]
    assert await store.endings("nobody") == {}


async def test_an_episode_is_found_by_id_number_or_case(store: Store) -> None:
    await store.create_run(
        "r", {}, [EpisodeRow(f"c{n // 2}@{n % 2}", n, f"c{n // 2}", n % 2, None, "", 0, 0.0) for n in range(9)]
    )
    row = await store.episode("r", "c1@1")
    assert row is not None
    assert (row.number, row.case, row.repeat) == (3, "c1", 1)
    assert await store.episode("r", "3") is None
    assert await store.find("r", "c1@1", 5) == [row] == await store.find("r", "3", 5)
    assert [found.id for found in await store.find("r", "c2", 5)] == ["c2@0", "c2@1"]
    assert [found.id for found in await store.find("r", "c2", 1)] == ["c2@0"]
    assert await store.find("r", "nobody", 5) == await store.find("r", "9" * 30, 5) == []


async def test_closed_episodes_are_opened_again_and_no_others(store: Store) -> None:
    await store.create_run("r", {}, planned("a", "b", "c", "d"))
    for name, cause in zip("abc", ["provider", "parser", "completed"], strict=True):
        await store.append("r", name, rows(0, 2), ending=Ending(cause, "why"))
    await store.reopen("r", ["a", "b", "d", "nobody"])
    await store.reopen("r", [])
    assert await store.endings("r") == {"completed": 1, "open": 3}
    row = await store.episode("r", "a")
    assert row is not None
    assert (row.cause, row.reason, row.events) == (None, "", 2)
    assert [event.seq async for event in store.read("r", "a")] == [0, 1]


async def test_the_call_cache_keeps_the_first_answer(store: Store) -> None:
    assert await store.recall("k") is None
    await store.keep("k", b"one")
    await store.keep("k", b"two")
    assert await store.recall("k") == b"one"
    assert await store.recall("K") is None


async def test_what_is_not_there_says_so(store: Store) -> None:
    await store.create_run("r", {})
    with pytest.raises(StoreError, match="run 'r' has no episode 'a'"):
        await store.append("r", "a", rows(0, 1))
    with pytest.raises(StoreError, match="run 'r' has no episode 'a'"):
        await store.put_scores("r", "a", "e", [])
    with pytest.raises(UsageError, match="no run 'x'"):
        await store.begin("x", host="h", pid=1)
    assert await listed(store, "x") == []


async def test_a_refused_append_leaves_the_others_alone(store: Store) -> None:
    await store.create_run("r", {}, planned(*"abcdefgh"))
    await store.append("r", "c", rows(0, 2))
    refused: list[str] = []

    async def write(name: str) -> None:
        try:
            await store.append("r", name, rows(0, 3), ending=Ending("completed"))
        except StoreError as error:
            refused.append(name)
            assert "event 0 does not follow event 1" in str(error)  # noqa: PT017 - of which one it is told is the point

    async with anyio.create_task_group() as group:
        for name in "abcdefgh":
            group.start_soon(write, name)
    assert refused == ["c"]
    assert [(row.id, row.events, row.cause) for row in await listed(store, "r") if row.cause is None] == [
        ("c", 2, None)
    ]


async def test_a_run_is_created_with_its_episodes_and_orders_or_not_at_all(store: Store) -> None:
    orders = RunControl(concurrency=3)
    await store.create_run("r", {}, planned("a", "b"), orders)
    assert [row.id for row in await listed(store, "r")] == ["a", "b"]
    assert await store.orders("r") == orders
    with pytest.raises(UsageError, match="'r'"):
        await store.create_run("r", {}, planned("c"))
    assert [row.id for row in await listed(store, "r")] == ["a", "b"]


async def test_what_others_spent_is_told_apart(store: Store) -> None:
    await store.create_run("r", {}, planned("a", "b"))
    one, other = [await store.begin("r", host="h", pid=n) for n in (1, 2)]
    await one.take(1)
    await other.take(1)
    await one.append("a", rows(0, 1), spent={"x": Spending(calls=1, cost=0.5)})
    await other.append("b", rows(0, 1), spent={"x": Spending(calls=2, cost=0.25), "y": Spending(calls=4)})
    assert [(row.seat, row.spent) for row in await store.spending("r")] == [
        ("x", Spending(calls=3, cost=0.75)),
        ("y", Spending(calls=4)),
    ]
    assert [(row.seat, row.spent.calls) for row in await store.spending("r", besides=one.id)] == [("x", 2), ("y", 4)]
    assert [(row.seat, row.spent.calls) for row in await store.spending("r", besides=other.id)] == [("x", 1)]
