"""The runner: it takes the open episodes of a run, plays each from its log, and replays stored episodes.

A `Work` describes the run: an encounter (runs/encounter_run.py; a curation of articles is one too) or an evaluation
(scoring/evaluation_run.py). Play a run by

    runner = Runner(work, Progress(), concurrency=32)
    await runner.play()

Other processes may work on the same run. The call returns when no episode is open or `progress` drains.
"""

import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from wardround.engine.batch import Progress, run_batch
from wardround.engine.budget import Budget, BudgetAccount, Spending
from wardround.engine.episode import Ended, Episode, EpisodeSetup
from wardround.engine.errors import CaseLost, LeaseLost, LogError, UsageError
from wardround.engine.events import Closed, Event, Opened, Reopened, Row
from wardround.engine.logs import log
from wardround.engine.models.hosts import redact_address
from wardround.engine.models.reach import Gates
from wardround.engine.records import Ending, EpisodeRow
from wardround.engine.replay import replay
from wardround.engine.sessions import Session
from wardround.engine.trajectory import EpisodeLog, discard
from wardround.runs.pilot import Pilot, draw, pilot_forecast
from wardround.runs.stored_run import Run
from wardround.runs.work_queue import working_session

SubjectT = TypeVar("SubjectT")
"""What an episode plays: a case, or an episode to judge."""


class Work(Protocol[SubjectT]):
    """A run, and how its episodes are played, reopened and checked; the runner calls these methods.

    `specs` maps the seats that a budget covers to their SPECs, `gates` are the gates of their endpoints.
    `one_at_a_time` says that a person plays.
    """

    @property
    def run(self) -> Run:
        """The run whose episodes are played."""

    @property
    def specs(self) -> Mapping[str, str]:
        """SPEC by seat."""

    @property
    def gates(self) -> Sequence[Gates]:
        """The gates of the endpoints, each once."""

    @property
    def one_at_a_time(self) -> bool:
        """Whether episodes are played one at a time."""

    def rows(
        self, session: Session, progress: Progress, concurrency: int, among: Sequence[str]
    ) -> AsyncIterator[EpisodeRow]:
        """The episodes that `session` takes, one after another; only those in `among` if it names any."""

    async def waiting(self) -> list[str]:
        """The ids of the open episodes that can be played now."""

    async def subject(self, row: EpisodeRow) -> SubjectT | None:
        """What an episode plays (a case or an episode to judge); None while it cannot be played yet.

        Raises CaseLost if the case is lost, LogError if a record is damaged.
        """

    def setup(self, row: EpisodeRow, subject: SubjectT, episode: EpisodeLog) -> EpisodeSetup:
        """The scenario, the agents and the limits of an episode."""

    def first_event(self, row: EpisodeRow, subject: SubjectT) -> Opened:
        """The first event of a new episode."""

    def keep(self, events: Sequence[Event], subject: SubjectT) -> int:
        """The number of the last event to keep when a closed episode is reopened."""

    def check_unchanged(self, row: EpisodeRow, events: Sequence[Event], subject: SubjectT) -> None:
        """Raise UsageError if the subject has changed since the episode was played, so that a replay is impossible."""

    async def ended(self, row: EpisodeRow, ending: Ending) -> None:
        """Called when an episode has ended."""

    def skipped(self, row: EpisodeRow, error: Exception) -> None:
        """Called when an episode is skipped, since it is damaged or another process holds it."""


AnyWork = Work[Any]
"""Work whose subjects only it knows."""


class Runner:
    """Plays the open episodes of `work`, at most `concurrency` at once, and replays stored ones."""

    def __init__(self, work: AnyWork, progress: Progress | None = None, concurrency: int = 1) -> None:
        self.work, self.progress = work, progress or Progress()
        self.concurrency = 1 if work.one_at_a_time else concurrency

    async def play(self, pilot: int = 0) -> Pilot | None:
        """Play until no episode is open or the run drains.

        `pilot` is a number of episodes, drawn at random, to play first; the rest is played only if the forecast from
        them stays within the budget. Returns the forecast, None if there was no pilot.
        """
        work, progress, forecast = self.work, self.progress, None
        if pilot and pilot < len(waiting := await work.waiting()):
            drawn = draw(waiting, pilot, work.run.header.seed)
            await self.play_among(drawn)
            if not progress.draining:
                forecast = await pilot_forecast(work.run, drawn, progress.at_once(self.concurrency))
                if forecast.against:
                    progress.drain(forecast.against)
        if not progress.draining:
            await self.play_among()
        return forecast

    async def play_among(self, among: Sequence[str] = ()) -> None:
        """Play the open episodes, or only those in `among`."""
        work, progress, concurrency = self.work, self.progress, self.concurrency
        progress.account = BudgetAccount(Budget(), work.specs, progress.part)
        for quota in (quota for gates in work.gates for quota in gates.unused):
            log.warning("a quota fits no endpoint of this run", quota=redact_address(quota))
        async with working_session(work.run, progress, concurrency, work.gates) as session:

            async def play(row: EpisodeRow) -> Ending | None:
                return await self.play_one(row, session)

            rows = work.rows(session, progress, concurrency, among)
            await run_batch(rows, play, concurrency=concurrency, progress=progress)

    async def play_one(self, row: EpisodeRow, session: Session) -> Ending | None:
        """Play one episode from its log; returns None if it stays open."""
        work = self.work
        try:
            subject = await work.subject(row)
            if subject is None:
                return None
            setup = work.setup(row, subject, await self._log(row, subject, session))
            setup.watch = self.progress
            ending = await Episode(setup).play()
        except (LogError, LeaseLost, CaseLost, Ended) as error:
            log.error("an episode is skipped", run=work.run.name, episode=row.id, error=str(error))
            work.skipped(row, error)
            return None
        if ending is not None:
            if ending.cause != "completed":
                log.info(
                    "episode ended", episode=row.id, cause=ending.cause, reason=ending.reason, detail=ending.detail
                )
            await work.ended(row, ending)
        return ending

    async def _log(self, row: EpisodeRow, subject: object, session: Session) -> EpisodeLog:
        """The log of an episode; a new one is begun, a closed one is reopened."""
        work = self.work

        def sink(
            new: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending]
        ) -> Coroutine[object, object, None]:
            return session.append(row.id, new, ending=ending, spent=spent)

        episode = EpisodeLog(sink, await work.run.rows(row) if row.events else [])
        last = episode.events[-1] if row.events else None
        if last is None:
            episode.add(work.first_event(row, subject))
        elif isinstance(last, Closed):
            keep = work.keep(episode.events, subject)
            # A completed episode is opened again only if it is a verdict for which calls had no answer.
            cause = "provider" if last.ending.cause == "completed" else last.ending.cause
            episode.add(Reopened(seq=episode.next, at=time.time(), causes=(cause,), keep=keep))
        return episode

    async def replay(self, row: EpisodeRow) -> int:
        """Replay an episode from its recorded calls; returns the number of actions compared.

        Raises ReplayError with the first difference, LogError or CaseLost if the record is damaged, UsageError if the
        episode cannot be replayed. No endpoint, search or page is called.
        """
        work, events = self.work, await self.work.run.events(row)
        subject = await work.subject(row)
        if subject is None:
            raise UsageError(f"what episode {row.id} judges is being played again: replay it when that has ended")
        work.check_unchanged(row, events, subject)
        setup = work.setup(row, subject, EpisodeLog(discard))
        return await replay(events, setup.scenario, setup.case, setup.cast, setup.trusted)


def check_causes(retry: Sequence[str], seats: Sequence[str]) -> None:
    """Raise UsageError for a cause that no episode can end by."""
    known = (*seats, "parser", "provider", "rules", "limit")
    for cause in retry:
        if cause not in known:
            raise UsageError(f"--retry {cause}: episodes end by {', '.join(known)}")
