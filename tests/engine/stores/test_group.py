"""What is written together: scores share a commit, an odd value is its own caller's alone, nothing is kept at hand."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from timed import planned, rows

from wardround.engine.budget import Spending
from wardround.engine.errors import StoreError
from wardround.engine.protocols import Store
from wardround.engine.records import Ending, EpisodeRow, Score
from wardround.engine.stores.postgres import PostgresStore
from wardround.engine.stores.sqlite import SqliteStore

DATABASES = pytest.mark.parametrize(
    "timed", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)
NAMES = [f"e{number}" for number in range(32)]


async def at_once(*writes: Callable[[], Awaitable[None]]) -> list[str]:
    """What each was told, '' if nothing."""
    told = [""] * len(writes)

    async def one(place: int) -> None:
        try:
            await writes[place]()
        except StoreError as error:
            told[place] = str(error)

    async with anyio.create_task_group() as group:
        for place in range(len(writes)):
            group.start_soon(one, place)
    return told


@DATABASES
@pytest.mark.parametrize(
    ("ending", "spent"),
    [
        (None, {"x": Spending(calls=1, prompt=2**70)}),
        (None, {"\ud800": Spending(calls=1)}),
        (Ending("completed", "\ud800"), {}),
    ],
)
async def test_a_value_that_cannot_be_stored_is_its_own_appends_alone(
    store: Store, ending: Ending | None, spent: dict[str, Spending]
) -> None:
    await store.create_run("r", {}, planned("a", "b", "c"))
    session = await store.begin("r", host="h", pid=1)
    await session.take(3)
    fine = {"x": Spending(calls=1, prompt=7)}
    told = await at_once(
        lambda: session.append("a", rows(0, 2), spent=fine),
        lambda: session.append("b", rows(0, 2), ending=ending, spent=spent),
        lambda: store.keep("k", b"answer"),
        lambda: store.put_scores("r", "a", "v", [Score("s", 1.0)]),
        lambda: session.append("c", rows(0, 2), ending=Ending("completed"), spent=fine),
    )
    assert [bool(said) for said in told] == [False, True, False, False, False]
    assert "a value cannot be stored" in told[1]
    assert [(row.events, row.cause) async for row in store.episodes("r")] == [(2, None), (0, None), (2, "completed")]
    assert [(row.seat, row.spent) for row in await store.spending("r")] == [("x", Spending(calls=2, prompt=14))]
    assert await store.recall("k") == b"answer"
    assert [score.value async for _, _, score in store.scores("r")] == [1.0]
    await session.append("b", rows(0, 1), spent=fine)


@DATABASES
async def test_what_else_cannot_be_stored_is_told_as_a_store_tells_it(store: Store) -> None:
    await store.create_run("r", {}, planned("a", "b"))
    told = await at_once(
        lambda: store.keep("\ud800", b"x"),
        lambda: store.put_scores("r", "a", "v", [Score("\ud800", 1.0)]),
        lambda: store.put_scores("r", "b", "v", [Score("s", 1.0)]),
        lambda: store.create_run("t", {}, [EpisodeRow("\ud800", 7, "c", 1, None, "", 0, 0.0)]),
        lambda: store.create_run("s", {}, [EpisodeRow("a", 2**70, "c", 1, None, "", 0, 0.0)]),
    )
    assert [bool(said) for said in told] == [True, True, False, True, True]
    assert [(episode, score.name) async for episode, _, score in store.scores("r")] == [("b", "s")]
    assert [run.name for run in await store.runs()] == ["r"]
    assert await store.endings("r") == {"open": 2}


async def test_scores_put_at_once_share_a_commit(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db")
    await store.create_run("r", {}, planned(*NAMES))
    commits: list[str] = []
    store._writing._sqlite.set_trace_callback(lambda said: commits.append(said) if said == "COMMIT" else None)
    async with anyio.create_task_group() as group:
        for name in NAMES:
            group.start_soon(store.put_scores, "r", name, "v", [Score("s", 0.5)])
    assert len(commits) < 5
    assert [episode async for episode, _, _ in store.scores("r")] == NAMES
    await store.aclose()


async def test_of_scorings_at_once_the_last_counts_and_an_unknown_episode_is_its_own(store: Store) -> None:
    await store.create_run("r", {}, planned("a", "b"))
    await store.put_scores("r", "a", "v", [Score("old", 0.0, "why", (1,))] * 3)
    told = await at_once(
        lambda: store.put_scores("r", "a", "v", [Score("x", 0.25), Score("y", None, "none")]),
        lambda: store.put_scores("r", "nobody", "v", [Score("x", 1.0)]),
        lambda: store.put_scores("r", "b", "v", []),
        lambda: store.append("r", "a", rows(0, 1)),
        lambda: store.put_scores("r", "a", "v", [Score("x", 0.5, "", (2, 3))]),
        lambda: store.put_scores("r", "a", "w", [Score("z", 1.0)]),
    )
    assert [bool(said) for said in told] == [False, True, False, False, False, False]
    assert "run 'r' has no episode 'nobody'" in told[1]
    assert [(e, v, s.name, s.value, tuple(s.evidence)) async for e, v, s in store.scores("r")] == [
        ("a", "v", "x", 0.5, (2, 3)),
        ("a", "w", "z", 1.0, ()),
    ]


@DATABASES
async def test_only_episodes_that_are_being_played_are_remembered(store: Store) -> None:
    assert isinstance(store, SqliteStore | PostgresStore)
    await store.create_run("r", {}, planned(*NAMES))
    for name in NAMES[:5]:
        await store.put_scores("r", name, "v", [Score("s", 0.5)])
    for name in NAMES[5:10]:
        await store.append("r", name, rows(0, 1))
    assert store._writes.ids == {}
    session = await store.begin("r", host="h", pid=1)
    await session.take(2)
    assert len(store._writes.ids) == 2
    for name in NAMES[:2]:
        await session.append(name, rows(0, 1), ending=Ending("completed"))
        await store.put_scores("r", name, "v", [])
    assert store._writes.ids == {}
