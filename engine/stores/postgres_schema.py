"""The tables of the PostgreSQL store, and the steps that bring an older one up to date."""

from typing import Any

from wardround.engine.errors import StoreError

# As in schema.py: a released step is never edited, only followed. Text is sorted by code point, as everywhere else.
# Events do not refer to episodes by a foreign key: it would be looked up for each event, and they are written by one
# statement that moves the episode's own row first.
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
"""The advisory lock under which a schema is made; any number that is the same in all processes."""


async def migrate(connection: Any, schema: str, where: str) -> None:
    """Bring the schema to the newest version; several processes may try it at once.

    Raises StoreError for one of a newer Wardround and for a schema that is another program's.
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


async def _version(connection: Any, schema: str, where: str) -> int:
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
