"""The tables of the SQLite store, and the steps that bring an older file up to date."""

import sqlite3

from wardround.engine.errors import StoreError

# Each step leads from the version that is its index to the next; a released step is never edited, only followed.
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
    # Several processes at one run, the account of what it spends, the call cache.
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


def check(connection: sqlite3.Connection, path: str) -> None:
    """Raise StoreError for a file of a newer Wardround or another program's database; nothing is changed."""
    connection.execute("BEGIN")
    _version(connection, path)
    connection.execute("COMMIT")


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Bring a checked file to the newest version, one step a transaction; several processes may try it at once."""
    while connection.execute("PRAGMA user_version").fetchone()[0] < len(STEPS):
        connection.execute("BEGIN IMMEDIATE")
        step = _version(connection, path)  # another process may have been quicker
        if step < len(STEPS):
            for statement in STEPS[step].split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {step + 1}")
        connection.execute("COMMIT")


def _version(connection: sqlite3.Connection, path: str) -> int:
    """The version of the file; asked inside a transaction, as its two questions belong together."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(STEPS):
        raise StoreError(
            f"{path} was written by a newer Wardround (schema {version}, this one knows {len(STEPS)}): update, "
            "or name another file with --store"
        )
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' LIMIT 1").fetchone():
        raise StoreError(f"{path} is another program's database: name another file with --store")
    return version
