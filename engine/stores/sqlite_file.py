"""Opens a SQLite file, migrates its tables, and commits groups of writes."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import anyio
import anyio.to_thread

from wardround.engine.budget import Spending
from wardround.engine.errors import StoreError, WardroundError
from wardround.engine.records import Clock
from wardround.engine.stores.files import owner_only
from wardround.engine.stores.writes import (
    Append,
    Failures,
    Keep,
    KeepTexts,
    ScoreWrite,
    Unwritable,
    Write,
    append_refusal,
    no_episode,
)

# Each step leads from the version of its index to the next. A released step is never edited; later steps follow it.
STEPS: tuple[str, ...] = (
    """
    CREATE TABLE runs (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created REAL NOT NULL, header BLOB NOT NULL);
    CREATE TABLE texts (digest TEXT PRIMARY KEY, body BLOB NOT NULL);
    CREATE TABLE episodes (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs(id),
        number INTEGER NOT NULL,
        name TEXT NOT NULL,
        case_id TEXT NOT NULL,
        repeat INTEGER NOT NULL,
        cause TEXT,
        reason TEXT NOT NULL DEFAULT '',
        events INTEGER NOT NULL DEFAULT 0,
        at REAL NOT NULL,
        UNIQUE (run, name),
        UNIQUE (run, number)
    );
    CREATE INDEX episodes_by_cause ON episodes (run, cause, number);
    CREATE TABLE events (
        episode INTEGER NOT NULL REFERENCES episodes(id),
        seq INTEGER NOT NULL,
        hash BLOB NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (episode, seq)
    );
    CREATE TABLE scores (
        episode INTEGER NOT NULL REFERENCES episodes(id),
        evaluator TEXT NOT NULL,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        value REAL,
        reason TEXT NOT NULL,
        evidence BLOB NOT NULL,
        PRIMARY KEY (episode, evaluator, position)
    );
    """,
    # Several processes on one run, the account of its spending, the call cache.
    """
    CREATE TABLE sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        run INTEGER NOT NULL REFERENCES runs(id),
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        began REAL NOT NULL,
        seen REAL NOT NULL,
        ended REAL,
        told BLOB NOT NULL DEFAULT '{}'
    );
    CREATE INDEX sessions_by_run ON sessions (run, id);
    ALTER TABLE episodes ADD COLUMN holder INTEGER;
    ALTER TABLE episodes ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX episodes_by_holder ON episodes (run, holder, deaths, number) WHERE cause IS NULL;
    CREATE INDEX episodes_by_case ON episodes (run, case_id, number);
    CREATE TABLE spending (
        run INTEGER NOT NULL REFERENCES runs(id),
        seat TEXT NOT NULL,
        day TEXT NOT NULL,
        session INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        recalled INTEGER NOT NULL,
        prompt INTEGER NOT NULL,
        completion INTEGER NOT NULL,
        cost REAL NOT NULL,
        unpriced INTEGER NOT NULL,
        PRIMARY KEY (run, seat, day, session)
    );
    ALTER TABLE runs ADD COLUMN orders BLOB;
    CREATE TABLE calls (key TEXT PRIMARY KEY, body BLOB NOT NULL);
    """,
)


def check_file(connection: sqlite3.Connection, path: str) -> None:
    """Raise StoreError for a file of a newer Wardround or of another program; changes nothing."""
    connection.execute("BEGIN")
    _version(connection, path)
    connection.execute("COMMIT")


def migrate_file(connection: sqlite3.Connection, path: str) -> None:
    """Migrate a checked file to the newest version, one step per transaction; several processes may do so at once."""
    while connection.execute("PRAGMA user_version").fetchone()[0] < len(STEPS):
        connection.execute("BEGIN IMMEDIATE")
        step = _version(connection, path)  # another process may have been quicker
        if step < len(STEPS):
            for statement in STEPS[step].split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {step + 1}")
        connection.execute("COMMIT")


def _version(connection: sqlite3.Connection, path: str) -> int:
    """The version of the file; called inside a transaction, because its two queries belong together."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(STEPS):
        raise StoreError(
            f"{path} was written by a newer Wardround (schema {version}, this one knows {len(STEPS)}): update, "
            "or name another file with --store"
        )
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' LIMIT 1").fetchone():
        raise StoreError(f"{path} is another program's database: name another file with --store")
    return version


# The condition includes the number of events and the holder: if no row is updated, the append must not be written.
_MOVE = (
    "UPDATE episodes SET events = coalesce(?, events), at = coalesce(?, at){more}"
    " WHERE id = ? AND events = coalesce(?, events) AND (? IS NULL OR holder = ?)"
)
_GO_ON = _MOVE.format(more="")
_CLOSE = _MOVE.format(more=", cause = ?, reason = ?, holder = NULL")
_BOOK = """
    INSERT INTO spending (run, seat, day, session, calls, failed, recalled, prompt, completion, cost, unpriced)
    SELECT id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM runs WHERE name = ?
    ON CONFLICT (run, seat, day, session) DO UPDATE SET
        calls = calls + excluded.calls, failed = failed + excluded.failed, recalled = recalled + excluded.recalled,
        prompt = prompt + excluded.prompt, completion = completion + excluded.completion,
        cost = cost + excluded.cost, unpriced = unpriced + excluded.unpriced
"""


_Event = tuple[int, int, bytes, bytes]
"""A row of the table of events: the id of its episode, its number, hash and JSON."""


class SqliteWrites:
    """Commits groups of writes; `ids` caches the row ids of the episodes being played."""

    def __init__(self, path: str, clock: Clock) -> None:
        self._path, self._clock = path, clock
        self.ids: dict[tuple[str, str], int] = {}

    def write(self, connection: sqlite3.Connection, writes: Sequence[Write]) -> Failures:
        """Write a group inside the caller's transaction and return the failures."""
        now = self._clock()
        failures: dict[int, WardroundError] = {}
        spent: dict[tuple[str, str, int], Spending] = {}
        events: list[_Event] = []
        for place, work in enumerate(writes):
            failure = self._write(connection, work, now, events)
            if failure is not None:
                failures[place] = failure
            elif isinstance(work, Append) and work.spent:
                for seat, more in work.spent.items():
                    account = (work.run, seat, work.holder or 0)
                    before = spent.get(account)
                    spent[account] = more if before is None else before + more
        connection.executemany("INSERT INTO events (episode, seq, hash, body) VALUES (?, ?, ?, ?)", events)
        keeps = [work for work in writes if isinstance(work, Keep)]
        connection.executemany("INSERT OR IGNORE INTO calls (key, body) VALUES (?, ?)", keeps)
        day = datetime.fromtimestamp(now, UTC).date().isoformat()
        for (run, seat, session), s in spent.items():
            values = (s.calls, s.failed, s.recalled, s.prompt, s.completion, s.cost, s.unpriced)
            connection.execute(_BOOK, (seat, day, session, *values, run))
        return failures

    def _write(
        self, connection: sqlite3.Connection, work: Write, now: float, events: list[_Event]
    ) -> WardroundError | None:
        """Do one write of a group, but add its events to `events`: the caller writes these, and the cached answers."""
        match work:
            case Append():
                return self._append(connection, work, now, events) if work else None
            case ScoreWrite():
                return self._judge(connection, work)
            case KeepTexts():
                connection.executemany("INSERT OR IGNORE INTO texts (digest, body) VALUES (?, ?)", work.texts.items())
        return None

    def _append(
        self, connection: sqlite3.Connection, work: Append, now: float, events: list[_Event]
    ) -> WardroundError | None:
        run, episode, rows, ending, _, holder = work
        key = self._id(connection, run, episode)
        if key is None:
            return no_episode(self._path, work)
        first, after, at = (rows[0].seq, rows[0].seq + len(rows), now) if rows else (None, None, None)
        statement, closing = (_GO_ON, ()) if ending is None else (_CLOSE, (ending.cause, ending.reason))
        if not connection.execute(statement, (after, at, *closing, key, first, holder, holder)).rowcount:
            self.ids.pop((run, episode), None)
            return _refusal(connection, work, key)
        events += [(key, row.seq, row.hash, row.body) for row in rows]
        if ending is not None:
            self.ids.pop((run, episode), None)
        elif holder is not None:  # the episode is being played; its ending will remove the id
            self.ids[run, episode] = key
        return None

    def _judge(self, connection: sqlite3.Connection, work: ScoreWrite) -> WardroundError | None:
        key = self._id(connection, work.run, work.episode)
        if key is None:
            return no_episode(self._path, work)
        connection.execute("DELETE FROM scores WHERE episode = ? AND evaluator = ?", (key, work.evaluator))
        values = [(key, work.evaluator, *row) for row in work.rows()]
        connection.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        return None

    def _id(self, connection: sqlite3.Connection, run: str, episode: str) -> int | None:
        """The row id of an episode, None if there is no such episode."""
        key = self.ids.get((run, episode))
        if key is not None:
            return key
        query = "SELECT e.id FROM episodes e JOIN runs r ON r.id = e.run WHERE r.name = ? AND e.name = ?"
        row = connection.execute(query, (run, episode)).fetchone()
        return None if row is None else int(row[0])


def _refusal(connection: sqlite3.Connection, work: Append, key: int) -> WardroundError:
    """The error that says why the append was not written."""
    holder, events = connection.execute("SELECT holder, events FROM episodes WHERE id = ?", (key,)).fetchone()
    return append_refusal(work, holder, events)


_T = TypeVar("_T")
_RETRY = 0.05
"""Seconds between two attempts to switch a new file to WAL, because SQLite itself does not wait there."""

_ODD = (OverflowError, UnicodeEncodeError, sqlite3.DataError, sqlite3.IntegrityError)
"""Errors for values that cannot be stored: a number out of range, a lone surrogate, a text too long, a wrong type."""


_LOCKED = (
    "it was locked by another program for {timeout:g} s: "
    "close that one (a database browser, a backup under way), then resume the run"
)
_READ_ONLY = "it is read-only: allow writing to the file and its folder, then resume the run"
_WHAT_TO_DO = {
    sqlite3.SQLITE_FULL: "the disk is full: make room, then resume the run",
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_NOTADB: "it is not a database: name another file with --store, or put back a copy of the right one",
    sqlite3.SQLITE_CORRUPT: (
        "it is damaged ({error}): put back a copy, or save what can be read with the sqlite3 program's "
        ".recover; each episode's hash chain then tells whether it is whole"
    ),
    sqlite3.SQLITE_IOERR: "reading or writing failed ({error}): check the disk, then resume the run",
}


class Connection:
    """One connection in WAL mode with `synchronous=FULL`; it waits for a lock up to `timeout` seconds.

    Its work runs in a thread and is not abandoned on cancellation. Failed work is rolled back and raises StoreError.
    """

    def __init__(self, path: str, timeout: float) -> None:
        self.path, self._timeout = path, timeout
        self._lock = threading.Lock()
        self._limiter = anyio.CapacityLimiter(1)
        try:
            self._sqlite = self._open()
        except sqlite3.Error as error:
            if _code(error) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) or not self._is_whole():
                raise StoreError(f"{path} cannot be opened as a store: {self._advice(error)}") from error
            self._sqlite = self._open_sealed()

    def _is_whole(self) -> bool:
        """Whether the file alone contains all writes: the WAL file beside it is missing or empty."""
        log = Path(f"{self.path}-wal")
        with suppress(OSError):
            return Path(self.path).is_file() and (not log.exists() or not log.stat().st_size)
        return False

    def _open_sealed(self) -> sqlite3.Connection:
        """Open the file for reading only, when no other files can be made beside it, as on a read-only disk."""
        where = f"file:{quote(str(Path(self.path).resolve()))}?mode=ro&immutable=1"
        try:
            connection = sqlite3.connect(where, uri=True, check_same_thread=False, isolation_level=None)
            check_file(connection, self.path)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be opened as a store: {self._advice(error)}") from error
        if (version := connection.execute("PRAGMA user_version").fetchone()[0]) < len(STEPS):
            connection.close()
            raise StoreError(
                f"{self.path} was written by an older Wardround (schema {version}) and cannot be brought up to date "
                "where it is read-only: copy it to where you may write"
            )
        return connection

    def _open(self) -> sqlite3.Connection:
        with suppress(OSError):  # a file is there already, or SQLite says in the next line what is wrong
            if self.path != ":memory:":
                # Only the owner may read a store, because it holds all that was said. This makes a new file only: to
                # close a file that SQLite has open elsewhere in this process would give up its locks.
                os.close(owner_only(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR))
        connection = sqlite3.connect(self.path, self._timeout, check_same_thread=False, isolation_level=None)
        try:
            check_file(connection, self.path)
            self._use_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            migrate_file(connection, self.path)
            # Move what a killed process left in the WAL file into the database, unless others are at work.
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        until = time.monotonic() + self._timeout
        while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                return
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(_RETRY)

    async def read(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `work` in a thread; it begins no transaction, or its own."""
        return await anyio.to_thread.run_sync(self._guard, work, limiter=self._limiter)

    async def write(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `work` in a transaction, which is durable on return."""

        def whole(connection: sqlite3.Connection) -> _T:
            # IMMEDIATE, because a transaction that reads first and writes later cannot wait for another one's lock.
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
            except _ODD as error:
                raise Unwritable(f"{self.path}: a value cannot be stored ({error})") from error
            connection.execute("COMMIT")
            return result

        return await self.read(whole)

    def _guard(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._lock:
            try:
                result = work(self._sqlite)
                if isinstance(result, sqlite3.Cursor):
                    # The garbage collector might reset the statement from another thread while it is in use again.
                    result.close()
                return result
            except sqlite3.Error as error:
                raise StoreError(f"{self.path}: {self._advice(error)}; what was acknowledged is kept") from error
            finally:
                self._roll_back()

    def _roll_back(self) -> None:
        # Nothing to do after a commit; after a closed connection or a broken disk nothing can be undone.
        with suppress(sqlite3.Error):
            if self._sqlite.in_transaction:
                self._sqlite.execute("ROLLBACK")

    async def close(self) -> None:
        """Wait for the work under way, then close; the file alone then contains all writes (docs/store.md)."""
        await self.read(self._close_connection)

    def _close_connection(self, connection: sqlite3.Connection) -> None:
        # SQLite does this itself when the last connection closes, but another process may have the file open. A file
        # that is read-only or locked at the moment keeps its WAL file, which is just as safe.
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.close()

    def _advice(self, error: sqlite3.Error) -> str:
        """A message that says what is wrong and what to do about it."""
        code = _code(error)
        if code == sqlite3.SQLITE_CANTOPEN:
            return self._no_file()
        text = _WHAT_TO_DO.get(code, "{error}; correct this, then resume the run")
        return text.format(error=error, timeout=self._timeout)

    def _no_file(self) -> str:
        path = Path(self.path)
        if path.is_dir():
            return "it is a folder: name a file in it"
        if not path.parent.is_dir():
            return f"there is no folder {path.parent}: make it, or name another file with --store"
        if path.is_file() and not self._is_whole():
            return (
                f"it is read-only, and what was written last stands in {path.name}-wal beside it: copy both to where "
                "you may write"
            )
        return "no file can be opened or made there: check that you may write to the file and its folder"


def _code(error: sqlite3.Error) -> int:
    # The lowest byte is the primary code; extended codes use the upper bytes. Errors that sqlite3 itself raises (a
    # closed connection) have no code.
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
