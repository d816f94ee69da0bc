"""Each store, empty, with a way to let time pass: the clock of memory and file is ours, PostgreSQL's is the server's."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from pgserver import PgServer

from wardround.engine.protocols import Store
from wardround.engine.stores.memory import MemoryStore
from wardround.engine.stores.postgres import PostgresStore
from wardround.engine.stores.sqlite import SqliteStore

Later = Callable[[float], None]
"""Lets so many seconds pass."""


class Hands:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture(scope="session")
def pgserver() -> Iterator[PgServer]:
    with PgServer() as server:
        yield server


@pytest.fixture
def pg_url(pgserver: PgServer) -> str:
    return pgserver.fresh()


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def timed(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store, Later]]:
    """A store, the same as another process would open it, and how to let time pass."""
    hands = Hands()
    later: Later = hands.move
    stores: list[Store] = []
    if request.param == "memory":
        stores = [MemoryStore(clock=hands)] * 2
    elif request.param == "sqlite":
        stores = [SqliteStore(tmp_path / "a store.db", clock=hands) for _ in range(2)]
    else:
        server: PgServer = request.getfixturevalue("pgserver")
        url = server.fresh()
        stores = [PostgresStore(url, patience=0.0) for _ in range(2)]

        def aged(seconds: float) -> None:
            query = f"UPDATE wardround.sessions SET began = began - {seconds}, seen = seen - {seconds}"
            server.sql(url.partition("@/")[2].partition("?")[0], query)

        later = aged
    yield stores[0], stores[1], later
    for store in stores:
        await store.aclose()


@pytest.fixture
def store(timed: tuple[Store, Store, Later]) -> Store:
    """One store of each kind."""
    return timed[0]
