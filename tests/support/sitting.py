"""A run of invented replies, courts to judge it, and what came of it."""

from typing import Any

import msgspec
from bench import PlayedSearch
from plain_judge import PlainJudge

import wardround
from wardround.engine.models.scripted import Scripted
from wardround.engine.protocols import Store
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import SEAT
from wardround.evaluators.reasoning.reasoning_record import Account
from wardround.evaluators.report.score_rows import RunScores
from wardround.evaluators.search.results import SearchHit
from wardround.replay_run import replay_run
from wardround.runs.seats import SeatConfig
from wardround.runs.stored_run import Run
from wardround.scoring.judges import JudgeConfig, seats_of

TEXT = "Many things are known of it. Others are not."


async def played(store: Store, limit: int = 3, **more: Any) -> Run:
    return await wardround.run(
        "bundled:reports", "oracle", doctor="replies:bundled#hasty", store=store, name="r", limit=limit, **more
    )


def court(judge: PlainJudge, *others: PlainJudge, **more: Any) -> JudgeConfig:
    parts = [SeatConfig(f"scripted/{place}", model=Scripted(one)) for place, one in enumerate((judge, *others))]
    return JudgeConfig(seats_of(parts), **{"search": PlayedSearch(SearchHit("t", "", TEXT)), **more})


def table(scores: RunScores) -> list[Any]:
    return [[(score.name, score.value, score.reason) for score in row.scores] for row in scores.episodes]


async def equal(store: Store, name: str) -> int:
    outcomes = [outcome async for outcome in replay_run(await Run.open(store, name))]
    assert [outcome.error for outcome in outcomes] == [""] * len(outcomes)
    return len(outcomes)


def account_of(trajectory: Trajectory) -> Any:
    """The account in the last act that counts, read the long way round; None if there is none."""
    acted = list(trajectory.acted(SEAT))
    return acted[-1].action.args.get("account") if acted else None


async def accounts(store: Store, name: str) -> list[Account]:
    return [msgspec.convert(account_of(one), Account) async for one in await Run.open(store, name)]
