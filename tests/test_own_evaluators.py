"""Evaluators of a user's own: what is refused, and what becomes of an episode in which one fails."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from examples import first_ones
from plain_judge import PlainJudge
from shell import Shell
from sitting import court, played

import wardround
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Evaluator, Store
from wardround.engine.records import Score
from wardround.evaluators.metrics.standard import Standard
from wardround.evaluators.report.score_rows import RunScores
from wardround.scoring.score import evaluator_of, score_run, scored

MINE = """
from wardround import Score

class Shadow:
    name = "shadow"
    async def score(self, case, trajectory, seat):
        return [Score("diagnosis_accuracy", 1.0)]

class House(Shadow):
    name = "standard"

class Divides:
    name = "divides"
    async def score(self, case, trajectory, seat):
        return [Score("divided", 1.0 / (case.id != "wr-002"))]

class Asks:
    name = "asks"
    judged = True
    async def score(self, case, trajectory, seat):
        from wardround.evaluators.judges.question import Question
        answer = await seat.panel.first(Question("prognosis", ()), lambda reply: reply)
        return [Score("asked", 1.0, answer.reason)]

class Sync:
    name = "sync"
    def score(self, case, trajectory, seat):
        return []
"""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = wardround.open_store(tmp_path / "runs.db")
    yield opened
    await opened.aclose()


class Own:
    """Gives what it was made with; of the case wr-002 the second."""

    def __init__(self, name: str, *given: Any) -> None:
        self.name, self._given = name, given

    async def score(self, case: Any, trajectory: Any, seat: Any) -> Any:
        given = self._given[-1] if case.id == "wr-002" else self._given[0]
        if isinstance(given, Exception):
            raise given
        return given


class Late(Own):
    async def score(self, case: Any, trajectory: Any) -> Any:  # type: ignore[override]
        return []


class Plain(Own):
    def score(self, case: Any, trajectory: Any, seat: Any) -> Any:
        return []


class Uncalled(Own):
    score = None  # type: ignore[assignment]


def told(scores: RunScores, name: str) -> list[tuple[float | None, str]]:
    return [(row.score(name).value, row.score(name).reason) for row in scores.episodes]


@pytest.mark.parametrize("judged", first_ones([False, True], 1))
@pytest.mark.parametrize(
    ("given", "reason", "said"),
    [
        (ZeroDivisionError("division by zero"), "ZeroDivisionError", "ZeroDivisionError: division by zero (test_own"),
        (None, "BadScore", "BadScore: score() returned NoneType, not a list of Score (test_own"),
        ([1.0], "BadScore", "score() returned float among its scores (test_own"),
        ([Score("a", 1.0), Score("a", 0.0)], "BadScore", "two scores are called 'a'"),
        ([Score("a", float("nan"))], "BadScore", "a is nan, which is no finite number"),
        ([Score("a", float("-inf"))], "BadScore", "a is -inf, which is no finite number"),
        ([Score("a", None)], "BadScore", "a is None without a reason"),
    ],
)
async def test_an_episode_in_which_an_evaluator_fails_has_no_score_of_it_and_says_why(
    store: Store, capsys: pytest.CaptureFixture[str], judged: bool, given: Any, reason: str, said: str
) -> None:
    run, own = await played(store), Own("own", [Score("a", 1.0), Score("b", None, "why")], given)
    scores = await score_run(run, [own], judge=court(PlainJudge()) if judged else None)
    failed = f"evaluator/{reason}"
    assert told(scores, "a") == [(1.0, ""), (None, failed), (1.0, "")]
    assert told(scores, "b") == [(None, "why"), (None, failed), (None, "why")]
    assert told(scores, "own") == [(None, "not_scored")] * 3
    assert scores.broken == ("wr-002@1",)
    log = capsys.readouterr()
    assert said in log.out + log.err
    assert "test_own_evaluators:Own first=wr-002@1" in log.out + log.err


async def test_one_that_fails_everywhere_has_no_score_but_its_reason(store: Store) -> None:
    scores = await score_run(await played(store), [Own("own", KeyError("x"))])
    assert told(scores, "own") == [(None, "evaluator/KeyError")] * 3
    assert len(scores.broken) == 3


@pytest.mark.parametrize("judged", [False, True])
async def test_a_score_stands_in_place_of_no_other(store: Store, judged: bool) -> None:
    run, judge = await played(store), court(PlainJudge()) if judged else None
    before = told(await score_run(run, [Standard()]), "diagnosis_accuracy")
    shadow = Own("shadow", [Score("diagnosis_accuracy", 1.0)])
    first, second = Own("first", [Score("a", 0.0)]), Own("second", [Score("a", 1.0)])
    scores = await score_run(run, [shadow, first, second], judge=judge)
    assert told(scores, "diagnosis_accuracy") == before
    assert told(scores, "shadow") == [(None, "evaluator/BadScore")] * 3
    assert told(scores, "a") == [(0.0, "")] * 3
    again = await score_run(run, [Own("first", [Score("a", 0.5)])])
    assert told(again, "a") == [(0.5, "")] * 3


async def test_what_an_older_version_let_stand_in_place_of_a_house_score_no_longer_does(store: Store) -> None:
    run = await played(store)
    before = told(await score_run(run, [Standard()]), "diagnosis_accuracy")
    for row in await run.episodes():
        await store.put_scores("r", row.id, "zeal", [Score("diagnosis_accuracy", 0.125), Score("zeal", 1.0)])
    scores = await scored(run)
    assert told(scores, "diagnosis_accuracy") == before
    assert told(scores, "zeal") == [(1.0, "")] * 3


@pytest.mark.parametrize(
    ("evaluators", "said"),
    [
        ([Own("standard", [])], "Own is called 'standard', and so is an installed evaluator (wardround.evaluators"),
        ([Own("one", []), Own("one", [])], "are both called 'one'"),
        ([Plain("plain", [])], "its `score` is not `async`"),
        ([Late("late", [])], "takes something else (too many positional arguments)"),
        ([Uncalled("un", [])], "its `score` is NoneType, which cannot be called"),
    ],
)
async def test_what_cannot_score_is_refused_before_anything_is_judged(
    store: Store, evaluators: list[Evaluator], said: str
) -> None:
    run, judge = await played(store, 1), PlainJudge()
    for sitting in (None, court(judge)):
        with pytest.raises(UsageError) as raised:
            await score_run(run, [Own("fine", [Score("a", 1.0)]), *evaluators], judge=sitting)
        assert said in str(raised.value)
    assert [one async for one in store.scores("r")] == []
    assert judge.asked.total() == 0


def test_a_question_that_the_offline_judge_does_not_know_stops_the_scoring_once(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The evaluator does not say beforehand what it asks, so the first episode finds out for all."""
    (tmp_path / "mine_that_asks.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    where = ["r", "--store", tmp_path / "runs.db"]
    cases = ["--cases", "bundled:reports", "--scenario", "oracle", "--doctor", "gold", "--limit", 3]
    assert shell("run", *cases, "--name", *where) == 0
    assert shell("score", *where, "--evaluators", "mine_that_asks:Asks", "--judge", "lexical") == 130
    said = "the offline judge cannot answer the question 'prognosis': name a model as judge"
    assert [said in line for line in shell.err.splitlines()].count(True) == 1
    assert shell.json("score", *where)["broken"] == []
    assert {row["run"]: row["endings"] for row in shell.json("runs", "--store", where[-1])["runs"]}["r~asks"] == {
        "open": 3
    }


def test_the_command_line_says_it_in_a_line(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_of_a_user.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    where = ["r", "--store", tmp_path / "runs.db"]
    told = ["--cases", "bundled:reports", "--scenario", "oracle", "--doctor", "gold", "--limit", 3]
    assert shell("run", *told, "--name", *where) == 0
    assert shell("score", *where, "--evaluators", "mine_of_a_user:Divides") == 3
    [line] = [line for line in shell.err.splitlines() if "ZeroDivisionError" in line]
    assert "mine_of_a_user:Divides" in line
    assert "wr-002@1" in line
    assert "(mine_of_a_user.py:15)" in line
    assert "2/3" in shell.out
    assert shell("score", *where, "--evaluators", "mine_of_a_user:Shadow") == 3
    assert "diagnosis_accuracy is a score of the house" in shell.err
    for name, said in (("House", "called 'standard'"), ("Sync", "not `async`")):
        assert shell("score", *where, "--evaluators", f"mine_of_a_user:{name}") == 2
        assert said in shell.err
    assert (
        evaluator_of("wardround.evaluators.metrics.standard:Priced", points="name,points\nLipase,3\n").name
        == "standard"
    )
