"""The judges' run: an evaluation of another run, whose episodes are judged one by one under the same scheduler."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec
import structlog

from wardround.amounts import budget_of
from wardround.court import Court
from wardround.docket import control_seed, controlled_in, header_of, laid_down, named
from wardround.engine.batch import run_batch
from wardround.engine.budget import Purse
from wardround.engine.clock import wall
from wardround.engine.episode import Episode, Table
from wardround.engine.errors import CaseLost, EgressError, LeaseLost, LogError, RunStopped, StoreError, UsageError
from wardround.engine.events import Acted, Called, Closed, Event, Opened, Reopened, Row, check_end, effective
from wardround.engine.limits import Limits
from wardround.engine.log import EpisodeLog
from wardround.engine.progress import Progress
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Ending, Json
from wardround.engine.rows import EpisodeRow
from wardround.engine.seat import seed_of
from wardround.engine.sessions import Orders, Session
from wardround.engine.spending import Budget, Spending
from wardround.evaluators.checked import needs_of
from wardround.evaluators.evaluation import SEAT, Evaluation, Judged
from wardround.evaluators.evidence.search import LIBRARY
from wardround.failing import Failures
from wardround.following import followed
from wardround.judged import fingerprint, fingerprints, given
from wardround.results import Run
from wardround.scorings import all_scorings, cleared, is_copied, judged_keys, names_of_others
from wardround.sitting import Sitting
from wardround.stored import StoredRun
from wardround.working import at_work, looked_at, stopping, taken

log = structlog.get_logger("wardround")
CONCURRENCY = 32
"""Episodes scored at once."""


@dataclass(slots=True)
class Judgement:
    """The judging of `run` by `evaluator` and `court`. With `follow` it waits for episodes that are still played."""

    run: Run
    evaluator: Evaluator
    court: Court
    progress: Progress
    budget: Sequence[str] = ()
    concurrency: int = CONCURRENCY
    follow: bool = False
    beside: str = ""
    others: Mapping[str, str] = field(default_factory=dict)
    failures: Failures = field(init=False)

    def __post_init__(self) -> None:
        self.failures = Failures(self.run.name, self.evaluator)

    async def check(self) -> None:
        """Raise what is to be said before anything is judged: a search is missing, or EgressError, as `hold` does.

        Where all is judged nothing leaves, and nothing is refused.
        """
        knows = self.court.knowledge == "judge" and needs_of(self.evaluator).knowledge
        if needs_of(self.evaluator).search and self.court.search is None and not knows:
            raise UsageError(f"the evaluator {self.evaluator.name} looks things up: give the court a search")
        refused = self._refused()
        if refused:
            await self._found()
            if await self._waiting() or [name async for name, _, keep in self._reached() if keep is not None]:
                raise EgressError(refused)

    async def hold(self) -> None:
        """Judge what is not judged yet, together with other processes that do the same; if all is, nobody is reached.

        Raises UsageError before anything is stored: a search is missing, a budget cannot be read, a restricted case
        would leave for a host that is not allowed, a judge does not answer.
        """
        run, progress, court = self.run, self.progress, self.court
        await self.check()
        specs = court.specs()
        caps = budget_of(self.budget, specs, specs.values()) if self.budget else None
        header = await self._found()
        if self.beside and is_copied(every := await all_scorings(run.store, run.name), self.evaluator):
            await cleared(run, [key for key in judged_keys(every, self.evaluator) if key == self.evaluator.name])
        stale = await self._restored()
        if not stale and not await self._waiting():
            if self.beside:
                await looked_at(run.store, self.beside)
            return
        try:
            with stopping(court.gates(), progress), progress.unless_draining():
                tried = await court.tried()
        except RunStopped as stopped:
            progress.drain(str(stopped))
            return
        self.beside, agreed = await laid_down(run, header, tried)
        await self._order(caps)
        progress.purse = Purse(Budget(), specs)
        await self._reopen(stale)
        self.others = await names_of_others(run, self.evaluator)
        await self._judge_all(Sitting(court, run.store, agreed))

    async def _found(self) -> dict[str, Json]:
        """The header of this judging; if it was begun before, `beside` is its run."""
        header = await header_of(self.run, self.evaluator, self.court)
        name, kept = await named(self.run, header)
        self.beside = name if kept else ""
        return header

    async def _judge_all(self, sitting: Sitting) -> None:
        run, progress = self.run, self.progress
        beside = await Run.open(run.store, self.beside)
        controls = await controlled_in(beside)
        async with at_work(beside, progress, self.concurrency, self.court.gates()) as session:

            async def judge(row: EpisodeRow) -> Ending | None:
                return await self._judge(row, session, sitting, controls)

            if self.follow:
                rows = followed(run, session, progress, self.concurrency)
            else:
                rows = taken(session, progress, self.concurrency)
            await run_batch(rows, judge, concurrency=self.concurrency, progress=progress)
        self.failures.say()

    async def _waiting(self) -> bool:
        """Whether an episode is there to be judged, or one may come that is waited for."""
        run, store = self.run, self.run.store
        endings = await store.endings(run.name)
        if self.follow and "open" in endings:
            return True
        if not self.beside:
            return any(cause != "open" for cause in endings)
        async for row in store.episodes(self.beside, causes=["open"]):
            played = await store.episode(run.name, row.id)
            if played is not None and played.cause is not None:
                return True
        return False

    def _refused(self) -> str:
        """Why nothing may be judged, '' if it may: which evaluators look things up, their `SEARCH` says."""
        usual = needs_of(self.evaluator).search
        count = self.run.header["cases"].get("restricted", 0)
        for seat, host in self.court.forbidden().items() if count else ():
            if seat != LIBRARY or usual:
                return (
                    f"{count} of the cases of run {self.run.name} are restricted, and the {seat} would send what they "
                    f"say to {host}; name that host with --allow-host if your data agreement permits it"
                )
        return ""

    async def _order(self, caps: Budget | None) -> None:
        store, beside = self.run.store, self.beside
        orders: Orders = await store.orders(beside)
        if caps is not None:
            orders = msgspec.structs.replace(orders, budget=caps)
        if not any(session.alive for session in await store.sessions(beside)):
            orders = msgspec.structs.replace(orders, state="run")
        await store.order(beside, orders)

    async def _judge(self, row: EpisodeRow, session: Session, sitting: Sitting, controls: str) -> Ending | None:
        """Judge one episode, whose events are those of the episode `row` of the judges' run; None if it stays open.

        The controls are posed in the episode with the id `controls`.
        """
        run, store = self.run, self.run.store
        played = await store.episode(run.name, row.id)
        if played is None or played.cause is None:
            return None  # it is still being played
        stored = [line async for line in store.read(self.beside, row.id)] if row.events else []

        async def sink(rows: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending]) -> None:
            await session.append(row.id, rows, ending=ending, spent=spent)

        posed = control_seed(run) if row.id == controls else None
        try:
            judged = Judged(await run.case(row.case), await run.trajectory(played), played.events, self.others, posed)
            with StoredRun(store, self.beside, {}).naming(row.id):
                episode = EpisodeLog(sink, stored)
                check_end(episode.events[-1] if stored else None, row)
        except (LogError, CaseLost) as error:
            self.failures.damage(row.id, error)
            return None
        opened = judged.trajectory.opened
        seed = seed_of(opened.seed, self.evaluator.name)
        if not stored:
            episode.add(Opened(0, wall(), row.id, row.case, opened.case_hash, self.evaluator.name, seed, row.repeat))
        table = Table(
            Evaluation(self.evaluator.name),
            judged,
            sitting.caster(self.evaluator, judged, row.id, seed),
            episode,
            limits=Limits(actions=None, act_calls=None),
            watch=self.progress,
            believed=(SEAT,),
        )
        try:
            ending = await Episode(table).play()
        except (LogError, LeaseLost) as error:
            log.error("evaluation left alone", run=self.beside, episode=row.id, error=str(error))
            return None
        if ending is not None:
            await self._kept(row.id, ending)
        return ending

    async def _kept(self, episode: str, ending: Ending) -> None:
        """Put the scores beside the episode; an evaluation that failed leaves none but its reason."""
        if ending.cause != "completed":
            self.failures.add(episode, ending)
        await self.run.store.put_scores(self.run.name, episode, self.beside, given(self.evaluator.name, ending))

    async def _restored(self) -> dict[str, int]:
        """Put the verdicts that an earlier scoring reached beside the episodes once more.

        Returns the episodes that are to be judged anew, each with the last event that stays.
        """
        stale: dict[str, int] = {}
        if not self.beside:
            return stale
        standing = await fingerprints(self.run.store, self.run.name, self.beside)
        async for name, ending, keep in self._reached():
            if keep is not None:
                stale[name] = keep
            elif standing.get(name) != fingerprint(given(self.evaluator.name, ending)):
                await self._kept(name, ending)
        return stale

    async def _reached(self) -> AsyncIterator[tuple[str, Ending, int | None]]:
        """The verdicts of an earlier scoring: episode, ending, and None where the verdict stands.

        Where it is to be reached anew, the last event that stays: judges or searches could not be asked then, or the
        episode was played on since.
        """
        store = self.run.store
        if not self.beside:
            return
        async for row in store.episodes(self.beside):
            if row.cause is None:
                continue
            played = await store.episode(self.run.name, row.id)
            try:
                events = await StoredRun(store, self.beside, {}).events(row)
            except LogError as error:
                self.failures.damage(row.id, error)
                continue
            if played is None or not events or not isinstance(closed := events[-1], Closed):
                continue
            same = closed.ending.facts.get("events", played.events) == played.events
            if same and closed.ending.cause == "completed" and not _failed(events):
                yield row.id, closed.ending, None
            else:
                yield row.id, closed.ending, _asked(events) if same else 0

    async def _reopen(self, stale: Mapping[str, int]) -> None:
        """Open episodes to be judged anew: calls that were answered are not made again."""
        store = self.run.store
        for name, keep in stale.items():
            stored = [line async for line in store.read(self.beside, name)]
            episode = EpisodeLog(partial(self._reopened, name), stored)
            if not isinstance(episode.events[-1], Closed):
                continue  # another process has opened it
            episode.add(Reopened(episode.next, wall(), causes=("provider",), keep=keep), Ending("open"))
            try:
                await episode.flush()
            except StoreError:
                now = await store.episode(self.beside, name)
                if now is None or now.events == len(stored):
                    raise

    async def _reopened(
        self, episode: str, rows: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending]
    ) -> None:
        del spent
        await self.run.store.append(self.beside, episode, rows, ending=ending)


def _failed(events: Sequence[Event]) -> bool:
    """Whether a call that counts was not answered."""
    return any(isinstance(event, Called) and event.error for event in effective(events))


def _asked(events: Sequence[Event]) -> int:
    """The last event before the verdict."""
    kept = effective(events)
    ends = [event.seq for event in kept if isinstance(event, Acted | Closed)]
    return min(ends, default=len(events)) - 1
