"""The judges' run: an evaluation of another run, whose episodes are judged one by one under the same scheduler."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import anyio
import msgspec
import structlog

from wardround.amounts import budget_of
from wardround.court import Court
from wardround.engine.batch import run_batch
from wardround.engine.budget import Purse
from wardround.engine.clock import wall
from wardround.engine.episode import Episode, Table
from wardround.engine.errors import LeaseLost, LogError, UsageError
from wardround.engine.events import Acted, Called, Closed, Event, Opened, Reopened, Row, effective
from wardround.engine.limits import Limits
from wardround.engine.log import EpisodeLog
from wardround.engine.progress import Progress
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Ending, Json, Score
from wardround.engine.rows import EpisodeRow
from wardround.engine.seat import seed_of
from wardround.engine.sessions import BEAT, Orders, Session
from wardround.engine.spending import Budget, Spending
from wardround.evaluators.evaluation import Evaluation, Judged, scores_of
from wardround.results import Run
from wardround.working import at_work, taken

log = structlog.get_logger("wardround")
_SAME = ("evaluates", "evaluator", "seats", "judging", "prompts")
"""What two scorings of a run must share to be one."""
PATIENCE = 5
"""Beats that one who follows a run waits while nobody plays it: it may be about to begin, or to be taken up again."""


@dataclass(slots=True)
class Judgement:
    """The judging of `run` by `evaluator` and `court`. With `follow` it waits for episodes that are still played."""

    run: Run
    evaluator: Evaluator
    court: Court
    progress: Progress
    budget: Sequence[str] = ()
    concurrency: int = 32
    follow: bool = False
    beside: str = ""
    _unheard: set[str] = field(default_factory=set)

    async def hold(self) -> None:
        """Judge what is not judged yet, together with other processes that do the same."""
        run, store, progress = self.run, self.run.store, self.progress
        if getattr(self.evaluator, "SEARCH", "") and self.court.search is None:
            raise UsageError(f"the evaluator {self.evaluator.name} looks things up: give the court a search")
        self.beside = await self._beside()
        await self._order()
        progress.purse = Purse(Budget(), self.court.specs())
        for part in self.court.parts.values():
            if part.gates:
                progress.when_draining(part.gates.stop)
        await self._again()
        async with at_work(await Run.open(store, self.beside), progress, self.court.gates_told) as session:

            async def judge(row: EpisodeRow) -> Ending | None:
                return await self._judge(row, session)

            rows = self._followed(session) if self.follow else taken(session, progress)
            await run_batch(rows, judge, concurrency=self.concurrency, progress=progress)
        for detail in sorted(self._unheard):
            log.warning("an evaluation failed", run=run.name, evaluator=self.evaluator.name, why=detail)

    async def _order(self) -> None:
        store, beside = self.run.store, self.beside
        orders: Orders = await store.orders(beside)
        if self.budget:
            specs = self.court.specs()
            orders = msgspec.structs.replace(orders, budget=budget_of(self.budget, specs, specs.values()))
        if not any(session.alive for session in await store.sessions(beside)):
            orders = msgspec.structs.replace(orders, state="run")
        await store.order(beside, orders)

    async def _judge(self, row: EpisodeRow, session: Session) -> Ending | None:
        """Judge one episode, whose events are those of the episode `row` of the judges' run; None if it stays open."""
        run, store = self.run, self.run.store
        played = await store.episode(run.name, row.id)
        if played is None or played.cause is None:
            return None  # it is still being played
        stored = [line async for line in store.read(self.beside, row.id)] if row.events else []

        async def sink(rows: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending]) -> None:
            await session.append(row.id, rows, ending=ending, spent=spent)

        judged = Judged(await run.case(row.case), await run.trajectory(row.id), played.events)
        episode = EpisodeLog(sink, stored)
        opened = judged.trajectory.opened
        seed = seed_of(opened.seed, self.evaluator.name)
        if not stored:
            episode.add(Opened(0, wall(), row.id, row.case, opened.case_hash, self.evaluator.name, seed, row.repeat))
        table = Table(
            Evaluation(self.evaluator.name),
            judged,
            self.court.caster(self.evaluator, judged, store, row.id, seed),
            episode,
            limits=Limits(actions=None),
            watch=self.progress,
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
        name = self.evaluator.name
        if ending.cause == "completed":
            scores = scores_of(ending)
        else:
            scores = [Score(name, None, f"judge/{ending.reason or ending.cause}")]
            self._unheard.add(ending.detail)
        await self.run.store.put_scores(self.run.name, episode, name, scores)

    async def _again(self) -> None:
        """Put the verdicts that an earlier scoring reached beside the episodes once more.

        What judges or searches could not be asked then, and an episode that was played on since, is opened to be judged
        anew: calls that were answered are not made again.
        """
        store, name = self.run.store, self.run.name
        async for row in store.episodes(self.beside):
            if row.cause is None:
                continue
            played = await store.episode(name, row.id)
            stored = [line async for line in store.read(self.beside, row.id)]
            episode = EpisodeLog(partial(self._reopened, row.id), stored)
            closed = episode.events[-1]
            if played is None or not isinstance(closed, Closed):
                continue
            same = closed.ending.facts.get("events", played.events) == played.events
            if same and closed.ending.cause == "completed" and not _failed(episode.events):
                await self._kept(row.id, closed.ending)
                continue
            keep = _asked(episode.events) if same else 0
            episode.add(Reopened(episode.next, wall(), causes=("provider",), keep=keep), Ending("open"))
            await episode.flush()

    async def _reopened(
        self, episode: str, rows: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending]
    ) -> None:
        del spent
        await self.run.store.append(self.beside, episode, rows, ending=ending)

    async def _followed(self, session: Session) -> AsyncIterator[EpisodeRow]:
        """Episodes to judge as they close, until none is open or nobody plays any more."""
        run, store, seen, idle = self.run, self.run.store, set[str](), 0
        while not self.progress.draining:
            playing = any(other.alive for other in await store.sessions(run.name))
            idle = 0 if playing else idle + 1
            over = "open" not in await store.endings(run.name) or idle > PATIENCE
            async for row in store.episodes(run.name):
                if row.cause is not None and row.id not in seen:
                    seen.add(row.id)
                    for mine in await session.take(1, [row.id]):
                        yield mine
            if over:
                async for row in taken(session, self.progress):
                    yield row
                return
            with anyio.move_on_after(BEAT):
                while not self.progress.draining:
                    await self.progress.stirred()

    async def _beside(self) -> str:
        """The run that keeps what the judges were asked: an earlier one judged the same way, or a new one."""
        run, store = self.run, self.run.store
        header = await self._header()
        told = {key: header[key] for key in _SAME}
        base, number = f"{run.name}~{self.evaluator.name}", 1
        kept = {other.name: other.header for other in await store.runs()}
        name = base
        while name in kept and {key: kept[name].get(key) for key in _SAME} != told:
            number += 1
            name = f"{base}.{number}"
        if name in kept:  # what an endpoint took when the judging began, it is still asked for
            self.court.structured = frozenset(kept[name]["structured"])
        else:
            rows = [msgspec.structs.replace(row, cause=None, reason="", events=0) for row in await run.episodes()]
            await store.create_run(name, header, rows)
        return name

    async def _header(self) -> dict[str, Json]:
        run, texts = self.run, self.court.prompts.texts()
        mine = {name: text for name, text in texts.items() if name.startswith("judge/")}
        digests = await run.store.put([text.encode() for text in mine.values()])
        kind = type(self.evaluator)
        return {
            "evaluates": run.name,
            "evaluator": self.evaluator.name,
            **self.court.describe(),
            "prompts": dict(zip(mine, digests, strict=True)),
            "begun": datetime.now(UTC).isoformat(timespec="seconds"),
            "scenario": {"name": self.evaluator.name, "class": f"{kind.__module__}:{kind.__qualname__}"},
            "cases": run.header["cases"],
            "seed": run.header["seed"],
        }


def _failed(events: Sequence[Event]) -> bool:
    """Whether a call that counts was not answered."""
    return any(isinstance(event, Called) and event.error for event in effective(events))


def _asked(events: Sequence[Event]) -> int:
    """The last event before the verdict."""
    kept = effective(events)
    ends = [event.seq for event in kept if isinstance(event, Acted | Closed)]
    return min(ends, default=len(events)) - 1
