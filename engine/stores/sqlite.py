"""The default store: one SQLite file for many runs, written in groups, durable before it says so."""

import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.to_thread
import msgspec

from wardround.engine.errors import StoreError, UsageError
from wardround.engine.events import Row
from wardround.engine.records import Ending, Json, Score
from wardround.engine.rows import EpisodeRow, RunRow
from wardround.engine.stores.memory import digest_of
from wardround.engine.stores.schema import migrate
from wardround.engine.stores.writer import Append, GroupWriter

_T = TypeVar("_T")
_PAGE = 500
_EPISODE = "name, case_id, repeat, number, cause, reason, events, at"


class SqliteStore:
    """A file in WAL mode with `synchronous=FULL`.

    An append returns after the commit that holds it: a killed process loses nothing acknowledged, nor does a power cut
    on a disk that honours fsync. What arrives together is committed together (writer.py).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        self._connection = self._open()
        self._ids: dict[tuple[str, str], int] = {}
        self._limiter = anyio.CapacityLimiter(1)
        self._lock = threading.Lock()
        self._writer = GroupWriter(lambda appends: self._guarded(partial(self._write, appends=appends)))

    def _open(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(self.path, timeout=30, check_same_thread=False, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
                migrate(connection, self.path)
            except BaseException:
                connection.close()
                raise
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be opened as a store: {error}") from error
        return connection

    def _guarded(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `work` on the connection, alone; what fails is rolled back and is a StoreError."""
        with self._lock:
            try:
                return work(self._connection)
            except StoreError:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            except sqlite3.Error as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise StoreError(f"{self.path}: {error}; the run can be resumed once this is mended") from error

    async def _do(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Run `work` in a thread; it is not abandoned on cancellation."""
        return await anyio.to_thread.run_sync(self._guarded, work, limiter=self._limiter)

    async def create_run(self, name: str, header: Mapping[str, Json]) -> None:
        """Start a run."""

        def work(connection: sqlite3.Connection) -> bool:
            cursor = connection.execute(
                "INSERT OR IGNORE INTO runs (name, created, header) VALUES (?, ?, ?)",
                (name, time.time(), msgspec.json.encode(header)),
            )
            return cursor.rowcount == 1

        if not await self._do(work):
            raise UsageError(f"there is already a run {name!r} in {self.path}; choose another --name, or --resume it")

    async def runs(self) -> Sequence[RunRow]:
        """All runs, oldest first."""
        rows = await self._do(lambda c: c.execute("SELECT name, created, header FROM runs ORDER BY id").fetchall())
        return [RunRow(name, created, msgspec.json.decode(header)) for name, created, header in rows]

    async def run(self, name: str) -> RunRow:
        """One run."""
        query = "SELECT name, created, header FROM runs WHERE name = ?"
        row = await self._do(lambda c: c.execute(query, (name,)).fetchone())
        if row is None:
            names = ", ".join(run.name for run in (await self.runs())[-20:]) or "none"
            raise UsageError(f"there is no run {name!r} in {self.path}; there are: {names}")
        return RunRow(row[0], row[1], msgspec.json.decode(row[2]))

    async def put(self, texts: Iterable[bytes]) -> Sequence[str]:
        """Keep texts by their content."""
        pairs = [(digest_of(text), text) for text in texts]

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR IGNORE INTO texts (digest, body) VALUES (?, ?)", pairs)
            connection.execute("COMMIT")

        await self._do(work)
        return [digest for digest, _ in pairs]

    async def get(self, digest: str) -> bytes:
        """The text with this digest; raises StoreError if it is missing or was altered."""
        row = await self._do(lambda c: c.execute("SELECT body FROM texts WHERE digest = ?", (digest,)).fetchone())
        if row is None:
            raise StoreError(f"{self.path} has no text {digest}")
        body = bytes(row[0])
        if digest_of(body) != digest:
            raise StoreError(f"{self.path}: the text {digest} was altered")
        return body

    async def plan(self, run: str, episodes: Sequence[EpisodeRow]) -> None:
        """Add episodes that are to be run."""
        rows = [(e.number, e.id, e.case, e.repeat, e.at, run) for e in episodes]

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO episodes (run, number, name, case_id, repeat, at)"
                " SELECT id, ?, ?, ?, ?, ? FROM runs WHERE name = ?",
                rows,
            )
            connection.execute("COMMIT")

        await self._do(work)

    async def append(self, run: str, episode: str, rows: Sequence[Row], *, ending: Ending | None = None) -> None:
        """Append events, in one commit with what others append at the same time."""
        await self._writer.append(run, episode, rows, ending)

    def _write(self, connection: sqlite3.Connection, appends: Sequence[Append]) -> None:
        now = time.time()
        connection.execute("BEGIN IMMEDIATE")
        for run, episode, rows, ending, _, _ in appends:
            key = self._id(connection, run, episode)
            connection.executemany(
                "INSERT INTO events (episode, seq, hash, body) VALUES (?, ?, ?, ?)",
                [(key, row.seq, row.hash, row.body) for row in rows],
            )
            if rows:
                connection.execute("UPDATE episodes SET events = ?, at = ? WHERE id = ?", (rows[-1].seq + 1, now, key))
            if ending is not None:
                cause = None if ending.cause == "open" else ending.cause
                connection.execute(
                    "UPDATE episodes SET cause = ?, reason = ? WHERE id = ?", (cause, ending.reason, key)
                )
                self._ids.pop((run, episode), None)
        connection.execute("COMMIT")

    def _id(self, connection: sqlite3.Connection, run: str, episode: str) -> int:
        key = self._ids.get((run, episode))
        if key is None:
            query = "SELECT e.id FROM episodes e JOIN runs r ON r.id = e.run WHERE r.name = ? AND e.name = ?"
            row = connection.execute(query, (run, episode)).fetchone()
            if row is None:
                raise StoreError(f"{self.path}: run {run!r} has no episode {episode!r}")
            key = self._ids[run, episode] = int(row[0])
        return key

    async def _page(self, query: str, *values: object) -> list[Any]:
        return await self._do(lambda connection: connection.execute(query, values).fetchall())

    async def read(self, run: str, episode: str) -> AsyncIterator[Row]:
        """The events of one episode in order."""
        query = (
            "SELECT v.seq, v.hash, v.body FROM events v JOIN episodes e ON e.id = v.episode JOIN runs r ON r.id = e.run"
            " WHERE r.name = ? AND e.name = ? AND v.seq > ? ORDER BY v.seq LIMIT ?"
        )
        after = -1
        while page := await self._page(query, run, episode, after, _PAGE):
            for seq, digest, body in page:
                yield Row(seq, digest, bytes(body) if isinstance(body, bytes) else body.encode())
            after = page[-1][0]

    async def episodes(self, run: str, *, causes: Sequence[str] | None = None) -> AsyncIterator[EpisodeRow]:
        """The episodes of a run in their order, a page at a time."""
        wanted = None if causes is None else list(causes)
        marks = "" if wanted is None else f" AND coalesce(e.cause, 'open') IN ({', '.join('?' * len(wanted))})"
        columns = ", ".join(f"e.{column}" for column in _EPISODE.split(", "))
        query = (
            f"SELECT {columns} FROM episodes e JOIN runs r ON r.id = e.run"  # noqa: S608 - only column names and marks
            f" WHERE r.name = ? AND e.number > ?{marks} ORDER BY e.number LIMIT {_PAGE}"
        )
        after = -1
        while True:
            page = await self._page(query, run, after, *(wanted or ()))
            for name, case, repeat, number, cause, reason, events, at in page:
                yield EpisodeRow(name, number, case, repeat, cause, reason, events, at)
            if len(page) < _PAGE:
                return
            after = page[-1][3]

    async def put_scores(self, run: str, episode: str, evaluator: str, scores: Sequence[Score]) -> None:
        """Replace an evaluator's scores of one episode."""
        rows = [
            (evaluator, i, s.name, s.value, s.reason, msgspec.json.encode(s.evidence)) for i, s in enumerate(scores)
        ]

        def work(connection: sqlite3.Connection) -> None:
            key = self._id(connection, run, episode)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("DELETE FROM scores WHERE episode = ? AND evaluator = ?", (key, evaluator))
            connection.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", [(key, *row) for row in rows])
            connection.execute("COMMIT")

        await self._do(work)

    async def scores(self, run: str) -> AsyncIterator[tuple[str, str, Score]]:
        """All scores of a run."""
        query = (
            "SELECT e.name, s.evaluator, s.name, s.value, s.reason, s.evidence FROM scores s"
            " JOIN episodes e ON e.id = s.episode JOIN runs r ON r.id = e.run WHERE r.name = ?"
            " ORDER BY e.number, s.evaluator, s.position"
        )
        for episode, evaluator, name, value, reason, evidence in await self._page(query, run):
            yield episode, evaluator, Score(name, value, reason, tuple(msgspec.json.decode(evidence)))

    async def aclose(self) -> None:
        """Wait for what is being written, then close."""
        await self._writer.aclose()
        await self._do(lambda connection: connection.close())
