"""Each store, empty, and time: the clock of memory and file is ours, that of PostgreSQL is the server's."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest
from pgserver import PgServer
from timed import Hands, Timed

from wardround.engine.protocols import Store
from wardround.engine.stores.postgres import PostgresStore
from wardround.engine.stores.sqlite import SqliteStore
from wardround.testing.memory_store import MemoryStore


@pytest.fixture(scope="session")
def pgserver() -> Iterator[PgServer]:
    with PgServer() as server:
        yield server


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
async def timed(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Timed]:
    """A store of each kind."""
    hands = Hands()
    if request.param == "memory":
        both = MemoryStore(clock=hands)
        opened = Timed(both, both, hands.move)
    elif request.param == "sqlite":
        one, two = (SqliteStore(tmp_path / "a store.db", clock=hands) for _ in range(2))
        opened = Timed(one, two, hands.move)
    else:
        server: PgServer = request.getfixturevalue("pgserver")
        url = server.fresh()
        opened = Timed(PostgresStore(url), PostgresStore(url), partial(server.age, url))
    yield opened
    await opened.store.aclose()
    await opened.other.aclose()


@pytest.fixture
def store(timed: Timed) -> Store:
    """The store alone."""
    return timed.store
