"""A store under which the process dies after so many events: what was written stays, and nothing is let go."""

from collections.abc import Mapping, Sequence
from typing import Any

import anyio

from wardround.engine.budget import Spending
from wardround.engine.errors import StoreError
from wardround.engine.events import Row
from wardround.engine.protocols import Store
from wardround.engine.records import Ending
from wardround.engine.sessions import Session


class Halted(StoreError):
    """The process is dead: no later write of it reaches the store."""


class Halting:
    """`store` for one life of a process, which ends after `events` more events were written, each by itself.

    `written` is the hash of each of them, by (episode, number of the event): what was acknowledged in this life.
    """

    def __init__(self, store: Store, events: int) -> None:
        self._store, self.left = store, events
        self.written: dict[tuple[str, int], bytes] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def begin(self, run: str, *, host: str, pid: int) -> Session:
        """A session that dies with the process."""
        return _Session(self, await self._store.begin(run, host=host, pid=pid))


class _Session:
    def __init__(self, life: Halting, session: Session) -> None:
        self._life, self._session, self.id = life, session, session.id
        self._turn = anyio.Lock()  # what an episode appends stays in order, though each event is written by itself

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def append(
        self,
        episode: str,
        rows: Sequence[Row],
        *,
        ending: Ending | None = None,
        spent: Mapping[str, Spending] | None = None,
    ) -> None:
        life = self._life
        async with self._turn:
            for row in rows:
                if life.left <= 0:
                    raise Halted("the process is dead")
                life.left -= 1
                last = row is rows[-1]
                try:
                    await self._session.append(
                        episode, [row], ending=ending if last else None, spent=spent if last else None
                    )
                finally:  # an append that is cancelled is written all the same
                    life.written[episode, row.seq] = row.hash
            if life.left <= 0:
                raise Halted("the process dies here")

    async def end(self) -> None:
        """A dead process lets go of nothing."""
        if self._life.left > 0:
            await self._session.end()
