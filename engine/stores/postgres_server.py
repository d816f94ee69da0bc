"""Connects to a PostgreSQL server: parses its address, migrates its tables, and explains its errors."""

import asyncio
import importlib
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from types import ModuleType
from typing import Protocol, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from wardround.engine.errors import StoreError, UsageError
from wardround.engine.stores.writes import SqlRow, Unwritable

SCHEMES = ("postgres", "postgresql")
_HOSTS = re.compile(r"((\[[0-9a-fA-F:.]+\]|[^\s:,@/\[\]]*)(:\d+)?(,|$))*")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class DatabaseConnection(Protocol):
    """A connection of asyncpg, which is an untyped extra."""

    async def execute(self, query: str, *values: object) -> str:
        """Do a statement; returns its status."""

    async def fetch(self, query: str, *values: object) -> Sequence[SqlRow]:
        """The rows of a query."""

    async def fetchval(self, query: str, *values: object) -> SqlRow:
        """The first column of the first row; None if there is no row."""

    def transaction(self) -> AbstractAsyncContextManager[object]:
        """A transaction round a block."""

    async def copy_records_to_table(
        self, table: str, *, records: Iterable[Sequence[object]], columns: Sequence[str]
    ) -> str:
        """Copy rows into a table; returns the status `COPY n`."""


class DatabasePool(Protocol):
    """A pool of connections of asyncpg."""

    def acquire(self, *, timeout: float) -> AbstractAsyncContextManager[DatabaseConnection]:
        """A connection for the time of a block."""

    async def close(self) -> None:
        """Close all connections once they are free."""

    def terminate(self) -> None:
        """Close all connections at once."""


class Address:
    """The address of a store: `dsn` for the driver, and the `schema` of its tables. `str` gives only host and database.

    The URL's parameter `schema` (default `wardround`) is ours and is removed; the driver gets all others (`sslmode`).
    """

    def __init__(self, url: str) -> None:
        # No message may quote the URL or chain the parser's error, because both contain the password.
        wrong = UsageError(
            "the store's URL cannot be read: write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special "
            "characters of the password percent-encoded (an @ is %40, a / is %2F), or give the password in PGPASSWORD"
        )
        try:
            parts = urlsplit(url)
            query = parse_qs(parts.query, strict_parsing=bool(parts.query))
        except ValueError:
            raise wrong from None
        hosts = parts.netloc.rpartition("@")[2]
        if (
            parts.scheme not in SCHEMES
            or not _HOSTS.fullmatch(hosts)
            or parts.netloc.count("@") > 1
            or "@" in parts.path + parts.query
            or parts.fragment
        ):
            raise wrong
        self.schema = query.get("schema", ["wardround"])[-1]
        if not _SCHEMA.fullmatch(self.schema):
            raise UsageError(f"the store's schema {self.schema!r} is not a plain lower-case name")
        address, _, asked = url.partition("?")
        asked = "&".join(part for part in asked.split("&") if part and not part.startswith("schema="))
        self.dsn = f"{address}?{asked}" if asked else address
        asked_for = query.get("host", [""])[-1]
        hosts = hosts or ("" if asked_for.startswith("/") else asked_for)  # a folder is a socket of this machine
        named = f"?schema={self.schema}" if "schema" in query else ""
        self._shown = f"postgresql://{hosts}/{unquote(parts.path).lstrip('/')}{named}"

    def __str__(self) -> str:
        return self._shown

    def __repr__(self) -> str:
        return f"Address({self._shown!r})"


# As in sqlite_file.py, a released step is never edited; later steps follow it. Text is sorted by code point, as
# everywhere else. Events have no foreign key to episodes: it would be looked up for each event, and the statement that
# writes events updates the episode's row first.
STEPS: tuple[str, ...] = (
    """
    CREATE TABLE runs (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE "C" NOT NULL UNIQUE,
        created double precision NOT NULL,
        header bytea NOT NULL,
        orders bytea
    );
    CREATE TABLE texts (digest text COLLATE "C" PRIMARY KEY, body bytea NOT NULL);
    CREATE TABLE episodes (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run bigint NOT NULL REFERENCES runs(id),
        number integer NOT NULL,
        name text COLLATE "C" NOT NULL,
        case_id text COLLATE "C" NOT NULL,
        repeat integer NOT NULL,
        cause text COLLATE "C",
        reason text COLLATE "C" NOT NULL DEFAULT '',
        events integer NOT NULL DEFAULT 0,
        at double precision NOT NULL,
        holder bigint,
        deaths integer NOT NULL DEFAULT 0,
        UNIQUE (run, name),
        UNIQUE (run, number)
    ) WITH (fillfactor = 80);
    CREATE INDEX episodes_by_cause ON episodes (run, cause, number);
    CREATE INDEX episodes_by_case ON episodes (run, case_id, number);
    CREATE INDEX episodes_open ON episodes (run, deaths, number) WHERE cause IS NULL;
    CREATE INDEX episodes_held ON episodes (holder) WHERE holder IS NOT NULL;
    CREATE TABLE events (
        episode bigint NOT NULL,
        seq integer NOT NULL,
        hash bytea NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (episode, seq)
    );
    CREATE TABLE scores (
        episode bigint NOT NULL REFERENCES episodes(id),
        evaluator text COLLATE "C" NOT NULL,
        position integer NOT NULL,
        name text COLLATE "C" NOT NULL,
        value double precision,
        reason text COLLATE "C" NOT NULL,
        evidence bytea NOT NULL,
        PRIMARY KEY (episode, evaluator, position)
    );
    CREATE TABLE sessions (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run bigint NOT NULL REFERENCES runs(id),
        host text NOT NULL,
        pid bigint NOT NULL,
        began double precision NOT NULL,
        seen double precision NOT NULL,
        ended double precision,
        told bytea NOT NULL DEFAULT '{}'
    );
    CREATE INDEX sessions_by_run ON sessions (run, id);
    CREATE TABLE spending (
        run bigint NOT NULL REFERENCES runs(id),
        seat text COLLATE "C" NOT NULL,
        day text COLLATE "C" NOT NULL,
        session bigint NOT NULL,
        calls bigint NOT NULL,
        failed bigint NOT NULL,
        recalled bigint NOT NULL,
        prompt bigint NOT NULL,
        completion bigint NOT NULL,
        cost double precision NOT NULL,
        unpriced bigint NOT NULL,
        PRIMARY KEY (run, seat, day, session)
    ) WITH (fillfactor = 50);
    CREATE TABLE calls (key text COLLATE "C" PRIMARY KEY, body bytea NOT NULL);
    CREATE TABLE version (number integer NOT NULL);
    INSERT INTO version VALUES (0);
    """,
)
_LOCK = 0x57415244
"""The advisory lock for making a schema; any number will do that is the same in all processes."""


async def migrate_schema(connection: DatabaseConnection, schema: str, where: str) -> None:
    """Migrate the schema to the newest version; several processes may do so at once.

    Raises StoreError for a schema of a newer Wardround or of another program.
    """
    if await _version(connection, schema, where) == len(STEPS):
        return
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
        version = await _version(connection, schema, where)  # another process may have been quicker
        if version == len(STEPS):
            return
        await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for step in STEPS[version:]:
            await connection.execute(step)
        await connection.execute("UPDATE version SET number = $1", len(STEPS))


async def _version(connection: DatabaseConnection, schema: str, where: str) -> int:
    tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = $1", schema)
    if not tables:
        return 0
    if "version" not in {row[0] for row in tables} or "episodes" not in {row[0] for row in tables}:
        raise StoreError(f"{where}: the schema {schema} is another program's: name another with ?schema=NAME")
    version = int(await connection.fetchval("SELECT number FROM version"))
    if version > len(STEPS):
        raise StoreError(
            f"{where} was written by a newer Wardround (schema {version}, this one knows {len(STEPS)}): update, "
            "or name another store with --store"
        )
    return version


_T = TypeVar("_T")
_CONNECTIONS = 4
"""The most connections of one process; a server allows 100 in all by default."""
_ANSWER = 60.0
"""Seconds after which a statement without an answer counts as lost."""
_PAUSE = 0.25
"""Seconds between two attempts to reach a server that is away."""
_CONFLICTS = 40
"""The most retries after conflicts with other processes."""
# Classes and codes of SQLSTATE: lost connections and servers that stop, start, are full, or are a standby at the
# moment; then conflicts with other processes, and values that a column cannot hold.
_AWAY = ("08", "57P01", "57P02", "57P03", "57P05", "53300", "25006")
_CONFLICT = ("40001", "40P01")
_ODD = ("22", "23")
_WHAT_TO_DO = {
    "28": "it refused the user or the password: check the URL and PGPASSWORD",
    "3D000": "it has no such database: make it (createdb), or name another",
    "42501": "the user lacks a right: let it create a schema in the database, or own the one that is there",
    "53100": "its disk is full: make room, then resume the run",
    "53200": "it is out of memory: give the server more memory or end other queries, then resume the run",
}


class Server:
    """One database, connected at its first use; `patience` is the longest outage (s) that is waited for."""

    def __init__(self, address: Address, patience: float) -> None:
        self.address, self._patience = address, patience
        self._pool: DatabasePool | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._known = False
        self._lost: float | None = None
        self._opening = asyncio.Lock()

    async def run(self, work: Callable[[DatabaseConnection, bool], Awaitable[_T]]) -> _T:
        """Do `work(connection, again)`; while the server is away, wait for it and repeat the work.

        `again` says that an earlier attempt was interrupted and may have been committed all the same. Raises
        StoreError.
        """
        again, conflicts = False, 0
        while True:
            pool = await self._usable()
            try:
                async with pool.acquire(timeout=_ANSWER) as connection:
                    if not self._known:
                        await self._open(connection)
                    result = await work(connection, again)
                    self._lost = None
                    return result
            except (OverflowError, UnicodeEncodeError) as error:  # raised by the driver while it copies rows
                raise Unwritable(f"{self.address}: a value cannot be stored ({error})") from error
            except (OSError, TimeoutError, self._driver.InterfaceError, self._driver.PostgresError) as error:
                if _code(error).startswith(_CONFLICT):  # it was rolled back
                    conflicts += 1
                    if conflicts > _CONFLICTS:
                        raise self._unreachable(error) from error
                elif self._away(error):
                    again = True
                else:
                    raise self._unreachable(error) from error
            await asyncio.sleep(_PAUSE)

    def _away(self, error: Exception) -> bool:
        """Whether to wait: the server was reachable within `patience` seconds, or says that it is starting.

        All work shares this time; work that begins after its end is tried once.
        """
        code, now = _code(error), time.monotonic()
        if not (self._known or code == "57P03") or (code and not code.startswith(_AWAY)):
            return False
        self._lost = self._lost or now
        return now - self._lost < self._patience

    async def _open(self, connection: DatabaseConnection) -> None:
        async with self._opening:
            if not self._known:
                await migrate_schema(connection, self.address.schema, str(self.address))
                self._known = True

    async def _usable(self) -> DatabasePool:
        """The connection pool of the running event loop; it connects at its first use."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._pool is not None:
                with suppress(RuntimeError):  # the loop of these connections is closed
                    self._pool.terminate()
            self._pool, self._loop, self._opening = None, loop, asyncio.Lock()
        if self._pool is None:
            async with self._opening:
                self._pool = self._pool or await self._connections()
        return self._pool

    def _connections(self) -> Awaitable[DatabasePool]:
        try:
            self._driver: ModuleType = importlib.import_module("asyncpg")
        except ModuleNotFoundError:
            raise UsageError("a PostgreSQL store needs a driver: pip install 'wardround[postgres]'") from None
        # Our work leaves nothing in a connection that must be reset before its next use.
        pool: Awaitable[DatabasePool] = self._driver.create_pool(
            self.address.dsn,
            min_size=0,
            max_size=_CONNECTIONS,
            timeout=10,
            command_timeout=_ANSWER,
            reset=_nothing,
            server_settings={"search_path": self.address.schema, "application_name": "wardround"},
        )
        return pool

    def _unreachable(self, error: Exception) -> StoreError:
        code = _code(error)
        for start, advice in _WHAT_TO_DO.items():
            if code.startswith(start):
                return StoreError(f"{self.address}: {advice} ({error})")
        if code.startswith(_ODD):
            return Unwritable(f"{self.address}: a value cannot be stored ({error})")
        if code and not code.startswith(_AWAY):
            return StoreError(f"{self.address}: {error}; correct this, then resume the run")
        waited = f" for {self._patience:g} s" if self._known else ""
        reason = str(error) or type(error).__name__
        return StoreError(
            f"{self.address} could not be reached{waited} ({reason}): see that the server runs and lets you in, "
            "then resume the run; what was acknowledged is kept"
        )

    async def aclose(self) -> None:
        """Close the connections."""
        pool, self._pool = self._pool, None
        if pool is not None and self._loop is asyncio.get_running_loop():
            try:
                await asyncio.wait_for(pool.close(), 10)
            except (OSError, TimeoutError, self._driver.InterfaceError, self._driver.PostgresError):
                pool.terminate()


async def _nothing(connection: DatabaseConnection) -> None:
    del connection


def _code(error: Exception) -> str:
    """The SQLSTATE of an error reported by the server; '' for an error of the connection."""
    # asyncpg is an untyped extra; only an error that the server reported has a state
    return str(getattr(error, "sqlstate", None) or "")
