"""Replay of a run's episodes, of whatever kind: hash chain, then the same actions from the recorded calls."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from wardround.engine.errors import CaseLost, LogError, UsageError
from wardround.runs.encounter import encounter, parts_of
from wardround.runs.header import EvaluationHeader
from wardround.runs.runner import Runner, Work
from wardround.runs.seats import Access
from wardround.runs.stored_run import Run
from wardround.scoring.evaluation_run import EvaluationRun
from wardround.scoring.score import stored_evaluator
from wardround.scoring.scorings import version_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one replay came out: `error` is empty where it is equal, else it names event `seq`."""

    episode: str
    actions: int
    error: str = ""
    seq: int = -1


async def replay_run(run: Run, episodes: Sequence[str] | None = None) -> AsyncIterator[Outcome]:
    """Replay the episodes named, or all that have begun. No endpoint, no search and no page is reached."""
    runner = Runner(await _recorded(run))
    for row in await run.episodes():
        if not row.events or (episodes is not None and row.id not in episodes):
            continue
        try:
            actions = await runner.replay(row)
        except LogError as error:
            yield Outcome(row.id, 0, str(error), error.seq)
        except CaseLost as error:
            yield Outcome(row.id, 0, str(error))
        else:
            yield Outcome(row.id, actions)


async def _recorded(run: Run) -> Work:
    """The work of a stored run, with no way to anything but its record."""
    if not isinstance(run.header, EvaluationHeader):
        access = Access(offline=True)
        return await encounter(run, await parts_of(run, access, {}), access)
    evaluator, judged_by = await stored_evaluator(run), run.header.evaluator_version
    if judged_by != (now := version_of(evaluator)):
        raise UsageError(
            f"run {run.name} was judged by version {judged_by} of the rules of {evaluator.name}, and this Wardround "
            f"has version {now}: verdicts by rules that are gone cannot be reached again; `wardround show {run.name}` "
            "has them as they were"
        )
    return await EvaluationRun.recorded(run, evaluator)
