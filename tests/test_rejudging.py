"""Judging again: two at once are one, what is judged needs nobody, and the figures name the judges they came from."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from beaten import Beaten
from bench import PlayedSearch
from examples import first_ones
from plain_judge import PlainJudge, accuracy, wrong
from sitting import court, equal, played

import wardround
from wardround.engine.errors import EgressError, PreflightError, ProviderError, UsageError
from wardround.engine.models.reach import reach
from wardround.engine.models.scripted import Scripted
from wardround.engine.protocols import Store
from wardround.engine.records import Score
from wardround.engine.seat import Seat
from wardround.evaluators.metrics.standard import Priced, Standard
from wardround.evaluators.reasoning.evaluator import Reasoning
from wardround.runs.seats import SeatConfig
from wardround.runs.stored_run import Run
from wardround.scoring.judges import JudgeConfig, seats_of
from wardround.scoring.score import evaluator_of, score_run
from wardround.scoring.scorings import default_scorings

NOBODY = "http://127.0.0.1:9/v1"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = wardround.open_store(tmp_path / "runs.db")
    yield opened
    await opened.aclose()


@pytest.mark.parametrize("same", first_ones([True, False], 1))
async def test_two_that_begin_at_once_are_one_if_they_judge_in_the_same_way(store: Store, same: bool) -> None:
    run, first, second = await played(store), PlainJudge(), PlainJudge()
    early = court(first)
    late = court(second) if same else court(second, repeats=2)
    beaten = Beaten(store, "create_run", lambda: score_run(run, [Standard()], judge=early))
    scores = await score_run(Run(beaten, run.name, run.header), [Standard()], judge=late)
    assert beaten.beaten
    assert accuracy(scores) == [1.0] * 3
    kept = [row.name for row in await store.runs() if "~" in row.name]
    assert kept == (["r~standard"] if same else ["r~standard", "r~standard.2"])
    assert (first.asked.total(), second.asked.total()) == (3, 0 if same else 3)  # its second repeats


@pytest.mark.long
async def test_two_that_open_the_same_episode_again_at_once_do_not_stop_one_another(store: Store) -> None:
    run = await played(store)
    silent = PlainJudge(lambda purpose, count: ProviderError("timeout", "late"))
    assert accuracy(await score_run(run, [Standard()], judge=court(silent))) == [None] * 3
    one, two = PlainJudge(), PlainJudge()
    beaten = Beaten(store, "reopen", lambda: score_run(run, [Standard()], judge=court(one)))
    scores = await score_run(Run(beaten, run.name, run.header), [Standard()], judge=court(two))
    assert beaten.beaten
    assert accuracy(scores) == [1.0] * 3
    assert one.asked["diagnosis"] == 3
    assert two.asked.total() == 0
    assert await equal(store, "r~standard") == 3


async def test_what_is_judged_needs_no_judge(store: Store) -> None:
    run = await played(store)
    model = reach("openai/m", base_url=NOBODY, env={})
    try:
        dead = JudgeConfig(seats_of([SeatConfig("openai/m", model=model)]), untried=True)
        with pytest.raises(PreflightError, match="nothing listens there"):
            await score_run(run, [Standard()], judge=dead)
        assert [row.name for row in await store.runs()] == ["r"]
        alive = Scripted(lambda messages, purpose: '{"verdict": "correct"}', name="m")
        alive.host = model.host  # it stands for the endpoint while that was up
        await score_run(run, [Standard()], judge=JudgeConfig(seats_of([SeatConfig("openai/m", model=alive)])))
        await store.put_scores("r", "wr-001@1", "r~standard", [])
        again = await score_run(run, [Standard()], judge=dead)
        assert accuracy(again) == [1.0] * 3
        untold = JudgeConfig(dead.parts, missing={"judge": UsageError("there is no key")})
        assert accuracy(await score_run(run, [Standard()], judge=untold)) == [1.0] * 3
        with pytest.raises(UsageError, match="there is no key"):
            await score_run(run, [Standard()], judge=JudgeConfig(dead.parts, 2, missing=untold.missing))
    finally:
        await model.aclose()


@pytest.mark.parametrize("search", [False, True])
async def test_a_restricted_case_is_refused_before_anybody_is_reached(
    store: Store, tmp_path: Path, search: bool
) -> None:
    case = await (await played(wardround.open_store(tmp_path / "o.db"), 1)).case("wr-001")
    path = tmp_path / "cases.jsonl"
    path.write_text(case.model_copy(update={"data_class": "restricted"}).model_dump_json(exclude_defaults=True))
    run = await wardround.run(path, "oracle", doctor="replies:bundled#hasty", store=store, name="r")
    judge = PlainJudge()
    if search:
        sitting, evaluator = court(judge, search=PlayedSearch(host="far.example")), Reasoning()
    else:  # the suite fails on every attempt to reach another machine
        model = reach("openai/m", base_url="http://far.example/v1", env={})
        sitting, evaluator = JudgeConfig(seats_of([SeatConfig("openai/m", model=model)]), untried=True), Standard()  # type: ignore[assignment]
    with pytest.raises(EgressError, match=r"1 of the cases of run r is restricted.*far\.example.*--allow-host"):
        await score_run(run, [evaluator], judge=sitting)
    assert judge.asked.total() == 0
    assert [row.name for row in await store.runs()] == ["r"]
    await sitting.aclose()


async def test_an_outcome_is_judged_beside_a_search_that_a_restricted_case_may_not_use(
    store: Store, tmp_path: Path
) -> None:
    case = await (await played(wardround.open_store(tmp_path / "o.db"), 1)).case("wr-001")
    path = tmp_path / "cases.jsonl"
    path.write_text(case.model_copy(update={"data_class": "restricted"}).model_dump_json(exclude_defaults=True))
    run = await wardround.run(path, "oracle", doctor="replies:bundled#hasty", store=store, name="r")
    search = PlayedSearch(host="far.example")
    assert accuracy(await score_run(run, [Standard()], judge=court(PlainJudge(), search=search))) == [1.0]
    assert search.queries == []


async def test_the_figures_name_the_judges_that_they_came_from(store: Store) -> None:
    run = await played(store)
    first, second = court(PlainJudge()), court(PlainJudge(wrong), PlainJudge(wrong))
    await score_run(run, [Standard()], judge=first)
    assert (await score_run(run, [Standard()], judge=second)).judges.keys() == {"judge", "judge-2"}
    again = await score_run(run, [Standard()], judge=first)
    assert accuracy(again) == [1.0] * 3
    assert again.judges.keys() == {"judge"}
    assert (await default_scorings(store, "r"))["standard"].key == "r~standard"
    plain = await score_run(run, [Standard()])
    assert (plain.judges, plain.scoring) == ({}, {"judge": "lexical"})
    assert (await score_run(run, [Standard()], judge=second)).judges.keys() == {"judge", "judge-2"}


@pytest.mark.long
async def test_points_of_the_users_own_are_part_of_the_evaluation_and_of_its_replay(store: Store) -> None:
    run = await wardround.run("bundled", "workup", doctor="baseline", store=store, name="r", limit=3)
    costs = []
    for points in ("name,points\nComplete Blood Count,1000\n", "name,points\nComplete Blood Count,2000\n"):
        scores = await score_run(run, [Priced(points)], judge=court(PlainJudge()))
        costs.append([row.score("test_cost").value for row in scores.episodes])
    usual = await score_run(run, [Standard()], judge=court(PlainJudge()))
    costs.append([row.score("test_cost").value for row in usual.episodes])
    assert costs[0] != costs[1] != costs[2] != costs[0]
    for name in ("r~standard", "r~standard.2", "r~standard.3"):
        assert await equal(store, name) == 3


@pytest.mark.parametrize("reply", ['{"verdict": "correct"} \ud83d', '<think>\ude00</think>{"verdict": "correct"}'])
async def test_half_a_character_in_a_reply_costs_no_verdict(store: Store, reply: str) -> None:
    run = await played(store)
    scores = await score_run(run, [Standard()], judge=court(PlainJudge(lambda purpose, count: reply)))
    # strict readers: text behind the object is prose around it, and the verdict is plain
    assert [row.score("diagnosis_accuracy").reason for row in scores.episodes] == [""] * 3
    assert accuracy(scores) == [1.0] * 3
    assert await equal(store, "r~standard") == 3


async def test_a_reply_that_cannot_be_made_out_is_a_reason_of_its_own(store: Store) -> None:
    def broken(purpose: str, count: int) -> str:
        del purpose, count
        return b"\xff".decode()

    scores = await score_run(await played(store), [Standard()], judge=court(PlainJudge(broken)))
    assert [row.score("diagnosis_accuracy").reason for row in scores.episodes] == ["judge/malformed"] * 3


async def test_how_many_were_judged_is_counted(store: Store) -> None:
    class Halved(Standard):
        name = "halved"

        async def score(self, case: Any, trajectory: Any, seat: Seat | None = None) -> list[Score]:
            if case.id == "wr-002":
                raise ValueError("a slip")
            return [Score("halved", 1.0)]

    run = await played(store)
    assert (await score_run(run)).evaluated == []
    [told] = (await score_run(run, [Halved()], judge=court(PlainJudge()))).evaluated
    assert (told.evaluator, told.judged, told.closed, told.left) == ("halved", 2, 3, ("wr-002@1",))
    _, told = (await score_run(run, [Standard()], judge=court(PlainJudge(), repeats=2))).evaluated
    assert [(one.seat, one.asked, one.silent) for one in told.heard] == [("judge", 6, 0)]


class Nameless:
    async def score(self, case: Any, trajectory: Any, seat: Any) -> list[Score]:
        return []


class Needy(Standard):
    def __init__(self, must: str) -> None:
        super().__init__()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("Reasonin", "no evaluator 'Reasonin', did you mean reasoning?"),
        ("xyz", "no evaluator 'xyz'; there are: assessment"),
        (f"{__name__}:Nameless", "needs a name and score"),
        (f"{__name__}:Needy", "cannot be made into an evaluator"),
    ],
)
def test_what_is_no_evaluator_is_said(spec: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        evaluator_of(spec)
    assert said in str(raised.value)
