"""A failed verdict is reopened by the store, and its event is added when it is judged, whoever opened it."""

from collections.abc import Mapping, Sequence
from functools import partial

import pytest
from examples import first_ones
from plain_judge import PlainJudge
from sitting import court, equal, played

from wardround.engine.budget import Spending
from wardround.engine.errors import ProviderError
from wardround.engine.events import Closed, Reopened, Row
from wardround.engine.protocols import Store
from wardround.engine.records import Ending
from wardround.engine.trajectory import EpisodeLog
from wardround.evaluators.reasoning.evaluator import Reasoning
from wardround.runs.stored_run import Run
from wardround.scoring.score import score_run
from wardround.testing.memory_store import MemoryStore

NAME = "r~reasoning"


async def failed(store: Store) -> Run:
    """A run of two episodes whose judge did not answer."""
    run = await played(store, 2)
    await score_run(run, [Reasoning()], judge=court(PlainJudge(lambda purpose, count: ProviderError("server", "away"))))
    assert await store.endings(NAME) == {"completed": 2}
    trajectories = [one async for one in await Run.open(store, NAME)]
    assert all(call.error for one in trajectories for call in one.called())
    return run


async def judged_again(store: Store, run: Run) -> dict[str, list[Reopened]]:
    """The events of reopening by episode, after a judge that answers."""
    await score_run(run, [Reasoning()], judge=court(PlainJudge()))
    assert await store.endings(NAME) == {"completed": 2}
    assert await equal(store, NAME) == 2
    trajectories = [one async for one in await Run.open(store, NAME)]
    assert all(isinstance(one.events[-1], Closed) for one in trajectories)
    return {one.opened.episode: [event for event in one if isinstance(event, Reopened)] for one in trajectories}


async def test_failed_verdicts_are_judged_again_after_one_event_each() -> None:
    store = MemoryStore()
    run = await failed(store)
    reopened = await judged_again(store, run)
    assert [[list(event.causes) for event in events] for events in reopened.values()] == [
        [["provider"]],
        [["provider"]],
    ]


@pytest.mark.parametrize("with_event", first_ones([True, False], 1))
async def test_what_another_version_or_a_killed_process_opened_is_judged_after_one_event(*, with_event: bool) -> None:
    """Earlier versions added the event when they opened the row; a retry that was killed had only opened it."""
    store = MemoryStore()
    run = await failed(store)
    first = (await (await Run.open(store, NAME)).episodes())[0].id

    async def sink(rows: Sequence[Row], ending: Ending | None, spent: Mapping[str, Spending], *, episode: str) -> None:
        del spent
        await store.append(NAME, episode, rows, ending=ending)

    if with_event:
        log = EpisodeLog(partial(sink, episode=first), [row async for row in store.read(NAME, first)])
        log.add(Reopened(log.next, 0.0, causes=("provider",), keep=0))
        await log.flush()
    await store.reopen(NAME, [first])
    reopened = await judged_again(store, run)
    assert {episode: len(events) for episode, events in reopened.items()} == dict.fromkeys(reopened, 1)
    assert (reopened[first][0].at == 0.0) is with_event
