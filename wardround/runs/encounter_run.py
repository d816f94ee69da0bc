"""The encounters of a run that plays a scenario, made from the run's header; articles are curated by such a run too."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from wardround.engine.batch import Progress
from wardround.engine.calls import StoreCache
from wardround.engine.episode import EpisodeSetup
from wardround.engine.errors import CaseLost, PreflightError, TextLost
from wardround.engine.events import Event, Opened
from wardround.engine.limits import Limits
from wardround.engine.logs import log
from wardround.engine.models.batched import Batched
from wardround.engine.models.preflight import preflight
from wardround.engine.models.reach import Gates, asked_once
from wardround.engine.models.wrappers import Single
from wardround.engine.protocols import AnyScenario, deal_case
from wardround.engine.records import Ending, EpisodeRow
from wardround.engine.replay import last_kept_when_reopened
from wardround.engine.seat import seed_of
from wardround.engine.sessions import Session
from wardround.engine.trajectory import EpisodeLog
from wardround.runs.seat_models import Access
from wardround.runs.seat_settings import SeatSettings
from wardround.runs.seats import AgentFactory, Cast, SeatConfig, seat_config, stored_seat
from wardround.runs.stored_run import Run
from wardround.runs.work_queue import take_open
from wardround.scenarios.loaders.source import Playable


@dataclass(slots=True)
class EncounterRun:
    """A run with its scenario and its cast: everything needed to play, replay or fork its episodes."""

    run: Run
    scenario: AnyScenario
    cast: Cast
    limits: Limits
    index: Mapping[str, str] = field(default_factory=dict)

    @property
    def specs(self) -> Mapping[str, str]:
        """SPEC by seat; of an agent with one model, that of the model."""
        return {seat: part.model_spec for seat, part in self.cast.parts.items()}

    @property
    def gates(self) -> Sequence[Gates]:
        """The gates of the endpoints."""
        return [self.cast.gates]

    @property
    def one_at_a_time(self) -> bool:
        """Whether a person plays a seat, so that there is one episode at a time."""
        return any(part.outside for part in self.cast.parts.values())

    def rows(
        self, session: Session, progress: Progress, concurrency: int, among: Sequence[str]
    ) -> AsyncIterator[EpisodeRow]:
        """The open episodes that `session` takes."""
        return take_open(self.run, session, progress, concurrency, among)

    async def waiting(self) -> list[str]:
        """The ids of the open episodes."""
        return [row.id async for row in self.run.store.episodes(self.run.name, causes=["open"])]

    async def subject(self, row: EpisodeRow) -> Playable:
        """The case of an episode, as its repeat shows it; raises CaseLost."""
        return deal_case(self.scenario, await self.run.item(row.case), row.repeat)

    def setup(self, row: EpisodeRow, subject: Playable, episode: EpisodeLog) -> EpisodeSetup:
        """The setup of one episode: the scenario with its agents."""
        cast, caches = self.cast.caster(subject, row.repeat), self.cast.caches(self.run.store, row.repeat)
        trusted = self.cast.trusted
        return EpisodeSetup(self.scenario, subject, cast, episode, limits=self.limits, caches=caches, trusted=trusted)

    def first_event(self, row: EpisodeRow, subject: Playable) -> Opened:
        """The first event, with the seed of the episode."""
        return Opened(
            seq=0,
            at=time.time(),
            episode=row.id,
            case=row.case,
            case_hash=self.index[row.case],
            scenario=self.scenario.name,
            seed=seed_of(self.cast.seed, row.case, row.repeat),
            repeat=row.repeat,
        )

    def keep(self, events: Sequence[Event], subject: Playable) -> int:
        """The number of the last event to keep: that of the last action which did not end the episode."""
        return last_kept_when_reopened(events, self.scenario, subject)

    def check_unchanged(self, row: EpisodeRow, events: Sequence[Event], subject: Playable) -> None:
        """Does nothing: the run keeps its cases, so they cannot change."""

    async def ended(self, row: EpisodeRow, ending: Ending) -> None:
        """Does nothing: the log has the ending."""

    def skipped(self, row: EpisodeRow, error: Exception) -> None:
        """Does nothing: the episode stays open."""


async def stored_seats(run: Run, access: Access, agents: Mapping[str, AgentFactory]) -> dict[str, SeatConfig]:
    """The seats of a stored run, made again from its header and its stored recordings; `agents` are classes by seat."""
    parts, header = {}, run.played("it is not played")
    access = replace(access, allow_agents=run.settings().allow_agents)
    for seat in header.seats:
        settings = SeatSettings.model_validate(header.seat_settings(seat))
        table = header.tables.get(seat)
        if table:
            parts[seat] = stored_seat(settings, await run.store.get(table))
        else:
            part = parts[seat] = await seat_config(seat, settings, access, run.store, agents.get(seat))
            config = header.seats[seat]
            for name in part.each_model():
                asked = config.models.get(name, config)
                part.adapt(name, asked.sampling, asked.dropped)
    return parts


async def open_encounters(run: Run, parts: Mapping[str, SeatConfig], access: Access | None = None) -> EncounterRun:
    """The encounters of a run; all its cases are read only if an agent learns from the other cases.

    In that case raises TextLost if a case is lost and the run is to be played (`access` is not offline), since the
    agent depends on every case. A replay goes on without the lost case and shows whether the result is the same.
    """
    header = run.played("it is not played")
    for part in parts.values():
        for one in part.each_model().values():
            if isinstance(one.model, Batched):
                one.model.begin(run.name)
    index = await run.index()
    learners = [part.spec for part in parts.values() if part.knows == "cases"]
    cases = await _cases_learned(run, learners[0], offline=access is not None and access.offline) if learners else ()
    scenario, common = await run.scenario(), run.settings().common_answers
    lead = scenario.seats[0] if common else ""
    cast = Cast(
        parts,
        await run.prompts(),
        header.seed,
        run.settings().allow_hosts,
        cases,
        (access or Access()).gates,
        {case.id: place for place, case in enumerate(cases)},
        lead,
        _shared_models(run, parts, lead) if lead else {},
    )
    return EncounterRun(run, scenario, cast, header.limits, index)


def _shared_models(run: Run, parts: Mapping[str, SeatConfig], lead: str) -> dict[tuple[str, str], Single]:
    """The models of all seats but `lead`, each of which answers a question once in the whole run."""
    return {
        (seat, name): asked_once(
            one.model, StoreCache(run.store, "\x1f".join((run.name, seat, name, one.spec, one.address)), None)
        )
        for seat, part in parts.items()
        if seat != lead
        for name, one in part.each_model().items()
    }


async def _cases_learned(run: Run, spec: str, *, offline: bool) -> tuple[Playable, ...]:
    """The cases that the agent `spec` learns from."""
    cases: list[Playable] = []
    for case_id in await run.index():
        try:
            cases.append(await run.item(case_id))
        except CaseLost as error:
            if not offline:
                raise TextLost(
                    f"{error}; {spec} learns from the other cases, so none of its episodes goes on"
                ) from error
            log.warning("an agent learns from the cases without this one", agent=spec, error=str(error))
    return tuple(cases)


@asynccontextmanager
async def open_models(parts: Mapping[str, SeatConfig], *, tried: bool, adapted: bool = False) -> AsyncIterator[None]:
    """Use the models of `parts` in the block and close them after it; with `tried`, `try_models` comes first."""
    try:
        if tried:
            await try_models(parts, adapted=adapted)
        yield
    finally:
        for part in parts.values():
            for asked in part.each_model().values():
                await asked.model.aclose()


async def try_models(parts: Mapping[str, SeatConfig], *, adapted: bool) -> None:
    """Try each model of `parts` by a cheap call with the parameters that are sent with every call.

    With `adapted`, as for a new run, a parameter that a model refuses is left out of its calls, or sent under its other
    name. Otherwise, since the calls of a run do not change, raises PreflightError.
    """
    models = {
        f"{seat} {name}".strip(): (part, name, asked)
        for seat, part in parts.items()
        for name, asked in part.each_model().items()
    }
    sampling = {label: asked.sampling for label, (_, _, asked) in models.items()}
    accepted = await preflight({label: asked.model for label, (_, _, asked) in models.items()}, sampling=sampling)
    for label, (part, name, asked) in models.items():
        dropped = accepted[label].dropped
        if not dropped:
            continue
        said = ", ".join(f"{one} (sent as {other})" if other else one for one, other in dropped.items())
        if not adapted:
            raise PreflightError(
                f"{label}: {asked.spec} refuses what every call of this run sends: {said}; begin a new run, or set it "
                "to `none`"
            )
        part.adapt(name, accepted[label].of(asked.sampling), {**asked.dropped, **dropped})
        log.warning("the model refuses parameters, which are not sent", seat=label, model=asked.spec, dropped=said)
