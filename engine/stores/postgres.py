"""A store in a PostgreSQL database, for runs that many processes on many machines write."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wardround.engine.records import EpisodeRow
from wardround.engine.sessions import LEASE
from wardround.engine.stores.postgres_server import Address, Driver, Server
from wardround.engine.stores.postgres_writes import PostgresWrites
from wardround.engine.stores.sql_store import LIST, RUN, DatabaseStore, Step, sign_of_life
from wardround.engine.stores.writes import EPISODE, Gatherer

# Times come from the server, because the clocks of the machines at work may differ.
_NOW = "extract(epoch FROM clock_timestamp())::double precision"
# Rows that another process is taking at the moment are skipped, not waited for.
_TAKE = f"""
WITH free AS (
    SELECT id, deaths FROM episodes WHERE run = {RUN} AND cause IS NULL AND (
        holder IS NULL OR holder <> ALL (ARRAY(
            SELECT id FROM sessions WHERE run = {RUN} AND (id = $3 OR (ended IS NULL AND seen >= {_NOW} - $2)))))
    AND (cardinality($5::text[]) = 0 OR name = ANY($5::text[]))
    ORDER BY deaths, number LIMIT $4 FOR UPDATE SKIP LOCKED
)
UPDATE episodes e SET holder = $3, deaths = e.deaths + (e.holder IS NOT NULL)::int FROM free WHERE e.id = free.id
RETURNING e.id, free.deaths, {", ".join(f"e.{column}" for column in EPISODE.split(", "))}
"""  # noqa: S608 - constants
_FREE = "UPDATE episodes SET holder = NULL WHERE holder = $1 AND cause IS NULL AND id <> ALL ($2::bigint[])"
_PLANNED = ("run", "number", "name", "case_id", "repeat", "at")


class PostgresStore(DatabaseStore):
    """A store in a schema of a PostgreSQL database; it connects at the first use (docs/store.md).

    An append returns after its commit. If the server goes away, the store waits for it up to `patience` seconds, and
    checks whether interrupted writes were committed before it repeats them. Times come from the server.
    """

    NOW = _NOW
    NEW_ID = "SELECT lastval()"
    NAMES = "SELECT jsonb_array_elements_text({}::text::jsonb)"

    def __init__(self, url: str, *, patience: float = 30.0, lease: float = LEASE) -> None:
        self.address = Address(url)
        self._server = Server(self.address, patience)
        self._writes = PostgresWrites(self._server)
        self._gatherer = Gatherer(self._writes.write)
        super().__init__(self.address, self._gatherer, lease)

    def __repr__(self) -> str:
        return f"PostgresStore({str(self.address)!r})"

    async def rows(self, query: str, *values: object) -> Sequence[Any]:
        """The rows of a query."""
        return list(await self._server.run(lambda connection, _: connection.fetch(query, *values)))

    async def change(self, *steps: Step) -> Sequence[Any]:
        """Do the steps in one transaction; returns the rows of the last one."""

        async def work(connection: Driver, again: bool) -> list[Any]:
            del again
            async with connection.transaction():
                return [list(await connection.fetch(*step)) for step in steps][-1]

        return await self._server.run(work)

    async def take(self, run: str, session: int, count: int, among: Sequence[str]) -> Sequence[EpisodeRow]:
        """Give the session the first episodes that no living session holds, fewest dead holders first."""
        ids = self._writes.ids

        async def work(connection: Driver, again: bool) -> list[Any]:
            if again:  # free the episodes that an interrupted attempt may have taken unknown to this session
                await connection.execute(_FREE, session, list(ids.values()))
            await connection.execute(sign_of_life(_NOW), session, None)
            return list(await connection.fetch(_TAKE, run, self.lease, session, count, list(among)))

        taken = sorted(await self._server.run(work), key=lambda row: (int(row["deaths"]), int(row["number"])))
        ids.update({(run, row["name"]): row["id"] for row in taken})
        return [EpisodeRow(*tuple(row)[2:]) for row in taken]

    async def insert_run(self, name: str, header: bytes, control: bytes | None, episodes: Iterable[EpisodeRow]) -> bool:
        """Insert a run with its episodes in one transaction; returns False if the name is taken."""

        async def work(connection: Driver, again: bool) -> bool:
            query = (
                "INSERT INTO runs (name, created, header, orders) VALUES ($1, extract(epoch FROM now()), $2, $3)"
                " ON CONFLICT DO NOTHING RETURNING id"
            )
            async with connection.transaction():
                number = await connection.fetchval(query, name, header, control)
                if number is not None:
                    await _copy_episodes(connection, number, episodes)
                    return True
            return again and await connection.fetchval("SELECT header FROM runs WHERE name = $1", name) == header

        return bool(await self._server.run(work))

    async def insert_texts(self, texts: Mapping[str, bytes]) -> None:
        """Insert texts by their digests; those that are stored already stay."""
        query = "INSERT INTO texts (digest, body) SELECT * FROM unnest($1::text[], $2::bytea[]) ON CONFLICT DO NOTHING"
        await self.change((query, list(texts), list(texts.values())))

    async def plan(self, run: str, episodes: Sequence[EpisodeRow]) -> None:
        """Add episodes to be played."""

        async def work(connection: Driver, again: bool) -> None:
            if again and await connection.fetchval(f"{LIST} AND name = $2", run, episodes[0].id) is not None:
                return
            number = await connection.fetchval("SELECT id FROM runs WHERE name = $1", run)
            await _copy_episodes(connection, number, episodes)

        if episodes:
            await self._server.run(work)

    async def aclose(self) -> None:
        """Finish pending writes, then close."""
        await self._gatherer.aclose()
        await self._server.aclose()


async def _copy_episodes(connection: Driver, run: int, episodes: Iterable[EpisodeRow]) -> None:
    """Copy the planned episodes of a run into their table."""
    rows = ((run, e.number, e.id, e.case, e.repeat, e.at) for e in episodes)
    if await connection.copy_records_to_table("episodes", records=rows, columns=_PLANNED) != "COPY 0":
        # Otherwise the server plans its queries for an empty table until autovacuum analyses it.
        await connection.execute("ANALYZE episodes")
