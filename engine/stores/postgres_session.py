"""Who is at work on a run of a PostgreSQL store: sessions, what they hold, and what they are told."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from wardround.engine.events import Row
from wardround.engine.records import Ending, Json
from wardround.engine.rows import EpisodeRow
from wardround.engine.sessions import RunControl
from wardround.engine.spending import Spending
from wardround.engine.stores.gather import Gatherer
from wardround.engine.stores.listing import EPISODE, orders_of
from wardround.engine.stores.postgres_group import Group
from wardround.engine.stores.postgres_server import Server
from wardround.engine.stores.work import Append

# Times are the server's: the clocks of the machines at work may differ.
_NOW = "extract(epoch FROM clock_timestamp())::double precision"
_LIVING = f"ended IS NULL AND seen >= {_NOW} - $2"
_RUN = "(SELECT id FROM runs WHERE name = $1)"
BEGIN = (
    f"INSERT INTO sessions (run, host, pid, began, seen) SELECT id, $2, $3, {_NOW}, {_NOW} FROM runs WHERE name = $1"  # noqa: S608 - constants
)
ROWS = f"""
SELECT s.id, $1, s.host, s.pid, s.began, s.seen, s.ended, {_LIVING} AS alive, s.told
FROM sessions s WHERE s.run = {_RUN} ORDER BY s.id
"""  # noqa: S608 - constants
# Rows that another process is taking just now are passed over, not waited for.
_TAKE = f"""
WITH free AS (
    SELECT id, deaths FROM episodes WHERE run = {_RUN} AND cause IS NULL AND (
        holder IS NULL OR holder <> ALL (ARRAY(SELECT id FROM sessions WHERE run = {_RUN} AND (id = $3 OR {_LIVING}))))
    AND (cardinality($5::text[]) = 0 OR name = ANY($5::text[]))
    ORDER BY deaths, number LIMIT $4 FOR UPDATE SKIP LOCKED
)
UPDATE episodes e SET holder = $3, deaths = e.deaths + (e.holder IS NOT NULL)::int FROM free WHERE e.id = free.id
RETURNING e.id, free.deaths, {", ".join(f"e.{column}" for column in EPISODE.split(", "))}
"""  # noqa: S608 - constants
_OTHERS = f"""
SELECT count(*) FROM sessions s JOIN episodes e ON e.holder = s.id AND e.cause IS NULL
WHERE s.run = {_RUN} AND s.id <> $3 AND s.{_LIVING}
"""  # noqa: S608 - constants
_SHOW = f"UPDATE sessions SET seen = {_NOW}, ended = NULL, told = coalesce($2, told) WHERE id = $1"  # noqa: S608 - constants
_FREE = "UPDATE episodes SET holder = NULL WHERE holder = $1 AND cause IS NULL"
_LET_GO = "UPDATE episodes SET holder = NULL, deaths = deaths + $2::int WHERE holder = $1 AND cause IS NULL"
_END = f"UPDATE sessions SET ended = coalesce(ended, CASE WHEN $2 THEN seen ELSE {_NOW} END) WHERE id = $1"  # noqa: S608 - constants


async def end(connection: Any, session: int, *, dead: bool) -> None:
    """Free what a session holds; one that is declared `dead` ended when it was last heard."""
    async with connection.transaction():
        await connection.execute(_END, session, dead)
        await connection.execute(_LET_GO, session, int(dead))


class PostgresSession:
    """One process's hold on a run; appends go with everybody else's of the process."""

    def __init__(self, server: Server, writer: Gatherer, group: Group, run: str, number: int, lease: float) -> None:
        self.id = number
        self._server, self._writer, self._group = server, writer, group
        self._run, self._lease = run, lease
        self._held: dict[str, int] = {}

    async def take(self, count: int, among: Sequence[str] = ()) -> Sequence[EpisodeRow]:
        """At most `count` open episodes (`among` these) that no living session holds; now held by this one."""

        async def work(connection: Any, again: bool) -> list[Any]:
            if again:  # what the attempt that broke off may have taken is held by a session that never heard of it
                await connection.execute(f"{_FREE} AND id <> ALL ($2::bigint[])", self.id, list(self._held.values()))
            await connection.execute(_SHOW, self.id, None)
            return list(await connection.fetch(_TAKE, self._run, self._lease, self.id, count, list(among)))

        found = sorted(await self._server.run(work), key=lambda row: (int(row["deaths"]), int(row["number"])))
        for number, _, name, *_ in found:
            self._held[name] = self._group.ids[self._run, name] = number
        return [EpisodeRow(*tuple(row)[2:]) for row in found]

    async def others(self) -> int:
        """Number of open episodes that other living sessions hold."""
        values = (self._run, self._lease, self.id)
        return int(await self._server.run(lambda connection, _: connection.fetchval(_OTHERS, *values)))

    async def append(
        self,
        episode: str,
        rows: Sequence[Row],
        *,
        ending: Ending | None = None,
        spent: Mapping[str, Spending] | None = None,
    ) -> None:
        """Append, if this session still holds the episode."""
        await self._writer.write(Append(self._run, episode, rows, ending, spent, self.id))
        if ending is not None and ending.cause != "open":
            self._held.pop(episode, None)

    async def beat(self, told: Mapping[str, Json]) -> RunControl:
        """Show that it lives and hear the orders; one that was declared dead is alive again."""
        said = msgspec.json.encode(told)

        async def work(connection: Any, again: bool) -> Any:
            del again
            await connection.execute(_SHOW, self.id, said)
            return await connection.fetchrow("SELECT orders FROM runs WHERE name = $1", self._run)

        return orders_of(await self._server.run(work))

    async def end(self) -> None:
        """Let go of what it holds."""
        await self._server.run(lambda connection, _: end(connection, self.id, dead=False))
