"""Who is at work on a run of a SQLite store: sessions, what they hold, and what they are told."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from wardround.engine.clock import Clock
from wardround.engine.events import Row
from wardround.engine.records import Ending, Json
from wardround.engine.rows import EpisodeRow
from wardround.engine.sessions import RunControl, SessionRow
from wardround.engine.spending import Spending
from wardround.engine.stores.connection import Connection
from wardround.engine.stores.listing import EPISODE, orders_of, session_row
from wardround.engine.stores.work import Append
from wardround.engine.stores.writer import GroupWriter


class Leases:
    """The sessions of a store; one counts as dead `lease` seconds after its last sign of life, by `clock`."""

    def __init__(self, connection: Connection, clock: Clock, lease: float, ids: dict[tuple[str, str], int]) -> None:
        self.connection = connection
        self._clock, self._lease, self._ids = clock, lease, ids

    def begin(self, connection: sqlite3.Connection, run: str, host: str, pid: int) -> int:
        """A new session of a run that is there."""
        now = self._clock()
        cursor = connection.execute(
            "INSERT INTO sessions (run, host, pid, began, seen) SELECT id, ?, ?, ?, ? FROM runs WHERE name = ?",
            (host, pid, now, now, run),
        )
        return int(cursor.lastrowid or 0)

    def rows(self, connection: sqlite3.Connection, run: str) -> list[SessionRow]:
        """All sessions of a run, oldest first."""
        query = (
            "SELECT s.id, r.name, s.host, s.pid, s.began, s.seen, s.ended, s.ended IS NULL AND s.seen >= ?, s.told"
            " FROM sessions s JOIN runs r ON r.id = s.run WHERE r.name = ? ORDER BY s.id"
        )
        found = connection.execute(query, (self._clock() - self._lease, run)).fetchall()
        return [session_row(row) for row in found]

    def take(
        self, connection: sqlite3.Connection, run: str, session: int, count: int, among: Sequence[str] = ()
    ) -> list[EpisodeRow]:
        """Give the session the first episodes that no living one holds; those last whose holders died most often."""
        self._show(connection, session)
        dead = connection.execute(
            "SELECT s.id FROM sessions s JOIN runs r ON r.id = s.run"
            " WHERE r.name = ? AND s.ended IS NULL AND s.seen < ? ORDER BY s.id",
            (run, self._clock() - self._lease),
        ).fetchall()
        # One look into the index for each holder there may be: quick, however many episodes are held or closed.
        query = (
            f"SELECT id, deaths, {EPISODE} FROM episodes WHERE run = (SELECT id FROM runs WHERE name = ?)"  # noqa: S608 - columns
            " AND cause IS NULL AND holder IS ?"
            f"{' AND name IN (SELECT value FROM json_each(?))' if among else ''} ORDER BY deaths, number LIMIT ?"
        )
        names = [msgspec.json.encode(among).decode()] if among else []
        found: list[Any] = []
        for (holder,) in ((None,), *dead):
            found += connection.execute(query, (run, holder, *names, count)).fetchall()
        found = sorted(found, key=lambda row: (int(row[1]), int(row[3])))[:count]
        update = "UPDATE episodes SET holder = ?, deaths = deaths + (holder IS NOT NULL) WHERE id = ?"
        connection.executemany(update, [(session, row[0]) for row in found])
        self._ids.update({(run, row[2]): row[0] for row in found})
        return [EpisodeRow(*row[2:]) for row in found]

    def _show(self, connection: sqlite3.Connection, session: int, told: bytes | None = None) -> None:
        connection.execute(
            "UPDATE sessions SET seen = ?, ended = NULL, told = coalesce(?, told) WHERE id = ?",
            (self._clock(), told, session),
        )

    def others(self, connection: sqlite3.Connection, run: str, session: int) -> int:
        """Number of open episodes that living sessions other than this one hold."""
        query = (
            "SELECT coalesce(sum((SELECT count(*) FROM episodes e"
            " WHERE e.run = s.run AND e.holder = s.id AND e.cause IS NULL)), 0)"
            " FROM runs r JOIN sessions s ON s.run = r.id"
            " WHERE r.name = ? AND s.id != ? AND s.ended IS NULL AND s.seen >= ?"
        )
        return int(connection.execute(query, (run, session, self._clock() - self._lease)).fetchone()[0])

    def beat(self, connection: sqlite3.Connection, run: str, session: int, told: bytes) -> RunControl:
        """Note the sign of life; returns the orders."""
        self._show(connection, session, told)
        return orders_of(connection.execute("SELECT orders FROM runs WHERE name = ?", (run,)).fetchone())

    def end(self, connection: sqlite3.Connection, session: int, *, dead: bool) -> None:
        """Free what a session holds; one that is declared `dead` ended when it was last heard."""
        ended = None if dead else self._clock()
        connection.execute("UPDATE sessions SET ended = coalesce(ended, ?, seen) WHERE id = ?", (ended, session))
        connection.execute(
            "UPDATE episodes SET holder = NULL, deaths = deaths + ?"
            " WHERE run = (SELECT run FROM sessions WHERE id = ?) AND holder = ? AND cause IS NULL",
            (int(dead), session, session),
        )


class SqliteSession:
    """One process's hold on a run; appends go with everybody else's through the store's writer."""

    def __init__(self, leases: Leases, writer: GroupWriter, run: str, number: int) -> None:
        self.id = number
        self._leases, self._writer, self._run = leases, writer, run

    async def take(self, count: int, among: Sequence[str] = ()) -> Sequence[EpisodeRow]:
        """At most `count` open episodes (`among` these) that no living session holds; now held by this one."""
        return await self._leases.connection.write(lambda c: self._leases.take(c, self._run, self.id, count, among))

    async def others(self) -> int:
        """Number of open episodes that other living sessions hold."""
        return await self._leases.connection.read(lambda c: self._leases.others(c, self._run, self.id))

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

    async def beat(self, told: Mapping[str, Json]) -> RunControl:
        """Show that it lives and hear the orders; one that was declared dead is alive again."""
        said = msgspec.json.encode(told)
        return await self._leases.connection.write(lambda c: self._leases.beat(c, self._run, self.id, said))

    async def end(self) -> None:
        """Let go of what it holds."""
        await self._leases.connection.write(lambda c: self._leases.end(c, self.id, dead=False))
