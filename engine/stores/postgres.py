"""A store in a PostgreSQL database, for runs that many processes on many machines write."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from wardround.engine.errors import WardroundError
from wardround.engine.records import EpisodeRow
from wardround.engine.sessions import LEASE
from wardround.engine.stores.postgres_server import Address, DatabaseConnection, Server
from wardround.engine.stores.sql_store import RUN, DatabaseStore, Step, sign_of_life
from wardround.engine.stores.writes import (
    EPISODE,
    Append,
    Failures,
    Gatherer,
    Keep,
    KeepTexts,
    ScoreWrite,
    SqlRow,
    Unwritable,
    Write,
    append_refusal,
    no_episode,
)

_W = TypeVar("_W", Append, ScoreWrite, Keep, KeepTexts)

# One statement is one transaction and one round trip, so that no connection is lost in the middle of a transaction. An
# append that is not `moved`, because of its number of events or its holder, does not affect the others. Spending is
# booked in the order of its key; each session has its own rows, so that processes do not wait for each other.
_WRITE = """
WITH moved AS (
    UPDATE episodes e SET
        events = coalesce(g.after, e.events),
        at = CASE WHEN g.after IS NULL THEN e.at ELSE extract(epoch FROM now())::double precision END,
        cause = coalesce(g.cause, e.cause),
        reason = coalesce(g.reason, e.reason),
        holder = CASE WHEN g.cause IS NULL THEN e.holder END
    FROM unnest($1::integer[], $2::bigint[], $3::integer[], $4::integer[], $5::bigint[], $6::text[], $7::text[])
        AS g (place, id, first, after, holder, cause, reason)
    WHERE e.id = g.id AND e.events = coalesce(g.first, e.events) AND (g.holder IS NULL OR e.holder = g.holder)
    RETURNING g.place, e.run, e.id, coalesce(g.holder, 0) AS session
), written AS (
    INSERT INTO events (episode, seq, hash, body)
    SELECT m.id, v.seq, v.hash, v.body
    FROM unnest($8::integer[], $9::integer[], $10::bytea[], $11::bytea[]) AS v (place, seq, hash, body)
    JOIN moved m USING (place)
), booked AS (
    INSERT INTO spending AS s (run, seat, day, session, calls, failed, recalled, prompt, completion, cost, unpriced)
    SELECT m.run, b.seat, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD'), m.session, sum(b.calls), sum(b.failed),
        sum(b.recalled), sum(b.prompt), sum(b.completion), sum(b.cost), sum(b.unpriced)
    FROM unnest($12::integer[], $13::text[], $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[],
                $19::double precision[], $20::bigint[])
        AS b (place, seat, calls, failed, recalled, prompt, completion, cost, unpriced)
    JOIN moved m USING (place)
    GROUP BY m.run, b.seat, m.session ORDER BY m.run, b.seat, m.session
    ON CONFLICT (run, seat, day, session) DO UPDATE SET
        calls = s.calls + excluded.calls, failed = s.failed + excluded.failed,
        recalled = s.recalled + excluded.recalled, prompt = s.prompt + excluded.prompt,
        completion = s.completion + excluded.completion, cost = s.cost + excluded.cost,
        unpriced = s.unpriced + excluded.unpriced
)
SELECT place FROM moved
"""
_KEEP = """
INSERT INTO calls (key, body) SELECT k.key, k.body FROM unnest($1::text[], $2::bytea[]) AS k (key, body) ORDER BY k.key
ON CONFLICT DO NOTHING
"""
_KEEP_TEXTS = """
INSERT INTO texts (digest, body) SELECT t.digest, t.body FROM unnest($1::text[], $2::bytea[]) AS t (digest, body)
ORDER BY t.digest ON CONFLICT DO NOTHING
"""
# The deleted and the written rows are different ones, so one statement can do both, and can safely be repeated.
_JUDGE = """
WITH gone AS (
    DELETE FROM scores s USING unnest($1::bigint[], $2::text[], $3::integer[]) AS g (episode, evaluator, count)
    WHERE s.episode = g.episode AND s.evaluator = g.evaluator AND s.position >= g.count
)
INSERT INTO scores (episode, evaluator, position, name, value, reason, evidence)
SELECT * FROM unnest($4::bigint[], $5::text[], $6::integer[], $7::text[], $8::double precision[], $9::text[],
    $10::bytea[]) AS v (episode, evaluator, position, name, value, reason, evidence)
ORDER BY v.episode, v.evaluator, v.position
ON CONFLICT (episode, evaluator, position) DO UPDATE SET
    name = excluded.name, value = excluded.value, reason = excluded.reason, evidence = excluded.evidence
"""
_IDS = """
SELECT a.run, a.name, e.id FROM unnest($1::text[], $2::text[]) AS a (run, name)
JOIN runs r ON r.name = a.run JOIN episodes e ON e.run = r.id AND e.name = a.name
"""
_STAND = "SELECT id, holder, events FROM episodes WHERE id = ANY($1::bigint[])"
_THERE = """
SELECT a.place FROM unnest($1::integer[], $2::bigint[], $3::integer[], $4::bytea[]) AS a (place, episode, seq, hash)
JOIN events v ON v.episode = a.episode AND v.seq = a.seq AND v.hash = a.hash
"""


class PostgresWrites:
    """Commits groups of writes; `ids` caches the row ids of the episodes being played."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.ids: dict[tuple[str, str], int] = {}

    async def write(self, writes: Sequence[Write]) -> Failures:
        """Write a group and return the failures; the server may go away and come back meanwhile."""
        kept = {place: work for place, work in enumerate(writes) if isinstance(work, Keep)}
        texts = {place: work for place, work in enumerate(writes) if isinstance(work, KeepTexts)}
        judged = {place: work for place, work in enumerate(writes) if isinstance(work, ScoreWrite)}
        waiting = {place: work for place, work in enumerate(writes) if isinstance(work, Append) and work}
        failures = {
            **await _write_in_parts(self._keep_texts, texts),
            **await _write_in_parts(self._keep, kept),
            **await _write_in_parts(self._judge, judged),
        }
        while waiting:
            # A statement updates a row only once, so the second append of an episode goes with the next statement.
            first: dict[tuple[str, str], int] = {}
            for place, work in waiting.items():
                first.setdefault((work.run, work.episode), place)
            part = {place: waiting.pop(place) for place in first.values()}
            failures.update(await _write_in_parts(self._append, part))
        return failures

    async def _keep(self, part: Mapping[int, Keep]) -> Failures:
        pairs = [work.key for work in part.values()], [work.answer for work in part.values()]
        await self._server.run(lambda connection, _: connection.execute(_KEEP, *pairs))
        return {}

    async def _keep_texts(self, part: Mapping[int, KeepTexts]) -> Failures:
        texts = {digest: body for work in part.values() for digest, body in work.texts.items()}
        columns = list(texts), list(texts.values())
        await self._server.run(lambda connection, _: connection.execute(_KEEP_TEXTS, *columns))
        return {}

    async def _judge(self, part: Mapping[int, ScoreWrite]) -> Failures:
        # A statement writes a row only once, so the last of several scorings of an episode counts.
        last = {(work.run, work.episode, work.evaluator): work for work in part.values()}

        async def once(connection: DatabaseConnection, again: bool) -> Failures:
            ids = await self._row_ids(connection, part.values())
            there = [(ids[run, episode], work) for (run, episode, _), work in last.items() if (run, episode) in ids]
            counts = [(key, work.evaluator, len(work.scores)) for key, work in there]
            rows = [(key, work.evaluator, *row) for key, work in there for row in work.rows()]
            await connection.execute(_JUDGE, *_transpose(counts, 3), *_transpose(rows, 7))
            return self._strangers(part, ids)

        return await self._server.run(once)

    async def _append(self, part: Mapping[int, Append]) -> Failures:
        return await self._server.run(lambda connection, again: self._once(connection, part, again))

    async def _once(self, connection: DatabaseConnection, part: Mapping[int, Append], again: bool) -> Failures:
        ids = await self._row_ids(connection, part.values())
        failures = self._strangers(part, ids)
        part = {place: work for place, work in part.items() if place not in failures}
        # An interrupted attempt was committed whole or not at all: if one of its events is stored, all are.
        moved = await _stored_already(connection, part, ids) if again else set()
        if not moved and part:
            moved = {row[0] for row in await connection.fetch(_WRITE, *_columns(part, ids))}
        refused = {place: work for place, work in part.items() if place not in moved and (work.rows or not again)}
        if refused:
            keys = [ids[work.run, work.episode] for work in refused.values()]
            stand = {row[0]: (row[1], row[2]) for row in await connection.fetch(_STAND, keys)}
            failures |= {
                place: append_refusal(refused[place], *stand[key]) for place, key in zip(refused, keys, strict=True)
            }
        for place, work in part.items():
            episode = (work.run, work.episode)
            if work.ending is not None or place in failures:
                self.ids.pop(episode, None)
            elif work.holder is not None:  # the episode is being played; its ending will remove the id
                self.ids[episode] = ids[episode]
        return failures

    async def _row_ids(
        self, connection: DatabaseConnection, writes: Iterable[Append | ScoreWrite]
    ) -> dict[tuple[str, str], int]:
        """The row ids of those episodes of `writes` that exist."""
        asked = dict.fromkeys((work.run, work.episode) for work in writes)
        known = {episode: self.ids[episode] for episode in asked if episode in self.ids}
        wanted = [episode for episode in asked if episode not in known]
        if wanted:
            rows = await connection.fetch(_IDS, *_transpose(wanted, 2))
            known.update({(run, name): number for run, name, number in rows})
        return known

    def _strangers(
        self, part: Mapping[int, Append | ScoreWrite], ids: Mapping[tuple[str, str], int]
    ) -> dict[int, WardroundError]:
        where = self._server.address
        return {place: no_episode(where, work) for place, work in part.items() if (work.run, work.episode) not in ids}


async def _write_in_parts(write: Callable[[Mapping[int, _W]], Awaitable[Failures]], part: Mapping[int, _W]) -> Failures:
    """`write` them all in one statement; if a value among them cannot be stored, write each by itself."""
    if not part:
        return {}
    try:
        return await write(part)
    except Unwritable as error:
        if len(part) == 1:
            return dict.fromkeys(part, error)
    failures: dict[int, WardroundError] = {}
    for place, work in part.items():
        failures.update(await _write_in_parts(write, {place: work}))
    return failures


async def _stored_already(
    connection: DatabaseConnection, part: Mapping[int, Append], ids: Mapping[tuple[str, str], int]
) -> set[int]:
    """The places of the appends whose last event is already stored."""
    lasts = [(p, ids[w.run, w.episode], w.rows[-1].seq, w.rows[-1].hash) for p, w in part.items() if w.rows]
    return {row[0] for row in await connection.fetch(_THERE, *_transpose(lasts, 4))}


def _columns(part: Mapping[int, Append], ids: Mapping[tuple[str, str], int]) -> list[list[object]]:
    """The parameters of the statement: the columns of appends, of their events, and of their spending."""
    moves, events, spent = [], [], []
    for place, work in part.items():
        rows, ending = work.rows, work.ending
        first = rows[0].seq if rows else None
        after = rows[0].seq + len(rows) if rows else None
        cause, reason = (ending.cause, ending.reason) if ending is not None else (None, None)
        moves.append((place, ids[work.run, work.episode], first, after, work.holder, cause, reason))
        events += [(place, row.seq, row.hash, row.body) for row in rows]
        for seat, s in (work.spent or {}).items():
            account = (s.calls, s.failed, s.recalled, s.prompt, s.completion, s.cost, s.unpriced)
            spent.append((place, seat, *account))
    return [*_transpose(moves, 7), *_transpose(events, 4), *_transpose(spent, 9)]


def _transpose(rows: Sequence[Sequence[object]], width: int) -> list[list[object]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]


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

    async def rows(self, query: str, *values: object) -> Sequence[SqlRow]:
        """The rows of a query."""
        return list(await self._server.run(lambda connection, _: connection.fetch(query, *values)))

    async def change(self, *steps: Step) -> Sequence[SqlRow]:
        """Do the steps in one transaction; returns the rows of the last one."""

        async def work(connection: DatabaseConnection, again: bool) -> list[SqlRow]:
            async with connection.transaction():
                return [list(await connection.fetch(*step)) for step in steps][-1]

        return await self._server.run(work)

    async def take(self, run: str, session: int, count: int, among: Sequence[str]) -> Sequence[EpisodeRow]:
        """Give the session the first episodes that no living session holds, fewest dead holders first."""
        ids = self._writes.ids

        async def work(connection: DatabaseConnection, again: bool) -> list[SqlRow]:
            if again:  # free the episodes that an interrupted attempt may have taken unknown to this session
                await connection.execute(_FREE, session, list(ids.values()))
            await connection.execute(sign_of_life(_NOW), session, None)
            return list(await connection.fetch(_TAKE, run, self.lease, session, count, list(among)))

        taken = sorted(await self._server.run(work), key=lambda row: (int(row["deaths"]), int(row["number"])))
        ids.update({(run, row["name"]): row["id"] for row in taken})
        return [EpisodeRow(*tuple(row)[2:]) for row in taken]

    async def insert_run(self, name: str, header: bytes, control: bytes | None, episodes: Iterable[EpisodeRow]) -> bool:
        """Insert a run with its episodes in one transaction; returns False if the name is taken."""

        async def work(connection: DatabaseConnection, again: bool) -> bool:
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

    async def aclose(self) -> None:
        """Finish pending writes, then close."""
        await self._gatherer.aclose()
        await self._server.aclose()


async def _copy_episodes(connection: DatabaseConnection, run: int, episodes: Iterable[EpisodeRow]) -> None:
    """Copy the planned episodes of a run into their table."""
    rows = ((run, e.number, e.id, e.case, e.repeat, e.at) for e in episodes)
    if await connection.copy_records_to_table("episodes", records=rows, columns=_PLANNED) != "COPY 0":
        # Otherwise the server plans its queries for an empty table until autovacuum analyses it.
        await connection.execute("ANALYZE episodes")
