"""A store in memory, for tests and for runs that need not be kept."""

import time

from wardround.engine.records import Clock
from wardround.engine.sessions import LEASE
from wardround.engine.stores.sqlite import SqliteStore


class MemoryStore(SqliteStore):
    """A store that is gone when the process ends: the SQLite store on a database in memory.

        run = await wardround.run("bundled", "workup", doctor=MyDoctor, store=MemoryStore())

    `clock` returns the time in seconds; a session counts as dead `lease` seconds after its last sign of life.
    """

    def __init__(self, *, clock: Clock = time.time, lease: float = LEASE) -> None:
        super().__init__(":memory:", clock=clock, lease=lease)
