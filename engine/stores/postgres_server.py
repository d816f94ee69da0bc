"""A PostgreSQL server as the store reaches it: a few connections, patience while it is away, faults in plain words."""

import asyncio
import importlib
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from wardround.engine.errors import StoreError, UsageError
from wardround.engine.stores.address import Address
from wardround.engine.stores.postgres_schema import migrate
from wardround.engine.stores.work import Unwritable

_T = TypeVar("_T")
_CONNECTIONS = 4
"""Connections of one process at most; a server allows 100 in all as it comes."""
_ANSWER = 60.0
"""Seconds after which a statement without an answer counts as lost."""
_PAUSE = 0.25
"""Seconds between two tries to reach a server that is away."""
_CONFLICTS = 40
"""How often what another process got in the way of is tried again."""
# Classes and codes of SQLSTATE: lost connections, a server that stops, starts, is full, or is a standby just now;
# then what another process got in the way of, and values that a column cannot hold.
_AWAY = ("08", "57P01", "57P02", "57P03", "57P05", "53300", "25006")
_CONFLICT = ("40001", "40P01")
_ODD = ("22", "23")
_WHAT_TO_DO = {
    "28": "it refused the user or the password: check the URL and PGPASSWORD",
    "3D000": "it has no such database: make it (createdb), or name another",
    "42501": "the user lacks a right: let it create a schema in the database, or own the one that is there",
    "53100": "its disk is full: make room, then resume the run",
    "53200": "it is out of memory: then resume the run",
}


class Server:
    """One database, first reached when it is first used; `patience` in seconds is how long an outage may last."""

    def __init__(self, address: Address, patience: float) -> None:
        self.address, self._patience = address, patience
        self._pool: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._known = False
        self._lost: float | None = None
        self._opening = asyncio.Lock()

    async def run(self, work: Callable[[Any, bool], Awaitable[_T]]) -> _T:
        """Do `work(connection, again)`; while the server is away it is waited for and the work is done again.

        `again` says that an earlier attempt broke off and may have been committed all the same. Raises StoreError.
        """
        again, conflicts = False, 0
        while True:
            pool = await self._usable()
            try:
                async with pool.acquire(timeout=_ANSWER) as connection:
                    if not self._known:
                        await self._open(connection)
                    result = await work(connection, again)
                    self._lost = None
                    return result
            except (OverflowError, UnicodeEncodeError) as error:  # the driver's own words while it copies rows
                raise Unwritable(f"{self.address}: a value cannot be stored ({error})") from error
            except (OSError, TimeoutError, self._driver.InterfaceError, self._driver.PostgresError) as error:
                if _code(error).startswith(_CONFLICT):  # it was rolled back
                    conflicts += 1
                    if conflicts > _CONFLICTS:
                        raise self._failed(error) from error
                elif self._away(error):
                    again = True
                else:
                    raise self._failed(error) from error
            await asyncio.sleep(_PAUSE)

    def _away(self, error: Exception) -> bool:
        """Whether it is worth waiting: the server was there not long ago, or says that it is coming.

        The patience is one for all: who comes when it is used up tries once.
        """
        code, now = _code(error), time.monotonic()
        if not (self._known or code == "57P03") or (code and not code.startswith(_AWAY)):
            return False
        self._lost = self._lost or now
        return now - self._lost < self._patience

    async def _open(self, connection: Any) -> None:
        async with self._opening:
            if not self._known:
                await migrate(connection, self.address.schema, str(self.address))
                self._known = True

    async def _usable(self) -> Any:
        """The connections of the running event loop; none is made yet."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            if self._pool is not None:
                with suppress(RuntimeError):  # the loop they belonged to is closed
                    self._pool.terminate()
            self._pool, self._loop, self._opening = None, loop, asyncio.Lock()
        if self._pool is None:
            async with self._opening:
                self._pool = self._pool or await self._connections()
        return self._pool

    def _connections(self) -> Any:
        try:
            self._driver: Any = importlib.import_module("asyncpg")
        except ModuleNotFoundError:
            raise UsageError("a PostgreSQL store needs a driver: pip install 'wardround[postgres]'") from None
        # Nothing is left in a connection that would have to be reset before the next use.
        return self._driver.create_pool(
            self.address.dsn,
            min_size=0,
            max_size=_CONNECTIONS,
            timeout=10,
            command_timeout=_ANSWER,
            reset=_nothing,
            server_settings={"search_path": self.address.schema, "application_name": "wardround"},
        )

    def _failed(self, error: Exception) -> StoreError:
        code = _code(error)
        for start, advice in _WHAT_TO_DO.items():
            if code.startswith(start):
                return StoreError(f"{self.address}: {advice} ({error})")
        if code.startswith(_ODD):
            return Unwritable(f"{self.address}: a value cannot be stored ({error})")
        if code and not code.startswith(_AWAY):
            return StoreError(f"{self.address}: {error}; the run can be resumed once this is mended")
        waited = f" for {self._patience:g} s" if self._known else ""
        told = str(error) or type(error).__name__
        return StoreError(
            f"{self.address} could not be reached{waited} ({told}): see that the server runs and lets you in, "
            "then resume the run; what was acknowledged is kept"
        )

    async def aclose(self) -> None:
        """Give back the connections."""
        pool, self._pool = self._pool, None
        if pool is not None and self._loop is asyncio.get_running_loop():
            try:
                await asyncio.wait_for(pool.close(), 10)
            except (OSError, TimeoutError, self._driver.InterfaceError, self._driver.PostgresError):
                pool.terminate()


async def _nothing(connection: Any) -> None:
    del connection


def _code(error: Exception) -> str:
    """The SQLSTATE of an error the server sent, '' for one of the way there."""
    # asyncpg is an extra without types; only an error that the server reported has a state
    return str(getattr(error, "sqlstate", None) or "")
