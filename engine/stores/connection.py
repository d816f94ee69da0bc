"""A connection to a SQLite file: opened with care, used by one thread at a time, its faults in plain words."""

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import anyio
import anyio.to_thread

from wardround.engine.errors import StoreError
from wardround.engine.stores.schema import STEPS, check, migrate
from wardround.engine.stores.work import Unwritable

_T = TypeVar("_T")
_RETRY = 0.05
"""Seconds between two tries to switch a new file to WAL, for which SQLite itself does not wait."""

_ODD = (OverflowError, UnicodeEncodeError, sqlite3.DataError, sqlite3.IntegrityError)
"""What a number out of range, half a character, too long a text, or no number where one must be is answered with."""


class Connection:
    """One connection in WAL mode with `synchronous=FULL`; `timeout` in seconds is how long it waits for a lock.

    Work on it runs in a thread and is not abandoned on cancellation; what fails is rolled back and is a StoreError.
    """

    def __init__(self, path: str, timeout: float) -> None:
        self.path, self._timeout = path, timeout
        self._lock = threading.Lock()
        self._limiter = anyio.CapacityLimiter(1)
        try:
            self._sqlite = self._open()
        except sqlite3.Error as error:
            if _code(error) not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) or not self._whole():
                raise StoreError(f"{path} cannot be opened as a store: {self._why(error)}") from error
            self._sqlite = self._open_sealed()

    def _whole(self) -> bool:
        """Whether all that was written stands in the file: the log beside it is gone or empty."""
        log = Path(f"{self.path}-wal")
        with suppress(OSError):
            return Path(self.path).is_file() and (not log.exists() or not log.stat().st_size)
        return False

    def _open_sealed(self) -> sqlite3.Connection:
        """Where nothing can be made beside the file, on a read-only disk, it can be read all the same."""
        where = f"file:{quote(str(Path(self.path).resolve()))}?mode=ro&immutable=1"
        try:
            connection = sqlite3.connect(where, uri=True, check_same_thread=False, isolation_level=None)
            check(connection, self.path)
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be opened as a store: {self._why(error)}") from error
        if (version := connection.execute("PRAGMA user_version").fetchone()[0]) < len(STEPS):
            connection.close()
            raise StoreError(
                f"{self.path} was written by an older Wardround (schema {version}) and cannot be brought up to date "
                "where it is read-only: copy it to where you may write"
            )
        return connection

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, self._timeout, check_same_thread=False, isolation_level=None)
        try:
            check(connection, self.path)
            self._use_wal(connection)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            migrate(connection, self.path)
            # What a killed process left in the log beside the file goes into it, unless others are at work.
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
        """Run `work`, which only reads."""
        return await anyio.to_thread.run_sync(self._guarded, work, limiter=self._limiter)

    async def write(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `work` in a transaction; durable on return."""
        return await anyio.to_thread.run_sync(self.commit, work, limiter=self._limiter)

    def commit(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """The same in the calling thread."""

        def whole(connection: sqlite3.Connection) -> _T:
            # IMMEDIATE: a transaction that reads first and then writes could not wait for another one's lock.
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
            except _ODD as error:
                raise Unwritable(f"{self.path}: a value cannot be stored ({error})") from error
            connection.execute("COMMIT")
            return result

        return self._guarded(whole)

    def _guarded(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._lock:
            try:
                result = work(self._sqlite)
                if isinstance(result, sqlite3.Cursor):
                    # Left to the collector, another thread would reset the statement while it is in use here again.
                    result.close()
                return result
            except sqlite3.Error as error:
                raise StoreError(f"{self.path}: {self._why(error)}; what was acknowledged is kept") from error
            finally:
                self._roll_back()

    def _roll_back(self) -> None:
        # A no-op after a commit; on a closed connection or a broken disk there is nothing left to undo.
        with suppress(sqlite3.Error):
            if self._sqlite.in_transaction:
                self._sqlite.execute("ROLLBACK")

    async def close(self) -> None:
        """Wait for the work under way, then close; the file alone then holds all that was written (docs/store.md)."""
        await self.read(self._closed)

    def _closed(self, connection: sqlite3.Connection) -> None:
        # SQLite does this itself when the last connection of all closes; another process may have the file open. A
        # file that is read-only or locked at the moment keeps its log, which is as good.
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.close()

    def _why(self, error: sqlite3.Error) -> str:
        """What is wrong, and what to do about it."""
        match _code(error):
            case sqlite3.SQLITE_FULL:
                return "the disk is full: make room, then resume the run"
            case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
                return (
                    f"it was locked by another program for {self._timeout:g} s: "
                    "close that one (a database browser, a backup under way), then resume the run"
                )
            case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
                return "it is read-only: allow writing to the file and its folder, then resume the run"
            case sqlite3.SQLITE_NOTADB:
                return "it is not a database: name another file with --store, or put back a copy of the right one"
            case sqlite3.SQLITE_CORRUPT:
                return (
                    f"it is damaged ({error}): put back a copy, or save what can be read with the sqlite3 program's "
                    ".recover; each episode's hash chain then tells whether it is whole"
                )
            case sqlite3.SQLITE_CANTOPEN:
                return self._no_file()
            case sqlite3.SQLITE_IOERR:
                return f"reading or writing failed ({error}): check the disk, then resume the run"
            case _:
                return f"{error}; the run can be resumed once this is mended"

    def _no_file(self) -> str:
        path = Path(self.path)
        if path.is_dir():
            return "it is a folder: name a file in it"
        if not path.parent.is_dir():
            return f"there is no folder {path.parent}: make it, or name another file with --store"
        if path.is_file() and not self._whole():
            return (
                f"it is read-only, and what was written last stands in {path.name}-wal beside it: copy both to where "
                "you may write"
            )
        return "no file can be opened or made there: check that you may write to the file and its folder"


def _code(error: sqlite3.Error) -> int:
    # Extended codes say more in their upper bytes; the module's own errors (a closed connection) carry none.
    # only an error that SQLite itself reported has a code
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
