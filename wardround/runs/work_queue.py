"""The work queue of a run: a process opens a session in the store and takes open episodes, or follows closed ones."""

import os
import socket
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from time import time

import anyio
import msgspec

from wardround.engine.batch import Progress, run_beside
from wardround.engine.budget import Spending, SpendRow
from wardround.engine.logs import log
from wardround.engine.models.reach import Gates
from wardround.engine.protocols import Store
from wardround.engine.records import EpisodeRow
from wardround.engine.sessions import BEAT, Session, SessionRow
from wardround.evaluators.search.contract import LIBRARY
from wardround.runs.stored_run import Run, StoredEpisodes

_CHUNK = 32
"""The most episodes taken at a time; small, so that processes share the last episodes evenly."""
_SEARCH_BEATS = 5
"""Beats between two searches for dead processes of this machine."""


def this_machine() -> str:
    """The name of the machine, with the namespace of process ids if there is one: process ids are unique within it."""
    with suppress(OSError):
        return f"{socket.gethostname()}/{os.readlink('/proc/self/ns/pid')}"
    return socket.gethostname()


@asynccontextmanager
async def working_session(
    run: Run, progress: Progress, concurrency: int, gates: Sequence[Gates] = ()
) -> AsyncIterator[Session]:
    """Open a session of this process on `run` for the length of the block.

    The session sends heartbeats, follows the operator's orders and keeps account of the run's spending. It plays
    `concurrency` episodes at once unless the operator sets another number. Its heartbeats report the state of the
    endpoints behind `gates`; a drain stops the calls that wait there.
    """
    store = run.store
    await free_dead_sessions(store, run.name)
    before = spending_by_seat(await store.spending(run.name))
    worked = seconds_worked(await store.sessions(run.name))
    endings = await run.endings()
    progress.account.refresh(before, worked)
    progress.begin(endings, run.name)
    session = await store.begin(run.name, host=this_machine(), pid=os.getpid())
    began = time()

    async def look() -> None:
        others = spending_by_seat(await store.spending(run.name, besides=session.id))
        over_budget = progress.account.refresh(others, worked + time() - began)
        if over_budget:
            progress.drain(f"the budget is used up: {over_budget}")

    async def beat() -> None:
        facts = {**progress.summary(), "concurrency": progress.at_once(concurrency)}
        facts["searches"] = progress.account.by_seat.get(LIBRARY, Spending()).calls if run.evaluated else 0
        facts["endpoints"] = [line for one in gates for line in one.summary()]
        progress.obey(await session.beat(facts))

    async def beats() -> None:
        count = 0
        while True:
            await anyio.sleep(BEAT)
            await beat()
            await look()
            count += 1
            if count % _SEARCH_BEATS == 0:
                await free_dead_sessions(store, run.name)

    try:
        await beat()
        with closing_gates(gates, progress):
            async with run_beside(beats):
                yield session
        await beat()
    finally:
        with anyio.CancelScope(shield=True):
            await session.end()


@contextmanager
def closing_gates(gates: Iterable[Gates], progress: Progress) -> Iterator[None]:
    """While the block runs, a drain closes `gates`, so that waiting calls fail at once.

    After the block the gates are open again for the next batch.
    """
    with ExitStack() as stack:
        for one in gates:
            stack.callback(one.reopen)
            stack.enter_context(progress.when_draining(one.stop))
        yield


async def prepare(run: StoredEpisodes, **changes: object) -> None:
    """Make a run ready to continue, with `changes` to its RunControl.

    An order to stop or to pause is withdrawn unless a living process is at work on the run.
    """
    store, name = run.store, run.name
    if not any(session.alive and not has_died(session) for session in await store.sessions(name)):
        changes["state"] = "run"
    control = {field: value for field, value in changes.items() if value}
    await store.order(name, msgspec.structs.replace(await store.orders(name), **control))


def chunk_size(progress: Progress, concurrency: int) -> int:
    """Number of episodes to take at a time."""
    return max(1, min(_CHUNK, progress.at_once(concurrency) // 4))


async def take_open(
    cases: StoredEpisodes, session: Session, progress: Progress, concurrency: int, among: Sequence[str] = ()
) -> AsyncIterator[EpisodeRow]:
    """Take open episodes one after another, only those in `among` if it names any.

    `cases` is the run that keeps their cases: those of all episodes taken at a time are read together. Ends when no
    episode is left to take and no other process holds one that could become free.
    """
    while not progress.draining:
        rows = await session.take(chunk_size(progress, concurrency), among)
        await cases.read_ahead(rows)
        for row in rows:
            yield row
        if rows:
            continue
        if not await session.others():
            return
        with anyio.move_on_after(BEAT):  # another process may die before it finishes its episodes
            while not progress.draining:
                await progress.wait_for_change()


async def free_dead_sessions(store: Store, run: str) -> None:
    """Free the episodes of dead processes of this machine; for other machines, the lease has to run out."""
    for session in await store.sessions(run):
        if session.alive and has_died(session):
            log.info("a process died; its episodes are free", run=run, pid=session.pid)
            await store.release(session.id)


def has_died(session: SessionRow) -> bool:
    """Whether the session's process ran on this machine and is dead; for other machines only the lease can tell."""
    return session.ended is None and session.host == this_machine() and not _is_running(session.pid)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    with suppress(OSError, IndexError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"  # a zombie counts as dead
    return True


def spending_by_seat(rows: Sequence[SpendRow]) -> dict[str, Spending]:
    """The spending of each seat over all days."""
    by_seat: dict[str, Spending] = {}
    for row in rows:
        by_seat[row.seat] = by_seat.get(row.seat, Spending()) + row.spent
    return by_seat


def seconds_worked(sessions: Sequence[SessionRow]) -> float:
    """Seconds in which at least one of the sessions was at work."""
    total, until = 0.0, 0.0
    for session in sorted(sessions, key=lambda row: row.began):
        end = session.ended or session.seen
        total += max(0.0, end - max(session.began, until))
        until = max(until, end)
    return total


IDLE_BEATS = 5
"""How many beats to follow a run that no process plays: it may be about to begin or to be resumed."""


async def follow_closed(
    run: StoredEpisodes, session: Session, progress: Progress, concurrency: int
) -> AsyncIterator[EpisodeRow]:
    """Take the episodes of `run` for `session` as they close, until none is open or nobody plays the run any more.

    Each look reads the run from its first open episode on, so that its cost depends only on what is new.
    """
    store, after, idle = run.store, -1, 0
    ahead: set[int] = set()  # episodes that closed while one of a lower number was still open
    while not progress.draining:
        idle = 0 if any(other.alive for other in await store.sessions(run.name)) else idle + 1
        # In this order, the causes include that of every episode closed before the first open one.
        first = [row.number async for row in store.episodes(run.name, causes=["open"], after=after, limit=1)]
        endings = await store.endings(run.name)
        causes = [cause for cause in endings if cause != "open"]
        last, some = after, list[str]()
        async for row in store.episodes(run.name, causes=causes, after=after):
            last = row.number
            if last in ahead:
                continue
            if first and last > first[0]:
                ahead.add(last)
            some.append(row.id)
            if len(some) == chunk_size(progress, concurrency):
                for mine in await session.take(len(some), some):
                    yield mine
                some = []
        for mine in await session.take(len(some), some) if some else ():
            yield mine
        after = first[0] - 1 if first else last
        ahead = {number for number in ahead if number > after}
        if "open" not in endings or idle > IDLE_BEATS:
            async for row in take_open(run, session, progress, concurrency):
                yield row
            return
        with anyio.move_on_after(BEAT):
            while not progress.draining:
                await progress.wait_for_change()
