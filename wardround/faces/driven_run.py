"""A run in which a client plays one seat from outside; the other seats play inside.

    driven = await DrivenRun.begin(RunSettings(cases="bundled"), open_store("study.db"))
    episode = await driven.start()
    while episode.view is not None:
        await episode.act(Action("reply", my_reply(episode.view)))
    print(episode.ending, await driven.rewards(episode))
    await driven.aclose()

Header, log, limits, budget and scores are those of any run. All faces are built on this module.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Self

from wardround.agents.external import LEFT
from wardround.api import AgentSpec, split_agents
from wardround.engine.batch import Progress
from wardround.engine.budget import Budget, BudgetAccount
from wardround.engine.episode import Ended, Episode
from wardround.engine.errors import RunStopped, UsageError
from wardround.engine.protocols import Evaluator, Store
from wardround.engine.records import Action, Ending, EpisodeRow, Score, Scored, View, images_of
from wardround.engine.sessions import Session
from wardround.engine.trajectory import EpisodeLog, Trajectory, discard
from wardround.evaluators.metrics.question_answer import QuestionAnswer
from wardround.evaluators.metrics.standard import Standard
from wardround.evaluators.report.score_rows import RunScores
from wardround.faces.client_format import client_message, storable_action
from wardround.runs.encounter_run import EncounterRun, open_encounters, open_models, stored_seats
from wardround.runs.plan import create_run, plan_run
from wardround.runs.runner import Runner
from wardround.runs.seat_models import Access, access_of
from wardround.runs.seat_settings import SeatSettings
from wardround.runs.seats import SeatConfig, check_egress
from wardround.runs.settings import RunSettings
from wardround.runs.stored_run import Run, open_store
from wardround.runs.work_queue import prepare, working_session
from wardround.scenarios.illustrations import case_images
from wardround.scoring.score import score_run
from wardround.testing.memory_store import MemoryStore

_MOST_REPEATS = 100_000
SPEC = "external"
"""The SPEC of a seat that a client plays."""


class NotNow(UsageError):
    """An episode cannot do this now: it is over, or it is not the turn of the client's seat."""


class Desk:
    """The agent of the driven seat in one episode: it shows the client its view and waits for the client's action."""

    outside = True

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.view: View | None = None
        self.stirred = asyncio.Event()
        self.on_stir: Callable[[], object] | None = None
        self._answer: asyncio.Future[Action] | None = None

    async def act(self, view: View) -> Action:
        """Show the view and wait."""
        self._answer = self._loop.create_future()
        self.view = view
        self.stir()
        try:
            return await self._answer
        finally:
            self.view = self._answer = None

    def stir(self) -> None:
        """Wake the client: the seat has its turn, or the episode is over."""
        self.stirred.set()
        if self.on_stir is not None:
            self.on_stir()

    def answer(self, action: Action) -> None:
        """Hand the client's action to the episode."""
        assert self._answer is not None
        self.view, answer = None, self._answer
        answer.set_result(action)

    def leave(self, ended: Ended) -> None:
        """End the episode, since its client has left."""
        if self._answer is not None and not self._answer.done():
            self.view = None
            self._answer.set_exception(ended)


class DrivenEpisode:
    """One episode whose client acts from outside.

    `view` is what the client's seat sees now; it is None while it is not its turn and after the end. `ending` says how
    the episode ended. `row` is the episode as the store lists it; `log` has the events of an episode that is not kept.
    """

    def __init__(self, row: EpisodeRow, seat: str, desk: Desk, task: "asyncio.Task[Ending | None]") -> None:
        self.row, self.id, self.seat = row, row.id, seat
        self.ending: Ending | None = None
        self.log: EpisodeLog | None = None
        self._desk, self._task = desk, task
        task.add_done_callback(lambda _: desk.stir())

    @property
    def view(self) -> View | None:
        """What the seat sees and may do now."""
        return self._desk.view

    async def act(self, action: Action) -> View | None:
        """Take an action and return the next view of the seat; None once the episode has ended.

        Raises UsageError, and leaves the episode as it is, if the action is impossible now or no log could keep it.
        Raises RunStopped if the run stopped meanwhile: the episode stays open and can be taken up again.
        """
        self.say(action)
        return await self.turn()

    def say(self, action: Action) -> None:
        """Take an action as `act` does, with the same errors, and do not wait for what follows."""
        view = self.settled()
        if view is None:
            why = f"it ended by {self.ending.cause} {self.ending.reason}" if self.ending else "wait for its turn"
            raise NotNow(f"episode {self.id}: the {self.seat} cannot act now; {why.rstrip()}")
        if action.verb not in view.verbs:
            raise UsageError(
                f"episode {self.id}: {action.verb!r} is not a verb now; there are: {', '.join(view.verbs)}"
            )
        self._desk.answer(storable_action(action))

    async def turn(self) -> View | None:
        """Wait for the turn of the seat or the end of the episode."""
        while not self.ready:
            self._desk.stirred.clear()
            await self._desk.stirred.wait()
        return self.settled()

    @property
    def playing(self) -> bool:
        """Whether the episode is under way here: it has neither ended nor been stopped."""
        return not self._task.done()

    @property
    def ready(self) -> bool:
        """Whether it is the turn of the seat, or the episode is over."""
        return self._desk.view is not None or self._task.done()

    def when_ready(self, tell: Callable[[], object]) -> None:
        """Call `tell` each time that the seat gets its turn, and when the episode is over."""
        self._desk.on_stir = tell

    def settled(self) -> View | None:
        """The view of the seat, or None after the end; call it once the episode is `ready`.

        Raises RunStopped if the run stopped and the episode stays open.
        """
        if self._task.done() and self.ending is None:
            self.ending = None if self._task.cancelled() else self._task.result()
            if self.ending is None:
                raise RunStopped(f"episode {self.id} stays open; resume the run to go on with it")
        return self._desk.view

    async def leave(self, why: str = "the client left before the end") -> Ending | None:
        """End the episode as left by its client; `DrivenRun.start` takes it up again where it was."""
        if self.view is not None:
            self._desk.leave(Ended(Ending(self.seat, LEFT, why)))
            await self.turn()
        return self.ending

    async def stop(self) -> None:
        """Stop playing the episode and leave it open; all that was shown or done is in the store."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task


class DrivenRun:
    """A run whose seat `seat` is played from outside. Make one by `begin` or `resume` (see above), and close it.

    With `kept` false nothing but the header and the cases is stored: for training, where only the rewards count.
    """

    def __init__(self, seat: str, progress: Progress, *, kept: bool) -> None:
        self.seat, self.progress, self.kept = seat, progress, kept
        self.live: list[DrivenEpisode] = []
        self._over = asyncio.Event()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeper: asyncio.Task[None] | None = None
        self._taken: set[str] = set()
        self._rows: dict[str, EpisodeRow] = {}
        self._ids: Iterator[str] = iter(())
        self._choosing = asyncio.Lock()
        self.work: EncounterRun
        self._session: Session | None = None
        self._closing = AsyncExitStack()

    @property
    def run(self) -> Run:
        """The stored run."""
        return self.work.run

    @classmethod
    async def begin(
        cls,
        settings: RunSettings,
        store: Store | str | Path,
        *,
        seat: str = "doctor",
        face: str = "",
        seats: Mapping[str, AgentSpec] | None = None,
        kept: bool = True,
    ) -> Self:
        """Begin a run whose `seat` is played from outside; `seats` are the others, `face` stands in the header.

        A store that is named by its address ("" for one in memory) is closed with the run.
        Raises UsageError for whatever can be known before the first episode, EgressError for restricted cases unless
        the settings allow the agent `external`.
        """
        specs, agents = split_agents(seats or {})
        theirs = SeatSettings(spec=SPEC, options={"face": face} if face else {})
        others = {name: SeatSettings.model_validate(spec) for name, spec in specs.items()}
        settings = settings.model_copy(update={"seats": {**settings.seats, **others, seat: theirs}})
        async with AsyncExitStack() as closing:
            opened = _opened(store)
            if opened is not store:
                closing.push_async_callback(opened.aclose)
            made = await plan_run(settings, opened, agents)

            async def create() -> EncounterRun:
                return await open_encounters(await create_run(made, opened), made.parts, made.access)

            driven = await cls(seat, Progress(), kept=kept)._open(made.parts, settings, create)
            driven._closing = closing.pop_all()
        return driven

    @classmethod
    async def resume(cls, name: str, store: Store, *, seats: Mapping[str, AgentSpec] | None = None) -> Self:
        """Go on with a run that `begin` began, in this process or another; raises UsageError for any other run."""
        run = await Run.open(store, name)
        header, settings = run.played("it is not played"), run.settings()
        driven = [seat for seat, one in header.seats.items() if one.spec == SPEC]
        if len(driven) != 1:
            raise UsageError(f"run {name} has no seat that a client plays; resume it by: wardround run --resume {name}")
        await prepare(run)
        _, agents = split_agents(seats or {})
        access: Access = await access_of(settings, store)
        parts = await stored_seats(run, access, agents)
        check_egress(parts, run.restricted, settings.allow_hosts)
        again = partial(open_encounters, run, parts, access)
        return await cls(driven[0], Progress(), kept=True)._open(parts, settings, again)

    async def _open(
        self, parts: Mapping[str, SeatConfig], settings: RunSettings, work: Callable[[], Awaitable[EncounterRun]]
    ) -> Self:
        """Open models and session in a task of their own, which holds them until `aclose`."""

        async def keep() -> None:
            async with open_models(parts, tried=settings.preflight):
                self.work = await work()
                self.progress.account = BudgetAccount(Budget(), self.work.specs)
                if not self.kept:
                    self._ready.set_result(None)
                    await self._over.wait()
                    return
                async with working_session(self.run, self.progress, 1, self.work.gates) as self._session:
                    self._ready.set_result(None)
                    await self._over.wait()

        self._keeper = asyncio.get_running_loop().create_task(keep())
        await asyncio.wait({self._keeper, self._ready}, return_when=asyncio.FIRST_COMPLETED)
        if self._keeper.done():
            await self._keeper
        return self

    async def start(self, name: str = "", *, seed: int | None = None) -> DrivenEpisode:
        """Begin an episode by its id, number or case, or the next one that is open; wait for its first view.

        An episode that its client left is taken up where it was. `seed` replaces the run's seed in an episode that is
        not kept. Raises UsageError if there is none to play, or if it is being played, here or elsewhere.
        """
        if seed is not None and self.kept:
            raise UsageError("the seed of a run that is kept stands in its header; begin another run with that seed")
        async with self._choosing:  # two clients that name one case get two episodes of it
            row = await self._row(name)
            if self.kept and any(one.id == row.id and one.playing for one in self.live):
                raise UsageError(f"episode {row.id} is being played; leave it first")
            episode = self.begin_now(row, asyncio.get_running_loop(), seed=seed)
        await episode.turn()
        return episode

    def begin_now(self, row: EpisodeRow, loop: asyncio.AbstractEventLoop, *, seed: int | None = None) -> DrivenEpisode:
        """Begin an episode on a loop and do not wait for its first view; `row` must be free."""
        self.live = [one for one in self.live if one.playing]
        desk, cast = Desk(loop), self.work.cast
        cast = replace(cast, present={self.seat: desk}, seed=cast.seed if seed is None else seed)
        events = EpisodeLog(discard)
        task = loop.create_task(self._play(row, replace(self.work, cast=cast), events))
        episode = DrivenEpisode(row, self.seat, desk, task)
        if not self.kept:
            episode.log = events
        self.live.append(episode)
        return episode

    async def _row(self, name: str) -> EpisodeRow:
        """The row of an episode that this process holds from now on."""
        run = self.run
        if not self.kept:
            return await self._choose_row(name)
        assert self._session is not None
        row = await self._named_row(name) if name else None
        if row is not None and row.cause is None and row.id in self._taken:
            return row
        if row is not None and row.cause is not None:
            if (row.cause, row.reason) != (self.seat, LEFT):
                raise NotNow(f"episode {row.id} is over: it ended by {row.cause} {row.reason}".rstrip())
            await run.store.reopen(run.name, [row.id])
        taken = await self._session.take(1, [row.id] if row else ())
        if not taken:
            what = f"episode {row.id} is played by another process" if row else f"run {run.name} has no open episode"
            raise UsageError(f"{what}; see: wardround status {run.name}")
        self._taken.add(taken[0].id)
        return taken[0]

    async def _named_row(self, name: str) -> EpisodeRow:
        """The episode of this id or number; of a case that is played several times, the first that is free."""
        rows = await self.run.store.find(self.run.name, name, _MOST_REPEATS)
        if len(rows) < 2:
            return await self.run.episode(name)
        here = {one.id for one in self.live if one.playing}
        free = next((row for row in rows if row.cause is None and row.id not in here), None)
        if free is None:
            raise UsageError(f"case {name} has no open episode that is free; it was played as {rows[0].id} and so on")
        return free

    async def _choose_row(self, name: str) -> EpisodeRow:
        """The named episode of a run that is not kept, or the next; after the last comes the first again."""
        if not self._rows:
            self._rows = {row.id: row for row in await self.run.episodes()}
            self._ids = cycle(self._rows)
        name = name or next(self._ids)
        return self._rows.get(name) or await self.run.episode(name)

    async def _play(self, row: EpisodeRow, work: EncounterRun, events: EpisodeLog) -> Ending | None:
        """Play an episode to its end; the desk waits for the client in it."""
        if self.kept:
            assert self._session is not None
            return await Runner(work, self.progress).play_one(row, self._session)
        subject = await work.subject(row)
        events.add(work.first_event(row, subject))
        setup = work.setup(row, subject, events)
        setup.watch = self.progress
        return await Episode(setup).play()

    async def images(self, episode: DrivenEpisode) -> list[str]:
        """The images of what the seat hears in this turn, as data URLs or `https` addresses."""
        shown = images_of(client_message(episode.view)) if episode.view is not None else []
        whole = case_images(await self.run.item(episode.row.case)) if shown else {}
        return [whole.get(one, one) for one in shown]

    async def rewards(self, episode: DrivenEpisode, evaluator: Evaluator | None = None) -> dict[str, Score]:
        """The scores of an ended episode by name, by the standard metrics or an evaluator without a judge.

        A score that cannot be given has the value None and a reason; it is never 0.0 instead.
        """
        if episode.log is not None:
            trajectory = Trajectory(episode.log.events, self.run.json)
        else:
            trajectory = await self.run.trajectory(episode.id)
        item = await self.run.item(episode.row.case)
        usual: Evaluator = QuestionAnswer() if self.run.of_questions else Standard()
        scored = await (evaluator or usual).score(item, trajectory, None)
        return {score.name: score for score in (scored.scores if isinstance(scored, Scored) else scored)}

    async def scores(self) -> RunScores:
        """Score all ended episodes as `wardround score` does, and store the scores."""
        return await score_run(self.run)

    async def aclose(self) -> None:
        """Stop all episodes and close the models; episodes that have not ended stay open and can be resumed."""
        async with self._closing:
            try:
                for episode in self.live:
                    if episode.playing:
                        await episode.stop()
            finally:
                self._over.set()
                if self._keeper is not None:
                    await self._keeper


def _opened(store: Store | str | Path) -> Store:
    if isinstance(store, str | Path):
        return open_store(store) if store else MemoryStore()
    return store
