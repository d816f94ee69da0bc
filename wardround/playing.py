"""Playing the open episodes of a run, whether it has just begun or was interrupted."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog

from wardround.access import Access
from wardround.cast import Company, Part, part_of, recorded_part, replies_part, stored_actions, stored_replies
from wardround.engine.batch import run_batch
from wardround.engine.budget import Purse
from wardround.engine.clock import wall
from wardround.engine.episode import Ended, Episode, Table
from wardround.engine.errors import CaseLost, LeaseLost, LogError, TextLost, UsageError
from wardround.engine.events import Closed, Opened, Reopened, Row
from wardround.engine.limits import Limits
from wardround.engine.log import EpisodeLog
from wardround.engine.models.hosts import redacted
from wardround.engine.models.preflight import preflight
from wardround.engine.progress import Progress
from wardround.engine.protocols import Scenario
from wardround.engine.records import Ending
from wardround.engine.replay import keep_when_reopened
from wardround.engine.rows import EpisodeRow
from wardround.engine.seat import seed_of
from wardround.engine.sessions import Session
from wardround.engine.spending import Budget, Spending
from wardround.results import Run
from wardround.scenarios.case import Case
from wardround.settings import SeatSettings
from wardround.working import at_work, taken

log = structlog.get_logger("wardround")


@dataclass(slots=True)
class Stage:
    """A run, its rules and its agents: everything needed to play, replay or fork its episodes."""

    run: Run
    scenario: Scenario[Case, Any]
    company: Company
    limits: Limits
    index: Mapping[str, str] = field(default_factory=dict)

    def at_once(self, concurrency: int) -> int:
        """How many episodes to play at once: a person is asked about one at a time."""
        return 1 if any(part.outside for part in self.company.parts.values()) else concurrency

    def table(self, case: Case, repeat: int, episode: EpisodeLog, progress: Progress | None) -> Table:
        """A table for one episode."""
        cast, caches = self.company.caster(case, repeat), self.company.caches(self.run.store, repeat)
        table = Table(self.scenario, case, cast, episode, limits=self.limits, watch=progress, caches=caches)
        table.believed = self.company.believed
        return table


async def parts_of(run: Run, access: Access, agents: Mapping[str, Any]) -> dict[str, Part]:
    """The parts of a stored run, made again from its header and what it keeps."""
    parts, header = {}, run.played("it is not played")
    for seat, told in header.seats.items():
        settings = SeatSettings.model_validate(header.seat_settings(seat))
        table = header.tables.get(seat)
        if table and told.spec.startswith("replies:"):
            parts[seat] = replies_part(told.spec, stored_replies(await run.store.get(table)), settings)
        elif table:
            parts[seat] = recorded_part(told.spec, stored_actions(await run.store.get(table)), settings)
        else:
            parts[seat] = part_of(seat, settings, access, own=agents.get(seat))
    return parts


async def stage(run: Run, parts: Mapping[str, Part], access: Access | None = None) -> Stage:
    """Set the stage; the other cases are read only where an agent is told them.

    Raises TextLost if one of those is lost and they are to be played (`access` is not offline): what such an agent does
    rests on every one of them. A replay goes on without it and shows whether it comes out the same.
    """
    header = run.played("it is not played")
    index = await run.index()
    told = [part.spec for part in parts.values() if part.told == "cases"]
    cases = await _told(run, told[0], offline=access is not None and access.offline) if told else ()
    company = Company(
        parts,
        await run.prompts(),
        header.seed,
        run.settings().allow_hosts,
        cases,
        (access or Access()).gates,
        {case.id: place for place, case in enumerate(cases)},
    )
    return Stage(run, await run.scenario(), company, header.limits, index)


async def _told(run: Run, spec: str, *, offline: bool) -> tuple[Case, ...]:
    """The cases that an agent learns from."""
    cases: list[Case] = []
    for case_id in await run.index():
        try:
            cases.append(await run.case(case_id))
        except CaseLost as error:
            if not offline:
                raise TextLost(
                    f"{error}; {spec} learns from the other cases, so none of its episodes goes on"
                ) from error
            log.warning("an agent learns from the cases without this one", agent=spec, error=str(error))
    return tuple(cases)


@asynccontextmanager
async def reached(parts: Mapping[str, Part], *, tried: bool) -> AsyncIterator[None]:
    """Models of `parts` for the length of the block: tried by one cheap call each if asked, closed in the end."""
    models = {seat: part.model for seat, part in parts.items() if part.model is not None}
    try:
        if tried:
            await preflight(models)
        yield
    finally:
        for model in models.values():
            await model.aclose()


async def play_open(stage: Stage, progress: Progress, concurrency: int, *, among: Sequence[str] = ()) -> None:
    """Play the run's open episodes, together with whoever else is at work on it, until none is left.

    `among` names those that are to be played, if not all.
    """
    run = stage.run
    concurrency = stage.at_once(concurrency)
    progress.purse = Purse(Budget(), {seat: part.spec for seat, part in stage.company.parts.items()})
    gates = stage.company.gates
    for quota in gates.unused:
        log.warning("a quota fits no endpoint of this run", quota=redacted(quota))
    async with at_work(run, progress, concurrency, [gates]) as session:

        async def play(row: EpisodeRow) -> Ending | None:
            try:
                return await _play(stage, row, progress, session)
            except (LogError, LeaseLost, CaseLost, Ended) as error:
                log.error("episode left alone", run=run.name, episode=row.id, error=str(error))
                return None

        rows = taken(session, progress, concurrency, among)
        await run_batch(rows, play, concurrency=concurrency, progress=progress)


async def _play(stage: Stage, row: EpisodeRow, progress: Progress, session: Session) -> Ending | None:
    run = stage.run
    case = await run.case(row.case)
    rows = await run.rows(row) if row.events else []

    async def sink(new: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending]) -> None:
        await session.append(row.id, new, ending=ending, spent=spent)

    episode = EpisodeLog(sink, rows)
    last = episode.events[-1] if rows else None
    if last is None:
        episode.add(
            Opened(
                seq=0,
                at=wall(),
                episode=row.id,
                case=row.case,
                case_hash=stage.index[row.case],
                scenario=stage.scenario.name,
                seed=seed_of(stage.company.seed, row.case, row.repeat),
                repeat=row.repeat,
            )
        )
    elif isinstance(last, Closed):
        keep = keep_when_reopened(episode.events, stage.scenario, case)
        episode.add(Reopened(seq=episode.next, at=wall(), causes=(last.ending.cause,), keep=keep))
    ending = await Episode(stage.table(case, row.repeat, episode, progress)).play()
    if ending is not None and ending.cause != "completed":
        log.info("episode ended", episode=row.id, cause=ending.cause, reason=ending.reason, detail=ending.detail)
    return ending


def check_causes(retry: Sequence[str], seats: Sequence[str]) -> None:
    """Raise UsageError for a cause that no episode can end by."""
    known = (*seats, "parser", "provider", "rules", "limit")
    for cause in retry:
        if cause not in known:
            raise UsageError(f"--retry {cause}: episodes end by {', '.join(known)}")
