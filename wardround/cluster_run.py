"""A run that workers play, on this machine or on a cluster: the driver starts, watches and replaces them.

No episode passes through the driver or through Ray: each worker opens the store itself and joins the run.
"""

import os
import socket
from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from importlib.metadata import version
from pathlib import Path
from time import monotonic
from urllib.parse import parse_qsl, urlencode, urlsplit

import anyio
import msgspec

from wardround.api import join
from wardround.engine.batch import Progress
from wardround.engine.budget import Budget, BudgetAccount, BudgetPart, Spending
from wardround.engine.cluster import Cluster, Crew, WorkerCrew, WorkerReport
from wardround.engine.errors import StoreError, UsageError, WardroundError
from wardround.engine.logs import log
from wardround.engine.process_crew import process_crew
from wardround.engine.records import Json
from wardround.engine.sessions import SessionRow
from wardround.engine.text import count_noun, in_number
from wardround.runs.control import resume_command
from wardround.runs.seats import played_by_person
from wardround.runs.stored_run import Run, open_store
from wardround.runs.work_queue import seconds_worked, spending_by_seat
from wardround.scoring.score import CONCURRENCY, join_evaluation

DEATHS = 3
"""How often a worker that died without progress of the run is replaced; after that its place stays empty."""
_LOOK = 1.0
"""Seconds between two looks at the store."""
_SLOW = 60.0
"""Seconds after which a warning says that not all workers have started."""
_USAGE = ("UsageError", "PreflightError", "EgressError")


async def run_clustered(
    name: str, store_url: str, cluster: Cluster, concurrency: int | None = None, progress: Progress | None = None
) -> None:
    """Play a stored run with the workers of a cluster, until no episode is open or `progress` drains.

    `progress` is updated from the store; draining it stops the run for all workers, as `wardround stop` does.
    `concurrency` is for each worker of a Ray cluster; processes of this machine share it. A worker that dies is
    replaced, and its episodes are freed at once. Raises UsageError or StoreError with the message of a worker that
    cannot work at all, WardroundError if episodes are still open and the workers died too often.
    """
    url = shared_store(store_url, cluster)
    store = open_store(url)
    try:
        run = await Run.open(store, name)
        if not run.evaluated and played_by_person(run.header.seats):
            raise UsageError(f"{cluster.option}: a person has no seat in a worker; play this run without it")
        if not cluster.ray:
            concurrency = concurrency or (CONCURRENCY if run.evaluated else run.settings().at_once)
        arguments = {
            "name": name,
            "store": url if cluster.local else without_password(url),
            "concurrency": concurrency,
            "driver": (version("wardround"), socket.gethostname() if url.startswith("sqlite:") else ""),
        }
        async with _crew(cluster) as crew:
            driver = CrewDriver(run, crew, progress or Progress(), arguments, together=not cluster.ray)
            await driver.play(cluster.workers)
    finally:
        with anyio.CancelScope(shield=True):
            await store.aclose()


def _crew(cluster: Cluster) -> AbstractAsyncContextManager[Crew]:
    entry = "wardround.cluster_run:work"
    return WorkerCrew(cluster, entry) if cluster.ray else process_crew(entry)


def shared_store(where: str, cluster: Cluster) -> str:
    """The URL by which every worker finds the store; raises UsageError for a store that workers cannot share."""
    if "://" in where and not where.startswith("sqlite:"):
        return where
    path = Path(where.removeprefix("sqlite:").removeprefix("//"))
    if str(path) in (".", ":memory:"):
        raise UsageError(
            f"--store {where}: workers are processes of their own and need a store in a file or a database"
        )
    if not cluster.local and not path.is_absolute():
        raise UsageError(
            f"--store {where}: a path means another file on each machine of a cluster; "
            "name a PostgreSQL store, or the absolute path of a SQLite file if all workers are on this machine"
        )
    return f"sqlite:{path.absolute()}"


def without_password(url: str) -> str:
    """A store's URL without its password, to be sent to workers, which have the password in their environment."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return url
    user, at, host = parts.netloc.rpartition("@")
    query = urlencode([(key, value) for key, value in parse_qsl(parts.query) if key != "password"])
    return f"{parts.scheme}://{user.partition(':')[0]}{at}{host}{parts.path}{'?' if query else ''}{query}"


class CrewDriver:
    """Starts and watches the workers in places 1 to n of a crew; each gets share (place, n) of the limits.

    `together` says that they share the number of episodes to play at once, too.
    """

    def __init__(
        self, run: Run, crew: Crew, progress: Progress, arguments: Mapping[str, Json], *, together: bool = False
    ) -> None:
        self._together = together
        self.pause = 1.0  # seconds before a worker that died is replaced, times its deaths
        self._run, self._crew, self._progress, self._arguments = run, crew, progress, arguments
        self._places: dict[int, tuple[str, int] | None] = {}  # (host, process id) of the worker; None until it started
        self._due: dict[int, float] = {}  # when to start another there
        self._deaths: dict[int, tuple[int, int]] = {}  # how many, and how many episodes were closed at the last one
        self._sessions: tuple[SessionRow, ...] = ()
        self._spent: dict[str, Spending] = {}
        self._open = self._before = 0  # episodes that are open, and that were closed before
        self._ordered = self._warned_slow = False
        self._failure: WardroundError | None = None
        self._why = ""  # why a worker drained
        progress.account = BudgetAccount(Budget(), run.header.specs)

    async def play(self, workers: int) -> None:
        """Start `workers` workers, replace those that die, and return when none is left.

        Raises UsageError or StoreError if a worker cannot work at all, WardroundError if workers died too often.
        """
        await self._withdraw_stop()
        began = monotonic()
        self._due = dict.fromkeys(range(1, workers + 1), began)
        abandoned = ""
        while self._places or self._due:
            await self._look()
            if self._progress.draining:
                await self._stop()
                if not any(self._places.values()):
                    break
            await self._start(workers)
            happened = None
            with anyio.move_on_after(_LOOK):
                happened = await self._crew.next()
            if happened is not None:
                abandoned = await self._handle(happened) or abandoned
            self._warn_if_slow(monotonic() - began)
        await self._look()
        if self._failure is not None:
            raise self._failure
        if self._open and self._why:
            self._progress.drain(self._why)
        if abandoned and self._open and not self._progress.draining:
            raise WardroundError(
                f"{count_noun(self._open, 'episode')} {in_number(self._open, 'is')} open, and the workers died too "
                f"often: {abandoned} ({resume_command(self._run)})"
            )

    async def _withdraw_stop(self) -> None:
        """Withdraw the stop order of an earlier driver, unless a living session still follows it."""
        store, name = self._run.store, self._run.name
        orders = await store.orders(name)
        if orders.state == "stop" and not any(row.alive and row.ended is None for row in await store.sessions(name)):
            await store.order(name, msgspec.structs.replace(orders, state="run"))

    async def _look(self) -> None:
        store, name, progress = self._run.store, self._run.name, self._progress
        endings = dict(await store.endings(name))
        self._sessions = tuple(await store.sessions(name))
        self._spent = spending_by_seat(await store.spending(name))
        progress.account.refresh(self._spent, seconds_worked(self._sessions))
        if progress.run != name:
            progress.begin(endings, name)
            self._before = progress.closed
        progress.total = sum(endings.values())
        self._open = endings.pop("open", 0)
        progress.endings = Counter(endings)
        progress.own = progress.closed - self._before
        beats = [row.status for row in self._sessions if row.alive and row.ended is None]
        progress.running = sum(int(says.get("running", 0)) for says in beats)
        progress.obey(await store.orders(name))

    async def _stop(self) -> None:
        self._due.clear()
        if not self._ordered:
            self._ordered = True
            orders = await self._run.store.orders(self._run.name)
            await self._run.store.order(self._run.name, msgspec.structs.replace(orders, state="stop"))

    async def _start(self, workers: int) -> None:
        now = monotonic()
        for place in [place for place, when in self._due.items() if when <= now]:
            del self._due[place]
            self._places[place] = None
            spent = {seat: msgspec.to_builtins(one) for seat, one in self._spent.items()}
            arguments = {**self._arguments, "share": (place, workers), "spent": spent}
            if self._together:
                arguments["concurrency"] = part_of(int(arguments["concurrency"]), place, workers)
            if self._deaths.get(place, (0, 0))[0] > 1:
                arguments["concurrency"] = 1  # if one episode kills the process, no other episode dies with it
            await self._crew.start(place, arguments)

    async def _handle(self, happened: WorkerReport) -> str:
        """Handle an event of a worker; returns why its place stays empty, or ''."""
        place = happened.place
        if happened.kind == "started":
            self._places[place] = (happened.host, happened.pid)
            log.info("a worker started", place=place, host=happened.host, pid=happened.pid)
            return ""
        who = self._places.pop(place)
        if happened.kind == "finished":
            self._why = str(happened.result or "") or self._why
            return ""
        await self._look()
        sessions = [row for row in self._sessions if who == (row.host.partition("/")[0], row.pid)]
        where = f"worker {place} on {who[0]}" if who else f"worker {place}"
        text = f"{where}: {happened.text}"
        if happened.error in _USAGE or (happened.error == "StoreError" and not sessions):
            self._failure = self._failure or (StoreError if happened.error == "StoreError" else UsageError)(text)
            self._progress.drain("a worker cannot work")
            return ""
        for row in sessions:
            if row.ended is None:
                await self._run.store.release(row.id)  # at once, without waiting for the lease to end
        return self._replace(place, text)

    def _replace(self, place: int, text: str) -> str:
        count, closed = self._deaths.get(place, (0, -1))
        count = 1 if self._progress.closed > closed else count + 1
        self._deaths[place] = count, self._progress.closed
        if count > DEATHS:
            log.error("a worker died too often and is not replaced", place=place, why=text)
            return text
        log.warning("a worker died and is replaced", place=place, why=text)
        self._due[place] = monotonic() + self.pause * count
        return ""

    def _warn_if_slow(self, seconds: float) -> None:
        started = sum(who is not None for who in self._places.values())
        if seconds > _SLOW and started < len(self._places) and not self._warned_slow:
            self._warned_slow = True
            log.warning("the cluster has no room for more workers yet", started=started, wanted=len(self._places))


def part_of(concurrency: int, place: int, workers: int) -> int:
    """The episodes that the worker in a place plays at once: its part of `concurrency`, at least 1."""
    return max(1, concurrency // workers + (place <= concurrency % workers))


async def work(
    name: str,
    store: str,
    share: tuple[int, int],
    concurrency: int | None,
    driver: tuple[str, str],
    spent: Mapping[str, Json] | None = None,
) -> str:
    """Join the run `name` until no episode is open or the operator stops it.

    `share` is as in `api.join`. `driver` is the version of this package at the driver, and the machine on which the
    store is a file ('' if it is a database). `spent` is what each seat had spent before: the worker spends its part of
    the rest. Returns why it drained, '' if it did not. Raises UsageError for another version or another machine.
    """
    here, own, (version_of, file_of) = socket.gethostname(), version("wardround"), driver
    if own != version_of:
        raise UsageError(f"wardround {own} is installed here and {version_of} where the run was started")
    if file_of and file_of != here:
        raise UsageError(f"the store {store} is a file on {file_of}; workers on other machines need a PostgreSQL store")
    own_url = os.environ.get("WARDROUND_STORE", "")
    where = own_url if own_url and without_password(own_url) == store else store
    async with aclosing(open_store(where)) as opened:
        run, part = await Run.open(opened, name), (share[0], share[1])
        progress = Progress(part=BudgetPart(part[1], msgspec.convert(spent or {}, dict[str, Spending])))
        if run.evaluated:
            await join_evaluation(run, part, concurrency, progress)
        else:
            await join(name, store=opened, share=part, concurrency=concurrency, progress=progress)
        return progress.why
