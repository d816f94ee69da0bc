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
)


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Bring the file to the newest version, one step a transaction.

    Raises StoreError for a file of a newer Wardround or one that is another program's database.
    """
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(STEPS):
        raise StoreError(
            f"{path} was written by a newer Wardround (schema {version}, this one knows {len(STEPS)}): update, "
            "or name another file with --store"
        )
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if version == 0 and tables:
        raise StoreError(f"{path} is another program's database: name another file with --store")
    for step in range(version, len(STEPS)):
        connection.executescript(f"BEGIN IMMEDIATE; {STEPS[step]} PRAGMA user_version = {step + 1}; COMMIT;")
