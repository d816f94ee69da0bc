"""A store in a SQLite file, for runs that the processes of one machine write."""

import sqlite3
import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from wardround.engine.records import Clock, EpisodeRow
from wardround.engine.sessions import LEASE
from wardround.engine.stores.sql_store import RUN, DatabaseStore, Step, json_list, sign_of_life
from wardround.engine.stores.sqlite_file import Connection, SqliteWrites
from wardround.engine.stores.writes import EPISODE, LARGEST_RECALL, Failures, Gatherer, Keep, Rounds, SqlRow, Write

_PLAN = (
    "INSERT INTO episodes (run, number, name, case_id, repeat, at) SELECT id, ?, ?, ?, ?, ? FROM runs WHERE name = ?"
)


LARGEST_READ = 32
"""The most queries that are answered in one thread hop, which costs more than most of them."""


class AnswerKeys:
    """Which keys of the call cache may have an answer, so that a look-up of another key needs no query.

    `surely_without` decides for FRESH seconds after `read`, which each commit calls. The table has the answers of this
    process at once (`add`), and those of other processes after the next commit. Each key sets three bytes of a table of
    fixed size (a Bloom filter), so a key without an answer may seem to have one. Beyond `largest` answers every look-up
    makes a query.
    """

    FRESH = 0.25
    _SIZE = 1 << 22

    def __init__(self, largest: int = 400_000) -> None:
        self._largest = largest
        self._table: bytearray | None = None
        self._asked = False
        self._version, self._last, self._read = -1, 0, float("-inf")

    def surely_without(self, key: str) -> bool:
        """Whether the cache has no answer under this key; False if that is not known."""
        self._asked = True
        table = self._table
        if table is None or time.monotonic() - self._read > self.FRESH:
            return False
        return not all(table[place] for place in self._places(key))

    def add(self, key: str) -> None:
        """Note that an answer under this key is being written."""
        if (table := self._table) is not None:
            for place in self._places(key):
                table[place] = 1

    def read(self, connection: sqlite3.Connection) -> None:
        """Read the keys that other connections wrote; called inside a transaction."""
        if not self._asked:
            return
        now = time.monotonic()
        version = int(connection.execute("PRAGMA data_version").fetchone()[0])
        if self._table is None or version != self._version:
            last = int(connection.execute("SELECT coalesce(max(rowid), 0) FROM calls").fetchone()[0])
            if last > self._largest:
                self._table = None
                return
            self._table = self._table or bytearray(self._SIZE)
            for (key,) in connection.execute("SELECT key FROM calls WHERE rowid > ?", (self._last,)):
                self.add(key)
            self._last, self._version = last, version
        self._read = now

    def _places(self, key: str) -> tuple[int, int, int]:
        number = hash(key)
        return number & 0x3FFFFF, number >> 21 & 0x3FFFFF, number >> 42 & 0x3FFFFF


class SqliteStore(DatabaseStore):
    """A store in a SQLite file in WAL mode with `synchronous=FULL`.

    ::

        async with aclosing(SqliteStore("study.db")) as store:
            print([run.name for run in await store.runs()])

    An append returns after its commit. A killed process loses no acknowledged write, nor does a power cut on a disk
    that honours fsync. Concurrent writes are committed together (writes.py). A session counts as dead `lease` seconds
    after its last sign of life, by `clock`.
    """

    NOW = "$now"
    NEW_ID = "SELECT last_insert_rowid()"
    NAMES = "SELECT value FROM json_each({})"
    BYTES = "CAST({} AS BLOB)"

    @classmethod
    def at(cls, address: str) -> "SqliteStore":
        """The store at `sqlite:PATH`, `sqlite://PATH` or a path."""
        scheme, colon, rest = address.partition(":")
        return cls(rest.removeprefix("//") if colon and scheme == "sqlite" else address)

    def __init__(
        self, path: str | Path, *, timeout: float = 30.0, clock: Clock = time.time, lease: float = LEASE
    ) -> None:
        self.path = str(path)
        self._clock = clock
        self._writing = Connection(self.path, timeout)
        # Reads must not delay writes, least of all a sign of life.
        self._reading = self._writing if self.path == ":memory:" else Connection(self.path, timeout)
        self._writes = SqliteWrites(self.path, clock)
        self._recalls: Rounds[str, bytes | None] = Rounds(self._recall_answers, LARGEST_RECALL)
        self._queries: Rounds[Step, Sequence[SqlRow]] = Rounds(self._read, LARGEST_READ)
        self._answers = AnswerKeys()
        self._gatherer = Gatherer(lambda writes: self._writing.write(partial(self._commit, writes=writes)))
        super().__init__(self.path, self._gatherer, lease)

    def files(self) -> Sequence[str]:
        """The database with what SQLite keeps beside it; none if it is in memory."""
        return [] if self.path == ":memory:" else [f"{self.path}{end}" for end in ("", "-wal", "-shm", "-journal")]

    def _commit(self, connection: sqlite3.Connection, writes: Sequence[Write]) -> Failures:
        self._answers.read(connection)
        for work in writes:
            if isinstance(work, Keep):
                self._answers.add(work.key)
        return self._writes.write(connection, writes)

    async def rows(self, query: str, *values: object) -> Sequence[SqlRow]:
        """The rows of a query; those asked for at once are read in one hop."""
        return await self._queries.ask((query, *values))

    async def _read(self, steps: Sequence[Step]) -> list[Sequence[SqlRow]]:
        return await self._reading.read(lambda connection: [self._done(connection, step) for step in steps])

    async def change(self, *steps: Step) -> Sequence[SqlRow]:
        """Do the steps in one transaction; returns the rows of the last one."""
        return await self._writing.write(lambda connection: [self._done(connection, step) for step in steps][-1])

    def _done(self, connection: sqlite3.Connection, step: Step) -> list[SqlRow]:
        query, *values = step
        named = {str(place): value for place, value in enumerate(values, 1)}
        if self.NOW in query:
            named["now"] = self._clock()
        return connection.execute(query, named).fetchall()

    async def insert_run(self, name: str, header: bytes, control: bytes | None, episodes: Iterable[EpisodeRow]) -> bool:
        """Insert a run with its episodes in one transaction; returns False if the name is taken."""
        values = (name, self._clock(), header, control)

        def work(connection: sqlite3.Connection) -> bool:
            query = "INSERT OR IGNORE INTO runs (name, created, header, orders) VALUES (?, ?, ?, ?)"
            if not connection.execute(query, values).rowcount:
                return False
            connection.executemany(_PLAN, ((e.number, e.id, e.case, e.repeat, e.at, name) for e in episodes))
            return True

        return await self._writing.write(work)

    async def take(self, run: str, session: int, count: int, among: Sequence[str]) -> Sequence[EpisodeRow]:
        """Give the session the first episodes that no living session holds, fewest dead holders first."""
        return await self._writing.write(lambda connection: self._take_rows(connection, run, session, count, among))

    def _take_rows(
        self, connection: sqlite3.Connection, run: str, session: int, count: int, among: Sequence[str]
    ) -> list[EpisodeRow]:
        self._done(connection, (sign_of_life(self.NOW), session, None))
        silent = f"SELECT id FROM sessions WHERE run = {RUN} AND ended IS NULL AND seen < {self.NOW} - $2 ORDER BY id"  # noqa: S608 - constants
        dead = self._done(connection, (silent, run, self.lease))
        # One look-up in the index for each possible holder: quick, however many episodes are taken or closed.
        named = f" AND name IN ({self.NAMES.format('$4')})" if among else ""
        query = (
            f"SELECT id, deaths, {EPISODE} FROM episodes WHERE run = {RUN} AND cause IS NULL AND holder IS $2"  # noqa: S608 - constants
            f"{named} ORDER BY deaths, number LIMIT $3"
        )
        free: list[SqlRow] = []
        for (holder,) in ((None,), *dead):
            free += self._done(connection, (query, run, holder, count, json_list(among)))
        taken = sorted(free, key=lambda row: (int(row[1]), int(row[3])))[:count]
        update = "UPDATE episodes SET holder = ?, deaths = deaths + (holder IS NOT NULL) WHERE id = ?"
        connection.executemany(update, [(session, row[0]) for row in taken])
        self._writes.ids.update({(run, row[2]): row[0] for row in taken})
        return [EpisodeRow(*row[2:]) for row in taken]

    async def recall(self, key: str) -> bytes | None:
        """The answer under this key in the call cache, or None."""
        return None if self._answers.surely_without(key) else await self._recalls.ask(key)

    async def _recall_answers(self, keys: Sequence[str]) -> list[bytes | None]:
        query = f"SELECT key, body FROM calls WHERE key IN ({self.NAMES.format('$1')})"  # noqa: S608 - constants
        answers = {key: bytes(body) for key, body in await self.rows(query, json_list(keys))}
        return [answers.get(key) for key in keys]

    async def aclose(self) -> None:
        """Finish pending writes, then close."""
        await self._gatherer.aclose()
        await self._recalls.aclose()
        await self._queries.aclose()
        await self._reading.close()
        if self._writing is not self._reading:
            await self._writing.close()
