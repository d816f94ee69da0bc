"""Figures are those of one scoring: what another judge said before stands in for nothing the last has not judged."""

import csv
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from beaten import Beaten
from plain_judge import PlainJudge, accuracy, wrong
from serving import serving
from shell import Shell
from sitting import court, played

import wardround
from wardround.engine.errors import RunStopped, StoreError
from wardround.engine.models.scripted import Scripted
from wardround.engine.protocols import Store
from wardround.engine.records import Message, Score
from wardround.engine.seat import Seat
from wardround.evaluators.metrics.standard import Standard
from wardround.evaluators.reasoning.evaluator import Reasoning
from wardround.evaluators.report.summary import summarise
from wardround.evaluators.report.warnings import doubts
from wardround.report_files import load_scored
from wardround.runs.seats import SeatConfig
from wardround.runs.stored_run import Run
from wardround.scoring.judges import JudgeConfig, seats_of
from wardround.scoring.score import score_run, scored
from wardround.scoring.scorings import chosen_scores, default_scorings
from wardround.testing.loopback import Loopback


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = wardround.open_store(tmp_path / "runs.db")
    yield opened
    await opened.aclose()


def other(judge: PlainJudge) -> JudgeConfig:
    """A judge of another name: what is kept of the first one's answers is none of its."""
    return JudgeConfig(seats_of([SeatConfig("scripted/other", model=Scripted(judge))]))


async def test_what_another_judge_said_stands_in_for_nothing(store: Store) -> None:
    def stopped(purpose: str, count: int) -> str:
        raise RunStopped("enough")

    run = await played(store)
    await score_run(run, [Standard()], judge=court(PlainJudge()))
    scores = await score_run(run, [Standard()], judge=other(PlainJudge(stopped)), concurrency=1)
    assert accuracy(scores) == [None] * 3
    assert [(one.judged, len(one.left)) for one in scores.evaluated] == [(0, 3)]


@pytest.mark.long
async def test_an_episode_that_the_last_judge_has_not_seen_has_no_value(store: Store) -> None:
    def enough(purpose: str, count: int) -> str:
        if count > 1:
            raise RunStopped("enough")
        return wrong(purpose, count)

    run = await played(store)
    await score_run(run, [Standard(), Reasoning()], judge=court(PlainJudge()))
    scores = await score_run(run, [Standard()], judge=other(PlainJudge(enough)), concurrency=1)
    assert accuracy(scores) == [0.0, None, None]
    assert [row.score("diagnosis_accuracy").reason for row in scores.episodes] == ["", "not_scored", "not_scored"]
    summary = summarise(scores.episodes)
    told = summary.score("diagnosis_accuracy")
    assert told is not None
    assert (told.n, told.scored) == (3, 1)
    assert told.bounds == pytest.approx((0.0, 2 / 3))
    assert [row.score("efficiency_formal").value for row in scores.episodes] == [1.0] * 3
    assert "standard: 1 of 3 closed episodes judged so far" in "\n".join(doubts(scores, summary))
    [loaded] = await load_scored(store, ("r",))
    assert loaded == scores
    found = [(one.episode, one.evaluator) async for one in chosen_scores(run, await default_scorings(store, "r"))]
    ids = [row.id for row in await run.episodes()]
    assert found == [(ids[0], "reasoning"), (ids[0], "standard"), (ids[1], "reasoning"), (ids[2], "reasoning")]


async def test_two_judges_at_once_are_not_mixed(store: Store) -> None:
    run = await played(store)
    first, second = court(PlainJudge()), other(PlainJudge(wrong))
    beaten = Beaten(store, "put_scores", lambda: score_run(run, [Standard()], judge=second))
    await score_run(Run(beaten, run.name, run.header), [Standard()], judge=first, concurrency=1)
    scores = await scored(run)
    assert (accuracy(scores), [one.judged for one in scores.evaluated]) == ([0.0] * 3, [3])


class Mine:
    """1.0 where there is no judge, else 0.0; where there is none it may stop after the first case."""

    name = "mine"

    def __init__(self, stops: bool = False) -> None:
        self.stops = stops

    async def score(self, case: Any, trajectory: Any, seat: Seat | None = None) -> list[Score]:
        if self.stops and case.id != "wr-001":
            raise StoreError("the disk is full")
        return [Score("mine", float(seat is None))]


async def test_a_scoring_without_judges_that_stops_is_not_mixed_with_what_judges_said(store: Store) -> None:
    run = await played(store)
    await score_run(run, [Mine()], judge=court(PlainJudge()))
    with pytest.raises(StoreError, match="full"):
        await score_run(run, [Mine(stops=True)], concurrency=1)
    scores = await scored(run)
    assert [row.score("mine").value for row in scores.episodes] == [1.0, None, None]
    assert scores.judges == {}


def verdict(word: str) -> Callable[[Sequence[Message], str], str]:
    """A judge of one word."""
    return lambda messages, model: f'{{"verdict": "{word}"}}'


def test_a_second_judge_whose_budget_is_used_up_is_shown_without_the_first_ones_verdicts(
    shell: Shell, tmp_path: Path
) -> None:
    where = ["r", "--store", tmp_path / "runs.db"]
    told = ["--cases", "bundled:reports", "--scenario", "oracle", "--doctor", "replies:bundled#hasty", "--limit", 4]
    assert shell("run", *told, "--name", *where) == 0
    with serving(Loopback(verdict("wrong"))) as url:
        assert shell("score", *where, "--judge", "openai/m", "--judge-base-url", url) == 0
    with serving(Loopback(verdict("correct"))) as url:
        options = ["--judge", "openai/other", "--judge-base-url", url, "--budget", "2calls", "--concurrency", 1]
        assert shell("score", *where, *options) == 130
    assert "standard: 2 of 4 closed episodes judged so far; the others have no value" in shell.err
    [run] = shell.json("report", *where)["runs"]
    [accuracy] = [one for one in run["scores"] if one["name"] == "diagnosis_accuracy"]
    assert (accuracy["mean"], accuracy["scored"], accuracy["bounds"]) == (1.0, 2, [0.5, 1.0])
    assert shell("export", *where, "--scores", "--out", "-") == 0
    found = [row for row in csv.DictReader(shell.out.splitlines()) if row["score"] == "diagnosis_accuracy"]
    assert [row["value"] for row in found] == ["1.0", "1.0"]
