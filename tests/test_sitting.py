"""A court is of no store: it judges in one after another, each with evidence and answers of its own."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from plain_judge import PlainJudge
from sitting import accounts, court, equal, played

import wardround
from wardround.engine.batch import Progress
from wardround.engine.models.reach import Gates, reach
from wardround.engine.protocols import Store
from wardround.engine.records import Message
from wardround.evaluators.metrics.standard import Standard
from wardround.evaluators.reasoning.evaluator import Reasoning
from wardround.evaluators.search.results import Ledger
from wardround.runs.seats import SeatConfig
from wardround.scoring.judges import JudgeConfig, seats_of
from wardround.scoring.score import score_run
from wardround.testing.loopback import Loopback


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[list[Store]]:
    opened = [wardround.open_store(tmp_path / name) for name in ("one.db", "two.db")]
    yield opened
    for store in opened:
        await store.aclose()


async def test_a_court_keeps_in_each_store_what_it_found_there(stores: list[Store]) -> None:
    judge = PlainJudge()
    sitting = court(judge)
    asked = []
    for store in stores:
        await score_run(await played(store), [Reasoning()], judge=sitting)
        asked.append(judge.asked.total())
        for account in await accounts(store, "r~reasoning"):
            quoted = [one.digest for part in account.parts for step in part.steps for one in step.quoted]
            assert quoted
            for digest in quoted:
                assert await Ledger(store).text(digest)
        assert await equal(store, "r~reasoning") == 3
    assert asked[1] == 2 * asked[0], "answers of one store are no answers of the other"


@pytest.mark.long
async def test_a_court_whose_scoring_was_stopped_sits_again(stores: list[Store]) -> None:
    progress = Progress()

    def stops(messages: Sequence[Message], model: str) -> str:
        del messages, model
        progress.drain()
        return '{"verdict": "correct"}'

    run, gates = await played(stores[0], 3), Gates()
    async with Loopback(stops) as server:
        model = reach("openai/m", env={}, base_url=server.base_url, gates=gates)
        sitting = JudgeConfig(seats_of([SeatConfig("openai/m", model=model, gates=gates)]))
        first = await score_run(run, [Standard()], judge=sitting, progress=progress, concurrency=1)
        assert [bool(row.scores) for row in first.episodes] == [True, False, False]
        for expected in (2, 3):  # each is told to stop after one reply
            progress = Progress()
            scores = await score_run(run, [Standard()], judge=sitting, progress=progress, concurrency=1)
            assert sum(bool(row.scores) for row in scores.episodes) == expected
        await sitting.aclose()
