"""Replay of a run's episodes: hash chain, then the same actions from the recorded calls."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from wardround.api import offline_stage
from wardround.engine.errors import LogError
from wardround.engine.events import decode
from wardround.engine.replay import replay
from wardround.results import Run


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one replay came out: `error` is empty where it is equal, else it names event `seq`."""

    episode: str
    actions: int
    error: str = ""
    seq: int = -1


async def replay_run(run: Run, episodes: Sequence[str] | None = None) -> AsyncIterator[Outcome]:
    """Replay the episodes named, or all that have begun."""
    stage = await offline_stage(run)
    for row in await run.episodes():
        if not row.events or (episodes is not None and row.id not in episodes):
            continue
        try:
            events = decode(await run.rows(row.id))
            case = await run.case(row.case)
            actions = await replay(events, stage.scenario, case, stage.company.caster(case, row.repeat))
        except LogError as error:
            yield Outcome(row.id, 0, str(error), error.seq)
        else:
            yield Outcome(row.id, actions)
