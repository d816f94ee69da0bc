"""Replay of a run's episodes, or of an evaluation's: hash chain, then the same actions from the recorded calls."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from wardround.api import offline_stage
from wardround.court import Court
from wardround.docket import control_seed, controlled_in
from wardround.engine.errors import CaseLost, LogError, UsageError
from wardround.engine.events import Acted, Event, effective
from wardround.engine.replay import replay
from wardround.engine.rows import EpisodeRow
from wardround.engine.seat import seed_of
from wardround.evaluators.evaluation import SEAT, Evaluation, Judged
from wardround.results import Run
from wardround.scoring import evaluator_of
from wardround.scorings import version_of
from wardround.sitting import Sitting


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one replay came out: `error` is empty where it is equal, else it names event `seq`."""

    episode: str
    actions: int
    error: str = ""
    seq: int = -1


Again = Callable[[EpisodeRow, Sequence[Event]], Awaitable[int]]
"""Replays one episode; the number of actions compared."""


async def replay_run(run: Run, episodes: Sequence[str] | None = None) -> AsyncIterator[Outcome]:
    """Replay the episodes named, or all that have begun. No endpoint, no search and no page is reached."""
    again = await (_evaluation(run) if run.evaluated else _encounter(run))
    for row in await run.episodes():
        if not row.events or (episodes is not None and row.id not in episodes):
            continue
        try:
            actions = await again(row, await run.events(row))
        except LogError as error:
            yield Outcome(row.id, 0, str(error), error.seq)
        except CaseLost as error:
            yield Outcome(row.id, 0, str(error))
        else:
            yield Outcome(row.id, actions)


async def _encounter(run: Run) -> Again:
    stage = await offline_stage(run)

    async def again(row: EpisodeRow, events: Sequence[Event]) -> int:
        case = await run.case(row.case)
        company = stage.company
        return await replay(events, stage.scenario, case, company.caster(case, row.repeat), company.believed)

    return again


async def _evaluation(run: Run) -> Again:
    """The judges are asked again by the record of their calls, about the episodes as they are now."""
    header = run.evaluation()
    judged = await Run.open(run.store, header.evaluates)
    tables = {name: (await run.store.get(digest)).decode() for name, digest in header.tables.items()}
    evaluator = evaluator_of(header.scenario.path, **tables)
    judged_by, now = header.evaluator_version, version_of(evaluator)
    if judged_by != now:
        raise UsageError(
            f"run {run.name} was judged by version {judged_by} of the rules of {evaluator.name}, and this Wardround "
            f"has version {now}: verdicts by rules that are gone cannot be reached again; `wardround show {run.name}` "
            "has them as they were"
        )
    sitting = Sitting(await Court.recorded(run), run.store)
    controls = await controlled_in(run)

    async def again(row: EpisodeRow, events: Sequence[Event]) -> int:
        case, trajectory = await judged.case(row.case), await judged.trajectory(row.id)
        acted = [event.action for event in effective(events) if isinstance(event, Acted)]
        count = acted[-1].args.get("events") if acted else None
        if count is not None and count != len(trajectory):
            raise UsageError(
                f"{row.id} of run {judged.name} has {len(trajectory)} events and had {count} when it was judged: "
                "it was played on; score it again"
            )
        posed = control_seed(judged) if row.id == controls else None
        now = Judged(case, trajectory, len(trajectory), controls=posed)
        cast = sitting.caster(evaluator, now, row.id, seed_of(trajectory.opened.seed, evaluator.name))
        return await replay(events, Evaluation(evaluator.name), now, cast, believed=(SEAT,))

    return again
