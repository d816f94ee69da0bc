"""What only a server can do: be away, come back, lose an answer, be shared by processes, refuse."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator

import anyio
import pytest
from pgserver import PgServer
from relay import Relay
from sharing import check_sharing
from timed import planned, rows
from until import until

from wardround.engine.budget import Spending
from wardround.engine.errors import StoreError
from wardround.engine.records import Ending
from wardround.engine.stores.postgres import PostgresStore
from wardround.engine.stores.postgres_server import STEPS

pytestmark = pytest.mark.postgres


@pytest.fixture
def url(pgserver: PgServer) -> str:
    return pgserver.fresh()


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    opened = PostgresStore(url)
    yield opened
    await opened.aclose()


async def test_a_schema_of_a_newer_version_is_left_alone(pgserver: PgServer, store: PostgresStore, url: str) -> None:
    await store.create_run("r", {})
    pgserver.sql(url, f"UPDATE version SET number = {len(STEPS) + 1}")
    newer = PostgresStore(url)
    with pytest.raises(StoreError, match="written by a newer Wardround"):
        await newer.runs()
    await newer.aclose()


async def test_another_programs_schema_is_left_alone(pgserver: PgServer, url: str) -> None:
    pgserver.sql(url, f"CREATE SCHEMA {url.rpartition('=')[2]}; CREATE TABLE songs (title text)")
    other = PostgresStore(url)
    with pytest.raises(StoreError, match="another program's"):
        await other.create_run("r", {})
    await other.aclose()


async def test_two_schemas_of_a_database_are_two_stores(store: PostgresStore, url: str) -> None:
    second = PostgresStore(f"{url}_second")
    await store.create_run("r", {})
    assert await second.runs() == []
    await second.create_run("r", {"n": 2})
    assert (await store.run("r")).header == {}
    await second.aclose()


async def test_several_open_it_for_the_first_time_at_once(url: str) -> None:
    stores = [PostgresStore(url) for _ in range(6)]
    async with anyio.create_task_group() as group:
        for number, opened in enumerate(stores):
            group.start_soon(opened.create_run, f"r{number}", {})
    assert len(await stores[0].runs()) == 6
    for opened in stores:
        await opened.aclose()


async def test_what_cannot_be_reached_says_so_at_once(pgserver: PgServer, url: str) -> None:
    """One that was never there is not waited for: the patience is twice the time limit of a test."""
    for wrong, told in [
        (pgserver.url("nowhere"), "no such database"),
        ("postgresql://u:s3cr3t@127.0.0.1:9/runs", "could not be reached"),
        (url.replace("postgres@", "nobody:s3cr3t@"), "user or the password"),
    ]:
        opened = PostgresStore(wrong, patience=600)
        with pytest.raises(StoreError, match=told) as caught:
            await opened.runs()
        assert "s3cr3t" not in str(caught.value)
        await opened.aclose()


def test_two_event_loops_may_use_it_one_after_the_other(url: str) -> None:
    code = (
        "import asyncio, sys\n"
        "from wardround.runs.stored_run import open_store\n"
        "store = open_store(sys.argv[1])\n"
        "asyncio.run(store.create_run('r', {}))\n"
        "print(asyncio.run(store.runs())[0].name)"
    )
    done = subprocess.run([sys.executable, "-c", code, url], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("r\n", "")


def test_without_its_driver_it_says_what_to_install() -> None:
    code = (
        "import sys, asyncio; sys.modules['asyncpg'] = None\n"
        "from wardround.runs.stored_run import open_store\n"
        "from wardround.engine.errors import UsageError\n"
        "try:\n    asyncio.run(open_store('postgresql://db/runs').runs())\n"
        "except UsageError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'wardround[postgres]'" in done.stdout


async def test_three_processes_share_a_database(store: PostgresStore, url: str) -> None:
    await check_sharing(store, url)


@pytest.mark.parametrize("lose", ["before", "after"])
async def test_a_lost_answer_is_looked_for_before_it_is_written_again(pgserver: PgServer, lose: str) -> None:
    direct = pgserver.fresh()
    async with Relay(pgserver.socket) as relay:
        store = PostgresStore(direct.replace(str(pgserver.socket), str(relay.folder)))
        await store.create_run("r", {}, planned("a", "b"))
        session = await store.begin("r", host="h", pid=1)
        await session.take(2)
        await session.append("a", rows(0, 1))
        relay.lose = lose
        made = rows(0, 4)

        async with anyio.create_task_group() as group:
            spent = {"x": Spending(calls=1)}
            group.start_soon(lambda: session.append("a", made[1:3], spent=spent))
            group.start_soon(lambda: session.append("a", made[3:], ending=Ending("completed"), spent=spent))
            group.start_soon(lambda: session.append("b", rows(0, 1), spent=spent))
        assert relay.lost == 1
        assert [row async for row in store.read("r", "a")] == made
        assert [(row.events, row.cause) async for row in store.episodes("r")] == [(4, "completed"), (1, None)]
        assert [row.spent.calls for row in await store.spending()] == [3]
        await session.append("b", rows(1, 1), ending=Ending("completed"))
        await store.aclose()


async def test_what_a_lost_answer_took_is_not_held_by_nobody(pgserver: PgServer) -> None:
    direct = pgserver.fresh()
    async with Relay(pgserver.socket) as relay:
        store = PostgresStore(direct.replace(str(pgserver.socket), str(relay.folder)))
        await store.create_run("r", {}, planned(*"abcdef"))
        session = await store.begin("r", host="h", pid=1)
        assert [row.id for row in await session.take(1)] == ["a"]
        relay.lose, relay.passing = "after", 1  # the sign of life goes through
        assert [row.id for row in await session.take(2)] == ["b", "c"]
        assert relay.lost == 1
        assert [row.id for row in await session.take(9)] == ["d", "e", "f"]
        await store.aclose()


async def play(store: PostgresStore, names: list[str], acknowledged: dict[str, int]) -> None:
    session = await store.begin("r", host="h", pid=1)
    held = [row.id for row in await session.take(len(names))]

    async def one(name: str) -> None:
        made = rows(0, 30)
        for step in range(30):
            ending = Ending("completed") if step == 29 else None
            await session.append(name, made[step : step + 1], ending=ending, spent={"x": Spending(calls=1)})
            acknowledged[name] = step + 1
            await asyncio.sleep(0.01)

    async with anyio.create_task_group() as group:
        for name in held:
            group.start_soon(one, name)


async def test_a_server_that_crashes_and_comes_back_loses_and_doubles_nothing() -> None:
    with PgServer() as server:
        store = PostgresStore(server.fresh(), patience=200)
        names = [f"e{number:02}" for number in range(20)]
        await store.create_run("r", {}, planned(*names))
        acknowledged: dict[str, int] = {}
        async with anyio.create_task_group() as group:
            group.start_soon(play, store, names, acknowledged)
            await until(lambda: sum(acknowledged.values()) >= 100)
            await server.restart_after(0.5)
        assert await store.endings("r") == {"completed": 20}
        assert [row.spent.calls for row in await store.spending("r")] == [600]
        for name in names:
            assert [row.hash async for row in store.read("r", name)] == [row.hash for row in rows(0, 30)]
        await store.aclose()


async def test_a_server_that_stays_away_stops_the_run_and_nothing_is_lost() -> None:
    with PgServer() as server:
        store = PostgresStore(server.fresh(), patience=1.0)
        await store.create_run("r", {}, planned("a"))
        session = await store.begin("r", host="h", pid=1)
        await session.take(1)
        await session.append("a", rows(0, 2))
        await asyncio.to_thread(server.control, "stop", "-m", "immediate")
        with pytest.raises(StoreError, match=r"could not be reached for 1 s.*resume"):
            await session.append("a", rows(2, 1))
        await asyncio.to_thread(server.control, "start")
        assert [row.seq async for row in store.read("r", "a")] == [0, 1]
        await session.append("a", rows(2, 1), ending=Ending("completed"))
        assert [row.seq async for row in store.read("r", "a")] == [0, 1, 2]
        await store.aclose()
