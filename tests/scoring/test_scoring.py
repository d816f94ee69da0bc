"""Scoring as the store sees it: many episodes at once, and nothing is written that stands there already."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from counted import Counted
from plain_judge import PlainJudge
from sitting import court, played, table

import wardround
from wardround.engine.protocols import Store
from wardround.engine.records import Score
from wardround.evaluators.metrics.standard import Standard
from wardround.runs.stored_run import Run
from wardround.scoring.score import score_run


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = wardround.open_store(tmp_path / "runs.db")
    yield opened
    await opened.aclose()


class Crowded:
    """Scores by the number of episodes that are scored with it, the later the sooner."""

    name = "crowded"

    def __init__(self) -> None:
        self.now = self.most = 0

    async def score(self, case: Any, trajectory: Any, seat: Any) -> Sequence[Score]:
        self.now += 1
        self.most = max(self.most, self.now)
        await anyio.sleep(0.2 / self.now)
        self.now -= 1
        return [Score("crowded", float(len(case.id)))]


@pytest.mark.parametrize(("told", "most"), [({}, 8), ({"concurrency": 3}, 3)])
async def test_episodes_are_scored_at_once_and_listed_in_their_order(
    store: Store, told: dict[str, int], most: int
) -> None:
    run, crowded = await played(store, 8), Crowded()
    scores = await score_run(run, [crowded], **told)  # type: ignore[arg-type]
    assert crowded.most == most
    assert [row.episode for row in scores.episodes] == [row.id for row in await run.episodes()]
    assert [row.score("crowded").value for row in scores.episodes] == [6.0] * 8


async def test_scoring_again_writes_only_what_does_not_stand_there(store: Store) -> None:
    run = await played(store)
    first = await score_run(run, [Standard()], judge=court(PlainJudge()))
    counted = Counted(store)
    again = Run(counted, run.name, run.header)
    assert table(await score_run(again, [Standard()], judge=court(PlainJudge()))) == table(first)
    assert counted.calls["put_scores"] == 0
    await store.put_scores("r", "wr-002@1", "r~standard", [])
    assert table(await score_run(again, [Standard()], judge=court(PlainJudge()))) == table(first)
    assert counted.calls["put_scores"] == 1
