"""Scoring a stored run: each closed episode by the house metrics, or by evaluators of the user's own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack

import msgspec

from wardround.amounts import budget_of
from wardround.cast import Part
from wardround.engine.batch import run_batch
from wardround.engine.budget import Purse
from wardround.engine.cache import StoreCache
from wardround.engine.calls import RecordingModel, Tape
from wardround.engine.clock import wall
from wardround.engine.errors import ProviderError, RunStopped, UsageError
from wardround.engine.events import Called, Closed, Opened, Reopened, Row, effective
from wardround.engine.log import EpisodeLog
from wardround.engine.models.bound import bound
from wardround.engine.models.guard import Guarded
from wardround.engine.plugins import imported, named, names
from wardround.engine.progress import Progress
from wardround.engine.prompts import Prompts
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Ending, Json, Score, Scored
from wardround.engine.rows import EpisodeRow
from wardround.engine.seat import Seat, seed_of
from wardround.engine.sessions import Session
from wardround.engine.spending import Budget, Spending
from wardround.evaluators.rows import EpisodeScores, RunScores
from wardround.evaluators.standard import Standard
from wardround.results import Run
from wardround.scenarios.case import Case
from wardround.wording import wording
from wardround.working import at_work, taken

EVALUATORS = "wardround.evaluators"
JUDGED = "lexical_match"
"""The score that stands beside a judge's verdict, and only there."""


def evaluator_of(spec: str) -> Evaluator:
    """An evaluator by its short name or as `package.module:Class`."""
    made: Any = (imported(spec) if ":" in spec else named(EVALUATORS, spec))()
    if not hasattr(made, "score"):
        raise UsageError(f"{spec!r} is no evaluator: it has no score(case, trajectory, seat)")
    checked: Evaluator = made
    return checked


def evaluator_names() -> list[str]:
    """The short names there are."""
    return names(EVALUATORS)


@dataclass(slots=True)
class _Judging:
    """The scoring of one run by one evaluator; with a judge its calls are events of a run beside it."""

    run: Run
    evaluator: Evaluator
    judge: Part | None
    allow_hosts: Sequence[str]
    prompts: Prompts | None = None

    def endpoints(self) -> Json:
        """How the judge's endpoints stand, for the status."""
        return self.judge.gates.told() if self.judge and self.judge.gates else []

    async def episode(self, row: EpisodeRow) -> Ending | None:
        """Score one closed episode without a judge and keep the scores."""
        case, trajectory = await self.run.case(row.case), await self.run.trajectory(row.id)
        return await self._kept(row, await self.evaluator.score(case, trajectory, None))

    async def judged(self, row: EpisodeRow, session: Session, beside: str, progress: Progress) -> Ending | None:
        """Score one episode by the judge, whose calls are events of the episode `row` of the run `beside`."""
        store = self.run.store
        played = await store.episode(self.run.name, row.id)
        if played is None or played.cause is None:
            return None  # it is still being played
        stored: list[Row] = [line async for line in store.read(beside, row.id)]

        async def sink(rows: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending]) -> None:
            await session.append(row.id, rows, ending=ending, spent=spent)

        case, trajectory = await self.run.case(row.case), await self.run.trajectory(row.id)
        log, tape = EpisodeLog(sink, stored), Tape()
        if (failed := _failed(log)) is not None:
            log.add(Reopened(log.next, wall(), causes=("provider",), keep=failed - 1))
        for event in effective(log.events):
            if isinstance(event, Called):
                tape.record(event)
        if not log.events:
            opened = trajectory.opened
            seed = seed_of(opened.seed, self.evaluator.name)
            log.add(Opened(0, wall(), row.id, row.case, opened.case_hash, self.evaluator.name, seed, row.repeat))
        scores = await self.evaluator.score(case, trajectory, self._seat(case, row, log, tape, progress))
        ending = Ending("completed", facts={"scores": msgspec.to_builtins(scores), "events": played.events})
        log.add(Closed(log.next, wall(), ending), ending)
        await log.flush()
        return await self._kept(row, scores)

    async def again(self, beside: str) -> None:
        """Put the verdicts that an earlier scoring reached beside the episodes once more.

        What the judge could not be asked then, and an episode that was played on since, is opened to be scored anew.
        """
        store = self.run.store
        async for row in store.episodes(beside, causes=["completed"]):
            played = await store.episode(self.run.name, row.id)
            stored = [line async for line in store.read(beside, row.id)]
            log = EpisodeLog(partial(self._reopened, beside, row.id), stored)
            closed = log.events[-1]
            if played is None or not isinstance(closed, Closed):
                continue
            scores = msgspec.convert(closed.ending.facts["scores"], list[Score])
            same = closed.ending.facts.get("events", played.events) == played.events
            if same and not any(score.reason.startswith("judge/") for score in scores):
                await self._kept(row, scores)
                continue
            failed = _failed(log)
            keep = closed.seq - 1 if failed is None else failed - 1
            log.add(Reopened(log.next, wall(), causes=("provider",), keep=keep), Ending("open"))
            await log.flush()

    async def _reopened(
        self, beside: str, episode: str, rows: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending]
    ) -> None:
        del spent
        await self.run.store.append(beside, episode, rows, ending=ending)

    async def _kept(self, row: EpisodeRow, given: Sequence[Score] | Scored) -> Ending:
        scores = given.scores if isinstance(given, Scored) else given
        await self.run.store.put_scores(self.run.name, row.id, self.evaluator.name, scores)
        return Ending("completed")

    def _seat(self, case: Case, row: EpisodeRow, log: EpisodeLog, tape: Tape, progress: Progress) -> Seat:
        assert self.judge is not None
        assert self.judge.model is not None
        assert self.prompts is not None
        reached = bound(self.judge.model, "judge", row.id)
        guarded = Guarded(reached, self.allow_hosts, restricted=case.data_class == "restricted")
        voice = RecordingModel("judge", guarded, self.judge.sampling, log=log, tape=tape)
        voice.watch = progress
        if self.judge.cached:
            voice.cache = StoreCache(self.run.store, f"{self.judge.spec}\x1f{self.judge.address}", row.repeat)
        seed = seed_of(self.run.header["seed"], case.id, self.evaluator.name)
        return Seat("judge", case.id, seed, self.prompts, options=self.judge.options, model=voice)


class Judged(TypedDict, total=False):
    """What `score_run` takes for its judge: own wording, hosts for restricted cases, caps as in docs/cli.md."""

    prompts: Path | None
    allow_hosts: Sequence[str]
    budget: Sequence[str]
    concurrency: int


def _failed(log: EpisodeLog) -> int | None:
    """The number of the first call that counts and was not answered."""
    return next((event.seq for event in effective(log.events) if isinstance(event, Called) and event.error), None)


async def score_run(
    run: Run,
    evaluators: Sequence[Evaluator] = (),
    *,
    judge: Part | None = None,
    progress: Progress | None = None,
    **judged: Unpack[Judged],
) -> RunScores:
    """Score every closed episode by `evaluators` (default: the house metrics); returns all scores of the run.

    A judge's calls are kept as a run of their own, `RUN~EVALUATOR`, so that an interrupted scoring goes on and each
    verdict can be read. A judge that cannot be reached leaves None with its reason.
    """
    run.check_scorable()
    progress = progress or Progress()
    texts = wording(judged.get("prompts")) if judge else None
    for evaluator in evaluators or [Standard()]:
        judging = _Judging(run, evaluator, judge, judged.get("allow_hosts", ()), prompts=texts)
        progress.concurrency = 0
        if judge is None:
            await run_batch(_closed(run), _typed(judging, judging.episode), concurrency=1, progress=progress)
        else:
            await _judge(judging, judge, judged, progress)
    return await scored(run)


async def _judge(judging: _Judging, judge: Part, judged: Judged, progress: Progress) -> None:
    """Let the judge score what it has not scored yet, together with other processes that do the same."""
    beside, store = await _beside(judging, judge), judging.run.store
    orders = await store.orders(beside)
    if judged.get("budget"):
        orders = msgspec.structs.replace(orders, budget=budget_of(judged["budget"], ["judge"], [judge.spec]))
    if not any(session.alive for session in await store.sessions(beside)):
        orders = msgspec.structs.replace(orders, state="run")
    await store.order(beside, orders)
    progress.purse = Purse(Budget(), {"judge": judge.spec})
    if judge.gates:
        progress.when_draining(judge.gates.stop)
    await judging.again(beside)
    async with at_work(await Run.open(store, beside), progress, judging.endpoints) as session:

        async def score(row: EpisodeRow) -> Ending | None:
            return await judging.judged(row, session, beside, progress)

        await run_batch(
            taken(session, progress),
            _typed(judging, score),
            concurrency=judged.get("concurrency", 32),
            progress=progress,
        )


def _typed(judging: _Judging, score: Callable[[EpisodeRow], Awaitable[Ending | None]]) -> Any:
    async def typed(row: EpisodeRow) -> Ending | None:
        try:
            return await score(row)
        except RunStopped:
            return None
        except ProviderError as error:  # an evaluator of the user's own that lets it through
            failed = [Score(judging.evaluator.name, None, f"judge/{error.kind}")]
            await judging.run.store.put_scores(judging.run.name, row.id, judging.evaluator.name, failed)
            return Ending("completed")

    return typed


async def _beside(judging: _Judging, judge: Part) -> str:
    """The run that keeps the judge's calls: an earlier one with the same judge and prompts, or a new one."""
    run, store = judging.run, judging.run.store
    assert judging.prompts is not None
    texts = judging.prompts.texts()
    digests = dict(zip(texts, await store.put([text.encode() for text in texts.values()]), strict=True))
    header = {
        "evaluates": run.name,
        "evaluator": judging.evaluator.name,
        "seats": {"judge": judge.describe()},
        "prompts": digests,
        "scenario": {"name": judging.evaluator.name},
    }
    base, number = f"{run.name}~{judging.evaluator.name}", 1
    kept = {other.name: other.header for other in await store.runs()}
    name = base
    while name in kept and kept[name] != header:
        number += 1
        name = f"{base}.{number}"
    if name not in kept:
        rows = [msgspec.structs.replace(row, cause=None, events=0) for row in await run.episodes()]
        await store.create_run(name, header, rows)
    return name


async def _closed(run: Run) -> AsyncIterator[EpisodeRow]:
    async for row in run.store.episodes(run.name):
        if row.cause is not None:
            yield row


async def scored(run: Run) -> RunScores:
    """All scores that the store has of a run, episode by episode."""
    run.check_scorable()
    found: dict[str, dict[str, Score]] = {}
    async for episode, _, score in run.store.scores(run.name):
        found.setdefault(episode, {})[score.name] = score
    rows = []
    judged = any(JUDGED in scores for scores in found.values())
    for row in await run.episodes():
        case = await run.case(row.case)
        ending = (await run.trajectory(row.id)).ending if row.cause else None
        answer: Mapping[str, str] = ending.facts.get("answer", {}) if ending else {}
        goal = run.header["scenario"]["goal"]
        rows.append(
            EpisodeScores(
                episode=row.id,
                case=row.case,
                repeat=row.repeat,
                group=case.group,
                cause=row.cause,
                reason=row.reason,
                scores=tuple(found.get(row.id, {}).values()),
                answer=str(answer.get(goal, "")),
                truth=case.truth.diagnosis if goal == "diagnosis" else case.truth.treatment,
                restricted=case.data_class == "restricted",
            )
        )
    scoring = {"judge": await _last_judge(run) if judged else "lexical"}
    return RunScores(name=run.name, header=run.header, episodes=rows, scoring=scoring)


async def _last_judge(run: Run) -> str:
    """The judge of the latest scoring of a run, by the run that keeps its calls."""
    seats = [other.header["seats"] for other in await run.store.runs() if other.header.get("evaluates") == run.name]
    return str(seats[-1]["judge"]["spec"]) if seats else "unknown"
