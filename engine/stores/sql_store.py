"""What the stores in SQL databases share: the text of each statement, the session, and reading page by page."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping, Sequence
from typing import ClassVar, Protocol

import msgspec

from wardround.engine.budget import Spending, SpendRow
from wardround.engine.errors import TextLost, UsageError
from wardround.engine.events import Row, digest_of
from wardround.engine.records import Ending, EpisodeRow, Json, RunRow, Score
from wardround.engine.sessions import RunControl, SessionRow
from wardround.engine.stores.writes import (
    EPISODE,
    Append,
    Keep,
    KeepTexts,
    ScoreWrite,
    SqlRow,
    Write,
    control_of,
    header_bytes,
    run_row,
    session_row,
    undamaged_run,
)

Step = tuple[str, *tuple[object, ...]]
"""A statement with its values: the first is `$1` of the text."""
RUN = "(SELECT id FROM runs WHERE name = $1)"
"""The row id of the run named `$1`."""
LIST = f"SELECT {EPISODE} FROM episodes WHERE run = {RUN}"  # noqa: S608 - constants
"""The beginning of a query for the episodes of the run named `$1`."""
_PAGE = 500
_CONTROL = "SELECT orders FROM runs WHERE name = $1"


class Writer(Protocol):
    """Commits the writes of many episodes together."""

    async def write(self, one: Write) -> None:
        """Return when this write and all earlier ones are committed."""


class DatabaseStore(ABC):
    """A store in an SQL database. A subclass connects to its kind of database, and gives its form of some expressions.

    `where` is the store's name in messages, `lease` the seconds after which a silent session counts as dead.
    """

    NOW: ClassVar[str]
    """The present time in a statement, in seconds since the epoch."""
    NEW_ID: ClassVar[str]
    """The statement that returns the id of the row that was inserted last in the transaction."""
    NAMES: ClassVar[str]
    """The statement that returns each text of the JSON list `{}`."""
    BYTES: ClassVar[str] = "{}"
    """How the bytes of the column `{}` are read."""

    def __init__(self, where: object, writer: Writer, lease: float) -> None:
        self.where, self.lease, self.writer = where, lease, writer

    @abstractmethod
    async def rows(self, query: str, *values: object) -> Sequence[SqlRow]:
        """The rows of a query."""

    @abstractmethod
    async def change(self, *steps: Step) -> Sequence[SqlRow]:
        """Do the steps in one transaction, which is durable on return; returns the rows of the last one."""

    @abstractmethod
    async def take(self, run: str, session: int, count: int, among: Sequence[str]) -> Sequence[EpisodeRow]:
        """Give the session the first episodes that no living session holds, fewest dead holders first."""

    @abstractmethod
    async def insert_run(self, name: str, header: bytes, control: bytes | None, episodes: Iterable[EpisodeRow]) -> bool:
        """Insert a run with its episodes in one transaction; returns False if the name is taken."""

    async def create_run(
        self,
        name: str,
        header: Mapping[str, Json],
        episodes: Iterable[EpisodeRow] = (),
        orders: RunControl | None = None,
    ) -> None:
        """Create a run with its episodes and orders, all or nothing; raises UsageError if the name is taken."""
        control = None if orders is None else msgspec.json.encode(orders)
        if not await self.insert_run(name, header_bytes(header), control, episodes):
            raise UsageError(f"there is already a run {name!r} in {self.where}; choose another --name, or --resume it")

    async def runs(self) -> Sequence[RunRow]:
        """All runs, oldest first."""
        return [run_row(*row) for row in await self.rows(f"{self._runs} ORDER BY id")]

    @property
    def _runs(self) -> str:
        return f"SELECT name, created, {self.BYTES.format('header')} FROM runs"  # noqa: S608 - constants

    async def run(self, name: str) -> RunRow:
        """One run; raises UsageError if there is none, StoreError if its header is damaged."""
        page = await self.rows(f"{self._runs} WHERE name = $1", name)
        if not page:
            names = [row[0] for row in await self.rows("SELECT name FROM runs ORDER BY id DESC LIMIT 20")]
            there = ", ".join(reversed(names)) or "none"
            raise UsageError(f"there is no run {name!r} in {self.where}; there are: {there}")
        return undamaged_run(run_row(*page[0]), self.where)

    async def put(self, texts: Iterable[bytes]) -> Sequence[str]:
        """Store texts by content; returns their digests."""
        pairs = [(digest_of(text), text) for text in texts]
        # In the order of their digests, so that two processes that store the same texts cannot deadlock.
        await self.writer.write(KeepTexts(dict(sorted(pairs))))
        return [digest for digest, _ in pairs]

    async def get(self, digest: str) -> bytes:
        """The text with this digest; raises TextLost if it is missing or was altered."""
        query = f"SELECT {self.BYTES.format('body')} FROM texts WHERE digest = $1"  # noqa: S608 - constants
        page = await self.rows(query, digest)
        if not page:
            raise TextLost(f"{self.where} has no text {digest}")
        body = bytes(page[0][0])
        if digest_of(body) != digest:
            raise TextLost(f"{self.where}: the text {digest} was altered")
        return body

    async def texts(self, digests: Sequence[str]) -> Mapping[str, bytes]:
        """The texts with these digests; one that is missing or was altered is left out."""
        body = self.BYTES.format("body")
        query = f"SELECT digest, {body} FROM texts WHERE digest IN ({self.NAMES.format('$1')})"  # noqa: S608 - constants
        stored = {digest: bytes(text) for digest, text in await self.rows(query, json_list(digests))}
        return {digest: text for digest, text in stored.items() if digest_of(text) == digest}

    async def logs(self, run: str, episodes: Sequence[str]) -> Mapping[str, Sequence[Row]]:
        """The events of these episodes (ids), each in order; an episode without events is left out."""
        query = (
            f"SELECT name, seq, {self.BYTES.format('hash')}, {self.BYTES.format('body')} FROM events"  # noqa: S608 - constants
            f" JOIN episodes ON episodes.id = events.episode WHERE run = {RUN} AND name IN ({self.NAMES.format('$2')})"
            " ORDER BY events.episode, seq"
        )
        logs: dict[str, list[Row]] = {}
        for name, seq, own, body in await self.rows(query, run, json_list(episodes)):
            logs.setdefault(name, []).append(Row(seq, own, body))
        return logs

    async def begin(self, run: str, *, host: str, pid: int) -> "DatabaseSession":
        """Begin to work on a run."""
        await self.run(run)
        query = (
            "INSERT INTO sessions (run, host, pid, began, seen)"  # noqa: S608 - constants
            f" SELECT id, $2, $3, {self.NOW}, {self.NOW} FROM runs WHERE name = $1"
        )
        return DatabaseSession(self, run, (await self.change((query, run, host, pid), (self.NEW_ID,)))[0][0])

    def living(self, lease: str) -> str:
        """The condition that a session is alive, with the seconds of its lease as the value `lease`."""
        return f"ended IS NULL AND seen >= {self.NOW} - {lease}"

    async def sessions(self, run: str) -> Sequence[SessionRow]:
        """All sessions of a run, oldest first."""
        query = (
            f"SELECT id, $1, host, pid, began, seen, ended, {self.living('$2')}, told"  # noqa: S608 - constants
            f" FROM sessions WHERE run = {RUN} ORDER BY id"
        )
        return [session_row(row) for row in await self.rows(query, run, self.lease)]

    async def release(self, session: int) -> None:
        """Declare a session dead and free its episodes."""
        await self.change(*self.end(session, dead=True))

    def end(self, session: int, *, dead: bool) -> tuple[Step, ...]:
        """The steps that end a session and free its episodes; a `dead` one ended at its last sign of life."""
        ended = f"UPDATE sessions SET ended = coalesce(ended, CASE WHEN $2 THEN seen ELSE {self.NOW} END) WHERE id = $1"  # noqa: S608 - constants
        freed = (
            "UPDATE episodes SET holder = NULL, deaths = deaths + CAST($2 AS integer)"
            " WHERE run = (SELECT run FROM sessions WHERE id = $1) AND holder = $1 AND cause IS NULL"
        )
        return (ended, session, dead), (freed, session, int(dead))

    async def orders(self, run: str) -> RunControl:
        """The operator's orders for the run."""
        return control_of(await self.rows(_CONTROL, run))

    async def order(self, run: str, orders: RunControl) -> None:
        """Replace the orders."""
        await self.run(run)
        await self.change(("UPDATE runs SET orders = $2 WHERE name = $1", run, msgspec.json.encode(orders)))

    async def append(self, run: str, episode: str, rows: Sequence[Row], *, ending: Ending | None = None) -> None:
        """Append events, in one commit with concurrent appends."""
        await self.writer.write(Append(run, episode, rows, ending))

    async def reopen(self, run: str, episodes: Sequence[str]) -> None:
        """Open the closed ones of these episodes again."""
        query = (
            "UPDATE episodes SET cause = NULL, reason = '', holder = NULL"  # noqa: S608 - constants
            f" WHERE run = {RUN} AND cause IS NOT NULL AND name IN ({self.NAMES.format('$2')})"
        )
        if episodes:
            await self.change((query, run, json_list(episodes)))

    async def read(self, run: str, episode: str, *, after: int = -1) -> AsyncIterator[Row]:
        """The events of one episode in order, from number `after` + 1."""
        full = True
        while full:
            page = await self.page(run, episode, after)
            for row in page:
                yield Row(*row)
            full = len(page) == _PAGE
            after = page[-1][0] if full else after

    async def page(self, run: str, episode: str, after: int) -> Sequence[SqlRow]:
        """The first events of one episode from number `after` + 1."""
        return await self.rows(*self.events_page(run, episode, after))

    def events_page(self, run: str, episode: str, after: int) -> tuple[str, str, str, int, int]:
        """The query for a page of events, with its values."""
        query = (
            f"SELECT seq, {self.BYTES.format('hash')}, {self.BYTES.format('body')} FROM events WHERE seq > $3"  # noqa: S608 - constants
            f" AND episode = (SELECT id FROM episodes WHERE run = {RUN} AND name = $2) ORDER BY seq LIMIT $4"
        )
        return query, run, episode, after, _PAGE

    async def episodes(
        self, run: str, *, causes: Sequence[str] | None = None, after: int = -1, limit: int | None = None
    ) -> AsyncIterator[EpisodeRow]:
        """The episodes of a run in order, one page at a time."""
        condition, values = self._by_cause(causes)
        query = f"{LIST} AND number > $2{condition} ORDER BY number LIMIT $3"
        while limit is None or limit > 0:
            size = _PAGE if limit is None else min(_PAGE, limit)
            page = await self.rows(query, run, after, size, *values)
            for row in page:
                yield EpisodeRow(*row)
            if len(page) < size:
                return
            after, limit = page[-1][1], None if limit is None else limit - len(page)

    def _by_cause(self, causes: Sequence[str] | None) -> tuple[str, list[str]]:
        """The condition on the cause: one cause is looked up by index, several by a scan of the run."""
        if causes is None:
            return "", []
        if len(causes) == 1:
            return (" AND cause IS NULL", []) if causes[0] == "open" else (" AND cause = $4", [causes[0]])
        return f" AND coalesce(cause, 'open') IN ({self.NAMES.format('$4')})", [json_list(causes)]

    async def episode(self, run: str, name: str) -> EpisodeRow | None:
        """One episode by its id."""
        page = await self.rows(f"{LIST} AND name = $2", run, name)
        return EpisodeRow(*page[0]) if page else None

    async def find(self, run: str, name: str, limit: int) -> Sequence[EpisodeRow]:
        """The episode with this id, else with this number, else the first `limit` of this case."""
        by_number = [("number", int(name))] if name.isascii() and name.isdigit() and len(name) < 10 else []
        for column, value in (("name", name), *by_number, ("case_id", name)):
            if page := await self.rows(f"{LIST} AND {column} = $2 ORDER BY number LIMIT $3", run, value, limit):
                return [EpisodeRow(*row) for row in page]
        return []

    async def endings(self, run: str) -> Mapping[str, int]:
        """Number of episodes by cause, in order of cause; open episodes count under `open`."""
        query = f"SELECT cause, count(*) FROM episodes WHERE run = {RUN} GROUP BY cause"  # noqa: S608 - constants
        return dict(sorted((cause or "open", count) for cause, count in await self.rows(query, run)))

    async def spending(self, run: str | None = None, *, day: str | None = None, besides: int = 0) -> Sequence[SpendRow]:
        """Spending by seat and day, in order of run, day, seat."""
        counts = ("calls", "failed", "recalled", "prompt", "completion")
        sums = [f"CAST(sum(s.{name}) AS bigint)" for name in counts]
        query = (
            f"SELECT r.name, s.seat, s.day, {', '.join(sums)}, sum(s.cost), CAST(sum(s.unpriced) AS bigint)"  # noqa: S608 - constants
            " FROM spending s JOIN runs r ON r.id = s.run"
            " WHERE r.name = coalesce($1, r.name) AND s.day = coalesce($2, s.day) AND s.session <> $3"
            " GROUP BY r.name, s.day, s.seat ORDER BY r.name, s.day, s.seat"
        )
        page = await self.rows(query, run, day, besides or -1)
        return [SpendRow(name, seat, on, Spending(*account)) for name, seat, on, *account in page]

    async def recall(self, key: str) -> bytes | None:
        """The answer under this key in the call cache, or None."""
        page = await self.rows("SELECT body FROM calls WHERE key = $1", key)
        return bytes(page[0][0]) if page else None

    async def keep(self, key: str, answer: bytes) -> None:
        """Add an answer to the call cache; an earlier one under the same key stays."""
        await self.writer.write(Keep(key, answer))

    async def put_scores(self, run: str, episode: str, evaluator: str, scores: Sequence[Score]) -> None:
        """Replace an evaluator's scores of one episode, in one commit with concurrent writes."""
        await self.writer.write(ScoreWrite(run, episode, evaluator, scores))

    async def scorings(self, run: str) -> Mapping[str, int]:
        """Number of episodes with scores, by the name under which the scores were stored."""
        query = (
            "SELECT s.evaluator, count(*) FROM episodes e JOIN scores s ON s.episode = e.id AND s.position = 0"  # noqa: S608 - constants
            f" WHERE e.run = {RUN} GROUP BY s.evaluator ORDER BY s.evaluator"
        )
        return dict(await self.rows(query, run))

    async def scores(self, run: str) -> AsyncIterator[tuple[str, str, Score]]:
        """All scores of a run, read one page at a time."""
        query = (
            "SELECT e.name, s.name, s.value, s.reason, s.evidence, e.number, s.evaluator, s.position"  # noqa: S608 - constants
            f" FROM episodes e JOIN scores s ON s.episode = e.id WHERE e.run = {RUN} AND e.number >= $2"
            " AND (e.number, s.evaluator, s.position) > ($2, $3, $4)"
            " ORDER BY e.number, s.evaluator, s.position LIMIT $5"
        )
        last: SqlRow = (-1, "", -1)
        while page := await self.rows(query, run, *last, _PAGE):
            for episode, name, value, reason, evidence, _, evaluator, _ in page:
                yield episode, evaluator, Score(name, value, reason, tuple(msgspec.json.decode(evidence)))
            last = page[-1][5:]


class DatabaseSession:
    """One process's session on a run; its appends are committed together with others of the process."""

    def __init__(self, store: DatabaseStore, run: str, number: int) -> None:
        self.id = number
        self._store, self._run = store, run

    async def take(self, count: int, among: Sequence[str] = ()) -> Sequence[EpisodeRow]:
        """Take at most `count` open episodes (`among` these, if any) that no living session holds."""
        return await self._store.take(self._run, self.id, count, among)

    async def others(self) -> int:
        """Number of open episodes that other living sessions hold."""
        # One look-up in the index for each session: quick, however many episodes there are.
        query = (
            "SELECT coalesce(sum((SELECT count(*) FROM episodes e"  # noqa: S608 - constants
            " WHERE e.run = s.run AND e.holder = s.id AND e.cause IS NULL)), 0)"
            f" FROM sessions s WHERE s.run = {RUN} AND s.id <> $3 AND {self._store.living('$2')}"
        )
        return int((await self._store.rows(query, self._run, self._store.lease, self.id))[0][0])

    def append(
        self,
        episode: str,
        rows: Sequence[Row],
        *,
        ending: Ending | None = None,
        spent: Mapping[str, Spending] | None = None,
    ) -> Coroutine[object, object, None]:
        """Append if this session still holds the episode; raises LeaseLost if it does not."""
        return self._store.writer.write(Append(self._run, episode, rows, ending, spent, self.id))

    async def beat(self, status: Mapping[str, Json]) -> RunControl:
        """Give a sign of life and return the orders; a session that was declared dead is alive again."""
        seen = sign_of_life(self._store.NOW), self.id, msgspec.json.encode(status)
        return control_of(await self._store.change(seen, (_CONTROL, self._run)))

    async def end(self) -> None:
        """Free the episodes that it holds."""
        await self._store.change(*self._store.end(self.id, dead=False))


def sign_of_life(now: str) -> str:
    """The statement by which session `$1` is alive, with its status `$2` unless that is NULL."""
    return f"UPDATE sessions SET seen = {now}, ended = NULL, told = coalesce($2, told) WHERE id = $1"  # noqa: S608 - constants


def json_list(texts: Sequence[str]) -> str:
    """A list of texts as one value of a statement (`NAMES`)."""
    return msgspec.json.encode(list(texts)).decode()
