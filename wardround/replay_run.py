"""Replay of a stored run or evaluation: check the hash chains, then compare the actions with the recorded ones."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from wardround.engine.errors import CaseLost, LogError, UsageError
from wardround.engine.records import Action, View
from wardround.engine.seat import Seat
from wardround.runs.encounter_run import open_encounters, stored_seats
from wardround.runs.header import EvaluationHeader, RunHeader
from wardround.runs.runner import AnyWork, Runner
from wardround.runs.seat_models import Access
from wardround.runs.seats import SeatConfig
from wardround.runs.stored_run import Run
from wardround.scoring.evaluation_run import EvaluationRun
from wardround.scoring.score import stored_evaluator
from wardround.scoring.scorings import version_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one replay: `error` is empty if all actions are equal, else it names event `seq`."""

    episode: str
    actions: int
    error: str = ""
    seq: int = -1


async def replay_run(run: Run, episodes: Sequence[str] | None = None) -> AsyncIterator[Outcome]:
    """Replay `episodes`, or all that have begun; no endpoint, search or page is called."""
    runner = Runner(await _recorded_work(run))
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


def changed_rules(header: RunHeader, seats: Mapping[str, SeatConfig]) -> dict[str, tuple[int, int]]:
    """The seats whose agents followed another version of their rules, each with the version then and now."""
    versions = {seat: (header.seats[seat].version, config.version) for seat, config in seats.items()}
    return {seat: (then, now) for seat, (then, now) in versions.items() if then != now}


async def rules_since(run: Run) -> dict[str, tuple[int, int]]:
    """`changed_rules` of a stored run; none of an evaluation, whose own version is checked before its replay."""
    if isinstance(run.header, EvaluationHeader):
        return {}
    return changed_rules(run.header, await stored_seats(run, Access(offline=True), {}))


class TakenAsRecorded:
    """Stands in a replay for an agent whose rules have changed since: its actions are those of the record."""

    outside: ClassVar[bool] = True

    def __init__(self, seat: Seat) -> None:
        del seat

    async def act(self, view: View) -> Action:
        """Never called: a replay takes the recorded action of a seat that is played outside."""
        raise NotImplementedError(f"the {view.seat} of a replay does not act")


async def _recorded_work(run: Run) -> AnyWork:
    """The work of a stored run, whose models and judges answer from the record only."""
    if not isinstance(run.header, EvaluationHeader):
        access = Access(offline=True)
        seats = await stored_seats(run, access, {})
        for seat in changed_rules(run.header, seats):
            seats[seat] = replace(seats[seat], make=TakenAsRecorded, recording=None)
        return await open_encounters(run, seats, access)
    evaluator, judged_by = await stored_evaluator(run), run.header.evaluator_version
    if judged_by != (now := version_of(evaluator)):
        raise UsageError(
            f"run {run.name} was judged by version {judged_by} of the rules of {evaluator.name}, and this Wardround "
            f"has version {now}: verdicts by rules that are gone cannot be reached again; `wardround show {run.name}` "
            "has them as they were"
        )
    return await EvaluationRun.recorded(run, evaluator)
