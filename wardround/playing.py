"""Playing the open episodes of a run, whether it has just begun or was interrupted."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog

from wardround.cast import Company, Part, part_of, recorded_part, replies_part, stored_actions, stored_replies
from wardround.engine.batch import Progress, run_batch
from wardround.engine.clock import wall
from wardround.engine.episode import Episode, Table
from wardround.engine.errors import LogError, UsageError
from wardround.engine.events import Opened, Reopened, Row
from wardround.engine.limits import Limits
from wardround.engine.log import EpisodeLog
from wardround.engine.models.preflight import preflight
from wardround.engine.models.prices import Prices
from wardround.engine.protocols import Scenario
from wardround.engine.records import Ending
from wardround.engine.replay import keep_when_reopened
from wardround.engine.rows import EpisodeRow
from wardround.engine.seat import seed_of
from wardround.results import Run
from wardround.scenarios.case import Case
from wardround.settings import RunSettings, SeatSettings

log = structlog.get_logger("wardround")


@dataclass(slots=True)
class Stage:
    """A run, its rules and its agents: everything needed to play, replay or fork its episodes."""

    run: Run
    scenario: Scenario[Case, Any]
    company: Company
    limits: Limits
    index: Mapping[str, str] = field(default_factory=dict)

    def table(self, case: Case, repeat: int, episode: EpisodeLog, progress: Progress | None) -> Table:
        """A table for one episode."""
        return Table(
            self.scenario, case, self.company.caster(case, repeat), episode, limits=self.limits, watch=progress
        )


async def parts_of(run: Run, prices: Prices, agents: Mapping[str, Any], *, offline: bool = False) -> dict[str, Part]:
    """The parts of a stored run, made again from its header and what it keeps."""
    parts = {}
    for seat, told in run.header["seats"].items():
        settings = SeatSettings.model_validate(
            {**run.header["settings"].get("seats", {}).get(seat, {}), "spec": told["spec"], **told["sampling"]}
        )
        table = run.header["tables"].get(seat)
        if table and told["spec"].startswith("replies:"):
            parts[seat] = replies_part(told["spec"], stored_replies(await run.store.get(table)), settings)
        elif table:
            parts[seat] = recorded_part(told["spec"], stored_actions(await run.store.get(table)), settings)
        else:
            parts[seat] = part_of(seat, settings, prices, own=agents.get(seat), offline=offline)
    return parts


async def stage(run: Run, parts: Mapping[str, Part]) -> Stage:
    """Set the stage; the other cases are read only where an agent is told them."""
    header = run.header
    index = await run.index()
    cases: tuple[Case, ...] = ()
    if any(part.told == "cases" for part in parts.values()):
        cases = tuple([await run.case(case_id) for case_id in index])
    settings = RunSettings.model_validate(header["settings"])
    company = Company(
        parts,
        await run.prompts(),
        header["seed"],
        settings.allow_hosts,
        cases,
        {case.id: place for place, case in enumerate(cases)},
    )
    return Stage(run, await run.scenario(), company, Limits(**header["limits"]), index)


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


async def play_open(stage: Stage, progress: Progress, concurrency: int, retry: Sequence[str] = ()) -> None:
    """Play every open episode, and those closed by one of the causes `retry` from their last action."""
    run = stage.run
    progress.total = sum(1 for _ in [row async for row in run.store.episodes(run.name, causes=["open", *retry])])

    async def play(row: EpisodeRow) -> Ending | None:
        try:
            return await _play(stage, row, progress, retry)
        except LogError as error:
            log.error("episode left alone", run=run.name, episode=row.id, error=str(error))
            return None

    if any(part.outside for part in stage.company.parts.values()):
        concurrency = 1
    await run_batch(_open(run, retry), play, concurrency=concurrency, progress=progress)


async def _open(run: Run, retry: Sequence[str]) -> AsyncIterator[EpisodeRow]:
    async for row in run.store.episodes(run.name, causes=["open", *retry]):
        yield row


async def _play(stage: Stage, row: EpisodeRow, progress: Progress, retry: Sequence[str]) -> Ending | None:
    run = stage.run
    case = await run.case(row.case)
    rows = await run.rows(row.id) if row.events else []

    async def sink(new: Sequence[Row], ending: Ending | None) -> None:
        await run.store.append(run.name, row.id, new, ending=ending)

    episode = EpisodeLog(sink, rows)
    if not rows:
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
    elif row.cause is not None:
        keep = keep_when_reopened(episode.events, stage.scenario, case)
        episode.add(Reopened(seq=episode.next, at=wall(), causes=tuple(retry), keep=keep), Ending("open"))
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
